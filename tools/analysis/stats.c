// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Durations of functions.  Two tables: "paths" maps what a row says (pc, return
 * address, epoch of the module map) to an entry without asking for symbols
 * twice; "keys" maps names to entries, so that the copies of one call that the
 * compiler made are one line of the report.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/estimate.h"
#include "analysis/stats.h"
#include "analysis/ticks.h"


struct key {
	struct key *next;
	uint64_t hash;
	const struct symbol *func, *site;
	struct dist durations, resolutions;
	uint64_t open;
};

struct path {
	uint64_t pc, ret;
	uint32_t epoch;
	bool is_used;
	struct key *key;	/* NULL: filtered out */
};

struct builder {
	struct model *m;
	const struct stats_options *options;
	struct dist_pool pool;
	struct path *paths;	/* open addressing; a power of two */
	size_t nr_paths, room_paths;
	struct key **buckets;
	size_t nr_keys, nr_buckets;
	struct dist gaps, resolutions;
	uint32_t last_tid;
	const struct thread *last_thread;
	bool last_matches, has_last;
};

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

/* Strings are interned by the symtab: pointers stand for their texts. */
static uint64_t key_hash(enum stats_by by, const struct symbol *func, const struct symbol *site)
{
	uint64_t h = mix(by, (uintptr_t)func->path);

	if (by == STATS_BY_MODULE)
		return h;
	h = mix(h, (uintptr_t)(func->known ? func->raw : func->function));
	h = mix(mix(h, (uintptr_t)func->func_file), func->func_line);
	if (by == STATS_BY_FUNCTION)
		return h;
	h = mix(h, (uintptr_t)(site->known ? site->raw : site->function));
	return mix(mix(h, (uintptr_t)site->file), site->line);
}

static bool same_function(const struct symbol *a, const struct symbol *b)
{
	return a->path == b->path && a->function == b->function && a->raw == b->raw &&
	       a->func_file == b->func_file && a->func_line == b->func_line;
}

static bool same_key(enum stats_by by, const struct key *k, const struct symbol *func,
		     const struct symbol *site)
{
	if (by == STATS_BY_MODULE)
		return k->func->path == func->path;
	if (!same_function(k->func, func))
		return false;
	return by == STATS_BY_FUNCTION ||
	       (same_function(k->site, site) && k->site->file == site->file &&
		k->site->line == site->line);
}

static int grow_buckets(struct builder *b)
{
	size_t nr = b->nr_buckets ? b->nr_buckets * 2 : 256;
	struct key **buckets = calloc(nr, sizeof(*buckets));

	if (!buckets)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_buckets; i++)
		for (struct key *k = b->buckets[i], *next; k; k = next) {
			next = k->next;
			k->next = buckets[k->hash & (nr - 1)];
			buckets[k->hash & (nr - 1)] = k;
		}
	free(b->buckets);
	b->buckets = buckets;
	b->nr_buckets = nr;
	return 0;
}

static struct key *get_key(struct builder *b, const struct symbol *func, const struct symbol *site)
{
	enum stats_by by = b->options->by;
	uint64_t hash = key_hash(by, func, site);
	struct key *k;

	if (b->nr_keys >= b->nr_buckets && grow_buckets(b))
		return NULL;
	for (k = b->buckets[hash & (b->nr_buckets - 1)]; k; k = k->next)
		if (k->hash == hash && same_key(by, k, func, site))
			return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->hash = hash;
	k->func = func;
	k->site = site;
	dist_init(&k->durations, &b->pool);
	dist_init(&k->resolutions, &b->pool);
	k->next = b->buckets[hash & (b->nr_buckets - 1)];
	b->buckets[hash & (b->nr_buckets - 1)] = k;
	b->nr_keys++;
	return k;
}

static struct path *path_slot(struct path *paths, size_t room, uint64_t pc, uint64_t ret,
			      uint32_t epoch)
{
	size_t i = mix(mix(pc, ret), epoch) & (room - 1);

	while (paths[i].is_used &&
	       (paths[i].pc != pc || paths[i].ret != ret || paths[i].epoch != epoch))
		i = (i + 1) & (room - 1);
	return &paths[i];
}

static int grow_paths(struct builder *b)
{
	size_t room = b->room_paths ? b->room_paths * 2 : 1024;
	struct path *paths = calloc(room, sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	for (size_t i = 0; i < b->room_paths; i++) {
		const struct path *p = &b->paths[i];

		if (p->is_used)
			*path_slot(paths, room, p->pc, p->ret, p->epoch) = *p;
	}
	free(b->paths);
	b->paths = paths;
	b->room_paths = room;
	return 0;
}

static int get_path(struct builder *b, const struct ldb_row_func *row, struct key **key)
{
	uint32_t epoch = symtab_epoch(b->m->symtab, row->start_max);
	const struct symbol *func, *site;
	struct path *p;

	if (2 * b->nr_paths >= b->room_paths && grow_paths(b))
		return -ENOMEM;
	p = path_slot(b->paths, b->room_paths, row->pc, row->ret, epoch);
	if (!p->is_used) {
		func = symtab_lookup(b->m->symtab, row->pc, row->start_max);
		site = symtab_lookup_call(b->m->symtab, row->ret, row->start_max);
		*p = (struct path){ .pc = row->pc, .ret = row->ret, .epoch = epoch };
		if (!b->options->function || !fnmatch(b->options->function, func->function, 0)) {
			p->key = get_key(b, func, site);
			if (!p->key)
				return -ENOMEM;
		}
		p->is_used = true;
		b->nr_paths++;
	}
	*key = p->key;
	return 0;
}

bool stats_thread_matches(const char *thread, uint32_t tid, const struct thread *t)
{
	char *end;
	unsigned long nr;

	if (!thread)
		return true;
	nr = strtoul(thread, &end, 10);
	if (end != thread && !*end)
		return nr == tid;
	return t && !fnmatch(thread, t->name, 0);
}

static bool thread_matches(struct builder *b, const struct ldb_row_func *row)
{
	if (!b->options->thread)
		return true;
	if (!b->has_last || b->last_tid != row->tid) {
		b->has_last = true;
		b->last_tid = row->tid;
		b->last_thread = model_thread(b->m, row->tid, row->start_max);
		b->last_matches = stats_thread_matches(b->options->thread, row->tid,
						       b->last_thread);
	}
	return b->last_matches;
}

static int add_row(struct builder *b, const struct ldb_row_func *row)
{
	struct estimate e = estimate_func(row);
	uint64_t resolution_ns;
	struct key *key;
	int ret;

	if (!thread_matches(b, row))
		return 0;
	ret = get_path(b, row, &key);
	if (ret || !key)
		return ret;
	if (e.is_truncated) {
		key->open++;
		return 0;
	}
	resolution_ns = ticks_ns(b->m->reader, e.resolution);
	ret = dist_add(&key->durations, ticks_ns(b->m->reader, e.end - e.start));
	if (!ret)
		ret = dist_add(&key->resolutions, resolution_ns);
	if (!ret)
		ret = dist_add(&b->resolutions, resolution_ns);
	if (!ret && row->start_unc != LDB_UNC_UNKNOWN)
		ret = dist_add(&b->gaps, ticks_ns(b->m->reader, row->start_unc));
	return ret;
}

static int add_rows(void *arg, const struct reader_rows *rows)
{
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++)
		ret = add_row(arg, &rows->func[i]);
	return ret;
}

static void fill_entry(struct stats_entry *e, struct key *k, enum stats_by by)
{
	struct dist *d = &k->durations;

	*e = (struct stats_entry){
		.func = k->func,
		.site = by == STATS_BY_SITE ? k->site : NULL,
		.count = d->nr,
		.open = k->open,
		.p50_ns = dist_percentile(d, 1, 2),
		.p99_ns = dist_percentile(d, 99, 100),
		.p999_ns = dist_percentile(d, 999, 1000),
		.p9999_ns = dist_percentile(d, 9999, 10000),
		.max_ns = d->max,
		.mean_ns = dist_mean(d),
		.total_ns = dist_sum(d),
		.resolution_ns = dist_percentile(&k->resolutions, 1, 2),
		.resolution_max_ns = k->resolutions.max,
		.is_exact = dist_is_exact(d),
	};
}

static int fill_stats(struct builder *b, struct stats *stats)
{
	stats->entries = calloc(b->nr_keys + 1, sizeof(*stats->entries));
	if (!stats->entries)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_buckets; i++)
		for (struct key *k = b->buckets[i]; k; k = k->next) {
			struct stats_entry *e = &stats->entries[stats->nr++];

			fill_entry(e, k, b->options->by);
			stats->count += e->count;
			stats->open += e->open;
		}
	stats->resolution_ns = dist_percentile(&b->resolutions, 1, 2);
	stats->seen_from_ns = dist_seen_from(&b->gaps, 95);
	return 0;
}

static void free_builder(struct builder *b)
{
	for (size_t i = 0; i < b->nr_buckets; i++)
		for (struct key *k = b->buckets[i], *next; k; k = next) {
			next = k->next;
			dist_free(&k->durations);
			dist_free(&k->resolutions);
			free(k);
		}
	free(b->buckets);
	free(b->paths);
	dist_free(&b->gaps);
	dist_free(&b->resolutions);
}

int stats_build(struct model *m, const struct stats_options *options, struct stats *stats)
{
	struct reader_filter filter = READER_FILTER_ALL;
	struct builder b = {
		.m = m, .options = options,
	};
	int ret;

	*stats = (struct stats){ 0 };
	dist_init(&b.gaps, &b.pool);
	dist_init(&b.resolutions, &b.pool);
	filter.t_min = options->from;
	filter.t_max = options->to;
	ret = reader_each(m->reader, LDB_BLK_FUNC, &filter, add_rows, &b);
	if (!ret)
		ret = fill_stats(&b, stats);
	free_builder(&b);
	return ret;
}

void stats_free(struct stats *stats)
{
	free(stats->entries);
	*stats = (struct stats){ 0 };
}
