// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A family of processes.
 *
 *	family prefork N MS	a master and N workers, each works for MS milliseconds; the master
 *				waits for them, and prints the sum of their statuses (1 + 2 + ...)
 *	family pool N MS	the same, but workers sleep 1 ms after each millisecond of work
 *	family daemon FILE MS	forks twice and leaves its session as daemon(3) does; the
 *				grandchild works MS milliseconds and writes "done" to FILE
 *	family stage NAME	copies its input to its output, line by line, and works 1 ms for
 *				each; ends with status 3
 *	family serve N MS	forks a child for each piece of work, at most N at a time, for MS
 *				milliseconds; each works 30 ms
 *	family storm N		N children, 20 at a time, that end at once
 *	family deep N MS	each forks the next one, N of them, and waits for it
 *	family user UID MS	a child that changes its user at once, and works
 *	family filter MS	a child that works, puts a seccomp filter on itself, and works
 *	family ways		children by vfork(), posix_spawn(), system() and popen(): each runs
 *				"family stage"
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STATUS_OF_STAGE	3

extern char **environ;
static unsigned rest_us;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Tests look for the names of these functions, so they are not inlined. */

__attribute__((noinline)) void spin_us(unsigned us)
{
	uint64_t end = now_ns() + us * 1000ULL;

	while (now_ns() < end)
		;
}

__attribute__((noinline)) void work(unsigned ms)
{
	for (unsigned i = 0; i < ms; i++) {
		spin_us(1000);
		if (rest_us)
			usleep(rest_us);
	}
}

__attribute__((noinline)) int worker(int number, unsigned ms)
{
	work(ms);
	return number;
}

static int wait_status(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int prefork(int nr, unsigned ms)
{
	int sum = 0;
	pid_t pids[64];

	for (int i = 0; i < nr; i++) {
		pids[i] = fork();
		if (!pids[i])
			exit(worker(i + 1, ms));
	}
	for (int i = 0; i < nr; i++)
		sum += wait_status(pids[i]);
	printf("family: %d\n", sum);
	return 0;
}

static int become_daemon(const char *path, unsigned ms)
{
	FILE *f;

	if (fork())
		return 0;
	setsid();
	if (fork())
		_exit(0);
	worker(0, ms);
	f = fopen(path, "w");
	if (!f)
		return 1;
	fprintf(f, "done\n");
	return fclose(f) ? 1 : 0;
}

__attribute__((noinline)) int stage(const char *name)
{
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		work(1);
		printf("%s %s", name, line);
	}
	return STATUS_OF_STAGE;
}

static int storm(int nr)
{
	int sum = 0, status;

	for (int i = 0; i < nr; i++) {
		if (i >= 20 && wait(&status) > 0)
			sum += WEXITSTATUS(status);
		if (!fork())
			_exit(i % 2);
	}
	while (wait(&status) > 0)
		sum += WEXITSTATUS(status);
	printf("family: %d\n", sum);
	return 0;
}

static int serve(int nr_max, unsigned ms)
{
	uint64_t end = now_ns() + ms * 1000000ULL;
	int nr = 0, sum = 0, status;
	pid_t pid;

	while (now_ns() < end) {
		if (nr < nr_max) {
			pid = fork();
			if (!pid)
				exit(worker(1, 30));
			nr += pid > 0;
			usleep(5000);
		} else if (wait(&status) > 0) {
			nr--;
			sum += WIFEXITED(status) ? WEXITSTATUS(status) : 0;
		}
	}
	while (wait(&status) > 0)
		sum += WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	return sum ? 0 : 1;
}

static int deep(int nr, unsigned ms)
{
	pid_t pid = nr > 1 ? fork() : -1;

	if (!pid)
		exit(deep(nr - 1, ms));
	worker(nr, ms);
	return nr > 1 ? wait_status(pid) : 5;
}

static int change_user(uid_t uid, unsigned ms)
{
	pid_t pid = fork();

	if (pid)
		return wait_status(pid);
	if (setgid(uid) || setuid(uid) || prctl(PR_SET_DUMPABLE, 1))
		exit(1);
	worker(0, ms);
	exit(setuid(0) ? 4 : 1);
}

/* Forks a child that works, installs a filter that allows everything, and works again. */
static int add_filter(unsigned ms)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog filter = { .len = 1, .filter = code };
	pid_t pid = fork();

	if (pid)
		return wait_status(pid);
	worker(0, ms);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		exit(1);
	worker(0, ms);
	exit(6);
}

static int ways(char *self)
{
	char *const argv[] = { self, "stage", "x", NULL };
	char command[4200];
	int sum = 0;
	pid_t pid;
	FILE *f;

	snprintf(command, sizeof(command), "echo \"it's\" | %s stage x", self);
	pid = vfork();
	if (!pid) {
		execv(self, argv);
		_exit(127);
	}
	sum += wait_status(pid);
	if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
		return 1;
	sum += wait_status(pid);
	fflush(stdout);
	sum += WEXITSTATUS(system(command));
	f = popen(command, "r");
	if (!f || !fgets(command, sizeof(command), f))
		return 1;
	sum += WEXITSTATUS(pclose(f));
	printf("%sfamily: %d\n", command, sum);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *arg = argc > 2 ? argv[2] : "";
	int number = atoi(arg);
	unsigned ms = argc > 3 ? atoi(argv[3]) : 0;

	rest_us = strcmp(what, "pool") ? 0 : 1000;
	if ((rest_us || !strcmp(what, "prefork")) && number <= 64)
		return prefork(number, ms);
	if (!strcmp(what, "daemon"))
		return become_daemon(arg, ms);
	if (!strcmp(what, "stage"))
		return stage(arg);
	if (!strcmp(what, "serve"))
		return serve(number, ms);
	if (!strcmp(what, "storm"))
		return storm(number);
	if (!strcmp(what, "deep"))
		return deep(number, ms);
	if (!strcmp(what, "user"))
		return change_user(number, ms);
	if (!strcmp(what, "filter"))
		return add_filter(number);
	if (!strcmp(what, "ways"))
		return ways(argv[0]);
	fprintf(stderr, "usage: family prefork|pool|daemon|stage|serve|storm|deep|user|filter|ways ...\n");
	return 2;
}
