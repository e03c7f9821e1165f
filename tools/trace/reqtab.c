// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Implements the request table; see reqtab.h.
 *
 * A request is open from the first START or BLOCK of its id, or from when it ARRIVED, to its END.
 * The list of requests on which a thread works is needed for END_ALL only; it may contain requests
 * that have ended.
 *
 * The program chooses ids and threads.  To prevent it from slowing the recorder down, the hash has
 * a secret, and longer lists than LINEAR_MAX are not searched linearly.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/array.h"
#include "base/hash.h"
#include "base/order.h"
#include "base/sort.h"
#include "trace/reqtab.h"

#define LINEAR_MAX	32
/* value of complete, until reqtab_finish(), for a request that a CUT row has ended */
#define IS_CUT		2

struct work {			/* the requests a thread works on */
	uint32_t tid;
	uint32_t *rows;		/* numbers of rows, each once */
	size_t nr, room;
	struct hash hash;	/* hash of the rows; empty if there are few rows */
};

struct reqtab {
	struct ldb_row_reqtab *rows;
	size_t nr, room, max;
	size_t first;		/* rows before this index are final */
	bool is_finished;
	struct hash open;	/* hash of rows, by id */
	struct work *work;
	size_t nr_work, room_work;
	struct hash threads;	/* hash of work, by tid */
	uint64_t secret[2];
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Hashes a key with the secret, as wyhash does. */
static uint64_t key_hash(const struct reqtab *t, uint64_t key)
{
	return mix(mix(key ^ t->secret[0], 0x9e3779b97f4a7c15ULL) ^ t->secret[1],
		   0xe7037ed1a0b428dbULL);
}

struct reqtab *reqtab_alloc(size_t max_rows)
{
	struct reqtab *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->max = max_rows;
	/* Early at boot getrandom() may fail; then the secret is made of an address. */
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
		hash_free(&t->work[i].hash);
	}
	free(t->work);
	hash_free(&t->open);
	hash_free(&t->threads);
	free(t->rows);
	free(t);
}

static struct work *find_work(struct reqtab *t, uint32_t tid)
{
	uint32_t n;

	hash_each(&t->threads, key_hash(t, tid), n)
		if (t->work[n].tid == tid)
			return &t->work[n];
	return NULL;
}

static struct work *find_or_add_work(struct reqtab *t, uint32_t tid)
{
	struct work *found = find_work(t, tid);

	if (found)
		return found;
	if (!array_room(&t->work, &t->room_work, t->nr_work, sizeof(*t->work)) ||
	    hash_add(&t->threads, key_hash(t, tid), t->nr_work))
		return NULL;
	t->work[t->nr_work] = (struct work){ .tid = tid };
	return &t->work[t->nr_work++];
}

/* Returns the row's index in the thread's list; -1: it is not in the list. */
static int64_t work_find(const struct reqtab *t, const struct work *w, uint32_t row)
{
	uint32_t n;

	if (w->hash.nr) {
		hash_each(&w->hash, key_hash(t, row), n)
			if (w->rows[n] == row)
				return n;
		return -1;
	}
	for (size_t i = w->nr; i--;)
		if (w->rows[i] == row)
			return i;
	return -1;
}

/* Builds the hash of the list's rows; a short list has none. */
static int work_index(const struct reqtab *t, struct work *w)
{
	int ret = 0;

	hash_free(&w->hash);
	for (size_t i = 0; w->nr > LINEAR_MAX && i < w->nr && !ret; i++)
		ret = hash_add(&w->hash, key_hash(t, w->rows[i]), i);
	return ret;
}

/*
 * Makes room for one more row: drops requests that have ended; if these are few, allocates memory.
 */
static int work_grow(const struct reqtab *t, struct work *w)
{
	size_t nr = 0;

	for (size_t i = 0; i < w->nr; i++)
		if (!t->rows[w->rows[i]].complete)
			w->rows[nr++] = w->rows[i];
	w->nr = nr;
	if (nr * 2 >= w->room && !array_room(&w->rows, &w->room, w->room, sizeof(*w->rows)))
		return -ENOMEM;
	return work_index(t, w);
}

static int work_add(const struct reqtab *t, struct work *w, uint32_t row)
{
	if (work_find(t, w, row) >= 0)
		return 0;
	if (w->nr == w->room && work_grow(t, w))
		return -ENOMEM;
	w->rows[w->nr++] = row;
	if (w->hash.nr)
		return hash_add(&w->hash, key_hash(t, row), w->nr - 1);
	return w->nr > LINEAR_MAX ? work_index(t, w) : 0;
}

/* Removes a row from the list; the last one takes its place. */
static void work_remove(const struct reqtab *t, struct work *w, uint32_t row)
{
	int64_t at = work_find(t, w, row);
	uint32_t last;

	if (at < 0)
		return;
	last = w->rows[--w->nr];
	w->rows[at] = last;
	if (!w->hash.nr)
		return;
	hash_remove(&w->hash, key_hash(t, last), w->nr);
	if (at == (int64_t)w->nr)
		return;
	hash_remove(&w->hash, key_hash(t, row), at);
	hash_put(&w->hash, key_hash(t, last), at);
}

static int64_t find_open(const struct reqtab *t, uint64_t id)
{
	uint32_t n;

	hash_each(&t->open, key_hash(t, id), n)
		if (t->rows[n].id == id)
			return n;
	return -1;
}

/* Returns the number of the open row of an id, which is added if there is none; or -ENOMEM. */
static int64_t open_row(struct reqtab *t, uint64_t id, int64_t tick)
{
	int64_t found = find_open(t, id);

	if (found >= 0)
		return found;
	if (t->nr == t->max || !array_room(&t->rows, &t->room, t->nr, sizeof(*t->rows)) ||
	    hash_add(&t->open, key_hash(t, id), t->nr))
		return -ENOMEM;
	t->rows[t->nr] = (struct ldb_row_reqtab){ .id = id, .start = tick, .end = tick };
	return t->nr++;
}

static void end_row(struct reqtab *t, uint32_t row, int64_t tick)
{
	t->rows[row].end = tick;
	t->rows[row].complete = 1;
	hash_remove(&t->open, key_hash(t, t->rows[row].id), row);
}

static void end_all(struct reqtab *t, const struct ldb_row_req *r)
{
	struct work *w = find_work(t, r->tid);

	if (!w)
		return;
	for (size_t i = 0; i < w->nr; i++)
		if (!t->rows[w->rows[i]].complete)
			end_row(t, w->rows[i], r->tick);
	w->nr = 0;
	hash_free(&w->hash);
}

/* Ends all open requests, which stay incomplete. */
static void cut(struct reqtab *t, int64_t tick)
{
	for (; t->first < t->nr; t->first++)
		if (!t->rows[t->first].complete && tick > t->rows[t->first].start)
			t->rows[t->first].end = tick;
	hash_free(&t->open);
	for (size_t i = 0; i < t->nr_work; i++) {
		t->work[i].nr = 0;
		hash_free(&t->work[i].hash);
	}
}

/* Ends one open request, which stays incomplete. */
static void cut_one(struct reqtab *t, size_t row, int64_t tick)
{
	end_row(t, row, tick > t->rows[row].start ? tick : t->rows[row].start);
	t->rows[row].complete = IS_CUT;
}

static void cut_some(struct reqtab *t, const struct ldb_row_req *r)
{
	int64_t row = r->id == r->queue ? find_open(t, r->id) : -1;

	if (row >= 0)
		cut_one(t, row, r->tick);
	for (size_t i = t->first; i < t->nr && r->id != r->queue; i++)
		if (!t->rows[i].complete && t->rows[i].id >= r->id && t->rows[i].id <= r->queue)
			cut_one(t, i, r->tick);
}

/* Returns when the request arrived; if that is invalid, the tick of the row. */
static int64_t arrival(const struct ldb_row_req *r)
{
	int64_t tick;

	return __builtin_sub_overflow(r->tick, r->site, &tick) ? r->tick : tick;
}

static int start_or_block(struct reqtab *t, const struct ldb_row_req *r)
{
	int64_t row = open_row(t, r->id, r->tick);
	struct work *w = row < 0 ? NULL : find_or_add_work(t, r->tid);

	if (!w)
		return -ENOMEM;
	if (r->op == LDB_REQ_OP_START) {
		t->rows[row].nr_segments++;
		return work_add(t, w, row);
	}
	work_remove(t, w, row);
	return 0;
}

int reqtab_add(struct reqtab *t, const struct ldb_row_req *r)
{
	int64_t row;

	switch (r->op) {
	case LDB_REQ_OP_ARRIVED:
		return open_row(t, r->id, arrival(r)) < 0 ? -ENOMEM : 0;
	case LDB_REQ_OP_START:
	case LDB_REQ_OP_BLOCK:
		return start_or_block(t, r);
	case LDB_REQ_OP_END:
		row = find_open(t, r->id);
		if (row >= 0)
			end_row(t, row, r->tick);
		return 0;
	case LDB_REQ_OP_END_ALL:
		end_all(t, r);
		return 0;
	case LDB_REQ_OP_CUT:
		if (r->queue)
			cut_some(t, r);
		else
			cut(t, r->tick);
		return 0;
	default:
		return 0;
	}
}

ORDER_KEY(req_tick, struct ldb_row_req, tick)

void reqtab_sort(struct ldb_row_req *rows, size_t nr)
{
	static const order_key keys[] = { req_tick };
	struct ldb_row_req *sorted;
	uint32_t *order;
	size_t i = 1;

	while (i < nr && rows[i - 1].tick <= rows[i].tick)
		i++;
	if (i >= nr)
		return;
	order = order_of(rows, nr, sizeof(*rows), keys, 1);
	sorted = malloc(nr * sizeof(*sorted));
	if (order && sorted) {
		for (i = 0; i < nr; i++)
			sorted[i] = rows[order[i]];
		memcpy(rows, sorted, nr * sizeof(*sorted));
	}
	free(order);
	free(sorted);
}

COMPARE(by_id_start, struct ldb_row_reqtab, UP(id) UP(start))

const struct ldb_row_reqtab *reqtab_finish(struct reqtab *t, int64_t last, size_t *nr)
{
	*nr = t->nr;
	if (t->is_finished)
		return t->rows;
	t->is_finished = true;
	for (size_t i = t->first; i < t->nr; i++) {
		if (!t->rows[i].complete && last > t->rows[i].start)
			t->rows[i].end = last;
		t->rows[i].complete &= 1;
	}
	/*
	 * Ids often count up: then the rows are sorted already, and sort_by() reads them only once.
	 */
	sort_by(t->rows, t->nr, by_id_start);
	return t->rows;
}
