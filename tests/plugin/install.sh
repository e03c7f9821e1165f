# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the plugin's make install and make uninstall, and the wrappers.  LDB_TEST_INSTALL=1 (as
# root) also installs it into /usr/local and /usr, and removes it again.
. "$TOP/tests/lib/engine.sh"
make="make --no-print-directory -s -C $TOP/gcc-plugin BUILD=$BUILD"
gccdir=$($CC -print-file-name=plugin)
multiarch=$($CC -print-multiarch)

cat >app.c <<'END'
#include <stdio.h>
int main(void) { puts("app"); return 0; }
END
cat >app.cc <<'END'
#include <cstdio>
#include <string>
int main() { std::string s("app"); puts(s.c_str()); return 0; }
END

instrumented()	# file
{
	readelf -nW "$1" | grep -q '^ *LDB .*NT_VERSION'
}

listing()	# dir...: lists the files that a real installation could change
{
	for d; do
		find "$d" -maxdepth 1 \( -name '*ldb*' -o -name ld.so.cache \) \
			-printf '%p %s %T@\n'
	done | sort
}

# --- in the build folder ----------------------------------------------------------

check "ldb-gcc compiles and links" "ldb-gcc app.c -o app && ./app" 0 '^app$'
ok "ldb-gcc: instrumented" instrumented app
check "ldb-g++ compiles and links" "ldb-g++ app.cc -o app && ./app" 0 '^app$'
ok "ldb-g++: instrumented" instrumented app
check "ldb-gcc -flto in two steps" "ldb-gcc -O2 -flto -c app.c && ldb-gcc -O2 -flto app.o -o app && ./app"
ok "ldb-gcc -flto: instrumented" instrumented app
check "arguments arrive untouched" \
	"echo 'const char s[] = S;' >s.c && ldb-gcc -c '-DS=\"a b  \$c *\"' s.c && strings -a s.o" 0 '^a b  \$c \*$'
check "exit status and messages are the compiler's" "ldb-gcc -c nosuch.c" 1 'nosuch.c: No such file'
mkdir bin
cat >bin/my-gcc-12 <<END
#!/bin/sh
[ "\$1" = -dumpfullversion ] && exec $CC "\$1"
echo "called \${0##*/} \$*"
END
chmod +x bin/my-gcc-12 && ln -s my-gcc-12 bin/my-g++-12
check "LDB_GCC" "LDB_GCC=$PWD/bin/my-gcc-12 ldb-gcc x y" 0 '^called my-gcc-12 -fplugin=.*/ldb.so x y$'
check "LDB_GXX" "LDB_GXX=$PWD/bin/my-g++-12 ldb-g++ x y" 0 '^called my-g[+][+]-12 -fplugin=.*/ldb.so x y$'
check "ldb-g++ reads LDB_GCC=gcc-12 as g++-12" "LDB_GCC=$PWD/bin/my-gcc-12 ldb-g++ x" 0 '^called my-g[+][+]-12 '
rm -f app.o
mkdir other other/bin other/plugin
cp "$BUILD/bin/ldb-gcc" "$BUILD/bin/ldb-g++" other/bin
cp "$BUILD/plugin/ldb.so" other/plugin
: >other/plugin/ldb-gcc-99.so
for wrapper in ldb-gcc ldb-g++; do
	check "$wrapper: no plugin for this compiler: one line, and nothing is compiled" "other/bin/$wrapper -c app.cc" 1 \
		'error: ldb.so: this is GCC .*, there are plugins for GCC 99: build one with .make plugin CC=gcc-[0-9]*. in the sources of ldb$'
	ok "$wrapper: one line" test "$(printf '%s\n' "$out" | wc -l)" -eq 1 -a ! -e app.o
done
if command -v clang >/dev/null; then
	check "nor for clang" "LDB_GCC=clang ldb-gcc -c app.c" 1 '^ldb.so is a plugin for GCC, and this is clang'
	ok "clang: one line" test "$(printf '%s\n' "$out" | grep -c .)" -eq 1 -a ! -e app.o
else
	skip "nor for clang" "no clang"
fi
check "LDB=off is the plain compiler" "LDB=off LDB_GCC=echo ldb-gcc x y && LDB=off LDB_GXX=echo ldb-g++ x" 0 '^x y$'
check_not "without the plugin" "LDB=off LDB_GCC=echo ldb-gcc x y && LDB=off LDB_GXX=echo ldb-g++ x" 0 fplugin
check "through a symbolic link" "ln -s $BUILD/bin/ldb-gcc lnk && ./lnk app.c -o app && ./app" 0 '^app$'

# --- DESTDIR ------------------------------------------------------------------------

listing /etc /usr/lib /usr/local/lib "/usr/lib/$multiarch" "$gccdir" >before
for prefix in /usr/local /usr "/opt/my ldb"; do
	case $prefix in
	/usr) lib=/usr/lib/$multiarch ;;
	*) lib=$prefix/lib ;;
	esac
	check "install to DESTDIR, PREFIX=$prefix" "$make install 'PREFIX=$prefix' DESTDIR=$PWD/stage"
	check "$prefix: the wrapper finds its plugin" \
		"'stage$prefix/bin/ldb-gcc' app.c -o app && ./app" 0 '^app$'
	ok "$prefix: instrumented" instrumented app
	check "$prefix: by path" "$CC '-fplugin=stage$lib/ldb.so' app.c -o app -fplugin-arg-ldb-version" 0 '^ldb.so '
	for so in "$BUILD/plugin/"ldb-gcc-*.so; do
		n=${so##*-}
		n=${n%.so}
		command -v "gcc-$n" >/dev/null || continue
		check "$prefix: one installation serves gcc-$n" \
			"gcc-$n '-fplugin=stage$lib/ldb.so' app.c -o app && g++-$n '-fplugin=stage$lib/ldb.so' app.cc -o app2 && ./app && ./app2" 0 '^app$'
		ok "$prefix: gcc-$n: instrumented" eval "instrumented app && instrumented app2"
	done
	check "$prefix: man page" "cat 'stage$prefix/share/man/man7/ldb-plugin.7'" 0 LDB-PLUGIN
	case $prefix in
	/opt*) ok "$prefix: GCC's own folder is left alone" [ ! -e "stage$gccdir" ] ;;
	*) ok "$prefix: in GCC's own folder" [ -e "stage$gccdir/ldb.so" ] ;;
	esac
	check "$prefix: uninstall" "$make uninstall 'PREFIX=$prefix' DESTDIR=$PWD/stage &&
		find stage ! -type d" 0 '^$'
	rm -rf stage
done
listing /etc /usr/lib /usr/local/lib "/usr/lib/$multiarch" "$gccdir" >after
ok "DESTDIR: nothing outside was touched" cmp before after

# --- for real ------------------------------------------------------------------------

if [ "${LDB_TEST_INSTALL:-}" != 1 ]; then
	skip "install for real" "set LDB_TEST_INSTALL=1, as root"
	finish
fi
if [ -e /usr/local/lib/libldbplugin.so ] || [ -e "/usr/lib/$multiarch/ldb.so" ]; then
	skip "install for real" "ldb is installed already"
	finish
fi
for prefix in /usr/local /usr; do
	at_end "$make uninstall PREFIX=$prefix DESTDIR= >/dev/null"
	check "make install PREFIX=$prefix" "$make install PREFIX=$prefix DESTDIR="
	check "$prefix: gcc -fplugin=ldb.so app.c, with no other flag" \
		"$CC -fplugin=ldb.so app.c -o app && ./app" 0 '^app$'
	ok "$prefix: instrumented" instrumented app
	check "$prefix: -fplugin=ldb" "$CC -fplugin=ldb app.c -o app && ./app" 0 '^app$'
	check "$prefix: options reach it" \
		"$CC -fplugin=ldb.so -fplugin-arg-ldb-verbose -c app.c" 0 'ldb: main: instrumented'
	check "$prefix: the wrapper" "$prefix/bin/ldb-g++ app.cc -o app && ./app" 0 '^app$'
	check "$prefix: uninstall" "$make uninstall PREFIX=$prefix DESTDIR="
	check "$prefix: gone" "$CC -fplugin=ldb.so app.c -o app" 1 'ldb.so'
done
listing /etc /usr/lib /usr/local/lib "/usr/lib/$multiarch" "$gccdir" | grep -v ld.so.cache >after
grep -v ld.so.cache before >before2
ok "uninstall leaves nothing behind" cmp before2 after
finish
