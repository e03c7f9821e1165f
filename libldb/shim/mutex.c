// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decides whether the shim may acquire and release normal mutexes itself (glibc_mutex_acquire()).
 * It may do so if libc, and no other library, would have handled the call, and if libc changes a
 * mutex in the same way, which is tested once with a mutex of the runtime.
 */
#define _GNU_SOURCE
#include <string.h>
#include "glibc.h"
#include "mutex.h"
#include "next.h"
#include "symbol.h"

/* These are copies of the whole mutex after each step of a lock and an unlock. */
struct steps {
	pthread_mutex_t taken, given;
};

static bool libc_steps(struct steps *s, pthread_mutex_t *m)
{
	if (next(pthread_mutex_trylock)(m))
		return false;
	s->taken = *m;
	if (next(pthread_mutex_unlock)(m))
		return false;
	s->given = *m;
	return true;
}

static bool our_steps(struct steps *s, pthread_mutex_t *m, uint32_t tid)
{
	if (!glibc_mutex_acquire(m, tid))
		return false;
	s->taken = *m;
	if (!glibc_mutex_release(m))
		return false;
	s->given = *m;
	return true;
}

/* Returns true if libc can release a mutex that the shim has acquired, and the other way round. */
static bool steps_mix(pthread_mutex_t *m, uint32_t tid)
{
	return glibc_mutex_acquire(m, tid) && next(pthread_mutex_trylock)(m) &&
	       !next(pthread_mutex_unlock)(m) && !next(pthread_mutex_trylock)(m) &&
	       !glibc_mutex_acquire(m, tid) && glibc_mutex_release(m);
}

static bool libc_does_the_same(uint32_t tid)
{
	static const pthread_mutex_t unused = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_t m = unused;
	struct steps libc, ours;

	memset(&libc, 0, sizeof(libc));
	memset(&ours, 1, sizeof(ours));
	return libc_steps(&libc, &m) && our_steps(&ours, &m, tid) &&
	       !memcmp(&libc, &ours, sizeof(libc)) &&
	       !memcmp(&libc.given, &unused, sizeof(unused)) &&
	       steps_mix(&m, tid) && !memcmp(&m, &unused, sizeof(unused));
}

static bool is_libc_next(const char *name)
{
	void *fn = symbol_next(name, NULL);

	return fn && fn == symbol_of_libc(name);
}

/*
 * Returns true if libc's functions are the next ones.  A library in between would not be called any
 * more.
 */
static bool libc_is_next(void)
{
	static const char *const names[] = {
		"pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_mutex_clocklock",
		"mtx_lock", "mtx_timedlock", "mtx_trylock", "mtx_unlock",
	};

	/* These two pointers do not change any more, because libc_does_the_same() has used them. */
	if (!symbol_lockless() ||
	    (void *)next(pthread_mutex_trylock) != symbol_of_libc("pthread_mutex_trylock") ||
	    (void *)next(pthread_mutex_unlock) != symbol_of_libc("pthread_mutex_unlock"))
		return false;
	for (unsigned n = 0; n < sizeof(names) / sizeof(*names); n++)
		if (!is_libc_next(names[n]))
			return false;
	return true;
}

bool mutex_is_known(uint32_t tid)
{
	static _Atomic uint32_t known;	/* 0: not tried yet; else 1 + the answer */
	uint32_t k = order_any_load(&known);

	if (!k) {
		k = 1 + (libc_does_the_same(tid) && libc_is_next());
		order_any_store(&known, k);
	}
	return k == 2;
}
