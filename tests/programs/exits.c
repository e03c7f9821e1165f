// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program ends in one of these ways, while a second thread is at work:
 *
 *	exits return|exit|_exit|quick_exit|abort|signal|exit-thread|main-thread|cancel
 *
 * exit-thread: the second thread calls exit().  main-thread: main calls
 * pthread_exit() and the second thread ends the process by returning.
 * The exit status is 7 (main-thread, cancel: 0); abort ends by SIGABRT, signal by SIGKILL.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *how;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* noinline, so that it has a frame record. */
__attribute__((noinline)) void work_us(unsigned us)
{
	uint64_t end = now_ns() + us * 1000ULL;

	while (now_ns() < end)
		;
}

static void at_exit(void)
{
	printf("exits: exit handler\n");
}

static void *second(void *arg)
{
	(void)arg;
	if (!strcmp(how, "main-thread")) {
		work_us(20000);
		printf("exits: last thread\n");
		return NULL;
	}
	if (!strcmp(how, "exit-thread")) {
		work_us(20000);
		exit(7);
	}
	for (;;) {
		work_us(100);
		pthread_testcancel();
	}
}

int main(int argc, char **argv)
{
	pthread_t thread;

	how = argc > 1 ? argv[1] : "return";
	setvbuf(stdout, NULL, _IOLBF, 0);
	atexit(at_exit);
	if (pthread_create(&thread, NULL, second, NULL))
		return 1;
	work_us(50000);
	if (!strcmp(how, "return"))
		return 7;
	if (!strcmp(how, "exit"))
		exit(7);
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "quick_exit"))
		quick_exit(7);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "signal"))
		raise(SIGKILL);
	if (!strcmp(how, "exit-thread"))
		for (;;)
			work_us(1000);
	if (!strcmp(how, "main-thread"))
		pthread_exit(NULL);
	if (!strcmp(how, "cancel")) {
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		return 0;
	}
	fprintf(stderr, "exits: unknown way: %s\n", how);
	return 2;
}
