// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts rows by thread; see func-counts.h. */
#include <stdlib.h>
#include "base/array.h"
#include "record/rows/func-counts.h"

void func_counts_free(struct func_counts *c)
{
	free(c->counts);
	free(c->exited);
	hash_free(&c->by_tid);
	hash_free(&c->by_end);
}

static struct func_count *find(const struct func_counts *c, uint32_t tid)
{
	uint32_t n;

	hash_each(&c->by_tid, hash_mix(0, tid), n)
		if (c->counts[n].tid == tid)
			return &c->counts[n];
	return NULL;
}

static struct func_count *add(struct func_counts *c, uint32_t tid)
{
	if (!array_room(&c->counts, &c->room, c->nr, sizeof(*c->counts)) ||
	    hash_add(&c->by_tid, hash_mix(0, tid), c->nr))
		return NULL;
	c->counts[c->nr] = (struct func_count){ .tid = tid, .since = INT64_MIN };
	return &c->counts[c->nr++];
}

static struct func_count *get(struct func_counts *c, uint32_t tid)
{
	struct func_count *f;

	/* Consecutive rows are usually of the same thread. */
	if (c->last < c->nr && c->counts[c->last].tid == tid)
		return &c->counts[c->last];
	f = find(c, tid);
	if (!f)
		f = add(c, tid);
	if (f)
		c->last = f - c->counts;
	return f;
}

void func_counts_add(struct func_counts *c, uint32_t tid, int64_t start)
{
	struct func_count *f = get(c, tid);

	if (f && start > f->since)
		f->nr++;
	else if (f && f->exited && f->exited + FUNC_EXITED_MAX > c->nr_exited)
		c->exited[(f->exited - 1) % FUNC_EXITED_MAX].nr++;
}

bool func_counts_is_earlier(const struct func_counts *c, uint32_t tid, int64_t start)
{
	const struct func_count *f = find(c, tid);

	return f && start <= f->since;
}

uint64_t func_counts_of(const struct func_counts *c, uint32_t tid)
{
	const struct func_count *f = find(c, tid);

	return f ? f->nr : 0;
}

static uint64_t hash_of(uint32_t tid, int64_t end)
{
	return hash_mix(hash_mix(0, tid), end);
}

bool func_counts_of_exited(const struct func_counts *c, uint32_t tid, int64_t end, uint64_t *nr)
{
	uint32_t n;

	hash_each(&c->by_end, hash_of(tid, end), n) {
		if (c->exited[n].tid != tid || c->exited[n].end != end)
			continue;
		*nr = c->exited[n].nr;
		return true;
	}
	return false;
}

/*
 * Stores the count of a thread that has exited.  If the table is full, the oldest entry is
 * replaced.
 */
static void keep_exited(struct func_counts *c, struct func_count *f, int64_t end)
{
	uint32_t n = c->nr_exited % FUNC_EXITED_MAX;
	struct func_exited *e;

	f->exited = 0;
	if (!c->exited)
		c->exited = calloc(FUNC_EXITED_MAX, sizeof(*c->exited));
	if (!c->exited || hash_reserve(&c->by_end))
		return;
	e = &c->exited[n];
	if (c->nr_exited >= FUNC_EXITED_MAX)
		hash_remove(&c->by_end, hash_of(e->tid, e->end), n);
	*e = (struct func_exited){ f->tid, end, f->nr };
	hash_put(&c->by_end, hash_of(f->tid, end), n);
	f->exited = ++c->nr_exited;
}

void func_counts_exit(struct func_counts *c, uint32_t tid, int64_t tick)
{
	struct func_count *f = c->is_on ? get(c, tid) : NULL;

	if (!f)
		return;
	keep_exited(c, f, tick);
	f->nr = 0;
	f->since = tick;
}
