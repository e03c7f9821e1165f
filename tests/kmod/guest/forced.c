// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forces known scheduling events, and prints them, for truth.t and other tests.
 *
 *	forced ROUNDS [MS]	output: lines "fact ..."; begins after MS
 *
 * Two threads play ping-pong with raw futexes, on one CPU and then on two; a thread of real-time
 * priority preempts one that spins; a thread moves itself between CPUs.  All of it happens
 * between the marks "ldb-begin" and "ldb-end" in ftrace's buffer, with no other activity around
 * the marks.  All threads exist until after the second mark.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MARKER "/sys/kernel/tracing/trace_marker"

static int rounds;
static _Atomic unsigned word[2];	/* 1: this side may continue */
static _Atomic int stop_spinning;
static pthread_barrier_t begin, end;	/* main and the five threads */

struct side {
	int nr;
	pid_t tid;
	long waits, wakes;
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("forced: sched_setaffinity");
		exit(1);
	}
}

static void quiet(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static long futex(_Atomic unsigned *uaddr, int op, unsigned value)
{
	return syscall(SYS_futex, uaddr, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

__attribute__((noinline)) static void play(struct side *me)
{
	int i;

	for (i = 0; i < rounds; i++) {
		while (!atomic_load(&word[me->nr])) {
			me->waits++;
			futex(&word[me->nr], FUTEX_WAIT, 0);
		}
		atomic_store(&word[me->nr], 0);
		atomic_store(&word[!me->nr], 1);
		me->wakes++;
		futex(&word[!me->nr], FUTEX_WAKE, 1);
	}
}

static void *player(void *arg)
{
	struct side *me = arg;

	prctl(PR_SET_NAME, me->nr ? "pong" : "ping");
	me->tid = gettid();
	pin(0);
	pthread_barrier_wait(&begin);
	play(me);
	if (me->nr)
		pin(1);
	play(me);
	pthread_barrier_wait(&end);
	/* The switches of this thread are counted while it sleeps here. */
	pthread_barrier_wait(&end);
	return NULL;
}

static pid_t victim_tid, urgent_tid, mover_tid;

static void *victim(void *arg)
{
	prctl(PR_SET_NAME, "victim");
	victim_tid = gettid();
	pin(0);
	pthread_barrier_wait(&begin);
	while (!atomic_load(&stop_spinning))
		;
	pthread_barrier_wait(&end);
	pthread_barrier_wait(&end);
	return NULL;
}

static void *urgent(void *arg)
{
	struct sched_param param = { .sched_priority = 10 };
	int i;

	prctl(PR_SET_NAME, "urgent");
	urgent_tid = gettid();
	pin(0);
	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("forced: sched_setscheduler");
		exit(1);
	}
	pthread_barrier_wait(&begin);
	for (i = 0; i < rounds; i++)
		quiet(2);
	atomic_store(&stop_spinning, 1);
	pthread_barrier_wait(&end);
	pthread_barrier_wait(&end);
	return NULL;
}

static void *mover(void *arg)
{
	int i;

	prctl(PR_SET_NAME, "mover");
	mover_tid = gettid();
	pin(1);
	pthread_barrier_wait(&begin);
	for (i = 0; i < rounds; i++)
		pin(i & 1);
	pthread_barrier_wait(&end);
	pthread_barrier_wait(&end);
	return NULL;
}

static void mark(const char *text)
{
	int fd = open(MARKER, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		perror("forced: " MARKER);
		exit(1);
	}
	close(fd);
}

/* Prints what the kernel itself counted, for a thread that sleeps. */
static void print_switches(pid_t tid)
{
	char path[64], line[128];
	long voluntary = -1, involuntary = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "voluntary_ctxt_switches: %ld", &voluntary);
		sscanf(line, "nonvoluntary_ctxt_switches: %ld", &involuntary);
	}
	if (f)
		fclose(f);
	printf("fact csw tid=%d voluntary=%ld involuntary=%ld\n", tid, voluntary, involuntary);
}

static void print_tasks(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			printf("fact task tid=%s\n", entry->d_name);
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	struct side side[2] = { { .nr = 0 }, { .nr = 1 } };
	pthread_t thread[5];
	int i;

	rounds = argc > 1 ? atoi(argv[1]) : 100;
	atomic_store(&word[0], 1);
	pthread_barrier_init(&begin, NULL, 6);
	pthread_barrier_init(&end, NULL, 6);
	pthread_create(&thread[0], NULL, player, &side[0]);
	pthread_create(&thread[1], NULL, player, &side[1]);
	pthread_create(&thread[2], NULL, victim, NULL);
	pthread_create(&thread[3], NULL, urgent, NULL);
	pthread_create(&thread[4], NULL, mover, NULL);
	quiet(argc > 2 ? atoi(argv[2]) : 100);
	mark("ldb-begin");
	quiet(100);
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
	quiet(100);
	mark("ldb-end");
	quiet(100);

	for (i = 0; i < 2; i++) {
		printf("fact futex tid=%d uaddr=%lx waits=%ld wakes=0\n", side[i].tid,
		       (unsigned long)&word[i], side[i].waits);
		printf("fact futex tid=%d uaddr=%lx waits=0 wakes=%ld\n", side[i].tid,
		       (unsigned long)&word[!i], side[i].wakes);
		print_switches(side[i].tid);
	}
	print_switches(victim_tid);
	print_switches(urgent_tid);
	print_switches(mover_tid);
	printf("fact preempt victim=%d by=%d times=%d\n", victim_tid, urgent_tid, rounds);
	printf("fact migrate tid=%d times=%d\n", mover_tid, rounds);
	printf("fact group pid=%d\n", getpid());
	print_tasks();
	fflush(stdout);
	pthread_barrier_wait(&end);
	for (i = 0; i < 5; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
