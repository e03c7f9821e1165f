// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This automaton checks requests: start, block, end.
 *
 * A request begins with the first record that names it, continues on threads and in queues, and
 * ends with the first end.  A later record with the same id belongs to another request.  So each
 * end needs a request; a thread does not start a request that it has started and not left; and
 * after ARRIVED the same thread starts the request at once.  The table of requests must agree with
 * the rows: it is made again here, and the sums of both are compared.
 *
 * Legal exceptions:
 * - If the recorder attached to a running program, a request whose first record is its end
 *   had begun before.
 * - A request that has not ended continues after the recording.
 * - A request may be blocked by a thread that never started it but put it into the queue, and any
 *   thread may end it, as the API permits.
 * - A thread that is about to exit, or was never registered, may tag requests: the API works
 *   in threads that ldb does not know.  But no thread does so before it was created.
 * - Lost records may explain that a row is missing: see oracle_excused().
 * - At a pause (LDB_REQ_OP_CUT) all open requests are over, without an end.  If an item is put into
 *   a queue again that was not taken out, the earlier request is over.
 * - The table may be missing if there are more requests than it may have, if the recording was cut
 *   short, and in a dump of a flight recorder.  If the disk became full, the table has as many rows
 *   as there was room for.
 */
#include <inttypes.h>
#include "map.h"
#include "sorted.h"

/* threads of a request that are stored; further ones are ignored */
#define WORKERS		3
#define TABLE_MAX	(4U << 20)	/* most rows that the recorder retains */
#define AGE_MAX_S	86400	/* the API refuses more */

struct request {
	int64_t start;
	uint64_t serial;		/* a different number for each instance of an id */
	uint32_t nr_segments;
	uint32_t nr_workers;
	uint32_t workers[WORKERS];
};

struct work {				/* a request that a thread has started, and perhaps left */
	uint64_t id, serial;
};

struct worker {				/* a thread */
	struct work *works;
	size_t nr, room;
	bool awaits_start;
	uint64_t arrived;		/* id */
};

struct sum {
	uint64_t nr, nr_complete, segments, hash;
};

struct requests {
	struct oracle *o;
	struct map open, workers, seen;
	uint64_t serial, nr_of[LDB_REQ_OP_ARRIVED + 1], nr_before, age_max;
	struct sum sum;
};

static void bad(struct requests *q, const char *rule, const struct ldb_row_req *r, const char *text)
{
	oracle_violation(q->o, ORACLE_REQUESTS, rule, "op %u tid %u tick %" PRId64 " id %" PRIu64 " queue %"
			 PRIx64 " site %" PRIx64 "%s%s", r->op, r->tid, r->tick, r->id, r->queue, r->site,
			 *text ? ": " : "", text);
}

/* The table */

static uint64_t mix(uint64_t h)
{
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdULL;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53ULL;
	return h ^ h >> 33;
}

static void sum_add(struct sum *s, uint64_t id, int64_t start, int64_t end, uint32_t segments,
		    bool complete)
{
	s->nr++;
	s->nr_complete += complete;
	s->segments += segments;
	s->hash += mix(id ^ mix(start ^ mix(complete ? (uint64_t)end : 1) ^ mix(segments)));
}

static void check_table(struct requests *q)
{
	struct cursor *c = reader_cursor(q->o->r, LDB_BLK_REQTAB, NULL);
	struct ldb_row_reqtab before = { 0 };
	struct reader_rows in;
	struct sum sum = { 0 };

	while (c && cursor_next(c, &in) > 0) {
		for (size_t i = 0; i < in.nr; i++) {
			const struct ldb_row_reqtab *t = &in.reqtab[i];

			if (t->end < t->start)
				oracle_violation(q->o, ORACLE_REQUESTS, "table: ends before it starts", "id %"
						 PRIu64, t->id);
			if (sum.nr && (t->id < before.id || (t->id == before.id && t->start < before.start)))
				oracle_violation(q->o, ORACLE_REQUESTS, "table: not in order", "id %" PRIu64,
						 t->id);
			before = *t;
			sum_add(&sum, t->id, t->start, t->end, t->nr_segments, t->complete);
		}
	}
	cursor_close(c);
	oracle_counts(q->o, ORACLE_REQUESTS, "%" PRIu64 " in the table", sum.nr);
	if (!sum.nr && (q->o->is_cut || q->o->is_dump || q->sum.nr >= TABLE_MAX))
		return;
	if (q->o->disk_full && sum.nr < q->sum.nr)
		return;
	if (sum.nr != q->sum.nr || sum.nr_complete != q->sum.nr_complete ||
	    sum.segments != q->sum.segments || sum.hash != q->sum.hash)
		oracle_violation(q->o, ORACLE_REQUESTS, "table and rows differ", "table: %" PRIu64
				 " requests, %" PRIu64 " complete, %" PRIu64 " segments; rows: %" PRIu64 ", %"
				 PRIu64 ", %" PRIu64 "%s", sum.nr, sum.nr_complete, sum.segments, q->sum.nr,
				 q->sum.nr_complete, q->sum.segments,
				 sum.nr == q->sum.nr && sum.segments == q->sum.segments ? ": other times" : "");
}

/* Events */

static struct request *heard_of(struct requests *q, uint64_t id, int64_t tick)
{
	struct request *r = map_find(&q->open, id);

	if (r)
		return r;
	r = map_get(&q->open, id);
	*r = (struct request){ .start = tick, .serial = ++q->serial };
	if (q->o->attached)
		map_get(&q->seen, id);
	return r;
}

static bool works_on(const struct request *r, uint32_t tid)
{
	for (uint32_t i = 0; i < r->nr_workers; i++)
		if (r->workers[i] == tid)
			return true;
	return false;
}

static void leave(struct request *r, uint32_t tid)
{
	for (uint32_t i = 0; i < r->nr_workers; i++)
		if (r->workers[i] == tid)
			r->workers[i--] = r->workers[--r->nr_workers];
}

/*
 * Adds a request to those that a thread works on, for the event that ends all of them.  If there is
 * no room, forgets those that have ended.
 */
static void remember(struct requests *q, struct worker *w, uint64_t id, uint64_t serial)
{
	size_t kept = 0;

	if (w->nr == w->room) {
		for (size_t i = 0; i < w->nr; i++) {
			const struct request *r = map_find(&q->open, w->works[i].id);

			if (r && r->serial == w->works[i].serial)
				w->works[kept++] = w->works[i];
		}
		w->nr = kept;
		if (kept * 2 >= w->room) {
			w->room = w->room ? 2 * w->room : 8;
			w->works = realloc(w->works, w->room * sizeof(*w->works));
			if (!w->works)
				oracle_out_of_memory();
		}
	}
	w->works[w->nr++] = (struct work){ id, serial };
}

static void forget(struct worker *w, uint64_t id, uint64_t serial)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->nr; i++)
		if (w->works[i].id != id || w->works[i].serial != serial)
			w->works[kept++] = w->works[i];
	w->nr = kept;
}

static void ended(struct requests *q, uint64_t id, const struct request *r, int64_t tick)
{
	sum_add(&q->sum, id, r->start, tick, r->nr_segments, true);
	map_remove(&q->open, id);
}

static void on_start(struct requests *q, struct worker *w, const struct ldb_row_req *row)
{
	struct request *r = heard_of(q, row->id, row->tick);

	if (works_on(r, row->tid) && !oracle_excused(q->o))
		bad(q, "started twice", row, "the thread has not left it");
	r->nr_segments++;
	if (r->nr_workers < WORKERS && !works_on(r, row->tid))
		r->workers[r->nr_workers++] = row->tid;
	remember(q, w, row->id, r->serial);
}

static void on_block(struct requests *q, struct worker *w, const struct ldb_row_req *row)
{
	struct request *r = heard_of(q, row->id, row->tick);

	leave(r, row->tid);
	forget(w, row->id, r->serial);
}

static void on_end(struct requests *q, const struct ldb_row_req *row)
{
	const struct request *r = map_find(&q->open, row->id);

	if (r) {
		ended(q, row->id, r, row->tick);
		return;
	}
	if (q->o->attached && !map_find(&q->seen, row->id)) {
		q->nr_before++;
		map_get(&q->seen, row->id);
		return;
	}
	if (!oracle_excused(q->o))
		bad(q, "end without start", row, "");
}

static void on_end_all(struct requests *q, struct worker *w, const struct ldb_row_req *row)
{
	for (size_t i = 0; i < w->nr; i++) {
		const struct request *r = map_find(&q->open, w->works[i].id);

		if (r && r->serial == w->works[i].serial)
			ended(q, w->works[i].id, r, row->tick);
	}
	w->nr = 0;
}

static void on_arrived(struct requests *q, struct worker *w, const struct ldb_row_req *row)
{
	uint64_t most = AGE_MAX_S * reader_header(q->o->r)->clock_hz;
	int64_t tick = row->tick;

	/* An age is unsigned, so a negative value appears as a very large one. */
	if (row->site > most + 1 || __builtin_sub_overflow(row->tick, (int64_t)row->site, &tick)) {
		bad(q, "age", row, "");
		tick = row->tick;
	}
	if (row->site > q->age_max)
		q->age_max = row->site;
	heard_of(q, row->id, tick);
	w->awaits_start = true;
	w->arrived = row->id;
}

/* Adds the requests that are still open to the sum: they have no end. */
static void sum_open(struct requests *q)
{
	const struct request *r;
	uint64_t key;
	size_t i = 0;

	while ((r = map_next(&q->open, &i, &key)))
		sum_add(&q->sum, key, r->start, 0, r->nr_segments, false);
}

/* The end of this request is not known; the next END with its id belongs to the next request. */
static void on_cut_one(struct requests *q, uint64_t id)
{
	const struct request *r = map_find(&q->open, id);

	if (!r)
		return;
	sum_add(&q->sum, id, r->start, 0, r->nr_segments, false);
	map_remove(&q->open, id);
}

static void on_cut(struct requests *q)
{
	struct worker *w;
	uint64_t key;
	size_t i = 0;

	sum_open(q);
	map_exit(&q->open);
	while ((w = map_next(&q->workers, &i, &key))) {
		w->nr = 0;
		w->awaits_start = false;
	}
}

/* The API works in threads that ldb does not know; but no thread uses it before it was created. */
static void check_teller(struct requests *q, const struct ldb_row_req *row)
{
	const struct instance *l = oracle_instance(q->o, row->tid, row->tick);

	if (l && row->tick < l->start)
		bad(q, "before its thread", row, "");
	if (!row->tid || row->tick < 0 || row->tick > q->o->end)
		bad(q, "outside of the recording", row, "");
}

static void check_event(struct requests *q, const struct ldb_row_req *row)
{
	struct worker *w;

	if (row->op == LDB_REQ_OP_CUT) {
		if (row->queue)
			on_cut_one(q, row->id);
		else
			on_cut(q);
		return;
	}
	w = map_get(&q->workers, row->tid);
	if (row->op > LDB_REQ_OP_ARRIVED || !row->op) {
		bad(q, "row", row, "unknown op");
		return;
	}
	q->nr_of[row->op]++;
	check_teller(q, row);
	if (w->awaits_start && (row->op != LDB_REQ_OP_START || row->id != w->arrived) &&
	    !oracle_excused(q->o))
		bad(q, "arrived and not started", row, "is the thread's next");
	w->awaits_start = false;
	switch (row->op) {
	case LDB_REQ_OP_START:
		on_start(q, w, row);
		break;
	case LDB_REQ_OP_BLOCK:
		on_block(q, w, row);
		break;
	case LDB_REQ_OP_END:
		on_end(q, row);
		break;
	case LDB_REQ_OP_END_ALL:
		on_end_all(q, w, row);
		break;
	case LDB_REQ_OP_ARRIVED:
		on_arrived(q, w, row);
		break;
	default:
		bad(q, "row", row, "unknown op");
	}
}

static void finish(struct requests *q)
{
	struct worker *w;
	uint64_t key;
	size_t i = 0;

	sum_open(q);
	while ((w = map_next(&q->workers, &i, &key)))
		free(w->works);
}

static uint64_t count_names(struct requests *q)
{
	struct cursor *c = reader_cursor(q->o->r, LDB_BLK_REQNAME, NULL);
	struct reader_rows in;
	uint64_t nr = 0;

	while (c && cursor_next(c, &in) > 0) {
		for (size_t i = 0; i < in.nr; i++) {
			const struct ldb_row_reqname *n = &in.reqname[i];

			nr++;
			if (n->tick < 0 || n->tick > q->o->end)
				oracle_violation(q->o, ORACLE_REQUESTS, "name outside of the recording", "id %"
						 PRIu64 " tick %" PRId64, n->id, n->tick);
		}
	}
	cursor_close(c);
	return nr;
}

static void key_of(const void *row, struct sorted_key *key)
{
	*key = (struct sorted_key){ ((const struct ldb_row_req *)row)->tick, 0 };
}

void check_requests(struct oracle *o)
{
	struct requests q = {
		.o = o, .open = MAP_OF(struct request), .workers = MAP_OF(struct worker),
		.seen = { .entry_bytes = 1 },
	};
	const struct ldb_row_req *row;
	uint64_t nr_names;
	struct sorted rows;
	size_t nr_open;

	sorted_open(&rows, o, LDB_BLK_REQ, sizeof(*row), key_of);
	while ((row = sorted_next(&rows)))
		check_event(&q, row);
	if (rows.nr_late)
		oracle_violation(o, ORACLE_REQUESTS, "not in order", "%" PRIu64 " rows come more than %u too late",
				 rows.nr_late, SORTED_WINDOW);
	sorted_close(&rows);
	nr_open = q.open.nr;
	finish(&q);
	nr_names = count_names(&q);
	oracle_counts(o, ORACLE_REQUESTS, "%" PRIu64 " starts, %" PRIu64 " blocks, %" PRIu64 " ends, %" PRIu64
		      " ends of all, %" PRIu64 " arrivals, %" PRIu64 " names; %" PRIu64 " requests, %zu open, %"
		      PRIu64 " from before", q.nr_of[1], q.nr_of[2], q.nr_of[3], q.nr_of[4], q.nr_of[7],
		      nr_names, q.sum.nr, nr_open, q.nr_before);
	check_table(&q);
	map_exit(&q.open);
	map_exit(&q.workers);
	map_exit(&q.seen);
}
