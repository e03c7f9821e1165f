// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program for the benchmark takes and releases free locks.
 *
 *	lock-storm PAIRS [CPU]
 *
 * Prints "KIND NS" for each kind of lock: CPU time of the thread for a lock and an unlock, the
 * median of SLICES parts, because a neighbour of a virtual machine makes some of them longer.  The
 * program is pinned to CPU.  "turns": two threads use one mutex, never at the same time; "nested":
 * four mutexes held at once, each counts; "alone": before the process has a second thread, when
 * glibc locks without an atomic operation; "own": a spin lock of the program's own, with calls that
 * inform ldb; "own_bare": the same without these calls.
 */
#include <ldb/ldb.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <thread>

static pthread_mutex_t mutexes[4] = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;
static std::atomic<bool> own;
static std::mutex std_mutex;

static uint64_t cpu_ns()
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void pair_mutex()
{
	pthread_mutex_lock(&mutexes[0]);
	pthread_mutex_unlock(&mutexes[0]);
}

static void pair_recursive()
{
	pthread_mutex_lock(&recursive);
	pthread_mutex_unlock(&recursive);
}

static void pair_std()
{
	std::lock_guard<std::mutex> guard(std_mutex);
}

static void pair_read()
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void pair_write()
{
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void pair_spin()
{
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
}

static void pair_own_bare()
{
	while (own.exchange(true, std::memory_order_acquire))
		;
	own.store(false, std::memory_order_release);
}

static void pair_own()
{
	while (own.exchange(true, std::memory_order_acquire))
		ldb_lock_wait(&own);
	ldb_lock_acquired(&own);
	ldb_lock_released(&own);
	own.store(false, std::memory_order_release);
}

static void pair_sem()
{
	sem_wait(&sem);
	sem_post(&sem);
}

static void pairs_nested()
{
	for (pthread_mutex_t &m : mutexes)
		pthread_mutex_lock(&m);
	for (int n = 3; n >= 0; n--)
		pthread_mutex_unlock(&mutexes[n]);
}

#define SLICES	40

static void print_median(const char *name, double *ns, int nr)
{
	std::nth_element(ns, ns + nr / 2, ns + nr);
	printf("%s %.3f\n", name, ns[nr / 2]);
}

/* The loop contains nothing else, and has no frame of its own. */
#define STORM(name, pair, each)						\
	static void storm_##name(long pairs)				\
	{								\
		double ns[SLICES];					\
									\
		for (double &slice : ns) {				\
			uint64_t begin = cpu_ns();			\
									\
			for (long i = 0; i < pairs / SLICES; i += each)	\
				pair();					\
			slice = double(cpu_ns() - begin) / (pairs / SLICES); \
		}							\
		print_median(#name, ns, SLICES);			\
	}

STORM(alone, pair_mutex, 1)
STORM(mutex, pair_mutex, 1)
STORM(recursive, pair_recursive, 1)
STORM(std, pair_std, 1)
STORM(read, pair_read, 1)
STORM(write, pair_write, 1)
STORM(spin, pair_spin, 1)
STORM(own, pair_own, 1)
STORM(own_bare, pair_own_bare, 1)
STORM(sem, pair_sem, 1)
STORM(nested, pairs_nested, 4)

static std::atomic<int> turn;

/* The two threads take turns; every second slice belongs to thread `me`. */
static void take_turns(int me, long pairs, double *ns)
{
	for (int slice = me; slice < SLICES; slice += 2) {
		uint64_t begin;

		while (turn.load() != me)
			sched_yield();
		begin = cpu_ns();
		for (long i = 0; i < pairs / SLICES; i++)
			pair_mutex();
		ns[slice] = double(cpu_ns() - begin) / (pairs / SLICES);
		turn.store(!me);
	}
}

static void storm_turns(long pairs)
{
	double ns[SLICES];
	std::thread other(take_turns, 1, pairs, ns);

	take_turns(0, pairs, ns);
	other.join();
	print_median("turns", ns, SLICES);
}

/* This thread makes glibc use its code for programs with several threads. */
static void *sleep_for_good(void *)
{
	for (;;)
		nanosleep((const struct timespec[]){ { 3600, 0 } }, nullptr);
}

int main(int argc, char **argv)
{
	long pairs = argc > 1 ? atol(argv[1]) : 1000000;
	pthread_t sleeper;
	cpu_set_t set;

	if (argc > 2) {
		CPU_ZERO(&set);
		CPU_SET(atoi(argv[2]), &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
	pthread_spin_init(&spin, 0);
	sem_init(&sem, 0, 1);
	storm_alone(pairs);
	if (pthread_create(&sleeper, nullptr, sleep_for_good, nullptr))
		return 1;
	storm_mutex(pairs);
	storm_recursive(pairs);
	storm_std(pairs);
	storm_read(pairs);
	storm_write(pairs);
	storm_spin(pairs);
	storm_own(pairs);
	storm_own_bare(pairs);
	storm_sem(pairs);
	storm_nested(pairs);
	storm_turns(pairs);
	return 0;
}
