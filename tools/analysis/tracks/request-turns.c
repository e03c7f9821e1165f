// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests from the turns of event loops.
 *
 * The runtime records where each turn begins, if it was asked to (LDB_EVENT_TURN).  Otherwise turns
 * are known from system calls.  A call in which the thread did not sleep has no row, unless all
 * system calls were recorded.  So what seems to be one turn may be several, if there was always
 * something to do when the loop asked for events.  A call in which the thread slept has a row with
 * the time at which it left its CPU; the wait ends when it came back.
 *
 * A turn ends, incomplete, when the recording is paused; the next turn begins after the first wait
 * after the pause.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "facts/interruptions.h"
#include "facts/pauses.h"
#include "facts/sched.h"
#include "facts/syscalls.h"
#include "facts/ticks.h"
#include "request-private.h"
#include "trace/loop-calls.h"

struct wait {
	uint32_t tid, thread;
	int64_t start, end;
	uint64_t error;		/* the error of start and of end, ticks */
};

struct sleep {
	uint32_t tid;
	int64_t out, in;
};

struct waits {
	struct model *m;
	struct wait *at;
	size_t nr, room;
	struct sleep *sleeps;	/* the sleeps of the threads that wait */
	size_t nr_sleeps, room_sleeps;
	uint64_t error;		/* the error of the kernel's time stamps, ticks */
};

static int on_call(void *arg, const struct syscall *c)
{
	struct waits *w = arg;

	/* Threads of ldb's own runtime are not in the trace, and their calls are not turns. */
	if (!is_loop_call(c->call.name) || (!c->thread && !w->m->is_kernel_only))
		return 0;
	return array_push(w->at, w->nr, w->room, {
		.tid = c->tid, .thread = model_thread_number(w->m, c->tid, c->start), .start = c->start, .end = c->end,
		.error = w->error,
	});
}

/*
 * Adds the wait before a turn that the runtime has recorded.  The waits found from system calls lie
 * within such waits, and are merged with them.
 */
static int on_turn(void *arg, const struct marked *k)
{
	struct waits *w = arg;
	int64_t ticks = reader_tick(w->m->reader, k->value) - reader_tick(w->m->reader, 0);

	return !k->thread || k->value < 0 ? 0 : array_push(w->at, w->nr, w->room, {
		.tid = k->tid, .thread = model_thread_number(w->m, k->tid, k->tick),
		.start = ticks_sane(k->tick - ticks_sane(ticks)), .end = k->tick,
	});
}

/* Returns true if the thread has waits. w->at must be sorted by tid. */
static bool has_waits(const struct waits *w, uint32_t tid)
{
	size_t i = search(w->nr, i, w->at[i].tid < tid);

	return i < w->nr && w->at[i].tid == tid;
}

static int on_off(void *arg, const struct sched_off *off)
{
	struct waits *w = arg;

	bool is_cut = !off->has_in && pauses_within(w->m, pauses_process(w->m, off->tid, off->out), off->in, off->in);

	/*
	 * A sleep that lasts until a pause of the recording counts: there was no turn until then.
	 */
	if (off->is_preempted || (!off->has_in && !is_cut) || off->is_counted || !has_waits(w, off->tid))
		return 0;
	return array_push(w->sleeps, w->nr_sleeps, w->room_sleeps, { off->tid, off->out, off->in });
}

COMPARE(by_tid, struct wait, UP(tid) UP(start))
COMPARE(sleep_by_tid, struct sleep, UP(tid) UP(out))

/* Sets the ends of waits of which only the start of the sleep was recorded. */
static int find_ends(struct waits *w)
{
	struct sched_sink sink = { .off = on_off, .arg = w };
	struct sched_result result;
	int ret;

	sort_by(w->at, w->nr, by_tid);
	ret = w->nr ? sched_each(w->m, INT64_MIN, INT64_MAX, &sink, &result) : 0;
	sort_by(w->sleeps, w->nr_sleeps, sleep_by_tid);
	for (size_t i = 0; i < w->nr && !ret; i++) {
		struct wait *at = &w->at[i];
		size_t next = search(w->nr_sleeps, k, w->sleeps[k].tid < at->tid ||
				     (w->sleeps[k].tid == at->tid && w->sleeps[k].out <= at->start + LDB_KERNEL_SLACK));
		const struct sleep *s = next ? &w->sleeps[next - 1] : NULL;

		if (at->end == at->start && s && s->tid == at->tid && s->in > at->start)
			at->end = s->in;
	}
	free(w->sleeps);
	return ret;
}

COMPARE(by_thread, struct wait, UP(thread) UP(tid) UP(start))

static int64_t thread_end(const struct model *m, const struct wait *w)
{
	int64_t end = reader_end_tick(m->reader);

	return w->thread < m->nr_threads ? min(m->threads[w->thread].end, end) : end;
}

int request_turns(struct made_requests *made)
{
	struct model *m = made->m;
	struct waits w = { .m = m, .error = max(reader_tick(m->reader, m->kernel_err_ns), (int64_t)0) };
	int ret = syscalls_each(m, NULL, on_call, &w);

	if (!ret)
		ret = find_ends(&w);
	if (!ret)
		ret = turns_each(m, on_turn, &w);
	if (!ret)
		sort_by(w.at, w.nr, by_thread);
	for (size_t i = 0; i < w.nr && !ret; i++) {
		const struct wait *this = &w.at[i], *next = i + 1 < w.nr ? &w.at[i + 1] : NULL;
		const struct thread_interval *pause;
		bool is_last = !next || next->thread != this->thread || next->tid != this->tid;
		int64_t end = is_last ? thread_end(m, this) : next->start;

		if (!is_last && next->start <= this->end) {
			/*
			 * Of merged waits only the end is still needed, so their error is that of
			 * the end.
			 */
			if (this->end == next->end)
				w.at[i + 1].error = min(this->error, next->error);
			else if (this->end > next->end)
				w.at[i + 1].error = this->error;
			w.at[i + 1].end = max(this->end, next->end);
			continue;
		}
		pause = pauses_between(m, pauses_process(m, this->tid, this->start), this->end, end);
		end = pause ? pause->start : end;
		if (end <= this->end)
			continue;
		ret = array_push(made->at, made->nr, made->room, {
			.tid = this->tid, .thread = this->thread, .start = this->end, .end = end,
			.is_open = is_last, .is_cut = pause, .resolution = this->error + (is_last || pause ? this : next)->error, .class = REQUEST_LOOP,
		});
	}
	free(w.at);
	return ret;
}
