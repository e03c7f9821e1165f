// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program makes a convoy: four threads take one mutex in turn, and each sleeps 2 ms while it
 * holds it, for a request of its own.  So on any number of CPUs the last thread in the queue waits
 * for several holders, one after the other.  Usage: convoy [ROUNDS]; it prints the number of turns.
 * Thread names are convoy0 .. convoy3.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ldb/ldb.h>

#define NR_THREADS	4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;
static int rounds;
static long turns;

/* These functions are not inlined, because a test looks for their names. */
__attribute__((noinline)) void critical_section(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	turns++;
}

__attribute__((noinline)) void take_turn(void)
{
	pthread_mutex_lock(&lock);
	critical_section();
	pthread_mutex_unlock(&lock);
}

static void *member(void *arg)
{
	int me = *(int *)arg;
	char name[16];

	snprintf(name, sizeof(name), "convoy%d", me);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < rounds; i++) {
		uint64_t id = 1 + i * NR_THREADS + me;

		pthread_barrier_wait(&start);
		ldb_req_start(id, NULL);
		take_turn();
		ldb_req_end(id);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[NR_THREADS];
	int id[NR_THREADS];

	rounds = argc > 1 ? atoi(argv[1]) : 100;
	pthread_barrier_init(&start, NULL, NR_THREADS);
	for (int i = 0; i < NR_THREADS; i++) {
		id[i] = i;
		if (pthread_create(&thread[i], NULL, member, &id[i]))
			return 1;
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("convoy: %ld turns\n", turns);
	return turns == (long)rounds * NR_THREADS ? 0 : 1;
}
