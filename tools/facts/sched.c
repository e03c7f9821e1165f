// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows the states of threads and CPUs; see sched.h.  Rows pass through a sorting window; each
 * then moves the threads that it names from one state to the next.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "counters.h"
#include "pauses.h"
#include "rows.h"
#include "sched-private.h"
#include "ticks.h"

#define LOSS_SLACK_NS	20000000	/* a loss is recorded when the buffers are next emptied */
/*
 * a wake-up by another CPU may have a time stamp this much before the switch that began the sleep
 */
#define RACE_NS		20000

const struct context_words context_kinds[] = {
	[CONTEXT_NONE] = { "none", "", "somebody", "", NULL, "others" },
	[CONTEXT_TASK] = { "task", "another task", "", "", NULL, "others" },
	[CONTEXT_IDLE] = { "idle", "idle CPU", "nobody (idle)", "(idle)", "[idle]", "idle" },
	[CONTEXT_HIDDEN] = { "hidden", "another process", "another program (hidden)", "(hidden)",
			   "[hidden]", "another program (hidden)" },
	[CONTEXT_HARDIRQ] = { "hardirq", "interrupt", "an interrupt", "(interrupt)", "[interrupt]",
			    "interrupts" },
	[CONTEXT_SOFTIRQ] = { "softirq", "softirq", "a soft interrupt", "(soft interrupt)",
			    "[softirq]", "soft interrupts" },
	[CONTEXT_STOLEN] = { "stolen", "the hypervisor", "the hypervisor (stolen time)", "(stolen)",
			   "[stolen]", "stolen" },
};

struct context context_of(uint32_t tid, unsigned flags)
{
	return (struct context){
		.kind = tid ? CONTEXT_TASK : flags & LDB_SCHED_F_HIDDEN ? CONTEXT_HIDDEN : CONTEXT_IDLE,
		.tid = tid,
	};
}

bool context_is(const struct context *a, const struct context *b)
{
	return a->kind == b->kind && a->tid == b->tid;
}

static int64_t ticks_of(const struct model *m, int64_t ns)
{
	return ticks_sane(ticks_sane(reader_tick(m->reader, ns)) -
			  ticks_sane(reader_tick(m->reader, 0)));
}

/* Emitting */

static bool has_lost(const struct sched *s, const struct sched_off *off)
{
	const struct model *m = s->m;
	size_t lo = search(m->nr_losses, i, m->losses[i] < off->out);

	return lo < m->nr_losses && m->losses[lo] <= off->in + s->loss_slack;
}

/*
 * Ends the thread's interval off the CPU.  If has_in is false, only the known part of it ends here.
 */
static int end_off(struct sched *s, struct sched_thread *t, int64_t tick, bool has_in)
{
	struct sched_off *off = &t->off;

	cpu_leave(s, t, tick);
	t->phase = SCHED_UNKNOWN;
	off->in = max(tick, off->out);
	off->has_in = has_in;
	if (off->is_preempted) {
		off->woken = off->out;
		off->has_woken = true;
	} else if (!off->has_woken || off->woken > off->in) {
		off->woken = off->in;
	} else if (off->woken < off->out) {
		off->woken = off->out;
	}
	if (t->is_futex_late && !off->is_futex_woken)
		off->nr_futexes = 0;
	off->has_lost = has_lost(s, off);
	/* Runs of other tasks after the known part do not belong to the interval. */
	if (!has_in && off->in < t->charged)
		off->nr_spans = 0;
	off->spans = t->spans;
	return s->sink->off ? s->sink->off(s->sink->arg, off) : 0;
}

static int end_run(struct sched *s, struct sched_thread *t, int64_t tick, bool has_end)
{
	struct sched_run run = {
		.tid = t->tid, .start = t->on_since, .end = tick, .has_start = t->has_on_since,
		.has_end = has_end,
	};

	t->phase = SCHED_UNKNOWN;
	run.end = max(run.end, run.start);
	return s->sink->run ? s->sink->run(s->sink->arg, &run) : 0;
}

/*
 * Returns the tick before which nothing is known of the thread: the start of the range, or the end
 * of the last pause.
 */
static int64_t unknown_until(const struct sched *s, const struct sched_thread *t, int64_t tick)
{
	if (!s->of_processes)
		return s->from;
	return max(s->from, pauses_cut(s->m, pauses_process(s->m, t->tid, tick), tick));
}

/* Ends a run that began before the thread's first row. */
static int end_first_run(struct sched *s, struct sched_thread *t, int64_t tick)
{
	t->on_since = unknown_until(s, t, tick);
	t->has_on_since = false;
	return end_run(s, t, tick, true);
}

static void begin_run(struct sched_thread *t, int64_t tick, bool is_known)
{
	t->phase = SCHED_ON;
	t->on_since = tick;
	t->has_on_since = is_known;
	t->has_waking = false;
}

/*
 * Ends an interval off the CPU if the switch back in was lost: it is known up to the thread's last
 * row.
 */
static int end_broken(struct sched *s, struct sched_thread *t)
{
	s->result->nr_broken++;
	return end_off(s, t, t->last_seen, false);
}

static void begin_off(struct sched_thread *t, int64_t tick, bool has_out)
{
	t->phase = SCHED_OFF;
	t->is_futex_late = false;
	t->last_seen = tick;
	t->off = (struct sched_off){
		.tid = t->tid, .out = tick, .has_out = has_out,
		.state = SCHED_STATE_UNKNOWN, .cpu_out = SCHED_NO_CPU,
		.cpu_wait = SCHED_NO_CPU, .cpu_in = SCHED_NO_CPU, .cpu_waker = SCHED_NO_CPU,
	};
}

/* Begins a new thread with the tid of an earlier one. */
static int begin_thread(struct sched *s, struct sched_thread *t, int64_t tick)
{
	int ret = 0;

	if (t->phase == SCHED_OFF)
		ret = end_broken(s, t);
	else if (t->phase == SCHED_ON)
		ret = end_run(s, t, tick, false);
	cpu_leave(s, t, tick);
	t->phase = SCHED_GONE;
	t->nr_futexes = 0;
	t->has_waking = false;
	if (!ret && s->sink->born)
		ret = s->sink->born(s->sink->arg, t->tid, tick);
	return ret;
}

/* Futexes */

static void on_futex_wait(struct sched *s, struct sched_thread *t, const struct ldb_row_sched *row)
{
	unsigned op = LDB_FUTEX_OP(row->flags);

	/* futex_waitv() leaves one record for each address, all at the same moment. */
	if (op != LDB_FUTEX_WAITV || t->futex_op != op || !t->nr_futexes ||
	    row->tick - t->futex_tick > s->futex_ticks) {
		t->nr_futexes = 0;
		t->futex_op = op;
		t->futex_tick = row->tick;
		t->futex_ran = 0;
		t->futex_since = row->tick;
		t->owner = 0;
	}
	if (t->nr_futexes == SCHED_FUTEXES_MAX)
		return;
	t->futexes[t->nr_futexes++] = row->addr;
	if (!(row->flags & LDB_FUTEX_F_WORDS))
		return;
	/* The mask is FUTEX_TID_MASK. */
	t->owner = op == LDB_FUTEX_PI ? row->value & 0x3fffffff :
		   op == LDB_FUTEX_PLAIN ? row->other : 0;
}

/*
 * Assigns the thread's last futex call to the sleep that begins, if the thread has run only shortly
 * since the call (futex_ran).
 */
static void assign_futex(struct sched *s, struct sched_thread *t, int64_t tick)
{
	struct sched_off *off = &t->off;

	ticks_add(&t->futex_ran, tick - t->futex_since);
	if (!t->nr_futexes || t->futex_ran > s->futex_late_ticks) {
		t->nr_futexes = 0;
		return;
	}
	/* The thread was preempted on its way to sleep, and the sleep is still to come. */
	if (off->is_preempted)
		return;
	if (off->state == LDB_STATE_SLEEPING) {
		off->nr_futexes = t->nr_futexes;
		t->is_futex_late = t->futex_ran > s->futex_ticks;
		off->futex_tick = t->futex_tick;
		off->futex = t->futexes[0];
		off->owner = t->owner == t->tid ? 0 : t->owner;
		memcpy(t->asleep_on, t->futexes, sizeof(t->asleep_on));
	}
	t->nr_futexes = 0;
}

/* Rows */

static int thread_out(struct sched *s, struct sched_thread *t, const struct ldb_row_sched *row)
{
	unsigned state = LDB_SCHED_STATE(row->flags);
	struct sched_off *off = &t->off;
	int ret = 0;

	if (t->phase == SCHED_OFF)
		ret = end_broken(s, t);
	else if (t->phase == SCHED_ON)
		ret = end_run(s, t, row->tick, true);
	else if (t->phase == SCHED_UNKNOWN && !t->is_known)
		ret = end_first_run(s, t, row->tick);
	t->is_known = true;
	if (ret)
		return ret;
	if (state == LDB_STATE_DEAD) {
		t->phase = SCHED_GONE;
		t->nr_futexes = 0;
		return 0;
	}
	/*
	 * A wake-up that came long before this switch was meant for an earlier sleep, which did not
	 * take place.
	 */
	if (t->has_early && row->tick - t->early > s->race_ticks)
		t->has_early = t->has_waking = false;
	begin_off(t, row->tick, true);
	off->state = state;
	off->is_preempted = state == LDB_STATE_RUNNING || row->flags & LDB_SCHED_F_PREEMPT;
	off->cpu_out = row->cpu;
	off->cpu_wait = row->cpu;
	off->gen = row->gen;
	off->pc = row->pc;
	off->next = context_of(row->other, row->flags);
	assign_futex(s, t, row->tick);
	if (off->is_preempted)
		cpu_enter(s, t, row->cpu, row->tick);
	return 0;
}

/* Sets the waker, which an earlier WAKING row has named. */
static void set_waker(struct sched_thread *t)
{
	struct sched_off *off = &t->off;

	if (!t->has_waking)
		return;
	off->waker = t->waker;
	off->cpu_waker = t->cpu_waker;
	for (unsigned i = 0; i < off->nr_futexes && t->has_woken_futex; i++) {
		if (t->asleep_on[i] != t->woken_futex)
			continue;
		off->futex = t->woken_futex;
		off->is_futex_woken = true;
	}
	t->has_waking = false;
}

/*
 * Corrects the end of the time for which the CPU seemed idle.  The CPU cannot have been idle for
 * that long, because an idle CPU would have run the thread; so in the last part of this time the
 * hypervisor ran something else.
 */
static void set_stolen(struct sched *s, struct sched_thread *t, uint32_t ns)
{
	int64_t left = ticks_of(s->m, ns);

	for (unsigned i = t->off.nr_spans; i-- && left > 0;) {
		struct sched_span *span = &t->spans[i], *next = span + 1;
		int64_t ticks = min(left, span->end - span->start);

		if (span->kind != CONTEXT_IDLE)
			continue;
		left -= ticks;
		if (ticks == span->end - span->start) {
			span->kind = CONTEXT_STOLEN;
		} else if (t->off.nr_spans < SCHED_SPANS_MAX) {
			memmove(next + 1, next, (t->off.nr_spans++ - i - 1) * sizeof(*next));
			*next = (struct sched_span){ .kind = CONTEXT_STOLEN, .start = span->end - ticks,
						     .end = span->end };
			span->end -= ticks;
		}
	}
}

static int thread_in(struct sched *s, struct sched_thread *t, const struct ldb_row_sched *row)
{
	struct sched_off *off = &t->off;
	int ret = 0;

	if (t->phase == SCHED_ON) {
		s->result->nr_broken++;
	} else if (t->phase != SCHED_OFF && !t->is_known) {
		begin_off(t, unknown_until(s, t, row->tick), false);
	}
	t->is_known = true;
	if (t->phase == SCHED_OFF) {
		if (!off->is_preempted && !off->has_woken) {
			bool is_early = t->has_early && t->early <= off->out &&
					off->out - t->early <= s->race_ticks;

			if (t->has_waking || is_early) {
				off->woken = is_early ? off->out : t->waking > off->out ?
					     t->waking : off->out;
				off->has_woken = true;
				set_waker(t);
			}
		}
		off->cpu_in = row->cpu;
		cpu_leave(s, t, row->tick);
		if (row->value && row->op == LDB_SCHED_OP_SWITCH)
			set_stolen(s, t, row->value);
		ret = end_off(s, t, row->tick, true);
	}
	t->has_early = false;
	t->futex_since = row->tick;
	begin_run(t, row->tick, true);
	return ret;
}

static int on_switch(struct sched *s, const struct ldb_row_sched *row)
{
	struct context left = context_of(row->tid, row->flags);
	struct context came = context_of(row->other, row->flags);
	struct sched_thread *t = sched_thread(s, row->tid, row->flags & LDB_SCHED_F_TID);
	struct sched_thread *in = sched_thread(s, row->other, row->flags & LDB_SCHED_F_OTHER);
	int ret = 0;

	s->result->nr_switches++;
	s->left_state = LDB_SCHED_STATE(row->flags);
	if (row->flags & LDB_SCHED_F_PREEMPT)
		s->left_state = LDB_STATE_RUNNING;
	cpu_switch(s, row->cpu, &left, row->tick);
	if (t)
		ret = thread_out(s, t, row);
	if (!ret && in && in != t)
		ret = thread_in(s, in, row);
	cpu_set(s, row->cpu, &came, in != NULL, row->tick, true);
	return ret ? ret : s->ret;
}

static void on_waking(struct sched *s, const struct ldb_row_sched *row)
{
	struct sched_thread *t = sched_thread(s, row->other, row->flags & LDB_SCHED_F_OTHER), *w;

	if (!t)
		return;
	t->has_waking = true;
	t->waking = row->tick;
	t->waker = context_of(row->tid, row->flags);
	t->cpu_waker = row->cpu;
	t->has_woken_futex = false;
	if (row->flags & LDB_SCHED_F_HARDIRQ) {
		t->waker.kind = CONTEXT_HARDIRQ;
	} else if (row->flags & LDB_SCHED_F_SOFTIRQ) {
		t->waker.kind = CONTEXT_SOFTIRQ;
	} else {
		w = sched_thread(s, row->tid, false);
		t->has_woken_futex = w && w->has_wake;
		t->woken_futex = w ? w->wake_futex : 0;
	}
	/* In the row of a wake-up by an interrupt, the task is only the interrupted one. */
	if (t->waker.kind == CONTEXT_HARDIRQ || t->waker.kind == CONTEXT_SOFTIRQ)
		t->waker.tid = 0;
}

static int on_wakeup(struct sched *s, const struct ldb_row_sched *row)
{
	struct sched_thread *t = sched_thread(s, row->tid, row->flags & LDB_SCHED_F_TID);
	struct context has_cpu = context_of(row->other, row->flags);
	struct sched_off *off;
	int ret = 0;

	if (!t)
		return 0;
	off = &t->off;
	if (row->flags & LDB_SCHED_F_NEW) {
		ret = begin_thread(s, t, row->tick);
		begin_off(t, row->tick, true);
		off->is_new = true;
		t->is_known = true;
	} else if (t->phase != SCHED_ON && t->phase != SCHED_OFF) {
		if (t->is_known)
			return 0;
		begin_off(t, unknown_until(s, t, row->tick), false);
		t->is_known = true;
	}
	t->last_seen = row->tick;
	if (t->phase == SCHED_ON) {
		/*
		 * A wake-up of a running thread: either the thread was about to sleep and now does
		 * not, or its switch out has a later time stamp.
		 */
		t->has_early = true;
		t->early = row->tick;
		return ret;
	}
	if (off->is_preempted || off->has_woken)
		return ret;
	off->has_woken = true;
	off->woken = row->tick;
	set_waker(t);
	cpu_enter(s, t, row->value, row->tick);
	cpu_set(s, row->value, &has_cpu, sched_thread(s, row->other, false), row->tick, false);
	return ret ? ret : s->ret;
}

static int on_migrate(struct sched *s, const struct ldb_row_sched *row)
{
	struct sched_thread *t = sched_thread(s, row->tid, row->flags & LDB_SCHED_F_TID ||
					      model_thread(s->m, row->tid, row->tick));
	struct sched_migration migration = {
		.tid = row->tid, .from = row->addr, .to = row->value, .tick = row->tick,
	};

	if (!t)
		return 0;
	t->last_seen = row->tick;
	if (t->phase == SCHED_OFF) {
		t->off.nr_migrations++;
		t->off.cpu_wait = row->value;
		if (t->waits_on)
			cpu_enter(s, t, row->value, row->tick);
	}
	return s->sink->migration ? s->sink->migration(s->sink->arg, &migration) : 0;
}

static int on_exec(struct sched *s, const struct ldb_row_sched *row)
{
	struct sched_thread *t = sched_thread(s, row->tid, true);
	int ret;

	if (!t || row->other == row->tid)
		return 0;
	/*
	 * After execve() the thread that called it has the tid of the leader, and all other threads
	 * of the process are gone.
	 */
	ret = begin_thread(s, t, row->tick);
	begin_run(t, row->tick, false);
	t->is_known = true;
	t = sched_thread(s, row->other, false);
	if (!ret && t && t->phase == SCHED_ON)
		ret = end_run(s, t, row->tick, true);
	if (t)
		t->phase = SCHED_GONE;
	return ret;
}

/* Pauses */

static int end_thread(struct sched *s, struct sched_thread *t, int64_t last)
{
	if (t->phase == SCHED_OFF)
		return end_off(s, t, last, false);
	return t->phase == SCHED_ON ? end_run(s, t, last, false) : 0;
}

static int end_all(struct sched *s, int64_t last)
{
	int ret = 0;

	for (size_t i = s->threads.nr; i-- && !ret;)
		ret = end_thread(s, s->threads.at[i], last);
	if (!ret)
		cpu_end_all(s, last);
	return ret ? ret : s->ret;
}

/* After a pause, the state of a thread is unknown, as at the start of the recording. */
static void forget(struct sched_thread *t)
{
	t->phase = SCHED_UNKNOWN;
	t->is_known = t->has_waking = t->has_early = t->has_wake = false;
	t->nr_futexes = 0;
}

static void forget_all(struct sched *s, int64_t until)
{
	s->from = until;
	for (size_t i = 0; i < s->threads.nr; i++)
		forget(s->threads.at[i]);
	cpu_forget_all(s);
}

/* Ends the open intervals of the process that paused; other processes continue. */
static int pause_process(struct sched *s, const struct thread_interval *pause)
{
	int ret = 0;

	for (size_t i = s->threads.nr; i-- && !ret;) {
		struct sched_thread *t = s->threads.at[i];

		if (pauses_process(s->m, t->tid, pause->start) != pause->tid)
			continue;
		ret = end_thread(s, t, pause->start);
		forget(t);
	}
	return ret;
}

/*
 * Ends all open intervals if one or more pauses have begun by tick.  There were no rows between
 * these pauses, so it is sufficient to do so at the first one.
 */
static int pass_pauses(struct sched *s, int64_t tick)
{
	const struct intervals *all = &s->m->pauses;
	size_t n;
	int ret = 0;

	while (!ret && s->next < s->nr_of_processes && s->of_processes[s->next].start <= tick)
		ret = pause_process(s, &s->of_processes[s->next++]);
	if (!s->pause || s->pause->start > tick)
		return ret;
	n = search_by(all->at, all->nr, p, p->start <= tick);
	ret = end_all(s, s->pause->start);
	forget_all(s, all->at[n - 1].end);
	s->pause = n < all->nr ? &all->at[n] : NULL;
	return ret;
}

/*
 * In a pause, only rows about the existence of tasks are recorded.  After an execve(), tids belong
 * to threads of another program.
 */
static int in_pause(struct sched *s, const struct ldb_row_sched *row)
{
	if (row->op != LDB_SCHED_OP_EXEC || row->other == row->tid || !s->sink->born)
		return 0;
	return s->sink->born(s->sink->arg, row->tid, row->tick);
}

static int on_row(void *arg, const void *ordered)
{
	const struct ldb_row_sched *row = ordered;
	struct sched *s = arg;
	struct sched_thread *t;
	int ret = s->pause || s->of_processes ? pass_pauses(s, row->tick) : 0;

	if (ret)
		return ret;
	if (row->tick < s->from && pauses_within(s->m, 0, row->tick, row->tick))
		return in_pause(s, row);
	s->result->nr_rows++;
	s->result->first = min(s->result->first, row->tick);
	s->result->last = max(s->result->last, row->tick);
	switch (row->op) {
	case LDB_SCHED_OP_SWITCH:
	case LDB_SCHED_OP_RUNNING:
		return on_switch(s, row);
	case LDB_SCHED_OP_WAKING:
		on_waking(s, row);
		return 0;
	case LDB_SCHED_OP_WAKEUP:
		return on_wakeup(s, row);
	case LDB_SCHED_OP_MIGRATE:
		return on_migrate(s, row);
	case LDB_SCHED_OP_FUTEX_WAIT:
		t = sched_thread(s, row->tid, true);
		if (t)
			on_futex_wait(s, t, row);
		return 0;
	case LDB_SCHED_OP_FUTEX_WAKE:
		t = sched_thread(s, row->tid, true);
		if (t) {
			t->has_wake = true;
			t->wake_futex = row->addr;
		}
		return 0;
	case LDB_SCHED_OP_EXEC:
		return on_exec(s, row);
	default:
		/*
		 * FORK and EXIT say nothing that the switches do not say; other operations are of a
		 * later version
		 */
		return 0;
	}
}

/* Ends the intervals that are still open after the last row. */
static int end_rows(struct sched *s, int64_t to)
{
	int64_t last = ticks_sane(reader_end_tick(s->m->reader));
	int ret;

	last = max(last, s->result->last);
	last = min(last, to);
	ret = pass_pauses(s, last);
	return ret ? ret : end_all(s, last);
}

COMPARE(by_start, struct thread_interval, UP(start))

static int begin_processes(struct sched *s)
{
	const struct intervals *all = &s->m->pauses;

	s->of_processes = all->nr ? calloc(all->nr, sizeof(*s->of_processes)) : NULL;
	if (all->nr && !s->of_processes)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr; i++)
		if (all->at[i].start >= s->from)
			s->of_processes[s->nr_of_processes++] = all->at[i];
	sort_by(s->of_processes, s->nr_of_processes, by_start);
	return 0;
}

/* Begins at the start of the range or, if that is in a pause, at the end of the pause. */
static int begin(struct sched *s, int64_t from)
{
	const struct thread_interval *first = pauses_after(s->m, 0, from);

	s->from = from < 0 ? 0 : ticks_sane(from);
	if (s->m->nr_processes)
		return begin_processes(s);
	s->pause = first;
	if (!first || first->start > s->from)
		return 0;
	s->from = first->end;
	s->pause = pauses_after(s->m, 0, first->end);
	return 0;
}

int sched_each(struct model *m, int64_t from, int64_t to, const struct sched_sink *sink,
	       struct sched_result *result)
{
	struct reader_filter filter = ROWS_WITHIN(from, to);
	struct sched *s;
	int ret;

	if (m->counters)
		return counters_each(m->counters, from, to, sink, result);
	s = calloc(1, sizeof(*s));
	*result = (struct sched_result){ .first = INT64_MAX, .last = INT64_MIN };
	if (!s)
		return -ENOMEM;
	s->m = m;
	s->sink = sink;
	s->result = result;
	s->futex_ticks = ticks_of(m, SCHED_FUTEX_NS);
	s->futex_late_ticks = ticks_of(m, SCHED_FUTEX_LATE_NS);
	s->loss_slack = ticks_of(m, LOSS_SLACK_NS);
	s->race_ticks = ticks_of(m, RACE_NS + m->kernel_err_ns);
	ret = begin(s, ticks_sane(from));
	if (!ret)
		ret = rows_by_time(m->reader, LDB_BLK_SCHED, &filter, on_row, s);
	if (!ret)
		ret = end_rows(s, ticks_sane(to));
	sched_free(s);
	return ret;
}
