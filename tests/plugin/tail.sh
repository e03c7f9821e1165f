# SPDX-License-Identifier: GPL-2.0-or-later
# Tests which tail calls stay jumps: a caller is in the chain while a function of a library runs,
# and the stack of a program that calls in circles by jumps alone does not grow.
. "$TOP/tests/lib/engine.sh"
src=$TOP/tests/plugin

cat >c.c <<'END'
#include <math.h>
#include <string.h>
#include <unistd.h>
#define N __attribute__((noinline))
struct ops { int (*read)(int); };
int ext(int);
int near(int) __attribute__((visibility("hidden")));
int by_hand(int x) { return ext(x + 1); }
int to_hidden(int x) { return near(x + 1); }
int through_pointer(const struct ops *ops) { return ops->read(1); }
N int own(int x) { return ext(x) + 1; }
int to_own(int x) { return own(x + 1); }
int do_sync(int fd) { return fdatasync(fd); }
int work_first(int fd) { ext(fd); return fdatasync(fd); }
int rarely(int fd) { return fd < 0 ? fd : fdatasync(fd); }
void copy(char *to, const char *from, size_t n) { memcpy(to, from, n); }
size_t measure(const char *s) { return strlen(s); }
double root(double x) { return sqrt(x); }
void leave(int x) { if (x) _exit(x); ext(x); }
__attribute__((ldb_never)) int never(int fd) { return fdatasync(fd); }
__attribute__((ldb_always)) int always(int x) { return ext(x); }
END
cat >cc.cc <<'END'
struct P { ~P(); int x; };
void erase(int *p) { delete p; }
END

in_function()	# file function: prints its lines
{
	sed -n "/^$2:/,/\.size[[:space:]]*$2,/p" "$1"
}

# Function $2 jumps to $3, or links a record, calls it and unlinks the record afterwards.
jumps() { check "$how: $2 jumps to $3" "in_function $1 $2 | tr '\n\t' '; '" 0 " jmp \*?$3"; }
calls()
{
	check "$how: $2 calls $3 with a record" "in_function $1 $2 | tr '\n\t' '; '" 0 \
		"(65536|__ldb_link).* call $3.*APP.* ret;"
}

how=default
check "$how: compiles" "cc_ldb -O2 -S c.c -o c.s"
for f in do_sync work_first rarely; do calls c.s $f fdatasync; done
calls c.s copy memcpy
calls c.s always ext
jumps c.s by_hand ext
jumps c.s to_hidden near
jumps c.s through_pointer '[%(]'
jumps c.s to_own own
jumps c.s never fdatasync
jumps c.s measure strlen
jumps c.s leave ext
check_not "$how: what takes no time is no reason for a record" \
	"in_function c.s root; in_function c.s measure" 0 '65536|__ldb_link'
check "$how: a path without the call pays nothing" "in_function c.s rarely | awk '
	/#APP/ { print \"link\"; exit } /\tret/ { print \"ret\" } /\tj/ { print \"branch\"; exit }'" 0 '^branch$'
check "$how: a function that never returns is called as ever" "in_function c.s leave" 0 'call[[:space:]]_exit'
check "$how: C++ compiles" "cxx_ldb -O2 -S cc.cc -o cc.s"
calls cc.s _Z5erasePi _ZdlPvm
how=-fPIC
check "$how: compiles" "cc_ldb -O2 -fPIC -S c.c -o pic.s"
calls pic.s do_sync fdatasync
jumps pic.s to_own own
how=-save-temps
check "$how: compiles" "cc_ldb -O2 -save-temps -c c.c -o saved.o && mv c.s saved.s"
calls saved.s do_sync fdatasync
jumps saved.s by_hand ext

how=tail-calls=all
check "$how: compiles" "cc_ldb -O2 -fplugin-arg-ldb-$how -S c.c -o all.s"
for f in do_sync work_first rarely; do jumps all.s $f fdatasync; done
calls all.s always ext
how=tail-calls=module
check "$how: compiles" "cc_ldb -O2 -fplugin-arg-ldb-$how -S c.c -o module.s"
calls module.s do_sync fdatasync
calls module.s by_hand ext
jumps module.s to_hidden near
jumps module.s through_pointer '[%(]'
jumps module.s to_own own
check_one_line "tail-calls=: a value that is none" \
	"cc_ldb -fplugin-arg-ldb-tail-calls=some -c c.c -o x.o" 1 \
	"wrong value in .tail-calls=some.: known are all, program, module"

# --- the chain as functions of libraries see it -------------------------------

cat >chain.cc <<'END'
#include <stdexcept>
#include <string>
#include <ucontext.h>
#include "chain.h"
extern "C" {
SUBJECT int compare(const void *a, const void *b)
{
	CHAIN_IS("compare", "do_sort", "worker", MAIN);
	return *(const int *)a - *(const int *)b;
}
SUBJECT void do_sort(int *at) { qsort(at, 2, sizeof(*at), compare); }
SUBJECT void worker(void)
{
	int two[] = { 2, 1 };

	do_sort(two);
	CHAIN_IS("worker", MAIN);
	printf("%d\n", two[0]);
}
SUBJECT int do_compare(const std::string &s, size_t at) { return s.compare(at, 1, "x"); }
SUBJECT void catches(void)
{
	std::string s("abc");

	printf("%d\n", do_compare(s, 1) < 0);
	CHAIN_IS("catches", MAIN);
	try {
		do_compare(s, 17);
	} catch (const std::out_of_range &) {
		puts("out of range");
	}
	CHAIN_IS("catches", MAIN);
}
static ucontext_t here, there;
SUBJECT void do_switch(ucontext_t *from, ucontext_t *to) { swapcontext(from, to); }
SUBJECT void other_side(void) { do_switch(&there, &here); }
SUBJECT void switches(void)
{
	static char stack[64 << 10];

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	makecontext(&there, other_side, 0);
	do_switch(&here, &there);
	CHAIN_IS("switches", MAIN);
	puts("switched");
}
}
int main()
{
	run_case("qsort", worker);
	run_case("exception", catches);
	run_case("swapcontext", switches);
	return chain_status();
}
END
chain="-w -rdynamic -I$src chain.cc -DWITH_LDB -o chain"
for level in -O0 -O1 -O2 -Os "-O2 -flto" "-O2 -fplugin-arg-ldb-tail-calls=module"; do
	check "$level: the caller of a library's function is in the chain" \
		"cxx_ldb $level $chain && ./chain" 0 '^switched'
done
check "tail-calls=all: it is not, and the test says so" \
	"cxx_ldb -O2 -fplugin-arg-ldb-tail-calls=all $chain && ./chain" 1 \
	"compare: level 1: is worker, want do_sort"

# --- no stack is used up ------------------------------------------------------

cat >even.c <<'END'
#include <poll.h>
int is_odd(long n);
__attribute__((noipa)) int is_even(long n)
{
	if (n % 1000000 == 999998)
		poll(0, 0, 0);
	return n == 0 ? 1 : is_odd(n - 1);
}
END
sed 's/is_odd/is_x/; s/is_even/is_odd/; s/is_x/is_even/; s/? 1/? 0/' even.c >odd.c
cat >main.c <<'END'
#include <stdio.h>
int is_even(long n);
static int (*step)(long);
__attribute__((noipa)) static int by_pointer(long n) { return n == 0 ? 1 : step(n - 1); }
int main(void)
{
	step = by_pointer;
	printf("%d %d\n", is_even(10000000), by_pointer(10000000));
	return 0;
}
END
cat even.c odd.c main.c >one.c
small="ulimit -s 256 &&"
runs()	# name arguments
{
	check "$1: ten million jumps in 256 KB of stack" "cc_ldb -w $2 -o prog && ($small ./prog)" 0 '^1 1$'
}
for level in -O2 -O3 -Os; do
	runs "$level, one file" "$level one.c"
	runs "$level, two files" "$level even.c odd.c main.c"
done
module="-O2 -fplugin-arg-ldb-tail-calls=module"
runs "tail-calls=module, one file" "$module one.c"
runs "tail-calls=module, -flto" "$module -flto -flto-partition=max even.c odd.c main.c"
check "tail-calls=module, two files: they use it up, as ldb-plugin(7) warns" \
	"cc_ldb -w $module even.c odd.c main.c -o prog && { ($small ./prog); [ \$? -gt 128 ]; }"

# --- mandatory tail calls remain jumps -----------------------------------------------

headers=$($CC -print-file-name=plugin)/include
check "a plugin that asks for jumps: compiles" "$CXX -x c++ -std=gnu++14 -fPIC -shared -fno-rtti -w \
	-isystem $headers $src/must-tail.c -o must-tail.so"
cat >must.c <<'END'
#include <unistd.h>
int must_jump(int fd) { return fdatasync(fd); }
int may_call(int fd) { return fdatasync(fd + 1); }
END
for options in "" -fplugin-arg-ldb-tail-calls=module; do
	how="asked for${options:+, $options}"
	check "$how: compiles" "cc_ldb -O2 -fplugin=$WORK/must-tail.so $options -S must.c -o must.s"
	jumps must.s must_jump fdatasync
	calls must.s may_call fdatasync
done
how=musttail
cat >attribute.c <<'END'
#include <unistd.h>
int must_jump(int fd) { __attribute__((musttail)) return fdatasync(fd); }
END
if printf '#if !__has_attribute(musttail)\n#error\n#endif\n' | $CC -E - >/dev/null 2>&1; then
	check "$how: compiles" "cc_ldb -O2 -S attribute.c -o attribute.s"
	jumps attribute.s must_jump fdatasync
else
	skip "$how: must_jump jumps to fdatasync" "$CC has no such attribute"
fi
finish
