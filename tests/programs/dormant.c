// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program observes how a library that it does not use affects it.
 *
 *	dormant look		threads, descriptors, and pages that no file backs, one
 *				"NAME NUMBER" a line
 *	dormant faults		mappings; page faults until main(), and of a child that just ends
 *	dormant lock		mlockall(): "locked", or why not
 *	dormant newuser		unshare(CLONE_NEWUSER): "unshared", or why not
 *	dormant leave-main	main() leaves by pthread_exit(); another thread works on until
 *				the input has ended, and a little longer; exit status 3
 *	dormant stay		main() works until it is killed
 *	dormant blank		does nothing; the constructor of another library has cleared the
 *				environment
 *	dormant pipe		writes "x" to its output, closes it and sleeps for 2 s
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <dirent.h>
#include <unistd.h>

static volatile unsigned long sum;

__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 1000000; i++)
		sum += i;
}

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	int n = 0;

	while (dir && (d = readdir(dir)))
		n += d->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

/*
 * Counts the pages of anonymous mappings without a name, except a mapping that follows a file
 * without a hole: that is the end of a library's data, and memory that the loader puts beside it.
 */
static unsigned long count_anonymous(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to, end = 0, n = 0;
	char line[512];
	int of_file = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx", &from, &to) != 2 || strchr(line, '['))
			continue;
		of_file = strchr(line, '/') || (of_file && from == end);
		end = to;
		if (!of_file)
			n += (to - from) / 4096;
	}
	if (f)
		fclose(f);
	return n;
}

static int count_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	int c, n = 0;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

static int faults(void)
{
	struct rusage start, child;
	pid_t pid;

	getrusage(RUSAGE_SELF, &start);
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	getrusage(RUSAGE_CHILDREN, &child);
	printf("start %ld\nchild %ld\nmappings %d\n", start.ru_minflt, child.ru_minflt, count_mappings());
	return 0;
}

static void *worker(void *arg)
{
	struct timespec ts = { 0, 1000000 };
	char c;

	(void)arg;
	while (read(0, &c, 1) > 0)
		;
	for (int i = 0; i < 10; i++) {
		work();
		nanosleep(&ts, NULL);
	}
	puts("worked");
	exit(3);
}

static void *busy(void *arg)
{
	for (;;)
		work();
	return arg;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t t;

	setvbuf(stdout, NULL, _IOLBF, 0);
	work();
	if (!strcmp(what, "look")) {
		printf("threads %d\n", count_entries("/proc/self/task"));
		printf("descriptors %d\n", count_entries("/proc/self/fd"));
		printf("anonymous %lu\n", count_anonymous());
	} else if (!strcmp(what, "faults")) {
		return faults();
	} else if (!strcmp(what, "lock")) {
		puts(mlockall(MCL_CURRENT | MCL_FUTURE) ? strerror(errno) : "locked");
	} else if (!strcmp(what, "newuser")) {
		puts(unshare(CLONE_NEWUSER) ? strerror(errno) : "unshared");
	} else if (!strcmp(what, "leave-main")) {
		pthread_create(&t, NULL, busy, NULL);
		pthread_create(&t, NULL, worker, NULL);
		pthread_exit(NULL);
	} else if (!strcmp(what, "stay")) {
		busy(NULL);
	} else if (!strcmp(what, "pipe")) {
		puts("x");
		fclose(stdout);
		close(2);
		sleep(2);
	}
	return 0;
}
