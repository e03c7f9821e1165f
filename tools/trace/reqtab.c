// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The request table; see reqtab.h.
 *
 * An id is open from its first START or BLOCK, or from when it ARRIVED, to its
 * END.  Which requests a thread works on matters for END_ALL alone, and is kept
 * lazily: a thread's list may name requests that have ended since.
 *
 * Ids and threads are what the program says.  So that it cannot choose some that make
 * the recorder slow, the hash has a secret, and no list is searched beyond LINEAR_MAX.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/array.h"
#include "base/sort.h"
#include "trace/reqtab.h"

#define LINEAR_MAX	32

/* uint64_t -> uint32_t, open addressing, at most half full. */
struct map {
	const uint64_t *secret;		/* two numbers */
	struct map_slot {
		uint64_t key;
		uint32_t value;
		uint32_t used;
	} *slots;
	size_t nr, room;	/* room: a power of two */
};

struct work {			/* the requests a thread works on */
	uint32_t *rows;		/* numbers of rows, each once */
	size_t nr, room;
	struct map at;		/* row -> where in rows; empty as long as there are few */
};

struct reqtab {
	struct ldb_row_reqtab *rows;
	size_t nr, room, max;
	struct map open;	/* id -> row */
	struct map threads;	/* tid -> work */
	struct work *work;
	size_t nr_work, room_work;
	uint64_t secret[2];
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* As wyhash mixes its words. */
static size_t map_hash(const struct map *m, uint64_t key)
{
	return mix(mix(key ^ m->secret[0], 0x9e3779b97f4a7c15ULL) ^ m->secret[1],
		   0xe7037ed1a0b428dbULL) & (m->room - 1);
}

static struct map_slot *map_slot(const struct map *m, uint64_t key)
{
	size_t i = map_hash(m, key);

	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & (m->room - 1);
	return &m->slots[i];
}

static uint32_t *map_find(const struct map *m, uint64_t key)
{
	struct map_slot *s = m->room ? map_slot(m, key) : NULL;

	return s && s->used ? &s->value : NULL;
}

static int map_grow(struct map *m)
{
	struct map grown = { .secret = m->secret, .room = m->room ? m->room * 2 : 64 };

	grown.slots = calloc(grown.room, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->room; i++)
		if (m->slots[i].used)
			*map_slot(&grown, m->slots[i].key) = m->slots[i];
	grown.nr = m->nr;
	free(m->slots);
	*m = grown;
	return 0;
}

static int map_put(struct map *m, uint64_t key, uint32_t value)
{
	struct map_slot *s;

	if ((m->nr + 1) * 2 > m->room && map_grow(m))
		return -ENOMEM;
	s = map_slot(m, key);
	m->nr += !s->used;
	*s = (struct map_slot){ .key = key, .value = value, .used = 1 };
	return 0;
}

static void map_remove(struct map *m, uint64_t key)
{
	size_t mask = m->room - 1, hole, i;

	if (!map_find(m, key))
		return;
	hole = map_slot(m, key) - m->slots;
	/* Pull up what would no longer be found behind the hole. */
	for (i = (hole + 1) & mask; m->slots[i].used; i = (i + 1) & mask) {
		size_t home = map_hash(m, m->slots[i].key);

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole].used = 0;
	m->nr--;
}

static void map_clear(struct map *m)
{
	free(m->slots);
	*m = (struct map){ .secret = m->secret };
}

struct reqtab *reqtab_alloc(size_t max_rows)
{
	struct reqtab *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->max = max_rows;
	t->open.secret = t->threads.secret = t->secret;
	/* Early at boot there is none: then the program cannot know it either. */
	if (getrandom(t->secret, sizeof(t->secret), GRND_NONBLOCK) < 0)
		t->secret[0] = (uintptr_t)t;
	return t;
}

void reqtab_free(struct reqtab *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr_work; i++) {
		free(t->work[i].rows);
		free(t->work[i].at.slots);
	}
	free(t->work);
	free(t->open.slots);
	free(t->threads.slots);
	free(t->rows);
	free(t);
}

static struct work *work_of(struct reqtab *t, uint32_t tid)
{
	uint32_t *found = map_find(&t->threads, tid);

	if (found)
		return &t->work[*found];
	if (!array_room(&t->work, &t->room_work, t->nr_work, sizeof(*t->work)))
		return NULL;
	if (map_put(&t->threads, tid, t->nr_work))
		return NULL;
	t->work[t->nr_work] = (struct work){ .at.secret = t->secret };
	return &t->work[t->nr_work++];
}

/* Where the row is in the list; -1: it is not. */
static int64_t work_find(const struct work *w, uint32_t row)
{
	uint32_t *found;

	if (w->at.room) {
		found = map_find(&w->at, row);
		return found ? (int64_t)*found : -1;
	}
	for (size_t i = w->nr; i--;)
		if (w->rows[i] == row)
			return i;
	return -1;
}

/* Where each row is; for few of them nothing is kept. */
static int work_index(struct work *w)
{
	map_clear(&w->at);
	for (size_t i = 0; w->nr > LINEAR_MAX && i < w->nr; i++)
		if (map_put(&w->at, w->rows[i], i))
			return -ENOMEM;
	return 0;
}

/* There is room for one more: of what has ended, or more memory. */
static int work_grow(struct reqtab *t, struct work *w)
{
	size_t kept = 0, room = w->room ? w->room * 2 : LINEAR_MAX;
	uint32_t *grown;

	for (size_t i = 0; i < w->nr; i++)
		if (!t->rows[w->rows[i]].complete)
			w->rows[kept++] = w->rows[i];
	w->nr = kept;
	if (kept * 2 >= w->room) {
		grown = realloc(w->rows, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		w->rows = grown;
		w->room = room;
	}
	return work_index(w);
}

static int work_add(struct reqtab *t, struct work *w, uint32_t row)
{
	if (work_find(w, row) >= 0)
		return 0;
	if (w->nr == w->room && work_grow(t, w))
		return -ENOMEM;
	w->rows[w->nr++] = row;
	if (w->at.room)
		return map_put(&w->at, row, w->nr - 1);
	return w->nr > LINEAR_MAX ? work_index(w) : 0;
}

static void work_remove(struct work *w, uint32_t row)
{
	int64_t at = work_find(w, row);
	uint32_t last, *found;

	if (at < 0)
		return;
	last = w->rows[--w->nr];
	w->rows[at] = last;
	if (!w->at.room)
		return;
	found = map_find(&w->at, last);
	if (found)
		*found = at;
	map_remove(&w->at, row);
}

/* The open row of an id, made where there is none.  -ENOMEM. */
static int64_t row_open(struct reqtab *t, uint64_t id, int64_t tick)
{
	uint32_t *found = map_find(&t->open, id);

	if (found)
		return *found;
	if (t->nr == t->max)
		return -ENOMEM;
	if (!array_room(&t->rows, &t->room, t->nr, sizeof(*t->rows)))
		return -ENOMEM;
	if (map_put(&t->open, id, t->nr))
		return -ENOMEM;
	t->rows[t->nr] = (struct ldb_row_reqtab){ .id = id, .start = tick, .end = tick };
	return t->nr++;
}

static void row_end(struct reqtab *t, uint32_t row, int64_t tick)
{
	t->rows[row].end = tick;
	t->rows[row].complete = 1;
	map_remove(&t->open, t->rows[row].id);
}

static void end_all(struct reqtab *t, const struct ldb_row_req *r)
{
	uint32_t *found = map_find(&t->threads, r->tid);
	struct work *w = found ? &t->work[*found] : NULL;

	for (size_t i = 0; w && i < w->nr; i++)
		if (!t->rows[w->rows[i]].complete)
			row_end(t, w->rows[i], r->tick);
	if (w) {
		w->nr = 0;
		map_clear(&w->at);
	}
}

/* When it came; of nonsense, when this was said. */
static int64_t arrival(const struct ldb_row_req *r)
{
	int64_t tick;

	return __builtin_sub_overflow(r->tick, r->site, &tick) ? r->tick : tick;
}

int reqtab_add(struct reqtab *t, const struct ldb_row_req *r)
{
	struct work *w;
	int64_t row;
	uint32_t *found;

	switch (r->op) {
	case LDB_REQ_OP_ARRIVED:
		return row_open(t, r->id, arrival(r)) < 0 ? -ENOMEM : 0;
	case LDB_REQ_OP_START:
	case LDB_REQ_OP_BLOCK:
		row = row_open(t, r->id, r->tick);
		w = row < 0 ? NULL : work_of(t, r->tid);
		if (!w)
			return -ENOMEM;
		if (r->op == LDB_REQ_OP_BLOCK) {
			work_remove(w, row);
			return 0;
		}
		t->rows[row].nr_segments++;
		return work_add(t, w, row);
	case LDB_REQ_OP_END:
		found = map_find(&t->open, r->id);
		if (found)
			row_end(t, *found, r->tick);
		return 0;
	case LDB_REQ_OP_END_ALL:
		end_all(t, r);
		return 0;
	default:
		return 0;
	}
}

static int by_tick(const void *a, const void *b)
{
	const struct ldb_row_req *x = *(const struct ldb_row_req *const *)a;
	const struct ldb_row_req *y = *(const struct ldb_row_req *const *)b;

	if (x->tick != y->tick)
		return x->tick < y->tick ? -1 : 1;
	return x < y ? -1 : x > y;
}

void reqtab_sort(struct ldb_row_req *rows, size_t nr)
{
	const struct ldb_row_req **order;
	struct ldb_row_req *sorted;
	size_t i = 1;

	while (i < nr && rows[i - 1].tick <= rows[i].tick)
		i++;
	if (i >= nr)
		return;
	order = malloc(nr * sizeof(*order));
	sorted = malloc(nr * sizeof(*sorted));
	if (order && sorted) {
		for (i = 0; i < nr; i++)
			order[i] = &rows[i];
		qsort(order, nr, sizeof(*order), by_tick);
		for (i = 0; i < nr; i++)
			sorted[i] = *order[i];
		memcpy(rows, sorted, nr * sizeof(*sorted));
	}
	free(order);
	free(sorted);
}

COMPARE(by_id_start, struct ldb_row_reqtab, UP(id) UP(start))

static bool is_sorted(const struct reqtab *t)
{
	for (size_t i = 1; i < t->nr; i++)
		if (by_id_start(&t->rows[i - 1], &t->rows[i]) > 0)
			return false;
	return true;
}

const struct ldb_row_reqtab *reqtab_finish(struct reqtab *t, int64_t last, size_t *nr)
{
	for (size_t i = 0; i < t->nr; i++)
		if (!t->rows[i].complete && last > t->rows[i].start)
			t->rows[i].end = last;
	/* Ids often count up, and a sort of millions would hold up the end. */
	if (!is_sorted(t))
		qsort(t->rows, t->nr, sizeof(*t->rows), by_id_start);
	*nr = t->nr;
	return t->rows;
}
