// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests sessions that begin while threads come and go: whatever the moment, a thread that then
 * sleeps must be reported as asleep, or not at all.
 *
 *	kmod-join [ROUNDS]	default 100
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "dev.h"
#include "tap.h"

#define THREADS	4

static struct dev d;
static unsigned tids[THREADS];
static pthread_barrier_t begin, end;
static unsigned arrived;
static bool over;

static void spin(uint64_t us)
{
	struct timespec ts;
	uint64_t until = 0, now;

	do {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		now = ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
		if (!until)
			until = now + us;
	} while (now < until);
}

/* The thread runs once more, at some time and for a while; then it sleeps until it is checked. */
static void *comes_and_goes(void *arg)
{
	unsigned me = (long)arg, seed = me + 1;

	__atomic_store_n(&tids[me], gettid_(), __ATOMIC_RELEASE);
	for (;;) {
		pthread_barrier_wait(&begin);
		if (over)
			return NULL;
		usleep(rand_r(&seed) % 3000);
		spin(rand_r(&seed) % 1500);
		__atomic_add_fetch(&arrived, 1, __ATOMIC_RELEASE);
		pthread_barrier_wait(&end);
	}
}

/* Returns true if the thread is asleep, as the kernel itself reports it, without the module. */
static bool sleeps(unsigned tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%u/stat", tid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		bail_out(path);
	fclose(f);
	return state == 'S';
}

static void one_round(unsigned *odd, unsigned *unknown)
{
	if (dev_open(&d, NULL) || dev_map(&d))
		bail_out("no session");
	arrived = 0;
	pthread_barrier_wait(&begin);
	usleep(rand() % 3000);
	if (dev_ioctl(d.fd, LDB_IOC_JOIN, NULL))
		bail_out("JOIN");
	for (unsigned i = 0; i < THREADS; i++)
		if (dev_reg(&d, tids[i], i, 0))
			bail_out("REG");
	while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < THREADS)
		msleep(1);
	for (unsigned i = 0; i < THREADS; i++)
		while (!sleeps(tids[i]))
			msleep(1);
	/* A thread sets its state before it leaves the CPU. */
	msleep(2);
	for (unsigned i = 0; i < THREADS; i++) {
		unsigned seq = __atomic_load_n(&dev_page(&d, i)->k_seq, __ATOMIC_ACQUIRE);

		*odd += seq & 1;
		*unknown += !seq;
	}
	pthread_barrier_wait(&end);
	dev_close(&d);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? atoi(argv[1]) : 100, odd = 0, unknown = 0;
	pthread_t threads[THREADS];

	dev_load("disarm_delay_ms=60000");
	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, comes_and_goes, (void *)i);
	for (unsigned i = 0; i < THREADS; i++)
		while (!__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE))
			msleep(1);
	for (unsigned n = 0; n < rounds; n++)
		one_round(&odd, &unknown);
	over = true;
	pthread_barrier_wait(&begin);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	diag("%u threads in %u sessions: of %u nothing was known", THREADS * rounds, rounds, unknown);
	is_int(odd, 0, "no thread that sleeps is said to be on a CPU");
	ok(unknown < THREADS * rounds / 4, "of most threads it is known whether they sleep");
	return done();
}
