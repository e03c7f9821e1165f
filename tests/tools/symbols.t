# SPDX-License-Identifier: GPL-2.0-or-later
# Tests names and lines of programs that were really recorded, with their debug information
# wherever people put it, and after the files were moved to "another machine".
# Timed: a live scanner must observe the functions whose names are judged.
. "$(dirname "$0")/../lib/engine.sh"
need_build
unset COLUMNS
# For names that the trace contains, see names.t.
record_options=--no-symbols

cat >lib.h <<'EOF'
#include <time.h>

struct Meter {
	__attribute__((noinline)) void run(long ns)
	{
		struct timespec a, b;

		clock_gettime(CLOCK_MONOTONIC, &a);
		do
			clock_gettime(CLOCK_MONOTONIC, &b);
		while ((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec < ns);
		turns++;
	}
	int turns = 0;
};

void busy_loop(long ns);
EOF
cat >lib.cc <<'EOF'
#include "lib.h"

void busy_loop(long ns)
{
	Meter meter;

	meter.run(ns);
	__asm__ volatile("" : : "r"(meter.turns));
}
EOF
cat >app.cc <<'EOF'
#include "lib.h"

namespace shop {
struct Item {
	long price;
};

template<typename T> struct Cart {
	__attribute__((noinline)) long add(const T &item);
	long total = 0;
};

template<typename T> long Cart<T>::add(const T &item)
{
	busy_loop(item.price);
	return total += item.price;
}
}

int main()
{
	shop::Cart<shop::Item> cart;

	for (int i = 0; i < 8; i++)
		cart.add({ 4000000 });
	return cart.total < 0;
}
EOF

build()	# name flags...: name/run/app and its library
{
	name=$1
	shift
	mkdir -p "$name/run" && cp app.cc lib.cc lib.h "$name/run" &&
		(cd "$name/run" && cxx_ldb -O2 "$@" -fPIC -shared -o libbusy.so lib.cc &&
		 cxx_ldb -O2 "$@" -o app app.cc -L. -lbusy -Wl,-rpath,"$WORK/$name/run")
}

record()	# name
{
	record_apart "$1/ldb.data" "$1/run/app" >record.log 2>&1 || diag "$(cat record.log)"
}

# Prints lines "function <- caller place, definition"; writes hints to "hints".
names()	# name option...
{
	name=$1
	shift
	ldb-report -i "$name/ldb.data" --json "$@" 2>hints | jq -r 'def base: split("/") | last // "";
		.functions[] | "\(.function) <- \(.caller) \(.file | base):\(.line), \(.func_file | base):\(.func_line)"'
}

ADD='^shop::Cart<shop::Item>::add <- main app\.cc:25, app\.cc:13$'
LOOP='^busy_loop <- shop::Cart<shop::Item>::add app\.cc:15, lib\.cc:3$'
RUN='^Meter::run <- busy_loop lib\.cc:7, lib\.h:4$'

complete()	# what name option...: checks that all names are known, and that no hint is printed
{
	what=$1
	shift
	names "$@" >names.out
	if grep -Eq "$ADD" names.out && grep -Eq "$LOOP" names.out && grep -Eq "$RUN" names.out && ! grep -q "/$1/run/" hints; then
		pass "$what"
	else
		fail "$what"
		diag "$(cat names.out hints)"
	fi
}

has()	# what regex name option...: checks for a line of names()
{
	what=$1 regex=$2
	shift 2
	names "$@" >names.out
	if grep -Eq -e "$regex" names.out; then
		pass "$what"
	else
		fail "$what"
		diag "no line matches $regex"
		diag "$(cat names.out hints)"
	fi
}

lacks()	# what regex name option...: checks that no line of names() matches
{
	what=$1 regex=$2
	shift 2
	names "$@" >names.out
	if [ -s names.out ] && ! grep -Eq -e "$regex" names.out; then
		pass "$what"
	else
		fail "$what"
		diag "$(cat names.out hints)"
	fi
}

hint()	# what regex: the last names() printed one such hint, and no other of its kind
{
	ok "$1" test "$(grep -Ec -e "$2" hints)" -eq 1
	[ "$(grep -Ec -e "$2" hints)" -eq 1 ] || diag "$(cat hints)"
}

split_off()	# name: makes debug files beside the programs, with links to them
{
	for file in app libbusy.so; do
		(cd "$1/run" && objcopy --only-keep-debug $file $file.debug && strip $file &&
		 objcopy --add-gnu-debuglink=$file.debug $file) || return 1
	done
}

build_id()	# file
{
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

by_build_id()	# name file from to: moves the debug file into the folder of build-ids of `to`
{
	id=$(build_id "$1/$2")
	rest=${id#??}
	mkdir -p "$4/.build-id/${id%"$rest"}" &&
		cp "$3/$2.debug" "$4/.build-id/${id%"$rest"}/$rest.debug"
}

# Varies how the program is compiled.
for variant in "PIE, DWARF 5:-g -gdwarf-5" "not PIE:-g -no-pie" "DWARF 4:-g -gdwarf-4" \
	       "compressed sections:-g -gz" "compressed the old way:-g -gz=zlib-gnu" \
	       "-flto:-g -flto"; do
	flags=${variant#*:}
	dir=v$(printf %s "$flags" | tr -cd a-z0-9)
	# shellcheck disable=SC2086	# several flags
	if build "$dir" $flags && record "$dir"; then
		complete "${variant%%:*}" "$dir"
	else
		fail "${variant%%:*}: built and recorded"
	fi
done

# With split DWARF, the lines of calls stay in the program; definitions are in .dwo files.
build split -g -gsplit-dwarf && record split
complete "split DWARF" split
mkdir dwo && mv split/run/*.dwo dwo
has "without its .dwo files, calls have lines" 'add <- main app\.cc:25, :0$' split
hint "and the hint says what is missing" 'split/run/.*\.dwo'

for file in dwo/*; do
	mkfifo "split/run/${file##*/}"
done
run_cmd "timeout -k 1 20 ldb-report -q -i split/ldb.data"
ok "pipes in their places do not hold the report up" test "$status" -eq 0
rm split/run/*.dwo

# The debug information was cut: libdw must not end the tool.
build cut -g && (cd cut/run && objcopy -R .debug_line -R .debug_line_str app) && record cut
has "without tables of lines: names" '^shop::Cart<shop::Item>::add <- main :0, :0$' cut

# Separate debug files are found, wherever they are.
build sep -g && split_off sep && record sep
cp -a sep sep2
complete ".gnu_debuglink, beside the file" sep
mkdir sep/run/.debug && mv sep/run/*.debug sep/run/.debug
complete ".gnu_debuglink, in .debug" sep
mv sep/run/.debug sep/flat
has "without them: module and offset" '^app\+0x[0-9a-f]+ <- ' sep
hint "one hint: how to get them" 'sep/run/app: no symbols found: .*-g.*--debug-dir'
complete "--debug-dir: all in one folder" sep --debug-dir sep/flat
mkdir -p "mirror$WORK/sep/run" && cp sep/flat/* "mirror$WORK/sep/run"
complete "--debug-dir: below the program's path" sep --debug-dir mirror
by_build_id sep/run app sep/flat ids && by_build_id sep/run libbusy.so sep/flat ids
complete "--debug-dir: by build-id" sep --debug-dir ids
complete "--debug-dir: the second of two" sep --debug-dir nowhere --debug-dir ids

# Debug files of another build are not used.
build other -g -DOTHER=1 && sed -i 's/4000000/5000000/' other/run/app.cc &&
	(cd other/run && cxx_ldb -O1 -g -o app app.cc -L. -lbusy)
mkdir -p wrong && cp other/run/app wrong/app.debug && cp other/run/app wrong/app
lacks "a debug file with another build-id is not used" 'shop|app\.cc' sep --debug-dir wrong
ids_dir=$(dirname "$(find ids -name '*.debug' | head -n 1)")
id=$(build_id sep/run/app)
mkdir -p "forged/.build-id/${id%"${id#??}"}" &&
	cp other/run/app "forged/.build-id/${id%"${id#??}"}/${id#??}.debug"
lacks "not even by the name of the right one" 'shop|app\.cc' sep --debug-dir forged
ok "(the folder of build-ids is not empty)" test -d "$ids_dir"

# Without a build-id the checksum of the link decides.
build noid -g -Wl,--build-id=none && split_off noid && record noid
complete "no build-id: the link's checksum" noid
mkdir noid/d && mv noid/run/*.debug noid/d
complete "no build-id, --debug-dir" noid --debug-dir noid/d
echo >>noid/d/app.debug
lacks "another checksum: not used" 'shop|app\.cc' noid --debug-dir noid/d

# A third file has the debug information that dwz has moved there.
if command -v dwz >/dev/null; then
	build dwz -g -gdwarf-4 && record dwz
	cp dwz/run/libbusy.so dwz/run/again.so
	for file in libbusy.so again.so; do
		(cd dwz/run && objcopy --only-keep-debug $file $file.debug && strip $file &&
		 objcopy --add-gnu-debuglink=$file.debug $file)
	done
	if (cd dwz/run && dwz -m common.dwz -M common.dwz libbusy.so.debug again.so.debug) >dwz.log 2>&1 &&
	   [ -f dwz/run/common.dwz ]; then
		complete "dwz: .gnu_debugaltlink beside the file" dwz
		mkdir -p dwz/d && mv dwz/run/*.debug dwz/run/*.dwz dwz/d
		complete "dwz: --debug-dir" dwz --debug-dir dwz/d
		mkdir dwz/d/.dwz && mv dwz/d/*.dwz dwz/d/.dwz
		complete "dwz: --debug-dir, in .dwz" dwz --debug-dir dwz/d
		rm -r dwz/d/.dwz
		lacks "dwz: without the third file, what was in it is not known" 'lib\.h:4$' dwz --debug-dir dwz/d
		hint "dwz: without the third file, a hint" 'libbusy\.so: .*dwz'
		mkfifo dwz/d/common.dwz
		run_cmd "timeout -k 1 20 ldb-report -q -i dwz/ldb.data --debug-dir dwz/d"
		ok "dwz: a pipe in its place does not hold the report up" test "$status" -eq 0
		rm dwz/d/common.dwz
	else
		fail "dwz has made a third file"
		diag "$(cat dwz.log)"
	fi
else
	skip "dwz" "no dwz"
fi

# The trace was moved to another machine, where the program's files are in other places, or
# missing.
rm -rf sep && cp -a sep2 sep && mkdir -p "root$WORK" && mv sep/run root && mkdir -p "root$WORK/sep" &&
	mv root/run "root$WORK/sep/run"
has "the files are not on this machine: module and offset" '^libbusy\.so\+0x' sep
hint "one hint for all of them" 'and 1 more: no symbols found: the file is not here: .*--debug-dir.*--sysroot'
complete "--sysroot: programs with debug files beside them" sep --sysroot root
complete "--sysroot with a slash at its end" sep --sysroot root/
mkdir -p "root/usr/lib/debug$WORK/sep/run" &&
	mv "root$WORK/sep/run/app.debug" "root$WORK/sep/run/libbusy.so.debug" \
		"root/usr/lib/debug$WORK/sep/run"
complete "--sysroot: usr/lib/debug, by path" sep --sysroot root
mkdir all && cp "root/usr/lib/debug$WORK/sep/run/"* all
for file in app libbusy.so; do
	by_build_id "root$WORK/sep/run" $file all root/usr/lib/debug
done
rm -r "root/usr/lib/debug$WORK"
complete "--sysroot: usr/lib/debug, by build-id" sep --sysroot root
rm -r "root$WORK/sep/run"
complete "--sysroot: only the debug files" sep --sysroot root
complete "--debug-dir: only the debug files, in one folder" sep --debug-dir all
mkdir whole && build whole/x -g -DOTHER=2 && cp whole/x/run/app whole/x/run/libbusy.so whole
lacks "--debug-dir: programs of that name, but of another build" 'shop|app\.cc' sep --debug-dir whole
build sent -g && record sent && mv sent/run sent/programs
complete "--debug-dir: the programs themselves" sent --debug-dir sent/programs
mkdir -p lib64 && cp sent/programs/* lib64 && (cd lib64 && strip -g app libbusy.so)
has "stripped of lines: names are there" '^shop::Cart<shop::Item>::add <- main :0, :0$' sent --debug-dir lib64
hint "and a hint says -g" 'no line numbers in it: compile with -g'

# This library has symbols only for the functions that it exports.
mkdir -p foreign/run
cat >foreign/each.c <<'EOF'
static __attribute__((noinline)) void one(void (*call)(long), long arg)
{
	call(arg);
	__asm__ volatile("" : : : "memory");
}

void each(void (*call)(long), long arg)
{
	one(call, arg);
	__asm__ volatile("" : : : "memory");
}
EOF
cat >foreign/app.cc <<'EOF'
#include "lib.h"

extern "C" void each(void (*call)(long), long arg);

__attribute__((noinline)) static void called(long ns)
{
	Meter().run(ns);
	__asm__ volatile("" : : : "memory");
}

int main()
{
	for (int i = 0; i < 8; i++)
		each(called, 4000000);
}
EOF
(cd foreign/run && $CC -O2 -fPIC -shared -Wl,--build-id -o libeach.so ../each.c && strip libeach.so &&
 cxx_ldb -O2 -g -I../.. -o app ../app.cc -L. -leach -Wl,-rpath,"$WORK/foreign/run")
record foreign
has "a caller in a stripped library: module and offset" '^called <- libeach\.so\+0x[0-9a-f]+ ' foreign
hint "one hint, with the command that gets its symbols" \
	'libeach\.so: not all symbols are in it: .*debuginfod-find debuginfo [0-9a-f]{40}.*--debug-dir'

# In a chroot the program's paths are not the tool's.
if [ "$(id -u)" -eq 0 ] && chroot / true 2>/dev/null; then
	in_jail=/app
	mkdir -p jail$in_jail
	# shellcheck disable=SC2086	# link_runtime is several words
	sed 's/i < 8/i < 2000/' app.cc >long.cc &&
		cxx_ldb -O2 -g -fPIC -shared -o jail$in_jail/libbusy.so lib.cc &&
		cxx_ldb -O2 -g -o jail$in_jail/app long.cc -Ljail$in_jail -lbusy -Wl,-rpath,$in_jail -Wl,--no-as-needed $link_runtime
	LD_LIBRARY_PATH=jail$in_jail:$BUILD/lib ldd jail$in_jail/app | grep -oE '/[^ ]+' | while read -r file; do
		case $file in jail/*) continue ;; esac
		mkdir -p "jail$(dirname "$file")" && cp -L "$file" "jail$file"
	done
	chroot jail "$in_jail/app" &
	pid=$!
	at_end "kill $pid 2>/dev/null || :"
	sleep 0.3
	mkdir jailed
	ldb-record -q --no-symbols -p $pid -d 0.5 -o jailed/ldb.data >record.log 2>&1 || diag "$(cat record.log)"
	sleep 0.3
	ldb-record -q -p $pid -d 0.5 -o named.data >record.log 2>&1 || diag "$(cat record.log)"
	sleep 0.3
	check "ldb-top finds the files in the chroot" "ldb-top -p $pid --batch -d 0.5 -n 1" 0 's shop::Cart<shop::Item>::add\(\)'
	kill $pid
	check "names are taken from the chroot, while the program is there" "ldb-report -i named.data --csv" 0 '^busy_loop,.*long\.cc,15'
	has "a library in a chroot: module and offset" '^libbusy\.so\+0x' jailed
	mv jail$in_jail/libbusy.so away.so && ln -s "$WORK/away.so" jail$in_jail/libbusy.so
	has "--sysroot: a link that leads out of it is not followed" '^libbusy\.so\+0x' jailed --sysroot jail
	mv away.so jail$in_jail/busy.so && ln -sf $in_jail/busy.so jail$in_jail/libbusy.so
	has "a library in a chroot, --sysroot; links are those of the chroot" '^busy_loop <- shop::Cart<shop::Item>::add long\.cc:15, lib\.cc:3$' jailed --sysroot jail
else
	skip "a chroot" "not root"
fi

# These paths are not regular files.
rm -rf odd && mkdir -p odd/d && cp sent/ldb.data odd && mkfifo odd/d/app && mkdir odd/d/libbusy.so
run_cmd "timeout 20 ldb-report -q -i odd/ldb.data --debug-dir odd/d"
ok "a pipe in the place of a program does not hold it up" test "$status" -eq 0
head -c 3000 sent/programs/app >odd/d/libbusy.so.debug
has "half a file is none" '^libbusy\.so\+0x' odd --debug-dir odd/d
ok "--no-demangle: the linker's name" sh -c \
	"ldb-report -q -i sent/ldb.data --debug-dir sent/programs --no-demangle --csv | grep -q '^_ZN4shop4CartINS_4ItemEE3addERKS1_,'"

finish
