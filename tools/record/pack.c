// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns events of the rings into rows of the trace; see pack.h. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/hash.h"
#include "base/intern.h"
#include "record/backlog.h"
#include "record/calls.h"
#include "record/pack.h"

#ifndef BIRTHS_MAX		/* fewer: tests/fuzz */
#define BIRTHS_MAX	65536	/* remembered */
#endif
#define IRQ_LINES_MAX	1024	/* the names of more are not retained */
#define IRQ_NAME_SIZE	25
#define FUNCS_AT_ONCE	128
#define FD_NAMES_MAX	65536	/* the names of more descriptors are not retained */
#define EVENTS_PER_REST	64	/* a power of two; some 10 us */

/* These kinds of rows wait for others, and are sorted by one of their times. */
static const struct kept_kind {
	size_t row_bytes, time;
} kept_kinds[] = {
	[LDB_BLK_LOCK] = { sizeof(struct ldb_row_lock), offsetof(struct ldb_row_lock, end) },
	[LDB_BLK_REQ] = { sizeof(struct ldb_row_req), offsetof(struct ldb_row_req, tick) },
	[LDB_BLK_SCHED] = { sizeof(struct ldb_row_sched), offsetof(struct ldb_row_sched, tick) },
	[LDB_BLK_FAULT] = { sizeof(struct ldb_row_fault), offsetof(struct ldb_row_fault, tick) },
	[LDB_BLK_IRQ] = { sizeof(struct ldb_row_irq), offsetof(struct ldb_row_irq, end) },
	[LDB_BLK_SYSCALL] = { sizeof(struct ldb_row_syscall), offsetof(struct ldb_row_syscall, end) },
};
#define NR_KINDS	(sizeof(kept_kinds) / sizeof(kept_kinds[0]))

struct pack {
	const struct session *s;
	struct writer *w;
	uint64_t t0, slack;
	pack_exit_fn *on_exit;
	void *exit_arg;
	struct kept {
		struct pack *pack;
		struct backlog rows;
	} kept[NR_KINDS];
	struct irq_line {
		uint32_t line;
		char name[IRQ_NAME_SIZE];
	} irq_lines[IRQ_LINES_MAX];
	unsigned nr_irq_lines;
	struct hash irq_by_line;
	struct intern fd_names;
	struct ldb_row_func funcs[FUNCS_AT_ONCE];	/* on their way to the writer */
	size_t nr_funcs;
	struct last_func {
		uint64_t gen;
		uint32_t tid;
	} *last_funcs;			/* of each ring */
	unsigned nr_rings;
	struct pack_birth *births;	/* in order */
	size_t nr_births, room_births;
	struct hash birth_of;		/* by tid */
	struct chains *chains;
	uint64_t nr_rows, nr_irqs, nr_open;
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

/* Names interrupts: devices' lines as they become known, the rest by number. */

static struct irq_line *find_irq_line(struct pack *p, uint32_t line)
{
	uint32_t n;

	hash_each(&p->irq_by_line, hash_mix(0, line), n)
		if (p->irq_lines[n].line == line)
			return &p->irq_lines[n];
	return NULL;
}

/* The last name of a line counts. */
static void set_irq_name(struct pack *p, uint32_t line, const char *name)
{
	struct irq_line *known = find_irq_line(p, line);

	if (!*name || (!known && p->nr_irq_lines == IRQ_LINES_MAX))
		return;
	if (!known && !hash_add(&p->irq_by_line, hash_mix(0, line), p->nr_irq_lines))
		known = &p->irq_lines[p->nr_irq_lines++];
	if (!known)
		return;
	known->line = line;
	snprintf(known->name, sizeof(known->name), "%s", name);
}

/* "": not known. */
static const char *irq_name(struct pack *p, const struct ldb_row_irq *row)
{
	/* These are the kernel's softirq_to_name[]: part of what its tracepoints print. */
	static const char *const softirqs[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED",
		"HRTIMER", "RCU",
	};
	const struct irq_line *line;

	if (row->flags & LDB_IRQ_F_HIDDEN)
		return "";
	switch (row->kind) {
	case LDB_IRQ_HARD:
		line = find_irq_line(p, row->nr);
		return line ? line->name : "";
	case LDB_IRQ_SOFT:
		return row->nr < sizeof(softirqs) / sizeof(*softirqs) ? softirqs[row->nr] : "";
	case LDB_IRQ_LOCAL_TIMER:
		return "local_timer";
	default:
		return "";
	}
}

/* Rings that say a line's name were read up to here as well. */
static void name_irqs(struct pack *p, struct ldb_row_irq *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		rows[i].name = irq_name(p, &rows[i]);
}

static void write_rows(void *kept, void *rows, size_t nr)
{
	const struct kept *k = kept;
	struct pack *p = k->pack;
	unsigned kind = k - p->kept;

	if (kind == LDB_BLK_IRQ)
		name_irqs(p, rows, nr);
	writer_add(p->w, kind, rows, nr);
	rest(p);
}

static bool alloc_kept(struct pack *p)
{
	for (unsigned i = 0; i < NR_KINDS; i++) {
		struct kept *k = &p->kept[i];

		k->pack = p;
		if (kept_kinds[i].row_bytes &&
		    backlog_init(&k->rows, kept_kinds[i].row_bytes, BACKLOG_MAX, write_rows, k))
			return false;
	}
	return true;
}

static void write_funcs(struct pack *p)
{
	writer_add_funcs(p->w, p->funcs, p->nr_funcs);
	p->nr_funcs = 0;
}

static void store_func(void *pack, const struct ldb_row_func *row)
{
	struct pack *p = pack;

	p->nr_open += !!(row->flags & LDB_FUNC_F_OPEN);
	p->funcs[p->nr_funcs++] = *row;
	if (p->nr_funcs == FUNCS_AT_ONCE)
		write_funcs(p);
}

struct pack *pack_alloc(const struct session *s, struct writer *w, uint64_t t0,
			uint64_t slack_ticks, uint64_t func_threshold_ticks)
{
	struct pack *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->s = s;
	p->w = w;
	p->fd_names.max = FD_NAMES_MAX;
	p->t0 = t0;
	p->slack = slack_ticks;
	p->nr_rings = session_nr_rings(s);
	p->last_funcs = calloc(p->nr_rings, sizeof(*p->last_funcs));
	p->chains = chains_alloc(s->info.tsc_hz, func_threshold_ticks, store_func, p);
	if (p->last_funcs && p->chains && alloc_kept(p))
		return p;
	pack_free(p);
	return NULL;
}

void pack_free(struct pack *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < NR_KINDS; i++)
		backlog_exit(&p->kept[i].rows);
	chains_free(p->chains);
	hash_free(&p->irq_by_line);
	intern_free(&p->fd_names);
	hash_free(&p->birth_of);
	free(p->births);
	free(p->last_funcs);
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
	chains_release(p->chains, tick);
	write_funcs(p);
	for (unsigned i = 0; i < NR_KINDS; i++)
		backlog_release(&p->kept[i].rows, tick);
}

void pack_release(struct pack *p, uint64_t now)
{
	release_before(p, tick_of(p, now - p->slack));
}

void pack_finish(struct pack *p)
{
	release_before(p, INT64_MAX);
}

void pack_finish_open(struct pack *p)
{
	chains_finish(p->chains);
	write_funcs(p);
}

struct chains *pack_chains(struct pack *p)
{
	return p->chains;
}

/* Births */

struct pack_birth *pack_birth_of(struct pack *p, uint32_t tid)
{
	uint32_t n;

	hash_each(&p->birth_of, hash_mix(0, tid), n)
		if (p->births[n].tid == tid)
			return &p->births[n];
	return NULL;
}

struct pack_birth *pack_birth_next(struct pack *p, size_t *i)
{
	return *i < p->nr_births ? &p->births[(*i)++] : NULL;
}

/* Returns NULL if there are too many, or there is no memory. */
static struct pack_birth *new_birth(struct pack *p, uint32_t tid)
{
	if (p->nr_births == BIRTHS_MAX ||
	    !array_room(&p->births, &p->room_births, p->nr_births, sizeof(*p->births)) ||
	    hash_add(&p->birth_of, hash_mix(0, tid), p->nr_births))
		return NULL;
	return &p->births[p->nr_births++];
}

static void thread_start(struct pack *p, unsigned ring, const struct ldb_rec *r)
{
	struct pack_birth *b = pack_birth_of(p, r->tid);

	chains_thread(p->chains, tick_of(p, r->tsc), r->tid, CHAIN_BEGIN);
	if (!b && r->tid)
		b = new_birth(p, r->tid);
	if (b)
		*b = (struct pack_birth){
			.tid = r->tid, .creator = r->arg2, .start_routine = r->arg,
			.tick = tick_of(p, r->tsc),
		};
}

static void thread_exit(struct pack *p, unsigned ring, const struct ldb_rec *r)
{
	chains_thread(p->chains, tick_of(p, r->tsc), r->tid, CHAIN_EXIT);
	if (p->on_exit)
		p->on_exit(p->exit_arg, r->tid, r->arg, tick_of(p, r->tsc));
}

/* Events */

/* Returns where to put the row, which must be done at once. */
static void *keep_back(struct pack *p, unsigned kind, int64_t tick)
{
	return backlog_add(&p->kept[kind].rows, tick);
}

static uint64_t uncertainty(uint32_t unc)
{
	return unc == UINT32_MAX ? LDB_UNC_UNKNOWN : unc;
}

void pack_func(struct pack *p, const struct ldb_row_func *row)
{
	if (!chains_func(p->chains, row))
		store_func(p, row);
}

static void func_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct ldb_func_rec *f = (const void *)recs;
	struct ldb_row_func row;

	p->last_funcs[ring] = (struct last_func){ f->gen, f->tid };

	row = (struct ldb_row_func){
		.flags = f->flags, .tid = f->tid, .pc = f->pc, .ret = f->ret, .gen = f->gen,
		.parent_gen = f->parent_gen, .depth = f->depth,
		.start_max = tick_of(p, f->start_max), .end_max = tick_of(p, f->end_max),
		.start_unc = uncertainty(f->start_unc), .end_unc = uncertainty(f->end_unc),
	};
	pack_func(p, &row);
}

static void frame_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	chains_frame(p->chains, tick_of(p, recs[0].tsc), recs);
}

static void lock_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct ldb_lock_rec *l = (const void *)recs;
	int64_t end = tick_of(p, l->end);
	struct ldb_row_lock *row = keep_back(p, LDB_BLK_LOCK, end);

	*row = (struct ldb_row_lock){
		.op = l->type == LDB_EV_LOCK_WAIT ? LDB_LOCK_OP_WAIT : LDB_LOCK_OP_HOLD,
		.flags = l->flags, .tid = l->tid, .lock = l->lock, .owner = l->owner,
		/* A begin that was not stamped is 0: then there is no interval. */
		.begin = l->begin ? tick_of(p, l->begin) : end, .end = end,
		.gen = l->gen, .site = (uint64_t)l->site_hi << 32 | l->site_lo,
	};
}

static void req_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct ldb_req_rec *r = (const void *)recs;
	int64_t tick = tick_of(p, r->tsc);
	struct ldb_row_req *row = keep_back(p, LDB_BLK_REQ, tick);

	*row = (struct ldb_row_req){
		.op = r->type - 0x300, .tid = r->tid, .tick = tick, .id = r->id,
		.queue = r->queue, .site = r->payload2,
	};
}

static void arrived_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct ldb_req_rec *r = (const void *)recs;
	int64_t tick = tick_of(p, r->tsc);
	struct ldb_row_req *row = keep_back(p, LDB_BLK_REQ, tick);

	*row = (struct ldb_row_req){
		.op = LDB_REQ_OP_ARRIVED, .tid = r->tid, .tick = tick, .id = r->id,
		.queue = r->queue,
		.site = (unsigned __int128)r->payload2 * p->s->info.tsc_hz / 1000000000,
	};
}

/* The name is spread over the payload words, without a NUL if it fills them. */
static void class_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
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

static void link_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
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

static void gap_event(struct pack *p, unsigned ring, const struct ldb_rec *r)
{
	struct ldb_row_gap row = {
		.tid = r->tid, .begin = tick_of(p, r->arg), .end = tick_of(p, r->tsc),
	};

	writer_add_gap(p->w, &row);
}

static void lost_event(struct pack *p, unsigned ring, const struct ldb_rec *r)
{
	struct ldb_row_lost row = {
		.tick = tick_of(p, r->tsc), .ring = r->arg2, .count = r->arg,
		.what = LDB_LOST_OVERRUN,
	};

	writer_add_lost(p->w, &row);
}

/* Kernel events */

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

/* What is done with the chains of threads that leave, come and end. */
static void follow_thread(struct pack *p, const struct ldb_rec *r, int64_t tick)
{
	bool is_hidden = r->flags & LDB_SCHED_F_HIDDEN;

	switch (r->type) {
	case LDB_EV_SWITCH:
	case LDB_EV_SWITCH_OUT:
		if (r->flags & LDB_SCHED_F_TID)
			chains_thread(p->chains, tick, r->tid,
				      r->type == LDB_EV_SWITCH_OUT ? CHAIN_OUT : CHAIN_UNREAD);
		if (r->flags & LDB_SCHED_F_OTHER)
			chains_thread(p->chains, tick, r->arg2, is_hidden ? CHAIN_UNREAD : CHAIN_IN);
		break;
	case LDB_EV_FORK:
		if (r->flags & LDB_SCHED_F_OTHER)
			chains_thread(p->chains, tick, r->arg2, CHAIN_BORN);
		break;
	case LDB_EV_EXEC:
	case LDB_EV_EXIT:
		chains_thread(p->chains, tick, r->tid, CHAIN_EXIT);
		break;
	}
}

/* Which column arg and arg2 go to depends on the event; see trace-format.h. */
static void sched_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct ldb_rec *r = &recs[0];
	int64_t tick = tick_of(p, r->tsc);
	struct ldb_row_sched *row = keep_back(p, LDB_BLK_SCHED, tick);

	*row = (struct ldb_row_sched){
		.op = r->type - 0x400, .flags = r->flags, .cpu = session_ring_cpu(p->s, ring),
		.tid = r->tid, .tick = tick,
	};
	follow_thread(p, r, tick);
	switch (r->type) {
	case LDB_EV_SWITCH_OUT:
		row->other = r->arg2;
		switch_out(row, recs);
		break;
	case LDB_EV_FUTEX_WAIT:
		futex_wait(row, recs);
		break;
	case LDB_EV_FUTEX_WAKE:
	case LDB_EV_MIGRATE:
		row->addr = r->arg;
		row->value = r->arg2;
		break;
	default:
		row->other = r->arg2;
		row->value = r->arg;
	}
}

static void task_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
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
	writer_add_task(p->w, &row);
}

static void fault_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	int64_t tick = tick_of(p, recs[0].tsc);
	struct ldb_row_fault *row = keep_back(p, LDB_BLK_FAULT, tick);
	struct ldb_fault_rec f;

	memcpy(&f, recs, sizeof(f));
	*row = (struct ldb_row_fault){
		.flags = f.flags, .tid = f.tid, .tick = tick, .addr = f.addr, .pc = f.pc,
	};
}

static void irq_event(struct pack *p, unsigned ring, const struct ldb_rec *r)
{
	int64_t start = tick_of(p, r->arg), end = tick_of(p, r->tsc);
	struct ldb_row_irq *row = keep_back(p, LDB_BLK_IRQ, end);

	*row = (struct ldb_row_irq){
		.kind = LDB_IRQ_KIND(r->flags), .flags = r->flags & LDB_IRQ_F_HIDDEN,
		.cpu = session_ring_cpu(p->s, ring), .nr = r->arg2, .tid = r->tid,
		.nr_short = LDB_IRQ_NR_SHORT(r->flags),
		/* If the program wrote an invalid interval, the row stays, but takes no time. */
		.start = start < end ? start : end, .end = end,
	};
	if (row->kind == LDB_IRQ_STOLEN) {
		row->end = row->start;
		row->start -= (unsigned __int128)r->arg2 * p->s->info.tsc_hz / 1000000000;
		row->nr = 0;
		return;
	}
	p->nr_irqs += 1 + row->nr_short;
}

static void irq_name_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	struct ldb_irq_name_rec r;
	char name[IRQ_NAME_SIZE] = "";

	memcpy(&r, recs, sizeof(r));
	memcpy(name, &r.name0, 8);
	memcpy(name + 8, &r.name1, 8);
	memcpy(name + 16, &r.name2, 8);
	set_irq_name(p, r.irq, name);
}

static const char *descriptor_name(struct pack *p, const struct ldb_syscall_rec *r)
{
	const char *known;
	char text[64];

	calls_descriptor(r, text, sizeof(text));
	known = intern_text(&p->fd_names, text);
	return known ? known : "";
}

static void syscall_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	bool has_fd = recs[0].type == LDB_EV_SYSCALL_FD;
	int64_t start = tick_of(p, recs[0].arg), end = tick_of(p, recs[0].tsc);
	struct ldb_row_syscall *row = keep_back(p, LDB_BLK_SYSCALL, end);
	struct ldb_syscall_rec r = { 0 };

	memcpy(&r, recs, (has_fd ? 3 : 2) * sizeof(*recs));
	*row = (struct ldb_row_syscall){
		.flags = r.flags, .nr = r.nr, .tid = r.tid, .nr_short = r.nr_short,
		.start = start < end ? start : end, .end = end, .result = r.result, .arg0 = r.arg0,
		.arg = (uint64_t)r.arg_hi << 32 | r.arg_lo, .name = calls_name(r.nr),
		.file = has_fd ? descriptor_name(p, &r) : "",
	};
}

#define TYPE(type)	[(type) >> 8][(type) & (PACK_TYPES - 1)]

const struct pack_type pack_types[PACK_GROUPS][PACK_TYPES] = {
	TYPE(LDB_EV_THREAD_START) = { 1, thread_start },
	TYPE(LDB_EV_THREAD_EXIT) = { 1, thread_exit },
	TYPE(LDB_EV_FUNC) = { 3, func_event },
	TYPE(LDB_EV_GAP) = { 1, gap_event },
	TYPE(LDB_EV_LOCK_WAIT) = { 2, lock_event },
	TYPE(LDB_EV_LOCK_HOLD) = { 2, lock_event },
	TYPE(LDB_EV_REQ_START) = { 2, req_event },
	TYPE(LDB_EV_REQ_BLOCK) = { 2, req_event },
	TYPE(LDB_EV_REQ_END) = { 2, req_event },
	TYPE(LDB_EV_REQ_END_ALL) = { 2, req_event },
	TYPE(LDB_EV_REQ_CLASS) = { 2, class_event },
	TYPE(LDB_EV_REQ_LINK) = { 2, link_event },
	TYPE(LDB_EV_REQ_ARRIVED) = { 2, arrived_event },
	TYPE(LDB_EV_SWITCH) = { 1, sched_event },
	TYPE(LDB_EV_SWITCH_OUT) = { 2, sched_event },
	TYPE(LDB_EV_OCCUPANT) = { 1, sched_event },
	TYPE(LDB_EV_WAKING) = { 1, sched_event },
	TYPE(LDB_EV_WAKEUP) = { 1, sched_event },
	TYPE(LDB_EV_FRAME) = { 3, frame_event },
	TYPE(LDB_EV_MIGRATE) = { 1, sched_event },
	TYPE(LDB_EV_FUTEX_WAIT) = { 2, sched_event },
	TYPE(LDB_EV_FUTEX_WAKE) = { 1, sched_event },
	TYPE(LDB_EV_FORK) = { 1, sched_event },
	TYPE(LDB_EV_EXEC) = { 1, sched_event },
	TYPE(LDB_EV_EXIT) = { 1, sched_event },
	TYPE(LDB_EV_TASK) = { 2, task_event },
	TYPE(LDB_EV_FAULT) = { 2, fault_event },
	TYPE(LDB_EV_IRQ) = { 1, irq_event, .has_begin = true },
	TYPE(LDB_EV_IRQ_NAME) = { 2, irq_name_event },
	TYPE(LDB_EV_SYSCALL) = { 2, syscall_event, .has_begin = true },
	TYPE(LDB_EV_SYSCALL_FD) = { 3, syscall_event, .has_begin = true },
	TYPE(LDB_EV_LOST) = { 1, lost_event },
};

void pack_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct pack_type *type = pack_type(recs[0].type);

	if (!type->nr_slots)
		return;
	rest_sometimes(p);
	type->take(p, ring, recs);
}

void pack_row(struct pack *p, unsigned kind, const void *row)
{
	const struct ldb_row_irq *irq = row;
	const struct kept_kind *k;

	if (kind >= NR_KINDS || !kept_kinds[kind].row_bytes) {
		writer_add(p->w, kind, row, 1);
		return;
	}
	k = &kept_kinds[kind];
	rest_sometimes(p);
	p->nr_rows++;
	if (kind == LDB_BLK_IRQ) {
		set_irq_name(p, irq->nr, irq->name);
		p->nr_irqs++;
	}
	memcpy(keep_back(p, kind, *(const int64_t *)((const char *)row + k->time)), row,
	       k->row_bytes);
}

bool pack_is_last_func(const struct pack *p, uint32_t tid, uint64_t gen)
{
	for (unsigned i = 0; i < p->nr_rings; i++)
		if (p->last_funcs[i].tid == tid && p->last_funcs[i].gen == gen)
			return true;
	return false;
}

uint64_t pack_nr_rows(const struct pack *p)
{
	return p->nr_rows;
}

uint64_t pack_nr_open(const struct pack *p)
{
	return p->nr_open;
}

uint64_t pack_nr_irqs(const struct pack *p)
{
	return p->nr_irqs;
}
