// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program plants a cause: a lock is free, but the thread that was woken to take it has no CPU.
 * See why-load.h.
 *
 * Thread "keeper" holds the lock.  Thread "next" waits for the lock, and then the request does,
 * too.  The keeper releases the lock for "next".  Meanwhile a thread "hog" of real-time priority
 * runs on the CPU of "next"; the request sleeps until "next" has taken the lock and released it.
 * With "clean" the hog runs after the request.
 */
#include "why-load.h"
#include <fcntl.h>

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static sem_t keep, kept, take, taken, done, go_hog, hog_done;
static int next_stat, requester_stat;
static volatile bool is_hit;

static int open_stat(void)
{
	int fd = open("/proc/thread-self/stat", O_RDONLY);

	if (fd < 0)
		die("/proc/thread-self/stat");
	return fd;
}

/* Waits until a thread sleeps. */
static void await_sleep(int stat)
{
	for (;;) {
		char text[64] = "";

		if (pread(stat, text, sizeof(text) - 1, 0) <= 0)
			die("stat");
		if (strstr(text, ") S"))
			return;
		pause_us(50);
	}
}

/* Pins the thread: the last CPU is for "next" and the hog; the other threads use the other CPUs. */
static void choose_cpus(bool is_last)
{
	static cpu_set_t all;	/* CPUs of the thread that calls this first */
	cpu_set_t set;
	int last = 0;

	if (!CPU_COUNT(&all) && sched_getaffinity(0, sizeof(all), &all))
		die("sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all))
			last = cpu;
	CPU_ZERO(&set);
	CPU_SET(last, &set);
	if (!is_last)
		CPU_XOR(&set, &set, &all);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("two CPUs");
}

NAMED void crunch(void)
{
	burn(PLANT_US);
}

static void *hog(void *arg)
{
	struct sched_param param = { .sched_priority = 20 };

	prctl(PR_SET_NAME, "hog");
	choose_cpus(true);
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
	for (;;) {
		wait_sem(&go_hog);
		crunch();
		sem_post(&hog_done);
	}
	return arg;
}

NAMED void take_next(void)
{
	pthread_mutex_lock(&shared);
	/* Otherwise GCC would merge this with fetch(). */
	__asm__ volatile("nop");
	pthread_mutex_unlock(&shared);
}

static void *next(void *arg)
{
	prctl(PR_SET_NAME, "next");
	choose_cpus(true);
	next_stat = open_stat();
	for (;;) {
		sem_post(&taken);
		wait_sem(&take);
		take_next();
	}
	return arg;
}

NAMED void keep_lock(void)
{
	pthread_mutex_lock(&shared);
	sem_post(&kept);
	/* The thread that waits first is woken first. */
	await_sleep(next_stat);
	sem_post(&done);
	await_sleep(requester_stat);
	if (is_hit && planted)
		sem_post(&go_hog);
	pause_us(100);
	pthread_mutex_unlock(&shared);
}

static void *keeper(void *arg)
{
	prctl(PR_SET_NAME, "keeper");
	for (;;) {
		wait_sem(&keep);
		keep_lock();
	}
	return arg;
}

NAMED void fetch(void)
{
	pthread_mutex_lock(&shared);
	pthread_mutex_unlock(&shared);
}

NAMED void serve(void)
{
	parse();
	fetch();
	reply();
}

/* "next" waits for the lock by the time that this returns. */
static void begin_convoy(void)
{
	wait_sem(&taken);
	sem_post(&keep);
	wait_sem(&kept);
	sem_post(&take);
	wait_sem(&done);
}

static void requests(void)
{
	for (long id = 1; id <= nr_requests; id++) {
		is_hit = is_due(id);
		if (is_hit)
			begin_convoy();
		ldb_req_start(id, NULL);
		ldb_req_class(id, "get");
		serve();
		ldb_req_end(id);
		if (is_hit && !planted)
			sem_post(&go_hog);
		if (is_hit) {
			wait_sem(&hog_done);
			hit(id);
		}
		pause_us(20);
	}
}

static void run(void)
{
	choose_cpus(false);
	requester_stat = open_stat();
	start_thread(hog);
	start_thread(next);
	start_thread(keeper);
	/* After this pause ldb knows these threads. */
	pause_us(100000);
	requests();
}

int main(int argc, char **argv)
{
	static const struct cause causes[] = { { "convoy", run }, { NULL, NULL } };

	/* This program needs two CPUs. */
	unsetenv("WHY_CPU");
	return why_main(argc, argv, causes);
}
