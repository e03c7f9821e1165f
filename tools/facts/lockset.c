// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds when locks were taken, and from which line of the source; see lockset.h.
 *
 * Bounds of holds: for each hold there is a query, "which frames of thread t come directly before
 * and after generation g?".  The queries are sorted.  Each FUNC row belongs between two of them,
 * and is stored only if it is the first or the last one there, so that memory is proportional to
 * the number of queries and not of rows.
 *
 * Places of events: an event is first assigned to the frame in which it happened.  When the row of
 * that frame is read, and its call site is in a system header too, the event is assigned to the
 * parent frame.  Rows are in the order of their ends, so the rows of parents come later.
 */
#include <errno.h>
#include <stdlib.h>

#include "arch/program.h"
#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "estimate.h"
#include "lockset.h"

#define CLIMB_MAX	16	/* nested frames in system headers that are followed */

struct lockset_query {
	uint32_t tid;
	uint32_t nr_thread;	/* which one of the threads that had this tid */
	uint16_t block;
	uint64_t gen;		/* UINT64_MAX: the query at the end of its group */
	struct lock_event *event; /* NULL: the query at the end of its group */
	/* These members describe the FUNC rows between the previous query and this one. */
	bool has_row;
	uint64_t first_gen, last_gen;
	int64_t first_start_max, last_start_min;
};

/* An event whose place in the user's own source is not found yet. */
struct lockset_climb {
	struct lock_event *event;
	uint64_t gen;		/* the frame whose row is awaited */
	uint32_t next;		/* the next one that awaits the same frame: 1 + number, or 0 */
	unsigned steps;
};

/*
 * Caches where the queries of a thread are: they are searched for once, and later searches begin at
 * the query that was found last.
 */
#define NR_NEAR	256

struct lockset_near {
	uint32_t tid;
	uint32_t nr_thread;
	uint16_t block;
	bool is_used;
	bool is_only;		/* no other thread had this tid, at any time */
	size_t from, to;	/* the range of queries of its group */
	size_t last;		/* the query that was found last */
};

void lockset_init(struct lockset *s, struct model *m)
{
	*s = (struct lockset){ .m = m };
}

void lockset_free(struct lockset *s)
{
	hash_free(&s->awaited);
	free(s->climbs);
	free(s->near);
	free(s->queries);
	free(s->events);
	lockset_init(s, s->m);
}

const char *lock_kind_name(unsigned kind)
{
	static const char *const names[] = {
		[LDB_LOCK_MUTEX] = "mutex", [LDB_LOCK_RWLOCK_RD] = "rwlock_rd",
		[LDB_LOCK_RWLOCK_WR] = "rwlock_wr", [LDB_LOCK_SPIN] = "spin",
		[LDB_LOCK_COND] = "cond", [LDB_LOCK_SEM] = "sem",
		[LDB_LOCK_BARRIER] = "barrier", [LDB_LOCK_JOIN] = "join",
		[LDB_LOCK_OWN] = "own_lock",
	};

	if (kind == LOCK_KIND_FUTEX)
		return "futex";
	if (kind >= sizeof(names) / sizeof(names[0]) || !names[kind])
		return "lock";
	return names[kind];
}

const char *lock_kind_noun(unsigned kind)
{
	switch (kind) {
	case LDB_LOCK_COND:
		return "condition";
	case LDB_LOCK_SEM:
		return "semaphore";
	case LDB_LOCK_BARRIER:
		return "barrier";
	case LDB_LOCK_JOIN:
		return "join";
	default:
		return "lock";
	}
}

bool lock_kind_is_exclusive(unsigned kind)
{
	return kind == LDB_LOCK_MUTEX || kind == LDB_LOCK_RWLOCK_WR || kind == LDB_LOCK_SPIN ||
	       kind == LDB_LOCK_OWN;
}

/* The sizes of glibc's objects. */
unsigned lock_kind_size(unsigned kind)
{
	static const unsigned sizes[] = {
		[LDB_LOCK_MUTEX] = PROGRAM_SIZE_MUTEX,
		[LDB_LOCK_RWLOCK_RD] = PROGRAM_SIZE_RWLOCK,
		[LDB_LOCK_RWLOCK_WR] = PROGRAM_SIZE_RWLOCK,
		[LDB_LOCK_SPIN] = PROGRAM_SIZE_SPIN, [LDB_LOCK_COND] = PROGRAM_SIZE_COND,
		[LDB_LOCK_SEM] = PROGRAM_SIZE_SEM, [LDB_LOCK_BARRIER] = PROGRAM_SIZE_BARRIER,
		/* the futex is the tid in struct pthread, which the kernel clears */
		[LDB_LOCK_JOIN] = PROGRAM_SIZE_PTHREAD,
	};

	return kind < sizeof(sizes) / sizeof(sizes[0]) && sizes[kind] ? sizes[kind] : 4;
}

static struct lock_event *new_event(struct lockset *s)
{
	if (!array_room(&s->events, &s->room, s->nr, sizeof(*s->events)))
		return NULL;
	return &s->events[s->nr++];
}

int lockset_add_wait(struct lockset *s, const struct lock_event *wait)
{
	struct lock_event *e = new_event(s);

	if (!e)
		return -ENOMEM;
	*e = *wait;
	e->op = LDB_LOCK_OP_WAIT;
	return 0;
}

int lockset_add(struct lockset *s, const struct ldb_row_lock *row)
{
	unsigned kind = LDB_LOCK_KIND(row->flags);
	bool is_woken = !lock_kind_is_held(kind) && kind != LDB_LOCK_JOIN;
	struct lock_event *e;

	if (row->op != LDB_LOCK_OP_WAIT && row->op != LDB_LOCK_OP_HOLD)
		return 0;
	e = new_event(s);
	if (!e)
		return -ENOMEM;
	*e = (struct lock_event){
		.op = row->op, .flags = row->flags, .tid = row->tid,
		.owner = is_woken ? 0 : row->owner, .waker = is_woken ? row->owner : 0,
		.lock = row->lock, .gen = row->gen, .site = row->site,
		.nr_later = row->op == LDB_LOCK_OP_WAIT ? row->nr_later : 0,
		.begin = ticks_sane(row->begin),
		.end = ticks_sane(row->end > row->begin ? row->end : row->begin),
	};
	return 0;
}

static bool is_bounded(const struct lock_event *e)
{
	return e->op == LDB_LOCK_OP_HOLD && !(e->flags & LDB_LOCK_F_BEGIN_EXACT);
}

COMPARE(query_compare, struct lockset_query, UP(tid) UP(nr_thread) UP(block) UP(gen))

static bool same_group(const struct lockset_query *a, const struct lockset_query *b)
{
	return a->tid == b->tid && a->nr_thread == b->nr_thread && a->block == b->block;
}

static int prepare_queries(struct lockset *s)
{
	size_t nr = 0, groups = 0;

	for (size_t i = 0; i < s->nr; i++)
		nr += is_bounded(&s->events[i]) && s->events[i].gen;
	s->queries = calloc(2 * nr + 1, sizeof(*s->queries));
	if (!s->queries)
		return -ENOMEM;
	nr = 0;
	for (size_t i = 0; i < s->nr; i++) {
		struct lock_event *e = &s->events[i];

		if (is_bounded(e) && e->gen)
			s->queries[nr++] = (struct lockset_query){
				.tid = e->tid, .nr_thread = model_thread_number(s->m, e->tid, e->end),
				.block = e->gen, .gen = e->gen, .event = e,
			};
	}
	sort_by(s->queries, nr, query_compare);
	/* Each group ends with one more query, for the rows after the last real query. */
	for (size_t i = 0; i < nr; i++) {
		if (i + 1 < nr && same_group(&s->queries[i], &s->queries[i + 1]))
			continue;
		s->queries[nr + groups] = s->queries[i];
		s->queries[nr + groups].gen = UINT64_MAX;
		s->queries[nr + groups++].event = NULL;
	}
	s->nr_queries = nr + groups;
	sort_by(s->queries, s->nr_queries, query_compare);
	free(s->near);
	s->near = calloc(NR_NEAR, sizeof(*s->near));
	return s->near ? 0 : -ENOMEM;
}

static uint64_t frame_hash(uint32_t tid, uint64_t gen)
{
	return hash_mix(tid, gen);
}

/* Returns the first of the events that wait for this frame's row, or NULL. */
static struct lockset_climb *find_climb(const struct lockset *s, uint32_t tid, uint64_t gen)
{
	uint32_t n;

	hash_each(&s->awaited, frame_hash(tid, gen), n)
		if (s->climbs[n].gen == gen && s->climbs[n].event->tid == tid)
			return &s->climbs[n];
	return NULL;
}

static int await_frame(struct lockset *s, struct lockset_climb *c)
{
	struct lockset_climb *first = find_climb(s, c->event->tid, c->gen);

	c->next = first ? first->next : 0;
	if (!first)
		return hash_add(&s->awaited, frame_hash(c->event->tid, c->gen), c - s->climbs);
	first->next = 1 + (c - s->climbs);
	return 0;
}

static int prepare_places(struct lockset *s)
{
	struct symtab *st = s->m->symtab;
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++) {
		struct lock_event *e = &s->events[i];

		e->where = e->site ? symtab_lookup_call(st, e->site, e->end) : NULL;
		nr += e->where && e->where->in_system && e->gen;
	}
	if (!nr)
		return 0;
	s->climbs = calloc(nr, sizeof(*s->climbs));
	if (!s->climbs)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++) {
		struct lock_event *e = &s->events[i];
		struct lockset_climb *c = &s->climbs[s->nr_climbs];

		if (!e->where || !e->where->in_system || !e->gen)
			continue;
		*c = (struct lockset_climb){ .event = e, .gen = e->gen };
		s->nr_climbs++;
		if (await_frame(s, c))
			return -ENOMEM;
	}
	return 0;
}

int lockset_prepare(struct lockset *s)
{
	int ret = prepare_queries(s);

	return ret ? ret : prepare_places(s);
}

bool lockset_wants_funcs(const struct lockset *s)
{
	return s->nr_queries || s->nr_climbs;
}

/*
 * Returns true if the event may have happened during the row's invocation.  Times are compared as
 * well, because generations start again in a new thread.
 */
static bool covers(const struct ldb_row_func *row, const struct lock_event *e)
{
	struct estimate f = estimate_func(row);

	return f.start_min <= e->end && row->end_max >= e->begin;
}

/*
 * Sets the place of the event to the call site of the row's function, if that is outside of system
 * headers.  Returns true if it is in a system header, too, and the event has to wait for the row of
 * the caller.
 */
static bool climb(struct lockset *s, struct lockset_climb *c, const struct ldb_row_func *row)
{
	const struct symbol *call = symtab_lookup_call(s->m->symtab, row->ret, row->start_max);

	if (*call->file && !call->in_system)
		c->event->where = call;
	if (!*call->file || !call->in_system || !row->parent_gen || ++c->steps == CLIMB_MAX)
		return false;
	c->gen = row->parent_gen;
	return c->gen != row->gen;
}

/*
 * Passes a row to the events that wait for it.  If there is no memory, an event does not get a
 * better place.
 */
static void feed_places(struct lockset *s, const struct ldb_row_func *row)
{
	struct lockset_climb *c = find_climb(s, row->tid, row->gen), *next;

	if (!c)
		return;
	hash_remove(&s->awaited, frame_hash(row->tid, row->gen), c - s->climbs);
	for (; c; c = next) {
		next = c->next ? &s->climbs[c->next - 1] : NULL;
		if (!covers(row, c->event) || climb(s, c, row))
			(void)await_frame(s, c);
	}
}

/* Returns how many queries come before want. */
static size_t queries_before(const struct lockset *s, const struct lockset_query *want)
{
	return search(s->nr_queries, i, query_compare(&s->queries[i], want) < 0);
}

static struct lockset_near *near_of(struct lockset *s, const struct ldb_row_func *row)
{
	struct lockset_near *n = &s->near[(row->tid ^ (row->gen & 0xffff)) % NR_NEAR];
	const struct model *m = s->m;
	struct lockset_query want = { .tid = row->tid, .block = row->gen };
	const struct thread *t;
	bool is_found = n->is_used && n->tid == row->tid && n->block == (uint16_t)row->gen;

	if (is_found && n->is_only)
		return n;
	want.nr_thread = model_thread_number(m, row->tid, row->start_max);
	if (is_found && n->nr_thread == want.nr_thread)
		return n;
	t = want.nr_thread == UINT32_MAX ? NULL : &m->threads[want.nr_thread];
	*n = (struct lockset_near){
		.tid = row->tid, .nr_thread = want.nr_thread, .block = row->gen, .is_used = true,
		.is_only = !t || ((t == m->threads || t[-1].tid != t->tid) &&
				  (t + 1 == m->threads + m->nr_threads || t[1].tid != t->tid)),
		.from = queries_before(s, &want),
	};
	want.gen = UINT64_MAX;
	n->to = queries_before(s, &want);
	/* The query that ends the group belongs to it. */
	n->to += n->to < s->nr_queries && !query_compare(&s->queries[n->to], &want);
	n->last = n->from;
	return n;
}

/*
 * Returns the first query of the group whose gen is not less than `gen`, or NULL; the search begins
 * at the query that was found last.
 */
static struct lockset_query *find_query(struct lockset *s, struct lockset_near *n, uint64_t gen)
{
	size_t lo = search_near(n->from, n->to, n->last, i, s->queries[i].gen < gen);

	if (lo == n->to)
		return NULL;
	n->last = lo;
	return &s->queries[lo];
}

static void feed_queries(struct lockset *s, const struct ldb_row_func *row)
{
	struct lockset_near *n = near_of(s, row);
	struct lockset_query *q = n->from < n->to ? find_query(s, n, row->gen) : NULL;
	struct estimate e;
	int64_t start_min;

	if (!q)
		return;
	e = estimate_func(row);
	start_min = e.start_min;
	if (row->start_unc == LDB_UNC_UNKNOWN || row->flags & LDB_FUNC_F_FROM_START)
		start_min = INT64_MIN;
	if (!q->has_row || row->gen < q->first_gen) {
		q->first_gen = row->gen;
		q->first_start_max = e.start_max;
	}
	if (!q->has_row || row->gen >= q->last_gen) {
		q->last_gen = row->gen;
		q->last_start_min = start_min;
	}
	q->has_row = true;
}

void lockset_feed(struct lockset *s, const struct ldb_row_func *row)
{
	if (s->nr_queries)
		feed_queries(s, row);
	if (s->nr_climbs)
		feed_places(s, row);
}

/* Bounds of the start of a hold, from the frames that were entered before and after it. */
struct bound {
	int64_t lo, hi;
};

static int64_t thread_start(const struct model *m, const struct lock_event *e)
{
	const struct thread *t = model_thread(m, e->tid, e->end);
	int64_t start = t && t->start > 0 ? t->start : 0;

	return start < e->end ? start : e->end;
}

/*
 * Until all bounds are known, begin and resolution of a hold contain the lower and the upper bound
 * of its start.
 */
static void set_bound(struct lock_event *e, struct bound b)
{
	if (b.hi > e->end)
		b.hi = e->end;
	if (b.lo > b.hi)
		b.lo = b.hi;
	e->begin = b.lo;
	e->resolution = (uint64_t)b.hi - (uint64_t)b.lo;
}

static struct bound bound_of(const struct lock_event *e)
{
	return (struct bound){ e->begin, e->begin + (int64_t)e->resolution };
}

static void bound_by_frames(struct lockset *s)
{
	int64_t lo = INT64_MIN, hi = INT64_MAX;

	for (size_t i = 0; i < s->nr; i++)
		if (is_bounded(&s->events[i]))
			set_bound(&s->events[i], (struct bound){
				thread_start(s->m, &s->events[i]), s->events[i].end });
	for (size_t i = 0; i < s->nr_queries; i++) {
		struct lockset_query *q = &s->queries[i];
		struct bound b;

		if (q->has_row)
			lo = q->last_start_min;
		if (q->event) {
			b = bound_of(q->event);
			if (lo > b.lo)
				b.lo = lo;
			set_bound(q->event, b);
		} else {
			lo = INT64_MIN;
		}
	}
	for (size_t i = s->nr_queries; i-- > 0;) {
		struct lockset_query *q = &s->queries[i];
		struct bound b;

		if (!q->event)
			hi = INT64_MAX;
		if (q->event) {
			b = bound_of(q->event);
			if (hi < b.hi)
				b.hi = hi;
			set_bound(q->event, b);
		}
		if (q->has_row)
			hi = q->first_start_max;
	}
}

COMPARE(event_compare, struct lock_event, UP(lock) UP(end) UP(begin))

#define WAITS_MAX	256	/* examined waits of one hold: convoys are rarely longer */

/*
 * Returns the start of the first wait that names the thread of hold e as the holder: the hold began
 * before it.  INT64_MAX: there is no such wait.
 */
static int64_t first_wait_on(const struct lock_event *e, const struct lock_event *end, int64_t lo)
{
	int64_t first = INT64_MAX;

	/* Waits end after the hold for which they waited, or together with it. */
	for (const struct lock_event *w = e + 1; w < end && w->lock == e->lock && w - e < WAITS_MAX;
	     w++)
		if (w->op == LDB_LOCK_OP_WAIT && w->owner == e->tid && w->begin >= lo &&
		    w->begin < e->end && w->begin < first)
			first = w->begin;
	return first;
}

/*
 * Returns the last release that must have come before a reader's hold: one by a writer or by the
 * same thread, because other readers may hold the lock at the same time.  (A reader that holds a
 * lock twice releases it with the last unlock.)
 */
static int64_t last_release_of_reader(const struct lockset *s, size_t i, int64_t lo)
{
	const struct lock_event *e = &s->events[i];

	for (size_t n = 0; i-- && s->events[i].lock == e->lock && n < WAITS_MAX; n++) {
		const struct lock_event *o = &s->events[i];

		if (o->op == LDB_LOCK_OP_HOLD &&
		    (o->tid == e->tid || LDB_LOCK_KIND(o->flags) == LDB_LOCK_RWLOCK_WR))
			return o->end > lo ? o->end : lo;
	}
	return lo;
}

/* Bounds the starts of holds by the other events of the same lock.  The events must be sorted. */
static void bound_by_events(struct lockset *s)
{
	const struct lock_event *end = s->events + s->nr;
	int64_t last_release = INT64_MIN;

	for (size_t i = 0; i < s->nr; i++) {
		struct lock_event *e = &s->events[i];
		unsigned kind = LDB_LOCK_KIND(e->flags);
		struct bound b;
		int64_t wait;

		if (i && e->lock != s->events[i - 1].lock)
			last_release = INT64_MIN;
		if (is_bounded(e)) {
			b = bound_of(e);
			if (lock_kind_is_exclusive(kind) && last_release > b.lo)
				b.lo = last_release;
			else if (!lock_kind_is_exclusive(kind))
				b.lo = last_release_of_reader(s, i, b.lo);
			wait = first_wait_on(e, end, b.lo);
			if (wait < b.hi)
				b.hi = wait;
			set_bound(e, b);
		}
		if (e->op == LDB_LOCK_OP_HOLD && e->end > last_release)
			last_release = e->end;
	}
}

void lockset_resolve(struct lockset *s)
{
	bound_by_frames(s);
	/* Queries point into events, so they are freed before the sort. */
	free(s->queries);
	s->queries = NULL;
	s->nr_queries = 0;
	sort_by(s->events, s->nr, event_compare);
	bound_by_events(s);
	for (size_t i = 0; i < s->nr; i++) {
		struct lock_event *e = &s->events[i];
		uint64_t width = e->resolution;

		if (!is_bounded(e))
			continue;
		e->begin += (int64_t)(width / 2);
		e->resolution = width / 2 + (width & 1);
	}
}
