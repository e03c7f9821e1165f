// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds stalls of event loops; see flight-stalls.h.
 *
 * A new request also shows progress, because a loop that always finds work does not sleep, and
 * calls that do not sleep have no rows.  Only threads that have slept in such a call are regarded
 * as loops.
 */
#include <stdbool.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/hash.h"
#include "base/sort.h"
#include "record/flight-stalls.h"
#include "trace/loop-calls.h"

#define LOOPS_MAX	4096	/* if there are more, those are forgotten that waited longest ago */

struct moment {			/* a thread began to wait, has waited, or began a request */
	int64_t from, to;	/* equal: a request */
	uint32_t tid;
};

struct loop {
	uint32_t tid;
	int64_t last;
};

struct flight_stalls {
	flight_stalls_fn *fn;
	void *arg;
	struct loop *loops;
	size_t nr_loops, room_loops;
	struct hash loop_of;
	struct moment *moments;		/* of this pass */
	size_t nr, room;
};

struct flight_stalls *flight_stalls_alloc(flight_stalls_fn *fn, void *arg)
{
	struct flight_stalls *s = calloc(1, sizeof(*s));

	if (s) {
		s->fn = fn;
		s->arg = arg;
	}
	return s;
}

void flight_stalls_free(struct flight_stalls *s)
{
	if (!s)
		return;
	hash_free(&s->loop_of);
	free(s->loops);
	free(s->moments);
	free(s);
}

static struct loop *loop_of(struct flight_stalls *s, uint32_t tid)
{
	uint32_t n;

	hash_each(&s->loop_of, hash_mix(0, tid), n)
		if (s->loops[n].tid == tid)
			return &s->loops[n];
	return NULL;
}

void flight_stalls_starts(struct flight_stalls *s, const struct ldb_row_req *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (rows[i].op == LDB_REQ_OP_CUT)
			array_push(s->moments, s->nr, s->room, { rows[i].tick, rows[i].tick, 0 });
		else if (rows[i].op == LDB_REQ_OP_START && loop_of(s, rows[i].tid))
			array_push(s->moments, s->nr, s->room, { rows[i].tick, rows[i].tick, rows[i].tid });
}

void flight_stalls_calls(struct flight_stalls *s, const struct ldb_row_syscall *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (is_loop_call(rows[i].name))
			array_push(s->moments, s->nr, s->room, { rows[i].start, rows[i].end, rows[i].tid });
}

COMPARE(by_time, struct moment, UP(from))

/* At the start or end of a pause: the time of a pause is not a stall. */
static void follow_pause(struct flight_stalls *s, int64_t tick)
{
	for (size_t i = 0; i < s->nr_loops; i++)
		if (s->loops[i].last < tick)
			s->loops[i].last = tick;
}

COMPARE(latest_first, struct loop, DOWN(last))

/* Threads come and go for weeks. */
static void forget_oldest(struct flight_stalls *s)
{
	sort_by(s->loops, s->nr_loops, latest_first);
	s->nr_loops /= 2;
	hash_clear(&s->loop_of);
	for (size_t i = 0; i < s->nr_loops; i++)
		hash_add(&s->loop_of, hash_mix(0, s->loops[i].tid), i);
}

static void follow(struct flight_stalls *s, const struct moment *m)
{
	struct loop *l = loop_of(s, m->tid);

	if (!m->tid) {
		follow_pause(s, m->from);
		return;
	}
	if (!l) {
		if (m->from == m->to)
			return;
		if (s->nr_loops == LOOPS_MAX)
			forget_oldest(s);
		if (!array_room(&s->loops, &s->room_loops, s->nr_loops, sizeof(*s->loops)) ||
		    hash_add(&s->loop_of, hash_mix(0, m->tid), s->nr_loops))
			return;
		l = &s->loops[s->nr_loops++];
		*l = (struct loop){ m->tid, m->to };
		return;
	}
	if (m->from > l->last)
		s->fn(s->arg, m->tid, l->last, m->from);
	if (m->to > l->last)
		l->last = m->to;
}

void flight_stalls_pass(struct flight_stalls *s)
{
	sort_by(s->moments, s->nr, by_time);
	for (size_t i = 0; i < s->nr; i++)
		follow(s, &s->moments[i]);
	s->nr = 0;
}
