// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of the rings -> rows of the trace; see pack.h.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "record/pack.h"
#include "record/backlog.h"
#include "record/irqnames.h"

#ifndef BIRTHS_MAX		/* fewer: tests/fuzz */
#define BIRTHS_MAX	65536	/* remembered */
#endif
#define FUNCS_AT_ONCE	128
#define EVENTS_PER_REST	64	/* a power of two; some 10 us */

struct pack {
	const struct session *s;
	struct writer *w;
	uint64_t t0, slack;
	pack_exit_fn *on_exit;
	void *exit_arg;
	struct backlog scheds, reqs, locks, faults, irqs;
	struct irqnames irqnames;
	struct ldb_row_func funcs[FUNCS_AT_ONCE];	/* on their way to the writer */
	size_t nr_funcs;
	struct last_func {
		uint64_t gen;
		uint32_t tid;
	} *last_funcs;			/* of each ring */
	unsigned nr_rings;
	struct pack_birth *births;	/* BIRTHS_MAX, in order; most of it is never touched */
	size_t nr_births;
	uint32_t *birth_slots;		/* open addressing by tid, BIRTHS_MAX * 2: index + 1 */
	uint64_t nr_kernel, nr_irqs;
	pack_rest_fn *on_rest;
	void *rest_arg;
	unsigned nr_since;		/* events, since that was called */
};

static void rest(struct pack *p)
{
	p->nr_since = 0;
	if (p->on_rest)
		p->on_rest(p->rest_arg);
}

static inline void rest_sometimes(struct pack *p)
{
	if (!(++p->nr_since & (EVENTS_PER_REST - 1)))
		rest(p);
}

#define WRITE_ROWS(kind)							\
static void write_##kind(void *pack, const void *rows, size_t nr)		\
{										\
	struct pack *p = pack;							\
										\
	writer_add_##kind(p->w, rows, nr);					\
	rest(p);								\
}

WRITE_ROWS(scheds)
WRITE_ROWS(reqs)
WRITE_ROWS(locks)
WRITE_ROWS(faults)

/* Rings that say what a line is called were read up to here as well. */
static void write_irqs(void *pack, const void *rows, size_t nr)
{
	const struct ldb_row_irq *irqs = rows;
	struct pack *p = pack;

	for (size_t i = 0; i < nr; i++) {
		struct ldb_row_irq row = irqs[i];

		row.name = row.flags & LDB_IRQ_F_HIDDEN ? "" :
			   irqnames_find(&p->irqnames, row.kind, row.nr);
		writer_add_irq(p->w, &row);
	}
	rest(p);
}

struct pack *pack_alloc(const struct session *s, struct writer *w, uint64_t t0,
			uint64_t slack_ticks)
{
	struct pack *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->births = calloc(BIRTHS_MAX, sizeof(*p->births));
	p->birth_slots = calloc(BIRTHS_MAX * 2, sizeof(*p->birth_slots));
	p->nr_rings = session_nr_rings(s);
	p->last_funcs = calloc(p->nr_rings, sizeof(*p->last_funcs));
	if (!p->births || !p->birth_slots || !p->last_funcs ||
	    backlog_init(&p->scheds, sizeof(struct ldb_row_sched), write_scheds, p) ||
	    backlog_init(&p->reqs, sizeof(struct ldb_row_req), write_reqs, p) ||
	    backlog_init(&p->locks, sizeof(struct ldb_row_lock), write_locks, p) ||
	    backlog_init(&p->faults, sizeof(struct ldb_row_fault), write_faults, p) ||
	    backlog_init(&p->irqs, sizeof(struct ldb_row_irq), write_irqs, p)) {
		pack_free(p);
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
	backlog_exit(&p->scheds);
	backlog_exit(&p->reqs);
	backlog_exit(&p->locks);
	backlog_exit(&p->faults);
	backlog_exit(&p->irqs);
	free(p->last_funcs);
	free(p->births);
	free(p->birth_slots);
	free(p);
}

void pack_on_rest(struct pack *p, pack_rest_fn *fn, void *arg)
{
	p->on_rest = fn;
	p->rest_arg = arg;
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

static void release_before(struct pack *p, int64_t tick)
{
	writer_add_funcs(p->w, p->funcs, p->nr_funcs);
	p->nr_funcs = 0;
	backlog_release(&p->scheds, tick);
	backlog_release(&p->reqs, tick);
	backlog_release(&p->locks, tick);
	backlog_release(&p->faults, tick);
	backlog_release(&p->irqs, tick);
}

void pack_release(void *pack, uint64_t now)
{
	struct pack *p = pack;

	release_before(p, tick_of(p, now - p->slack));
}

void pack_finish(struct pack *p)
{
	release_before(p, INT64_MAX);
}

/* Births */

/* Where the number of its birth is, or is to be. */
static uint32_t *birth_slot(struct pack *p, uint32_t tid)
{
	size_t mask = BIRTHS_MAX * 2 - 1, i = tid * 0x9e3779b1U & mask;

	while (p->birth_slots[i] && p->births[p->birth_slots[i] - 1].tid != tid)
		i = (i + 1) & mask;
	return &p->birth_slots[i];
}

struct pack_birth *pack_birth_of(struct pack *p, uint32_t tid)
{
	uint32_t nr = tid ? *birth_slot(p, tid) : 0;

	return nr ? &p->births[nr - 1] : NULL;
}

struct pack_birth *pack_birth_next(struct pack *p, size_t *i)
{
	return *i < p->nr_births ? &p->births[(*i)++] : NULL;
}

static void thread_start(struct pack *p, const struct ldb_rec *r)
{
	uint32_t *slot = r->tid ? birth_slot(p, r->tid) : NULL;

	if (!slot || (!*slot && p->nr_births == BIRTHS_MAX))
		return;
	if (!*slot)
		*slot = ++p->nr_births;
	p->births[*slot - 1] = (struct pack_birth){
		.tid = r->tid, .creator = r->arg2, .start_routine = r->arg,
		.tick = tick_of(p, r->tsc),
	};
}

/* Events */

static uint64_t uncertainty(uint32_t unc)
{
	return unc == UINT32_MAX ? LDB_UNC_UNKNOWN : unc;
}

static void func_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct ldb_func_rec *f = (const void *)recs;

	p->last_funcs[ring] = (struct last_func){ f->gen, f->tid };

	p->funcs[p->nr_funcs++] = (struct ldb_row_func){
		.flags = f->flags, .tid = f->tid, .pc = f->pc, .ret = f->ret, .gen = f->gen,
		.parent_gen = f->parent_gen, .depth = f->depth,
		.start_max = tick_of(p, f->start_max), .end_max = tick_of(p, f->end_max),
		.start_unc = uncertainty(f->start_unc), .end_unc = uncertainty(f->end_unc),
	};
	if (p->nr_funcs == FUNCS_AT_ONCE) {
		writer_add_funcs(p->w, p->funcs, p->nr_funcs);
		p->nr_funcs = 0;
	}
}

static void lock_event(struct pack *p, const struct ldb_rec *recs)
{
	const struct ldb_lock_rec *l = (const void *)recs;
	int64_t end = tick_of(p, l->end);
	struct ldb_row_lock *row = backlog_add(&p->locks, end);

	*row = (struct ldb_row_lock){
		.op = l->type == LDB_EV_LOCK_WAIT ? LDB_LOCK_OP_WAIT : LDB_LOCK_OP_HOLD,
		.flags = l->flags, .tid = l->tid, .lock = l->lock, .owner = l->owner,
		/* A begin that was not stamped is 0: then there is no interval. */
		.begin = l->begin ? tick_of(p, l->begin) : end, .end = end,
		.gen = l->gen, .site = (uint64_t)l->site_hi << 32 | l->site_lo,
	};
}

static void req_event(struct pack *p, const struct ldb_rec *recs)
{
	const struct ldb_req_rec *r = (const void *)recs;
	int64_t tick = tick_of(p, r->tsc);
	struct ldb_row_req *row = backlog_add(&p->reqs, tick);

	*row = (struct ldb_row_req){
		.op = r->type - 0x300, .tid = r->tid, .tick = tick, .id = r->id,
		.queue = r->queue, .site = r->payload2,
	};
}

static void arrived_event(struct pack *p, const struct ldb_rec *recs)
{
	const struct ldb_req_rec *r = (const void *)recs;
	int64_t tick = tick_of(p, r->tsc);
	struct ldb_row_req *row = backlog_add(&p->reqs, tick);

	*row = (struct ldb_row_req){
		.op = LDB_REQ_OP_ARRIVED, .tid = r->tid, .tick = tick, .id = r->id,
		.queue = r->queue,
		.site = (unsigned __int128)r->payload2 * p->s->info.tsc_hz / 1000000000,
	};
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
	struct ldb_row_sched *kept = backlog_add(&p->scheds, row->tick);

	*kept = *row;
	rest_sometimes(p);
	p->nr_kernel++;
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

void pack_fault(struct pack *p, const struct ldb_row_fault *row)
{
	struct ldb_row_fault *kept = backlog_add(&p->faults, row->tick);

	*kept = *row;
	rest_sometimes(p);
	p->nr_kernel++;
}

static void fault_event(struct pack *p, const struct ldb_rec *recs)
{
	struct ldb_fault_rec f;

	memcpy(&f, recs, sizeof(f));
	pack_fault(p, &(struct ldb_row_fault){
		.flags = f.flags, .tid = f.tid, .tick = tick_of(p, f.tsc), .addr = f.addr, .pc = f.pc,
	});
}

void pack_irq(struct pack *p, const struct ldb_row_irq *row)
{
	struct ldb_row_irq *kept = backlog_add(&p->irqs, row->end);

	*kept = *row;
	rest_sometimes(p);
	p->nr_kernel++;
	p->nr_irqs += 1 + row->nr_short;
}

static void irq_event(struct pack *p, unsigned ring, const struct ldb_rec *r)
{
	struct ldb_row_irq row = {
		.kind = LDB_IRQ_KIND(r->flags), .flags = r->flags & LDB_IRQ_F_HIDDEN,
		.cpu = session_ring_cpu(p->s, ring), .nr = r->arg2, .tid = r->tid,
		.nr_short = LDB_IRQ_NR_SHORT(r->flags),
		.start = tick_of(p, r->arg), .end = tick_of(p, r->tsc),
	};

	/* Nonsense that the program wrote: the row stays, but takes no time. */
	if (row.start > row.end)
		row.start = row.end;
	pack_irq(p, &row);
}

void pack_irq_name(struct pack *p, uint32_t line, const char *name)
{
	irqnames_set(&p->irqnames, line, name);
}

static void irq_name_event(struct pack *p, const struct ldb_rec *recs)
{
	struct ldb_irq_name_rec r;
	char name[IRQNAMES_SIZE] = "";

	memcpy(&r, recs, sizeof(r));
	memcpy(name, &r.name0, 8);
	memcpy(name + 8, &r.name1, 8);
	memcpy(name + 16, &r.name2, 8);
	pack_irq_name(p, r.irq, name);
}

bool pack_is_last_func(const struct pack *p, uint32_t tid, uint64_t gen)
{
	for (unsigned i = 0; i < p->nr_rings; i++)
		if (p->last_funcs[i].tid == tid && p->last_funcs[i].gen == gen)
			return true;
	return false;
}

uint64_t pack_nr_kernel(const struct pack *p)
{
	return p->nr_kernel;
}

uint64_t pack_nr_irqs(const struct pack *p)
{
	return p->nr_irqs;
}

void pack_event(void *pack, unsigned ring, const struct ldb_rec *recs, unsigned nr)
{
	struct pack *p = pack;

	/* Those of the kernel rest where perf's come to as well. */
	if (recs[0].type < LDB_EV_SWITCH)
		rest_sometimes(p);
	switch (recs[0].type) {
	case LDB_EV_FUNC:
		func_event(p, ring, recs);
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
	case LDB_EV_REQ_ARRIVED:
		arrived_event(p, recs);
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
	case LDB_EV_FAULT:
		fault_event(p, recs);
		break;
	case LDB_EV_IRQ:
		irq_event(p, ring, recs);
		break;
	case LDB_EV_IRQ_NAME:
		irq_name_event(p, recs);
		break;
	default:
		if (recs[0].type >= LDB_EV_SWITCH && recs[0].type <= LDB_EV_EXIT)
			sched_event(p, ring, recs);
	}
}
