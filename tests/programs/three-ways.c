// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests that take some time for one of three reasons, in turn: the thread computes,
 * sleeps, or waits for its CPU, on which another process runs.  Needs no privilege.
 *
 *	three-ways REQUESTS MS [CPU]
 *
 * Prints "ID CLASS CPU_US WAIT_US SLEEP_US" for each request: the kernel's counts between its start
 * and its end, which the thread itself has read.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ldb/ldb.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "hog.h"

#define NAMED	__attribute__((noinline, noclone)) static

struct counters {
	long long cpu_ns, wait_ns, wall_ns;
};

static long ms;
static int own_file;
static unsigned spun;

static long long now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Spins until the clock has advanced by that much. */
static inline __attribute__((always_inline)) void spin(clockid_t clock, long long ns)
{
	for (long long end = now(clock) + ns; now(clock) < end;)
		for (volatile int i = 0; i < 1000; i++)
			spun++;
}

NAMED void compute(void)
{
	spin(CLOCK_THREAD_CPUTIME_ID, ms * 1000000);
}

NAMED void asleep(void)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* The hog has a higher priority on this CPU, and runs at once. */
NAMED void waiting(void)
{
	hog_post();
	spin(CLOCK_THREAD_CPUTIME_ID, 100000);
}

static void hog(void)
{
	spin(CLOCK_THREAD_CPUTIME_ID, ms * 1000000);
}

static struct counters read_counters(void)
{
	struct counters c = { now(CLOCK_THREAD_CPUTIME_ID), 0, now(CLOCK_MONOTONIC) };
	char text[96];
	ssize_t n = pread(own_file, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%*s %lld", &c.wait_ns) != 1)
		die("schedstat");
	return c;
}

static const struct {
	const char *class;
	void (*run)(void);
} ways[] = { { "compute", compute }, { "sleep", asleep }, { "wait", waiting } };

NAMED void serve(int way)
{
	ways[way].run();
}

static void request(long id)
{
	struct counters a = read_counters(), b;
	int way = id % 3;
	long long cpu, wait;

	ldb_req_start(id, NULL);
	ldb_req_class(id, ways[way].class);
	serve(way);
	ldb_req_end(id);
	b = read_counters();
	cpu = b.cpu_ns - a.cpu_ns;
	wait = b.wait_ns - a.wait_ns;
	printf("%ld %s %lld %lld %lld\n", id, ways[way].class, cpu / 1000, wait / 1000,
	       (b.wall_ns - a.wall_ns - cpu - wait) / 1000);
}

int main(int argc, char **argv)
{
	long nr = argc > 1 ? atol(argv[1]) : 0;
	cpu_set_t set;
	pid_t child;

	ms = argc > 2 ? atol(argv[2]) : 0;
	if (nr < 1 || ms < 1) {
		fprintf(stderr, "usage: three-ways REQUESTS MS [CPU]\n");
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET(argc > 3 ? atoi(argv[3]) : 0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	own_file = open("/proc/thread-self/schedstat", O_RDONLY);
	if (own_file < 0)
		die("/proc/thread-self/schedstat");
	child = hog_start(NULL, hog);
	if (child < 0)
		die("the hog");
	if (setpriority(PRIO_PROCESS, 0, 19))
		die("setpriority");
	for (long id = 1; id <= nr; id++) {
		request(id);
		usleep(500);
	}
	kill(child, SIGKILL);
	return 0;
}
