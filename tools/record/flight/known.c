// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Retains rows that describe others; see known.h.  The number of rows of each kind is
 * limited, because a program may create any number of threads and load any number of libraries.
 * Beyond the limit the oldest rows are dropped (for META rows, see last_meta()), and each dump
 * contains a warning.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/hash.h"
#include "record/flight/known.h"

#define THREADS_MAX	65536
#define MODULES_MAX	4096	/* modules that were unloaded */
#define TASKS_MAX	32768
#define METAS_MAX	256
#define CLOCKS_MAX	(1 << 20)
#define FLOWS_MAX	(1 << 18)
#define APIS_MAX	(1 << 16)

/* bytes of the name of a thread or task; the kernel's have at most 16 */
#define NAME_BYTES	64

struct thread {
	struct ldb_row_thread row;
	char name[NAME_BYTES];
};

struct module {
	struct ldb_row_module row;
	char *build_id, *path;
};

struct task {
	struct ldb_row_task row;
	char name[NAME_BYTES];
};

struct meta {
	char *key, *value;
};

#define LIST(type)	struct { type *at; size_t nr, room; }

struct flight_known {
	LIST(struct thread) threads;
	struct hash thread_of;		/* by tid and start */
	LIST(struct module) modules;
	LIST(struct task) tasks;
	LIST(struct meta) metas;
	LIST(struct ldb_row_clock) clocks;
	LIST(struct ldb_row_flow) flows;
	LIST(struct ldb_row_flow_hist) hists;
	LIST(struct ldb_row_flow_api) apis;
	uint64_t nr_forgotten;
};

/* Makes room for one more row: if there are too many, drops the older half. */
#define make_room(k, list, max, drop) __extension__ ({					\
	if ((list).nr == (max)) {							\
		size_t half = (max) / 2;						\
											\
		for (size_t i_ = 0; i_ < half; i_++)					\
			drop(&(list).at[i_]);						\
		memmove((list).at, (list).at + half, ((list).nr - half) * sizeof(*(list).at)); \
		(list).nr -= half;							\
		(k)->nr_forgotten += half;						\
	}										\
	array_room(&(list).at, &(list).room, (list).nr, sizeof(*(list).at));		\
})

/* Removes the rows for which is_wanted is false; the others stay in their order. */
#define filter(list, x, is_wanted, drop) do {						\
	size_t nr_ = 0;									\
											\
	for (size_t i_ = 0; i_ < (list).nr; i_++) {					\
		__typeof__(*(list).at) *x = &(list).at[i_];				\
											\
		if (is_wanted)								\
			(list).at[nr_++] = *x;						\
		else									\
			drop(x);							\
	}										\
	(list).nr = nr_;								\
} while (0)

static void drop_nothing(const void *row)
{
}

static void drop_module(struct module *m)
{
	free(m->build_id);
	free(m->path);
}

static void drop_meta(struct meta *m)
{
	free(m->key);
	free(m->value);
}

static void drop_api(struct ldb_row_flow_api *row)
{
	free((char *)row->name);
}

struct flight_known *flight_known_alloc(void)
{
	return calloc(1, sizeof(struct flight_known));
}

void flight_known_free(struct flight_known *k)
{
	if (!k)
		return;
	filter(k->modules, m, false && m, drop_module);
	filter(k->metas, m, false && m, drop_meta);
	filter(k->apis, a, false && a, drop_api);
	hash_free(&k->thread_of);
	free(k->threads.at);
	free(k->modules.at);
	free(k->tasks.at);
	free(k->metas.at);
	free(k->clocks.at);
	free(k->flows.at);
	free(k->hists.at);
	free(k->apis.at);
	free(k);
}

static uint64_t thread_hash(const struct ldb_row_thread *row)
{
	return hash_mix(hash_mix(0, row->tid), row->start);
}

/* Rebuilds the hash after threads were moved in the array. */
static void find_threads_anew(struct flight_known *k)
{
	hash_clear(&k->thread_of);
	for (size_t i = 0; i < k->threads.nr; i++)
		hash_add(&k->thread_of, thread_hash(&k->threads.at[i].row), i);
}

static struct thread *find_thread(const struct flight_known *k, const struct ldb_row_thread *row)
{
	uint32_t n;

	hash_each(&k->thread_of, thread_hash(row), n)
		if (k->threads.at[n].row.tid == row->tid && k->threads.at[n].row.start == row->start)
			return &k->threads.at[n];
	return NULL;
}

static struct thread *new_thread(struct flight_known *k, const struct ldb_row_thread *row)
{
	bool is_full = k->threads.nr == THREADS_MAX;

	if (!make_room(k, k->threads, THREADS_MAX, drop_nothing))
		return NULL;
	if (is_full)
		find_threads_anew(k);
	hash_add(&k->thread_of, thread_hash(row), k->threads.nr);
	return &k->threads.at[k->threads.nr++];
}

/* Stores a row of a thread, replacing its earlier one. */
static void take_thread(struct flight_known *k, const struct ldb_row_thread *row)
{
	struct thread *t = find_thread(k, row);

	t = t ? t : new_thread(k, row);
	if (!t)
		return;
	t->row = *row;
	snprintf(t->name, sizeof(t->name), "%s", row->name);
}

static void take_module(struct flight_known *k, const struct ldb_row_module *row)
{
	struct module m = { *row, strdup(row->build_id), strdup(row->path) };

	if (m.build_id && m.path && make_room(k, k->modules, MODULES_MAX, drop_module))
		k->modules.at[k->modules.nr++] = m;
	else
		drop_module(&m);
}

static void take_task(struct flight_known *k, const struct ldb_row_task *row)
{
	struct task *t;

	if (!make_room(k, k->tasks, TASKS_MAX, drop_nothing))
		return;
	t = &k->tasks.at[k->tasks.nr++];
	t->row = *row;
	snprintf(t->name, sizeof(t->name), "%s", row->name);
}

/*
 * Returns the last row with this key, or NULL.  Each command that changes a recording writes rows
 * with the same keys.  When there are METAS_MAX rows, a new one replaces the last one with its key.
 */
static struct meta *last_meta(const struct flight_known *k, const char *key)
{
	for (size_t i = k->metas.nr; i--;)
		if (!strcmp(k->metas.at[i].key, key))
			return &k->metas.at[i];
	return NULL;
}

static void take_meta(struct flight_known *k, const struct ldb_row_meta *row)
{
	struct meta *old = k->metas.nr >= METAS_MAX && strcmp(row->key, "warning") ? last_meta(k, row->key) : NULL;
	struct meta m = { strdup(row->key), strdup(row->value) };
	bool is_needed = strcmp(row->key, "warning") || k->metas.nr < METAS_MAX;

	if (m.key && m.value && old) {
		drop_meta(old);
		*old = m;
		return;
	}
	if (m.key && m.value && is_needed &&
	    array_room(&k->metas.at, &k->metas.room, k->metas.nr, sizeof(m))) {
		k->metas.at[k->metas.nr++] = m;
		return;
	}
	k->nr_forgotten += !is_needed;
	drop_meta(&m);
}

static void take_api(struct flight_known *k, const struct ldb_row_flow_api *row)
{
	struct ldb_row_flow_api copy = *row;

	copy.name = strdup(row->name);
	if (copy.name && make_room(k, k->apis, APIS_MAX, drop_api))
		k->apis.at[k->apis.nr++] = copy;
	else
		drop_api(&copy);
}

static void take_one(struct flight_known *k, unsigned kind, const void *row)
{
	const struct ldb_row_module *m = row;

	switch (kind) {
	case LDB_BLK_META:
		take_meta(k, row);
		break;
	case LDB_BLK_THREAD:
		take_thread(k, row);
		break;
	case LDB_BLK_MODULE:
		if (m->end_tick != INT64_MAX)
			take_module(k, row);
		break;
	case LDB_BLK_TASK:
		take_task(k, row);
		break;
	case LDB_BLK_CLOCK:
		if (make_room(k, k->clocks, CLOCKS_MAX, drop_nothing))
			k->clocks.at[k->clocks.nr++] = *(const struct ldb_row_clock *)row;
		break;
	case LDB_BLK_FLOW_API:
		take_api(k, row);
		break;
	case LDB_BLK_FLOW:
		if (make_room(k, k->flows, FLOWS_MAX, drop_nothing))
			k->flows.at[k->flows.nr++] = *(const struct ldb_row_flow *)row;
		break;
	case LDB_BLK_FLOW_HIST:
		if (make_room(k, k->hists, FLOWS_MAX, drop_nothing))
			k->hists.at[k->hists.nr++] = *(const struct ldb_row_flow_hist *)row;
		break;
	}
}

static bool is_known(unsigned kind)
{
	return kind == LDB_BLK_META || kind == LDB_BLK_THREAD || kind == LDB_BLK_MODULE || kind == LDB_BLK_TASK ||
	       kind == LDB_BLK_CLOCK || kind == LDB_BLK_SCAN || kind == LDB_BLK_KSYM || kind == LDB_BLK_FLOW_API ||
	       kind == LDB_BLK_FLOW || kind == LDB_BLK_FLOW_HIST;
}

static size_t row_bytes(unsigned kind)
{
	switch (kind) {
#define ROWS(KIND, name, when, bulk, columns)	case LDB_BLK_##KIND: return sizeof(struct ldb_row_##name);
#include "trace/schemas.def"
	default:
		return 0;
	}
}

bool flight_known_take(struct flight_known *k, unsigned kind, const void *rows, size_t nr)
{
	if (!is_known(kind))
		return false;
	for (size_t i = 0; i < nr; i++)
		take_one(k, kind, (const char *)rows + i * row_bytes(kind));
	return true;
}

/*
 * Returns true if one of the next 63 rows replaces the task's row at `cut` or before: it is not
 * needed any more.
 */
static bool is_replaced(const struct flight_known *k, const struct task *t, int64_t cut)
{
	const struct task *last = k->tasks.at + k->tasks.nr;

	if (t->row.tick > cut)
		return false;
	for (const struct task *n = t + 1; n < last && n < t + 64; n++)
		if (n->row.tid == t->row.tid && n->row.tick <= cut)
			return true;
	return false;
}

void flight_known_expire(struct flight_known *k, int64_t cut)
{
	const struct ldb_row_clock *first = k->clocks.at;

	filter(k->threads, t, !(t->row.flags & LDB_THREAD_F_EXITED) || t->row.end > cut, drop_nothing);
	find_threads_anew(k);
	filter(k->modules, m, m->row.end_tick > cut, drop_module);
	filter(k->tasks, t, !is_replaced(k, t, cut), drop_nothing);
	/* The clock's first row is retained, so that the rate is that of the whole recording. */
	filter(k->clocks, c, c == first || c->tick > cut, drop_nothing);
}

static void say_forgotten(const struct flight_known *k, flight_known_row_fn *row, void *arg)
{
	char text[128];

	if (!k->nr_forgotten)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " rows of threads, tasks, libraries, warnings and so on were dropped: there were too many",
		 k->nr_forgotten);
	row(arg, LDB_BLK_META, &(struct ldb_row_meta){ "warning", text });
}

void flight_known_each(const struct flight_known *k, flight_known_row_fn *row, void *arg)
{
	for (size_t i = 0; i < k->metas.nr; i++)
		row(arg, LDB_BLK_META, &(struct ldb_row_meta){ k->metas.at[i].key, k->metas.at[i].value });
	say_forgotten(k, row, arg);
	for (size_t i = 0; i < k->clocks.nr; i++)
		row(arg, LDB_BLK_CLOCK, &k->clocks.at[i]);
	for (size_t i = 0; i < k->threads.nr; i++) {
		k->threads.at[i].row.name = k->threads.at[i].name;
		row(arg, LDB_BLK_THREAD, &k->threads.at[i].row);
	}
	for (size_t i = 0; i < k->modules.nr; i++) {
		k->modules.at[i].row.build_id = k->modules.at[i].build_id;
		k->modules.at[i].row.path = k->modules.at[i].path;
		row(arg, LDB_BLK_MODULE, &k->modules.at[i].row);
	}
	for (size_t i = 0; i < k->tasks.nr; i++) {
		k->tasks.at[i].row.name = k->tasks.at[i].name;
		row(arg, LDB_BLK_TASK, &k->tasks.at[i].row);
	}
	for (size_t i = 0; i < k->apis.nr; i++)
		row(arg, LDB_BLK_FLOW_API, &k->apis.at[i]);
	for (size_t i = 0; i < k->flows.nr; i++)
		row(arg, LDB_BLK_FLOW, &k->flows.at[i]);
	for (size_t i = 0; i < k->hists.nr; i++)
		row(arg, LDB_BLK_FLOW_HIST, &k->hists.at[i]);
}
