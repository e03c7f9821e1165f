# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that what is particular to a CPU is in folders named arch/, and in the public
# <ldb/arch.h>: no instruction, register, intrinsic or question which CPU it is anywhere else.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/files.sh"

# The pages' JavaScript does not depend on the CPU; vendor/ is from other projects.
code_files()
{
	source_files gcc-plugin kmod libldb tools | grep -E '\.(c|cc|h|S|def|inc)$' |
		grep -v -e '/arch/' -e '^libldb/include/ldb/arch\.h$' -e '/vendor/'
}

# Three kinds of asm are allowed everywhere: directives that put something into an object, a name
# for a symbol, and an empty asm that only constrains the compiler.
of_cpu='\<(asm|__asm|__asm__)\>[ \t]*(volatile|__volatile__|goto)?[ \t]*\([ \t]*"[^"._]'
of_cpu=$of_cpu'|__(x86_64|amd64|i386|aarch64|arm|riscv|powerpc64|s390x|loongarch64)__|CONFIG_(X86|ARM64|RISCV|PPC|S390)'
of_cpu=$of_cpu'|__builtin_(ia32|cpu|arm|aarch64)_|\<_mm[0-9]*_|__m(128|256|512)|[a-z]mmintrin\.h|x86intrin\.h|cpuid\.h'
of_cpu=$of_cpu'|\<_*rdtscp?(_ordered)?\>|__seg_[fg]s|target\("|\<(EM|R)_X86|\<X86_|\<REG_(R[A-Z0-9]+|EFL)\>'
of_cpu=$of_cpu'|\<ix86_|TARGET_64BIT|ASM_INTEL|\<asm/(msr|tsc|trap_pf|cpufeature|trace/[a-z_]*)\.h'
of_cpu=$of_cpu'|%%?(r[abcd]x|e[abcd]x|r[sd]i|e[sd]i|r[bs]p|rip|r8|r9|r1[0-5]|fs|gs)\>'
of_cpu=$of_cpu'|->(rip|rsp|rbp|rax|r[cd]x|r[sd]i|eflags)\>|arch/[a-z0-9_]*(x86|generic)[a-z0-9_]*[/.]'

code_of $(code_files) >"$WORK/code"
ok "there is code to check" test "$(wc -l <"$WORK/code")" -gt 50000
grep -E ":[0-9]+:.*($of_cpu)" "$WORK/code" >"$WORK/list"
ok_empty "CPU code only in arch/ and <ldb/arch.h>"

# An example of each kind of violation.
cat >"$WORK/bad.c" <<'END'
	__asm__ volatile("pause" : : : "memory");
	asm("ror{q} {$17, %0|%0, 17}" : "+r"(sp));
	asm volatile ("rep movsb" : "+D"(d));
#ifdef __x86_64__
#if defined(CONFIG_X86) && 1
	return __rdtsc();
	return rdtsc_ordered();
#include <emmintrin.h>
	c = __builtin_ia32_crc32di(c, word);
	return __builtin_cpu_supports("bmi2");
__attribute__((target("avx2")))
	struct held_list __seg_fs *l;
	case R_X86_64_JUMP_SLOT:
	if (ix86_cmodel == CM_LARGE)
#include <asm/tsc.h>
	fprintf(f, "\tmovq %%fs:0, %%rax\n");
	u->rip = to;
#include "arch/x86_64/cpu.h"
END
code_of "$WORK/bad.c" | grep -v -E ":[0-9]+:.*($of_cpu)" >"$WORK/list"
ok_empty "each kind of CPU code is found"

cat >"$WORK/good.c" <<'END'
	asm volatile("");	/* asm("pause") in a comment */
	// __x86_64__
asm(".pushsection .rodata\n"
extern const ElfW(Dyn) dynamic[] __asm__("_DYNAMIC");
	gasm *stmt = gimple_build_asm_vec(text, inputs);
#include <asm/local.h>
END
code_of "$WORK/good.c" | grep -E ":[0-9]+:.*($of_cpu)" >"$WORK/list"
ok_empty "other code is not taken for CPU code"

finish
