// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread of this program has a seccomp filter: the process is killed if that thread makes any
 * other system call than clock_nanosleep().  The thread calls libraries until the file "stop"
 * exists.  The program is for tests/e2e/flows-attach.t.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int nr_calls, is_filtered;

static void *filtered(void *arg)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_nanosleep, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	struct timespec millisecond = { .tv_nsec = 1000000 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(77);
	for (is_filtered = 1;; nr_calls++) {
		if (strtol("12", NULL, 10) != 12)
			abort();
		clock_nanosleep(CLOCK_MONOTONIC, 0, &millisecond, NULL);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;
	int before;

	if (pthread_create(&thread, NULL, filtered, NULL))
		return 1;
	while (access("stop", F_OK))
		usleep(1000);
	/* the thread still makes calls */
	for (before = nr_calls; nr_calls == before;)
		usleep(1000);
	puts(is_filtered ? "right" : "no filter");
	fflush(stdout);
	_exit(0);
}
