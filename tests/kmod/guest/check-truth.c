// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares the kernel events of a trace with the events that ftrace recorded in the same run, and
 * with the events that the program forced: no event may be missing or invented.  It prints TAP.
 *
 *	check-truth ROWS FTRACE FACTS
 *	check-truth ROWS FTRACE FACTS OTHER-ROWS
 *
 * With OTHER-ROWS, the switches of two traces of one run are compared with each other
 * instead.  ROWS: trace-cat's output; FTRACE: tracefs' "trace" file, trace_clock mono; FACTS: the
 * output of forced.c.  On each CPU, the events of ftrace between its two marks that concern a
 * thread of the program must be a contiguous run of the trace's events.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include <ldb/trace-format.h>
#include <linux/ldb.h>

#define MAX_CPUS 8
#define MAX_TASKS 256
#define MS 1000000LL

struct event {
	int64_t ns;
	unsigned op, tid, other, value;
	unsigned state, preempt, irq, from;
	uint64_t addr;
};

struct list {
	struct event *ev;
	size_t nr, room;
};

/*
 * for each CPU: events that concern the program, in the trace and in ftrace; all switches of
 * ftrace, and the trace's switches between tasks that are not observed
 */
static struct list rows[MAX_CPUS], truth[MAX_CPUS], all[MAX_CPUS], running[MAX_CPUS];
static struct list row_futex, true_futex;
static unsigned tasks[MAX_TASKS], nr_tasks, nr_cpus;
static int64_t begin_ns = -1, end_ns = -1;

static void add(struct list *l, const struct event *e)
{
	if (l->nr == l->room) {
		l->room = l->room ? l->room * 2 : 1024;
		l->ev = realloc(l->ev, l->room * sizeof(*e));
		if (!l->ev)
			bail_out("no memory");
	}
	l->ev[l->nr++] = *e;
}

static bool is_task(unsigned tid)
{
	unsigned i;

	for (i = 0; i < nr_tasks; i++)
		if (tasks[i] == tid)
			return true;
	return false;
}

/* Returns true if the event concerns a thread of the program. */
static bool concerns(const struct event *e)
{
	switch (e->op) {
	case LDB_SCHED_OP_SWITCH:
		return is_task(e->tid) || is_task(e->other);
	case LDB_SCHED_OP_WAKING:
		return is_task(e->other);
	default:
		return is_task(e->tid);
	}
}

static FILE *open_file(const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f) {
		printf("# %s\n", path);
		bail_out("cannot open a file");
	}
	return f;
}

static void read_facts(const char *path)
{
	FILE *f = open_file(path);
	char line[256];
	unsigned tid;

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "fact task tid=%u", &tid) == 1 && nr_tasks < MAX_TASKS)
			tasks[nr_tasks++] = tid;
	fclose(f);
	if (nr_tasks < 6)
		bail_out("the program did not name its threads");
}

/* ---- the trace ---- */

static struct { int64_t tick, mono; } clocks[100000];
static size_t nr_clocks;

static int64_t to_mono(int64_t tick)
{
	size_t i = 1;
	double slope;

	while (i + 1 < nr_clocks && clocks[i].tick < tick)
		i++;
	slope = (double)(clocks[i].mono - clocks[i - 1].mono) / (clocks[i].tick - clocks[i - 1].tick);
	return clocks[i - 1].mono + (int64_t)((tick - clocks[i - 1].tick) * slope);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static void add_row(struct list *to, unsigned cpu, const struct event *e)
{
	if (cpu >= MAX_CPUS)
		bail_out("a row with an invalid CPU");
	if (cpu >= nr_cpus)
		nr_cpus = cpu + 1;
	if (e->op == LDB_SCHED_OP_FUTEX_WAIT || e->op == LDB_SCHED_OP_FUTEX_WAKE)
		add(&row_futex, e);
	else if (e->op == LDB_SCHED_OP_RUNNING)
		add(&running[cpu], e);
	else if (e->op <= LDB_SCHED_OP_MIGRATE && concerns(e))
		add(&to[cpu], e);
}

static void sort_by_time(struct list *l)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		l->ev[i].ns = to_mono(l->ev[i].ns);
	qsort(l->ev, l->nr, sizeof(struct event), by_time);
}

static void read_rows(const char *path, struct list *to)
{
	FILE *f = open_file(path);
	char line[512];
	unsigned cpu;

	nr_clocks = 0;
	row_futex.nr = 0;
	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		running[cpu].nr = 0;

	while (fgets(line, sizeof(line), f)) {
		struct event e = { 0 };
		unsigned flags;
		int64_t tick;

		if (sscanf(line, "clock tick=%" SCNd64 " raw=%*d mono=%" SCNd64, &clocks[nr_clocks].tick,
			   &clocks[nr_clocks].mono) == 2) {
			if (++nr_clocks == sizeof(clocks) / sizeof(clocks[0]))
				bail_out("too many clock rows");
			continue;
		}
		if (sscanf(line, "sched op=%u flags=%x cpu=%u tid=%u other=%u tick=%" SCNd64 " addr=%" SCNx64
			   " gen=%*x pc=%*x value=%u", &e.op, &flags, &cpu, &e.tid, &e.other, &tick,
			   &e.addr, &e.value) != 8)
			continue;
		e.ns = tick;
		e.state = LDB_SCHED_STATE(flags);
		e.preempt = !!(flags & LDB_SCHED_F_PREEMPT);
		e.irq = flags & (LDB_SCHED_F_HARDIRQ | LDB_SCHED_F_SOFTIRQ);
		e.from = e.op == LDB_SCHED_OP_WAKEUP ? !!(flags & LDB_SCHED_F_NEW) : e.addr;
		add_row(to, cpu, &e);
	}
	fclose(f);
	if (nr_clocks < 2)
		bail_out("no clock rows");
	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		sort_by_time(&to[cpu]);
		sort_by_time(&running[cpu]);
	}
	sort_by_time(&row_futex);
}

/* ---- ftrace ---- */

static unsigned state_of(const char *s)
{
	static const char letters[] = "RSDTtXZIP";
	static const unsigned states[] = {
		LDB_STATE_RUNNING, LDB_STATE_SLEEPING, LDB_STATE_DISK, LDB_STATE_STOPPED,
		LDB_STATE_TRACED, LDB_STATE_DEAD, LDB_STATE_DEAD, LDB_STATE_IDLE, LDB_STATE_IDLE,
	};
	const char *at = strchr(letters, *s);

	return at && *s ? states[at - letters] : 0xff;
}

static unsigned irq_of(char c)
{
	/* H is an interrupt that came during a softirq; the interrupt woke the thread. */
	if (c == 'h' || c == 'H')
		return LDB_SCHED_F_HARDIRQ;
	return c == 's' ? LDB_SCHED_F_SOFTIRQ : 0;
}

static unsigned number(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoul(at + strlen(key), NULL, 10) : ~0U;
}

/* Reads the text after the event's name; returns true if it is an event of the scheduler. */
static bool parse_event(struct event *e, const char *name, const char *text, unsigned current, char irq)
{
	if (!strcmp(name, "sched_switch")) {
		const char *state = strstr(text, "prev_state=");

		e->op = LDB_SCHED_OP_SWITCH;
		e->tid = number(text, "prev_pid=");
		e->other = number(text, "next_pid=");
		e->state = state_of(state ? state + 11 : "");
		e->preempt = state && strncmp(state + 11, "R+", 2) == 0;
	} else if (!strcmp(name, "sched_waking")) {
		e->op = LDB_SCHED_OP_WAKING;
		e->tid = current;
		e->other = number(text, " pid=");
		e->irq = irq_of(irq);
	} else if (!strcmp(name, "sched_wakeup") || !strcmp(name, "sched_wakeup_new")) {
		e->op = LDB_SCHED_OP_WAKEUP;
		e->tid = number(text, " pid=");
		e->value = number(text, "target_cpu=");
		e->from = !strcmp(name, "sched_wakeup_new");
	} else if (!strcmp(name, "sched_migrate_task")) {
		e->op = LDB_SCHED_OP_MIGRATE;
		e->tid = number(text, " pid=");
		e->from = number(text, "orig_cpu=");
		e->value = number(text, "dest_cpu=");
	} else {
		return false;
	}
	return true;
}

static void parse_futex(const char *text, unsigned tid, int64_t ns)
{
	struct event e = { .ns = ns, .tid = tid };
	unsigned op;

	if (sscanf(text, "uaddr: %" SCNx64 ", op: %x, val: %x", &e.addr, &op, &e.value) != 3)
		return;
	switch (op & 0x7f) {
	case 0: case 9:
		e.op = LDB_SCHED_OP_FUTEX_WAIT;
		break;
	case 1: case 10:
		e.op = LDB_SCHED_OP_FUTEX_WAKE;
		break;
	default:
		return;
	}
	if (is_task(tid))
		add(&true_futex, &e);
}

/* Reads a line "  comm-pid  [cpu] flags  seconds.micros: event: text". */
static void read_line(char *line)
{
	char *bracket = line, *dash, *text, flags[16], name[64];
	unsigned cpu, current;
	uint64_t s, us;
	struct event e = { 0 };
	int used = 0;

	if (strstr(line, "LOST"))
		bail_out("ftrace lost events: a larger buffer is needed");
	/* A comm may contain anything: only the first " [ddd] " counts. */
	while ((bracket = strstr(bracket, " [")) && sscanf(bracket, " [%u]%n", &cpu, &used) != 1)
		bracket++;
	if (!bracket || sscanf(bracket + used, " %15s %" SCNu64 ".%" SCNu64 ": %63[^:(]%n", flags, &s, &us,
			       name, &used) < 4)
		return;
	for (dash = bracket; dash > line && *dash != '-'; dash--)
		;
	current = strtoul(dash + 1, NULL, 10);
	e.ns = (int64_t)(s * 1000000 + us) * 1000;
	text = strstr(bracket, name) + strlen(name) + 1;
	if (!strcmp(name, "tracing_mark_write")) {
		if (strstr(text, "ldb-begin"))
			begin_ns = e.ns;
		else if (strstr(text, "ldb-end"))
			end_ns = e.ns;
		return;
	}
	if (!strcmp(name, "sys_futex")) {
		parse_futex(text, current, e.ns);
		return;
	}
	if (cpu >= MAX_CPUS || !parse_event(&e, name, text, current, strlen(flags) > 2 ? flags[2] : 0))
		return;
	if (cpu >= nr_cpus)
		nr_cpus = cpu + 1;
	if (e.op == LDB_SCHED_OP_SWITCH)
		add(&all[cpu], &e);
	if (concerns(&e))
		add(&truth[cpu], &e);
}

static void read_ftrace(const char *path)
{
	FILE *f = open_file(path);
	char line[1024];

	while (fgets(line, sizeof(line), f))
		if (line[0] != '#')
			read_line(line);
	fclose(f);
	if (begin_ns < 0 || end_ns < 0)
		bail_out("the marks are not in ftrace's buffer");
}

/* ---- the comparison ---- */

static bool same(const struct event *a, const struct event *b)
{
	if (a->op != b->op || a->tid != b->tid)
		return false;
	switch (a->op) {
	case LDB_SCHED_OP_SWITCH:
		return a->other == b->other && a->state == b->state && a->preempt == b->preempt;
	case LDB_SCHED_OP_WAKING:
		return a->other == b->other && a->irq == b->irq;
	case LDB_SCHED_OP_WAKEUP:
		return a->value == b->value && a->from == b->from;
	default:
		return a->from == b->from && a->value == b->value;
	}
}

static void show(const char *who, const struct event *e)
{
	static const char *const names[] = { "?", "switch", "?", "running", "waking", "wakeup", "migrate" };

	diag("%s: %" PRId64 ".%06" PRId64 " %s tid=%u other=%u state=%u preempt=%u irq=%x from=%u value=%u",
	     who, e->ns / 1000000000, e->ns / 1000 % 1000000, e->op <= 6 ? names[e->op] : "?", e->tid,
	     e->other, e->state, e->preempt, e->irq, e->from, e->value);
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static size_t agreement(const struct list *r, size_t i, const struct list *t, size_t k)
{
	size_t n = 0;

	while (n < 1000 && i + n < r->nr && k + n < t->nr && same(&r->ev[i + n], &t->ev[k + n]))
		n++;
	return n;
}

/*
 * Finds event k of ftrace in the trace.  In a ping-pong all events around that time are alike, so
 * it takes the one after which most following events agree, and among several such events the
 * nearest.
 */
static size_t counterpart(const struct list *r, const struct list *t, size_t k)
{
	size_t best = r->nr, most = 0;

	for (size_t i = 0; k < t->nr && i < r->nr; i++) {
		int64_t off = llabs(r->ev[i].ns - t->ev[k].ns);
		size_t n = off < 5 * MS ? agreement(r, i, t, k) : 0;

		if (n > most || (n && n == most && off < llabs(r->ev[best].ns - t->ev[k].ns))) {
			best = i;
			most = n;
		}
	}
	return best;
}

static void compare_cpu(unsigned cpu)
{
	const struct list *r = &rows[cpu], *t = &truth[cpu];
	size_t i, k = 0, matched = 0, first;
	int64_t *diff = calloc(t->nr + 1, sizeof(*diff));

	while (k < t->nr && t->ev[k].ns < begin_ns)
		k++;
	i = counterpart(r, t, k);
	first = k;
	while (k < t->nr && t->ev[k].ns < end_ns && i < r->nr && same(&r->ev[i], &t->ev[k])) {
		diff[matched++] = llabs(r->ev[i].ns - t->ev[k].ns);
		i++;
		k++;
	}
	ok(matched > 100 && (k == t->nr || t->ev[k].ns >= end_ns),
	   "CPU %u: the events are the same", cpu);
	if (k < t->nr && t->ev[k].ns < end_ns) {
		size_t at;

		diag("the first difference, after %zu that agree (from %zu):", matched, first);
		for (at = k > 3 ? k - 3 : 0; at < k + 4 && at < t->nr; at++)
			show(at == k ? "truth  >" : "truth   ", &t->ev[at]);
		for (at = i > 3 ? i - 3 : 0; at < i + 4 && at < r->nr; at++)
			show(at == i ? "trace  >" : "trace   ", &r->ev[at]);
	}
	if (matched) {
		qsort(diff, matched, sizeof(*diff), by_size);
		diag("CPU %u: %zu events compared; times differ by %" PRId64 " ns (median), %" PRId64
		     " ns (at most)", cpu, matched, diff[matched / 2], diff[matched - 1]);
		/* ftrace prints microseconds. */
		ok(diff[matched / 2] < 100000, "CPU %u: and so are their times", cpu);
	}
	free(diff);
}

/*
 * Of switches between threads of other programs only some are recorded, but none may be invented.
 */
static void compare_running(unsigned cpu)
{
	const struct list *r = &running[cpu], *t = &all[cpu];
	size_t i, k = 0, bad = 0, nr = 0;

	for (i = 0; i < r->nr; i++) {
		const struct event *e = &r->ev[i];
		size_t from = k;

		if (e->ns < begin_ns + MS || e->ns > end_ns - MS)
			continue;
		nr++;
		while (k < t->nr && !(t->ev[k].tid == e->tid && t->ev[k].other == e->other &&
				      llabs(t->ev[k].ns - e->ns) < 5 * MS))
			k++;
		if (k == t->nr) {
			if (!bad++)
				show("not in ftrace", e);
			k = from;
		}
	}
	ok(!bad, "CPU %u: every running task is one of ftrace's", cpu);
	diag("CPU %u: %zu running tasks", cpu, nr);
}

/* Compares the calls of one thread, in order; ftrace has them on entry to the system call. */
static void compare_futex(unsigned tid)
{
	size_t i = 0, k = 0, matched = 0;
	const struct event *a = NULL, *b = NULL;

	for (;;) {
		while (i < row_futex.nr && (row_futex.ev[i].tid != tid || row_futex.ev[i].ns < begin_ns))
			i++;
		while (k < true_futex.nr && (true_futex.ev[k].tid != tid || true_futex.ev[k].ns < begin_ns))
			k++;
		a = i < row_futex.nr && row_futex.ev[i].ns < end_ns ? &row_futex.ev[i++] : NULL;
		b = k < true_futex.nr && true_futex.ev[k].ns < end_ns ? &true_futex.ev[k++] : NULL;
		/*
		 * In the trace, the value of a wait is the futex word that was found; ftrace has
		 * the value that the call expected.
		 */
		if (!a || !b || a->op != b->op || a->addr != b->addr ||
		    (a->op == LDB_SCHED_OP_FUTEX_WAKE && a->value != b->value))
			break;
		matched++;
	}
	ok(!a && !b, "thread %u: its futex calls are those of ftrace", tid);
	diag("thread %u: %zu futex calls compared", tid, matched);
	if (a || b)
		diag("trace: op=%x addr=%" PRIx64 ", ftrace: op=%x addr=%" PRIx64, a ? a->op : 0,
		     a ? a->addr : 0, b ? b->op : 0, b ? b->addr : 0);
}

/* ---- facts of the program ---- */

static void count_switches(unsigned tid, long voluntary, long involuntary)
{
	long v = 0, n = 0;
	unsigned cpu;
	size_t i;

	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		for (i = 0; i < rows[cpu].nr; i++) {
			const struct event *e = &rows[cpu].ev[i];

			if (e->op != LDB_SCHED_OP_SWITCH || e->tid != tid || e->ns > end_ns)
				continue;
			if (e->preempt || e->state == LDB_STATE_RUNNING)
				n++;
			else
				v++;
		}
	}
	is_int(v, voluntary, "as many voluntary switches as the kernel counts");
	is_int(n, involuntary, "as many involuntary switches as the kernel counts");
}

static void count_futex(unsigned tid, uint64_t uaddr, long waits, long wakes)
{
	long nr[2] = { 0, 0 };
	size_t i;

	for (i = 0; i < row_futex.nr; i++) {
		const struct event *e = &row_futex.ev[i];

		if (e->tid == tid && e->addr == uaddr)
			nr[e->op == LDB_SCHED_OP_FUTEX_WAKE]++;
	}
	is_int(nr[0], waits, "as many futex waits at the address as the program made");
	is_int(nr[1], wakes, "as many futex wakes at the address as the program made");
}

static void count_preemptions(unsigned victim, unsigned by, long times)
{
	long nr = 0, sleeps = 0;
	size_t i;

	for (i = 0; i < rows[0].nr; i++) {
		const struct event *e = &rows[0].ev[i];

		if (e->op != LDB_SCHED_OP_SWITCH || e->ns < begin_ns || e->ns > end_ns)
			continue;
		nr += e->tid == victim && e->other == by && e->state == LDB_STATE_RUNNING;
		sleeps += e->tid == by && e->state == LDB_STATE_SLEEPING;
	}
	/* The urgent thread also wakes while the victim is not running. */
	ok(nr >= times / 4, "the victim was preempted by the urgent thread (%ld times of %ld)", nr, times);
	ok(sleeps >= times && sleeps <= times + 4, "which slept as often as it asked to (%ld, %ld)", sleeps, times);
}

static void count_migrations(unsigned tid, long times)
{
	struct list moves = { 0 };
	unsigned cpu, bad = 0;
	size_t i;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		for (i = 0; i < rows[cpu].nr; i++)
			if (rows[cpu].ev[i].op == LDB_SCHED_OP_MIGRATE && rows[cpu].ev[i].tid == tid &&
			    rows[cpu].ev[i].ns > begin_ns && rows[cpu].ev[i].ns < end_ns)
				add(&moves, &rows[cpu].ev[i]);
	qsort(moves.ev, moves.nr, sizeof(struct event), by_time);
	is_int(moves.nr, times, "as many migrations as the program forced");
	for (i = 0; i < moves.nr; i++)
		bad += moves.ev[i].from != !(i & 1) || moves.ev[i].value != (i & 1);
	is_int(bad, 0, "each from and to the CPU it forced");
}

static void check_facts(const char *path)
{
	FILE *f = open_file(path);
	char line[256];
	unsigned tid, by;
	uint64_t uaddr;
	long a, b;

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "fact csw tid=%u voluntary=%ld involuntary=%ld", &tid, &a, &b) == 3) {
			diag("thread %u: %ld voluntary switches, %ld involuntary", tid, a, b);
			count_switches(tid, a, b);
			compare_futex(tid);
		} else if (sscanf(line, "fact futex tid=%u uaddr=%" SCNx64 " waits=%ld wakes=%ld", &tid,
				  &uaddr, &a, &b) == 4) {
			diag("thread %u, futex %" PRIx64 ": %ld waits, %ld wakes", tid, uaddr, a, b);
			count_futex(tid, uaddr, a, b);
		} else if (sscanf(line, "fact preempt victim=%u by=%u times=%ld", &tid, &by, &a) == 3) {
			count_preemptions(tid, by, a);
		} else if (sscanf(line, "fact migrate tid=%u times=%ld", &tid, &a) == 2) {
			count_migrations(tid, a);
		}
	}
	fclose(f);
}

static void keep_switches(struct list *l)
{
	size_t i, nr = 0;

	for (i = 0; i < l->nr; i++)
		if (l->ev[i].op == LDB_SCHED_OP_SWITCH)
			l->ev[nr++] = l->ev[i];
	l->nr = nr;
}

static void compare_traces(const char *one, const char *other)
{
	unsigned cpu;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		truth[cpu].nr = 0;
	read_rows(other, truth);
	read_rows(one, rows);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		keep_switches(&rows[cpu]);
		keep_switches(&truth[cpu]);
		compare_cpu(cpu);
	}
}

int main(int argc, char **argv)
{
	unsigned cpu;

	if (argc < 4 || argc > 5)
		bail_out("check-truth ROWS FTRACE FACTS [OTHER-ROWS]");
	read_facts(argv[3]);
	read_ftrace(argv[2]);
	if (argc == 5) {
		compare_traces(argv[1], argv[4]);
		return done();
	}
	read_rows(argv[1], rows);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		compare_cpu(cpu);
		compare_running(cpu);
	}
	check_facts(argv[3]);
	return done();
}
