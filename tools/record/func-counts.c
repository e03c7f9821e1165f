// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts rows by thread; see func-counts.h. */
#include <stdlib.h>
#include "base/array.h"
#include "record/func-counts.h"

void func_counts_free(struct func_counts *c)
{
	free(c->counts);
	hash_free(&c->by_tid);
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

	if (f)
		f->nr += start > f->since;
}

uint64_t func_counts_of(const struct func_counts *c, uint32_t tid)
{
	const struct func_count *f = find(c, tid);

	return f ? f->nr : 0;
}

void func_counts_forget(struct func_counts *c, uint32_t tid, int64_t tick)
{
	struct func_count *f = c->is_on ? get(c, tid) : NULL;

	if (!f)
		return;
	f->nr = 0;
	f->since = tick;
}
