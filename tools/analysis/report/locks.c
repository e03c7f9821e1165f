// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits and holds; see locks.h.  LOCK rows are taken in chunks: for each chunk
 * the FUNC rows of its time are read to bound holds that were not stamped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "facts/futexes.h"
#include "facts/sched.h"
#include "facts/ticks.h"
#include "locks.h"
#include "stats.h"

#define CHUNK_EVENTS	(2U << 20)
#define NR_BUCKETS	4096

struct site_build {
	struct site_build *next;
	unsigned op, kind;
	const struct symbol *where;
	struct dist durations, resolutions;
	uint64_t failed;
};

struct lock_build {
	struct lock_build *next;
	uint64_t lock;
	unsigned kind, group;
	const struct symbol *symbol;
	struct site_build *sites;
	size_t nr_sites;
	struct lock_owner *owners;
	size_t nr_owners, room_owners;
};

struct builder {
	struct model *m;
	const struct locks_options *options;
	struct dist_pool pool;
	struct lockset set;
	int64_t t_min, t_max;		/* of the chunk */
	struct lock_build *buckets[NR_BUCKETS];
	size_t nr;
	struct futexes futexes;
	int64_t futex_resolution;	/* ticks */
	bool is_giving, has_given;	/* options->funcs is given its rows, was given them */
	int (*each)(void *arg, const struct lock_event *e); /* instead of the statistics */
	void *arg;
};

/* Readers and writers use one lock. */
static unsigned kind_group(unsigned kind)
{
	return kind == LDB_LOCK_RWLOCK_WR ? LDB_LOCK_RWLOCK_RD : kind;
}

static struct lock_build *get_lock(struct builder *b, const struct lock_event *e)
{
	unsigned kind = LDB_LOCK_KIND(e->flags), group = kind_group(kind);
	uint64_t h = (e->lock ^ (uint64_t)group << 56) * 0x9e3779b97f4a7c15ULL;
	struct lock_build **bucket = &b->buckets[(h >> 40) % NR_BUCKETS], *l;

	for (l = *bucket; l; l = l->next)
		if (l->lock == e->lock && l->group == group)
			return l;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->lock = e->lock;
	l->kind = kind;
	l->group = group;
	l->symbol = symtab_lookup_data(b->m->symtab, e->lock, e->end);
	l->next = *bucket;
	*bucket = l;
	b->nr++;
	return l;
}

static bool same_place(const struct symbol *a, const struct symbol *b)
{
	if (a == b)
		return true;
	return a && b && a->path == b->path && a->function == b->function && a->file == b->file &&
	       a->line == b->line;
}

static struct site_build *get_site(struct builder *b, struct lock_build *l,
				   const struct lock_event *e)
{
	unsigned kind = LDB_LOCK_KIND(e->flags);
	struct site_build **p = &l->sites, *s;

	for (; (s = *p); p = &s->next) {
		if (s->op != e->op || s->kind != kind || !same_place(s->where, e->where))
			continue;
		/* To the front: the next event is likely from here too. */
		*p = s->next;
		s->next = l->sites;
		l->sites = s;
		return s;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->op = e->op;
	s->kind = kind;
	s->where = e->where;
	dist_init(&s->durations, &b->pool);
	dist_init(&s->resolutions, &b->pool);
	s->next = l->sites;
	l->sites = s;
	l->nr_sites++;
	return s;
}

static struct lock_owner *get_owner(struct builder *b, struct lock_build *l, uint32_t tid,
				    int64_t tick)
{
	const struct thread *t = model_thread(b->m, tid, tick);

	for (size_t i = 0; i < l->nr_owners; i++)
		if (l->owners[i].tid == tid && l->owners[i].thread == t)
			return &l->owners[i];
	if (!array_room(&l->owners, &l->room_owners, l->nr_owners, sizeof(*l->owners)))
		return NULL;
	l->owners[l->nr_owners] = (struct lock_owner){ .tid = tid, .thread = t };
	return &l->owners[l->nr_owners++];
}

static int add_owner(struct builder *b, struct lock_build *l, const struct lock_event *e,
		     uint64_t ns)
{
	bool is_hold = e->op == LDB_LOCK_OP_HOLD;
	uint32_t tid = is_hold ? e->tid : e->owner;
	struct lock_owner *o;

	if (!tid)
		return 0;
	o = get_owner(b, l, tid, e->begin);
	if (!o)
		return -ENOMEM;
	if (is_hold) {
		o->holds++;
		ticks_add(&o->hold_ns, ns);
	} else {
		o->waits++;
		ticks_add(&o->wait_ns, ns);
	}
	return 0;
}

static bool is_selected(const struct builder *b, const struct lock_event *e)
{
	return e->end >= b->options->from && e->begin <= b->options->to &&
	       model_thread_matches(b->options->thread, e->tid,
				    model_thread(b->m, e->tid, e->begin));
}

static int add_event(struct builder *b, const struct lock_event *e)
{
	uint64_t ns = ticks_ns(b->m->reader, e->end - e->begin);
	struct site_build *site;
	struct lock_build *l;
	int ret;

	if (!is_selected(b, e))
		return 0;
	l = get_lock(b, e);
	if (b->each)
		return l ? b->each(b->arg, e) : -ENOMEM;
	site = l ? get_site(b, l, e) : NULL;
	if (!site)
		return -ENOMEM;
	ret = dist_add(&site->durations, ns);
	if (!ret)
		ret = dist_add(&site->resolutions, ticks_ns(b->m->reader, e->resolution));
	if (e->flags & LDB_LOCK_F_FAILED)
		site->failed++;
	return ret ? ret : add_owner(b, l, e, ns);
}

static int add_waker(struct builder *b, const struct lock_event *e, const struct futex_wait *w)
{
	struct lock_build *l = w->waker ? get_lock(b, e) : NULL;
	struct lock_owner *o = l ? get_owner(b, l, w->waker, w->woken) : NULL;

	if (o)
		o->wakes++;
	return o || !w->waker ? 0 : -ENOMEM;
}

struct woken {
	struct builder *b;
	const struct lock_event *wait;
};

static int on_woken(void *arg, const struct futex_wait *w)
{
	struct woken *k = arg;

	return is_selected(k->b, k->wait) ? add_waker(k->b, k->wait, w) : 0;
}

static int lock_compare(const void *pa, const void *pb)
{
	const struct lock_build *a = *(struct lock_build *const *)pa;
	const struct lock_build *b = *(struct lock_build *const *)pb;

	return a->lock < b->lock ? -1 : a->lock > b->lock;
}

/* The lock of the shim's in whose object the futex lies. */
static const struct lock_build *find_object(struct lock_build **locks, size_t nr, uint64_t futex)
{
	size_t lo = search(nr, i, locks[i]->lock <= futex);

	return lo && futex_is_inside(futex, locks[lo - 1]->lock, locks[lo - 1]->kind) ?
	       locks[lo - 1] : NULL;
}

static int add_futex(struct builder *b, const struct lock_build *object,
		     const struct futex_wait *w)
{
	struct lock_event e = {
		.op = LDB_LOCK_OP_WAIT, .flags = object ? object->kind : LOCK_KIND_FUTEX,
		.tid = w->tid, .owner = w->owner, .lock = object ? object->lock : w->futex,
		.gen = w->gen, .begin = w->out, .end = w->woken,
		.resolution = b->futex_resolution,
		.where = w->pc ? symtab_lookup(b->m->symtab, w->pc, w->out) : NULL,
	};
	int ret = add_event(b, &e);

	if (!ret && is_selected(b, &e))
		ret = add_waker(b, &e, w);
	return ret;
}

/* After all that the shim recorded: what is left belongs to none of it. */
static int add_futexes(struct builder *b)
{
	struct lock_build **locks = calloc(b->nr + 1, sizeof(struct lock_build *));
	size_t nr = 0;
	int ret = 0;

	if (!locks)
		return -ENOMEM;
	for (size_t i = 0; i < NR_BUCKETS; i++)
		for (struct lock_build *l = b->buckets[i]; l; l = l->next)
			locks[nr++] = l;
	qsort(locks, nr, sizeof(*locks), lock_compare);
	for (size_t i = 0; i < b->futexes.nr && !ret; i++) {
		const struct futex_wait *w = &b->futexes.at[i];

		if (!w->is_known)
			ret = add_futex(b, find_object(locks, nr, w->futex), w);
	}
	free(locks);
	return ret;
}

/* As a filter sees it: mostly what is asked first says so. */
static bool is_in_chunk(const struct builder *b, const struct ldb_row_func *row)
{
	return (row->start_max <= b->t_max && row->end_max >= b->t_min) ||
	       reader_overlaps(LDB_BLK_FUNC, row, b->t_min, b->t_max);
}

static int on_funcs(void *arg, const struct reader_rows *rows)
{
	struct builder *b = arg;

	if (lockset_wants_funcs(&b->set))
		for (size_t i = 0; i < rows->nr; i++)
			if (is_in_chunk(b, &rows->func[i]))
				lockset_feed(&b->set, &rows->func[i]);
	return b->is_giving ? b->options->funcs(b->arg, rows) : 0;
}

/* For the chunk, for the caller, or for both if he gets all rows that there are. */
static int read_funcs(struct builder *b, bool is_end)
{
	const struct locks_options *o = b->options;
	struct reader_filter filter = READER_FILTER_ALL;
	bool is_all = o->from == INT64_MIN && o->to == INT64_MAX;

	b->is_giving = o->funcs && !b->has_given && (is_end || is_all);
	if (is_end && !b->is_giving)
		return 0;
	b->has_given |= b->is_giving;
	filter.t_min = b->is_giving ? o->from : b->t_min;
	filter.t_max = b->is_giving ? o->to : b->t_max;
	return reader_each(b->m->reader, LDB_BLK_FUNC, &filter, on_funcs, b);
}

static int end_chunk(struct builder *b)
{
	int ret = lockset_prepare(&b->set);

	if (!ret && lockset_wants_funcs(&b->set))
		ret = read_funcs(b, false);
	if (!ret) {
		lockset_resolve(&b->set);
		for (size_t i = 0; i < b->set.nr && !ret; i++) {
			struct lock_event *e = &b->set.events[i];
			struct woken woken = { b, e };

			if (e->op == LDB_LOCK_OP_WAIT && b->futexes.nr)
				ret = futexes_match(&b->futexes, e, on_woken, &woken);
			if (!ret)
				ret = add_event(b, e);
		}
	}
	lockset_free(&b->set);
	b->t_min = INT64_MAX;
	b->t_max = INT64_MIN;
	return ret;
}

static int add_rows(void *arg, const struct reader_rows *rows)
{
	struct builder *b = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		const struct ldb_row_lock *row = &rows->lock[i];

		ret = lockset_add(&b->set, row);
		if (row->begin < b->t_min)
			b->t_min = row->begin;
		if (row->end > b->t_max)
			b->t_max = row->end;
	}
	if (!ret && b->set.nr >= CHUNK_EVENTS)
		ret = end_chunk(b);
	return ret;
}

static void fill_times(struct lock_times *t, struct dist *d, struct dist *res, uint64_t failed)
{
	*t = (struct lock_times){
		.count = d->nr, .failed = failed,
		.p50_ns = dist_percentile(d, 1, 2), .p99_ns = dist_percentile(d, 99, 100),
		.max_ns = d->max, .mean_ns = dist_mean(d), .total_ns = dist_sum(d),
		.resolution_ns = dist_percentile(res, 1, 2), .resolution_max_ns = res->max,
		.is_exact = dist_is_exact(d),
	};
}

COMPARE(site_compare, struct lock_site, UP(op) DOWN(times.total_ns))

COMPARE(owner_compare, struct lock_owner, DOWN(wait_ns) DOWN(hold_ns))

COMPARE(entry_compare, struct lock_entry, DOWN(waits.total_ns) DOWN(holds.total_ns))

/* The waits, or the holds, of all sites together. */
static int fill_total(struct builder *b, struct lock_build *l, unsigned op, struct lock_times *t)
{
	struct dist durations, resolutions;
	uint64_t failed = 0;
	int ret = 0;

	dist_init(&durations, &b->pool);
	dist_init(&resolutions, &b->pool);
	for (struct site_build *s = l->sites; s && !ret; s = s->next) {
		if (s->op != op)
			continue;
		failed += s->failed;
		ret = dist_merge(&durations, &s->durations);
		if (!ret)
			ret = dist_merge(&resolutions, &s->resolutions);
	}
	fill_times(t, &durations, &resolutions, failed);
	dist_free(&durations);
	dist_free(&resolutions);
	return ret;
}

static int fill_entry(struct builder *b, struct lock_entry *e, struct lock_build *l)
{
	int ret;

	*e = (struct lock_entry){
		.lock = l->lock, .kind = l->kind, .symbol = l->symbol,
		.owners = l->owners, .nr_owners = l->nr_owners,
	};
	l->owners = NULL;	/* the entry's now */
	ret = fill_total(b, l, LDB_LOCK_OP_WAIT, &e->waits);
	if (!ret)
		ret = fill_total(b, l, LDB_LOCK_OP_HOLD, &e->holds);
	e->sites = calloc(l->nr_sites + 1, sizeof(*e->sites));
	if (ret || !e->sites)
		return -ENOMEM;
	for (struct site_build *s = l->sites; s; s = s->next) {
		struct lock_site *site = &e->sites[e->nr_sites++];

		site->op = s->op;
		site->kind = s->kind;
		site->where = s->where;
		fill_times(&site->times, &s->durations, &s->resolutions, s->failed);
	}
	qsort(e->sites, e->nr_sites, sizeof(*e->sites), site_compare);
	if (e->nr_owners)
		qsort(e->owners, e->nr_owners, sizeof(*e->owners), owner_compare);
	return 0;
}

static int fill_locks(struct builder *b, struct locks *locks)
{
	int ret = 0;

	locks->entries = calloc(b->nr + 1, sizeof(*locks->entries));
	if (!locks->entries)
		return -ENOMEM;
	for (size_t i = 0; i < NR_BUCKETS && !ret; i++)
		for (struct lock_build *l = b->buckets[i]; l && !ret; l = l->next) {
			struct lock_entry *e = &locks->entries[locks->nr++];

			ret = fill_entry(b, e, l);
			locks->nr_waits += e->waits.count;
			locks->nr_holds += e->holds.count;
		}
	qsort(locks->entries, locks->nr, sizeof(*locks->entries), entry_compare);
	return ret;
}

static void free_builder(struct builder *b)
{
	for (size_t i = 0; i < NR_BUCKETS; i++)
		for (struct lock_build *l = b->buckets[i], *next; l; l = next) {
			next = l->next;
			for (struct site_build *s = l->sites, *after; s; s = after) {
				after = s->next;
				dist_free(&s->durations);
				dist_free(&s->resolutions);
				free(s);
			}
			free(l->owners);
			free(l);
		}
	lockset_free(&b->set);
	futexes_free(&b->futexes);
}

static int read_futexes(struct builder *b)
{
	struct futexes *known = b->options->futexes;

	if (!known)
		return futexes_read(b->m, b->options->from, b->options->to, &b->futexes);
	b->futexes = *known;
	*known = (struct futexes){ 0 };
	return 0;
}

/* Rows -> events, to which the futexes are added at the end. */
static int each_event(struct builder *b)
{
	struct reader_filter filter = READER_FILTER_ALL;
	struct model *m = b->m;
	int ret;

	b->t_min = INT64_MAX;
	b->t_max = INT64_MIN;
	lockset_init(&b->set, m);
	/* No t_max: a hold that was not stamped is only known by its end. */
	filter.t_min = b->options->from;
	b->futex_resolution = ticks_sane(reader_tick(m->reader, sched_resolution_ns(m))) -
			      ticks_sane(reader_tick(m->reader, 0));
	ret = read_futexes(b);
	if (!ret)
		ret = reader_each(m->reader, LDB_BLK_LOCK, &filter, add_rows, b);
	if (!ret && b->set.nr)
		ret = end_chunk(b);
	if (!ret)
		ret = read_funcs(b, true);
	return ret ? ret : add_futexes(b);
}

/* event: NULL, or locks is. */
static int run(struct model *m, const struct locks_options *options,
	       int (*event)(void *arg, const struct lock_event *e), void *arg,
	       uint64_t *nr_not_kept, struct locks *locks)
{
	struct builder *b = calloc(1, sizeof(*b));
	int ret;

	if (!b)
		return -ENOMEM;
	b->m = m;
	b->options = options;
	b->each = event;
	b->arg = arg;
	ret = each_event(b);
	*nr_not_kept = b->futexes.nr_not_kept;
	if (!ret && locks)
		ret = fill_locks(b, locks);
	free_builder(b);
	free(b);
	return ret;
}

int locks_build(struct model *m, const struct locks_options *options, struct locks *locks)
{
	int ret;

	*locks = (struct locks){ 0 };
	ret = run(m, options, NULL, NULL, &locks->nr_not_kept, locks);
	if (ret)
		locks_free(locks);
	return ret;
}

int locks_each(struct model *m, const struct locks_options *options,
	       int (*event)(void *arg, const struct lock_event *e), void *arg,
	       uint64_t *nr_not_kept)
{
	return run(m, options, event, arg, nr_not_kept, NULL);
}

COMPARE(compare_max_ns, struct lock_entry, DOWN(waits.max_ns))
COMPARE(compare_p99_ns, struct lock_entry, DOWN(waits.p99_ns))
COMPARE(compare_p50_ns, struct lock_entry, DOWN(waits.p50_ns))
COMPARE(compare_mean_ns, struct lock_entry, DOWN(waits.mean_ns))
COMPARE(compare_count, struct lock_entry, DOWN(waits.count))

int locks_sort(struct locks *locks, const char *key)
{
	static const struct {
		const char *key;
		int (*compare)(const void *pa, const void *pb);
	} orders[] = {
		{ "total", entry_compare }, { "max", compare_max_ns }, { "p99", compare_p99_ns },
		{ "p50", compare_p50_ns }, { "mean", compare_mean_ns }, { "count", compare_count },
	};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (strcmp(orders[i].key, key))
			continue;
		if (locks->nr)
			qsort(locks->entries, locks->nr, sizeof(*locks->entries),
			      orders[i].compare);
		return 0;
	}
	return -EINVAL;
}

void locks_free(struct locks *locks)
{
	for (size_t i = 0; i < locks->nr; i++) {
		free(locks->entries[i].sites);
		free(locks->entries[i].owners);
	}
	free(locks->entries);
	*locks = (struct locks){ 0 };
}
