/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs with planted causes (why-*, across.c, ../corpus/) share this file: a load of
 * requests that is the same whether the cause is there or not, and the truth about it.
 *
 *	why-X CAUSE plant|clean [REQUESTS [FILE]]
 *
 * Requests are numbered from 1, are of class "get", and have some 100 us of work each.  About one
 * in seventy is due.  With "plant" the cause delays this request by some PLANT_US.  With "clean" it
 * delays no request: its work is done at another time, or not at all.  It prints "hit ID" for each
 * request that was delayed.
 *
 * In the environment: WHY_CPU (stay on it), WHY_PLANT_US, WHY_DUE_EVERY, WHY_THREADS (that
 * serve, in programs that say so), WHY_TRUTH=1: also prints "off ID US NR" for each request whose
 * thread had no CPU for US between begin and end, by the thread's clocks; or "stolen ID US NR" if
 * the thread was never switched out: then the hypervisor took the CPU.  NR is how often another
 * task took the CPU.
 */
#ifndef WHY_LOAD_H
#define WHY_LOAD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <ldb/ldb.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double plant_us = 10000;
static long due_every = 70;

#define PLANT_US	plant_us
#define DUE_EVERY	due_every
#define MAX_HITS	100000
#define MAX_SERVERS	8
#define OFF_US		50	/* a shorter time is not printed */

/* Tests look for these names; GCC would inline a function that has one caller. */
#define NAMED		__attribute__((noinline, noclone)) static

struct cause {
	const char *name;
	void (*run)(void);
};

static const char *program;
static long nr_requests = 3000;
static const char *file_arg;
static bool planted;
static double loops_per_us;
static unsigned *hits, nr_hits;
static int nr_servers = 1;

/*
 * What a request's thread read from its clocks at the request's start; off_us and the numbers of
 * switches are those of the request when it has ended.
 */
static struct own_clock {
	double wall_us, cpu_us, off_us;
	long nr_switches, nr_preempted;
} *own_clocks;

static inline __attribute__((always_inline)) double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

/*
 * Does a fixed amount of work, so that a thread that loses the CPU meanwhile takes longer.  It is
 * inline, so that the time is the caller's own.
 */
static inline __attribute__((always_inline)) void burn(double us)
{
	for (long left = (long)(us * loops_per_us); left > 0; left--)
		__asm__ volatile("" : "+r"(left));
}

/* This is inline, so that the caller sleeps. */
static inline __attribute__((always_inline)) void pause_us(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

static inline void wait_sem(sem_t *sem)
{
	while (sem_wait(sem))
		;
}

static inline double own_cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

/* Adds the thread's switches to what the clock has, or subtracts them. */
static inline void own_switches(struct own_clock *own, int sign)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	own->nr_switches += sign * (usage.ru_nvcsw + usage.ru_nivcsw);
	own->nr_preempted += sign * usage.ru_nivcsw;
}

/* Reads the clocks, and then starts the request. */
static inline __attribute__((always_inline)) void own_start(uint64_t id, void *queue)
{
	if (own_clocks && id < MAX_HITS) {
		own_switches(&own_clocks[id], -1);
		own_clocks[id].cpu_us = own_cpu_us();
		own_clocks[id].wall_us = now_us();
	}
	ldb_req_start(id, queue);
}

static inline __attribute__((always_inline)) void own_end(uint64_t id)
{
	struct own_clock *own = own_clocks && id < MAX_HITS ? &own_clocks[id] : NULL;

	ldb_req_end(id);
	if (own) {
		double wall = now_us() - own->wall_us;

		own->off_us = wall - (own_cpu_us() - own->cpu_us);
		own_switches(own, 1);
	}
}

#define ldb_req_start	own_start
#define ldb_req_end	own_end

/* Takes the fastest of several attempts, because in the others another task may have run. */
static void calibrate(void)
{
	loops_per_us = 1;
	for (int round = 0; round < 40; round++) {
		double start = now_us(), us;

		for (long left = 100000; left > 0; left--)
			__asm__ volatile("" : "+r"(left));
		us = now_us() - start;
		if (us > 0 && 100000 / us > loops_per_us)
			loops_per_us = 100000 / us;
	}
}

static inline void die(const char *what)
{
	fprintf(stderr, "%s: ", program);
	perror(what);
	exit(1);
}

static inline bool is_due(long id)
{
	return id % DUE_EVERY == DUE_EVERY / 2;
}

static inline void hit(long id)
{
	unsigned i = __atomic_fetch_add(&nr_hits, 1, __ATOMIC_RELAXED);

	if (i < MAX_HITS)
		hits[i] = id;
}

/* The functions that every request calls. */
static double part_us = 30;

NAMED void parse(void)
{
	burn(part_us);
}

NAMED void reply(void)
{
	burn(part_us);
}

static pthread_t threads[16];
static int nr_threads;

static inline void start_thread(void *(*run)(void *))
{
	if (pthread_create(&threads[nr_threads++], NULL, run, NULL))
		die("pthread_create");
}

/*
 * Ends the threads, which wait for more work, because the recorder learns the names only of threads
 * that have ended.
 */
static inline void end_threads(void)
{
	for (int i = 0; i < nr_threads; i++) {
		pthread_cancel(threads[i]);
		pthread_join(threads[i], NULL);
	}
}

/*
 * Pins the thread to a CPU.  This is done here, and not by taskset, so that ldb's own threads,
 * which exist already, are not pinned.
 */
static inline void stay_on_cpu(const char *cpu)
{
	cpu_set_t set;

	if (!cpu)
		return;
	CPU_ZERO(&set);
	CPU_SET(atoi(cpu), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static inline void from_environment(void)
{
	const char *text;

	if ((text = getenv("WHY_PLANT_US")))
		plant_us = atof(text);
	if ((text = getenv("WHY_DUE_EVERY")))
		due_every = atol(text);
	if ((text = getenv("WHY_THREADS")))
		nr_servers = atoi(text);
	if (plant_us <= 0 || due_every < 1 || nr_servers < 1 || nr_servers > MAX_SERVERS) {
		fprintf(stderr, "%s: WHY_PLANT_US, WHY_DUE_EVERY or WHY_THREADS is no such number\n",
			program);
		exit(2);
	}
	if (getenv("WHY_TRUTH"))
		own_clocks = (struct own_clock *)calloc(MAX_HITS, sizeof(*own_clocks));
}

static inline int why_main(int argc, char **argv, const struct cause *causes)
{
	const struct cause *c = causes;

	program = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	while (c->name && (argc < 3 || strcmp(argv[1], c->name)))
		c++;
	if (!c->name || (strcmp(argv[2], "plant") && strcmp(argv[2], "clean"))) {
		fprintf(stderr, "usage: %s CAUSE plant|clean [REQUESTS [FILE]]\n", program);
		return 2;
	}
	planted = !strcmp(argv[2], "plant");
	if (argc > 3)
		nr_requests = atol(argv[3]);
	if (argc > 4)
		file_arg = argv[4];
	from_environment();
	hits = (unsigned *)calloc(MAX_HITS, sizeof(*hits));
	if (!hits)
		die("calloc");
	stay_on_cpu(getenv("WHY_CPU"));
	calibrate();
	c->run();
	/* Waits, so that the scanner polls once more after the last request. */
	usleep(20000);
	end_threads();
	for (unsigned i = 0; i < nr_hits && i < MAX_HITS; i++)
		printf("hit %u\n", hits[i]);
	for (unsigned i = 0; own_clocks && i < MAX_HITS; i++)
		if (own_clocks[i].off_us >= OFF_US)
			printf("%s %u %.0f %ld\n", own_clocks[i].nr_switches ? "off" : "stolen", i,
			       own_clocks[i].off_us, own_clocks[i].nr_preempted);
	return 0;
}

#endif
