// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the real functions of the wrappers.
 *
 * Each is found on its first call, so that a program pays only for those it uses; if the runtime
 * was loaded late, next_init() finds all of them.  A function that this libc does not have fails
 * with ENOSYS, if it can return an error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include "next.h"
#include "symbol.h"

/*
 * The oldest version of the functions for condition variables is the implementation of
 * LinuxThreads, which does not work with today's condition variables.
 */
#define COND_VERSION	"GLIBC_2.3.2"

/* The version of pthread_cond_signal() and pthread_cond_broadcast(); sem_post() has only one. */
#define WAKE_VERSION(name)	(#name[0] == 'p' ? COND_VERSION : NULL)
#define WAKE_FAILED(name)	(#name[0] == 's' ? no_such_sem() : ENOSYS)

static int no_such_sem(void)
{
	errno = ENOSYS;
	return -1;
}

#define FIND(name, version) ({						\
		__typeof__(next_table.name) fn_ = (__typeof__(fn_))	\
			symbol_next(#name, version);			\
		if (fn_)						\
			order_any_store_word(&next_table.name, fn_);	\
		fn_;							\
	})

#define STUB(name, params, args, version, failed)			\
	static int stub_##name params					\
	{								\
		__typeof__(next_table.name) fn = FIND(name, version);	\
									\
		return fn ? fn args : failed;				\
	}

#define VOID_STUB(name, params, args, otherwise)			\
	static void stub_##name params					\
	{								\
		__typeof__(next_table.name) fn = FIND(name, NULL);	\
									\
		if (!fn)						\
			fn = (__typeof__(fn))otherwise;			\
		if (!fn)						\
			__builtin_trap();				\
		fn args;						\
	}

#define ACQUIRE(name, params, args, ...) STUB(name, params, args, NULL, ENOSYS)
#define TRY(name, params, args, ...)	STUB(name, params, args, NULL, ENOSYS)
#define RELEASE(name, params, args, ...) STUB(name, params, args, NULL, ENOSYS)
#define COND(name, params, args, ...)	STUB(name, params, args, COND_VERSION, ENOSYS)
#define SEM(name, params, args, ...)	STUB(name, params, args, NULL, no_such_sem())
#define WAIT(name, params, args, ...)	STUB(name, params, args, NULL, ENOSYS)
#define WAKE(name, params, args, ...)	STUB(name, params, args, WAKE_VERSION(name), WAKE_FAILED(name))
#define JUMP(name, params, args)	VOID_STUB(name, params, args, NULL)
#define UNWIND(name, params, args)	VOID_STUB(name, params, args, libgcc_function(#name))
#include "list.h"

struct next next_table = {
#define INIT(name)	.name = stub_##name,
#define ACQUIRE(name, ...)	INIT(name)
#define TRY(name, ...)		INIT(name)
#define RELEASE(name, ...)	INIT(name)
#define COND(name, ...)		INIT(name)
#define SEM(name, ...)		INIT(name)
#define WAIT(name, ...)		INIT(name)
#define WAKE(name, ...)		INIT(name)
#define JUMP(name, ...)		INIT(name)
#define UNWIND(name, ...)	INIT(name)
#include "list.h"
};

intptr_t shim_gen_off(void)
{
	return next_table.gen_off;
}

void next_init(void)
{
	if (symbol_lockless())
		return;
#define ACQUIRE(name, ...)	(void)FIND(name, NULL);
#define TRY(name, ...)		(void)FIND(name, NULL);
#define RELEASE(name, ...)	(void)FIND(name, NULL);
#define COND(name, ...)		(void)FIND(name, COND_VERSION);
#define SEM(name, ...)		(void)FIND(name, NULL);
#define WAIT(name, ...)		(void)FIND(name, NULL);
#define WAKE(name, ...)		(void)FIND(name, WAKE_VERSION(name));
#define JUMP(name, ...)		(void)FIND(name, NULL);
#define UNWIND(name, ...)	(void)FIND(name, NULL);
#include "list.h"
}
