// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows event loops; see loops.h.
 *
 * Only threads that have waited in one of the system calls of event loops (is_loop_call()) are
 * regarded as loops.  A new request is a sign of progress, too: a loop that always finds work does
 * not sleep, and system calls without sleep have no rows unless all system calls are recorded.
 */
#include <linux/ldb.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "record/requests/loops.h"
#include "trace/loop-calls.h"

/* threads that are followed; beyond this, those that waited longest ago are dropped */
#define LOOPS_MAX	4096

enum what { CUT, STARTS, WAITED, SLEEPS, RUNS, EXITS };

struct moment {
	int64_t from, to;	/* WAITED: start and end of the system call; else both are equal */
	uint32_t tid;
	enum what what;
};

struct loop {
	uint32_t tid;
	bool is_asleep;		/* the thread went to sleep, and was not switched in yet */
	/* the thread has not waited since a pause, so the beginning of its turn is not known */
	bool is_cut;
	int64_t last;		/* end of its last wait, or beginning of its last request */
};

struct loops {
	loops_fn *fn;
	void *arg;
	loops_thread_fn *is_of_program;
	void *thread_arg;
	struct loop *all;
	size_t nr_all, room_all;
	struct hash loop_of;
	struct moment *moments;		/* what has happened since the last pass */
	size_t nr, room;
};

struct loops *loops_alloc(loops_fn *fn, void *arg)
{
	struct loops *l = calloc(1, sizeof(*l));

	if (l) {
		l->fn = fn;
		l->arg = arg;
	}
	return l;
}

void loops_on_thread(struct loops *l, loops_thread_fn *fn, void *arg)
{
	l->is_of_program = fn;
	l->thread_arg = arg;
}

void loops_free(struct loops *l)
{
	if (!l)
		return;
	hash_free(&l->loop_of);
	free(l->all);
	free(l->moments);
	free(l);
}

static struct loop *loop_of(struct loops *l, uint32_t tid)
{
	uint32_t n;

	hash_each(&l->loop_of, hash_mix(0, tid), n)
		if (l->all[n].tid == tid)
			return &l->all[n];
	return NULL;
}

static void note(struct loops *l, enum what what, uint32_t tid, int64_t from, int64_t to)
{
	if (array_push(l->moments, l->nr, l->room, { from, to, tid, what }))
		return;		/* no memory: a turn may be missing */
}

void loops_starts(struct loops *l, const struct ldb_row_req *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (rows[i].op == LDB_REQ_OP_CUT)
			loops_cut(l, rows[i].tick);
		else if (rows[i].op == LDB_REQ_OP_START && loop_of(l, rows[i].tid))
			note(l, STARTS, rows[i].tid, rows[i].tick, rows[i].tick);
}

void loops_calls(struct loops *l, const struct ldb_row_syscall *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (is_loop_call(rows[i].name))
			note(l, rows[i].flags & LDB_SYSCALL_F_SLEEP ? SLEEPS : WAITED, rows[i].tid, rows[i].start, rows[i].end);
}

/* There are many switches, so those of threads that are not known as loops are ignored. */
void loops_sched(struct loops *l, const struct ldb_row_sched *rows, size_t nr)
{
	for (size_t i = 0; i < nr && l->nr_all; i++)
		if (rows[i].op == LDB_SCHED_OP_SWITCH && rows[i].flags & LDB_SCHED_F_OTHER && loop_of(l, rows[i].other))
			note(l, RUNS, rows[i].other, rows[i].tick, rows[i].tick);
		else if (rows[i].op == LDB_SCHED_OP_EXIT && loop_of(l, rows[i].tid))
			note(l, EXITS, rows[i].tid, rows[i].tick, rows[i].tick);
}

void loops_cut(struct loops *l, int64_t tick)
{
	note(l, CUT, 0, tick, tick);
}

/* A pause is not a stall, and what a loop did during it is not known. */
static void cut_all(struct loops *l, int64_t tick)
{
	for (size_t i = 0; i < l->nr_all; i++) {
		if (l->all[i].last >= tick)
			continue;	/* the thread has waited during the whole pause */
		l->all[i].last = tick;
		l->all[i].is_cut = true;
	}
}

/* Removes an exited thread, whose tid may be used again. */
static void forget(struct loops *l, struct loop *loop)
{
	uint32_t n = loop - l->all, last = l->nr_all - 1;

	hash_remove(&l->loop_of, hash_mix(0, loop->tid), n);
	if (n != last) {
		hash_remove(&l->loop_of, hash_mix(0, l->all[last].tid), last);
		*loop = l->all[last];
		hash_put(&l->loop_of, hash_mix(0, loop->tid), n);
	}
	l->nr_all--;
}

COMPARE(latest_first, struct loop, DOWN(last))

/*
 * Drops the half of the loops that waited longest ago: in a long recording, many threads come and
 * go.
 */
static void forget_oldest(struct loops *l)
{
	sort_by(l->all, l->nr_all, latest_first);
	l->nr_all /= 2;
	hash_clear(&l->loop_of);
	for (size_t i = 0; i < l->nr_all; i++)
		hash_add(&l->loop_of, hash_mix(0, l->all[i].tid), i);
}

static void add(struct loops *l, const struct moment *m)
{
	if (l->is_of_program && !l->is_of_program(l->thread_arg, m->tid))
		return;
	if (l->nr_all == LOOPS_MAX)
		forget_oldest(l);
	if (!array_room(&l->all, &l->room_all, l->nr_all, sizeof(*l->all)) ||
	    hash_add(&l->loop_of, hash_mix(0, m->tid), l->nr_all))
		return;
	l->all[l->nr_all++] = (struct loop){ .tid = m->tid, .is_asleep = m->what == SLEEPS, .last = m->to };
}

/*
 * The row of a whole system call may come after those of its sleep, and after the switch that ended
 * the sleep.
 */
static void wait(struct loops *l, struct loop *loop, const struct moment *m)
{
	if (!loop->is_asleep && !loop->is_cut && m->from > loop->last)
		l->fn(l->arg, loop->tid, loop->last, m->from);
	if (m->what == WAITED)
		loop->is_asleep = false;
	else if (m->from > loop->last)
		loop->is_asleep = true;
	if (m->to >= loop->last)
		loop->is_cut = false;
	loop->last = max(loop->last, m->to);
}

static void follow(struct loops *l, const struct moment *m)
{
	struct loop *loop = m->what == CUT ? NULL : loop_of(l, m->tid);

	if (m->what == CUT)
		cut_all(l, m->from);
	else if (!loop && (m->what == WAITED || m->what == SLEEPS))
		add(l, m);
	else if (loop && (m->what == WAITED || m->what == SLEEPS))
		wait(l, loop, m);
	else if (loop && m->what == RUNS && loop->is_asleep && !loop->is_cut && m->from > loop->last)
		*loop = (struct loop){ .tid = loop->tid, .last = m->from };
	else if (loop && m->what == STARTS && m->from >= loop->last)
		*loop = (struct loop){ .tid = loop->tid, .is_asleep = loop->is_asleep, .last = m->from };
	else if (loop && m->what == EXITS)
		forget(l, loop);
}

COMPARE(by_time, struct moment, UP(from))

void loops_pass(struct loops *l)
{
	sort_by(l->moments, l->nr, by_time);
	for (size_t i = 0; i < l->nr; i++)
		follow(l, &l->moments[i]);
	l->nr = 0;
}
