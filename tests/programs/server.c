// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests attach recorders to this program.  Two threads serve tagged requests, and pause for 500 us
 * after each.  A request computes for 20 us, and every 50th for 10 ms (long enough to be observed
 * even by a scanner that shares its CPU), under one lock.  At SIGTERM, or after SECONDS, it prints
 * "server: served, N stalls", where a stall is a request that took more than a second, and exits
 * with status 0, or 1 if there was a stall.
 *
 *	server [SECONDS]
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <ldb/ldb.h>

#define NR_WORKERS	2

static atomic_bool stop;
static atomic_ulong next_id;
static unsigned long served[NR_WORKERS];
static atomic_ulong nr_stalls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* noinline, because a test looks for these names. */
__attribute__((noinline)) void compute(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
}

__attribute__((noinline)) void handle(uint64_t id)
{
	pthread_mutex_lock(&lock);
	compute(id % 50 ? 20000 : 10000000);
	total++;
	pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
	unsigned long *mine = arg;

	while (!stop) {
		uint64_t begin = now_ns();
		uint64_t id = ++next_id;

		ldb_req_start(id, NULL);
		handle(id);
		ldb_req_end(id);
		++*mine;
		if (now_ns() - begin > 1000000000)
			nr_stalls++;
		usleep(500);
	}
	return NULL;
}

static void on_term(int sig)
{
	(void)sig;
	stop = true;
}

int main(int argc, char **argv)
{
	pthread_t thread[NR_WORKERS];

	signal(SIGTERM, on_term);
	signal(SIGALRM, on_term);
	if (argc > 1)
		alarm(atoi(argv[1]));
	for (int i = 0; i < NR_WORKERS; i++) {
		if (pthread_create(&thread[i], NULL, worker, &served[i])) {
			fprintf(stderr, "server: no thread\n");
			return 1;
		}
	}
	for (int i = 0; i < NR_WORKERS; i++)
		pthread_join(thread[i], NULL);
	if (served[0] + served[1] != total) {
		printf("server: %lu served, %lu counted\n", served[0] + served[1], total);
		return 1;
	}
	printf("server: %s, %lu stalls\n", total ? "served" : "idle", nr_stalls);
	return nr_stalls ? 1 : 0;
}
