/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Raw system calls: a call that fails returns -errno and does not change errno, and no thread-local
 * memory is needed.  ldb's own threads make all their system calls in this way.
 */
#ifndef LDB_ARCH_SYS_H
#define LDB_ARCH_SYS_H

#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#include "arch/x86_64/sys.h"
#else
#error "libldb knows no system calls of this CPU: it needs an arch/<cpu>/"
#endif

#define SYS_PICK(_0, _1, _2, _3, _4, _5, _6, name, ...) name
#define SYS_0(nr)			sys_call6(nr, 0, 0, 0, 0, 0, 0)
#define SYS_1(nr, a)			sys_call6(nr, (long)(a), 0, 0, 0, 0, 0)
#define SYS_2(nr, a, b)			sys_call6(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYS_3(nr, a, b, c)		sys_call6(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYS_4(nr, a, b, c, d)		sys_call6(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYS_5(nr, a, b, c, d, e)	sys_call6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define SYS_6(nr, a, b, c, d, e, f)	sys_call6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* sys(SYS_name, args...) */
#define sys(...)	SYS_PICK(__VA_ARGS__, SYS_6, SYS_5, SYS_4, SYS_3, SYS_2, SYS_1, SYS_0)(__VA_ARGS__)

/*
 * Creates a thread without glibc.  `flags` are those of clone(2), with CLONE_SETTLS, for which tp
 * is the thread pointer, and CLONE_PARENT_SETTID and CLONE_CHILD_CLEARTID, for which tid is the
 * word.  The thread calls fn(arg) on the new stack, and exits when fn returns.  Returns its tid or
 * -errno.
 */
long sys_clone_thread(unsigned long flags, void *stack_top, uint32_t *tid,
		      void (*fn)(void *), void *arg, void *tp);

#endif /* LDB_ARCH_SYS_H */
