// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds how far apart the clocks of two machines are, from requests that went from one machine to
 * the other.  Such a request has an instance in the trace of each machine, with the same W3C trace
 * id.  The shorter instance lies within the longer one, because the client waited for the server's
 * answer.  And a message arrives later than it was sent (join-messages.c).  Each such pair of times
 * bounds the difference of the clocks; all pairs together give the narrowest bounds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "trace/join-private.h"

struct linked {			/* a request with a trace id, as one trace has it */
	uint64_t hi, lo;
	int64_t start, end;	/* ticks of the result */
};

struct linkeds {
	struct join_part *p;
	const struct ldb_row_reqtab *requests;
	size_t nr_requests;
	struct linked *at;	/* sorted by trace id; each trace id occurs once */
	size_t nr, room;
};

/*
 * Returns the request that had this id at that time, or else the next one that had it; NULL: there
 * is none, or it did not end.
 */
static const struct ldb_row_reqtab *find_request(const struct linkeds *l, uint64_t id, int64_t tick)
{
	size_t n = search_by(l->requests, l->nr_requests, r, r->id < id || (r->id == id && r->start <= tick));
	const struct ldb_row_reqtab *r;

	/* The link may have been recorded before its request started. */
	if (n && l->requests[n - 1].id == id && l->requests[n - 1].end >= tick)
		r = &l->requests[n - 1];
	else if (n < l->nr_requests && l->requests[n].id == id)
		r = &l->requests[n];
	else
		return NULL;
	return r->complete ? r : NULL;
}

static int add_links(void *arg, const struct reader_rows *rows)
{
	struct linkeds *l = arg;
	int rc = 0;

	for (size_t i = 0; i < rows->nr && !rc; i++) {
		const struct ldb_row_reqname *row = &rows->reqname[i];
		const struct ldb_row_reqtab *r;

		if (*row->name || !(row->trace_hi | row->trace_lo))
			continue;
		r = find_request(l, row->id, row->tick);
		if (r)
			rc = array_push(l->at, l->nr, l->room,
					{ row->trace_hi, row->trace_lo, join_tick(l->p, r->start),
					  join_tick(l->p, r->end) });
	}
	return rc;
}

COMPARE(compare, struct linked, UP(hi) UP(lo) UP(start))

static int read_links(struct join_part *p, struct linkeds *l)
{
	size_t nr = 0;
	int rc;

	*l = (struct linkeds){ .p = p };
	rc = reader_requests(p->r, &l->requests, &l->nr_requests);
	if (!rc)
		rc = reader_each(p->r, LDB_BLK_REQNAME, NULL, add_links, l);
	sort_by(l->at, l->nr, compare);
	for (size_t i = 0; i < l->nr; i++) {
		struct linked *last = nr ? &l->at[nr - 1] : NULL;

		if (last && last->hi == l->at[i].hi && last->lo == l->at[i].lo)
			last->end = max(last->end, l->at[i].end);
		else
			l->at[nr++] = l->at[i];
	}
	l->nr = nr;
	return rc;
}

/*
 * Bounds of the correction that is added to the ticks of the other clock.  Clocks drift, so the
 * time is divided into slots, each with bounds of its own.  A bound is also valid in the slots
 * around its own, but it is wider there by the drift in the time between them.
 */
#define SLOTS		1024
/*
 * greatest drift between two clocks after their times of day were compared; cheap oscillators drift
 * by this much
 */
#define DRIFT		1e-4
#define BOUND_MAX	(INT64_MAX / 4)

struct bounds {
	int64_t from, step;	/* ticks of the result */
	int64_t drift;		/* ticks from slot to slot */
	int64_t lo[SLOTS], hi[SLOTS];
	bool is_used[SLOTS];
	uint64_t nr;		/* number of pairs from which the bounds follow */
};

static void bounds_init(struct bounds *b, int64_t from, int64_t to, double drift)
{
	int64_t ticks;

	b->from = from;
	b->step = __builtin_sub_overflow(to, from, &ticks) || ticks < 0 ? INT64_MAX / SLOTS : ticks / SLOTS + 1;
	b->drift = drift ? b->step * drift + 1 : 0;
	b->nr = 0;
	for (unsigned i = 0; i < SLOTS; i++) {
		b->lo[i] = -BOUND_MAX;
		b->hi[i] = BOUND_MAX;
		b->is_used[i] = false;
	}
}

static void add_bounds(struct bounds *b, int64_t at, int64_t lo, int64_t hi)
{
	int64_t ticks;
	size_t i = __builtin_sub_overflow(at, b->from, &ticks) || ticks < 0 ? 0 : ticks / b->step;

	i = min(i, (size_t)SLOTS - 1);
	b->lo[i] = max(b->lo[i], lo);
	b->hi[i] = min(b->hi[i], hi);
	b->is_used[i] = true;
	b->nr++;
}

static int64_t difference(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		return a < b ? -BOUND_MAX : BOUND_MAX;
	return min(max(d, -BOUND_MAX), BOUND_MAX);
}

static void add_pair(struct bounds *b, const struct linked *known, const struct linked *other)
{
	int64_t starts = difference(known->start, other->start), ends = difference(known->end, other->end);

	/* Either machine may be the client: it is the one with the longer instance. */
	add_bounds(b, known->start, min(starts, ends), max(starts, ends));
}

static void add_pairs(struct bounds *b, const struct linkeds *known, const struct linkeds *other)
{
	for (size_t i = 0, k = 0; i < known->nr && k < other->nr;) {
		const struct linked *a = &known->at[i], *o = &other->at[k];

		if (a->hi == o->hi && a->lo == o->lo) {
			add_pair(b, a, o);
			i++;
			k++;
		} else if (a->hi < o->hi || (a->hi == o->hi && a->lo < o->lo)) {
			i++;
		} else {
			k++;
		}
	}
}

struct pairs {
	struct join_pair *at;
	size_t nr, room;
};

static int keep_pair(void *arg, const struct join_pair *p)
{
	struct pairs *to = arg;

	return p->has_answer ? array_push(to->at, to->nr, to->room, *p) : 0;
}

/*
 * Messages bound the difference, too: no message arrives before it was sent.  These bounds are
 * narrower than those from requests, because a client's request begins before its message is sent,
 * and ends after the answer has arrived.
 */
static void add_messages(struct bounds *b, const struct pairs *pairs, uint32_t known, uint32_t other)
{
	for (size_t i = 0; i < pairs->nr; i++) {
		const struct join_pair *p = &pairs->at[i];
		int64_t asks = difference(p->sent, p->came), answers = difference(p->answer_came, p->answer_sent);

		if (p->client == known && p->server == other)
			add_bounds(b, p->sent, asks, answers);
		else if (p->server == known && p->client == other)
			add_bounds(b, p->came, -answers, -asks);
	}
}

/* Narrows the bounds of each slot by the bounds of the slots around it. */
static void spread(struct bounds *b)
{
	for (size_t i = 1; i < SLOTS; i++) {
		b->lo[i] = max(b->lo[i], b->lo[i - 1] - b->drift);
		b->hi[i] = min(b->hi[i], b->hi[i - 1] + b->drift);
	}
	for (size_t i = SLOTS - 1; i--;) {
		b->lo[i] = max(b->lo[i], b->lo[i + 1] - b->drift);
		b->hi[i] = min(b->hi[i], b->hi[i + 1] + b->drift);
	}
}

/*
 * Corrects the clock of a part by the middle of the bounds, if there are pairs, and if this makes
 * the error smaller.  The error is the greatest error in any slot that has pairs.  If pairs
 * contradict each other (hi < lo), the error is greater.
 */
static void apply(struct join_part *p, const struct bounds *b)
{
	int64_t lo = BOUND_MAX, hi = -BOUND_MAX, middle, odds = 0;
	uint64_t err = 0;

	for (size_t i = 0; i < SLOTS; i++) {
		if (!b->is_used[i])
			continue;
		lo = min(lo, b->lo[i]);
		hi = max(hi, b->hi[i]);
		odds = max(odds, b->lo[i] - b->hi[i]);
	}
	middle = lo / 2 + hi / 2;
	for (size_t i = 0; i < SLOTS; i++)
		if (b->is_used[i])
			err = max(err, (uint64_t)max(llabs(b->lo[i] - middle), llabs(b->hi[i] - middle)));
	err += odds / 2 + b->drift;
	if (!b->nr || err + 1 >= p->clock_err || __builtin_add_overflow(p->shift, middle, &p->shift))
		return;
	p->clock_err = err + 1;
}

static bool is_one_clock(const struct join_part *a, const struct join_part *b)
{
	const char *boot_a = reader_meta(a->r, "boot"), *boot_b = reader_meta(b->r, "boot");

	return a == b || (boot_a && boot_b && !strcmp(boot_a, boot_b));
}

/* Initialises the bounds of part i.  Its slots cover the time of all parts whose clock is known. */
static void bounds_init_for(struct bounds *b, const struct join *j, size_t i)
{
	int64_t from = INT64_MAX, to = INT64_MIN;

	for (size_t k = 0; k < j->nr; k++) {
		const struct join_part *p = &j->parts[k];

		if (!p->is_same_clock)
			continue;
		from = min(from, join_tick(p, 0));
		to = max(to, join_tick(p, reader_end_tick(p->r)));
	}
	/* Clocks of two time namespaces do not drift, because they have the same oscillator. */
	bounds_init(b, from, to, is_one_clock(&j->parts[0], &j->parts[i]) ? 0 : DRIFT);
}

int join_links(struct join *j)
{
	struct linkeds *l = calloc(j->nr, sizeof(*l));
	int rc = l ? 0 : -ENOMEM;
	bool *is_known = calloc(j->nr, sizeof(*is_known));
	struct join_messages count;
	struct pairs pairs = { 0 };

	if (!is_known)
		rc = -ENOMEM;
	for (size_t i = 0; i < j->nr && !rc; i++) {
		rc = read_links(&j->parts[i], &l[i]);
		is_known[i] = j->parts[i].is_same_clock;
	}
	if (!rc)
		rc = join_messages_each(j, false, keep_pair, &pairs, &count);
	for (size_t i = 0; i < j->nr && !rc; i++) {
		struct bounds b;

		if (is_known[i])
			continue;
		bounds_init_for(&b, j, i);
		for (size_t other = i; other < j->nr; other++)
			for (size_t k = 0; k < j->nr && is_one_clock(&j->parts[i], &j->parts[other]); k++)
				if (j->parts[k].is_same_clock) {
					add_pairs(&b, &l[k], &l[other]);
					add_messages(&b, &pairs, k, other);
				}
		spread(&b);
		for (size_t other = j->nr; other-- > i;) {
			if (!is_one_clock(&j->parts[i], &j->parts[other]))
				continue;
			apply(&j->parts[other], &b);
			is_known[other] = true;
		}
	}
	for (size_t i = 0; l && i < j->nr; i++)
		free(l[i].at);
	free(pairs.at);
	free(is_known);
	free(l);
	return rc;
}
