// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records kernel events without the kernel module, by perf: opens the events that are permitted,
 * and makes rows from them.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/backlog.h"
#include "record/names/calls.h"
#include "record/names/disk.h"
#include "record/names/fd.h"
#include "record/perf/private.h"
#include "record/process/proc.h"

/* cost of recording an interrupt: one event at its start, one at its end */
#define IRQ_NS		1000

/*
 * For try_cpus(): number of sleeps on each CPU, total time for all CPUs, and duration of a sleep.
 */
#define TRIES		20
#define TRY_NS		50000000
#define SLEEP_NS	100000

struct perf {
	struct kernel_source source;
	struct perf_options options;
	struct perf_sink sink;
	struct perf_formats formats;
	struct perf_decoder decoder;
	struct perf_tids tids;
	struct perf_fds fds;
	struct backlog events;		/* passed on to watch_events() in order of time */
	struct perf_watch *watch;
	struct kernel_calls calls;
	uint8_t how[LDB_CALLS_MAX];
	struct fd_names *fd_names;
	struct disk_names disk_names;
	uint64_t nr_lost;		/* number of lost events that the kernel has reported */
	uint64_t nr_lost_before;	/* how many of these were lost before the recording began */
	uint64_t nr_unread;		/* invalid records, which were discarded */
	uint64_t nr_unread_reported;
	uint8_t is_deaf[CPULIST_MAX];	/* see help_deaf_cpus() */
};

/*
 * Opens the best mode that works.  why_not_better then says why the first mode does not work, or
 * what it does not record.
 */
static bool open_best(struct perf *p, char *why, size_t size)
{
	enum perf_mode mode = p->options.best ? p->options.best : PERF_TRACEPOINTS;
	int clock = kernel_clock_id(p->source.clock);

	for (; mode <= PERF_SWITCHES_OWN; mode++) {
		char reason[256];

		bool good = perf_fds_open(&p->fds, mode, &p->options, &p->formats, clock, reason,
					  sizeof(reason));

		/* Of several reasons, the user can best act on the first. */
		if (!*p->source.why_not_better)
			snprintf(p->source.why_not_better, sizeof(p->source.why_not_better), "%s",
				 reason);
		if (good)
			return true;
		snprintf(why, size, "%s", reason);
	}
	return false;
}

static void queue_record(void *perf, unsigned cpu, const struct perf_event_header *record)
{
	struct perf *p = perf;
	struct perf_event e;

	if (!perf_decode(&p->decoder, cpu, record, &e))
		return;
	perf_watch_learn(p->watch, &e);
	/* Looked up now, because later the descriptor may belong to another file. */
	if (e.kind == PERF_EVENT_IN_CALL && e.flags & LDB_CALL_HAS_FD)
		e.file = fd_names_get(p->fd_names, e.addr);
	if (e.kind == PERF_EVENT_DISK_INSERT || e.kind == PERF_EVENT_DISK_ISSUE) {
		e.file = disk_names_get(&p->disk_names, e.b);
		if (e.by_tgid != p->tids.tgid && disk_names_is_kernel(&p->disk_names, e.by_tid))
			e.flags |= PERF_BY_KERNEL;
	}
	if (e.kind == PERF_EVENT_LOST)
		p->nr_lost += e.value;
	*(struct perf_event *)backlog_add(&p->events, e.time) = e;
}

static void report_unread(struct perf *p)
{
	struct ldb_row_lost row = { .what = LDB_LOST_KERNEL };
	uint64_t unread = p->nr_unread + p->decoder.nr_bad;

	if (unread == p->nr_unread_reported)
		return;
	row.tick = kernel_clock_tick(p->source.clock, kernel_clock_now(p->source.clock));
	row.count = unread - p->nr_unread_reported;
	p->nr_unread_reported = unread;
	p->sink.row(p->sink.arg, LDB_BLK_LOST, &row);
}

static unsigned read_rings(struct perf *p)
{
	fd_names_forget(p->fd_names);
	return perf_rings_read(p->fds.rings, p->fds.nr_rings, queue_record, p, &p->nr_unread);
}

static void watch_events(void *perf, void *events, size_t nr)
{
	const struct perf_event *e = events;
	struct perf *p = perf;

	for (size_t i = 0; i < nr; i++)
		perf_rows_event(p->watch, &e[i], kernel_clock_tick(p->source.clock, e[i].time));
}

/*
 * One kernel (6.18, in a virtual machine) does not deliver the events that happen while certain
 * tasks run: the idle task of one CPU, and threads of a daemon.  This affects all users of perf.
 * The switches of these tasks, and wake-ups by interrupts meanwhile, are missing without a report
 * of a loss.  (To detect recursion, perf marks in each task the contexts in which perf's code runs.
 * If such a mark is stale, each event looks like recursion.)
 *
 * watch.c detects this: the thread in an event is not the one that came to the CPU last.
 * PERF_RECORD_SWITCH_CPU_WIDE is delivered in another way and is not affected, so it is then opened
 * on this CPU, too, and no switch is missed.  Wake-ups are still missing.
 */

/* Reports, once for each CPU, that events are missing, and opens the switch records. */
static void help_deaf_cpu(struct perf *p, unsigned ring)
{
	static const char text[] = "this kernel drops the events of some tasks: not all wakeups on CPU";
	char *why = p->source.why_not_better;
	size_t size = sizeof(p->source.why_not_better), n = strlen(why);

	if (!strstr(why, text))
		n += snprintf(why + n, size - n, "%s%s", *why ? "; " : "", text);
	if (n < size)
		snprintf(why + n, size - n, " %u", p->fds.rings[ring].cpu);
	p->is_deaf[p->fds.rings[ring].cpu] = 1;
	/* Switch records contain tids of the recorder's namespace, so these must be the keys. */
	if (p->tids.keys_are_tids)
		perf_fds_add_switches(&p->fds, ring, kernel_clock_id(p->source.clock));
}

static void help_deaf_cpus(struct perf *p)
{
	if (p->fds.mode != PERF_TRACEPOINTS)
		return;
	for (unsigned i = 0; i < p->fds.nr_rings; i++)
		if (!p->is_deaf[p->fds.rings[i].cpu] &&
		    perf_watch_is_deaf(p->watch, p->fds.rings[i].cpu))
			help_deaf_cpu(p, i);
}

static bool add_member(void *perf, pid_t pid, pid_t tid)
{
	struct perf *p = perf;
	char name[32];

	proc_line(pid, tid, "comm", name, sizeof(name));
	perf_watch_member(p->watch, tid, name);
	return false;
}

static unsigned highest_cpu(const struct perf_fds *fds)
{
	unsigned highest = 0;

	for (unsigned i = 0; i < fds->nr_rings; i++)
		if (fds->rings[i].cpu > highest)
			highest = fds->rings[i].cpu;
	return highest;
}

static struct perf_watch *new_watch(struct perf *p, const struct perf_sink *sink)
{
	return perf_watch_alloc(&p->tids, p->fds.mode, highest_cpu(&p->fds) + 1, sink);
}

static void ignore(void *arg, unsigned kind, const void *row)
{
}

/* Pins the calling thread to a CPU.  Returns false if that is not possible. */
static bool pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu < CPU_SETSIZE)
		CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

/* Sleeps, so that the CPU becomes idle and busy again, if nothing else runs there. */
static void try_cpu(struct perf *p, unsigned cpu)
{
	for (int i = 0; i < TRIES; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
		read_rings(p);
		backlog_release(&p->events, INT64_MAX);
		if (perf_watch_is_deaf(p->watch, cpu) || perf_watch_heard_idle(p->watch, cpu))
			return;
	}
}

/*
 * Finds out, before events are emitted, on which CPUs the kernel does not deliver all events.  If a
 * CPU's idle task did not run, that is not known; then watch.c detects it later, when a thread
 * comes to the CPU without an event.
 */
static void try_cpus(struct perf *p)
{
	static const struct perf_sink nobody = { .row = ignore };
	cpu_set_t before;
	uint64_t until;

	if (p->fds.mode != PERF_TRACEPOINTS)
		return;
	if (sched_getaffinity(0, sizeof(before), &before))
		return;
	p->watch = new_watch(p, &nobody);
	if (!p->watch)
		return;
	until = kernel_clock_now(p->source.clock) + TRY_NS;
	for (unsigned i = 0; i < p->fds.nr_rings && kernel_clock_now(p->source.clock) < until; i++)
		if (pin(p->fds.rings[i].cpu))
			try_cpu(p, p->fds.rings[i].cpu);
	sched_setaffinity(0, sizeof(before), &before);
	help_deaf_cpus(p);
	p->nr_lost_before = p->nr_lost;
}

/*
 * Begins to deliver events.  The states of the CPUs are copied from the previous object: that of
 * try_cpus(), or the one before a pause.
 */
static bool begin_watch(struct perf *p)
{
	struct perf_watch *tried = p->watch;

	p->watch = new_watch(p, &p->sink);
	if (p->watch && tried)
		perf_watch_take_cpus(p->watch, tried);
	perf_watch_free(tried);
	return p->watch;
}

static unsigned poll(struct kernel_source *s)
{
	struct perf *p = (struct perf *)s;
	/*
	 * The time is taken before the rings are read, because an event that is later than the
	 * reading may not be in the rings.
	 */
	uint64_t limit = kernel_clock_sample(p->source.clock, false);
	unsigned fullest = read_rings(p);

	backlog_release(&p->events, limit - PERF_WINDOW_NS);
	help_deaf_cpus(p);
	report_unread(p);
	return fullest;
}

static void finish(struct kernel_source *s)
{
	struct perf *p = (struct perf *)s;
	/*
	 * Events are switched off one after another, so some continue when others have ended; all
	 * events after this time are dropped.
	 */
	uint64_t lost, end = kernel_clock_now(p->source.clock);

	perf_fds_disable(&p->fds, 0, p->fds.nr_fds);
	read_rings(p);
	/* Times can be converted only between two samples of the clocks. */
	kernel_clock_sample(p->source.clock, true);
	backlog_release(&p->events, end);
	help_deaf_cpus(p);
	perf_rows_finish(p->watch);
	/* The kernel reports a loss with the next event, so the last losses are read separately. */
	lost = perf_fds_lost(&p->fds);
	if (lost > p->nr_lost)
		p->nr_unread += lost - p->nr_lost;
	report_unread(p);
}

static const char *leave_out_irqs(struct kernel_source *s)
{
	struct perf_fds *fds = &((struct perf *)s)->fds;

	perf_fds_disable(fds, fds->irqs_from, fds->irqs_end);
	fds->are_irqs_left_out = true;
	return "interrupts";
}

/*
 * Events are switched off one after another; those that still arrive are dropped like all events
 * during the pause.
 */
static int pause_perf(struct kernel_source *s, bool pause)
{
	struct perf *p = (struct perf *)s;

	if (pause) {
		perf_fds_disable(&p->fds, 0, p->fds.nr_fds);
		return 0;
	}
	/* The rings contain events from before the pause. */
	read_rings(p);
	backlog_release(&p->events, INT64_MAX);
	if (!begin_watch(p))
		return -ENOMEM;
	perf_watch_forget_current(p->watch);
	perf_watch_set_call_min(p->watch, p->options.call_min_ns);
	perf_fds_enable(&p->fds);
	proc_find_thread(p->options.pid, add_member, p);
	return 0;
}

static void close_perf(struct kernel_source *s)
{
	struct perf *p = (struct perf *)s;

	perf_fds_close(&p->fds);
	perf_watch_free(p->watch);
	backlog_exit(&p->events);
	kernel_calls_free(&p->calls);
	fd_names_free(p->fd_names);
	kernel_clock_free(s->clock);
	free(p);
}

static const struct kernel_source_ops ops = {
	.poll = poll, .pause = pause_perf, .finish = finish, .leave_out_irqs = leave_out_irqs, .close = close_perf,
	.irq_ns = IRQ_NS,
};

/* Reads the kernel's symbols, by which system calls are identified. */
static void find_calls(struct perf *p)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");

	p->options.has_calls = symbols && kernel_calls_read(&p->calls, symbols);
	p->decoder.calls = &p->calls;
	if (symbols)
		fclose(symbols);
	calls_describe(p->how);
	p->decoder.how = p->how;
}

static void explain_calls(struct perf *p)
{
	char *why = p->source.why_not_better;
	size_t n = strlen(why);

	snprintf(why + n, sizeof(p->source.why_not_better) - n,
		 "%sno system calls: /proc/kallsyms shows no addresses (sysctl kernel.kptr_restrict)",
		 n ? "; " : "");
}

struct kernel_source *perf_open(const struct perf_options *o, const struct perf_sink *sink,
				char *why, size_t why_size)
{
	struct perf *p = calloc(1, sizeof(*p));

	snprintf(why, why_size, "out of memory");
	if (!p)
		return NULL;
	p->source.ops = &ops;
	p->source.is_deaf = p->is_deaf;
	p->options = *o;
	p->sink = *sink;
	if (kill(o->pid, 0) && errno == ESRCH) {
		snprintf(why, why_size, "there is no process %d", o->pid);
		goto err_close;
	}
	p->source.clock = kernel_clock_alloc(o->clock_id, CLOCK_MONOTONIC_RAW, o->t0, o->offset_ns);
	p->fd_names = fd_names_alloc(o->pid);
	if (!p->fd_names)
		goto err_close;
	if (o->has_calls)
		find_calls(p);
	if (!p->source.clock || !open_best(p, why, why_size))
		goto err_close;
	if (o->has_calls && !p->options.has_calls)
		explain_calls(p);
	p->source.events = LDB_GROUP_SCHED | LDB_GROUP_PROCESS | p->fds.events;
	p->decoder.formats = &p->formats;
	p->decoder.mode = p->fds.mode;
	perf_tids_init(&p->tids, o->pid, p->fds.mode);
	snprintf(why, why_size, "out of memory");
	if (backlog_init(&p->events, sizeof(struct perf_event), SIZE_MAX, watch_events, p))
		goto err_close;
	try_cpus(p);
	if (!begin_watch(p))
		goto err_close;
	perf_watch_set_call_min(p->watch, o->call_min_ns);
	proc_find_thread(o->pid, add_member, p);
	*why = '\0';
	return &p->source;

err_close:
	close_perf(&p->source);
	return NULL;
}

enum perf_mode perf_mode(const struct kernel_source *perf)
{
	return ((const struct perf *)perf)->fds.mode;
}

uint64_t perf_lost(const struct kernel_source *perf)
{
	const struct perf *p = (const struct perf *)perf;

	return p->nr_lost - p->nr_lost_before + p->nr_unread + p->decoder.nr_bad;
}
