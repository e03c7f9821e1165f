// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that no wait and no hold above the threshold is missing, by the program's own stamps.
 *
 * The functions in which the shim waits are replaced by others that stamp before and after the
 * real one: such an interval lies within the shim's own, so if it is above the threshold, there
 * must be a record that encloses it.  For holds, the program stamps after it has got the lock
 * and before it releases it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "arch/cpu.h"
#include "shim/wait.h"
#include "shim-harness.h"
#include "shim/symbol.h"
#include "tap.h"

#define NR_THREADS	4
#define ROUNDS		3000
#define THRESHOLD	4000	/* ticks */
#define TRUTHS_MAX	(ROUNDS * 4)

struct truth {
	unsigned type;		/* LDB_EV_LOCK_* */
	const volatile void *lock;
	uint64_t begin, end;
};

static struct {
	struct truth truth[TRUTHS_MAX];
	unsigned nr;
	uint32_t tid;
	uint64_t random;
} threads[NR_THREADS];

static __thread int me;
static struct next libc;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t start;

static void note(unsigned type, const volatile void *lock, uint64_t begin, uint64_t end)
{
	if (end - begin >= THRESHOLD)
		threads[me].truth[threads[me].nr++] = (struct truth){ type, lock, begin, end };
}

#define WAITED(name, type)						\
	static int true_##name(type *lock)				\
	{								\
		uint64_t begin = cpu_tsc();				\
		int rc = libc.name(lock);				\
									\
		note(LDB_EV_LOCK_WAIT, lock, begin, cpu_tsc());		\
		return rc;						\
	}

WAITED(pthread_mutex_lock, pthread_mutex_t)
WAITED(pthread_rwlock_rdlock, pthread_rwlock_t)
WAITED(pthread_rwlock_wrlock, pthread_rwlock_t)
WAITED(pthread_spin_lock, volatile int)

static uint64_t rnd(void)
{
	uint64_t *r = &threads[me].random;

	*r ^= *r << 13;
	*r ^= *r >> 7;
	*r ^= *r << 17;
	return *r;
}

/*
 * Holds the lock, in most cases for a very short time, and sometimes so long that other threads
 * sleep.
 */
static void hold(const volatile void *lock)
{
	uint64_t begin = cpu_tsc(), now = begin;
	uint64_t ticks = rnd() % 8 ? rnd() % 500 : rnd() % 200000;

	while (now - begin < ticks)
		now = cpu_tsc();
	if (rnd() % 64 == 0)
		sched_yield();
	if (session_page.a.mutex_level == LDB_MUTEX_HOLD)
		note(LDB_EV_LOCK_HOLD, lock, begin, cpu_tsc());
}

static void *run(void *arg)
{
	me = (intptr_t)arg;
	threads[me].nr = 0;
	threads[me].random = 88172645463325252ULL + me;
	threads[me].tid = thread_self()->tid;
	pthread_barrier_wait(&start);
	for (int i = 0; i < ROUNDS; i++) {
		switch (rnd() % 4) {
		case 0:
			pthread_mutex_lock(&mutex);
			hold(&mutex);
			pthread_mutex_unlock(&mutex);
			break;
		case 1:
			pthread_rwlock_rdlock(&rwlock);
			hold(&rwlock);
			pthread_rwlock_unlock(&rwlock);
			break;
		case 2:
			pthread_rwlock_wrlock(&rwlock);
			hold(&rwlock);
			pthread_rwlock_unlock(&rwlock);
			break;
		default:
			pthread_spin_lock(&spin);
			hold(&spin);
			pthread_spin_unlock(&spin);
		}
	}
	return NULL;
}

static bool is_recorded(uint32_t tid, const struct truth *t)
{
	for (unsigned n = 0; n < harness_nr(); n++) {
		const struct ldb_lock_rec *r = &harness_rec(n)->lock;

		if (r->tid == tid && r->type == t->type && r->lock == (uintptr_t)t->lock &&
		    r->begin && r->begin <= t->begin && r->end >= t->end)
			return true;
	}
	return false;
}

static void test(const char *name, enum ldb_mutex_level level)
{
	unsigned nr[2] = { 0 }, missing[2] = { 0 };
	pthread_t thread[NR_THREADS];

	harness_start(level, THRESHOLD);
	for (intptr_t n = 0; n < NR_THREADS; n++)
		if (pthread_create(&thread[n], NULL, run, (void *)n))
			bail_out("pthread_create");
	for (int n = 0; n < NR_THREADS; n++)
		pthread_join(thread[n], NULL);
	harness_stop();
	for (int n = 0; n < NR_THREADS; n++) {
		for (unsigned i = 0; i < threads[n].nr; i++) {
			const struct truth *t = &threads[n].truth[i];
			bool hold = t->type == LDB_EV_LOCK_HOLD;

			nr[hold]++;
			missing[hold] += !is_recorded(threads[n].tid, t);
		}
	}
	diag("%s: %u waits, %u holds, %u records", name, nr[0], nr[1], harness_nr());
	is_int(missing[0], 0, "every wait is recorded");
	ok(nr[0] > 0, "the test has made waits");
	is_int(missing[1], 0, "every hold is recorded");
	ok(level != LDB_MUTEX_HOLD || nr[1] > 0, "the test has made holds");
}

int main(void)
{
	shim_init();
	/* looked up now, because the first call would replace our functions by these */
#define FIND(name)	libc.name = (__typeof__(libc.name))symbol_next(#name, NULL)
	libc = next_table;
	FIND(pthread_mutex_lock);
	FIND(pthread_rwlock_rdlock);
	FIND(pthread_rwlock_wrlock);
	FIND(pthread_spin_lock);
	next_table.pthread_mutex_lock = true_pthread_mutex_lock;
	next_table.pthread_rwlock_rdlock = true_pthread_rwlock_rdlock;
	next_table.pthread_rwlock_wrlock = true_pthread_rwlock_wrlock;
	next_table.pthread_spin_lock = true_pthread_spin_lock;
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&start, NULL, NR_THREADS);
	test("level wait", LDB_MUTEX_WAIT);
	test("level hold", LDB_MUTEX_HOLD);
	return done();
}
