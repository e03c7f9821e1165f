// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This process creates others.
 *
 *	forker fork N		N children, one after the other, each works 5 ms,
 *				exits with status its number % 256; the parent works too
 *	forker threads N	the same, while a second thread works and locks
 *	forker vfork N		N times vfork and exec of /bin/true
 *	forker daemon FILE	forks and lets the parent exit (as memcached -d does);
 *				the child works 300 ms and then writes "done" to FILE
 *	forker exec PROG ARG...	works 50 ms, then becomes PROG
 *	forker env NAME		prints NAME's value, or "NAME is not set"
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <ldb/ldb.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool stop;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The function is not inlined, because a test looks for its name. */
__attribute__((noinline)) void work_us(unsigned us)
{
	uint64_t end = now_ns() + us * 1000ULL;

	while (now_ns() < end)
		;
}

static void *worker(void *arg)
{
	(void)arg;
	while (!stop) {
		pthread_mutex_lock(&lock);
		work_us(50);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static int fork_many(int nr)
{
	for (int i = 0; i < nr; i++) {
		int status;
		pid_t pid;

		/* The lock is held during the fork, as in programs with atfork handlers. */
		pthread_mutex_lock(&lock);
		pid = fork();
		pthread_mutex_unlock(&lock);
		if (pid < 0)
			return 1;
		if (!pid) {
			ldb_req_start(i, NULL);
			work_us(5000);
			ldb_req_end(i);
			exit(i % 256);
		}
		work_us(5000);
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != i % 256) {
			fprintf(stderr, "forker: child %d: status %#x\n", i, status);
			return 1;
		}
	}
	printf("forker: %d children\n", nr);
	return 0;
}

static int vfork_many(int nr)
{
	for (volatile int i = 0; i < nr; i++) {
		int status;
		pid_t pid = vfork();

		if (pid < 0)
			return 1;
		if (!pid) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		work_us(5000);
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	printf("forker: %d vforks\n", nr);
	return 0;
}

static int become_daemon(const char *path)
{
	FILE *f;
	pid_t pid = fork();

	if (pid < 0)
		return 1;
	if (pid)
		return 0;
	setsid();
	work_us(300000);
	f = fopen(path, "w");
	if (!f)
		return 1;
	fprintf(f, "done\n");
	return fclose(f) ? 1 : 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "fork"))
		return fork_many(atoi(argv[2]));
	if (!strcmp(what, "threads")) {
		pthread_t thread;
		int rc;

		if (pthread_create(&thread, NULL, worker, NULL))
			return 1;
		rc = fork_many(atoi(argv[2]));
		stop = true;
		pthread_join(thread, NULL);
		return rc;
	}
	if (!strcmp(what, "vfork"))
		return vfork_many(atoi(argv[2]));
	if (!strcmp(what, "daemon"))
		return become_daemon(argv[2]);
	if (!strcmp(what, "exec")) {
		work_us(50000);
		execvp(argv[2], argv + 2);
		perror("forker: exec");
		return 127;
	}
	if (!strcmp(what, "env")) {
		const char *value = getenv(argv[2]);

		if (value)
			printf("%s=%s\n", argv[2], value);
		else
			printf("%s is not set\n", argv[2]);
		return 0;
	}
	fprintf(stderr, "usage: forker fork|threads|vfork N, daemon FILE, exec PROG, env NAME\n");
	return 2;
}
