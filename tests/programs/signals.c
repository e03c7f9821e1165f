// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program has instrumented signal handlers, which interrupt instrumented code every 200 us:
 * on the normal stack and on an alternate one, with calls inside and with requests tagged from
 * the handler.  Usage: signals [MILLISECONDS]; it prints the result of the work, which is always
 * the same.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ldb/ldb.h>

static volatile sig_atomic_t nr_signals;
static char alt_stack[65536];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* noinline, here and below: these frames are interrupted, and interrupt. */
__attribute__((noinline)) int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void on_alarm(int sig)
{
	int saved = errno;

	(void)sig;
	ldb_req_start(nr_signals, NULL);
	if (fib(8) != 21)
		abort();
	ldb_req_end(nr_signals);
	nr_signals++;
	errno = saved;
}

int main(int argc, char **argv)
{
	int ms = argc > 1 ? atoi(argv[1]) : 500;
	struct itimerval timer = { { 0, 200 }, { 0, 200 } };
	stack_t ss = { .ss_sp = alt_stack, .ss_size = sizeof(alt_stack) };
	struct sigaction sa = { .sa_handler = on_alarm };
	uint64_t begin = now_ns(), wrong = 0, rounds = 0;

	if (sigaltstack(&ss, NULL))
		return 1;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (now_ns() < begin + ms * 1000000ULL) {
		/* In the second half of the time the handler runs on the alternate stack. */
		if (!(sa.sa_flags & SA_ONSTACK) && now_ns() > begin + ms * 500000ULL) {
			sa.sa_flags |= SA_ONSTACK;
			sigaction(SIGALRM, &sa, NULL);
		}
		errno = 5;
		wrong += fib(15) != 610 || errno != 5;
		rounds++;
	}
	memset(&timer, 0, sizeof(timer));
	setitimer(ITIMER_REAL, &timer, NULL);
	printf("signals: %s, %s, %lu wrong\n", rounds ? "worked" : "idle",
	       nr_signals > 10 ? "interrupted" : "not interrupted", (unsigned long)wrong);
	return wrong || nr_signals <= 10;
}
