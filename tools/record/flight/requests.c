// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows requests; see requests.h.  As facts/instances.h says, a request is open from its first
 * START, BLOCK or ARRIVED, until an END has come and the request is neither on a thread nor in a
 * queue.  END_ALL ends the requests whose last START was on the same thread.
 *
 * The program chooses ids and names, and may never end a request.  So both tables have a limit;
 * when one is full, a new entry replaces another one.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/array.h"
#include "base/hash.h"
#include "base/intern.h"
#include "record/flight/requests.h"

#define OPEN_MAX	16384
#define NAMES_MAX	16384	/* ids whose class is stored */
#define WORKERS_MAX	65536
#define ENDED_MAX	1024	/* long requests that have ended */
#define CLASSES_MAX	4096	/* different names; further ones are not known */
#define ROWS_MAX	4	/* stored rows of an open request: the first, and the last ones */
#define TIDS_MAX	8	/* threads of a request that are stored; further ones are ignored */
#define NONE		UINT32_MAX

struct open {
	uint64_t id;
	bool is_used;
	uint32_t tids[TIDS_MAX], nr_tids, nr_queued;
	uint32_t tid;		/* thread of the last START, if it still works on the request */
	/*
	 * neighbours in the list of this thread's requests, or NONE; behind is also the next one in
	 * the free list
	 */
	uint32_t before, behind;
	int64_t start;
	unsigned nr;
	struct ldb_row_req rows[ROWS_MAX];
};

/*
 * A long request that has ended.  Its beginning may be older than the retained blocks although its
 * end is not.
 */
struct ended {
	int64_t end;
	unsigned nr;
	struct ldb_row_req rows[ROWS_MAX];
};

/*
 * The class of an id.  The name may be set before or after the start, and the rows of a request may
 * come after the next name of its id, so the last two names are stored.
 */
struct named {
	uint64_t id;
	bool is_used, has_link;
	uint32_t nr_starts;	/* starts since the last name was set */
	struct { int64_t tick; const char *name; } last[2];
	struct ldb_row_reqname link;
};

struct worker {
	uint32_t tid, first;	/* index of the thread's first request in open[] */
};

struct flight_requests {
	flight_request_fn *ended;
	void *arg;
	struct open *open;
	struct named *names;
	struct worker *workers;
	size_t nr_workers, room_workers;
	uint32_t first_free, next_open, next_name;
	struct hash open_of, name_of, worker_of;
	struct intern classes;
	struct ended *done;	/* circular: entry n is at n modulo ENDED_MAX */
	uint64_t nr_done;
	int64_t long_ticks;
	uint64_t secret, nr_forgotten;
};

static uint64_t hash_of(const struct flight_requests *f, uint64_t key)
{
	return hash_mix(hash_mix(f->secret, key), f->secret);
}

struct flight_requests *flight_requests_alloc(int64_t long_ticks, flight_request_fn *ended, void *arg)
{
	struct flight_requests *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->ended = ended;
	f->arg = arg;
	f->long_ticks = long_ticks;
	f->done = calloc(ENDED_MAX, sizeof(*f->done));
	f->classes.max = CLASSES_MAX;
	f->open = calloc(OPEN_MAX, sizeof(*f->open));
	f->names = calloc(NAMES_MAX, sizeof(*f->names));
	if (getrandom(&f->secret, sizeof(f->secret), GRND_NONBLOCK) < 0)
		f->secret = (uintptr_t)f;
	if (f->open && f->names && f->done) {
		for (uint32_t i = 0; i < OPEN_MAX; i++)
			f->open[i].behind = i + 1 < OPEN_MAX ? i + 1 : NONE;
		return f;
	}
	flight_requests_free(f);
	return NULL;
}

void flight_requests_free(struct flight_requests *f)
{
	if (!f)
		return;
	hash_free(&f->open_of);
	hash_free(&f->name_of);
	hash_free(&f->worker_of);
	intern_free(&f->classes);
	free(f->workers);
	free(f->done);
	free(f->names);
	free(f->open);
	free(f);
}

/* Threads that work on requests */

/* Removes threads without requests: in a long recording, many threads come and go. */
static void forget_idle(struct flight_requests *f)
{
	size_t nr = 0;

	hash_clear(&f->worker_of);
	for (size_t i = 0; i < f->nr_workers; i++)
		if (f->workers[i].first != NONE && !hash_add(&f->worker_of, hash_of(f, f->workers[i].tid), nr))
			f->workers[nr++] = f->workers[i];
	f->nr_workers = nr;
}

static struct worker *worker_of(struct flight_requests *f, uint32_t tid, bool is_new)
{
	uint64_t hash = hash_of(f, tid);
	uint32_t n;

	hash_each(&f->worker_of, hash, n)
		if (f->workers[n].tid == tid)
			return &f->workers[n];
	if (is_new && f->nr_workers == WORKERS_MAX)
		forget_idle(f);
	if (!is_new || f->nr_workers == WORKERS_MAX ||
	    !array_room(&f->workers, &f->room_workers, f->nr_workers, sizeof(*f->workers)) ||
	    hash_add(&f->worker_of, hash, f->nr_workers))
		return NULL;
	f->workers[f->nr_workers] = (struct worker){ tid, NONE };
	return &f->workers[f->nr_workers++];
}

static void unlink_open(struct flight_requests *f, struct open *o)
{
	struct worker *w = o->tid ? worker_of(f, o->tid, false) : NULL;

	if (!w)
		return;
	if (o->before != NONE)
		f->open[o->before].behind = o->behind;
	else
		w->first = o->behind;
	if (o->behind != NONE)
		f->open[o->behind].before = o->before;
	o->tid = 0;
}

static void link_open(struct flight_requests *f, struct open *o, uint32_t tid)
{
	struct worker *w;

	if (o->tid == tid)
		return;
	unlink_open(f, o);
	w = tid ? worker_of(f, tid, true) : NULL;
	if (!w)
		return;
	o->tid = tid;
	o->before = NONE;
	o->behind = w->first;
	if (w->first != NONE)
		f->open[w->first].before = o - f->open;
	w->first = o - f->open;
}

/* Open requests */

static struct open *find_open(const struct flight_requests *f, uint64_t id)
{
	uint32_t n;

	hash_each(&f->open_of, hash_of(f, id), n)
		if (f->open[n].id == id)
			return &f->open[n];
	return NULL;
}

static void close_open(struct flight_requests *f, struct open *o)
{
	unlink_open(f, o);
	hash_remove(&f->open_of, hash_of(f, o->id), o - f->open);
	o->is_used = false;
	o->behind = f->first_free;
	f->first_free = o - f->open;
}

/*
 * Takes the entry that was freed last, because it is in the CPU's caches.  If none is free, drops
 * an open request.
 */
static struct open *take_free(struct flight_requests *f)
{
	struct open *o;

	if (f->first_free == NONE) {
		close_open(f, &f->open[f->next_open++ % OPEN_MAX]);
		f->nr_forgotten++;
	}
	o = &f->open[f->first_free];
	f->first_free = o->behind;
	return o;
}

static struct open *open_of(struct flight_requests *f, uint64_t id, int64_t start)
{
	struct open *o = find_open(f, id);

	if (o || hash_reserve(&f->open_of))
		return o;
	o = take_free(f);
	o->id = id;
	o->is_used = true;
	o->tid = 0;
	o->nr = o->nr_tids = o->nr_queued = 0;
	o->start = start;
	hash_put(&f->open_of, hash_of(f, id), o - f->open);
	return o;
}

static bool leaves(struct flight_requests *f, struct open *o, uint32_t tid)
{
	if (o->tid == tid)
		unlink_open(f, o);
	for (uint32_t i = 0; i < o->nr_tids; i++) {
		if (o->tids[i] != tid)
			continue;
		o->tids[i] = o->tids[--o->nr_tids];
		return true;
	}
	return false;
}

static bool works(const struct open *o, uint32_t tid)
{
	for (uint32_t i = 0; i < o->nr_tids; i++)
		if (o->tids[i] == tid)
			return true;
	return false;
}

static void keep_row(struct open *o, const struct ldb_row_req *row)
{
	if (o->nr == ROWS_MAX)
		memmove(&o->rows[1], &o->rows[2], (ROWS_MAX - 2) * sizeof(*row));
	else
		o->nr++;
	o->rows[o->nr - 1] = *row;
}

/* Names */

static struct named *find_name(const struct flight_requests *f, uint64_t id)
{
	uint32_t n;

	hash_each(&f->name_of, hash_of(f, id), n)
		if (f->names[n].id == id)
			return &f->names[n];
	return NULL;
}

static struct named *name_of(struct flight_requests *f, uint64_t id)
{
	struct named *n = find_name(f, id);

	if (n || hash_reserve(&f->name_of))
		return n;
	n = &f->names[f->next_name++ % NAMES_MAX];
	if (n->is_used)
		hash_remove(&f->name_of, hash_of(f, n->id), n - f->names);
	*n = (struct named){ .id = id, .is_used = true, .last = { { .name = "" }, { .name = "" } } };
	hash_put(&f->name_of, hash_of(f, id), n - f->names);
	return n;
}

void flight_requests_name(struct flight_requests *f, const struct ldb_row_reqname *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const char *name = *rows[i].name ? intern_text(&f->classes, rows[i].name) : "";
		struct named *n = name ? name_of(f, rows[i].id) : NULL;

		if (!n)
			continue;
		if (*name) {
			n->last[1] = n->last[0];
			n->last[0].tick = rows[i].tick;
			n->last[0].name = name;
			n->nr_starts = 0;
		} else {
			n->link = rows[i];
			n->link.name = "";
			n->has_link = true;
		}
	}
}

static const char *class_at(const struct flight_requests *f, uint64_t id, int64_t end)
{
	const struct named *n = find_name(f, id);

	if (!n)
		return "";
	return n->last[0].tick <= end ? n->last[0].name : n->last[1].name;
}

/* Rows */

static void keep_done(struct flight_requests *f, const struct open *o, int64_t end)
{
	struct ended *e = &f->done[f->nr_done++ % ENDED_MAX];

	e->end = end;
	e->nr = o->nr;
	memcpy(e->rows, o->rows, o->nr * sizeof(*o->rows));
}

static void end_open(struct flight_requests *f, struct open *o, int64_t end)
{
	struct flight_request done = { .id = o->id, .start = o->start, .end = end };

	done.name = class_at(f, o->id, end);
	if (end > o->start && (uint64_t)end - (uint64_t)o->start > (uint64_t)f->long_ticks)
		keep_done(f, o, end);
	close_open(f, o);
	f->ended(f->arg, &done);
}

/*
 * Ends a request on the row's thread.  If that thread does not work on the request, it ends on all
 * threads.
 */
static void end_one(struct flight_requests *f, struct open *o, const struct ldb_row_req *row)
{
	if (leaves(f, o, row->tid) && (o->nr_tids || o->nr_queued))
		keep_row(o, row);
	else
		end_open(f, o, row->tick);
}

static void end_all(struct flight_requests *f, const struct ldb_row_req *row)
{
	struct worker *w = worker_of(f, row->tid, false);

	while (w && w->first != NONE)
		end_one(f, &f->open[w->first], row);
}

static void begin(struct flight_requests *f, const struct ldb_row_req *row)
{
	struct named *n = row->op == LDB_REQ_OP_START ? find_name(f, row->id) : NULL;
	int64_t start = row->tick;
	struct open *o;

	if (row->op == LDB_REQ_OP_ARRIVED && __builtin_sub_overflow(row->tick, row->site, &start))
		start = row->tick;
	o = open_of(f, row->id, start);
	if (n)
		n->nr_starts++;
	if (!o)
		return;
	keep_row(o, row);
	if (row->op != LDB_REQ_OP_START) {
		leaves(f, o, row->tid);
		o->nr_queued++;
		return;
	}
	if (works(o, row->tid))
		return;
	o->nr_queued -= !!o->nr_queued;
	if (o->nr_tids < TIDS_MAX)
		o->tids[o->nr_tids++] = row->tid;
	link_open(f, o, row->tid);
}

/* The recording was paused: drops the open requests, because their ends are not known. */
static void cut(struct flight_requests *f)
{
	for (uint32_t i = 0; i < OPEN_MAX; i++)
		if (f->open[i].is_used)
			close_open(f, &f->open[i]);
}

static void add_one(struct flight_requests *f, const struct ldb_row_req *row)
{
	struct open *o;

	switch (row->op) {
	case LDB_REQ_OP_ARRIVED:
	case LDB_REQ_OP_START:
	case LDB_REQ_OP_BLOCK:
		begin(f, row);
		break;
	case LDB_REQ_OP_END:
		o = find_open(f, row->id);
		if (o)
			end_one(f, o, row);
		break;
	case LDB_REQ_OP_END_ALL:
		end_all(f, row);
		break;
	case LDB_REQ_OP_CUT:
		o = row->queue ? find_open(f, row->id) : NULL;
		if (o)
			close_open(f, o);
		else if (!row->queue)
			cut(f);
		break;
	}
}

void flight_requests_add(struct flight_requests *f, const struct ldb_row_req *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		add_one(f, &rows[i]);
}

static void each_name(const struct flight_requests *f, const struct named *n, int64_t until,
		      flight_requests_row_fn *row, void *arg)
{
	if (n->nr_starts < 2 && !find_open(f, n->id))
		return;
	for (unsigned k = 2; k--;) {
		struct ldb_row_reqname name = {
			.tick = n->last[k].tick, .id = n->id, .name = n->last[k].name,
		};

		if (*name.name && name.tick <= until)
			row(arg, LDB_BLK_REQNAME, &name);
	}
	if (n->has_link && n->link.tick <= until)
		row(arg, LDB_BLK_REQNAME, &n->link);
}

static uint64_t each_row(const struct ldb_row_req *rows, unsigned nr, int64_t until, flight_requests_row_fn *row,
			 void *arg)
{
	uint64_t n = 0;

	for (unsigned k = 0; k < nr; k++) {
		if (rows[k].tick > until)
			continue;
		row(arg, LDB_BLK_REQ, &rows[k]);
		n = 1;
	}
	return n;
}

static void say_forgotten(const struct flight_requests *f, flight_requests_row_fn *row, void *arg)
{
	char text[128];

	if (!f->nr_forgotten)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " open requests were forgotten, and met no trigger: at most %d are followed at a time",
		 f->nr_forgotten, OPEN_MAX);
	row(arg, LDB_BLK_META, &(struct ldb_row_meta){ "warning", text });
}

uint64_t flight_requests_each(const struct flight_requests *f, int64_t until, flight_requests_row_fn *row, void *arg)
{
	uint64_t first = f->nr_done > ENDED_MAX ? f->nr_done - ENDED_MAX : 0, n = 0;

	for (uint32_t i = 0; i < OPEN_MAX; i++)
		if (f->open[i].is_used)
			n += each_row(f->open[i].rows, f->open[i].nr, until, row, arg);
	for (uint64_t i = first; i < f->nr_done; i++) {
		const struct ended *e = &f->done[i % ENDED_MAX];

		if (e->end > until)
			n += each_row(e->rows, e->nr, until, row, arg);
	}
	for (uint32_t i = 0; i < NAMES_MAX; i++)
		if (f->names[i].is_used)
			each_name(f, &f->names[i], until, row, arg);
	say_forgotten(f, row, arg);
	return n;
}
