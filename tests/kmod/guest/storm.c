// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program creates threads and processes that come and go, for storms.t and cycles.t.
 *
 *	storm brief		two threads wake each other 20 times, and the program ends
 *	storm threads N		N threads, 50 at a time; each takes a mutex, which the
 *				creator holds until all 50 exist
 *	storm fork N		N children: of four, one sleeps, one executes another
 *				program, one has threads, one dies of a signal
 *	storm exec N		executes itself N times, with a thread running each time
 *	storm forever		does what brief does, until it is killed
 *
 * At its end it prints "storm: done".
 */
#include <ldb/ldb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCH	50

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, nr_turns = 20;

static void quiet(long us)
{
	struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

__attribute__((noinline)) static void take_turns(int side)
{
	int i;

	for (i = 0; i < nr_turns || nr_turns < 0; i++) {
		ldb_req_start(i * 2 + side + 1, NULL);
		pthread_mutex_lock(&lock);
		while (turn != side)
			pthread_cond_wait(&changed, &lock);
		turn = !side;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
		ldb_req_end(i * 2 + side + 1);
		if (nr_turns < 0)
			quiet(1000);
	}
}

static void *other_side(void *arg)
{
	take_turns(1);
	return NULL;
}

static void brief(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, other_side, NULL))
		exit(1);
	take_turns(0);
	pthread_join(thread, NULL);
}

static void *short_life(void *arg)
{
	pthread_mutex_lock(&lock);
	turn++;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void threads(int nr)
{
	pthread_t thread[BATCH];
	int i, n;

	for (; nr > 0; nr -= n) {
		n = nr < BATCH ? nr : BATCH;
		pthread_mutex_lock(&lock);
		for (i = 0; i < n; i++)
			if (pthread_create(&thread[i], NULL, short_life, NULL))
				exit(1);
		pthread_mutex_unlock(&lock);
		for (i = 0; i < n; i++)
			pthread_join(thread[i], NULL);
	}
}

static void child(int i)
{
	switch (i % 4) {
	case 0:
		quiet(100);
		_exit(0);
	case 1:
		execl("/bin/true", "true", NULL);
		_exit(127);
	case 2:
		brief();
		_exit(0);
	default:
		raise(SIGKILL);
	}
}

static void forks(int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		pid_t pid = fork();

		if (pid == 0)
			child(i);
		if (pid < 0)
			exit(1);
		/* At most nine children exist at a time. */
		if (i >= 8)
			wait(NULL);
	}
	while (wait(NULL) > 0)
		;
}

static void *busy(void *arg)
{
	for (;;)
		quiet(50);
	return NULL;
}

static void exec_again(int nr, char **argv)
{
	pthread_t thread;
	char left[16];

	if (nr == 0)
		return;
	pthread_create(&thread, NULL, busy, NULL);
	quiet(500);
	snprintf(left, sizeof(left), "%d", nr - 1);
	execl("/proc/self/exe", argv[0], "exec", left, NULL);
	exit(1);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "brief";
	int nr = argc > 2 ? atoi(argv[2]) : 100;

	if (!strcmp(mode, "threads")) {
		threads(nr);
	} else if (!strcmp(mode, "fork")) {
		forks(nr);
	} else if (!strcmp(mode, "exec")) {
		exec_again(nr, argv);
	} else {
		if (!strcmp(mode, "forever"))
			nr_turns = -1;
		brief();
	}
	puts("storm: done");
	return 0;
}
