// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks at the threads that it did not make, and has them leave.
 *
 *	give-way look		a line for each other thread: "NAME POLICY"
 *	give-way change NR	gives its group anew NR times, with pauses; "longest MS"
 *	give-way threads NR	makes and joins so many, one after the other; "longest MS"
 *	give-way wait SECONDS
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sum;

__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 100000; i++)
		sum += i;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static const char *policy_of(pid_t tid)
{
	switch (sched_getscheduler(tid)) {
	case SCHED_OTHER: return "other";
	case SCHED_IDLE: return "idle";
	default: return "?";
	}
}

static void look(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *e;

	usleep(300000);		/* they are lowered a moment after the program began */
	while (dir && (e = readdir(dir))) {
		char path[64], name[32] = "";
		FILE *f;

		if (e->d_name[0] == '.' || atoi(e->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%.16s/comm", e->d_name);
		f = fopen(path, "r");
		if (!f || !fgets(name, sizeof(name), f))
			continue;
		name[strcspn(name, "\n")] = '\0';
		printf("%s %s\n", name, policy_of(atoi(e->d_name)));
		fclose(f);
	}
}

static void *run(void *arg)
{
	work();
	return arg;
}

static void one_thread(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, run, NULL))
		pthread_join(t, NULL);
}

static void change(void)
{
	usleep(200000);		/* for the recorder, too, to be lowered by then */
	work();
	if (setegid(getegid()))
		exit(1);
}

static void longest(void (*fn)(void), int nr)
{
	long most = 0;

	for (int i = 0; i < nr; i++) {
		long begin = now_ms(), took;

		fn();
		took = now_ms() - begin;
		if (took > most)
			most = took;
	}
	printf("longest %ld\n", most);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int nr = argc > 2 ? atoi(argv[2]) : 1;

	work();
	if (!strcmp(what, "look"))
		look();
	else if (!strcmp(what, "change"))
		longest(change, nr);
	else if (!strcmp(what, "threads"))
		longest(one_thread, nr);
	else
		sleep(nr);
	work();
	return 0;
}
