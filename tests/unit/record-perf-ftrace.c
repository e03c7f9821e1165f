// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares the rows of perf one by one with the kernel's own ftrace of the same run: there must
 * be the same events of the program's threads on each CPU, in the same order, with the kernel's
 * names.  It needs root and tracefs.
 */
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include "perf-live.h"

#define INSTANCE	"/sys/kernel/tracing/instances/ldb-test"
#define LOOPS		150
#define NR_THREADS	4
#define LINES_MAX	200000
#define UNNOTICED_MAX	3	/* switches, before perf.c helps: help_deaf_cpu() */

static char why[512];
static int one_cpu, other_cpu;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* This is an event as text, for comparison. */
struct line {
	unsigned cpu;
	pid_t by;		/* the thread that ran, if ftrace names it */
	char text[76];
};

struct lines {
	struct line *lines;
	size_t nr;
	pid_t by;		/* state of the next thread */
};

static void busy_us(long us)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do {
		clock_gettime(CLOCK_MONOTONIC, &b);
	} while ((b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000 < us);
}

/* This thread sleeps, waits for the others, yields, and is moved. */
static void *restless(void *arg)
{
	unsigned seed = (uintptr_t)arg;

	for (int i = 0; i < LOOPS; i++) {
		pthread_mutex_lock(&lock);
		busy_us(30);
		pthread_mutex_unlock(&lock);
		sleep_us(rand_r(&seed) % 200);
		sched_yield();
		if (i % 10 == 0)
			pin(one_cpu);
		if (i % 10 == 5)
			pin(other_cpu);
		busy_us(rand_r(&seed) % 100);
	}
	return NULL;
}

static void subject_restless(struct report *r)
{
	pthread_t t[NR_THREADS];

	for (long i = 0; i < NR_THREADS; i++)
		pthread_create(&t[i], NULL, restless, (void *)(i + 1));
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(t[i], NULL);
}

/* Starts a process that takes the first CPU from the program again and again. */
static pid_t start_hog(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	pin(one_cpu);
	go_realtime(5);
	for (;;) {
		busy_us(150);
		sleep_us(400);
	}
}

static bool write_file(const char *name, const char *text)
{
	char path[256];
	bool good;
	int fd;

	snprintf(path, sizeof(path), INSTANCE "/%s", name);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0)
		return false;
	good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return good;
}

static void ftrace_end(void)
{
	write_file("tracing_on", "0");
	write_file("events/enable", "0");
	rmdir(INSTANCE);
}

/* Mounts tracefs in a separate mount namespace: no other process sees tracefs appear. */
static bool ftrace_begin(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return false;
	if (mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) && errno != EBUSY)
		return false;
	if (mkdir(INSTANCE, 0700) && errno != EEXIST)
		return false;
	atexit(ftrace_end);
	return write_file("tracing_on", "0") && write_file("trace", " ") &&
	       write_file("trace_clock", "mono") && write_file("buffer_size_kb", "16384") &&
	       write_file("events/sched/sched_switch/enable", "1") &&
	       write_file("events/sched/sched_waking/enable", "1") &&
	       write_file("events/sched/sched_wakeup/enable", "1") &&
	       write_file("events/sched/sched_wakeup_new/enable", "1") &&
	       write_file("events/sched/sched_migrate_task/enable", "1") &&
	       write_file("events/sched/sched_process_fork/enable", "1") &&
	       write_file("events/sched/sched_process_exit/enable", "1") &&
	       write_file("tracing_on", "1");
}

static void add(struct lines *l, unsigned cpu, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add(struct lines *l, unsigned cpu, const char *fmt, ...)
{
	struct line *line = &l->lines[l->nr];
	va_list ap;

	if (l->nr == LINES_MAX)
		return;
	l->nr++;
	line->cpu = cpu;
	line->by = l->by;
	va_start(ap, fmt);
	vsnprintf(line->text, sizeof(line->text), fmt, ap);
	va_end(ap);
}

static bool is_deaf[1024];	/* CPUs where wake-ups by others may be missing, see help_deaf_cpu() */
static pid_t group[64];
static unsigned nr_group;

static bool is_ours(pid_t tid)
{
	for (unsigned i = 0; i < nr_group; i++)
		if (group[i] == tid)
			return true;
	return false;
}

static long number(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p ? strtol(p + strlen(name), NULL, 10) : -1;
}

/* Reads "prev_state=R+ ==>": the kernel's letters; all letters for dead threads count as one. */
static const char *state_word(const char *text)
{
	const char *p = strstr(text, "prev_state=");
	static char word[8];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(p + 11, " "), p + 11);
	return *word == 'Z' || *word == 'X' ? "X" : word;
}

/* Reads a line of ftrace: "  comm-123  [001] d..2.  12.345678: sched_switch: ...". */
static void ftrace_line(struct lines *l, char *text)
{
	char *at = strstr(text, "] "), *event = strstr(text, ": sched_");
	unsigned cpu;
	pid_t by;

	if (!at || !event || sscanf(at - 3, "%u", &cpu) != 1)
		return;
	while (at > text && *at != '[')
		at--;
	for (*at = '\0'; at > text && *at != '-'; at--)
		;
	by = strtol(at + 1, NULL, 10);
	event += 2;
	l->by = by;
	if (!strncmp(event, "sched_process_fork:", 19) && is_ours(by)) {
		group[nr_group++] = number(event, "child_pid=");
		add(l, cpu, "fork %d %ld", by, number(event, "child_pid="));
	} else if (!strncmp(event, "sched_process_exit:", 19) && is_ours(by)) {
		add(l, cpu, "exit %d", by);
	} else if (!strncmp(event, "sched_switch:", 13)) {
		long prev = number(event, "prev_pid="), next = number(event, "next_pid=");

		if (is_ours(prev) || is_ours(next))
			add(l, cpu, "switch %ld %ld %s", prev, next, state_word(event));
	} else if (!strncmp(event, "sched_waking:", 13)) {
		if (is_ours(by) || is_ours(number(event, " pid=")))
			add(l, cpu, "waking %d %ld", by, number(event, " pid="));
	} else if (!strncmp(event, "sched_wakeup", 12) && is_ours(number(event, " pid="))) {
		add(l, cpu, "wakeup %ld on %ld%s", number(event, " pid="),
		    number(event, "target_cpu="), event[12] == '_' ? " new" : "");
	} else if (!strncmp(event, "sched_migrate_task:", 19) && is_ours(number(event, " pid="))) {
		add(l, cpu, "migrate %ld %ld %ld", number(event, " pid="),
		    number(event, "orig_cpu="), number(event, "dest_cpu="));
	}
}

static bool ftrace_read(struct lines *l)
{
	FILE *f = fopen(INSTANCE "/trace", "r");
	char *line = NULL;
	size_t room = 0;
	bool whole = true;

	while (f && getline(&line, &room, f) > 0) {
		whole &= !strstr(line, "LOST");
		ftrace_line(l, line);
	}
	free(line);
	if (f)
		fclose(f);
	return whole;
}

static void row_line(struct lines *l, const struct ldb_row_sched *r)
{
	static const char *const states[] = { "R", "S", "D", "T", "t", "X", "I" };

	switch (r->op) {
	case LDB_SCHED_OP_SWITCH:
		add(l, r->cpu, "switch %u %u %s%s", r->tid, r->other,
		    states[LDB_SCHED_STATE(r->flags)], r->flags & LDB_SCHED_F_PREEMPT ? "+" : "");
		break;
	case LDB_SCHED_OP_WAKING:
		add(l, r->cpu, "waking %u %u", r->tid, r->other);
		break;
	case LDB_SCHED_OP_WAKEUP:
		add(l, r->cpu, "wakeup %u on %u%s", r->tid, r->value,
		    r->flags & LDB_SCHED_F_NEW ? " new" : "");
		break;
	case LDB_SCHED_OP_MIGRATE:
		add(l, r->cpu, "migrate %u %llu %u", r->tid, (unsigned long long)r->addr, r->value);
		break;
	case LDB_SCHED_OP_FORK:
		add(l, r->cpu, "fork %u %u", r->tid, r->other);
		break;
	case LDB_SCHED_OP_EXIT:
		add(l, r->cpu, "exit %u", r->tid);
		break;
	}
}

static void learn_deaf(const char *text)
{
	const char *p = strstr(text, " on CPU");
	char *end;

	if (!p)
		return;
	diag("%s", text);
	for (p += strlen(" on CPU"); *p == ' '; p = end)
		is_deaf[strtoul(p, &end, 10) & 1023] = true;
}

static size_t next_on(const struct lines *l, size_t i, unsigned cpu)
{
	while (i < l->nr && l->lines[i].cpu != cpu)
		i++;
	return i;
}

/* If perf lacks events of a CPU, the state in which other threads left is not always known. */
static bool is_same(const struct line *got, const struct line *want)
{
	if (!strcmp(got->text, want->text))
		return true;
	return is_deaf[got->cpu & 1023] && !is_ours(want->by) &&
	       !strncmp(got->text, want->text, strlen(want->text) - 2) &&
	       !strncmp(want->text, "switch", 6);
}

/*
 * Returns true if perf may lack this event because its CPU does not deliver all (see help_deaf_cpu()):
 * a wake-up by a task that is not observed, or, until watch.c has found this out, one of the first
 * switches between such tasks.
 */
static bool may_be_missing(const struct line *want, unsigned *nr_switches)
{
	if (!is_deaf[want->cpu & 1023] || is_ours(want->by))
		return false;
	return strncmp(want->text, "switch", 6) || ++*nr_switches <= UNNOTICED_MAX;
}

static void compare_cpu(const struct lines *got, const struct lines *want, unsigned cpu)
{
	size_t i = next_on(got, 0, cpu), k = next_on(want, 0, cpu);
	unsigned nr = 0, nr_missing = 0, nr_switches = 0;

	while (i < got->nr && k < want->nr) {
		if (is_same(&got->lines[i], &want->lines[k])) {
			i = next_on(got, i + 1, cpu);
			nr++;
		} else if (may_be_missing(&want->lines[k], &nr_switches)) {
			nr_missing++;
		} else {
			break;
		}
		k = next_on(want, k + 1, cpu);
	}
	if (nr_missing)
		diag("CPU %u: missing: %u events of others, %u of them switches", cpu, nr_missing,
		     nr_switches);
	if (ok(i == got->nr && k == want->nr, "CPU %u: %u events, the same ones", cpu, nr))
		return;
	diag("then perf: %s", i < got->nr ? got->lines[i].text : "(end)");
	diag("then ftrace: %s", k < want->nr ? want->lines[k].text : "(end)");
}

static bool is_waited_for_on(const int *waits_on, unsigned cpu)
{
	for (unsigned t = 0; t < nr_group; t++)
		if (waits_on[t] == (int)cpu)
			return true;
	return false;
}

/*
 * While a thread of the program is runnable and does not run, the rows of its CPU are a chain:
 * the task that leaves is the one that came last.
 */
static void check_chains(const struct rows *rows)
{
	int waits_on[64], last[1024];
	unsigned nr_links = 0, nr_broken = 0, nr_running = 0;

	for (unsigned t = 0; t < nr_group; t++)
		waits_on[t] = -1;
	memset(last, -1, sizeof(last));
	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_sched *r = &rows->rows[i];
		bool is_waited_for = is_waited_for_on(waits_on, r->cpu);

		if (r->op == LDB_SCHED_OP_SWITCH || r->op == LDB_SCHED_OP_RUNNING) {
			if (is_waited_for && last[r->cpu] >= 0 && !is_deaf[r->cpu & 1023]) {
				nr_links++;
				nr_broken += last[r->cpu] != (int)r->tid;
			}
			nr_running += r->op == LDB_SCHED_OP_RUNNING;
			nr_broken += r->op == LDB_SCHED_OP_RUNNING && !is_waited_for &&
				     !is_deaf[r->cpu & 1023];
			last[r->cpu] = r->other;
		}
		/*
		 * r->other runs on that CPU.  If no observed thread waited for the CPU, the switch
		 * to r->other has no row.
		 */
		if (r->op == LDB_SCHED_OP_WAKEUP && !is_waited_for_on(waits_on, r->value))
			last[r->value] = r->other;
		for (unsigned t = 0; t < nr_group; t++) {
			bool is_tid = r->tid == (uint32_t)group[t];

			if (r->op == LDB_SCHED_OP_SWITCH && is_tid)
				waits_on[t] = LDB_SCHED_STATE(r->flags) ? -1 : (int)r->cpu;
			if (r->op == LDB_SCHED_OP_SWITCH && r->other == (uint32_t)group[t])
				waits_on[t] = -1;
			if (r->op == LDB_SCHED_OP_MIGRATE && is_tid && waits_on[t] >= 0) {
				if (!is_waited_for_on(waits_on, r->value))
					last[r->value] = -1;
				waits_on[t] = r->value;
			}
			/* A thread that is woken while it runs is itself last[] of its CPU. */
			if (r->op == LDB_SCHED_OP_WAKEUP && is_tid && r->other != r->tid)
				waits_on[t] = r->value;
		}
	}
	ok(nr_running > 5, "%u switches between others while a thread waited", nr_running);
	if (!nr_links && is_deaf[one_cpu & 1023] && is_deaf[other_cpu & 1023]) {
		skip(1, "perf does not report all switches of others in time here");
		return;
	}
	ok(nr_links > 100 && !nr_broken, "%u links in the chains of running tasks, %u broken",
	   nr_links, nr_broken);
}

static void check_kinds(const struct rows *rows)
{
	unsigned nr[256] = { 0 }, nr_preempted = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		nr[rows->rows[i].op & 255]++;
		nr_preempted += rows->rows[i].op == LDB_SCHED_OP_SWITCH &&
				rows->rows[i].flags & LDB_SCHED_F_PREEMPT;
	}
	ok(nr[LDB_SCHED_OP_SWITCH] > 1000 && nr[LDB_SCHED_OP_WAKING] > 300 &&
	   nr[LDB_SCHED_OP_WAKEUP] > 300 && nr[LDB_SCHED_OP_FORK] == NR_THREADS &&
	   nr[LDB_SCHED_OP_EXIT] == NR_THREADS + 1,
	   "enough happened: %u switches, %u of them preemptions, %u migrations",
	   nr[LDB_SCHED_OP_SWITCH], nr_preempted, nr[LDB_SCHED_OP_MIGRATE]);
	ok(one_cpu == other_cpu || nr[LDB_SCHED_OP_MIGRATE] > 10, "also migrations");
}

static struct kernel_source *begin(struct program *prog, struct rows *rows)
{
	struct kernel_source *p;

	live_clock = clock_choose();
	program_start(prog, subject_restless);
	group[nr_group++] = prog->pid;
	/*
	 * Clears ftrace's buffer, so that earlier events are not compared.  The program still
	 * sleeps.
	 */
	write_file("trace", " ");
	p = live_open(prog->pid, PERF_TRACEPOINTS, 0, rows, why, sizeof(why));
	if (p && perf_mode(p) != PERF_TRACEPOINTS) {
		snprintf(why, sizeof(why), "%s", p->why_not_better);
		live_close(p);
		p = NULL;
	}
	if (!p)
		kill(prog->pid, SIGKILL);
	return p;
}

int main(void)
{
	struct lines got = { .lines = calloc(LINES_MAX, sizeof(struct line)) };
	struct lines want = { .lines = calloc(LINES_MAX, sizeof(struct line)) };
	struct program prog;
	struct rows rows;
	struct kernel_source *p;
	pid_t hogs[2];

	one_cpu = first_cpu();
	other_cpu = last_cpu();
	if (!ftrace_begin())
		skip_all("no ftrace for this user");
	p = begin(&prog, &rows);
	if (!p)
		skip_all(why);
	hogs[0] = start_hog();
	hogs[1] = start_hog();
	live_run(p, &prog, true);
	write_file("tracing_on", "0");
	kill(hogs[0], SIGKILL);
	kill(hogs[1], SIGKILL);
	learn_deaf(p->why_not_better);
	ok(ftrace_read(&want) && !rows.nr_lost, "neither has lost anything");
	for (size_t i = 0; i < rows.nr; i++)
		row_line(&got, &rows.rows[i]);
	check_kinds(&rows);
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		compare_cpu(&got, &want, cpu);
	check_chains(&rows);
	live_close(p);
	free(rows.rows);
	free(got.lines);
	free(want.lines);
	return done();
}
