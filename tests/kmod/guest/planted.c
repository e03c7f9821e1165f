// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plants causes of latency that only kernel events show, one for each request:
 *
 *	1	the holder of a mutex is preempted while it holds it
 *	2	the thread is moved to the other CPU in the middle of its request
 *	3	its wake-up is delayed by a thread that runs on its CPU
 *	4	it waits for a lock that is a raw futex, which the shim does not observe
 *
 * Needs two CPUs and root.  It prints lines "fact ...".
 */
#include <linux/futex.h>
#include <ldb/ldb.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOG_MS	80

static pid_t worker_tid, holder_tid, hog_tid, futex_holder_tid;
static pthread_mutex_t the_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned raw_lock;	/* 0 free, 1 held, 2 with waiters */
static _Atomic unsigned raw_gate;	/* request 3: where the worker sleeps */
static sem_t go_hog, go_holder, go_futex_holder;
static _Atomic int holder_has_it, worker_waits, futex_held, hogging, worker_at_gate, done;

static long futex(_Atomic unsigned *uaddr, int op, unsigned value)
{
	return syscall(SYS_futex, uaddr, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("planted: sched_setaffinity");
		exit(1);
	}
}

static void quiet(long ms)
{
	struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

__attribute__((noinline)) static void work(double ms)
{
	double until = now_ms() + ms;

	while (now_ms() < until)
		;
}

/* The hog has real-time priority, so it preempts the task on CPU 0. */
__attribute__((noinline)) static void hog_the_cpu(void)
{
	atomic_store(&hogging, 1);
	work(HOG_MS);
	atomic_store(&hogging, 0);
}

static void *hog(void *arg)
{
	struct sched_param param = { .sched_priority = 20 };

	prctl(PR_SET_NAME, "hog");
	hog_tid = gettid();
	pin(0);
	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("planted: sched_setscheduler");
		exit(1);
	}
	for (;;) {
		sem_wait(&go_hog);
		if (atomic_load(&done))
			return NULL;
		hog_the_cpu();
	}
}

__attribute__((noinline)) static void hold_the_lock(void)
{
	pthread_mutex_lock(&the_mutex);
	atomic_store(&holder_has_it, 1);
	while (!atomic_load(&worker_waits))
		;
	work(10);
	sem_post(&go_hog);	/* the thread is preempted in here, or directly after it */
	work(1);
	pthread_mutex_unlock(&the_mutex);
}

static void *holder(void *arg)
{
	prctl(PR_SET_NAME, "holder");
	holder_tid = gettid();
	pin(0);
	sem_wait(&go_holder);
	hold_the_lock();
	return NULL;
}

__attribute__((noinline)) static void raw_take(void)
{
	unsigned free = 0;

	if (atomic_compare_exchange_strong(&raw_lock, &free, 1))
		return;
	while (atomic_exchange(&raw_lock, 2))
		futex(&raw_lock, FUTEX_WAIT, 2);
}

static void raw_release(void)
{
	if (atomic_exchange(&raw_lock, 0) == 2)
		futex(&raw_lock, FUTEX_WAKE, 1);
}

__attribute__((noinline)) static void hold_raw(void)
{
	raw_take();
	atomic_store(&futex_held, 1);
	work(HOG_MS);
	raw_release();
}

static void *futex_holder(void *arg)
{
	prctl(PR_SET_NAME, "futexholder");
	futex_holder_tid = gettid();
	pin(0);
	sem_wait(&go_futex_holder);
	hold_raw();
	return NULL;
}

__attribute__((noinline)) static void wait_for_mutex(void)
{
	atomic_store(&worker_waits, 1);
	pthread_mutex_lock(&the_mutex);
	pthread_mutex_unlock(&the_mutex);
}

__attribute__((noinline)) static void move_in_the_middle(void)
{
	work(20);
	pin(0);
	work(20);
	pin(1);
}

/* The waker is in main(), on CPU 1: it wakes this thread when the hog runs on CPU 0. */
__attribute__((noinline)) static void sleep_at_the_gate(void)
{
	while (!atomic_load(&raw_gate))
		futex(&raw_gate, FUTEX_WAIT, 0);
}

static void *worker(void *arg)
{
	prctl(PR_SET_NAME, "worker");
	worker_tid = gettid();
	pin(1);

	sem_post(&go_holder);
	while (!atomic_load(&holder_has_it))
		quiet(1);
	ldb_req_start(1, NULL);
	wait_for_mutex();
	ldb_req_end(1);
	quiet(50);

	ldb_req_start(2, NULL);
	move_in_the_middle();
	ldb_req_end(2);
	quiet(50);

	pin(0);
	ldb_req_start(3, NULL);
	atomic_store(&worker_at_gate, 1);
	sleep_at_the_gate();
	ldb_req_end(3);
	quiet(50);

	pin(1);
	sem_post(&go_futex_holder);
	while (!atomic_load(&futex_held))
		quiet(1);
	ldb_req_start(4, NULL);
	raw_take();
	ldb_req_end(4);
	raw_release();
	return NULL;
}

/* Request 3: lets the hog run on CPU 0, then wakes the worker, which needs that CPU. */
static void open_the_gate(void)
{
	pin(1);
	while (!atomic_load(&worker_at_gate))
		quiet(1);
	quiet(20);
	sem_post(&go_hog);
	while (!atomic_load(&hogging))
		;
	atomic_store(&raw_gate, 1);
	futex(&raw_gate, FUTEX_WAKE, 1);
}

int main(int argc, char **argv)
{
	pthread_t thread[4];
	int i;

	sem_init(&go_hog, 0, 0);
	sem_init(&go_holder, 0, 0);
	sem_init(&go_futex_holder, 0, 0);
	pthread_create(&thread[0], NULL, hog, NULL);
	pthread_create(&thread[1], NULL, holder, NULL);
	pthread_create(&thread[2], NULL, futex_holder, NULL);
	quiet(50);
	pthread_create(&thread[3], NULL, worker, NULL);
	open_the_gate();
	for (i = 1; i < 4; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&done, 1);
	sem_post(&go_hog);
	pthread_join(thread[0], NULL);
	printf("fact worker tid=%d\nfact holder tid=%d\nfact hog tid=%d\nfact futexholder tid=%d\n",
	       worker_tid, holder_tid, hog_tid, futex_holder_tid);
	printf("fact mutex addr=%lx\nfact raw addr=%lx\nfact gate addr=%lx\nfact main tid=%d\n",
	       (unsigned long)&the_mutex, (unsigned long)&raw_lock, (unsigned long)&raw_gate, getpid());
	return 0;
}
