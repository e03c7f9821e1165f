// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread of this program switches to a stack that it has allocated itself, and unmaps most of its
 * previous stack, together with the records of its callers.
 *
 *	stack-gone munmap|mprotect|mremap|trim [FILE]
 *
 * It works for 0.3 s before and for some time after, and then until FILE exists.  trim: makes the
 * lowest page of a stack that is in use inaccessible, as a guard.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define SIZE	(256 * 1024)
/* The upper end belongs to glibc: the thread's own block is there. */
#define GONE	(160 * 1024)
#define PAD	(128 * 1024)

static volatile unsigned long sum;
static const char *how, *file;
static char *old_stack;
static ucontext_t first, second;

__attribute__((noinline)) static void work(void)
{
	for (int i = 0; i < 20000; i++)
		sum += i;
	getppid();
}

__attribute__((noinline)) static void work_for(int ms)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += ms % 1000 * 1000000L;
	end.tv_sec += ms / 1000 + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do {
		work();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

/* This function has no record: while it runs, the newest record is on the stack that is gone. */
__attribute__((no_instrument_function)) static void elsewhere(void)
{
	int rc = 0;

	if (!strcmp(how, "munmap"))
		rc = munmap(old_stack, GONE);
	else if (!strcmp(how, "mprotect"))
		rc = mprotect(old_stack, GONE, PROT_NONE);
	else if (!strcmp(how, "mremap"))
		rc = mremap(old_stack, GONE, GONE, MREMAP_MAYMOVE | MREMAP_FIXED,
			    mmap(NULL, GONE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) == MAP_FAILED;
	else
		rc = mprotect(old_stack, 4096, PROT_NONE);
	for (int i = 0; i < 20000; i++)
		work();
	while (file && access(file, F_OK))
		work_for(10);
	puts(rc ? "failed" : "went on");
	fflush(stdout);
	_exit(rc ? 1 : 0);
}

__attribute__((noinline)) static void go_elsewhere(void)
{
	work_for(300);
	if (!strcmp(how, "trim"))
		elsewhere();
	swapcontext(&first, &second);
}

static void *thread(void *arg)
{
	static char own[SIZE] __attribute__((aligned(4096)));
	volatile char pad[PAD];		/* so that later frames lie in the part that is unmapped */

	getcontext(&second);
	second.uc_stack.ss_sp = own;
	second.uc_stack.ss_size = sizeof(own);
	makecontext(&second, elsewhere, 0);
	pad[0] = 1;
	go_elsewhere();
	pad[PAD - 1] = pad[0];
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t t;

	how = argc > 1 ? argv[1] : "munmap";
	file = argc > 2 ? argv[2] : NULL;
	old_stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, old_stack, SIZE);
	pthread_create(&t, &attr, thread, NULL);
	pthread_join(t, NULL);
	return 2;
}
