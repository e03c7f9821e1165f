// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what the shim records at which threshold, tick by tick: the test sets the clock before
 * each step.  A wait or hold that is as long as the threshold is recorded, one that is a tick
 * shorter is not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include "runtime/runtime.h"
#include "shim/wait.h"
#include "shim-harness.h"
#include "tap.h"

#define WAIT		LDB_EV_LOCK_WAIT
#define HOLD		LDB_EV_LOCK_HOLD
#define THRESHOLD	1000
#define BEGIN		1000000

/* Another thread releases an object at a given time of the clock. */
struct giver {
	pthread_t thread;
	void *lock;
	int (*take)(void *);
	int (*give)(void *);
	uint64_t at;
	_Atomic int took, waiter;
};

static void at(uint64_t tick)
{
	atomic_store(&harness_clock, tick);
}

static void *giver_thread(void *p)
{
	struct giver *g = p;
	int tid;

	if (g->take)
		g->take(g->lock);
	atomic_store(&g->took, 1);
	while (!(tid = atomic_load(&g->waiter)))
		usleep(100);
	harness_wait_asleep(tid);
	at(g->at);
	g->give(g->lock);
	return NULL;
}

static void giver_start(struct giver *g)
{
	if (pthread_create(&g->thread, NULL, giver_thread, g))
		bail_out("pthread_create");
	while (!atomic_load(&g->took))
		usleep(100);
	at(BEGIN);
	atomic_store(&g->waiter, gettid());
}

#define FN(name, type)							\
	static int do_##name(void *p)					\
	{								\
		return name((type *)p);					\
	}
FN(pthread_mutex_lock, pthread_mutex_t)
FN(pthread_mutex_unlock, pthread_mutex_t)
FN(sem_post, sem_t)

/* Waits `waited` ticks for a mutex, and then holds it for `held` ticks. */
static void mutex(const char *name, unsigned level, unsigned waited, unsigned held)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	struct giver g = {
		.lock = &m, .take = do_pthread_mutex_lock, .give = do_pthread_mutex_unlock,
		.at = BEGIN + waited,
	};
	const struct ldb_lock_rec *r;
	bool has_wait = waited >= THRESHOLD, has_hold = held >= THRESHOLD;
	unsigned nr;

	at(BEGIN - 10000);
	harness_start(level, THRESHOLD);
	giver_start(&g);
	pthread_mutex_lock(&m);
	next_table.pthread_join(g.thread, NULL);
	nr = harness_count(HOLD, LDB_LOCK_MUTEX, &m);	/* holds of the other thread */
	at(BEGIN + waited + held);
	pthread_mutex_unlock(&m);
	diag("%s", name);
	is_int(harness_count(WAIT, LDB_LOCK_MUTEX, &m), has_wait, "waits");
	is_int(harness_count(HOLD, LDB_LOCK_MUTEX, &m) - nr, has_hold, "holds");
	r = harness_last(WAIT, LDB_LOCK_MUTEX, &m);
	ok(!has_wait || (r->begin == BEGIN && r->end == BEGIN + waited), "the wait's times");
	r = harness_last(HOLD, LDB_LOCK_MUTEX, &m);
	ok(!has_hold || (r->begin == BEGIN + waited && r->end == BEGIN + waited + held),
	   "the hold's times");
	harness_stop();
}

static void mutexes(void)
{
	for (unsigned level = LDB_MUTEX_WAIT; level <= LDB_MUTEX_HOLD; level++) {
		diag("level %u", level);
		mutex("both as long as the threshold", level, THRESHOLD, THRESHOLD);
		mutex("a wait that is shorter", level, THRESHOLD - 1, THRESHOLD);
		mutex("a hold that is shorter", level, THRESHOLD, THRESHOLD - 1);
		mutex("both shorter", level, THRESHOLD - 1, THRESHOLD - 1);
		mutex("both longer", level, THRESHOLD + 1, 3 * THRESHOLD);
	}
}

/* There is no wait, so only level hold stamps the start. */
static void uncontended(unsigned clock_id)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	session_page.a.clock_id = clock_id;
	for (unsigned held = THRESHOLD - 1; held <= THRESHOLD; held++) {
		harness_start(LDB_MUTEX_HOLD, THRESHOLD);
		at(BEGIN);
		pthread_mutex_lock(&m);
		at(BEGIN + held);
		pthread_mutex_unlock(&m);
		diag("a hold of %u ticks", held);
		is_int(harness_nr(), held >= THRESHOLD, "level hold: a record");
		is_int(thread_self()->list->nr_held, 0, "level hold: no mutex is listed any more");
		harness_start(LDB_MUTEX_WAIT, THRESHOLD);
		at(BEGIN);
		pthread_mutex_lock(&m);
		at(BEGIN + held);
		pthread_mutex_unlock(&m);
		is_int(harness_nr(), 0, "level wait: none");
	}
	harness_stop();
	session_page.a.clock_id = 0;
}

static void semaphore(unsigned waited)
{
	struct giver g = { .give = do_sem_post, .at = BEGIN + waited };
	sem_t s;

	sem_init(&s, 0, 0);
	g.lock = &s;
	at(BEGIN - 10000);
	harness_start(LDB_MUTEX_WAIT, THRESHOLD);
	giver_start(&g);
	sem_wait(&s);
	next_table.pthread_join(g.thread, NULL);
	diag("a semaphore that is waited for, %u ticks", waited);
	is_int(harness_nr(), waited >= THRESHOLD, "a record");
	ok(!harness_nr() || (harness_last(WAIT, LDB_LOCK_SEM, &s)->begin == BEGIN &&
			     harness_last(WAIT, LDB_LOCK_SEM, &s)->end == BEGIN + waited), "its times");
	harness_stop();
}

/* A failed wait is a wait, too. */
static void failed(unsigned waited)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	struct timespec past = { 1, 0 };
	struct giver g = {
		.lock = &m, .take = do_pthread_mutex_lock, .give = do_pthread_mutex_unlock,
		.at = BEGIN + 10 * THRESHOLD,
	};

	at(BEGIN - 10000);
	harness_start(LDB_MUTEX_WAIT, BEGIN);
	if (pthread_create(&g.thread, NULL, giver_thread, &g))
		bail_out("pthread_create");
	while (!atomic_load(&g.took))
		usleep(100);
	/* The clock stands still, so the wait takes no time; the threshold is 0 or 1 tick. */
	harness_start(LDB_MUTEX_WAIT, waited);
	at(BEGIN);
	is_int(pthread_mutex_timedlock(&m, &past), ETIMEDOUT, "a lock that times out");
	is_int(harness_count(WAIT, LDB_LOCK_MUTEX, &m), !waited,
	       waited ? "takes no time: nothing at a threshold of one tick" : "a record at no threshold");
	harness_stop();
	atomic_store(&g.waiter, gettid());
	pthread_mutex_lock(&m);
	next_table.pthread_join(g.thread, NULL);
	pthread_mutex_unlock(&m);
}

int main(void)
{
	shim_init();
	/* This creates a second thread: mutexes are not recorded before there is one. */
	semaphore(THRESHOLD);
	semaphore(THRESHOLD - 1);
	mutexes();
	uncontended(LDB_CLOCK_MONO);
	failed(0);
	failed(1);
	return done();
}
