// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes durations of functions.  Keys map names to entries, so that copies of a call that the
 * compiler made are counted in one line of the report.  The rows are added in stats-sum.c.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "facts/rows.h"
#include "stats-private.h"

/* Pointers are hashed, because the symtab stores each string once. */
static uint64_t key_hash(enum stats_by by, const struct symbol *func, const struct symbol *site)
{
	uint64_t h = hash_mix(by, (uintptr_t)func->path);

	if (by == STATS_BY_MODULE)
		return h;
	h = hash_mix(h, (uintptr_t)(func->known ? func->raw : func->function));
	h = hash_mix(hash_mix(h, (uintptr_t)func->func_file), func->func_line);
	if (by == STATS_BY_FUNCTION)
		return h;
	h = hash_mix(h, (uintptr_t)(site->known ? site->raw : site->function));
	return hash_mix(hash_mix(h, (uintptr_t)site->file), site->line);
}

static bool same_function(const struct symbol *a, const struct symbol *b)
{
	return a->path == b->path && a->function == b->function && a->raw == b->raw &&
	       a->func_file == b->func_file && a->func_line == b->func_line;
}

static bool same_key(enum stats_by by, const struct stats_key *k, const struct symbol *func,
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

uint64_t stats_hash(enum stats_by by, const struct symbol *func, const struct symbol *site)
{
	return key_hash(by, func, site);
}

bool stats_is_of(const struct stats_entry *e, enum stats_by by, const struct symbol *func,
		 const struct symbol *site)
{
	struct stats_key k = { .func = e->func, .site = e->site };

	return same_key(by, &k, func, site);
}

static struct stats_key *get_key(struct stats_builder *b, const struct symbol *func,
				 const struct symbol *site)
{
	enum stats_by by = b->options->by;
	uint64_t hash = key_hash(by, func, site);
	struct stats_key *k;

	keyed_each(&b->keys, hash, k) {
		if (!same_key(by, k, func, site))
			continue;
		/*
		 * A module is represented by the function whose name sorts first, so that the
		 * result does not depend on the order of the rows.
		 */
		if (by == STATS_BY_MODULE && strcmp(func->function, k->func->function) < 0)
			k->func = func;
		return k;
	}
	k = keyed_add(&b->keys, hash, sizeof(*k));
	if (!k)
		return NULL;
	k->number = b->keys.nr - 1;
	k->func = func;
	k->site = site;
	dist_init(&k->durations, &b->pool);
	dist_init(&k->resolutions, &b->pool);
	pthread_mutex_init(&k->lock, NULL);
	return k;
}

/* Strings are interned and symbols cached by the symtab, which is not thread-safe. */
int stats_find_key(struct stats_builder *b, uint64_t pc, uint64_t ret, int64_t tick,
		   struct stats_key **key)
{
	const char *wanted = b->options->function;
	const struct symbol *func, *site;
	int rc = 0;

	pthread_mutex_lock(&b->lock);
	func = symtab_lookup(b->m->symtab, pc, tick);
	site = symtab_lookup_call(b->m->symtab, ret, tick);
	*key = NULL;
	if (!wanted || !fnmatch(wanted, func->function, 0)) {
		*key = get_key(b, func, site);
		rc = *key ? 0 : -ENOMEM;
	}
	pthread_mutex_unlock(&b->lock);
	return rc;
}

int stats_settle(struct stats_builder *b)
{
	size_t limit = dist_limit(&b->pool);
	int rc = 0;

	if (limit >= atomic_exchange(&b->limit, limit))
		return 0;
	pthread_mutex_lock(&b->lock);
	for (size_t i = 0; i < b->keys.nr && !rc; i++) {
		struct stats_key *k = b->keys.at[i];

		pthread_mutex_lock(&k->lock);
		rc = dist_settle(&k->durations) || dist_settle(&k->resolutions) ? -ENOMEM : 0;
		pthread_mutex_unlock(&k->lock);
	}
	pthread_mutex_unlock(&b->lock);
	return rc;
}

static void fill_entry(struct stats_entry *e, struct stats_key *k, enum stats_by by)
{
	*e = (struct stats_entry){
		.func = k->func,
		.site = by == STATS_BY_SITE ? k->site : NULL,
		.times = dist_times(&k->durations),
		.open = k->open,
		.resolution_ns = dist_percentile(&k->resolutions, 1, 2),
		.resolution_max_ns = k->resolutions.max,
	};
}

static int fill_stats(struct stats_builder *b, struct stats *stats)
{
	struct dist_pool pool = { 0 };	/* separate from the memory of the parts that are summed */
	struct dist resolutions;
	int rc = 0;

	dist_init(&resolutions, &pool);
	stats->entries = calloc(b->keys.nr + 1, sizeof(*stats->entries));
	if (!stats->entries)
		return -ENOMEM;
	for (size_t i = b->keys.nr; i-- && !rc;) {
		struct stats_key *k = b->keys.at[i];
		struct stats_entry *e = &stats->entries[stats->nr++];

		rc = dist_merge(&resolutions, &k->resolutions);
		fill_entry(e, k, b->options->by);
		stats->count += e->count;
		stats->open += e->open;
	}
	stats->resolution_ns = dist_percentile(&resolutions, 1, 2);
	dist_free(&resolutions);
	return rc;
}

static void free_builder(struct stats_builder *b)
{
	for (size_t i = 0; i < b->keys.nr; i++) {
		struct stats_key *k = b->keys.at[i];

		dist_free(&k->durations);
		dist_free(&k->resolutions);
		pthread_mutex_destroy(&k->lock);
	}
	keyed_free(&b->keys);
	pthread_mutex_destroy(&b->lock);
}

int stats_build(struct model *m, const struct stats_options *options, struct stats *stats)
{
	struct reader_filter filter = ROWS_WITHIN(options->from, options->to);
	struct stats_builder b = {
		.m = m, .options = options, .ns_per_tick = reader_ticks_to_ns(m->reader, 1),
		.has_epochs = symtab_epoch(m->symtab, INT64_MAX), .limit = DIST_EXACT_MAX,
	};
	struct dist_pool pool = { 0 };
	struct dist gaps;
	int ret;

	*stats = (struct stats){ 0 };
	pthread_mutex_init(&b.lock, NULL);
	dist_init(&gaps, &pool);
	ret = stats_fold(&b, &filter, &gaps);
	if (!ret)
		ret = stats_settle(&b);
	if (!ret)
		ret = fill_stats(&b, stats);
	stats->seen_from_ns = dist_seen_from(&gaps, 95);
	dist_free(&gaps);
	free_builder(&b);
	return ret;
}

void stats_free(struct stats *stats)
{
	free(stats->entries);
	*stats = (struct stats){ 0 };
}
