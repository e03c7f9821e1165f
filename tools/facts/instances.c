// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds request instances; see instances.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/keyed.h"
#include "base/minmax.h"
#include "base/search.h"
#include "classes.h"
#include "instances.h"
#include "notes.h"
#include "pauses.h"
#include "rows.h"
#include "ticks.h"

struct open_instance {
	struct open_instance *next;	/* the next unused struct, if this struct is unused */
	uint32_t number;		/* index in the table of open instances */
	bool is_open;
	struct instance instance;
	unsigned nr_open;		/* spans that have not ended */
	bool has_end;			/* an END has been read */
	int64_t last_end;
};

struct worker {				/* the requests that a thread works on */
	uint32_t tid;
	uint64_t *ids;
	size_t nr, room;
};

struct instances {
	struct model *m;
	int (*instance)(void *arg, struct instance *instance);
	void *arg;
	struct instances_result *result;
	struct keyed open;		/* struct open_instance by id, also unused ones */
	size_t nr_open;
	struct keyed workers;		/* struct worker, by tid */
	/* list of unused structs, which keep their allocated memory */
	struct open_instance *spare;
	/* a bit set of hashes of the wanted ids; NULL: all ids are wanted */
	uint64_t *wanted;
	size_t nr_wanted_bits;
	struct reader_filter filter;
	/*
	 * only a part of the trace is read: a request that ends without a start began at
	 * filter.t_min
	 */
	bool is_part;
};

static inline struct open_instance *find_open(struct instances *l, uint64_t id)
{
	struct open_instance *o;

	keyed_each(&l->open, hash_mix(0, id), o)
		if (o->instance.id == id)
			return o;
	return NULL;
}

/*
 * Returns an unused struct, which still has its allocated memory, or a new one; NULL if there is no
 * memory.
 */
static struct open_instance *new_open(struct instances *l, uint64_t id)
{
	struct open_instance *o = l->spare;

	if (!o) {
		o = keyed_add(&l->open, hash_mix(0, id), sizeof(*o));
		if (o)
			o->number = l->open.nr - 1;
		return o;
	}
	if (hash_add(&l->open.hash, hash_mix(0, id), o->number))
		return NULL;
	l->spare = o->next;
	return o;
}

/* Begins an instance.  Returns 0 or -ENOMEM; *open stays NULL if too many instances are open. */
static int begin_instance(struct instances *l, const struct ldb_row_req *row, struct open_instance **open)
{
	struct open_instance *o;

	if (l->nr_open >= INSTANCES_OPEN_MAX) {
		l->result->nr_dropped++;
		return 0;
	}
	o = new_open(l, row->id);
	if (!o)
		return -ENOMEM;
	*o = (struct open_instance){
		.number = o->number, .is_open = true,
		.instance = {
			.id = row->id, .start = row->tick, .end = row->tick, .class = "",
			.parts = o->instance.parts, .room = o->instance.room,
		},
	};
	l->nr_open++;
	*open = o;
	return 0;
}

void instance_free(struct instance *instance)
{
	free(instance->parts);
	instance->parts = NULL;
	instance->nr_parts = 0;
	instance->room = 0;
}

/* Passes the instance to the callback and removes it from the table. */
static int end_instance(struct instances *l, struct open_instance *o)
{
	uint64_t hash = hash_mix(0, o->instance.id);
	int ret;

	hash_remove(&l->open.hash, hash, o->number);
	o->is_open = false;
	l->nr_open--;
	o->instance.class = classes_find(l->m->classes, o->instance.id, o->instance.end);
	ret = l->instance(l->arg, &o->instance);
	o->next = l->spare;
	l->spare = o;
	return ret;
}

static struct instance_part *add_part(struct open_instance *o, const struct ldb_row_req *row,
				  bool is_queue)
{
	struct instance *instance = &o->instance;
	struct instance_part *part;

	if (!array_room(&instance->parts, &instance->room, instance->nr_parts, sizeof(*instance->parts)))
		return NULL;
	part = &instance->parts[instance->nr_parts++];
	*part = (struct instance_part){
		.tid = row->tid, .is_queue = is_queue, .is_open = true, .queue = row->queue,
		.start = row->tick, .end = row->tick, .site = row->site,
	};
	o->nr_open++;
	return part;
}

static void end_part(struct open_instance *o, struct instance_part *part, int64_t tick)
{
	part->end = max(tick, part->start);
	part->is_open = false;
	o->nr_open--;
	o->instance.end = max(o->instance.end, part->end);
}

static struct instance_part *open_part(struct open_instance *o, uint32_t tid)
{
	for (size_t i = o->instance.nr_parts; i-- > 0;) {
		struct instance_part *p = &o->instance.parts[i];

		if (p->is_open && !p->is_queue && p->tid == tid)
			return p;
	}
	return NULL;
}

/*
 * Returns the pending span that a START ends: one in the queue that the START names, else the
 * oldest one.
 */
static struct instance_part *pending_part(struct open_instance *o, uint64_t queue)
{
	struct instance_part *oldest = NULL;

	for (size_t i = 0; i < o->instance.nr_parts; i++) {
		struct instance_part *p = &o->instance.parts[i];

		if (!p->is_open || !p->is_queue)
			continue;
		if (p->queue == queue)
			return p;
		if (!oldest)
			oldest = p;
	}
	return oldest;
}

static inline struct worker *find_worker(struct instances *l, uint32_t tid)
{
	struct worker *w;

	keyed_each(&l->workers, hash_mix(0, tid), w)
		if (w->tid == tid)
			return w;
	return NULL;
}

static int worker_add(struct instances *l, uint32_t tid, uint64_t id)
{
	struct worker *w = find_worker(l, tid);

	if (!w) {
		w = keyed_add(&l->workers, hash_mix(0, tid), sizeof(*w));
		if (!w)
			return -ENOMEM;
		w->tid = tid;
	}
	return array_push(w->ids, w->nr, w->room, id);
}

static void worker_remove(struct instances *l, uint32_t tid, uint64_t id)
{
	struct worker *w = find_worker(l, tid);

	/*
	 * The search goes backward, because a thread mostly ends the request first that it started
	 * last.
	 */
	for (size_t i = w ? w->nr : 0; i-- > 0;) {
		if (w->ids[i] == id) {
			w->ids[i] = w->ids[--w->nr];
			return;
		}
	}
}

/*
 * Returns true, and marks the consumer's span as handed over, if a consumer took the request from
 * the queue before the producer's BLOCK was recorded: then the consumer's START named this queue
 * and found no pending span in it.
 */
static bool was_taken_early(struct open_instance *o, uint32_t tid, uint64_t queue, int64_t since)
{
	for (size_t i = 0; i < o->instance.nr_parts; i++) {
		struct instance_part *p = &o->instance.parts[i];

		/* A span on a thread gets a to_tid when the hand-off that began it is found. */
		if (!p->is_queue && p->tid != tid && p->queue == queue && !p->to_tid &&
		    p->start >= since) {
			p->to_tid = p->tid;
			return true;
		}
	}
	return false;
}

/*
 * Returns true if the request has ended and no thread works on it.  A span that is still open is
 * then in a queue from which no thread took the request.
 */
static bool is_left(const struct open_instance *o)
{
	for (size_t i = 0; i < o->instance.nr_parts; i++)
		if (o->instance.parts[i].is_open && !o->instance.parts[i].is_queue)
			return false;
	return o->has_end;
}

static int end_lost_in_queue(struct instances *l, struct open_instance *o)
{
	o->instance.has_lost_handoff = true;
	o->instance.is_complete = true;
	o->instance.end = o->last_end;
	return end_instance(l, o);
}

/* rows_by_time() passes only these members. */
static struct ldb_row_req copy_of(const struct ldb_row_req *row)
{
	return (struct ldb_row_req){
		.op = row->op, .tid = row->tid, .tick = row->tick, .id = row->id, .queue = row->queue,
		.site = row->site,
	};
}

/*
 * The request was in a queue before the program tagged it for the first time.  If the request is
 * open already, its time in the queue cannot begin before the end of its earlier spans.
 */
static int on_arrived(struct instances *l, const struct ldb_row_req *row)
{
	struct open_instance *o = find_open(l, row->id);
	struct ldb_row_req then = copy_of(row);
	int ret = 0;

	/* An arrival time out of range is ignored. */
	if (row->site <= TICKS_MAX)
		then.tick = ticks_sane(row->tick - (int64_t)row->site);
	then.site = 0;
	if (o && is_left(o)) {
		ret = end_lost_in_queue(l, o);
		o = NULL;
	}
	for (size_t i = 0; o && i < o->instance.nr_parts; i++) {
		const struct instance_part *p = &o->instance.parts[i];
		int64_t since = p->is_open ? p->start : p->end;

		if (p->is_open && (p->is_queue ? p->queue == row->queue : p->tid == row->tid))
			return 0;
		then.tick = max(then.tick, since);
	}
	if (!o && !ret)
		ret = begin_instance(l, &then, &o);
	if (!o)
		return ret;
	return add_part(o, &then, true) ? 0 : -ENOMEM;
}

static int on_start(struct instances *l, const struct ldb_row_req *row)
{
	struct open_instance *o = find_open(l, row->id);
	struct instance_part *part, *pending;
	int ret = 0;

	/* This START belongs to the next instance. */
	if (o && !row->queue && is_left(o)) {
		ret = end_lost_in_queue(l, o);
		o = NULL;
	}
	if (!o && !ret)
		ret = begin_instance(l, row, &o);
	if (!o)
		return ret;
	if (open_part(o, row->tid))
		return 0;
	pending = pending_part(o, row->queue);
	if (pending) {
		pending->to_tid = row->tid;
		if (!pending->site)
			pending->site = row->site;
		end_part(o, pending, row->tick);
	}
	part = add_part(o, row, false);
	if (!part)
		return -ENOMEM;
	if (pending) {
		part->to_tid = row->tid;
		part->was_queued = true;
	}
	o->instance.end = max(o->instance.end, row->tick);
	return worker_add(l, row->tid, row->id);
}

/*
 * If only a part of the trace is read, a request that ends or is handed over without a START is
 * taken to be open from the beginning of that part.  But if a pause before that beginning has cut
 * all requests, and the request did not start after the pause, *open stays NULL.
 */
static int begin_before(struct instances *l, const struct ldb_row_req *row, uint64_t id, struct open_instance **open)
{
	const struct ldb_row_reqtab *known = NULL;
	struct ldb_row_req then = copy_of(row);
	int64_t cut = pauses_cut(l->m, pauses_process(l->m, row->tid, row->tick), l->filter.t_min);
	int ret = cut == INT64_MIN ? 0 : instances_last(l->m, id, l->filter.t_min, &known);

	if (ret || (cut != INT64_MIN && (!known || known->start < cut)))
		return ret;
	then.id = id;
	then.tick = l->filter.t_min;
	ret = begin_instance(l, &then, open);
	return ret || !*open || add_part(*open, &then, false) ? ret : -ENOMEM;
}

static int on_block(struct instances *l, const struct ldb_row_req *row)
{
	struct open_instance *o = find_open(l, row->id);
	struct instance_part *part;
	int64_t since = row->tick;
	int ret = o || !l->is_part ? 0 : begin_before(l, row, row->id, &o);

	if (!ret && !o)
		ret = begin_instance(l, row, &o);
	if (ret || !o)
		return ret;
	part = open_part(o, row->tid);
	if (part) {
		since = part->start;
		end_part(o, part, row->tick);
		part->site = row->site;
		worker_remove(l, row->tid, row->id);
	}
	if (row->queue && part && was_taken_early(o, row->tid, row->queue, since))
		return 0;
	return add_part(o, row, true) ? 0 : -ENOMEM;
}

static int on_end(struct instances *l, const struct ldb_row_req *row, uint64_t id)
{
	struct open_instance *o = find_open(l, id);
	struct instance_part *part;
	int ret = o || !l->is_part ? 0 : begin_before(l, row, id, &o);

	if (ret)
		return ret;
	if (!o) {
		l->result->nr_stray += !l->is_part;
		return 0;
	}
	o->has_end = true;
	o->last_end = row->tick;
	part = open_part(o, row->tid);
	if (part) {
		end_part(o, part, row->tick);
		part->site = row->site;
	} else {
		for (size_t i = 0; i < o->instance.nr_parts; i++) {
			struct instance_part *p = &o->instance.parts[i];

			if (!p->is_open)
				continue;
			if (p->is_queue)
				o->instance.has_lost_handoff = true;
			else
				worker_remove(l, p->tid, id);
			end_part(o, p, row->tick);
		}
	}
	if (o->nr_open)
		return 0;
	o->instance.is_complete = true;
	return end_instance(l, o);
}

static int on_end_all(struct instances *l, const struct ldb_row_req *row)
{
	struct worker *w = find_worker(l, row->tid);
	int ret = 0;

	while (w && w->nr && !ret) {
		uint64_t id = w->ids[--w->nr];

		ret = on_end(l, row, id);
	}
	return ret;
}

static uint64_t wanted_bit(const struct instances *l, uint64_t id)
{
	return hash_mix(0, id) % l->nr_wanted_bits;
}

static bool is_wanted(const struct instances *l, const struct ldb_row_req *row)
{
	size_t bit;

	if (!l->wanted || row->op == LDB_REQ_OP_END_ALL || row->op == LDB_REQ_OP_CUT)
		return true;
	bit = wanted_bit(l, row->id);
	return l->wanted[bit / 64] >> bit % 64 & 1;
}

/* The start and end of the request are estimates, with an error of row->site ticks. */
static int on_inexact(struct instances *l, const struct ldb_row_req *row)
{
	struct open_instance *o = find_open(l, row->id);

	if (o)
		o->instance.resolution = ticks_sane_length(o->instance.resolution + ticks_sane_length(row->site));
	return 0;
}

/*
 * Ends an instance that is still open at tick `last`, at which the rows end or the request is cut.
 */
static int end_unfinished(struct instances *l, struct open_instance *o, int64_t last)
{
	struct instance *instance = &o->instance;

	for (size_t i = 0; i < instance->nr_parts; i++) {
		struct instance_part *p = &instance->parts[i];

		if (!p->is_open)
			continue;
		instance->has_lost_handoff |= p->is_queue;
		p->end = max(last, p->start);
		instance->end = max(instance->end, p->end);
	}
	/* The request has ended, except for a span in a queue from which no thread took it. */
	if (instance->has_lost_handoff && is_left(o))
		return end_lost_in_queue(l, o);
	return end_instance(l, o);
}

static int end_all_instances(struct instances *l, int64_t last)
{
	int ret = 0;

	for (size_t i = 0; i < l->open.nr && !ret; i++) {
		struct open_instance *o = l->open.at[i];

		if (o->is_open)
			ret = end_unfinished(l, o, last);
	}
	return ret;
}

static bool is_cut(const struct ldb_row_req *row, uint64_t id)
{
	return id >= row->id && id <= row->queue;
}

/* Ends an open request: it is not known how it ended. */
static int cut_one(struct instances *l, const struct ldb_row_req *row)
{
	struct open_instance *o = find_open(l, row->id);

	for (size_t i = 0; o && i < o->instance.nr_parts; i++)
		if (o->instance.parts[i].is_open && !o->instance.parts[i].is_queue)
			worker_remove(l, o->instance.parts[i].tid, row->id);
	return o ? end_unfinished(l, o, row->tick) : 0;
}

/*
 * Ends all open requests of one process, in a trace of several processes; if row->id is row->queue,
 * only the request with this id.
 */
static int cut_some(struct instances *l, const struct ldb_row_req *row)
{
	int ret = 0;

	if (row->id == row->queue)
		return cut_one(l, row);
	for (size_t i = 0; i < l->workers.nr; i++) {
		struct worker *w = l->workers.at[i];
		size_t nr = 0;

		for (size_t k = 0; k < w->nr; k++)
			if (!is_cut(row, w->ids[k]))
				w->ids[nr++] = w->ids[k];
		w->nr = nr;
	}
	for (size_t i = 0; i < l->open.nr && !ret; i++) {
		struct open_instance *o = l->open.at[i];

		if (o->is_open && is_cut(row, o->instance.id))
			ret = end_unfinished(l, o, row->tick);
	}
	return ret;
}

/*
 * Ends all open requests, or those with the ids of the row.  If all are ended, an END that follows
 * without a new START is counted as stray, also if only a part of the trace is read.
 */
static int on_cut(struct instances *l, const struct ldb_row_req *row)
{
	if (row->queue)
		return cut_some(l, row);
	for (size_t i = 0; i < l->workers.nr; i++)
		((struct worker *)l->workers.at[i])->nr = 0;
	l->is_part = false;
	return end_all_instances(l, row->tick);
}

static int on_row(void *arg, const void *ordered)
{
	const struct ldb_row_req *row = ordered;
	struct instances *l = arg;

	l->result->nr_events++;
	if (!is_wanted(l, row))
		return 0;
	switch (row->op) {
	case LDB_REQ_OP_START:
		return on_start(l, row);
	case LDB_REQ_OP_ARRIVED:
		return on_arrived(l, row);
	case LDB_REQ_OP_BLOCK:
		return on_block(l, row);
	case LDB_REQ_OP_END:
		worker_remove(l, row->tid, row->id);
		return on_end(l, row, row->id);
	case LDB_REQ_OP_END_ALL:
		return on_end_all(l, row);
	case LDB_REQ_OP_CUT:
		return on_cut(l, row);
	case LDB_REQ_OP_INEXACT:
		return on_inexact(l, row);
	default:
		return 0;	/* an operation that a later version has added */
	}
}

static void free_all(struct instances *l)
{
	for (size_t i = 0; i < l->open.nr; i++)
		instance_free(&((struct open_instance *)l->open.at[i])->instance);
	for (size_t i = 0; i < l->workers.nr; i++)
		free(((struct worker *)l->workers.at[i])->ids);
	keyed_free(&l->open);
	keyed_free(&l->workers);
	free(l->wanted);
}

/* Reads all rows, calls the callback for all request instances, and frees everything. */
static int read_instances(struct instances *l)
{
	struct model *m = l->m;
	int ret = classes_read(m);

	if (!ret)
		ret = notes_read(m);
	if (!ret)
		ret = rows_by_time(m->reader, LDB_BLK_REQ, &l->filter, on_row, l);
	if (!ret)
		ret = end_all_instances(l, ticks_sane(reader_end_tick(m->reader)));
	free_all(l);
	return ret;
}

static struct instances instances_of(struct model *m, int (*instance)(void *arg, struct instance *instance), void *arg,
			     struct instances_result *result)
{
	*result = (struct instances_result){ 0 };
	return (struct instances){
		.m = m, .instance = instance, .arg = arg, .result = result, .filter = READER_FILTER_ALL,
	};
}

int instances_each(struct model *m, int (*instance)(void *arg, struct instance *instance), void *arg,
	       struct instances_result *result)
{
	struct instances l = instances_of(m, instance, arg, result);

	return read_instances(&l);
}

int instances_some(struct model *m, const uint64_t *ids, size_t nr,
	       int (*instance)(void *arg, struct instance *instance), void *arg, struct instances_result *result)
{
	struct instances l = instances_of(m, instance, arg, result);
	size_t bits = 4096;

	while (bits / 16 < nr)
		bits *= 2;
	l.wanted = calloc(bits / 64, sizeof(*l.wanted));
	l.nr_wanted_bits = bits;
	if (!l.wanted)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		size_t bit = wanted_bit(&l, ids[i]);

		l.wanted[bit / 64] |= 1ULL << bit % 64;
	}
	return read_instances(&l);
}

int instances_within(struct model *m, int64_t from, int64_t to, int (*instance)(void *arg, struct instance *instance),
		 void *arg, struct instances_result *result)
{
	struct instances l = instances_of(m, instance, arg, result);

	l.is_part = true;
	l.filter.t_min = from;
	l.filter.t_max = to;
	return read_instances(&l);
}

int instances_last(struct model *m, uint64_t id, int64_t tick, const struct ldb_row_reqtab **row)
{
	const struct ldb_row_reqtab *rows;
	size_t nr, lo;
	int ret = reader_requests(m->reader, &rows, &nr);

	*row = NULL;
	if (ret)
		return ret;
	lo = search_by(rows, nr, r, r->id < id || (r->id == id && r->start <= tick));
	if (lo && rows[lo - 1].id == id)
		*row = &rows[lo - 1];
	return 0;
}
