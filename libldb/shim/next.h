/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of the real functions of the wrappers.  Each pointer starts at a stub that finds its
 * function on the first call, so that a wrapper works before shim_init() (constructors of other
 * libraries, early malloc) and needs no test for it.
 */
#ifndef SHIM_NEXT_H
#define SHIM_NEXT_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>
#include "internal.h"

struct _Unwind_Context;

#pragma GCC visibility push(hidden)

/* The members that are used each time a lock is taken come first, in one cache line. */
struct next {
	/*
	 * offset from the thread pointer of the generation, whose low 16 bits thread_gen() clears
	 */
	intptr_t gen_off;
	intptr_t held_off;		/* offset from the thread pointer of the struct held_list */
#define MEMBER(name, params)	int (*name) params;
#define ACQUIRE(name, params, ...)	MEMBER(name, params)
#define TRY(name, params, ...)		MEMBER(name, params)
#define RELEASE(name, params, ...)	MEMBER(name, params)
#define COND(name, params, ...)		MEMBER(name, params)
#define SEM(name, params, ...)		MEMBER(name, params)
#define WAIT(name, params, ...)		MEMBER(name, params)
#define WAKE(name, params, ...)		MEMBER(name, params)
#define JUMP(name, params, ...)		void (*name) params;
#define UNWIND(name, params, ...)	void (*name) params;
#include "list.h"
#undef MEMBER
} __attribute__((aligned(64)));
extern struct next next_table;

/* Finds all functions at once, if finding them later would take the loader's lock. */
void next_init(void);

/* libgcc.c: returns a function of the unwinder, which dlsym() may not find; NULL: there is none. */
void *libgcc_function(const char *name);

#pragma GCC visibility pop

/* Any order is sufficient, because both values of the pointer, the stub and the function, work. */
#define next(name)	order_any_load_word(&next_table.name)

#endif /* SHIM_NEXT_H */
