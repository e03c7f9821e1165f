// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program for the benchmark takes and releases free locks between other work, as a server
 * does.
 *
 *	lock-cold ROUNDS [CPU]
 *
 * In each round other data are read and other code is run, so that the data and code of a lock are
 * no longer in the nearest caches; then LOCKS different mutexes are taken and released, one after
 * the other, as by a request of a server.  Prints "KIND NS", the mean of the rounds except for the
 * slowest quarter, for a lock and an unlock:
 *
 *	first-near, all-near	64 KiB of data and 64 of code in between: more than a first-level
 *				cache; the first of the locks, and the mean of all
 *	first-far, all-far	1 MiB and 256 KiB: more than many second-level caches and
 *				branch target buffers hold
 *
 * The figures include the time of reading the clock, so only differences between two builds mean
 * something.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <x86intrin.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#define LOCKS		7
#define LINE		64
#define DATA_MAX	(1UL << 20)
#define CODE_MAX	(256UL << 10)

struct alignas(LINE) line_mutex {
	pthread_mutex_t m;
};

static struct line_mutex mutexes[LOCKS];
static unsigned char *data, *code;
static volatile unsigned sum;

/* Makes cache lines of code; each one jumps to the next, and the last one returns. */
static bool make_code()
{
	code = (unsigned char *)mmap(nullptr, CODE_MAX, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return false;
	for (size_t at = 0; at < CODE_MAX; at += LINE) {
		code[at] = 0xeb;	/* jmp to the next line */
		code[at + 1] = LINE - 2;
	}
	code[CODE_MAX - LINE] = 0xc3;	/* ret */
	return mprotect(code, CODE_MAX, PROT_READ | PROT_EXEC) == 0;
}

/* Reads data, and runs the last part of the code, so that it ends at the return. */
static void other_work(size_t data_size, size_t code_size)
{
	unsigned s = 0;

	for (size_t at = 0; at < data_size; at += LINE)
		s += data[at];
	sum = s;
	((void (*)())(code + CODE_MAX - code_size))();
}

static uint64_t stamp()
{
	uint64_t tsc;

	_mm_lfence();
	tsc = __rdtsc();
	_mm_lfence();
	return tsc;
}

/*
 * Returns the mean of the smaller three quarters: a clock's steps may be 10 ns, so a median is too
 * coarse.
 */
static double mean(std::vector<double> &v)
{
	size_t nr = v.size() - v.size() / 4;
	double total = 0;

	std::nth_element(v.begin(), v.begin() + nr - 1, v.end());
	for (size_t n = 0; n < nr; n++)
		total += v[n];
	return total / nr;
}

static void pair(struct line_mutex *l)
{
	pthread_mutex_lock(&l->m);
	pthread_mutex_unlock(&l->m);
}

static void measure(const char *name, long rounds, double ns_per_tick, size_t data_size,
		    size_t code_size)
{
	std::vector<double> first(rounds), all(rounds);

	for (long i = 0; i < rounds; i++) {
		uint64_t begin, one;

		other_work(data_size, code_size);
		begin = stamp();
		pair(&mutexes[0]);
		one = stamp();
		for (int n = 1; n < LOCKS; n++)
			pair(&mutexes[n]);
		first[i] = (one - begin) * ns_per_tick;
		all[i] = (stamp() - begin) * ns_per_tick / LOCKS;
	}
	printf("first-%s %.3f\nall-%s %.3f\n", name, mean(first), name, mean(all));
}

/* This thread makes glibc use its code for programs with several threads. */
static void *sleep_for_good(void *)
{
	for (;;)
		nanosleep((const struct timespec[]){ { 3600, 0 } }, nullptr);
}

static double clock_ns()
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static double find_ns_per_tick()
{
	double ns = clock_ns();
	uint64_t tsc = __rdtsc();

	while (clock_ns() - ns < 2e7)
		;
	return (clock_ns() - ns) / (__rdtsc() - tsc);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 10000;
	double ns_per_tick = find_ns_per_tick();
	pthread_t sleeper;
	cpu_set_t set;

	if (argc > 2) {
		CPU_ZERO(&set);
		CPU_SET(atoi(argv[2]), &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
	data = (unsigned char *)malloc(DATA_MAX);
	if (rounds < 1 || !data || !make_code() ||
	    pthread_create(&sleeper, nullptr, sleep_for_good, nullptr))
		return 1;
	memset(data, 1, DATA_MAX);
	for (struct line_mutex &l : mutexes)
		pthread_mutex_init(&l.m, nullptr);
	measure("near", rounds, ns_per_tick, 64 << 10, 64 << 10);
	measure("far", rounds, ns_per_tick, DATA_MAX, CODE_MAX);
	return 0;
}
