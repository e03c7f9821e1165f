/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes one system call on x86-64; only arch/sys.h includes this. */
#ifndef LDB_ARCH_X86_64_SYS_H
#define LDB_ARCH_X86_64_SYS_H

static inline long sys_call6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif /* LDB_ARCH_X86_64_SYS_H */
