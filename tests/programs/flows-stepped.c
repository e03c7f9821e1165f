// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pauses the recording while a thread is at each instruction of a call, and of the runtime's code
 * around it.  The thread executes single steps (x86: the trap flag).  Function number n of the
 * library is called once as usual, and once with a pause at step n.  With the argument "later" the
 * recording resumes only after the call has returned, else before the thread goes on.  Prints how
 * many of the pauses were in a call.
 *
 * The file is built twice: as the program, and as the library that it calls (-DLIBRARY).
 */
#define TENS(X, n)	X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define ALL(X)		TENS(X, 1) TENS(X, 2) TENS(X, 3) TENS(X, 4) TENS(X, 5) TENS(X, 6) TENS(X, 7) TENS(X, 8) \
			TENS(X, 9) TENS(X, 10) TENS(X, 11) TENS(X, 12) TENS(X, 13) TENS(X, 14) TENS(X, 15) \
			TENS(X, 16) TENS(X, 17) TENS(X, 18) TENS(X, 19) TENS(X, 20)

#ifdef LIBRARY

#define DEFINE(n) int step_##n(int i) { return i + n; }
ALL(DEFINE)

#else

#define _GNU_SOURCE
#include <ldb/ldb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAP_FLAG	0x100
#define TAKES_EFFECT_MS	40

#define DECLARE(n) int step_##n(int i);
ALL(DECLARE)
#define CALL(n) static int call_##n(int i) { return step_##n(i); }
ALL(CALL)
#define ENTRY(n) call_##n,
static int (*const calls[])(int) = { ALL(ENTRY) };
#define NR (int)(sizeof(calls) / sizeof(calls[0]))

static volatile int step, stop_at;
static _Atomic int turn;	/* 1: the helper's */
static bool is_later;

/* A call of libc's function would be counted, so this makes the system call itself. */
static void pause_ms(long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
	long nr = SYS_nanosleep;

	__asm__ volatile("syscall" : "+a"(nr) : "D"(&t), "S"(0) : "rcx", "r11", "memory");
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)sig;
	(void)info;
	if (step++ != stop_at)
		return;
	u->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	atomic_store(&turn, 1);
	while (atomic_load(&turn))
		pause_ms(1);
}

static void *help(void *arg)
{
	for (;;) {
		while (!atomic_load(&turn))
			pause_ms(1);
		ldb_record_stop();
		pause_ms(TAKES_EFFECT_MS);
		if (!is_later) {
			ldb_record_start();
			pause_ms(TAKES_EFFECT_MS);
		}
		atomic_store(&turn, 0);
	}
	return arg;
}

static inline __attribute__((always_inline)) void set_trap_flag(int on)
{
	if (on)
		__asm__ volatile("subq $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; addq $128, %%rsp" : : : "memory", "cc");
	else
		__asm__ volatile("subq $128, %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; addq $128, %%rsp" : : : "memory", "cc");
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };
	pthread_t t;
	int nr_stops = 0;

	is_later = argc > 1 && !strcmp(argv[1], "later");
	sa.sa_sigaction = on_step;
	sigaction(SIGTRAP, &sa, NULL);
	pthread_create(&t, NULL, help, NULL);
	for (int i = 0; i < NR; i++) {
		calls[i](1);
		step = 0;
		stop_at = i;
		set_trap_flag(1);
		calls[i](2);
		set_trap_flag(0);
		nr_stops += step > i;
		if (is_later) {
			ldb_record_start();
			pause_ms(TAKES_EFFECT_MS);
		}
	}
	printf("%d\n", nr_stops);
	return 0;
}

#endif
