// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums waits and holds; see locks.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/keyed.h"
#include "base/sort.h"
#include "facts/lock-events.h"
#include "facts/ticks.h"
#include "locks.h"
#include "stats.h"

struct site_build {
	struct site_build *next;
	unsigned op, kind;
	const struct symbol *where;
	struct dist durations, resolutions;
	uint64_t failed;
};

struct lock_build {
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
	struct dist_pool pool;
	struct keyed locks;		/* struct lock_build, by address and group of kinds */
};

static struct lock_build *get_lock(struct builder *b, const struct lock_event *e)
{
	unsigned kind = LDB_LOCK_KIND(e->flags), group = lock_kind_group(kind);
	uint64_t hash = hash_mix(group, e->lock);
	struct lock_build *l;

	keyed_each(&b->locks, hash, l)
		if (l->lock == e->lock && l->group == group)
			return l;
	l = keyed_add(&b->locks, hash, sizeof(*l));
	if (!l)
		return NULL;
	l->lock = e->lock;
	l->kind = kind;
	l->group = group;
	l->symbol = symtab_lookup_data(b->m->symtab, e->lock, e->end);
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
		/*
		 * Moves the site to the front, because the next event is probably of the same site.
		 */
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

static int add_event(void *arg, const struct lock_event *e)
{
	struct builder *b = arg;
	uint64_t ns = ticks_ns(b->m->reader, e->end - e->begin);
	struct lock_build *l = get_lock(b, e);
	struct site_build *site = l ? get_site(b, l, e) : NULL;
	int ret;

	if (!site)
		return -ENOMEM;
	ret = dist_add(&site->durations, ns);
	if (!ret)
		ret = dist_add(&site->resolutions, ticks_ns(b->m->reader, e->resolution));
	if (e->flags & LDB_LOCK_F_FAILED)
		site->failed++;
	return ret ? ret : add_owner(b, l, e, ns);
}

static int add_waker(void *arg, const struct lock_event *wait, const struct futex_wait *w)
{
	struct builder *b = arg;
	struct lock_build *l = w->waker ? get_lock(b, wait) : NULL;
	struct lock_owner *o = l ? get_owner(b, l, w->waker, w->woken) : NULL;

	if (o)
		o->wakes++;
	return o || !w->waker ? 0 : -ENOMEM;
}

static void fill_times(struct lock_times *t, struct dist *d, struct dist *res, uint64_t failed)
{
	*t = (struct lock_times){
		.times = dist_times(d), .failed = failed,
		.resolution_ns = dist_percentile(res, 1, 2), .resolution_max_ns = res->max,
	};
}

COMPARE(site_compare, struct lock_site, UP(op) DOWN(times.total_ns))

COMPARE(owner_compare, struct lock_owner, DOWN(wait_ns) DOWN(hold_ns))

COMPARE(entry_compare, struct lock_entry, DOWN(waits.total_ns) DOWN(holds.total_ns) UP(lock))

/* Sums the waits, or the holds, of all sites. */
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
	l->owners = NULL;	/* the entry owns the array now */
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
	sort_by(e->sites, e->nr_sites, site_compare);
	sort_by(e->owners, e->nr_owners, owner_compare);
	return 0;
}

static int fill_locks(struct builder *b, struct locks *locks)
{
	int ret = 0;

	locks->entries = calloc(b->locks.nr + 1, sizeof(*locks->entries));
	if (!locks->entries)
		return -ENOMEM;
	for (size_t i = 0; i < b->locks.nr && !ret; i++) {
		struct lock_entry *e = &locks->entries[locks->nr++];

		ret = fill_entry(b, e, b->locks.at[i]);
		locks->nr_waits += e->waits.count;
		locks->nr_holds += e->holds.count;
	}
	sort_by(locks->entries, locks->nr, entry_compare);
	return ret;
}

static void free_builder(struct builder *b)
{
	for (size_t i = 0; i < b->locks.nr; i++) {
		struct lock_build *l = b->locks.at[i];

		for (struct site_build *s = l->sites, *next; s; s = next) {
			next = s->next;
			dist_free(&s->durations);
			dist_free(&s->resolutions);
			free(s);
		}
		free(l->owners);
	}
	keyed_free(&b->locks);
}

int locks_build(struct model *m, const struct locks_options *options, struct locks *locks)
{
	struct lock_events_options wanted = {
		.from = options->from, .to = options->to, .thread = options->thread,
	};
	struct builder b = { .m = m };
	struct lock_events_sink sink = { .event = add_event, .sleep = add_waker, .arg = &b };
	int ret;

	*locks = (struct locks){ 0 };
	ret = lock_events_each(m, &wanted, &sink, &locks->nr_not_kept);
	if (!ret)
		ret = fill_locks(&b, locks);
	free_builder(&b);
	if (ret)
		locks_free(locks);
	return ret;
}

static int compare_by(const void *pa, const void *pb, void *offset)
{
	const struct lock_entry *a = pa, *b = pb;

	return dist_times_compare(&a->waits.times, &b->waits.times, *(const int *)offset);
}

int locks_sort(struct locks *locks, const char *key)
{
	int offset = dist_times_offset(key, 99);

	if (!strcmp(key, "total"))
		sort_by(locks->entries, locks->nr, entry_compare);
	else if (offset >= 0 && locks->nr)
		qsort_r(locks->entries, locks->nr, sizeof(*locks->entries), compare_by, &offset);
	return offset < 0 ? -EINVAL : 0;
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
