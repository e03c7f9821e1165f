# SPDX-License-Identifier: GPL-2.0-or-later
# Tests which functions get a record: attributes, options, and functions that can never have one.
. "$TOP/tests/lib/engine.sh"

cat >c.c <<'END'
int ext(int);
#define N __attribute__((noinline))
N int plain(int x) { return ext(x) + 1; }
N __attribute__((ldb_never)) int never(int x) { return ext(x) + 1; }
N __attribute__((no_instrument_function)) int no_instrument(int x) { return ext(x) + 1; }
__attribute__((ldb_always)) int always_leaf(int x) { return x + 1; }
__attribute__((ldb_always)) int always_tail(int x) { return ext(x); }
static __attribute__((ldb_always)) int always_static(int x) { return x * 3; }
int user_of_static(int x) { return always_static(x); }
int header_says_never(int) __attribute__((ldb_never));
int header_says_never(int x) { return ext(x) + 1; }
int leaf(int x) { return x + 1; }
int tail(int x) { return ext(x + 1); }
int small(int x) { return ext(x) + 1; }
int small_loop(const int *p) { int s = 0; while (*p) s += *p++; return s; }
int larger(int x)
{
	int a = ext(x), b = ext(a), c = ext(b), d = ext(c);
	return ext(a * b + c * d) + ext(a + b) + ext(c - d) + ext(a ^ d) + ext(b);
}
int barrier(int x) { __asm__ volatile("" ::: "memory"); return x; }
int with_asm(int x) { __asm__ volatile("syscall" : "+a"(x) :: "rcx", "r11", "memory"); return x; }
struct s { long v[4]; };
int copies(struct s *a, struct s *b) { __builtin_memcpy(a, b, sizeof(*a)); return 1; }
int long_copy(char *a, char *b, long n) { __builtin_memcpy(a, b, n); return 1; }
int atomics(int *p) { return __atomic_fetch_add(p, 1, 5) + __builtin_popcount(*p); }
int no_return(int x) { if (x) __builtin_abort(); return x; }
__attribute__((naked)) void is_naked(void) { __asm__("ret"); }
struct frame;
__attribute__((interrupt, target("general-regs-only"))) void irq(struct frame *f) { (void)f; never(1); }
__attribute__((no_caller_saved_registers, target("general-regs-only"))) void keeps(void) { plain(2); }
static N int resolver_helper(int x) { int i; for (i = 0; i < x; i++) ext(i); return x; }
static int impl(int x) { return ext(x) + 2; }
static void *resolver(void) { resolver_helper(3); return (void *)impl; }
int chosen(int x) __attribute__((ifunc("resolver")));
__attribute__((target_clones("avx2", "default"))) int cloned(int x) { return ext(x) + 3; }
int _start(int x) { return ext(x) + 1; }
END
cat >cc.cc <<'END'
int ext(int);
namespace ns {
struct K {
	int method(int x) { return ext(x) + 1; }
	[[gnu::ldb_never]] int quiet(int x) { return ext(x) + 1; }
	int operator()(int x) { return ext(x) + 1; }
};
int free_function(int x) { return ext(x) + 1; }
template <class T> __attribute__((ldb_never)) T templ(T x) { return ext(x) + 1; }
template <class T> __attribute__((ldb_always)) T forced(T x) { return x + 1; }
}
int use(int x)
{
	ns::K k;
	auto l = [](int y) __attribute__((ldb_never, noinline)) { return ext(y) + 1; };
	return k.method(x) + k.quiet(x) + k(x) + ns::templ(x) + ns::forced(x) + l(x);
}
END

verbose="-fplugin-arg-ldb-verbose -c -o x.o"
says()	# name regex: checks that the last list has a match
{
	if grep -Eq -e "$2" list; then
		pass "$1"
	else
		fail "$1"
		diag "no line matches: $2"
		diag "$(cat list)"
	fi
}
# GCC may have cloned the function: .constprop.0
yes() { says "${2:-$1: instrumented}" "^ldb: $1(\\.[a-z0-9.]+)?: instrumented"; }
no() { says "${3:-$1: not instrumented}" "^ldb: $1(\\.[a-z0-9.]+)?: skipped: $2"; }

check "C compiles" "cc_ldb -O2 $verbose c.c -w 2>list"
yes plain
no never ldb_never
no header_says_never ldb_never "ldb_never on the declaration alone"
no no_instrument no_instrument_function
yes always_leaf "ldb_always: a leaf"
yes always_tail "ldb_always: a function that would only tail-call"
yes always_static "ldb_always: a static function is not inlined"
no leaf "no calls or loops"
no tail "no calls or loops" "a tail call is no call"
no barrier "no calls or loops" "an empty asm is no call"
yes with_asm "an asm with a system call counts as a call"
no copies "no calls or loops" "a small memcpy is no call"
yes long_copy "a memcpy of unknown size is a call"
no atomics "no calls or loops" "atomics and bit counts are no calls"
no no_return "no calls or loops" "abort() is no call"
no is_naked naked
no irq interrupt
no keeps no_caller_saved_registers
no resolver "ifunc resolver"
no resolver_helper "ifunc resolver, or called by one"
no 'cloned.resolver' "ifunc resolver" "resolver made by target_clones"
yes 'cloned.avx2' "version made by target_clones"
no _start "runs before"
check "the naked function is untouched" \
	"objdump -d x.o --no-show-raw-insn --disassemble=is_naked | grep -c -w ret" 0 '^1$'

check "-O0" "cc_ldb -O0 $verbose c.c -w 2>list"
yes tail "at -O0 tail calls are calls"
no leaf "no calls or loops"
no resolver_helper "ifunc resolver"

check "min-insns=12" "cc_ldb -O2 $verbose c.c -w -fplugin-arg-ldb-min-insns=12 2>list"
no small "min-insns="
yes small_loop "min-insns: loops are exempt"
yes larger "min-insns: large functions are not skipped"
yes always_leaf "min-insns: ldb_always wins"

check "allow=" "cc_ldb -O2 $verbose c.c -w -fplugin-arg-ldb-allow=sm*:larger 2>list"
yes small
yes larger
no plain "not in allow="
yes always_leaf "allow: ldb_always wins"
check "deny=" "cc_ldb -O2 $verbose c.c -w -fplugin-arg-ldb-deny=small:pl* \
	-fplugin-arg-ldb-deny=larger 2>list"
no small deny=
no plain deny=
no larger deny= "deny given twice"
yes small_loop
check "deny wins over allow" "cc_ldb -O2 $verbose c.c -w \
	-fplugin-arg-ldb-allow=* -fplugin-arg-ldb-deny=small 2>list"
no small deny=
yes plain

check "C++ compiles" "cxx_ldb -O1 -fno-inline $verbose cc.cc 2>list"
no _ZN2ns1K5quietEi ldb_never "a method with [[gnu::ldb_never]]"
yes _ZN2ns1K6methodEi "a method"
no _ZN2ns5templIiEET_S1_ ldb_never "a template with ldb_never"
yes _ZN2ns6forcedIiEET_S1_ "a template with ldb_always"
says "a lambda with ldb_never" '^ldb: _ZZ3useiENK[^:]*: skipped: ldb_never'
check "globs match C++ names" "cxx_ldb -O1 -fno-inline $verbose cc.cc \
	'-fplugin-arg-ldb-allow=ns::K::*:use' 2>list"
yes _ZN2ns1K6methodEi "ns::K::*: method"
yes _ZN2ns1KclEi "ns::K::*: operator()"
no _ZN2ns13free_functionEi "not in allow=" "ns::K::*: not ns::free_function"
yes _Z3usei "use"
check "globs match a whole signature" "cxx_ldb -O1 -fno-inline $verbose cc.cc \
	'-fplugin-arg-ldb-deny=use(int)' 2>list"
no _Z3usei deny= "use(int)"

check "disable" "cc_ldb -O2 -Wall -Wno-pedantic -fplugin-arg-ldb-disable -c c.c -o x.o -w &&
	readelf -S x.o"
ok "disable: no note, no block" sh -c '! readelf -SW x.o | grep -q ldb'
check "version" "cc_ldb -fplugin-arg-ldb-version -c c.c -o x.o -w" 0 \
	"^ldb.so [0-9.]+, ABI 1, for GCC $($CC -dumpfullversion)"
check_one_line "an unknown option" "cc_ldb -fplugin-arg-ldb-bogus -c c.c -o x.o -w" 1 \
	"wrong option .-fplugin-arg-ldb-bogus.: known are disable, "
check_one_line "an option with a value too many" \
	"cc_ldb -fplugin-arg-ldb-disable=1 -c c.c -o x.o -w" 1 "wrong option .*disable=1"
check_one_line "an option with a value missing" \
	"cc_ldb -fplugin-arg-ldb-deny -c c.c -o x.o -w" 1 "wrong option .*-deny.: known"
check_one_line "a number that is none" \
	"cc_ldb -fplugin-arg-ldb-min-insns=1x -c c.c -o x.o -w" 1 "min-insns=1x.* is not a number"

echo '__attribute__((ldb_never)) int f(void) { return 1; }' >attr.c
check_one_line "without the plugin the attribute is a warning only" \
	"$CC -c attr.c -o x.o 2>&1 | grep warning >&2; [ -s x.o ]" 0 "ldb_never"
echo 'int v __attribute__((ldb_never)); ' >attr.c
check "the attribute on a variable" "cc_ldb -c attr.c -o x.o" 0 "ldb_never.* applies to functions only"
check_not "with the plugin it is known" "cc_ldb -Wall -Wextra -O2 -c c.c -o x.o" 0 "ldb_never"
check "32-bit code: a note, no instrumentation" "cc_ldb -m32 -O2 -c attr.c -o x.o -w" 0 \
	"note: ldb.so: only 64-bit code"
finish
