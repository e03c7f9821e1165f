// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests perf with the real kernel: compares it with the kernel's own counters and with reports by
 * the recorded threads themselves.  It is skipped if nothing is permitted.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include "perf-live.h"

#define ROUNDS		500

static int ping[2], pong[2];
static char why[512];

static void pass_ball(int from, int to)
{
	char c = 0;

	if (from >= 0 && read(from, &c, 1) != 1)
		_exit(1);
	if (to >= 0 && write(to, &c, 1) != 1)
		_exit(1);
}

static void *ponger(void *arg)
{
	struct said *s = arg;

	take_counts(s, false);
	for (int i = 0; i < ROUNDS; i++)
		pass_ball(ping[0], pong[1]);
	take_counts(s, true);
	return NULL;
}

/* Two threads are on one CPU: each has to sleep for the other to continue. */
static void subject_pingpong(struct report *r)
{
	pthread_t t;

	pin(first_cpu());
	r->is_realtime = go_realtime(10);
	if (pipe(ping) || pipe(pong))
		_exit(1);
	pthread_create(&t, NULL, ponger, &r->threads[1]);
	take_counts(&r->threads[0], false);
	for (int i = 0; i < ROUNDS; i++) {
		pass_ball(-1, ping[1]);
		pass_ball(pong[0], -1);
	}
	take_counts(&r->threads[0], true);
	pthread_join(t, NULL);
}

static bool is_between(const struct ldb_row_sched *row, const struct said *s)
{
	return row->tick >= (int64_t)s->begin && row->tick <= (int64_t)s->end;
}

/*
 * Counts the switches at which the thread of s left its CPU: to sleep if `slept`, otherwise while
 * it was still runnable.
 */
static long count_out(const struct rows *rows, const struct said *s, bool slept)
{
	long nr = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_sched *row = &rows->rows[i];

		nr += row->op == LDB_SCHED_OP_SWITCH && row->tid == (uint32_t)s->tid &&
		      is_between(row, s) &&
		      slept == (LDB_SCHED_STATE(row->flags) != LDB_STATE_RUNNING);
	}
	return nr;
}

static size_t count_op(const struct rows *rows, unsigned op, uint32_t tid, uint32_t other)
{
	size_t nr = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_sched *row = &rows->rows[i];

		nr += row->op == op && (!tid || row->tid == tid) && (!other || row->other == other);
	}
	return nr;
}

/*
 * There must be as many sleeps and preemptions as the kernel counted; with tracepoints, also about
 * as many wake-ups of the second thread by the first one as the second one slept.
 */
static void check_pingpong(enum perf_mode mode, const struct rows *rows, const struct report *r)
{
	const struct said *a = &r->threads[0], *b = &r->threads[1];
	size_t nr_wakes = count_op(rows, LDB_SCHED_OP_WAKING, a->tid, b->tid);

	ok(a->nvcsw > 0 && b->nvcsw > 0, "mode %d: the threads waited for each other", mode);
	is_int(count_out(rows, a, true), a->nvcsw, "the first one's sleeps");
	is_int(count_out(rows, a, false), a->nivcsw, "and preemptions");
	is_int(count_out(rows, b, true), b->nvcsw, "the second one's sleeps");
	is_int(count_out(rows, b, false), b->nivcsw, "and preemptions");
	is_int(rows->nr_lost, 0, "nothing lost");
	if (mode == PERF_TRACEPOINTS)
		ok(nr_wakes >= (size_t)b->nvcsw - 1 && nr_wakes <= ROUNDS + 2,
		   "%zu wakeups of the second by the first", nr_wakes);
}

/*
 * These are real-time threads of the same priority, so the number of switches is known in advance.
 */
static void check_forced(const struct rows *rows, const struct report *r)
{
	const struct said *a = &r->threads[0], *b = &r->threads[1];
	long nr = 0;

	if (!r->is_realtime) {
		skip(1, "no real-time priority");
		return;
	}
	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_sched *row = &rows->rows[i];

		nr += row->op == LDB_SCHED_OP_SWITCH && row->tid == (uint32_t)a->tid &&
		      is_between(row, a) && LDB_SCHED_STATE(row->flags) == LDB_STATE_SLEEPING &&
		      row->other == (uint32_t)b->tid;
	}
	ok(nr >= ROUNDS - 2 && nr <= ROUNDS, "%ld of %d rounds switched from one straight to the other",
	   nr, ROUNDS);
}

static void test_pingpong(enum perf_mode best)
{
	struct program prog;
	struct rows rows;
	struct kernel_source *p;

	program_start(&prog, subject_pingpong);
	p = live_open(prog.pid, best, 0, &rows, why, sizeof(why));
	if (!p || perf_mode(p) != best) {
		skip(1, p ? p->why_not_better : why);
		kill(prog.pid, SIGKILL);
		live_close(p);
		return;
	}
	live_run(p, &prog, true);
	check_pingpong(best, &rows, &prog.report);
	if (best != PERF_SWITCHES_OWN)
		check_forced(&rows, &prog.report);
	ok(kernel_clock_err_ns(p->clock) < 1000000, "times are good to %llu ns", (unsigned long long)kernel_clock_err_ns(p->clock));
	live_close(p);
	free(rows.rows);
}

/* Each waking is between two stamps of the waker. */
static uint64_t stamps[ROUNDS][2];

static void subject_stamps(struct report *r)
{
	static struct said partner;
	pthread_t t;

	if (pipe(ping) || pipe(pong))
		_exit(1);
	pthread_create(&t, NULL, ponger, &partner);
	take_counts(&r->threads[0], false);
	for (int i = 0; i < ROUNDS; i++) {
		sleep_us(20);
		stamps[i][0] = clock_now(live_clock);
		pass_ball(-1, ping[1]);
		stamps[i][1] = clock_now(live_clock);
		pass_ball(pong[0], -1);
	}
	take_counts(&r->threads[0], true);
	pthread_join(t, NULL);
	r->threads[1].tid = partner.tid;
	if (write(r->threads[2].tid, stamps, sizeof(stamps)) != sizeof(stamps))
		_exit(1);
}

static int stamps_fd[2];

static void subject_stamps_to_pipe(struct report *r)
{
	r->threads[2].tid = stamps_fd[1];
	subject_stamps(r);
}

static void test_clock(unsigned clock_id)
{
	uint64_t err, got[ROUNDS][2];
	unsigned nr = 0, nr_off = 0;
	struct program prog;
	struct rows rows;
	struct kernel_source *p;

	live_clock = clock_id;
	if (pipe(stamps_fd))
		bail_out("pipe");
	program_start(&prog, subject_stamps_to_pipe);
	p = live_open(prog.pid, PERF_TRACEPOINTS, 0, &rows, why, sizeof(why));
	if (!p || perf_mode(p) != PERF_TRACEPOINTS) {
		skip(1, p ? p->why_not_better : why);
		kill(prog.pid, SIGKILL);
		live_close(p);
		return;
	}
	live_run(p, &prog, true);
	err = clock_id == LDB_CLOCK_TSC ? kernel_clock_err_ns(p->clock) * 5 : kernel_clock_err_ns(p->clock); /* up to 5 GHz */
	if (read(stamps_fd[0], got, sizeof(got)) != sizeof(got))
		bail_out("no stamps");
	for (size_t i = 0; i < rows.nr; i++) {
		const struct ldb_row_sched *row = &rows.rows[i];

		if (row->op != LDB_SCHED_OP_WAKING || row->tid != (uint32_t)prog.report.threads[0].tid ||
		    row->other != (uint32_t)prog.report.threads[1].tid ||
		    row->flags & (LDB_SCHED_F_HARDIRQ | LDB_SCHED_F_SOFTIRQ))
			continue;
		/* The partner may have been awake; then the round has no waking. */
		while (nr < ROUNDS && (int64_t)(got[nr][1] + err) < row->tick)
			nr++;
		nr_off += nr == ROUNDS || row->tick + (int64_t)err < (int64_t)got[nr][0];
	}
	ok(count_op(&rows, LDB_SCHED_OP_WAKING, prog.report.threads[0].tid,
		    prog.report.threads[1].tid) > ROUNDS / 2, "%s: wakings", clock_name(clock_id));
	is_int(nr_off, 0, "each between the two stamps around it, within the error bound");
	live_close(p);
	free(rows.rows);
}

static void *nothing(void *arg)
{
	sleep_us(1000);
	return NULL;
}

static void subject_instances(struct report *r)
{
	pthread_t t[20];
	pid_t pid;

	r->threads[0].tid = getpid();
	for (int i = 0; i < 20; i++)
		pthread_create(&t[i], NULL, nothing, NULL);
	for (int i = 0; i < 20; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}

static void subject_exec(struct report *r)
{
	struct report none = { 0 };

	/* The answer comes first: after exec it would not be sent. */
	if (write(stamps_fd[1], &none, sizeof(none)) > 0)
		execl("/bin/true", "true", NULL);
	_exit(1);
}

static void test_instances(enum perf_mode best)
{
	unsigned nr_threads = 0, nr_children = 0, nr_last = 0;
	struct program prog;
	struct rows rows;
	struct kernel_source *p;

	program_start(&prog, subject_instances);
	p = live_open(prog.pid, best, 0, &rows, why, sizeof(why));
	if (!p || perf_mode(p) != best) {
		skip(1, p ? p->why_not_better : why);
		kill(prog.pid, SIGKILL);
		live_close(p);
		return;
	}
	live_run(p, &prog, true);
	for (size_t i = 0; i < rows.nr; i++) {
		const struct ldb_row_sched *row = &rows.rows[i];

		nr_last += row->op == LDB_SCHED_OP_EXIT && row->value;
		if (row->op != LDB_SCHED_OP_FORK)
			continue;
		nr_threads += row->value == (uint32_t)prog.pid && row->flags & LDB_SCHED_F_OTHER;
		nr_children += row->value == row->other && !(row->flags & LDB_SCHED_F_OTHER);
	}
	is_int(nr_threads, 20, "threads made");
	is_int(nr_children, 3, "processes made");
	is_int(count_op(&rows, LDB_SCHED_OP_EXIT, 0, 0), 21, "all threads end, not the processes");
	is_int(nr_last, 1, "one of them is the last");
	is_int(count_op(&rows, LDB_SCHED_OP_EXEC, 0, 0), 0, "the children's exec is their own");
	ok(rows.nr_tasks >= 21, "names: %u", rows.nr_tasks);
	live_close(p);
	free(rows.rows);
}

static void test_exec(enum perf_mode best)
{
	struct program prog;
	struct rows rows;
	struct kernel_source *p;

	if (pipe(stamps_fd))
		bail_out("pipe");
	program_start(&prog, subject_exec);
	p = live_open(prog.pid, best, 0, &rows, why, sizeof(why));
	if (!p || perf_mode(p) != best) {
		skip(1, p ? p->why_not_better : why);
		kill(prog.pid, SIGKILL);
		live_close(p);
		return;
	}
	close(prog.answer);
	prog.answer = stamps_fd[0];
	live_run(p, &prog, true);
	is_int(count_op(&rows, LDB_SCHED_OP_EXEC, prog.pid, 0), 1, "its exec");
	is_int(count_op(&rows, LDB_SCHED_OP_EXIT, prog.pid, 0), 1, "still observed afterwards");
	live_close(p);
	free(rows.rows);
}

static void test_lost(void)
{
	struct program prog;
	struct rows rows;
	struct kernel_source *p;

	program_start(&prog, subject_pingpong);
	p = live_open(prog.pid, PERF_TRACEPOINTS, 1, &rows, why, sizeof(why));
	if (!p || perf_mode(p) != PERF_TRACEPOINTS) {
		skip(1, p ? p->why_not_better : why);
		kill(prog.pid, SIGKILL);
		live_close(p);
		return;
	}
	live_run(p, &prog, false);
	ok(rows.nr > 0, "rings too small, never drained: %zu rows", rows.nr);
	ok(perf_lost(p) > 100, "%llu events lost", (unsigned long long)perf_lost(p));
	is_int(rows.nr_lost, perf_lost(p), "all of them are reported");
	live_close(p);
	free(rows.rows);
}

static void nap(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	for (int i = 0; i < 50; i++)
		nanosleep(&ms, NULL);
}

/* Reads until `nr` rows are later than `tick`: on a busy machine they are delivered late. */
static void read_until(struct kernel_source *p, const struct rows *rows, uint64_t tick, size_t nr)
{
	for (int tries = 0; tries < 250; tries++) {
		size_t later = 0;

		p->ops->poll(p);
		for (size_t i = 0; i < rows->nr; i++)
			later += rows->rows[i].tick >= (int64_t)tick;
		if (later >= nr)
			return;
		usleep(20000);
	}
}

/* Returns how many rows have a tick between `from` and `to`. */
static size_t count_between(const struct rows *rows, uint64_t from, uint64_t to)
{
	size_t nr = 0;

	for (size_t i = 0; i < rows->nr; i++)
		nr += rows->rows[i].tick > (int64_t)from && rows->rows[i].tick < (int64_t)to;
	return nr;
}

/*
 * These rows come straight from perf: no code between it and this test drops the rows of a pause.
 * They are judged by their times, because when they are delivered depends on the machine.
 */
static void test_pause(void)
{
	struct rows rows;
	struct kernel_source *p = live_open(getpid(), 0, 0, &rows, why, sizeof(why));
	uint64_t begun, paused, goes_on;

	if (!p)
		bail_out(why);
	begun = clock_now(live_clock);
	nap();
	p->ops->poll(p);
	p->ops->pause(p, true);
	/* perf's clock and ours differ by less than this sleep. */
	usleep(5000);
	paused = clock_now(live_clock);
	nap();
	goes_on = clock_now(live_clock);
	usleep(5000);
	ok(!p->ops->pause(p, false), "perf goes on after a pause");
	nap();
	read_until(p, &rows, goes_on, 50);
	ok(count_between(&rows, begun, paused) > 0, "before the pause it delivers switches: %zu",
	   count_between(&rows, begun, paused));
	is_int(count_between(&rows, paused, goes_on), 0, "in the pause it delivers none");
	ok(count_between(&rows, goes_on, UINT64_MAX / 2) >= 50, "and afterwards again: %zu",
	   count_between(&rows, goes_on, UINT64_MAX / 2));
	live_close(p);
}

/* Runs the function in a child, which may give up its privileges. */
static void in_child(void (*fn)(void))
{
	int counts[2], fds[2];
	pid_t pid;

	fflush(stdout);
	if (pipe(fds))
		bail_out("pipe");
	pid = fork();
	if (!pid) {
		fn();
		fflush(stdout);
		counts[0] = tap_nr;
		counts[1] = tap_failed;
		_exit(write(fds[1], counts, sizeof(counts)) != sizeof(counts));
	}
	close(fds[1]);
	if (read(fds[0], counts, sizeof(counts)) != sizeof(counts))
		bail_out("a child ended early");
	close(fds[0]);
	tap_nr = counts[0];
	tap_failed = counts[1];
	waitpid(pid, NULL, 0);
}

static void as_nobody(void)
{
	if (!geteuid() && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
		bail_out("cannot become nobody");
	/* After a change of user a process may not be traced. */
	prctl(PR_SET_DUMPABLE, 1);
	test_pingpong(PERF_SWITCHES_OWN);
	test_instances(PERF_SWITCHES_OWN);
	test_exec(PERF_SWITCHES_OWN);
}

static void of_another_user(void)
{
	struct rows rows;
	pid_t root = getppid();

	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		bail_out("cannot become nobody");
	ok(!live_open(root, 0, 0, &rows, why, sizeof(why)), "another user's process is refused");
	ok(strstr(why, "root") && !strchr(why, '\n'), "with the reason: %s", why);
}

static void under_seccomp(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(filter) / sizeof(*filter), filter };
	struct rows rows;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		skip(2, "no seccomp");
		return;
	}
	ok(!live_open(getpid(), 0, 0, &rows, why, sizeof(why)), "perf_event_open forbidden");
	ok(strstr(why, "perf") && !strchr(why, '\n'), "with the reason: %s", why);
}

int main(void)
{
	struct rows rows;
	struct kernel_source *p;

	signal(SIGPIPE, SIG_IGN);
	live_clock = clock_choose();
	p = live_open(getpid(), 0, 0, &rows, why, sizeof(why));
	if (!p)
		skip_all(why);
	diag("mode %d %s", perf_mode(p), p->why_not_better);
	live_close(p);
	ok(!live_open(0x3fffff, 0, 0, &rows, why, sizeof(why)) && strstr(why, "4194303"),
	   "no such process: %s", why);
	test_pingpong(PERF_TRACEPOINTS);
	test_pingpong(PERF_SWITCHES_ALL);
	test_pingpong(PERF_SWITCHES_OWN);
	test_instances(PERF_TRACEPOINTS);
	test_instances(PERF_SWITCHES_ALL);
	test_exec(PERF_TRACEPOINTS);
	test_exec(PERF_SWITCHES_ALL);
	test_lost();
	test_pause();
	test_clock(LDB_CLOCK_MONO);
	if (clock_choose() == LDB_CLOCK_TSC)
		test_clock(LDB_CLOCK_TSC);
	in_child(as_nobody);
	if (!geteuid())
		in_child(of_another_user);
	in_child(under_seccomp);
	return done();
}
