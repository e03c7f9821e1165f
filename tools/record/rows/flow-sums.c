// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the sums of calls between modules (ldb/flows.h) and writes them as rows.
 *
 * The program writes to this memory at the same time, may be killed at any time, and may be
 * hostile.  So values are copied before they are checked and used.  The region of a thread that has
 * exited is read and emptied, so that it can be used again; all others are read at the end, and for
 * snapshots and dumps.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <ldb/flows.h>
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "record/rows/flow-sums.h"
#include "record/session/order.h"

#define NAME_MAX_BYTES	4096
_Static_assert(LDB_FLOW_API_PLT == LDB_FLOW_F_PLT && LDB_FLOW_API_GOT == LDB_FLOW_F_GOT &&
	       LDB_FLOW_API_DLSYM == LDB_FLOW_F_DLSYM && LDB_FLOW_API_NOTIME == LDB_FLOW_F_NOTIME &&
	       LDB_FLOW_OPEN == LDB_FLOW_CALL_F_OPEN, "the row's flags are those of the program");

#define PART_BUCKETS	(LDB_FLOW_PART / sizeof(uint32_t))

struct flow_sums {
	struct writer *w;
	uint64_t t0;
	int fd;
	char *base;
	/* how many numbers of functions were read so far, including 0 */
	uint32_t nr_apis;
	/* functions among these that were not ready yet: see poll_apis() */
	uint32_t nr_waiting;
	bool is_written[LDB_FLOW_CELLS];
	/*
	 * calls that have not returned, by region; `from` and `to` delimit those of the region that
	 * is being written
	 */
	struct ldb_flow_open open[LDB_FLOW_OPENS];
	size_t nr_open, from, to;
	uint32_t nr_live;		/* existing threads */
	/* histogram of the row that is being made */
	uint64_t counts[LDB_FLOW_BUCKETS];
};

int flow_sums_fd(const struct flow_sums *f)
{
	return f->fd;
}

struct flow_sums *flow_sums_open(struct writer *w, uint64_t t0)
{
	struct flow_sums *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return NULL;
	f->w = w;
	f->t0 = t0;
	f->fd = memfd_create("ldb-flows", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (f->fd < 0)
		goto err_free;
	if (ftruncate(f->fd, LDB_FLOW_SIZE) ||
	    fcntl(f->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		goto err_close;
	f->base = mmap(NULL, LDB_FLOW_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, f->fd, 0);
	if (f->base != MAP_FAILED)
		return f;
err_close:
	rc = errno;
	close(f->fd);
	errno = rc;
err_free:
	free(f);
	return NULL;
}

void flow_sums_close(struct flow_sums *f)
{
	if (!f)
		return;
	munmap(f->base, LDB_FLOW_SIZE);
	close(f->fd);
	free(f);
}

static const volatile struct ldb_flow_info *info(const struct flow_sums *f)
{
	return (const void *)f->base;
}

/* Functions */

static void copy_name(const struct flow_sums *f, uint32_t at, char *name)
{
	const volatile char *names = f->base + LDB_FLOW_NAMES_OFF;
	size_t n = 0;

	for (; at < LDB_FLOW_NAMES && n < NAME_MAX_BYTES - 1 && names[at]; at++)
		name[n++] = names[at];
	name[n] = '\0';
}

/*
 * Writes a function's row, unless that was done before.  Returns false if the function is not ready
 * yet.
 */
static bool write_api(struct flow_sums *f, uint32_t id)
{
	const volatile struct ldb_flow_api *api = (const struct ldb_flow_api *)(f->base + LDB_FLOW_APIS_OFF) + id;
	char name[NAME_MAX_BYTES];
	struct ldb_row_flow_api row = { .id = id, .name = name };

	if (f->is_written[id])
		return true;
	if (!order_flow_is_ready(&api->ready))
		return false;
	row.flags = api->flags;
	row.tick = api->tsc - f->t0;
	row.caller = api->caller;
	row.target = api->target;
	copy_name(f, api->name, name);
	writer_add(f->w, LDB_BLK_FLOW_API, &row, 1);
	f->is_written[id] = true;
	return true;
}

/*
 * Writes the rows of new functions.  A number may be assigned and never used, or its function may
 * become ready after the function of the next number.
 */
static void poll_apis(struct flow_sums *f)
{
	uint64_t nr = info(f)->nr_apis;

	if (nr > LDB_FLOW_CELLS - 1)
		nr = LDB_FLOW_CELLS - 1;
	if (nr == f->nr_apis && !f->nr_waiting)
		return;
	f->nr_apis = nr;
	f->nr_waiting = 0;
	for (uint32_t id = 1; id < nr; id++)
		f->nr_waiting += !write_api(f, id);
}

/* Calls that have not returned */

static const volatile struct ldb_flow_cell *cell_of(const struct flow_sums *f, uint32_t region, uint32_t api);
static volatile struct ldb_flow_thread *thread_at(const struct flow_sums *f, uint32_t number);

COMPARE(by_region, struct ldb_flow_open, UP(region))

/*
 * Reads the calls that have not returned.  The runtime listed them up to 20 ms ago.  If a call of
 * the same function by the same thread has returned since, it may have been the listed one, which
 * is then ignored.
 */
static void read_open(struct flow_sums *f)
{
	uint64_t table = order_flow_table(&info(f)->open_table) & 1, nr = info(f)->nr_open[table];
	const volatile struct ldb_flow_open *from =
		(const struct ldb_flow_open *)(f->base + LDB_FLOW_OPENS_OFF) + table * LDB_FLOW_OPENS;

	f->nr_open = f->nr_live = 0;
	for (uint32_t n = 1; n < LDB_FLOW_THREADS; n++)
		f->nr_live += order_flow_thread_state(&thread_at(f, n)->state) == LDB_FLOW_LIVE;
	for (size_t i = 0; i < nr && i < LDB_FLOW_OPENS; i++) {
		struct ldb_flow_open o = from[i];

		if (o.region && o.region < LDB_FLOW_THREADS && o.api < f->nr_apis && o.back < f->nr_apis &&
		    f->is_written[o.api] && order_flow_thread_state(&thread_at(f, o.region)->state) == LDB_FLOW_LIVE &&
		    cell_of(f, o.region, o.api)->timed == o.timed)
			f->open[f->nr_open++] = o;
	}
	sort_by(f->open, f->nr_open, by_region);
}

/* Iterates over the open calls of the region that is being written. */
#define each_open(f, o) \
	(const struct ldb_flow_open *o = (f)->open + (f)->from; o < (f)->open + (f)->to; o++)

static uint64_t length_of(const struct flow_sums *f, const struct ldb_flow_open *o, int64_t tick)
{
	uint64_t now = f->t0 + tick;

	return now > o->start ? now - o->start : 0;
}

/* Adds the open calls to a sum as if these calls returned now. */
static void add_open(const struct flow_sums *f, uint32_t id, int64_t tick, struct ldb_flow_cell *c)
{
	for each_open(f, o) {
		uint64_t ticks = length_of(f, o, tick), weighted = ticks * o->weight;

		if (o->back == id)
			c->back += weighted;
		if (o->api != id)
			continue;
		if (!c->timed || ticks < c->min)
			c->min = min(ticks, (uint64_t)UINT32_MAX);
		c->max = max(c->max, ticks);
		c->timed++;
		c->sum += weighted;
		c->shared += f->nr_live ? weighted / f->nr_live : weighted;
	}
}

static uint64_t count_open(struct flow_sums *f, uint32_t id, int64_t tick)
{
	uint64_t all = 0;

	for each_open(f, o)
		if (o->api == id) {
			f->counts[flow_bucket(length_of(f, o, tick))] += o->weight;
			all += o->weight;
		}
	return all;
}

/*
 * At the end of the recording: writes rows of long open calls, as the runtime does when calls
 * return.
 */
static void write_open(struct flow_sums *f, int64_t tick)
{
	for (size_t i = 0; i < f->nr_open; i++) {
		const struct ldb_flow_open *o = &f->open[i];
		struct ldb_row_flow_call row = {
			.flags = LDB_FLOW_CALL_F_OPEN, .tid = thread_at(f, o->region)->tid,
			.start = o->start - f->t0, .end = tick, .api = o->api, .site = o->site,
		};

		if (length_of(f, o, tick) >= info(f)->threshold)
			writer_add(f->w, LDB_BLK_FLOW_CALL, &row, 1);
	}
}

/* Sums */

static char *region_of(const struct flow_sums *f, uint32_t number)
{
	return f->base + LDB_FLOW_REGIONS_OFF + (uint64_t)number * LDB_FLOW_REGION;
}

static const volatile struct ldb_flow_cell *cell_in(const char *region, uint32_t api)
{
	return (const struct ldb_flow_cell *)(region + LDB_FLOW_CELLS_OFF) + api;
}

static const volatile struct ldb_flow_cell *cell_of(const struct flow_sums *f, uint32_t region, uint32_t api)
{
	return cell_in(region_of(f, region), api);
}

static uint64_t scale(uint64_t value, uint64_t by, uint64_t of)
{
	return of ? (unsigned __int128)value * by / of : 0;
}

/*
 * Converts a histogram.  The program's first bucket begins at a longer duration than the row's, and
 * the program counts each call with its weight.
 */
static void write_histogram(struct flow_sums *f, const struct ldb_row_flow *sum,
			    const struct ldb_flow_cell *c, const char *region)
{
	uint64_t all = 0;

	memset(f->counts, 0, sizeof(f->counts));
	all += count_open(f, sum->api, sum->tick);
	for (uint32_t b = 0; b < LDB_FLOW_MEM_BUCKETS; b++) {
		unsigned part = c->part[b / PART_BUCKETS];
		const volatile uint32_t *counts = (const void *)(region + LDB_FLOW_PARTS_OFF + part * LDB_FLOW_PART);
		uint32_t n = part && part < LDB_FLOW_PARTS ? counts[b % PART_BUCKETS] : 0;

		f->counts[flow_bucket((4ULL + b % 4) << (b / 4 + 4))] += n;
		all += n;
	}
	for (uint32_t b = 0; b < LDB_FLOW_BUCKETS; b++) {
		struct ldb_row_flow_hist row = {
			.tid = sum->tid, .api = sum->api, .tick = sum->tick, .bucket = b,
			.count = all > sum->timed ? scale(f->counts[b], sum->timed, all) : f->counts[b],
		};

		if (!f->counts[b])
			continue;
		if (!row.count)
			row.count = 1;
		writer_add(f->w, LDB_BLK_FLOW_HIST, &row, 1);
	}
}

static void write_cell(struct flow_sums *f, uint32_t tid, int64_t tick, uint32_t id, const char *region)
{
	const volatile struct ldb_flow_cell *from = cell_in(region, id);
	struct ldb_row_flow row = { .tid = tid, .api = id, .tick = tick };
	struct ldb_flow_cell c;

	if (!from->calls)
		return;
	c = *from;
	add_open(f, id, tick, &c);
	row.calls = c.calls;
	/* timed and calls were read at different times */
	row.timed = c.timed < c.calls ? c.timed : c.calls;
	/*
	 * The program's sums are scaled to all calls; the row's are those of the calls that were
	 * timed.
	 */
	row.sum = scale(c.sum, row.timed, c.calls);
	row.shared = scale(c.shared, row.timed, c.calls);
	row.min = c.min;
	row.max = c.max;
	row.back = c.back;
	writer_add(f->w, LDB_BLK_FLOW, &row, 1);
	write_histogram(f, &row, &c, region);
}

static void write_region(struct flow_sums *f, uint32_t number, uint32_t tid, int64_t tick)
{
	f->from = search_by(f->open, f->nr_open, o, o->region < number);
	f->to = search_by(f->open, f->nr_open, o, o->region <= number);
	for (uint32_t id = 1; id < f->nr_apis; id++)
		if (f->is_written[id])
			write_cell(f, tid, tick, id, region_of(f, number));
}

static volatile struct ldb_flow_thread *thread_at(const struct flow_sums *f, uint32_t number)
{
	return (struct ldb_flow_thread *)(f->base + LDB_FLOW_THREADS_OFF) + number;
}

/* Clears the region and returns its memory to the kernel. */
static bool empty_region(const struct flow_sums *f, uint32_t number)
{
	return !fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  region_of(f, number) - f->base, LDB_FLOW_REGION);
}

void flow_sums_poll(struct flow_sums *f)
{
	poll_apis(f);
	for (uint32_t n = 1; n < LDB_FLOW_THREADS; n++) {
		volatile struct ldb_flow_thread *t = thread_at(f, n);

		if (order_flow_thread_state(&t->state) != LDB_FLOW_DONE)
			continue;
		f->nr_open = 0;	/* a thread that has exited has no open calls */
		write_region(f, n, t->tid, t->end - f->t0);
		/* if this fails, the region is not used again */
		if (empty_region(f, n))
			order_flow_thread_free(&t->state);
	}
}

bool flow_sums_began(const struct flow_sums *f)
{
	return info(f)->magic == LDB_FLOW_MAGIC;
}

static void meta_number(struct flow_sums *f, const char *key, uint64_t n)
{
	char text[32];

	if (!n)
		return;
	snprintf(text, sizeof(text), "%" PRIu64, n);
	writer_add_meta(f->w, key, text);
}

/*
 * Returns the number of calls that threads made before the runtime knew the threads, or at the end
 * of their exit.
 */
static uint64_t unknown_calls(const struct flow_sums *f)
{
	const volatile struct ldb_flow_cell *c = (const struct ldb_flow_cell *)(region_of(f, 0) + LDB_FLOW_CELLS_OFF);
	uint64_t sum = 0;

	for (uint32_t id = 1; id < f->nr_apis; id++)
		sum += c[id].calls;
	return sum;
}

void flow_sums_write(struct flow_sums *f, int64_t tick)
{
	read_open(f);
	for (uint32_t n = 1; n < LDB_FLOW_THREADS; n++)
		if (order_flow_thread_state(&thread_at(f, n)->state) == LDB_FLOW_LIVE)
			write_region(f, n, thread_at(f, n)->tid, tick);
	meta_number(f, "flows_no_slot", info(f)->lost[LDB_FLOW_LOST_SLOT]);
	meta_number(f, "flows_address_taken", info(f)->lost[LDB_FLOW_LOST_TAKEN]);
	meta_number(f, "flows_unresolved", info(f)->lost[LDB_FLOW_LOST_UNBOUND]);
	meta_number(f, "flows_limit", info(f)->lost[LDB_FLOW_LOST_LIMIT]);
	meta_number(f, "flows_lost_threads", info(f)->lost[LDB_FLOW_LOST_THREAD]);
	meta_number(f, "flows_unknown_calls", unknown_calls(f));
	if (!flow_sums_began(f))
		writer_add_meta(f->w, "warning", "calls between libraries were not followed");
}

void flow_sums_finish(struct flow_sums *f, int64_t tick)
{
	flow_sums_poll(f);
	flow_sums_write(f, tick);
	write_open(f, tick);
}
