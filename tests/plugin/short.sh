# SPDX-License-Identifier: GPL-2.0-or-later
# Tests which functions are proved to be short, so that they need no record, and which are not.
. "$TOP/tests/lib/engine.sh"

cat >c.c <<'END'
#define N __attribute__((noinline))
int ext(int);
static N int hash(int k) { return k * 31 >> 7; }
static N int slot(int k) { return hash(k) & 63; }
int get(int k) { return slot(k) + 1; }
int gets_two(int k) { return get(k) * get(k + 1); }
static N int asks(int k) { return ext(k) + 1; }
int asks_too(int k) { return slot(asks(k)); }
static N int loops(const char *s) { int n = 0; while (s[n] != 7) n++; return n; }
int calls_loops(const char *s) { return loops(s) + 1; }
static N int tail(int k) { return ext(k); }
int calls_tail(int k) { return tail(k) + 1; }
static N int short_tail(int k) { return slot(k); }
int calls_short_tail(int k) { return short_tail(k) + 1; }
int through_pointer(int (*f)(int)) { return f(1) + 1; }
N int recursive(int k) { return k < 2 ? k : recursive(k - 1) * recursive(k - 2); }
static N int ping(int k);
static N int pong(int k) { return k < 1 ? k : ping(k - 1) + ping(k - 2); }
static N int ping(int k) { return k < 1 ? k : pong(k - 1) * pong(k - 2); }
int calls_ping(int k) { return ping(k) + 1; }
__attribute__((weak)) int weak(int k) { return k + 1; }
int calls_weak(int k) { return weak(k) + 1; }
__attribute__((noipa)) static int opaque(int k) { return k + 1; }
int calls_opaque(int k) { return opaque(k) + 1; }
static N __attribute__((ldb_always)) int always(int k) { return k + 1; }
int calls_always(int k) { return always(k) + 1; }
int other_name(int k) __attribute__((alias("get")));
int calls_alias(int k) { return other_name(k) + 1; }
static void *resolver(void) { return (void *)get; }
int indirect(int k) __attribute__((ifunc("resolver")));
int calls_ifunc(int k) { return indirect(k) + 1; }
__attribute__((target_clones("avx2", "default"))) int cloned(int k) { return k + 3; }
int calls_cloned(int k) { return cloned(k) + 1; }
void panic(void) __attribute__((noreturn));
static N int checked(int k) { if (k < 0) panic(); return k + 1; }
int calls_checked(int k) { return checked(k) * 2; }
#define D(x) x ^= x / (y | 1); y += x;
#define D8(x) D(x) D(x) D(x) D(x) D(x) D(x) D(x) D(x)
static N int far(int x, int y) { D8(x) D8(x) D8(x) D8(x) return x; }
static N int near(int x, int y) { if (x) { D8(x) } else { D8(y) } return x + y; }
int calls_far(int k) { return far(k, k + 1) + 1; }
int calls_near(int k) { return near(k, k + 1) + 1; }
N int compares(const char *a, const char *b) { return __builtin_strcmp(a, b) + 1; }
int calls_compares(const char *a) { return compares(a, "x") + 1; }
int copies(char *a, const char *b) { __builtin_strcpy(a, b); return 1; }
double wave(double x) { return __builtin_sin(x) * __builtin_pow(x, 3.5); }
double divides(double x, double y) { return __builtin_fmod(x, y) + 1; }
long double wide(long double x) { return __builtin_powl(x, 3.5L) + 1; }
#define ASM(name, text) int asm_##name(int x) { __asm__ volatile(text : "+r"(x) :: "memory"); return x; }
ASM(nop, "nop")
ASM(lines, "movl $1, %0\n\taddl $2, %0; bswapl %0\n")
ASM(locked, "lock; incl (%%rsp)\n\tlock xaddl %0, (%%rsp)")
ASM(syscall, "nop\n\tsyscall")
ASM(pause, "pause")
ASM(rep, "rep; nop")
ASM(rep_movs, "rep movsb")
ASM(jump, "1: jmp 1b")
ASM(label, "nop\n2:")
ASM(call, "call ext")
ASM(byte, ".byte 0x0f, 0x05")
ASM(int, "int $3")
ASM(comment, "# nop")
ASM(cpuid, "cpuid")
ASM(fence, "mfence")
ASM(stamp, "rdtsc")
ASM(hidden, "nop # ; and\n\tmwait")
END
cat >cc.cc <<'END'
#define N __attribute__((noinline))
int ext(int);
static N int thrower(int k) { if (k < 0) throw k; return k + 1; }
int calls_thrower(int k) { return thrower(k) + 1; }
int catches(int k) { try { return thrower(k); } catch (int e) { return e; } }
struct P {
	int x;
	N int get() const { return x; }
	N virtual int see() const { return x + 1; }
};
template <class T> N T twice(T x) { return x * 2; }
int of_inline(P &p) { return p.get() + twice(p.x); }
int of_virtual(const P *p) { return p->see() + 1; }
END

says()	# name function regex: checks the function's line in the list
{
	if grep -Eq "^ldb: $2(\\.[a-z0-9.]+)?: $3" list; then
		pass "$how: $1"
	else
		fail "$how: $1"
		diag "$(grep -E "^ldb: $2(\\.|:)" list || echo "nothing about $2")"
	fi
}
short() { for f; do says "$f needs no record" "$f" "skipped: no calls or loops"; done; }
long() { for f; do says "$f has a record" "$f" instrumented; done; }
verbose="-fplugin-arg-ldb-verbose -w -c -o x.o"

how=C
check "$how compiles" "cc_ldb -O2 -fno-pie $verbose c.c 2>list"
short hash slot get gets_two short_tail calls_short_tail calls_alias near calls_near \
	far calls_checked wave compares
long asks asks_too loops calls_loops calls_tail through_pointer recursive calls_ping calls_weak \
	calls_opaque always calls_always calls_ifunc calls_cloned calls_far divides wide \
	calls_compares copies
says "a check that ends for good has a record of its own there" checked \
	"instrumented: entry=dead ends only exits=0 dead-ends=1"
short asm_nop asm_lines asm_locked
long asm_syscall asm_pause asm_rep asm_rep_movs asm_jump asm_label asm_call asm_byte asm_int \
	asm_comment asm_cpuid asm_hidden asm_fence asm_stamp

how=-fPIC
check "$how compiles" "cc_ldb -O2 -fPIC $verbose c.c 2>list"
short hash slot get calls_near
long gets_two calls_alias calls_weak
how="-fPIC -fno-semantic-interposition"
check "$how compiles" "cc_ldb -O2 $how $verbose c.c 2>list"
short gets_two calls_alias
long calls_weak
how=-fPIE
check "$how compiles" "cc_ldb -O2 -fPIE $verbose c.c 2>list"
short get gets_two
long asks_too calls_weak

# With these options the plugin sees functions in the order of the source, so it knows nothing about
# a callee that comes later.
cat >order.c <<'END'
int later(int k);
int first(int k) { return later(k) + 1; }
int later(int k) { return k + 1; }
int last(int k) { return later(k) + 1; }
END
for how in -O0 "-O2 -fno-inline -fno-toplevel-reorder"; do
	check "$how compiles" "cc_ldb $how $verbose order.c 2>list"
	long first
	short later last
done

how=C++
check "$how compiles" "cxx_ldb -O2 -fno-ipa-cp $verbose cc.cc 2>list"
long _Z13calls_throweri _Z7catchesi _Z10of_virtualPK1P
short _ZNK1P3getEv _Z5twiceIiET_S0_ _Z9of_inlineR1P

# One function becomes long, and so do those that call it.
how="one change"
sed 's/return k \* 31 >> 7/return ext(k * 31) >> 7/' c.c >changed.c
check "$how compiles" "cc_ldb -O2 -fno-pie $verbose changed.c 2>list"
long hash slot get gets_two calls_alias
short near calls_near calls_checked

# A function of another file is unknown when compiling, and known when -flto links.
cat >one.c <<'END'
__attribute__((noinline)) int elsewhere(int k) { return k * 3; }
END
cat >two.c <<'END'
int elsewhere(int k);
__attribute__((noinline)) int asks(int k) { return elsewhere(k) + elsewhere(k + 1); }
int main(int c, char **v) { (void)v; return asks(c) == 9 ? 0 : 1; }
END
how="two files"
check "$how compile" "cc_ldb -O2 $verbose two.c 2>list"
long asks
how=-flto
check "$how links and runs" "flto='-O2 -flto -flto-partition=none' &&
	cc_ldb \$flto -c one.c -o one.o && cc_ldb \$flto -c two.c -o two.o &&
	cc_ldb \$flto -fplugin-arg-ldb-verbose one.o two.o -o prog 2>list && ./prog"
short elsewhere asks
finish
