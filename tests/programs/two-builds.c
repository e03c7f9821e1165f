// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program sends requests through a queue, and through a lock for which a second thread
 * contends.  If it is built with -DWITH_CALL, stage_b() makes an additional call while it holds the
 * lock.
 *
 *	two-builds REQUESTS
 */
#include <ldb/ldb.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Tests look for these names; GCC would inline a function that has one caller. */
#define NAMED __attribute__((noinline, noclone)) static

#ifdef WITH_CALL
static char moves_what_follows[4096];	/* so that addresses differ between the builds */
#endif
static char queue[1];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t filled, emptied;
static volatile long next_id;
static volatile int stopped;

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

static inline __attribute__((always_inline)) void burn(double us)
{
	double end = now_us() + us;

	while (now_us() < end)
		;
}

#ifdef WITH_CALL
NAMED void audit(void)
{
	moves_what_follows[0]++;
	burn(400);
}
#endif

NAMED void stage_a(void)
{
	burn(100);
}

NAMED void stage_b(void)
{
	pthread_mutex_lock(&table_lock);
	burn(150);
#ifdef WITH_CALL
	audit();
#endif
	pthread_mutex_unlock(&table_lock);
}

NAMED void stage_c(void)
{
	burn(100);
}

NAMED void serve(long id)
{
	ldb_req_start(id, queue);
	ldb_req_class(id, "get");
	stage_a();
	stage_b();
	stage_c();
	ldb_req_end(id);
}

static void *work(void *arg)
{
	for (;;) {
		while (sem_wait(&filled))
			;
		if (next_id < 0)
			return arg;
		serve(next_id);
		sem_post(&emptied);
	}
}

static void *disturb(void *arg)
{
	struct timespec pause = { 0, 1000000 };

	while (!stopped) {
		pthread_mutex_lock(&table_lock);
		burn(20);
		pthread_mutex_unlock(&table_lock);
		nanosleep(&pause, NULL);
	}
	return arg;
}

int main(int argc, char **argv)
{
	long nr = argc > 1 ? atol(argv[1]) : 1000;
	pthread_t worker, other;

	sem_init(&filled, 0, 0);
	sem_init(&emptied, 0, 0);
	pthread_create(&worker, NULL, work, NULL);
	pthread_create(&other, NULL, disturb, NULL);
	for (long id = 1; id <= nr; id++) {
		ldb_req_block(id, queue);
		next_id = id;
		sem_post(&filled);
		while (sem_wait(&emptied))
			;
	}
	next_id = -1;
	stopped = 1;
	sem_post(&filled);
	pthread_join(worker, NULL);
	pthread_join(other, NULL);
	return 0;
}
