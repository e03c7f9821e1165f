// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes rows of requests to block devices: two or three tracepoints become one row at the end of
 * the request.  A request is identified by its device and sector, at which there is only one
 * request at a time.  Events may be lost, so a request without an end is replaced by a new one
 * eventually.
 */
#include "record/perf/private.h"

/* entries to try; if none is free, the request in the last one is dropped */
#define TRIES	64

static uint64_t hash_of(uint64_t dev, uint64_t sector)
{
	return hash_mix(hash_mix(0, dev), sector);
}

static struct perf_flight *find(struct perf_disks *d, const struct perf_event *e)
{
	uint32_t n;

	hash_each(&d->by_place, hash_of(e->b, e->addr), n)
		if (d->at[n].dev == e->b && d->at[n].sector == e->addr)
			return &d->at[n];
	return NULL;
}

static void forget(struct perf_disks *d, struct perf_flight *f)
{
	hash_remove(&d->by_place, hash_of(f->dev, f->sector), f - d->at);
	f->is_used = false;
}

/* Returns an entry for a new request, or NULL if there is no memory. */
static struct perf_flight *add(struct perf_disks *d, const struct perf_event *e)
{
	struct perf_flight *f;

	for (unsigned n = 0; n < TRIES && d->at[d->next].is_used; n++)
		d->next = (d->next + 1) % PERF_FLIGHTS_MAX;
	f = &d->at[d->next];
	if (f->is_used)
		forget(d, f);
	f->dev = e->b;
	f->sector = e->addr;
	if (hash_add(&d->by_place, hash_of(f->dev, f->sector), f - d->at))
		return NULL;
	d->next = (d->next + 1) % PERF_FLIGHTS_MAX;
	return f;
}

void perf_disks_free(struct perf_disks *d)
{
	hash_free(&d->by_place);
}

void perf_disks_begin(struct perf_disks *d, const struct perf_event *e, uint32_t tid, int64_t tick)
{
	struct perf_flight *f = find(d, e);

	/*
	 * The thread that inserts a request into the queue has made it; a kernel thread may issue
	 * it later.
	 */
	if (f && e->kind == PERF_EVENT_DISK_ISSUE)
		return;
	if (!f)
		f = add(d, e);
	if (!f)
		return;
	*f = (struct perf_flight){
		.is_used = true, .dev = e->b, .sector = e->addr, .tid = tid, .start = tick,
		.flags = e->flags, .bytes = e->value, .device = e->file,
	};
}

bool perf_disks_end(struct perf_disks *d, const struct perf_event *e, int64_t tick,
		    struct ldb_row_disk *row)
{
	struct perf_flight *f = find(d, e);

	if (!f)
		return false;
	forget(d, f);
	*row = (struct ldb_row_disk){
		.flags = f->flags | (e->a ? LDB_DISK_F_FAILED : 0), .tid = f->tid,
		.start = f->start < tick ? f->start : tick, .end = tick, .bytes = f->bytes,
		.device = f->device ? f->device : "",
	};
	return f->tid;
}
