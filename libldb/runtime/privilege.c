// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Wraps the functions by which a program changes its credentials or privileges: its users and
 * groups, its root, its namespaces, its seccomp filters, and whether it is dumpable.  ldb's threads
 * would retain what the program gives up, so they end before the call.  After the call they are
 * started again with the new credentials, or not at all.
 *
 * Without a recorder a wrapper costs a few loads, a branch and a jump to the real function.  During
 * a recording each of these calls costs a few hundred microseconds.
 *
 * Changes of capabilities need no wrapper, because ldb's threads have no capabilities
 * (runtime/identity.c).
 *
 * Variadic functions are declared here with fixed arguments, so their headers are not included.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/prctl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include "runtime.h"
#include "shim/symbol.h"

#define NEW_NAMESPACE	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
			 CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP | 0x80 /* CLONE_NEWTIME */)

/* Stands for a function that this libc does not have, and fails as an unknown system call does. */
static long no_such_function(void)
{
	errno = ENOSYS;
	return -1;
}

static __attribute__((noinline, cold)) void *next_find(void **slot, const char *name)
{
	void *fn = symbol_cached(slot, name);

	if (!fn) {
		fn = (void *)no_such_function;
		order_any_store_word(slot, fn);
	}
	return fn;
}

/*
 * Makes ldb's threads end, if they must.  Returns true if they have to be started again after the
 * change.  Children inherit a seccomp filter, which may kill a process that opens a socket, so
 * after LEAVE_FOR_GOOD children do not announce themselves.
 */
static bool must_leave(enum control_leave how)
{
	if (how == LEAVE_FOR_GOOD)
		children_forget();
	return how != LEAVE_NOT && control_runs() && control_leave(how);
}

/*
 * Makes a wrapper.  `how` is an expression of the arguments, of type enum control_leave.  The
 * wrapper leaves errno as the real function has set it.
 */
#define PRIVILEGE(ret, name, params, args, how)	PRIVILEGE_OR(ret, name, params, args, how, )
/* Makes a wrapper with a statement `or`, which handles other uses of the function first. */
#define PRIVILEGE_OR(ret, name, params, args, how, or)				\
	DORMANT_PAGE static void *next_##name;						\
	EXPORT ret name params;							\
	static __attribute__((noinline)) ret slow_##name params		\
	{									\
		ret (*next) params = (ret (*) params)next_find(&next_##name, #name); \
		bool returns = must_leave(how);					\
		ret rc = next args;						\
		int saved = errno;						\
										\
		if (returns)							\
			control_return();					\
		errno = saved;							\
		return rc;							\
	}									\
	ret name params								\
	{									\
		void *next = order_any_load_word(&next_##name);			\
										\
		if (likely(next && !control_runs() && !children_wanted()))	\
			return ((ret (*) params)next) args;			\
		or								\
		return slow_##name args;					\
	}

PRIVILEGE(int, setuid, (uid_t uid), (uid), LEAVE_AND_RETURN)
PRIVILEGE(int, seteuid, (uid_t uid), (uid), LEAVE_AND_RETURN)
PRIVILEGE(int, setreuid, (uid_t ruid, uid_t euid), (ruid, euid), LEAVE_AND_RETURN)
PRIVILEGE(int, setresuid, (uid_t ruid, uid_t euid, uid_t suid), (ruid, euid, suid), LEAVE_AND_RETURN)
PRIVILEGE(int, setfsuid, (uid_t uid), (uid), LEAVE_AND_RETURN)
PRIVILEGE(int, setgid, (gid_t gid), (gid), LEAVE_AND_RETURN)
PRIVILEGE(int, setegid, (gid_t gid), (gid), LEAVE_AND_RETURN)
PRIVILEGE(int, setregid, (gid_t rgid, gid_t egid), (rgid, egid), LEAVE_AND_RETURN)
PRIVILEGE(int, setresgid, (gid_t rgid, gid_t egid, gid_t sgid), (rgid, egid, sgid), LEAVE_AND_RETURN)
PRIVILEGE(int, setfsgid, (gid_t gid), (gid), LEAVE_AND_RETURN)
PRIVILEGE(int, setgroups, (size_t n, const gid_t *groups), (n, groups), LEAVE_AND_RETURN)
/* initgroups() calls setgroups() inside of libc, without going through the wrapper above. */
PRIVILEGE(int, initgroups, (const char *user, gid_t group), (user, group), LEAVE_AND_RETURN)
PRIVILEGE(int, chroot, (const char *path), (path), LEAVE_AND_RETURN)
PRIVILEGE(int, unshare, (int flags), (flags),
	  flags & NEW_NAMESPACE ? LEAVE_AND_RETURN : LEAVE_NOT)
PRIVILEGE(int, setns, (int fd, int type), (fd, type), LEAVE_AND_RETURN)

static enum control_leave prctl_leaves(int option, unsigned long value)
{
	switch (option) {
	case PR_SET_SECCOMP:
		return LEAVE_FOR_GOOD;
	case PR_SET_DUMPABLE:	/* root may still read the program's memory */
		return value == 1 ? LEAVE_NOT : LEAVE_AND_RETURN;
	default:
		return LEAVE_NOT;
	}
}

PRIVILEGE(int, prctl,
	  (int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d),
	  (option, a, b, c, d), prctl_leaves(option, a))

/*
 * Returns whether ldb's threads must end before this raw system call.  Most of these change the
 * credentials of the calling thread alone, whereas glibc's functions change those of all threads.
 */
static enum control_leave syscall_leaves(long number, long a, long b)
{
	switch (number) {
	case SYS_seccomp:
	case SYS_landlock_restrict_self:
		return LEAVE_FOR_GOOD;
	case SYS_prctl:
		return prctl_leaves(a, b);
	case SYS_unshare:
		return a & NEW_NAMESPACE ? LEAVE_AND_RETURN : LEAVE_NOT;
	case SYS_setuid:
	case SYS_setgid:
	case SYS_setreuid:
	case SYS_setregid:
	case SYS_setresuid:
	case SYS_setresgid:
	case SYS_setfsuid:
	case SYS_setfsgid:
	case SYS_setgroups:
	case SYS_chroot:
	case SYS_pivot_root:
	case SYS_setns:
		return LEAVE_AND_RETURN;
	default:
		return LEAVE_NOT;
	}
}

PRIVILEGE_OR(long, syscall, (long number, long a, long b, long c, long d, long e, long f),
	     (number, a, b, c, d, e, f), syscall_leaves(number, a, b),
	     if (uring_is_call(number))
		     return uring_syscall(next_find(&next_syscall, "syscall"),
					  (uintptr_t)__builtin_return_address(0), number, a, b, c, d, e, f);)
