// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of the rings -> rows of the trace; see pack.h.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "record/pack.h"

#define BIRTHS_MAX	65536	/* remembered */
#define LATE_MAX	(1U << 20) /* stamped in the future: a program that lies */

struct late {
	int64_t tick;
	uint64_t seq;
	enum { LATE_REQ, LATE_LOCK, LATE_SCHED } kind;
	union {
		struct ldb_row_sched sched;
		struct ldb_row_req req;
		struct ldb_row_lock lock;
	};
};

struct pack {
	const struct session *s;
	struct writer *w;
	uint64_t t0, slack;
	pack_exit_fn *on_exit;
	void *exit_arg;
	struct late *late;
	size_t nr_late, room_late;
	uint64_t seq;
	struct pack_birth *births;	/* open addressing by tid, BIRTHS_MAX * 2 slots */
	size_t nr_births;
	uint64_t nr_kernel;
};

struct pack *pack_alloc(const struct session *s, struct writer *w, uint64_t t0,
			uint64_t slack_ticks)
{
	struct pack *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->births = calloc(BIRTHS_MAX * 2, sizeof(*p->births));
	if (!p->births) {
		free(p);
		return NULL;
	}
	p->s = s;
	p->w = w;
	p->t0 = t0;
	p->slack = slack_ticks;
	return p;
}

void pack_free(struct pack *p)
{
	if (!p)
		return;
	free(p->late);
	free(p->births);
	free(p);
}

void pack_on_exit(struct pack *p, pack_exit_fn *fn, void *arg)
{
	p->on_exit = fn;
	p->exit_arg = arg;
}

static int64_t tick_of(const struct pack *p, uint64_t tsc)
{
	return (int64_t)(tsc - p->t0);
}

static void write_late(struct pack *p, const struct late *l)
{
	switch (l->kind) {
	case LATE_REQ:
		writer_add_req(p->w, &l->req);
		break;
	case LATE_LOCK:
		writer_add_lock(p->w, &l->lock);
		break;
	case LATE_SCHED:
		writer_add_sched(p->w, &l->sched);
	}
}

static void keep_late(struct pack *p, struct late *l)
{
	if (p->nr_late == p->room_late) {
		size_t room = p->room_late ? p->room_late * 2 : 1024;
		struct late *grown = realloc(p->late, room * sizeof(*grown));

		if (!grown) {
			write_late(p, l);	/* out of order rather than lost */
			return;
		}
		p->late = grown;
		p->room_late = room;
	}
	l->seq = p->seq++;
	p->late[p->nr_late++] = *l;
}

static int by_time(const void *a, const void *b)
{
	const struct late *x = a, *y = b;

	if (x->tick != y->tick)
		return x->tick < y->tick ? -1 : 1;
	return x->seq < y->seq ? -1 : 1;
}

static void release_before(struct pack *p, int64_t tick)
{
	size_t n = 0;

	if (!p->nr_late)
		return;
	qsort(p->late, p->nr_late, sizeof(*p->late), by_time);
	while (n < p->nr_late && p->late[n].tick <= tick)
		write_late(p, &p->late[n++]);
	memmove(p->late, p->late + n, (p->nr_late - n) * sizeof(*p->late));
	p->nr_late -= n;
}

void pack_release(struct pack *p, uint64_t now)
{
	release_before(p, p->nr_late > LATE_MAX ? INT64_MAX : tick_of(p, now - p->slack));
}

void pack_finish(struct pack *p)
{
	release_before(p, INT64_MAX);
}

/* Births */

static struct pack_birth *birth_slot(struct pack *p, uint32_t tid)
{
	size_t mask = BIRTHS_MAX * 2 - 1, i = tid * 0x9e3779b1U & mask;

	while (p->births[i].tid && p->births[i].tid != tid)
		i = (i + 1) & mask;
	return &p->births[i];
}

struct pack_birth *pack_birth_of(struct pack *p, uint32_t tid)
{
	struct pack_birth *b = tid ? birth_slot(p, tid) : NULL;

	return b && b->tid ? b : NULL;
}

struct pack_birth *pack_birth_next(struct pack *p, size_t *i)
{
	while (*i < BIRTHS_MAX * 2) {
		struct pack_birth *b = &p->births[(*i)++];

		if (b->tid)
			return b;
	}
	return NULL;
}

static void thread_start(struct pack *p, const struct ldb_rec *r)
{
	struct pack_birth *b = r->tid ? birth_slot(p, r->tid) : NULL;

	if (!b || (!b->tid && p->nr_births == BIRTHS_MAX))
		return;
	p->nr_births += !b->tid;
	*b = (struct pack_birth){
		.tid = r->tid, .creator = r->arg2, .start_routine = r->arg,
		.tick = tick_of(p, r->tsc),
	};
}

/* Events */

static uint64_t uncertainty(uint32_t unc)
{
	return unc == UINT32_MAX ? LDB_UNC_UNKNOWN : unc;
}

static void func_event(struct pack *p, const struct ldb_rec *recs)
{
	struct ldb_func_rec f;
	struct ldb_row_func row;

	memcpy(&f, recs, sizeof(f));
	row = (struct ldb_row_func){
		.flags = f.flags, .tid = f.tid, .pc = f.pc, .ret = f.ret, .gen = f.gen,
		.parent_gen = f.parent_gen, .depth = f.depth,
		.start_max = tick_of(p, f.start_max), .end_max = tick_of(p, f.end_max),
		.start_unc = uncertainty(f.start_unc), .end_unc = uncertainty(f.end_unc),
	};
	writer_add_func(p->w, &row);
}

static void lock_event(struct pack *p, const struct ldb_rec *recs)
{
	struct late late = { .kind = LATE_LOCK };
	struct ldb_lock_rec l;

	memcpy(&l, recs, sizeof(l));
	late.tick = tick_of(p, l.end);
	late.lock = (struct ldb_row_lock){
		.op = l.type == LDB_EV_LOCK_WAIT ? LDB_LOCK_OP_WAIT : LDB_LOCK_OP_HOLD,
		.flags = l.flags, .tid = l.tid, .lock = l.lock, .owner = l.owner,
		/* A begin that was not stamped is 0: then there is no interval. */
		.begin = l.begin ? tick_of(p, l.begin) : late.tick, .end = late.tick,
		.gen = l.gen, .site = (uint64_t)l.site_hi << 32 | l.site_lo,
	};
	keep_late(p, &late);
}

static void req_event(struct pack *p, const struct ldb_rec *recs)
{
	struct late late = { .kind = LATE_REQ };
	struct ldb_req_rec r;

	memcpy(&r, recs, sizeof(r));
	late.tick = tick_of(p, r.tsc);
	late.req = (struct ldb_row_req){
		.op = r.type - 0x300, .tid = r.tid, .tick = late.tick, .id = r.id,
		.queue = r.queue, .site = r.payload2,
	};
	keep_late(p, &late);
}

/* The name is spread over the payload words, without a NUL if it fills them. */
static void class_event(struct pack *p, const struct ldb_rec *recs)
{
	struct ldb_row_reqname row = { 0 };
	struct ldb_req_rec r;
	char name[25] = "";

	memcpy(&r, recs, sizeof(r));
	memcpy(name, &r.payload0, 4);
	memcpy(name + 4, &r.queue, 8);
	memcpy(name + 12, &r.payload1, 4);
	memcpy(name + 16, &r.payload2, 8);
	row.tick = tick_of(p, r.tsc);
	row.id = r.id;
	row.name = name;
	writer_add_reqname(p->w, &row);
}

static void link_event(struct pack *p, const struct ldb_rec *recs)
{
	struct ldb_row_reqname row = { .name = "" };
	struct ldb_req_rec r;

	memcpy(&r, recs, sizeof(r));
	row.tick = tick_of(p, r.tsc);
	row.id = r.id;
	row.trace_hi = r.queue;
	row.trace_lo = r.payload2;
	row.span = (uint64_t)r.payload1 << 32 | r.payload0;
	writer_add_reqname(p->w, &row);
}

static void gap_event(struct pack *p, const struct ldb_rec *r)
{
	struct ldb_row_gap row = {
		.tid = r->tid, .begin = tick_of(p, r->arg), .end = tick_of(p, r->tsc),
	};

	writer_add_gap(p->w, &row);
}

static void lost_event(struct pack *p, const struct ldb_rec *r)
{
	struct ldb_row_lost row = {
		.tick = tick_of(p, r->tsc), .ring = r->arg2, .count = r->arg,
		.what = LDB_LOST_OVERRUN,
	};

	writer_add_lost(p->w, &row);
}

/* Kernel events */

void pack_sched(struct pack *p, const struct ldb_row_sched *row)
{
	struct late late = { .kind = LATE_SCHED, .tick = row->tick, .sched = *row };

	p->nr_kernel++;
	keep_late(p, &late);
}

static void switch_out(struct ldb_row_sched *row, const struct ldb_rec *recs)
{
	struct ldb_switch_rec s;

	memcpy(&s, recs, sizeof(s));
	row->op = LDB_SCHED_OP_SWITCH;
	row->gen = s.gen;
	row->addr = s.top;
	row->pc = s.pc;
}

static void futex_wait(struct ldb_row_sched *row, const struct ldb_rec *recs)
{
	struct ldb_futex_rec f;

	memcpy(&f, recs, sizeof(f));
	row->addr = f.uaddr;
	row->other = f.flags & LDB_FUTEX_F_WORDS ? f.owner : 0;
	row->value = f.flags & LDB_FUTEX_F_WORDS ? f.word : f.value;
}

/* Which column arg and arg2 go to depends on the event; see trace-format.h. */
static void sched_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct ldb_rec *r = &recs[0];
	struct ldb_row_sched row = {
		.op = r->type - 0x400, .flags = r->flags, .cpu = session_ring_cpu(p->s, ring),
		.tid = r->tid, .tick = tick_of(p, r->tsc),
	};

	switch (r->type) {
	case LDB_EV_SWITCH_OUT:
		row.other = r->arg2;
		switch_out(&row, recs);
		break;
	case LDB_EV_FUTEX_WAIT:
		futex_wait(&row, recs);
		break;
	case LDB_EV_FUTEX_WAKE:
	case LDB_EV_MIGRATE:
		row.addr = r->arg;
		row.value = r->arg2;
		break;
	default:
		row.other = r->arg2;
		row.value = r->arg;
	}
	pack_sched(p, &row);
}

void pack_task(struct pack *p, const struct ldb_row_task *row)
{
	writer_add_task(p->w, row);
}

static void task_event(struct pack *p, const struct ldb_rec *recs)
{
	struct ldb_row_task row;
	struct ldb_task_rec t;
	char name[17] = "";

	memcpy(&t, recs, sizeof(t));
	memcpy(name, &t.name0, 8);
	memcpy(name + 8, &t.name1, 8);
	row = (struct ldb_row_task){
		.tid = t.tid, .pid = t.tgid, .flags = t.flags, .tick = tick_of(p, t.tsc),
		.name = name,
	};
	pack_task(p, &row);
}

uint64_t pack_nr_kernel(const struct pack *p)
{
	return p->nr_kernel;
}

void pack_event(void *pack, unsigned ring, const struct ldb_rec *recs, unsigned nr)
{
	struct pack *p = pack;

	switch (recs[0].type) {
	case LDB_EV_FUNC:
		func_event(p, recs);
		break;
	case LDB_EV_GAP:
		gap_event(p, recs);
		break;
	case LDB_EV_LOCK_WAIT:
	case LDB_EV_LOCK_HOLD:
		lock_event(p, recs);
		break;
	case LDB_EV_REQ_START:
	case LDB_EV_REQ_BLOCK:
	case LDB_EV_REQ_END:
	case LDB_EV_REQ_END_ALL:
		req_event(p, recs);
		break;
	case LDB_EV_REQ_CLASS:
		class_event(p, recs);
		break;
	case LDB_EV_REQ_LINK:
		link_event(p, recs);
		break;
	case LDB_EV_THREAD_START:
		thread_start(p, recs);
		break;
	case LDB_EV_THREAD_EXIT:
		if (p->on_exit)
			p->on_exit(p->exit_arg, recs[0].tid, recs[0].arg,
				   tick_of(p, recs[0].tsc));
		break;
	case LDB_EV_LOST:
		lost_event(p, recs);
		break;
	case LDB_EV_TASK:
		task_event(p, recs);
		break;
	default:
		if (recs[0].type >= LDB_EV_SWITCH && recs[0].type <= LDB_EV_EXIT)
			sched_event(p, ring, recs);
	}
}
