# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that objects link in every way: notes, --gc-sections, static, -flto with and without
# the plugin at link, other linkers, shared and dlopen()ed libraries; and that the plugin says in
# one line if it is not for this compiler.
. "$TOP/tests/lib/engine.sh"
src=$TOP/tests/plugin
notes="$src/notes.c -DINSTRUMENTED"

cat >lib.c <<'END'
int ext_value = 3;
__attribute__((noipa)) static int inner(int x) { return x + ext_value; }
int lib_function(int x) { return inner(x) + inner(x); }
END
cat >other.c <<'END'
#include <stdio.h>
void other(void) { puts("other"); puts("module"); }
void unused_function(void) { puts("never"); puts("called"); }
END
cat >small.c <<'END'
#include <stdio.h>
void other(void);
int main(void) { other(); puts("main"); return 0; }
END

has_note()	# file type(1|3) count
{
	case $2 in
	1) type='NT_VERSION' ;;
	3) type='0x00000003' ;;
	esac
	found=$(readelf -nW "$1" 2>/dev/null | grep -c "^ *LDB .*$type")
	[ "$found" -eq "$3" ] && return
	diag "$1: $found notes of type $2, want $3"
	return 1
}

both_notes()	# name file: checks that there is exactly one note of each type
{
	ok "$1: one accessor note" has_note "$2" 1 1
	ok "$1: one note of having been compiled" has_note "$2" 3 1
}

# --- executables ---------------------------------------------------------------

for f in "" -O2 -no-pie "-static" "-static-pie" "-O2 -flto" "-O2 -static -flto" \
	 "-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections" "-Wl,-z,now" -s \
	 "-fcf-protection=full" "-O2 -mcmodel=medium"; do
	check "notes.c $f" "cc_ldb $f $notes other.c -o prog && ./prog" 0 \
		'^program block=0$'
	both_notes "notes.c $f" prog
done
for ld in gold lld; do
	if ! command -v ld.$ld >/dev/null; then
		skip "$ld" "no ld.$ld here"
		continue
	fi
	for f in "" "-O2 -Wl,--gc-sections" -static; do
		check "$ld $f" "cc_ldb -fuse-ld=$ld $f $notes other.c -o prog && ./prog" 0 \
			'^program block=0$'
		both_notes "$ld $f" prog
	done
done

cat >ifunc.c <<'END'
#include <stdio.h>
static __attribute__((noipa)) int helper(void)
{
	int i, n = 0;

	for (i = 0; i < 9; i++)
		n += printf == NULL;
	return n;
}
static int impl(int x) { return x + 1; }
static void *resolver(void) { helper(); return (void *)impl; }
int chosen(int) __attribute__((ifunc("resolver")));
int main(void) { printf("%d\n", chosen(4)); return 0; }
END
for f in -static -static-pie -no-pie; do
	check "resolvers run before thread-local storage exists: $f" \
		"cc_ldb -O2 $f ifunc.c -o prog -w && ./prog" 0 '^5$'
done

check "--gc-sections still removes what is unused" \
	"cc_ldb -ffunction-sections -Wl,--gc-sections small.c other.c -o prog && nm prog"
check_not "--gc-sections: unused_function" "nm prog" 0 unused_function
both_notes "--gc-sections" prog
check "the block has a cache line of its own in a program" "readelf -sW prog" 0 \
	' 64 TLS +WEAK +DEFAULT .* __ldb_thread$'

echo 'int leaf(int x) { return x; }' >leaf.c
check "an object without records" "cc_ldb -O2 -c leaf.c -o leaf.o"
both_notes "an object without records" leaf.o
: >empty.c
check "an empty object" "cc_ldb -O2 -c empty.c -o empty.o"
both_notes "an empty object" empty.o

check "objects compiled with and without the plugin mix" "$CC -c other.c -o without.o &&
	cc_ldb -c small.c -o with.o && $CC with.o without.o -o prog && ./prog" 0 main
both_notes "mixed" prog
check "ld -r" "cc_ldb -c other.c -o with2.o && ld -r with.o with2.o -o both.o &&
	$CC both.o -o prog && ./prog" 0 main
ok "ld -r: accessor" has_note prog 1 1

# --- -flto ---------------------------------------------------------------------

lto_case()	# name compile-flags link-command note1
{
	check "-flto, $1" "cc_ldb -O2 $2 -c small.c -o l1.o && cc_ldb -O2 $2 -c other.c -o l2.o &&
		$3 -o prog && ./prog" 0 main
	ok "-flto, $1: accessor" has_note prog 1 "$4"
	ok "-flto, $1: compiled" has_note prog 3 1
}

lto_case "slim, plugin at link" "-flto" "cc_ldb -O2 -flto l1.o l2.o" 1
lto_case "slim, no plugin at link" "-flto" "$CC -O2 -flto l1.o l2.o" 0
lto_case "fat, plugin at link" "-flto -ffat-lto-objects" "cc_ldb -O2 -flto l1.o l2.o" 1
lto_case "fat, no plugin at link" "-flto -ffat-lto-objects" "$CC -O2 -flto l1.o l2.o" 0
lto_case "fat, linked without -flto" "-flto -ffat-lto-objects" "$CC -fno-lto l1.o l2.o" 1
lto_case "partitions in parallel" "-flto=2 -flto-partition=max" \
	"cc_ldb -O2 -flto=2 -flto-partition=max l1.o l2.o" 1
check "-flto: a program without records is not taken for one linked without the plugin" "
	echo 'int main(void) { return 0; }' >none.c
	cc_ldb -O2 -flto none.c -o prog && ./prog"
both_notes "-flto, no records" prog
check "an -flto object has no code, hence no block" "cc_ldb -O2 -flto -c small.c -o x.o"
ok "an -flto object has no code, hence no block: no accessor" has_note x.o 1 0
check "ld -r of -flto objects" "cc_ldb -O2 -flto -c small.c other.c &&
	cc_ldb -O2 -flto -r small.o other.o -o r.o && cc_ldb -O2 -flto r.o -o prog && ./prog" 0 main
both_notes "ld -r of -flto objects" prog
check "ld -r of -flto objects into code" "
	cc_ldb -O2 -flto -flinker-output=nolto-rel -r small.o other.o -o r.o && $CC r.o -o prog && ./prog" 0 main
both_notes "ld -r of -flto objects into code" prog
check "-flto: ldb_never survives until the link" "
	echo 'int ext(int); __attribute__((ldb_never, noinline)) int quiet(int x) { return ext(x) + 1; }
	__attribute__((noinline)) int loud(int x) { return ext(x) + 1; }' >n1.c
	echo '__attribute__((noipa)) int ext(int x) { return x; } int quiet(int); int loud(int);
	int main(int c, char **v) { return v && quiet(c) + loud(c) == 9; }' >n2.c
	cc_ldb -O2 -flto -c n1.c && cc_ldb -O2 -flto -c n2.c &&
	cc_ldb -O2 -flto n1.o n2.o -fplugin-arg-ldb-verbose -o prog" 0 '^ldb: quiet: skipped: ldb_never'
ok "-flto: a function without ldb_never is instrumented" \
	sh -c 'cc_out=$1; printf "%s\n" "$cc_out" | grep -q "^ldb: loud: instrumented"' sh "$out"

# --- libraries -------------------------------------------------------------------

check "a linked library shares the program's block" "
	cc_ldb -O2 -fPIC -shared lib.c -o libone.so &&
	cc_ldb -O2 $notes -Wl,--no-as-needed ./libone.so -o prog && ./prog" 0 '^libone.so block=0$'
both_notes "library" libone.so
check "a library's own block is small" "readelf -sW libone.so" 0 \
	' 16 TLS +WEAK +DEFAULT .* __ldb_thread$'
check "-fpie objects are a program's" "cc_ldb -fPIE -c other.c -o pie.o &&
	readelf -sW pie.o" 0 ' 64 TLS .* __ldb_thread$'
check "libraries linked with -Bsymbolic and a version script" "
	echo '{ global: lib_function; local: *; };' >lib.map
	cc_ldb -O2 -fPIC -shared -Wl,-Bsymbolic -Wl,--version-script=lib.map lib.c -o libtwo.so &&
	cc_ldb -O2 $notes -o prog && ./prog ./libtwo.so" 0 '^libtwo.so block=1$'
check "100 libraries dlopen()ed by an instrumented program" "
	for i in \$(seq 100); do cp libone.so dl\$i.so; done
	./prog ./dl*.so" 0 '^sum=10700 modules=101 blocks='
check "100 libraries dlopen()ed by a program without the plugin" "
	$CC $src/notes.c -o prog && ./prog ./dl*.so" 0 '^sum=10700 modules=100 blocks='
cat >v.cc <<'END'
#include <vector>
int lib_function(int x) { std::vector<int> v(x, 1); v.push_back(2); return v.size(); }
END
cat >m.cc <<'END'
#include <cstdio>
#include <vector>
int lib_function(int);
int main()
{
	std::vector<int> v(2, 2);

	v.push_back(3);
	printf("%zu %d\n", v.size(), lib_function(4));
}
END
check "C++ with inline functions in both" "
	cxx_ldb -O1 -fPIC -shared v.cc -o libv.so && cxx_ldb -O1 m.cc ./libv.so -o prog &&
	./prog" 0 '^3 5$'

# --- the wrong compiler --------------------------------------------------------------

# This changes the version for which the plugin was built, in the binary.
version=$($CC -dumpfullversion)
major=${version%%.*}
mkdir other alone
cp "$PLUGIN" other
cp "$PLUGIN" alone
sed "s/$(echo "$version" | sed 's/\./\\./g')/99.9.9/" "$BUILD/plugin/ldb-gcc-$major.so" >"other/ldb-gcc-$major.so"
if [ "${#version}" -eq 6 ]; then
	check_one_line "another point release: one line" \
		"$CC -fplugin=./other/ldb.so -c other.c -o x.o" 1 \
		"ldb.so: built for GCC 99.9.9 .* loaded into GCC $version .*build it again with .make plugin CC=gcc-$major"
else
	skip "another point release: one line" "GCC's version $version is not six characters"
fi
check_one_line "no plugin at all: one line" "$CC -fplugin=./alone/ldb.so -c other.c -o x.o" 1 \
	"error: ldb.so: this is GCC $version, there are plugins for no GCC: build one with 'make plugin CC=gcc-$major'"
touch alone/ldb-gcc-98.so alone/ldb-gcc-99.so alone/ldb-gcc-100.so
check_one_line "for others alone: one line, and which" "$CC -fplugin=./alone/ldb.so -c other.c -o x.o" 1 \
	"this is GCC $version, there are plugins for GCC 98, GCC 99 and GCC 100: build"
touch "alone/ldb-gcc-$major.so"
check_one_line "a plugin that is none" "$CC -fplugin=./alone/ldb.so -c other.c -o x.o" 1 "ldb.so: .*build it again with"
rm "alone/ldb-gcc-$major.so"
check "with -flto at link, too" "$CC -fPIC -flto -c other.c -o lto.o && $CC -shared -flto -fplugin=./alone/ldb.so lto.o -o x.so" 1 \
	"lto1: error: ldb.so: this is GCC $version"
if command -v clang >/dev/null; then
	check_one_line "clang: one line" "clang -fplugin=$PLUGIN -c other.c -o x.o" 1 '^ldb.so is a plugin for GCC, and this is clang'
else
	skip "clang: one line" "no clang here"
fi
finish
