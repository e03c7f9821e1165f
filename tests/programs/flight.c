// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Serves short requests for some seconds, for tests of the flight recorder.
 *
 *	flight SECONDS [PLANT_MS [EVERY]]
 *
 * At PLANT_MS after its start a background thread holds the lock of the table for 50 ms in
 * compact(), and one request, of class GET or SET, waits for it.  With EVERY, each EVERY-th request
 * does 6 ms of work in slow_work().  One more request, number 1, is open from the beginning of the
 * program to its end, and has a note.  Prints a line for each other request that takes more than
 * 5 ms: its number, class, beginning (CLOCK_MONOTONIC) and duration, both in ns.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <ldb/ldb.h>

#define PLANTED_MS	50

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum;
static volatile bool is_planted, is_over;
static long plant_ms = -1, every;

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__attribute__((noinline)) static void spin_us(long us)
{
	long long until = now_ns() + us * 1000;

	while (now_ns() < until)
		sum++;
}

__attribute__((noinline)) static void compact(void)
{
	pthread_mutex_lock(&table);
	is_planted = true;
	usleep(PLANTED_MS * 1000);
	pthread_mutex_unlock(&table);
}

static void *background(void *start)
{
	while (!is_over) {
		usleep(1000);
		if (plant_ms >= 0 && !is_planted && now_ns() - *(long long *)start > plant_ms * 1000000LL)
			compact();
	}
	return NULL;
}

__attribute__((noinline)) static void slow_work(void)
{
	spin_us(6000);
}

__attribute__((noinline)) static void lookup(unsigned long id)
{
	pthread_mutex_lock(&table);
	spin_us(20);
	pthread_mutex_unlock(&table);
	if (every && id % every == 0)
		slow_work();
}

__attribute__((noinline)) static void serve(unsigned long id)
{
	long long begin = now_ns();
	const char *name = id % 4 ? "GET" : "SET";

	ldb_req_class(id, name);
	ldb_req_start(id, NULL);
	lookup(id);
	ldb_req_end(id);
	if (now_ns() - begin > 5000000)
		printf("%lu %s %lld %lld\n", id, name, begin, now_ns() - begin);
}

int main(int argc, char **argv)
{
	long long start = now_ns(), seconds = argc > 1 ? atoi(argv[1]) : 3;
	pthread_t thread;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2)
		plant_ms = atol(argv[2]);
	if (argc > 3)
		every = atol(argv[3]);
	pthread_create(&thread, NULL, background, &start);
	ldb_req_start(1, NULL);
	ldb_req_note(1, "tenant", "seven");
	for (unsigned long id = 2; now_ns() - start < seconds * 1000000000; id++) {
		serve(id);
		usleep(200);
	}
	ldb_req_end(1);
	is_over = true;
	pthread_join(thread, NULL);
	return 0;
}
