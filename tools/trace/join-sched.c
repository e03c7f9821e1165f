// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When a thread of one process leaves its CPU to a thread of another, or wakes it up, both
 * recorders have the event.  It is written once, with what both recorders know.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/ldb.h>
#include "trace/join-private.h"

#define ROWS_MAX	512
#define ROWS_KEPT	128	/* how many other events may be between the two rows */
/* time stamps of one event by perf and by ldb's kernel module differ by less than this */
#define SAME_NS		5000

/* Ticks of a damaged trace may be any numbers, so the sums must not be of signed numbers. */
static bool are_near(int64_t a, int64_t b, uint64_t slack)
{
	return (uint64_t)a - (uint64_t)b + slack <= 2 * slack;
}

static bool is_same(const struct ldb_row_sched *a, const struct ldb_row_sched *b)
{
	return a->op == b->op && a->tid == b->tid && a->other == b->other && a->cpu == b->cpu;
}

/*
 * Merges two rows of one event.  Only the recorder of the thread that left its CPU knows in which
 * function the thread was.
 */
static void merge(struct ldb_row_sched *into, const struct ldb_row_sched *r)
{
	if (!into->gen && r->gen) {
		into->gen = r->gen;
		into->addr = r->addr;
		into->pc = r->pc;
	}
	if (!(into->flags & LDB_SCHED_F_TID) && r->flags & LDB_SCHED_F_TID)
		into->flags = (into->flags & LDB_SCHED_F_OTHER) | r->flags;
	into->flags |= r->flags & LDB_SCHED_F_OTHER;
}

static bool merge_with_one(struct join_sched *s, const struct join_part *p,
			   const struct ldb_row_sched *r, uint64_t slack)
{
	size_t first = s->nr > ROWS_KEPT ? s->nr - ROWS_KEPT : 0;

	for (size_t i = s->nr; i-- > first && are_near(r->tick, s->rows[i].tick, slack);) {
		if (s->parts[i] == p || !is_same(&s->rows[i], r))
			continue;
		merge(&s->rows[i], r);
		s->parts[i] = p;	/* no third part has the same event */
		return true;
	}
	return false;
}

static int write_some(struct join *j, struct join_sched *s, size_t nr)
{
	int rc = nr ? writer_add_scheds(j->w, s->rows, nr) : 0;

	s->nr -= nr;
	memmove(s->rows, s->rows + nr, s->nr * sizeof(*s->rows));
	memmove(s->parts, s->parts + nr, s->nr * sizeof(*s->parts));
	return rc;
}

int join_sched_add(struct join *j, struct join_sched *s, const struct join_part *p,
		   const struct ldb_row_sched *rows, size_t nr)
{
	uint64_t slack = SAME_NS * (j->header.clock_hz / 1000000) / 1000;
	int rc = 0;

	if (!s->rows) {
		s->rows = calloc(ROWS_MAX, sizeof(*s->rows));
		s->parts = calloc(ROWS_MAX, sizeof(*s->parts));
	}
	if (!s->rows || !s->parts)
		return -ENOMEM;
	for (size_t i = 0; i < nr && !rc; i++) {
		if (merge_with_one(s, p, &rows[i], slack))
			continue;
		if (s->nr == ROWS_MAX)
			rc = write_some(j, s, ROWS_MAX - ROWS_KEPT);
		s->rows[s->nr] = rows[i];
		s->parts[s->nr++] = p;
	}
	return rc;
}

int join_sched_end(struct join *j, struct join_sched *s)
{
	int rc = s->nr ? write_some(j, s, s->nr) : 0;

	free(s->rows);
	free(s->parts);
	return rc;
}
