// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program is started without the runtime, which is loaded into it later.
 *
 *	injected KIND MS
 *
 * KIND: locks, three threads that want one lock for 300 us each; loader, threads that load and
 * unload a library all the time; malloc, threads that allocate.  After MS milliseconds it prints
 * "KIND: right" if all of its sums are.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS	3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_over;
static long shared, own[THREADS], nr_wrong;

static long now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000L + ts.tv_nsec / 1000;
}

__attribute__((noinline)) static void spin_us(long us)
{
	long until = now_us() + us;

	while (now_us() < until)
		;
}

__attribute__((noinline)) static void under_lock(long *mine)
{
	pthread_mutex_lock(&lock);
	spin_us(300);
	shared++;
	++*mine;
	pthread_mutex_unlock(&lock);
	usleep(500);
}

static void load(long *mine)
{
	void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
	double (*fn)(double) = library ? (double (*)(double))dlsym(library, "floor") : NULL;

	if (!fn || fn(2.5) != 2)
		nr_wrong++;
	if (library)
		dlclose(library);
	++*mine;
}

static void allocate(long *mine)
{
	size_t size = 16 + *mine * 7919 % 300000;
	unsigned char *p = malloc(size);

	memset(p, *mine & 255, size);
	if (p[size - 1] != (*mine & 255))
		nr_wrong++;
	free(p);
	++*mine;
}

static const char *kind;

static void *thread(void *arg)
{
	long *mine = arg;

	errno = ERANGE;
	while (!is_over) {
		if (!strcmp(kind, "locks"))
			under_lock(mine);
		else if (!strcmp(kind, "loader"))
			load(mine);
		else
			allocate(mine);
	}
	if (strcmp(kind, "loader") && errno != ERANGE)
		nr_wrong++;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	long sum = 0;

	if (argc != 3)
		return 2;
	kind = argv[1];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, &own[i]);
	usleep(atoi(argv[2]) * 1000);
	is_over = true;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += own[i];
	}
	if (!strcmp(kind, "locks") && sum != shared)
		nr_wrong++;
	printf("%s: %s\n", kind, nr_wrong ? "wrong" : "right");
	return nr_wrong ? 1 : 0;
}
