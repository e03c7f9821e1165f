// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Serves short requests at an even rate, as a server that is always recorded does.
 *
 *	steady SECONDS REQUESTS_PER_SECOND [SLOW_EVERY]
 *
 * A thread begins in each millisecond as many requests as are due; one in 8 is of class SET, and
 * the others are of class GET.  Each takes some microseconds in lookup(), under the lock of the
 * table.  Every SLOW_EVERY-th waits 5 ms in wait_for_disk().  Prints how many requests it has
 * served.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <ldb/ldb.h>

pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum;
static volatile int is_over;

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__attribute__((noinline)) static void lookup(unsigned long id)
{
	pthread_mutex_lock(&table);
	for (unsigned long i = 0; i < 2000 + id % 64 * 64; i++)
		sum += i;
	pthread_mutex_unlock(&table);
}

__attribute__((noinline)) static void wait_for_disk(void)
{
	usleep(5000);
}

/* Holds the lock, so that sometimes other threads wait for it. */
__attribute__((noinline)) static void compact(void)
{
	pthread_mutex_lock(&table);
	usleep(300);
	pthread_mutex_unlock(&table);
}

static void *background(void *arg)
{
	while (!is_over) {
		usleep(100000);
		compact();
	}
	return arg;
}

__attribute__((noinline)) static void serve(unsigned long id, unsigned long slow_every)
{
	ldb_req_class(id, id % 8 ? "GET" : "SET");
	ldb_req_start(id, NULL);
	lookup(id);
	if (slow_every && id % slow_every == 0)
		wait_for_disk();
	ldb_req_end(id);
}

int main(int argc, char **argv)
{
	long long begin = now_ns(), until = begin + (argc > 1 ? atof(argv[1]) : 1) * 1e9;
	double rate = argc > 2 ? atof(argv[2]) : 100;
	unsigned long slow_every = argc > 3 ? atol(argv[3]) : 0, id = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, background, NULL);
	for (long long now; (now = now_ns()) < until; usleep(1000))
		while (id < (now - begin) * rate / 1e9)
			serve(++id, slow_every);
	is_over = 1;
	pthread_join(thread, NULL);
	printf("steady: %lu requests\n", id);
	return 0;
}
