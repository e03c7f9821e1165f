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
