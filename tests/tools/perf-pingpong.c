// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures the cost of recording without the module: a process that switches between threads, makes
 * system calls or computes runs with a recorder or without.
 *
 *	perf-pingpong KIND COUNT CPU RECORDER_CPU MODE
 *
 * KIND: pipe, futex (two threads on one CPU that wait for each other), syscall, compute.  MODE:
 * none; bpf; or a mode of perf: tracepoints, all, own.  bpf-sleep and tracepoints-sleep also record
 * system calls in which a thread sleeps; bpf-calls and tracepoints-calls record all system calls of
 * 10 us and more.  With "-other" at the end a sleeping process is recorded, and not the one that
 * works.  samples takes 199 samples a second on each CPU.  It prints "KIND COUNT NS", as
 * tests/programs/call-storm.c does.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "record/kernel/ebpf.h"
#include "record/perf/perf.h"
#include "record/perf/samples.h"

#define DRAIN_US	10000
#define CALL_MIN_NS	10000
#define SAMPLES_HZ	199

static long count;
static int ping[2], pong[2];
static int turn;

static void die(const char *what)
{
	fprintf(stderr, "perf-pingpong: %s\n", what);
	exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cannot use that CPU");
}

static void pass(int from, int to)
{
	char c = 0;

	if ((from >= 0 && read(from, &c, 1) != 1) || (to >= 0 && write(to, &c, 1) != 1))
		die("pipe");
}

static void *pipe_partner(void *arg)
{
	for (long i = 0; i < count; i++)
		pass(ping[0], pong[1]);
	return NULL;
}

static void take_turn(int mine)
{
	int seen;

	while ((seen = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) % 2 != mine)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
	__atomic_store_n(&turn, seen + 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *futex_partner(void *arg)
{
	for (long i = 0; i < count; i++)
		take_turn(1);
	return NULL;
}

static void compute(void)
{
	uint64_t x = 1;

	for (long i = 0; i < count; i++)
		__asm__ volatile("imul $3, %0, %0" : "+r"(x));
}

static void work(const char *kind)
{
	bool is_pipe = !strcmp(kind, "pipe");
	pthread_t t;

	if (!strcmp(kind, "compute")) {
		compute();
		return;
	}
	if (!strcmp(kind, "syscall")) {
		for (long i = 0; i < count; i++)
			syscall(SYS_getppid);
		return;
	}
	if (pthread_create(&t, NULL, is_pipe ? pipe_partner : futex_partner, NULL))
		die("pthread_create");
	for (long i = 0; i < count; i++) {
		if (is_pipe) {
			pass(-1, ping[1]);
			pass(pong[0], -1);
		} else {
			take_turn(0);
		}
	}
	pthread_join(t, NULL);
}

/* The worker prints CPU time, because other load on this CPU is not a cost of the recording. */
static pid_t start_worker(const char *kind, int cpu, int go)
{
	struct timespec begin, end;
	pid_t pid = fork();
	char c;

	if (pid)
		return pid;
	pin(cpu);
	if (read(go, &c, 1) != 1)
		_exit(1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	work(kind);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	printf("%s %ld %lld\n", kind, count,
	       (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec);
	fflush(stdout);
	_exit(0);
}

static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (;;)
		pause();
}

static void ignore(void *arg, unsigned kind, const void *row)
{
}

static struct kernel_source *start_recording(const char *mode, pid_t pid)
{
	static const struct perf_sink sink = { .row = ignore };
	struct perf_options o = { .pid = pid, .clock_id = clock_choose() };
	struct kernel_source *p;
	char why[512];

	if (!strncmp(mode, "none", 4) || !strncmp(mode, "bpf", 3) || !strcmp(mode, "samples"))
		return NULL;
	o.best = !strncmp(mode, "all", 3) ? PERF_SWITCHES_ALL :
		 !strncmp(mode, "own", 3) ? PERF_SWITCHES_OWN : PERF_TRACEPOINTS;
	o.has_all_calls = strstr(mode, "-calls");
	o.has_calls = o.has_all_calls || strstr(mode, "-sleep");
	o.call_min_ns = CALL_MIN_NS;
	p = perf_open(&o, &sink, why, sizeof(why));
	if (!p)
		die(why);
	if (perf_mode(p) != o.best || !(p->events & LDB_GROUP_CALL) != !o.has_calls ||
	    !(p->events & LDB_GROUP_CALL_ALL) != !o.has_all_calls)
		die(p->why_not_better);
	return p;
}

/*
 * Starts the BPF programs, if the mode has them.  Nobody reads their rings, so these overflow in
 * the end; and nobody formats the rows of perf.
 */
static struct kernel_source *start_programs(const char *mode, pid_t pid, struct session *s)
{
	struct ebpf_options o = { .pid = pid, .clock_id = clock_choose(), .ring_bytes = 64 << 20,
				  .call_min_ns = CALL_MIN_NS };
	struct kernel_source *e;
	char why[512];

	if (strncmp(mode, "bpf", 3))
		return NULL;
	o.has_all_calls = strstr(mode, "-calls");
	o.has_calls = o.has_all_calls || strstr(mode, "-sleep");
	if (session_open(s, o.ring_bytes, 1, o.clock_id, 1000000000))
		die("no session");
	e = ebpf_open(s, &o, why, sizeof(why));
	if (!e)
		die(why);
	return e;
}

static struct samples *start_samples(const char *mode, pid_t pid)
{
	struct samples_options o = {
		.pid = pid, .hz = SAMPLES_HZ, .cycles_hz = 2000000000, .clock_id = clock_choose(), .row = ignore,
	};
	struct samples *s;
	char why[512];

	if (strcmp(mode, "samples"))
		return NULL;
	o.modules = modules_alloc(NULL, 0, pid);
	s = o.modules ? samples_open(&o, why, sizeof(why)) : NULL;
	if (!s)
		die(why);
	return s;
}

int main(int argc, char **argv)
{
	pid_t worker, sleeper = 0;
	struct session session;
	struct kernel_source *p;
	struct kernel_source *e;
	struct samples *s;
	int go[2], status;

	if (argc != 6 || (count = atol(argv[2])) <= 0)
		die("usage: perf-pingpong KIND COUNT CPU RECORDER_CPU MODE");
	if (pipe(go) || pipe(ping) || pipe(pong))
		die(strerror(errno));
	worker = start_worker(argv[1], atoi(argv[3]), go[0]);
	if (strstr(argv[5], "-other"))
		sleeper = start_sleeper();
	pin(atoi(argv[4]));
	p = start_recording(argv[5], sleeper ? sleeper : worker);
	e = start_programs(argv[5], sleeper ? sleeper : worker, &session);
	s = start_samples(argv[5], worker);
	if (write(go[1], "", 1) != 1)
		die(strerror(errno));
	while (!waitpid(worker, &status, WNOHANG)) {
		usleep(DRAIN_US);
		if (p)
			p->ops->poll(p);
		if (s)
			samples_poll(s);
	}
	if (s)
		samples_finish(s);
	samples_close(s);
	if (p)
		p->ops->finish(p);
	if (p && perf_lost(p))
		fprintf(stderr, "perf-pingpong: %llu events lost\n",
			(unsigned long long)perf_lost(p));
	if (p)
		p->ops->close(p);
	if (e)
		e->ops->close(e);
	if (sleeper)
		kill(sleeper, SIGKILL);
	return status != 0;
}
