// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures calls that a library in the same process could make slower: prints "NAME NS", the CPU
 * time of a call, also that of its child.
 *
 *	dormant-calls N		N calls of most kinds, N / 4 of exec, 100 N of the fastest
 *	dormant-calls		only ends
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *self;

static void do_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void do_exec(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execl(self, self, "end", (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void do_setuid(void)
{
	if (setuid(getuid()))
		abort();
}

static void do_prctl(void)
{
	prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
}

static void do_syscall(void)
{
	syscall(SYS_getppid);
}

static void do_mlockall(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE) || munlockall())
		abort();
}

static void *nothing(void *arg)
{
	return arg;
}

static void do_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL))
		abort();
}

static double cpu_ns(void)
{
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	return (self.ru_utime.tv_sec + self.ru_stime.tv_sec + children.ru_utime.tv_sec +
		children.ru_stime.tv_sec) * 1e9 +
	       (self.ru_utime.tv_usec + self.ru_stime.tv_usec + children.ru_utime.tv_usec +
		children.ru_stime.tv_usec) * 1e3;
}

static void measure(const char *name, void (*call)(void), int n)
{
	double from;

	call();
	from = cpu_ns();
	for (int i = 0; i < n; i++)
		call();
	printf("%s %.1f\n", name, (cpu_ns() - from) / n);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	if (n <= 0)
		return 0;
	self = argv[0];
	measure("fork", do_fork, n);
	measure("exec", do_exec, n / 4 + 1);
	measure("setuid", do_setuid, n * 100);
	measure("prctl", do_prctl, n * 100);
	measure("syscall", do_syscall, n * 100);
	measure("mlockall", do_mlockall, n);
	measure("thread", do_thread, n);
	return 0;
}
