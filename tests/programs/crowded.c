// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs threads that leave no CPU idle, and logs what they did: crowded THREADS STAGES STEPS
 * [LOGFILE].  tests/bench/crowded-check.c compares the log with the trace.
 *
 * Each thread works through STAGES stages, the same ones in every run: most compute, for 5 us to 2
 * ms in one function; some sleep, wait for a lock, or do one of these below 50 to 100 calls.  Work
 * is counted in STEPS a microsecond, not in time.  "crowded 0 0 0" prints how many steps the CPU
 * makes in a microsecond; otherwise it prints the CPU time of the threads, and how long the run
 * took, in microseconds.
 *
 * With -DPLAIN the program is not instrumented, and therefore has no generations to log.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <ldb/abi.h>
#include "crowded.h"

#define NEVER	__attribute__((no_instrument_function, always_inline)) static inline
#define KEEP	__attribute__((noinline, noclone))

#define THREADS_MAX	16
#define CALIBRATE_STEPS	1000000

struct log {
	struct crowded_call *calls;
	struct crowded_wait *waits;
	uint32_t nr_calls, nr_waits, nr_stages, open;
	uint32_t tid;
	uint64_t rng;
	uint64_t cpu_ns;
};

static struct log logs[THREADS_MAX];
static __thread struct log *mine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t steps_us;

#ifdef PLAIN
#define GENERATION 0
#else
extern __thread struct ldb_thread __ldb_thread;
#define GENERATION (__ldb_thread.gen >> LDB_GEN_SHIFT)
#endif

NEVER uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

NEVER uint32_t nr_switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

NEVER uint64_t rnd(uint64_t n)
{
	mine->rng ^= mine->rng << 13;
	mine->rng ^= mine->rng >> 7;
	mine->rng ^= mine->rng << 17;
	return mine->rng % n;
}

NEVER void compute(uint64_t us)
{
	uint64_t x = 1;

	for (uint64_t i = us * steps_us; i; i--) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		__asm__ volatile("" : "+r"(x));
	}
}

/*
 * This is called first in a function.  The function's record exists, at the latest, when it calls
 * another function.
 */
NEVER uint32_t enter(void *function)
{
	uint32_t n = mine->nr_calls, switches = nr_switches();

	__asm__ volatile("" : : : "memory");
	if (n == CROWDED_CALLS_MAX)
		abort();
	mine->calls[n] = (struct crowded_call){
		.gen = GENERATION, .function = (uintptr_t)function, .parent = mine->open,
		.nr_switches = switches,
	};
	mine->nr_calls++;
	mine->open = n;
	mine->calls[n].begin = __builtin_ia32_rdtsc();
	return n;
}

NEVER void leave(uint32_t n)
{
	struct crowded_call *c = &mine->calls[n];

	c->end = __builtin_ia32_rdtsc();
	c->nr_switches = nr_switches() - c->nr_switches;
	mine->open = c->parent;
}

NEVER void waited(uint32_t n, uint64_t since)
{
	if (mine->nr_waits == CROWDED_WAITS_MAX)
		abort();
	mine->waits[mine->nr_waits++] = (struct crowded_wait){ since, __builtin_ia32_rdtsc(), n, 0 };
}

KEEP static void brief(uint64_t us)
{
	uint32_t n = enter(brief);

	compute(us);
	leave(n);
}

KEEP static void crunch(uint64_t us)
{
	uint32_t n = enter(crunch);

	compute(us);
	leave(n);
}

KEEP static void rest(uint64_t us)
{
	uint32_t n = enter(rest);
	struct timespec ts = { .tv_nsec = us * 1000 };
	uint64_t since = __builtin_ia32_rdtsc();

	nanosleep(&ts, NULL);
	waited(n, since);
	leave(n);
}

KEEP static void guarded(uint64_t us)
{
	uint32_t n = enter(guarded);
	uint64_t since = __builtin_ia32_rdtsc();

	pthread_mutex_lock(&lock);
	waited(n, since);
	compute(us);
	pthread_mutex_unlock(&lock);
	leave(n);
}

KEEP static void briefs(unsigned nr)
{
	uint32_t n = enter(briefs);

	while (nr--)
		brief(5 + rnd(45));
	leave(n);
}

KEEP static void one(void)
{
	uint32_t n = enter(one);

	switch (rnd(10)) {
	case 0: case 1: case 2: case 3:
		crunch(500 + rnd(1500));
		break;
	case 4: case 5:
		rest(60 + rnd(300));
		break;
	case 6:
		guarded(50 + rnd(150));
		break;
	default:
		briefs(2 + rnd(8));
	}
	leave(n);
}

KEEP static void dive(unsigned depth)
{
	uint32_t n = enter(dive);

	if (depth)
		dive(depth - 1);
	else
		one();
	leave(n);
}

KEEP static void stage(void)
{
	uint32_t n = enter(stage);

	brief(5 + rnd(20));
	if (rnd(20))
		one();
	else
		dive(50 + rnd(50));
	brief(5 + rnd(20));
	leave(n);
}

KEEP static void work(uint32_t nr)
{
	uint32_t n = enter(work);

	while (nr--)
		stage();
	leave(n);
}

__attribute__((no_instrument_function)) static void *thread_main(void *arg)
{
	mine = arg;
	mine->tid = syscall(SYS_gettid);
	prctl(PR_SET_TIMERSLACK, 1);
	work(mine->nr_stages);
	mine->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

__attribute__((no_instrument_function)) static void calibrate(void)
{
	uint64_t best = UINT64_MAX;

	steps_us = CALIBRATE_STEPS;
	for (int i = 0; i < 20; i++) {
		uint64_t ns = clock_ns(CLOCK_MONOTONIC);

		compute(1);
		ns = clock_ns(CLOCK_MONOTONIC) - ns;
		if (ns < best)
			best = ns;
	}
	printf("%lu\n", (unsigned long)(CALIBRATE_STEPS * 1000ULL / best));
}

__attribute__((no_instrument_function)) static int write_log(const char *path, unsigned nr_threads)
{
	FILE *f = fopen(path, "wb");
	int ok = f != NULL;

	for (unsigned i = 0; ok && i < nr_threads; i++) {
		const struct log *l = &logs[i];
		struct crowded_head h = { CROWDED_MAGIC, l->tid, l->nr_calls, l->nr_waits, 0 };

		ok = fwrite(&h, sizeof(h), 1, f) == 1 &&
		     fwrite(l->calls, sizeof(*l->calls), l->nr_calls, f) == l->nr_calls &&
		     fwrite(l->waits, sizeof(*l->waits), l->nr_waits, f) == l->nr_waits;
	}
	if (!ok || fclose(f)) {
		perror(path);
		return 1;
	}
	return 0;
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	unsigned nr_threads = argc > 3 ? strtoul(argv[1], NULL, 10) : THREADS_MAX + 1;
	pthread_t threads[THREADS_MAX];
	uint64_t cpu_ns = 0, begin;

	if (nr_threads > THREADS_MAX) {
		fprintf(stderr, "usage: crowded THREADS STAGES STEPS [LOGFILE]\n");
		return 2;
	}
	steps_us = strtoul(argv[3], NULL, 10);
	if (!steps_us) {
		calibrate();
		return 0;
	}
	begin = clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < nr_threads; i++) {
		struct log *l = &logs[i];

		l->calls = calloc(CROWDED_CALLS_MAX, sizeof(*l->calls));
		l->waits = calloc(CROWDED_WAITS_MAX, sizeof(*l->waits));
		l->nr_stages = strtoul(argv[2], NULL, 10);
		l->open = CROWDED_NONE;
		l->rng = (i + 1) * 0x9e3779b97f4a7c15ULL;
		if (!l->calls || !l->waits || pthread_create(&threads[i], NULL, thread_main, l)) {
			perror("crowded");
			return 1;
		}
	}
	for (unsigned i = 0; i < nr_threads; i++) {
		pthread_join(threads[i], NULL);
		cpu_ns += logs[i].cpu_ns;
	}
	printf("cpu %.1f\nwall %.1f\n", cpu_ns / 1e3, (clock_ns(CLOCK_MONOTONIC) - begin) / 1e3);
	return argc > 4 ? write_log(argv[4], nr_threads) : 0;
}
