// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program prints what priorities ldb's threads in it have, or makes calls that must wait for
 * these threads.
 *
 *	give-way look		a line for each of ldb's threads: "NAME POLICY"
 *	give-way change NR	sets its group id to the present one, NR times, with pauses; prints
 *				"longest MS"
 *	give-way threads NR	creates and joins NR threads, one after the other; prints "longest
 *				MS"
 *	give-way wait SECONDS	sleeps
 *	give-way cpus		for each of ldb's threads: prints "NAME CPUS"
 *	give-way slices		raises the threads: prints "NAME NANOSECONDS"; nothing if the kernel
 *				has no slices
 *	give-way filtered	prints policies after ldb has attached; one thread has a filter
 *	give-way raw-fork	prints policies after a child of which ldb does not know made many
 *				threads
 *	give-way load LIBRARY	after a while, calls the library's late_function() for a second
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

static void print_policy(const char *name, const char *tid)
{
	printf("%s %s\n", name, policy_of(atoi(tid)));
}

static void print_cpus(const char *name, const char *tid)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Cpus_allowed_list:", 18))
			printf("%s %s", name, line + 19);
	if (f)
		fclose(f);
}

struct policy {		/* the argument of sched_setattr() */
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/*
 * Prints the slice of a thread.  The thread gets normal priority first, because the kernel does not
 * report a slice for SCHED_IDLE.
 */
static void print_slice(const char *name, const char *tid)
{
	struct sched_param none = { 0 };
	struct policy p = { .size = sizeof(p) };

	if (!sched_setscheduler(atoi(tid), SCHED_OTHER, &none) &&
	    !syscall(SYS_sched_getattr, atoi(tid), &p, sizeof(p), 0))
		printf("%s %lu\n", name, (unsigned long)p.runtime);
}

/* Since Linux 6.12 a thread may choose its slice; trying it changes this program for good. */
static int has_slices(void)
{
	struct policy p = { .size = sizeof(p), .runtime = 300000 };

	return !syscall(SYS_sched_setattr, 0, &p, 0) &&
	       !syscall(SYS_sched_getattr, 0, &p, sizeof(p), 0) && p.runtime == 300000;
}

/* Calls fn for each of ldb's threads; returns their number. */
static int each_of_ldb(void (*fn)(const char *name, const char *tid))
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir))) {
		char path[64], name[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%.16s/comm", e->d_name);
		f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (!f)
			continue;
		if (!fgets(name, sizeof(name), f))
			name[0] = '\0';
		fclose(f);
		name[strcspn(name, "\n")] = '\0';
		if (strncmp(name, "ldb-", 4))
			continue;
		n++;
		if (fn)
			fn(name, e->d_name);
	}
	if (dir)
		closedir(dir);
	return n;
}

static void look(void (*fn)(const char *name, const char *tid))
{
	/* ldb's threads get their names and their low priority a moment after they start */
	usleep(300000);
	each_of_ldb(fn);
}

static void *stay_filtered(void *arg)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog all = { 1, &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all, 0, 0))
		exit(1);
	pause();
	return arg;
}

static void filtered(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, stay_filtered, NULL))
		exit(1);
	for (int i = 0; i < 200 && each_of_ldb(NULL) < 2; i++)
		usleep(50000);
	look(print_policy);
}

static void load(const char *library)
{
	long begin;
	void *handle, (*late)(void);

	usleep(300000);
	handle = dlopen(library, RTLD_NOW);
	late = handle ? (void (*)(void))dlsym(handle, "late_function") : NULL;
	if (!late)
		exit(1);
	for (begin = now_ms(); now_ms() - begin < 1000;)
		late();
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

/* These threads contend for the lock with which ldb protects its list of threads. */
static void *make_threads(void *arg)
{
	for (long end = now_ms() + 2000; now_ms() < end;)
		one_thread();
	return arg;
}

static void raw_fork(void)
{
	pthread_t t[60];
	long pid;
	int i;

	usleep(300000);
	pid = syscall(SYS_fork);
	if (!pid) {
		for (i = 0; i < 60; i++)
			if (pthread_create(&t[i], NULL, make_threads, NULL))
				break;
		while (i--)
			pthread_join(t[i], NULL);
		_exit(0);
	}
	if (waitpid(pid, NULL, 0) == pid)
		look(print_policy);
}

static void change(void)
{
	usleep(200000);		/* time for the recorder to lower its priority, too */
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
		look(print_policy);
	else if (!strcmp(what, "cpus"))
		look(print_cpus);
	else if (!strcmp(what, "slices") && has_slices())
		look(print_slice);
	else if (!strcmp(what, "filtered"))
		filtered();
	else if (!strcmp(what, "raw-fork"))
		raw_fork();
	else if (!strcmp(what, "load"))
		load(argv[2]);
	else if (!strcmp(what, "change"))
		longest(change, nr);
	else if (!strcmp(what, "threads"))
		longest(one_thread, nr);
	else
		sleep(nr);
	work();
	return 0;
}
