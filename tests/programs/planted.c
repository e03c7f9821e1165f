// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This is a server with planted causes of slowness, and its load, in one process: planted RATE
 * SECONDS STEPS.
 *
 * A feeder thread puts requests into a queue at the times of a Poisson process that is the same in
 * every run; if it is late it puts them in at once.  NR_WORKERS threads take them out.  A request
 * is WORK_US of computing, and a little under a lock.  Every SNAPSHOT_EACH-th one computes for
 * SNAPSHOT_US while it holds that lock, every REBUILD_EACH-th for REBUILD_US without it.
 *
 * Work is counted in steps, STEPS for a microsecond, so that a slower CPU takes longer for it.
 * "planted 0 0 0" prints how many steps the CPU makes in a microsecond, the best of several
 * attempts.  Otherwise it prints the number of requests, their mean CPU time, and percentiles of
 * their latencies from the planned arrival to the end, in microseconds.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <time.h>
#include <ldb/ldb.h>

#define NR_WORKERS	4
#define WORK_US		180
#define LOCKED_US	5
#define SNAPSHOT_US	3000
#define SNAPSHOT_EACH	100
#define REBUILD_US	4000
#define REBUILD_EACH	150
#define CALLS_US	10	/* one call of compute() */
#define REQUESTS_MAX	(1 << 20)
#define SECOND_NS	1000000000ULL

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static uint32_t nr_put, nr_taken, nr_requests;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t arrival_ns[REQUESTS_MAX], latency_ns[REQUESTS_MAX];
static uint64_t steps_us;
static uint64_t cpu_ns;		/* CPU time of the program's own threads, without those of a tool */
static uint64_t sink;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

/* aligned, because the loop must take the same time in every build */
__attribute__((noinline, aligned(64))) uint64_t compute(uint64_t steps)
{
	uint64_t x = 1;

	while (steps--) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static void work(unsigned us)
{
	for (; us >= CALLS_US; us -= CALLS_US)
		__atomic_fetch_add(&sink, compute(steps_us * CALLS_US), __ATOMIC_RELAXED);
	__atomic_fetch_add(&sink, compute(steps_us * us), __ATOMIC_RELAXED);
}

__attribute__((noinline)) void take_snapshot(void)
{
	work(SNAPSHOT_US);
}

__attribute__((noinline)) void rebuild_index(void)
{
	work(REBUILD_US);
}

__attribute__((noinline)) void serve(uint32_t id)
{
	work(WORK_US);
	if (id % REBUILD_EACH == REBUILD_EACH - 1)
		rebuild_index();
	pthread_mutex_lock(&table_lock);
	work(LOCKED_US);
	if (id % SNAPSHOT_EACH == SNAPSHOT_EACH - 1)
		take_snapshot();
	pthread_mutex_unlock(&table_lock);
}

/* Takes the next request.  Returns nr_requests if there are no more. */
static uint32_t take(void)
{
	uint32_t id;

	pthread_mutex_lock(&queue_lock);
	while (nr_taken == nr_put && nr_put < nr_requests)
		pthread_cond_wait(&queue_filled, &queue_lock);
	id = nr_taken < nr_put ? nr_taken++ : nr_requests;
	pthread_mutex_unlock(&queue_lock);
	return id;
}

static void *worker_main(void *arg)
{
	uint32_t id;

	while ((id = take()) < nr_requests) {
		ldb_req_start(id + 1, NULL);
		serve(id);
		ldb_req_end(id + 1);
		latency_ns[id] = clock_ns(CLOCK_MONOTONIC) - arrival_ns[id];
	}
	__atomic_fetch_add(&cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
	return arg;
}

static void put(void)
{
	pthread_mutex_lock(&queue_lock);
	nr_put++;
	if (nr_put == nr_requests)
		pthread_cond_broadcast(&queue_filled);
	else
		pthread_cond_signal(&queue_filled);
	pthread_mutex_unlock(&queue_lock);
}

static void feed(double rate)
{
	uint64_t at = clock_ns(CLOCK_MONOTONIC);

	srand48(1);
	for (uint32_t i = 0; i < nr_requests; i++) {
		struct timespec ts;

		at += -log(1 - drand48()) / rate * SECOND_NS;
		arrival_ns[i] = at;
		ts.tv_sec = at / SECOND_NS;
		ts.tv_nsec = at % SECOND_NS;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		put();
	}
}

static void calibrate(void)
{
	uint64_t steps = 1000000, best = UINT64_MAX;

	for (int i = 0; i < 50; i++) {
		uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), took;

		sink += compute(steps);
		took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
		if (took < best)
			best = took;
	}
	printf("%.0f\n", steps * 1000.0 / best);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	double rate = argc == 4 ? atof(argv[1]) : -1, total = argc == 4 ? rate * atof(argv[2]) : 0;
	pthread_t worker[NR_WORKERS];

	if (rate < 0 || total > REQUESTS_MAX) {
		fprintf(stderr, "usage: planted RATE SECONDS STEPS\n");
		return 2;
	}
	steps_us = atoi(argv[3]);
	nr_requests = total;
	if (!nr_requests) {
		calibrate();
		return 0;
	}
	for (int i = 0; i < NR_WORKERS; i++)
		if (pthread_create(&worker[i], NULL, worker_main, NULL))
			return 1;
	feed(rate);
	for (int i = 0; i < NR_WORKERS; i++)
		pthread_join(worker[i], NULL);
	cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID);
	qsort(latency_ns, nr_requests, sizeof(*latency_ns), by_value);
	printf("requests %u\ncpu %.3f\nprocess %.3f\np50 %.1f\np99 %.1f\n", nr_requests,
	       cpu_ns / 1e3 / nr_requests, clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e3 / nr_requests,
	       latency_ns[nr_requests / 2] / 1e3,
	       latency_ns[(uint64_t)nr_requests * 99 / 100] / 1e3);
	return 0;
}
