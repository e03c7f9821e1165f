// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program has threads that come and go: many-threads TOTAL ALIVE creates TOTAL threads, at
 * most ALIVE at a time, each of which calls through a few frames for 250 us, takes a shared mutex
 * and exits in one of three ways.  Prints how many threads took the mutex.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t room;
static long worked;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* noinline: DEPTH frames on the stack of each thread. */
__attribute__((noinline)) int descend(int depth)
{
	uint64_t end = now_ns() + 50000;

	while (now_ns() < end)
		;
	return depth ? descend(depth - 1) + 1 : 0;
}

__attribute__((noinline)) void leave(long how)
{
	if (how == 1)
		pthread_exit(NULL);
	if (how == 2) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
}

static void post_room(void *arg)
{
	(void)arg;
	sem_post(&room);
}

static void *short_life(void *arg)
{
	pthread_cleanup_push(post_room, NULL);
	if (descend(4) == 4) {
		pthread_mutex_lock(&lock);
		worked++;
		pthread_mutex_unlock(&lock);
	}
	leave((long)arg % 3);
	pthread_cleanup_pop(1);
	return NULL;
}

int main(int argc, char **argv)
{
	long total = argc > 1 ? atol(argv[1]) : 500;
	int alive = argc > 2 ? atoi(argv[2]) : 50;
	pthread_attr_t attr;

	sem_init(&room, 0, alive);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	for (long i = 0; i < total; i++) {
		pthread_t thread;

		sem_wait(&room);
		if (pthread_create(&thread, &attr, short_life, (void *)i))
			return 1;
	}
	for (int i = 0; i < alive; i++)
		sem_wait(&room);
	pthread_mutex_lock(&lock);
	printf("many-threads: %ld worked\n", worked);
	return worked == total ? 0 : 1;
}
