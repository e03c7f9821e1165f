// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures what an uncontended lock and unlock costs: with libc's own functions, and through the
 * wrappers in each state.  Short rounds are interleaved and their lower deciles compared, as
 * other processes only ever make a round longer.  The test checks no times, but that nothing is
 * written.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "shim-harness.h"
#include "tap.h"

#define ROUNDS	201
#define PAIRS	10000

enum { LIBC, DORMANT, LEVEL_WAIT, LEVEL_WAIT_8, LEVEL_HOLD, NR_STATES };

static const char *const names[NR_STATES] = {
	"libc", "nobody records", "level wait", "level wait, 8 locks held", "level hold",
};

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static double measure(int state, pthread_mutex_t *m)
{
	pthread_mutex_t outer[8];
	double begin, end;

	if (state == LEVEL_WAIT || state == LEVEL_WAIT_8)
		harness_start(LDB_MUTEX_WAIT, 1ULL << 40);
	else if (state == LEVEL_HOLD)
		harness_start(LDB_MUTEX_HOLD, 1ULL << 40);
	for (int n = 0; n < 8 && state == LEVEL_WAIT_8; n++) {
		pthread_mutex_init(&outer[n], NULL);
		pthread_mutex_lock(&outer[n]);
	}
	begin = now_ns();
	if (state == LIBC) {
		for (int n = 0; n < PAIRS; n++) {
			next_table.pthread_mutex_lock(m);
			next_table.pthread_mutex_unlock(m);
		}
	} else {
		for (int n = 0; n < PAIRS; n++) {
			pthread_mutex_lock(m);
			pthread_mutex_unlock(m);
		}
	}
	end = now_ns();
	for (int n = 0; n < 8 && state == LEVEL_WAIT_8; n++)
		pthread_mutex_unlock(&outer[n]);
	harness_stop();
	return (end - begin) / PAIRS;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void *idle(void *p)
{
	pause();
	return p;
}

int main(void)
{
	static double ns[NR_STATES][ROUNDS];
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	unsigned written = 0;
	pthread_t t;

	shim_init();
	/* glibc's lock of a process with one thread is no atomic operation */
	if (pthread_create(&t, NULL, idle, NULL))
		bail_out("pthread_create");
	for (int round = 0; round < ROUNDS; round++)
		for (int state = 0; state < NR_STATES; state++) {
			ns[state][round] = measure(state, &m);
			written += harness_nr();
		}
	for (int state = 0; state < NR_STATES; state++) {
		qsort(ns[state], ROUNDS, sizeof(double), compare);
		diag("%-26s %6.2f ns a pair, %+.2f ns, ratio %.2f (median %.2f)", names[state],
		     ns[state][ROUNDS / 10], ns[state][ROUNDS / 10] - ns[LIBC][ROUNDS / 10],
		     ns[state][ROUNDS / 10] / ns[LIBC][ROUNDS / 10], ns[state][ROUNDS / 2]);
	}
	is_int(written, 0, "locks nobody waits for leave no record");
	return done();
}
