/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tests of perf with the real kernel share this file.  It starts a program to be recorded (a
 * child that waits until it may begin), and collects the rows.
 */
#ifndef TESTS_PERF_LIVE_H
#define TESTS_PERF_LIVE_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/ldb.h>
#include "record/perf/perf.h"
#include "record/session/session.h"
#include "tap.h"

#define LIVE_FN		static __attribute__((unused))
#define THREADS_MAX	8

/* A thread of the program reports this about itself. */
struct said {
	pid_t tid;
	long nvcsw, nivcsw;	/* switches between begin and end: slept, was preempted */
	uint64_t begin, end;
};

struct report {
	struct said threads[THREADS_MAX];
	bool is_realtime;
};

struct program {
	pid_t pid;
	int go, answer;		/* write a byte to go; read a struct report from answer */
	struct report report;
};

struct rows {
	struct ldb_row_sched *rows;
	size_t nr, room;
	uint64_t nr_lost;
	unsigned nr_tasks;
};

static unsigned live_clock;

LIVE_FN int first_cpu(void)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			return i;
	return 0;
}

LIVE_FN int last_cpu(void)
{
	int last = 0;
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			last = i;
	return last;
}

LIVE_FN int pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* Returns false if the user lacks the privilege. */
LIVE_FN bool go_realtime(int priority)
{
	struct sched_param p = { .sched_priority = priority };

	return !sched_setscheduler(0, SCHED_FIFO, &p);
}

LIVE_FN void sleep_us(long us)
{
	nanosleep(&(struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 }, NULL);
}

/* Reads the counters and the time together: again until no switch came in between. */
LIVE_FN void take_counts(struct said *s, bool at_end)
{
	struct rusage a, b;
	uint64_t now;

	s->tid = gettid();
	do {
		getrusage(RUSAGE_THREAD, &a);
		now = clock_now(live_clock);
		getrusage(RUSAGE_THREAD, &b);
	} while (a.ru_nvcsw != b.ru_nvcsw || a.ru_nivcsw != b.ru_nivcsw);
	s->nvcsw = at_end ? b.ru_nvcsw - s->nvcsw : b.ru_nvcsw;
	s->nivcsw = at_end ? b.ru_nivcsw - s->nivcsw : b.ru_nivcsw;
	*(at_end ? &s->end : &s->begin) = now;
}

typedef void subject_fn(struct report *r);

LIVE_FN void wait_asleep(pid_t pid)
{
	char path[64], state = '?';

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'S') {
		FILE *f = fopen(path, "r");

		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			bail_out("the program to record has ended");
		fclose(f);
		sleep_us(1000);
	}
}

/* The program sleeps until it may run, and reports before it ends. */
LIVE_FN void program_start(struct program *p, subject_fn *fn)
{
	int go[2], answer[2];
	struct report r;
	char c;

	memset(p, 0, sizeof(*p));
	fflush(stdout);
	if (pipe(go) || pipe(answer))
		bail_out("pipe");
	p->pid = fork();
	if (!p->pid) {
		close(go[1]);
		close(answer[0]);
		memset(&r, 0, sizeof(r));
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		fn(&r);
		_exit(write(answer[1], &r, sizeof(r)) != sizeof(r));
	}
	close(go[0]);
	close(answer[1]);
	p->go = go[1];
	p->answer = answer[0];
	wait_asleep(p->pid);
}

LIVE_FN void live_row(void *arg, unsigned kind, const void *row)
{
	struct rows *r = arg;

	switch (kind) {
	case LDB_BLK_SCHED:
		if (r->nr == r->room) {
			r->room = r->room ? 2 * r->room : 4096;
			r->rows = realloc(r->rows, r->room * sizeof(*r->rows));
		}
		r->rows[r->nr++] = *(const struct ldb_row_sched *)row;
		break;
	case LDB_BLK_TASK:
		r->nr_tasks++;
		break;
	case LDB_BLK_LOST:
		r->nr_lost += ((const struct ldb_row_lost *)row)->count;
		break;
	}
}

LIVE_FN struct kernel_source *live_open(pid_t pid, enum perf_mode best, size_t ring_bytes, struct rows *rows,
			       char *why, size_t size)
{
	struct perf_options o = {
		.pid = pid, .clock_id = live_clock, .best = best, .ring_bytes = ring_bytes,
	};
	struct perf_sink sink = { live_row, rows };

	memset(rows, 0, sizeof(*rows));
	return perf_open(&o, &sink, why, size);
}

LIVE_FN void live_close(struct kernel_source *p)
{
	if (p)
		p->ops->close(p);
}

/* Runs the program to its end; drain: meanwhile reads what perf records. */
LIVE_FN void live_run(struct kernel_source *p, struct program *prog, bool drain)
{
	struct pollfd fd = { .fd = prog->answer, .events = POLLIN };
	int status;

	if (write(prog->go, "", 1) != 1)
		bail_out("the program to record has ended");
	while (poll(&fd, 1, 5) == 0)
		if (drain)
			p->ops->poll(p);
	if (read(prog->answer, &prog->report, sizeof(prog->report)) != sizeof(prog->report))
		memset(&prog->report, 0, sizeof(prog->report));
	if (waitpid(prog->pid, &status, 0) != prog->pid || status)
		diag("the recorded program ended with status %x", status);
	close(prog->go);
	close(prog->answer);
	p->ops->finish(p);
}

#endif
