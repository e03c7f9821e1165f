// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program has many threads, few of which run: sleepers THREADS RUNNING SECONDS.  RUNNING
 * threads, every second one of the first threads, call a function in an endless loop.  The others
 * sleep three frames deep; ten times a second the next one of them wakes up and calls a function
 * that takes a millisecond.  It prints "NR wake-ups".
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STACK_SIZE	(64 * 1024)

static atomic_int stop;
static sem_t *wake;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* noinline, here and below: the scanner should observe these frames. */
__attribute__((noinline)) int work(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
	return 1;
}

__attribute__((noinline)) int woken(void)
{
	return work(1000000) + 1;
}

__attribute__((noinline)) int doze(sem_t *sem, int depth)
{
	int times = 0;

	if (depth)
		times = doze(sem, depth - 1);
	else
		while (!sem_wait(sem) && !stop)
			times += woken();
	__asm__ volatile("" : "+r"(times));
	return times;
}

static void *sleeper(void *sem)
{
	doze(sem, 2);
	return NULL;
}

static void *runner(void *arg)
{
	while (!stop)
		work(20000);
	return arg;
}

int main(int argc, char **argv)
{
	int nr = argc == 4 ? atoi(argv[1]) : 0, running = argc == 4 ? atoi(argv[2]) : 0, wakeups = 0;
	uint64_t end = now_ns() + (argc == 4 ? atof(argv[3]) * 1e9 : 0);
	pthread_t *threads = calloc(nr, sizeof(*threads));
	pthread_attr_t attr;

	wake = calloc(nr, sizeof(*wake));
	if (argc != 4 || nr <= 2 * running || !threads || !wake) {
		fprintf(stderr, "usage: sleepers THREADS RUNNING SECONDS\n");
		return 2;
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (int i = 0; i < nr; i++) {
		sem_init(&wake[i], 0, 0);
		if (pthread_create(&threads[i], &attr, i < 2 * running && i % 2 == 0 ? runner : sleeper, &wake[i]))
			return 1;
	}
	while (now_ns() < end) {
		nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
		sem_post(&wake[2 * running + wakeups++ * 37 % (nr - 2 * running)]);
	}
	stop = 1;
	for (int i = 0; i < nr; i++)
		sem_post(&wake[i]);
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	printf("%d wake-ups\n", wakeups);
	return 0;
}
