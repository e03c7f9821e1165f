// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums up rows; see metrics.h. */
#include <linux/ldb.h>
#include <stdlib.h>
#include "base/array.h"
#include "record/metrics/private.h"
#include "record/requests/made.h"

#define CLASS_NONE	UINT32_MAX	/* there are too many classes */

struct metrics *metrics_alloc(const struct metrics_options *o, double ns_per_tick, struct filter *f)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->path = o->path;
	m->explain = o->explain;
	m->filter = f;
	m->ns_per_tick = ns_per_tick;
	/* As if there were many large distributions, so that each one retains few exact values. */
	m->pool.nr_big = 1U << 20;
	m->classes.max = METRICS_SERIES_MAX;
	m->requests = (struct slots){ .size = sizeof(struct begun), .max = METRICS_OPEN_MAX };
	metrics_waits_init(m);
	m->tags = req_tags_alloc();
	/* class 0: requests without a class */
	if (m->tags && intern_string(&m->classes, "") == 0)
		return m;
	req_tags_free(m->tags);
	free(m);
	return NULL;
}

void metrics_on_thread(struct metrics *m, metrics_thread_fn *fn, void *arg)
{
	m->is_of_program = fn;
	m->thread_arg = arg;
}

void metrics_on_pauses(struct metrics *m, const struct pauses *pauses)
{
	m->pauses = pauses;
}

static bool is_paused(const struct metrics *m, int64_t from, int64_t to)
{
	return m->pauses && pauses_are_in(m->pauses, from, to);
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	for (unsigned k = 0; k < METRICS_NR; k++) {
		for (size_t i = 0; i < m->kinds[k].nr; i++)
			dist_free(&m->kinds[k].all[i].dist);
		free(m->kinds[k].all);
		hash_free(&m->kinds[k].hash);
	}
	helper_end(&m->helper);
	slots_free(&m->requests);
	slots_free(&m->waiting);
	intern_free(&m->classes);
	req_tags_free(m->tags);
	free(m);
}

static struct series *find_series(struct kind *k, uint64_t key)
{
	uint32_t n;

	hash_each(&k->hash, hash_mix(0, key), n)
		if (k->all[n].key == key)
			return &k->all[n];
	return NULL;
}

static struct series *get_series(struct metrics *m, struct kind *k, uint64_t key)
{
	struct series *s = find_series(k, key);

	if (s || k->nr == METRICS_SERIES_MAX)
		return s;
	if (!array_room(&k->all, &k->room, k->nr, sizeof(*k->all)) ||
	    hash_add(&k->hash, hash_mix(0, key), k->nr))
		return NULL;
	s = &k->all[k->nr++];
	s->key = key;
	dist_init(&s->dist, &m->pool);
	if (k == &m->kinds[METRICS_LOCK])
		filter_want_variable(m->filter, key);
	return s;
}

static void add(struct metrics *m, enum metrics_kind kind, uint64_t key, uint64_t ns)
{
	struct series *s = get_series(m, &m->kinds[kind], key);

	if (!s || dist_add(&s->dist, ns))
		m->kinds[kind].nr_dropped++;
}

uint64_t metrics_ns(const struct metrics *m, int64_t ticks)
{
	return ticks > 0 ? ticks * m->ns_per_tick : 0;
}

void metrics_add_wait(struct metrics *m, int64_t since, int64_t until)
{
	if (!is_paused(m, since, until))
		add(m, METRICS_CPU, 0, metrics_ns(m, until - since));
}

/*
 * Adds the duration of an invocation, estimated as in facts/estimate.h, if its start and end were
 * observed.
 */
void metrics_func(struct metrics *m, const struct ldb_row_func *row)
{
	if (row->flags & (LDB_FUNC_F_OPEN | LDB_FUNC_F_FROM_START) || row->start_unc == LDB_UNC_UNKNOWN ||
	    row->end_unc == LDB_UNC_UNKNOWN ||
	    is_paused(m, row->start_max - (int64_t)row->start_unc, row->start_max) ||
	    is_paused(m, row->end_max - (int64_t)row->end_unc, row->end_max))
		return;
	add(m, METRICS_FUNCTION, row->pc,
	    metrics_ns(m, row->end_max - (int64_t)(row->end_unc / 2) - row->start_max + (int64_t)(row->start_unc / 2)));
}

void metrics_lock(struct metrics *m, const struct ldb_row_lock *row)
{
	if (row->op == LDB_LOCK_OP_WAIT && row->flags >> 8 == 0)
		add(m, METRICS_LOCK, row->lock, metrics_ns(m, row->end - row->begin));
}

/* Requests */

static struct begun *get_begun(struct slots *t, uint64_t key)
{
	struct begun *b = slots_find(t, key);

	if (b)
		return b;
	b = slots_add(t, key);
	if (b)
		b->since = INT64_MIN;
	return b;
}

/*
 * Returns the number of a class, or CLASS_NONE; the empty name is that of requests without a class.
 */
static uint32_t class_of(struct metrics *m, const char *name)
{
	int64_t n = intern_string(&m->classes, name);

	return n < 0 ? CLASS_NONE : n;
}

void metrics_class(struct metrics *m, uint64_t id, int64_t tick, const char *name)
{
	/* If there are too many tags, the request has no class. */
	req_tags_add(m->tags, id, tick, class_of(m, name));
}

static void note_slow(struct metrics *m, const struct slow *new)
{
	struct slow *least = &m->slowest[0];

	for (unsigned i = 1; i < METRICS_SLOWEST; i++)
		if (m->slowest[i].ns < least->ns)
			least = &m->slowest[i];
	if (new->ns > least->ns)
		*least = *new;
}

static void end_request(struct metrics *m, struct begun *b, int64_t tick)
{
	struct slow slow = { .id = b->slot.key, .start = b->since, .end = tick };

	if (req_tags_find(m->tags, b->slot.key, b->since, tick, &b->class))
		slow.class = b->class;
	req_tags_forget(m->tags, b->slot.key, tick);
	if (b->since != INT64_MIN && b->class == CLASS_NONE) {
		m->kinds[METRICS_REQUEST].nr_dropped++;
	} else if (b->since != INT64_MIN) {
		slow.ns = metrics_ns(m, tick - b->since);
		add(m, METRICS_REQUEST, b->class, slow.ns);
		note_slow(m, &slow);
	}
	slots_remove(&m->requests, &b->slot);
}

void metrics_made(struct metrics *m, const struct made_request *request)
{
	struct slow slow = {
		.tid = request->tid, .start = request->start, .end = request->end,
		.class = class_of(m, request->name), .ns = metrics_ns(m, request->end - request->start),
	};

	if (slow.class == CLASS_NONE) {
		m->kinds[METRICS_REQUEST].nr_dropped++;
		return;
	}
	add(m, METRICS_REQUEST, slow.class, slow.ns);
	note_slow(m, &slow);
}

static void begin_request(struct metrics *m, const struct ldb_row_req *r, int64_t tick)
{
	struct begun *b = get_begun(&m->requests, r->id);

	if (!b) {
		m->kinds[METRICS_REQUEST].nr_dropped++;
		return;
	}
	if (b->since == INT64_MIN)
		b->since = tick;
	if (r->op == LDB_REQ_OP_START)
		b->tid = r->tid;
}

/* Ends the requests whose last START was on this thread. */
static void end_requests_of(struct metrics *m, const struct ldb_row_req *r)
{
	for (size_t i = 0; i < m->requests.nr; i++) {
		struct begun *b = slots_at(&m->requests, i);

		if (b->slot.is_used && b->tid == r->tid)
			end_request(m, b, r->tick);
	}
}

void metrics_requests(struct metrics *m, const struct ldb_row_req *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct ldb_row_req *r = &rows[i];
		struct begun *b;

		switch (r->op) {
		case LDB_REQ_OP_ARRIVED:
			begin_request(m, r, r->tick - (int64_t)r->site);
			break;
		case LDB_REQ_OP_START:
		case LDB_REQ_OP_BLOCK:
			begin_request(m, r, r->tick);
			break;
		case LDB_REQ_OP_END:
			b = slots_find(&m->requests, r->id);
			if (b)
				end_request(m, b, r->tick);
			break;
		case LDB_REQ_OP_END_ALL:
			end_requests_of(m, r);
			break;
		case LDB_REQ_OP_CUT:
			b = r->queue ? slots_find(&m->requests, r->id) : NULL;
			if (b) {
				/*
				 * The next request with this id begins now, and has its tag
				 * already.
				 */
				req_tags_forget(m->tags, r->id, r->tick - 1);
				slots_remove(&m->requests, &b->slot);
			}
			if (r->queue)
				break;
			slots_clear(&m->requests);
			req_tags_forget_all(m->tags);
			break;
		}
	}
}

