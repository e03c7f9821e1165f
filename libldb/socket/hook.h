/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the wrappers of socket/ do before and after they call the real function. */
#ifndef SOCKET_HOOK_H
#define SOCKET_HOOK_H

#include <errno.h>
#include "runtime/runtime.h"
#include "shim/held.h"
#include "shim/symbol.h"
#include "conn.h"

#define SITE		((uintptr_t)__builtin_return_address(0))
#define NOINLINE	__attribute__((noinline))

#define NEXT(name) ({								\
		DORMANT_PAGE static void *next_;				\
		(__typeof__(name) *)symbol_cached(&next_, #name);		\
	})

/* Begins a hook, and returns the calling thread; NULL if only the real function must be called. */
static inline struct thread *socket_enter(void)
{
	struct thread *t = thread_self();

	if (!t || !session_wants_sockets())
		return NULL;
	if (t->list->in_hook) {
		conn_left_out(LDB_SOCKET_LEFT_BUSY);
		return NULL;
	}
	hook_enter(t);
	return t;
}

/* Executes statements in a hook of t, the calling thread; errno stays unchanged. */
#define HOOKED(...)								\
	do {									\
		int saved_ = errno;						\
		struct thread *t = socket_enter();				\
										\
		if (t) {							\
			__VA_ARGS__;						\
			hook_leave(t);						\
		}								\
		errno = saved_;							\
	} while (0)

#endif /* SOCKET_HOOK_H */
