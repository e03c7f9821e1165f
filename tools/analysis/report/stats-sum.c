// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds FUNC rows to the keys' distributions, by several threads.
 *
 * A thread takes some thousand rows at a time, sorts them by key, and adds the rows of a key
 * together: one lock, and one distribution in the caches, for many values.  The result does not
 * depend on which thread took which rows (dist.h).
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "facts/estimate.h"
#include "facts/ticks.h"
#include "stats-private.h"

/* The key of a row's pc and ret, so that an adder uses the symtab only once for each pair. */
struct path {
	uint64_t pc, ret;
	uint32_t epoch;
	uint32_t group;		/* number of the key, or GROUP_NONE */
};
#define GROUP_NONE	UINT32_MAX		/* filtered out */

#define ROWS_MAX	(4 * READER_FUNCS_MAX)	/* in a batch */

/* The rows of one key in the current batch. */
struct group {
	struct stats_key *key;
	uint32_t nr, from;	/* number of values; index of the first when sorted */
	uint32_t nr_open;
	uint32_t is_touched;
};

struct adder {
	struct stats_builder *b;
	struct path *paths;
	size_t nr_paths, room_paths;
	struct hash hash;	/* finds paths */
	struct group *groups;	/* by the number of the key */
	size_t nr_groups, room_groups;
	uint32_t *touched;	/* numbers of groups */
	size_t nr_touched, room_touched;
	struct dist_pool pool;
	struct dist gaps;
	/* The thread of the last row, and whether the options select it. */
	uint32_t last_tid;
	const struct thread *last_thread;
	bool last_matches, has_last;
	/* The rows of the current batch. */
	size_t nr, nr_gaps;
	uint32_t group_of[ROWS_MAX];
	uint64_t values[2][ROWS_MAX];	/* durations, resolutions */
	uint64_t sorted[2][ROWS_MAX];
	uint64_t gap_values[ROWS_MAX];
};

static int add_groups(struct adder *f, size_t number)
{
	while (f->nr_groups <= number) {
		if (!array_room(&f->groups, &f->room_groups, f->nr_groups, sizeof(*f->groups)) ||
		    !array_room(&f->touched, &f->room_touched, f->nr_groups, sizeof(*f->touched)))
			return -ENOMEM;
		f->groups[f->nr_groups++] = (struct group){ 0 };
	}
	return 0;
}

/* Adds a path that is new. */
static int add_path(struct adder *f, const struct path *path, uint64_t hash, int64_t tick,
		    uint32_t *group)
{
	struct stats_key *key;
	int rc = stats_find_key(f->b, path->pc, path->ret, tick, &key);

	if (rc)
		return rc;
	if (key && add_groups(f, key->number))
		return -ENOMEM;
	if (!array_room(&f->paths, &f->room_paths, f->nr_paths, sizeof(*f->paths)) ||
	    hash_add(&f->hash, hash, f->nr_paths))
		return -ENOMEM;
	if (key)
		f->groups[key->number].key = key;
	*group = key ? key->number : GROUP_NONE;
	f->paths[f->nr_paths] = *path;
	f->paths[f->nr_paths++].group = *group;
	return 0;
}

static inline int get_group(struct adder *f, uint64_t pc, uint64_t ret, int64_t tick,
			    uint32_t *group)
{
	uint32_t epoch = f->b->has_epochs ? symtab_epoch(f->b->m->symtab, tick) : 0, n;
	uint64_t hash = hash_mix(hash_mix(epoch, pc), ret);

	hash_each(&f->hash, hash, n) {
		const struct path *p = &f->paths[n];

		if (p->pc != pc || p->ret != ret || p->epoch != epoch)
			continue;
		*group = p->group;
		return 0;
	}
	return add_path(f, &(struct path){ pc, ret, epoch, 0 }, hash, tick, group);
}

static bool thread_matches(struct adder *f, uint32_t tid, int64_t tick)
{
	const struct thread *thread = model_thread(f->b->m, tid, tick);

	if (!f->has_last || f->last_tid != tid || f->last_thread != thread) {
		f->has_last = true;
		f->last_tid = tid;
		f->last_thread = thread;
		f->last_matches = model_thread_matches(f->b->options->thread, tid, thread);
	}
	return f->last_matches;
}

static inline void add_row(struct adder *f, uint32_t group, const struct ldb_row_func *row)
{
	struct estimate e = estimate_func(row);
	double ns_per_tick = f->b->ns_per_tick;
	struct group *g = &f->groups[group];

	if (!g->is_touched) {
		g->is_touched = true;
		f->touched[f->nr_touched++] = group;
	}
	if (e.is_truncated) {
		g->nr_open++;
		return;
	}
	g->nr++;
	f->group_of[f->nr] = group;
	f->values[0][f->nr] = ticks_ns_at(ns_per_tick, e.end - e.start);
	/*
	 * Signed, because x86 converts signed numbers to floating point much faster than unsigned
	 * ones.
	 */
	f->values[1][f->nr] = ticks_ns_at(ns_per_tick, (int64_t)e.resolution);
	f->nr++;
	if (row->start_unc <= INT64_MAX)
		f->gap_values[f->nr_gaps++] = ticks_ns_at(ns_per_tick, (int64_t)row->start_unc);
	else if (row->start_unc != LDB_UNC_UNKNOWN)
		f->gap_values[f->nr_gaps++] = ticks_ns_at(ns_per_tick, row->start_unc);
}

static void sort_by_key(struct adder *f)
{
	uint32_t at = 0;

	for (size_t i = 0; i < f->nr_touched; i++) {
		struct group *g = &f->groups[f->touched[i]];

		g->from = at;
		at += g->nr;
		g->nr = 0;
	}
	for (size_t i = 0; i < f->nr; i++) {
		struct group *g = &f->groups[f->group_of[i]];
		uint32_t to = g->from + g->nr++;

		f->sorted[0][to] = f->values[0][i];
		f->sorted[1][to] = f->values[1][i];
	}
}

/* Adds the rows of the batch to their keys. */
static int flush(struct adder *f)
{
	int rc = 0;

	sort_by_key(f);
	for (size_t i = 0; i < f->nr_touched; i++) {
		struct group *g = &f->groups[f->touched[i]];
		struct stats_key *k = g->key;

		pthread_mutex_lock(&k->lock);
		k->open += g->nr_open;
		if (!rc)
			rc = dist_add_many(&k->durations, f->sorted[0] + g->from, g->nr);
		if (!rc)
			rc = dist_add_many(&k->resolutions, f->sorted[1] + g->from, g->nr);
		pthread_mutex_unlock(&k->lock);
		*g = (struct group){ .key = k };
	}
	if (!rc)
		rc = dist_add_many(&f->gaps, f->gap_values, f->nr_gaps);
	f->nr_touched = 0;
	f->nr = 0;
	f->nr_gaps = 0;
	return rc ? rc : stats_settle(f->b);
}

static int add_rows(struct adder *f, const struct reader_funcs *rows)
{
	uint32_t group = GROUP_NONE;
	int rc;

	for (size_t i = 0; i < rows->nr; i++) {
		struct ldb_row_func row = {
			.flags = rows->flags[i], .start_max = rows->start_max[i],
			.start_unc = rows->start_unc[i], .end_max = rows->end_max[i],
			.end_unc = rows->end_unc[i],
		};

		if (rows->tid && !thread_matches(f, rows->tid[i], row.start_max))
			continue;
		rc = get_group(f, rows->pc[i], rows->ret[i], row.start_max, &group);
		if (rc)
			return rc;
		if (group != GROUP_NONE)
			add_row(f, group, &row);
	}
	return f->nr + READER_FUNCS_MAX > ROWS_MAX ? flush(f) : 0;
}

static int adder_work(void *arg, struct cursor *c)
{
	struct adder *f = arg;
	struct reader_funcs rows;
	int rc;

	while ((rc = cursor_next_funcs(c, f->b->options->thread, &rows)) > 0) {
		rc = add_rows(f, &rows);
		if (rc)
			break;
	}
	return rc ? rc : flush(f);
}

static void adder_free(struct adder *f)
{
	if (!f)
		return;
	dist_free(&f->gaps);
	free(f->paths);
	hash_free(&f->hash);
	free(f->groups);
	free(f->touched);
	free(f);
}

int stats_fold(struct stats_builder *b, const struct reader_filter *filter, struct dist *gaps)
{
	unsigned nr = reader_nr_threads();
	struct adder **adders = calloc(nr, sizeof(struct adder *));
	int rc = adders ? 0 : -ENOMEM;

	for (unsigned i = 0; i < nr && !rc; i++) {
		adders[i] = calloc(1, sizeof(**adders));
		if (!adders[i]) {
			rc = -ENOMEM;
			break;
		}
		adders[i]->b = b;
		dist_init(&adders[i]->gaps, &adders[i]->pool);
	}
	if (!rc)
		rc = reader_share(b->m->reader, LDB_BLK_FUNC, filter, nr, adder_work,
				  (void *const *)adders);
	for (unsigned i = 0; adders && i < nr; i++) {
		if (!rc)
			rc = dist_merge(gaps, &adders[i]->gaps);
		adder_free(adders[i]);
	}
	free(adders);
	return rc;
}
