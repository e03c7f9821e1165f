// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls functions of libc, libm, libpthread (which is part of libc today), libstdc++ and its own
 * libraries a known number of times.  tests/e2e/flows.t compiles it as a program and as three
 * libraries.  The program prints how often each of them calls each function: "count caller
 * function".
 *
 * Compile with -fno-builtin, and PART:
 *	0	the program: flows N THREADS
 *	1	library one
 *	2	library two
 *	3	library three, which is loaded by dlopen()
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>
#include "flows.h"

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Each part of the program calls these functions. */
static void work(unsigned n)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static sem_t sem;
	volatile double sum = 0;
	char text[64];

	sem_init(&sem, 0, 0);
	for (unsigned i = 0; i < n; i++) {
		int v[4] = { 3, 1, 4, (int)i };
		void *p = ::operator new(100 + i % 7);

		::operator delete(p);
		sum = sum + sin(i) + pow(i, 1.5);
		sum = sum + sin(i + 1);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		sem_post(&sem);
		qsort(v, 4, sizeof(v[0]), compare);
		if (i % 2)
			sprintf(text, "%d %.3f %s", v[0], 0.5 * i, "x");
		if (getenv("NOTHING") || getppid() == 0)
			abort();
	}
	sem_destroy(&sem);
}

#if PART == 1
extern "C" void one_work(unsigned n)
{
	work(n);
}

extern "C" unsigned long long spin(unsigned ticks)
{
	unsigned long long begin = __rdtsc(), spent;

	do
		spent = __rdtsc() - begin;
	while (spent < ticks);
	return spent;
}
#elif PART == 2
extern "C" void two_work(unsigned n)
{
	work(n);
}
#elif PART == 3
extern "C" void three_work(unsigned n)
{
	work(n);
}

extern "C" unsigned three_add(unsigned a, unsigned b)
{
	return a + b;
}

extern "C" const unsigned three_data[4] = { 1, 2, 3, 4 };
#else
static unsigned long long spun_calls, spun_ns, spun_ticks;

static unsigned long long now_ns()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void print_work(const char *who, unsigned n)
{
	static const struct {
		const char *name;
		double per;
	} all[] = {
		{ "operator new", 1 }, { "operator delete", 1 }, { "sin", 2 }, { "pow", 1 },
		{ "pthread_mutex_lock", 1 }, { "pthread_mutex_unlock", 1 }, { "sem_post", 1 },
		{ "qsort", 1 }, { "sprintf", 0.5 }, { "getenv", 1 }, { "getppid", 1 },
	};

	for (auto &a : all)
		printf("%u %s %s\n", (unsigned)(n * a.per), who, a.name);
}

static void spin_timed(unsigned ticks, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned long long begin = now_ns();

		spun_ticks += spin(ticks);
		spun_ns += now_ns() - begin;
	}
	spun_calls += n;
}

static void *thread_main(void *n)
{
	work((uintptr_t)n);
	one_work((uintptr_t)n);
	two_work((uintptr_t)n);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? atoi(argv[1]) : 1000, threads = argc > 2 ? atoi(argv[2]) : 3;
	pthread_t t[64];
	void *three, *libm;
	unsigned long long begin_ns = now_ns(), begin_ticks = __rdtsc();
	unsigned sum = 0;
	double d = 0;

	for (unsigned i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, thread_main, (void *)(uintptr_t)n);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(t[i], NULL);

	three = dlopen("./libthree.so", RTLD_NOW);
	libm = dlopen("libm.so.6", RTLD_LAZY);
	if (!three || !libm)
		abort();
	auto add = (unsigned (*)(unsigned, unsigned))dlsym(three, "three_add");
	auto three_work = (void (*)(unsigned))dlsym(three, "three_work");
	auto data = (const unsigned *)dlsym(three, "three_data");
	auto cosine = (double (*)(double))dlsym(libm, "cos");

	if (dlsym(three, "three_add") != (void *)add || data[3] != 4)
		abort();
	for (unsigned i = 0; i < 5 * n; i++)
		sum = add(sum, i);
	for (unsigned i = 0; i < 3 * n; i++)
		d += cosine(i);
	three_work(n);

	spin_timed(5000, 4000);
	spin_timed(200000, 200);
	work(2 * n);
	two_work(n);

	print_work("flows", threads * n + 2 * n);
	print_work("libone.so", threads * n);
	print_work("libtwo.so", threads * n + n);
	print_work("libthree.so", n);
	printf("%u flows one_work\n%u flows two_work\n", threads, threads + 1);
	printf("%llu flows spin\n", spun_calls);
	printf("%u flows three_add\n1 flows three_work\n%u flows cos\n", 5 * n, 3 * n);
	printf("%u flows pthread_create\n%u flows pthread_join\n5 flows dlsym\n2 flows dlopen\n", threads, threads);
	fprintf(stderr, "%llu %.0f %u %f\n", spun_ns,
		(double)spun_ticks * (now_ns() - begin_ns) / (__rdtsc() - begin_ticks), sum, d);
	return 0;
}
#endif
