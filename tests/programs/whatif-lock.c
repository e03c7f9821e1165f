// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In this program requests need a lock that a background thread holds for a long time, so that the
 * effect of a shorter hold can be predicted from one run and tried out in another.
 *
 *	whatif-lock [-m MODE] [-H HOLD_MS] [-P PERIOD_MS] [-t THREADS] [-n REQUESTS]
 *		    [-g GAP_US] [-l LATE_US]
 *
 *	direct	each of THREADS threads has requests of its own, at times fixed in
 *		advance; each takes the lock for a moment
 *	queue	a thread puts requests into a queue, THREADS workers take them out and
 *		take the lock for each
 *	two	as direct, and a second lock is taken within the first; background threads hold the
 *		two locks at different times
 *	loop	as direct, but each thread pauses between its requests, and the
 *		background thread between its holds, for a given time, and not until a given time
 *
 * Everything that takes long is a sleep: the program needs next to no CPU, and its latencies do not
 * depend on the number of CPUs.  It prints "latency P50 P99 MAX" in microseconds, as the program
 * itself sees them, and "late N of M sleeps": sleeps that ended more than LATE_US too late.  If
 * there are many of these, other load on the machine has disturbed the run.  If permitted, the
 * program has real-time priority, which the scanner does not inherit.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ldb/ldb.h>

#define THREADS_MAX	64

enum mode { DIRECT, QUEUE, TWO, LOOP };

static const char *const modes[] = { "direct", "queue", "two", "loop" };
static enum mode mode;
static long hold_ns = 80000000, period_ns = 200000000, gap_ns = 10000000;
static long nr_threads = 16, nr_requests = 400, late_us = 800;
static long nr_sleeps, nr_late;
static int64_t start;
static int stop;
static int64_t *latency;

pthread_mutex_t db_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static long *queue, nr_put, nr_taken;
static int64_t *put_at;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void sleep_until(int64_t at)
{
	struct timespec t = { at / 1000000000, at % 1000000000 };

	if (now() >= at)
		return;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	__atomic_add_fetch(&nr_sleeps, 1, __ATOMIC_RELAXED);
	if (now() - at > late_us * 1000)
		__atomic_add_fetch(&nr_late, 1, __ATOMIC_RELAXED);
}

/*
 * Returns when request i arrives: at even distances, with a fixed deviation of at most one
 * distance.
 */
static int64_t arrival(long i)
{
	uint64_t r = (i + 1) * 0x9e3779b97f4a7c15ULL;

	return start + i * gap_ns + (int64_t)((r >> 40) % (uint64_t)gap_ns);
}

/* noinline, here and below, because tests name these functions in --what-if. */
__attribute__((noinline)) void snapshot(void)
{
	sleep_until(now() + hold_ns);
	__asm__ volatile("");	/* no tail call: it would have no frame */
}

__attribute__((noinline)) void rotate_log(void)
{
	sleep_until(now() + hold_ns / 2);
	__asm__ volatile("");
}

static void *hold_db(void *arg)
{
	pthread_setname_np(pthread_self(), "holder");
	for (long i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		if (mode == LOOP)
			sleep_until(now() + period_ns * 3 / 5);
		else
			sleep_until(start + i * period_ns);
		pthread_mutex_lock(&db_lock);
		snapshot();
		pthread_mutex_unlock(&db_lock);
	}
	return NULL;
}

static void *hold_log(void *arg)
{
	pthread_setname_np(pthread_self(), "log-holder");
	for (long i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		sleep_until(start + i * period_ns + period_ns / 2);
		pthread_mutex_lock(&log_lock);
		rotate_log();
		pthread_mutex_unlock(&log_lock);
	}
	return NULL;
}

static void serve(void)
{
	pthread_mutex_lock(&db_lock);
	if (mode == TWO) {
		pthread_mutex_lock(&log_lock);
		sleep_until(now() + 100000);
		pthread_mutex_unlock(&log_lock);
	} else {
		sleep_until(now() + 100000);
	}
	pthread_mutex_unlock(&db_lock);
}

static void *serve_own(void *arg)
{
	for (long i = (intptr_t)arg; i < nr_requests; i += nr_threads) {
		int64_t begin;

		if (mode == LOOP)
			sleep_until(now() + (i < nr_threads ? arrival(i) - start :
					     arrival(i) - arrival(i - nr_threads)));
		else
			sleep_until(arrival(i));
		begin = now();
		ldb_req_start(i + 1, NULL);
		serve();
		ldb_req_end(i + 1);
		latency[i] = now() - begin;
	}
	return NULL;
}

static long take(void)
{
	long i;

	pthread_mutex_lock(&queue_lock);
	while (nr_taken == nr_put)
		pthread_cond_wait(&queue_filled, &queue_lock);
	i = queue[nr_taken++];
	pthread_mutex_unlock(&queue_lock);
	if (i >= 0)
		ldb_req_start(i + 1, &queue);
	return i;
}

static void put(long i)
{
	if (i >= 0) {
		put_at[i] = now();
		ldb_req_block(i + 1, &queue);
	}
	pthread_mutex_lock(&queue_lock);
	queue[nr_put++] = i;
	pthread_cond_signal(&queue_filled);
	pthread_mutex_unlock(&queue_lock);
}

static void *serve_queue(void *arg)
{
	for (long i; (i = take()) >= 0;) {
		serve();
		ldb_req_end(i + 1);
		latency[i] = now() - put_at[i];
	}
	return NULL;
}

static void put_all(void)
{
	for (long i = 0; i < nr_requests; i++) {
		sleep_until(arrival(i));
		ldb_req_start(i + 1, NULL);
		put(i);
	}
	for (long i = 0; i < nr_threads; i++)
		put(-1);
}

static int compare(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static int usage(void)
{
	fputs("usage: whatif-lock [-m direct|queue|two|loop] [-H HOLD_MS] [-P PERIOD_MS] [-t THREADS]\n"
	      "                   [-n REQUESTS] [-g GAP_US] [-l LATE_US]\n", stderr);
	return 2;
}

static int parse(int argc, char **argv)
{
	int opt, i;

	while ((opt = getopt(argc, argv, "m:H:P:t:n:g:l:")) != -1) {
		switch (opt) {
		case 'm':
			for (i = 0; i < 4 && strcmp(modes[i], optarg); i++)
				;
			mode = i;
			break;
		case 'H': hold_ns = atof(optarg) * 1e6; break;
		case 'P': period_ns = atof(optarg) * 1e6; break;
		case 't': nr_threads = atol(optarg); break;
		case 'n': nr_requests = atol(optarg); break;
		case 'l': late_us = atol(optarg); break;
		case 'g': gap_ns = atol(optarg) * 1000; break;
		default: return -1;
		}
	}
	return mode > LOOP || nr_threads < 1 || nr_threads > THREADS_MAX || nr_requests < 1 ||
	       hold_ns < 0 || period_ns <= hold_ns || gap_ns < 1 ? -1 : 0;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX], holder, log_holder;

	if (parse(argc, argv))
		return usage();
	latency = calloc(nr_requests, sizeof(*latency));
	put_at = calloc(nr_requests, sizeof(*put_at));
	queue = calloc(nr_requests + nr_threads, sizeof(*queue));
	if (!latency || !put_at || !queue)
		return 1;
	sched_setscheduler(0, SCHED_RR, &(struct sched_param){ .sched_priority = 1 });
	start = now() + 20000000;
	if (pthread_create(&holder, NULL, hold_db, NULL) ||
	    (mode == TWO && pthread_create(&log_holder, NULL, hold_log, NULL)))
		return 1;
	for (long i = 0; i < nr_threads; i++)
		if (pthread_create(&thread[i], NULL, mode == QUEUE ? serve_queue : serve_own,
				   (void *)(intptr_t)i))
			return 1;
	if (mode == QUEUE)
		put_all();
	for (long i = 0; i < nr_threads; i++)
		pthread_join(thread[i], NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(holder, NULL);
	if (mode == TWO)
		pthread_join(log_holder, NULL);
	qsort(latency, nr_requests, sizeof(*latency), compare);
	printf("latency %ld %ld %ld\n", (long)latency[(nr_requests - 1) / 2] / 1000,
	       (long)latency[(nr_requests * 99 + 99) / 100 - 1] / 1000,
	       (long)latency[nr_requests - 1] / 1000);
	printf("late %ld of %ld sleeps\n", nr_late, nr_sleeps);
	return 0;
}
