// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns events of the rings into rows of the trace; see pack.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "record/rows/private.h"
#include "record/session/order.h"

#ifndef BIRTHS_MAX		/* tests/fuzz defines a smaller number */
#define BIRTHS_MAX	65536	/* how many THREAD_STARTs are stored */
#endif
/* different names of system calls, files and devices; further ones are dropped */
#define CALL_TEXTS_MAX	65536
/* Events between two calls of on_rest(), a power of two.  Processing them takes some 10 us. */
#define EVENTS_PER_REST	64

/* Kinds of rows that are retained and sorted by one of their times. */
static const struct kept_kind {
	size_t row_bytes, time;
} kept_kinds[NR_KINDS] = {
	[LDB_BLK_FLOW_CALL] = { sizeof(struct ldb_row_flow_call), offsetof(struct ldb_row_flow_call, end) },
	[LDB_BLK_LOCK] = { sizeof(struct ldb_row_lock), offsetof(struct ldb_row_lock, end) },
	[LDB_BLK_REQ] = { sizeof(struct ldb_row_req), offsetof(struct ldb_row_req, tick) },
	[LDB_BLK_SCHED] = { sizeof(struct ldb_row_sched), offsetof(struct ldb_row_sched, tick) },
	[LDB_BLK_FAULT] = { sizeof(struct ldb_row_fault), offsetof(struct ldb_row_fault, tick) },
	[LDB_BLK_IRQ] = { sizeof(struct ldb_row_irq), offsetof(struct ldb_row_irq, end) },
	[LDB_BLK_SYSCALL] = { sizeof(struct ldb_row_syscall), offsetof(struct ldb_row_syscall, end) },
	[LDB_BLK_SCHEDSTAT] = { sizeof(struct ldb_row_schedstat),
				offsetof(struct ldb_row_schedstat, tick) },
	[LDB_BLK_DISK] = { sizeof(struct ldb_row_disk), offsetof(struct ldb_row_disk, end) },
	[LDB_BLK_SAMPLE] = { sizeof(struct ldb_row_sample), offsetof(struct ldb_row_sample, tick) },
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

/*
 * Sets the names of interrupts.  All rings have been read up to these rows, so the names are known.
 */
static void name_irqs(struct pack *p, struct ldb_row_irq *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		rows[i].name = irq_names_get(&p->irqs, &rows[i]);
}

static void write_rows(void *kept, void *rows, size_t nr)
{
	const struct kept *k = kept;
	struct pack *p = k->pack;
	unsigned kind = k - p->kept;

	if (kind == LDB_BLK_IRQ)
		name_irqs(p, rows, nr);
	if (kind == LDB_BLK_REQ && p->filter && p->filter->has_classes)
		nr = filter_requests(p->filter, rows, nr);
	if (p->made && kind == LDB_BLK_SYSCALL)
		made_requests_calls(p->made, rows, nr);
	if (p->made && kind == LDB_BLK_SCHED)
		made_requests_sched(p->made, rows, nr);
	if (p->metrics && !p->made && kind == LDB_BLK_REQ)
		metrics_requests(p->metrics, rows, nr);
	if (p->metrics && kind == LDB_BLK_SCHED)
		metrics_sched(p->metrics, rows, nr);
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

	if (p->func_counts.is_on && !(row->flags & LDB_FUNC_F_FROM_START))
		func_counts_add(&p->func_counts, row->tid, row->start_max);
	if (p->filter && p->filter->has_funcs && !filter_wants_func(p->filter, row))
		return;
	if (p->metrics)
		metrics_func(p->metrics, row);
	if (p->made)
		made_requests_func(p->made, row);
	p->nr_open += !!(row->flags & LDB_FUNC_F_OPEN);
	p->funcs[p->nr_funcs++] = *row;
	if (p->nr_funcs == FUNCS_AT_ONCE)
		write_funcs(p);
}

const volatile struct ldb_page *pack_page(void *pack, uint32_t tid)
{
	const struct pack *p = pack;
	uint64_t used = order_pages_used(session_info(p->s));

	for (unsigned slot = 0; slot < used && slot < p->s->info.max_threads; slot++) {
		const volatile struct ldb_page *page = session_page(p->s, slot);

		if (order_page_state(page) != LDB_PAGE_FREE && page->tid == tid)
			return page;
	}
	return NULL;
}

bool pack_is_of_program(void *pack, uint32_t tid)
{
	return pack_page(pack, tid);
}

static const struct chains_ops chains_ops = { store_func, pack_page };

struct pack *pack_alloc(const struct session *s, struct writer *w, uint64_t t0,
			uint64_t slack_ticks, uint64_t func_threshold_ticks)
{
	struct pack *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->s = s;
	p->w = w;
	p->call_texts.max = CALL_TEXTS_MAX;
	p->t0 = t0;
	p->slack = slack_ticks;
	p->nr_rings = session_nr_rings(s);
	p->last_funcs = calloc(p->nr_rings, sizeof(*p->last_funcs));
	p->chains = chains_alloc(t0, s->info.tsc_hz, func_threshold_ticks, &chains_ops, p);
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
	irq_names_free(&p->irqs);
	intern_free(&p->call_texts);
	func_counts_free(&p->func_counts);
	func_counts_free(&p->waiting_counts);
	func_counts_free(&p->waiting_exited);
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

void pack_on_mapping(struct pack *p, pack_mapping_fn *fn, void *arg)
{
	p->on_mapping = fn;
	p->mapping_arg = arg;
}

void pack_on_descriptor(struct pack *p, pack_descriptor_fn *fn, void *arg)
{
	p->on_descriptor = fn;
	p->descriptor_arg = arg;
}

void pack_on_lock(struct pack *p, pack_lock_fn *fn, void *arg)
{
	p->on_lock = fn;
	p->lock_arg = arg;
}

void pack_on_exit(struct pack *p, pack_exit_fn *fn, void *arg)
{
	p->on_exit = fn;
	p->exit_arg = arg;
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
	release_before(p, pack_tick(p, now - p->slack));
}

void pack_finish(struct pack *p)
{
	pack_waiting_forget(p);
	release_before(p, INT64_MAX);
}

void pack_finish_open(struct pack *p)
{
	chains_finish(p->chains);
	write_funcs(p);
}

void pack_set_filter(struct pack *p, struct filter *f)
{
	p->filter = f;
}

void pack_want_name(struct pack *p, uint64_t pc)
{
	if (p->filter && p->filter->names_all)
		filter_want_func(p->filter, pc);
}

void pack_set_metrics(struct pack *p, struct metrics *m)
{
	p->metrics = m;
	if (!m)
		return;
	metrics_on_thread(m, pack_is_of_program, p);
	metrics_on_pauses(m, &p->pauses);
}

void pack_set_scope(struct pack *p, uint64_t scope)
{
	p->scope = scope;
}

void pack_set_made(struct pack *p, struct made_requests *m)
{
	p->made = m;
	if (m)
		made_requests_on_pauses(m, &p->pauses);
}

struct chains *pack_chains(struct pack *p)
{
	return p->chains;
}

uint64_t pack_nr_socket(const struct pack *p)
{
	return p->nr_socket;
}

/* Creation of threads */

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

/* Returns NULL if there are too many births, or if there is no memory. */
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

	chains_thread(p->chains, pack_tick(p, r->tsc), r->tid, CHAIN_BEGIN);
	if (!b && r->tid)
		b = new_birth(p, r->tid);
	if (b)
		*b = (struct pack_birth){
			.tid = r->tid, .creator = r->arg2, .start_routine = r->arg,
			.tick = pack_tick(p, r->tsc),
		};
}

static void thread_exit(struct pack *p, unsigned ring, const struct ldb_rec *r)
{
	chains_thread(p->chains, pack_tick(p, r->tsc), r->tid, CHAIN_EXIT);
	if (p->on_exit)
		p->on_exit(p->exit_arg, r->tid, r->arg, pack_tick(p, r->tsc));
}

/* Events */

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
		.start_max = pack_tick(p, f->start_max), .end_max = pack_tick(p, f->end_max),
		.start_unc = uncertainty(f->start_unc), .end_unc = uncertainty(f->end_unc),
	};
	pack_func(p, &row);
}

void pack_lost(struct pack *p, uint64_t now)
{
	chains_lost(p->chains, pack_tick(p, now));
}

static void frame_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	chains_frame(p->chains, pack_tick(p, recs[0].tsc), recs);
}

static void lock_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct ldb_lock_rec *l = (const void *)recs;
	int64_t end = pack_tick(p, l->end);
	struct ldb_row_lock row = {
		.op = l->type == LDB_EV_LOCK_WAIT ? LDB_LOCK_OP_WAIT : LDB_LOCK_OP_HOLD,
		.flags = l->flags, .tid = l->tid, .lock = l->lock, .owner = l->owner,
		/* If the start is 0 it was not measured, and the interval is empty. */
		.begin = l->begin ? pack_tick(p, l->begin) : end, .end = end,
		.gen = l->gen, .site = (uint64_t)l->site_hi << 32 | l->site_lo,
		.nr_later = l->nr_later,
	};

	if (p->filter && !filter_wants_lock(p->filter, &row))
		return;
	if (p->metrics)
		metrics_lock(p->metrics, &row);
	if (p->on_lock)
		p->on_lock(p->lock_arg, row.lock);
	*(struct ldb_row_lock *)pack_keep_back(p, LDB_BLK_LOCK, end) = row;
}

static void flow_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct ldb_flow_rec *f = (const void *)recs;
	int64_t end = pack_tick(p, f->end);
	struct ldb_row_flow_call *row = pack_keep_back(p, LDB_BLK_FLOW_CALL, end);

	*row = (struct ldb_row_flow_call){
		.flags = f->flags, .tid = f->tid, .start = pack_tick(p, f->start), .end = end,
		.api = f->api, .gen = f->gen, .site = f->site, .nr_later = f->nr_later,
	};
}

static void req_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct ldb_req_rec *r = (const void *)recs;
	int64_t tick = pack_tick(p, r->tsc);
	struct ldb_row_req *row = pack_keep_back(p, LDB_BLK_REQ, tick);

	p->nr_socket += r->flags & LDB_REQ_F_SOCKET;
	*row = (struct ldb_row_req){
		.op = r->type - 0x300, .tid = r->tid, .tick = tick, .id = r->id,
		.queue = r->queue, .site = r->payload2,
		.gen = (uint64_t)r->payload1 << 32 | r->payload0, .nr_later = r->nr_later,
	};
}

static void arrived_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct ldb_req_rec *r = (const void *)recs;
	int64_t tick = pack_tick(p, r->tsc);
	struct ldb_row_req *row = pack_keep_back(p, LDB_BLK_REQ, tick);

	*row = (struct ldb_row_req){
		.op = LDB_REQ_OP_ARRIVED, .tid = r->tid, .tick = tick, .id = r->id,
		.queue = r->queue,
		.site = (unsigned __int128)r->payload2 * p->s->info.tsc_hz / 1000000000,
	};
}

static void add_class(struct pack *p, const struct ldb_row_reqname *row)
{
	if (p->filter && p->filter->has_classes && !filter_wants_class(p->filter, row->id, row->tick, row->name))
		return;
	if (p->metrics && !p->made)
		metrics_class(p->metrics, row->id, row->tick, row->name);
	writer_add_reqname(p->w, row);
}

/* The name is in the payload words.  If it fills them, it has no NUL. */
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
	row.tick = pack_tick(p, r.tsc);
	row.id = r.id;
	row.name = name;
	add_class(p, &row);
}

static void link_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	struct ldb_row_reqname row = { .name = "" };
	struct ldb_req_rec r;

	memcpy(&r, recs, sizeof(r));
	row.tick = pack_tick(p, r.tsc);
	row.id = r.id;
	row.trace_hi = r.queue;
	row.trace_lo = r.payload2;
	row.span = (uint64_t)r.payload1 << 32 | r.payload0;
	writer_add_reqname(p->w, &row);
}

static void gap_event(struct pack *p, unsigned ring, const struct ldb_rec *r)
{
	struct ldb_row_gap row = {
		.tid = r->tid, .begin = pack_tick(p, r->arg), .end = pack_tick(p, r->tsc),
	};

	writer_add_gap(p->w, &row);
}

static void schedstat_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	int64_t tick = pack_tick(p, recs[0].tsc);
	struct ldb_row_schedstat *row = pack_keep_back(p, LDB_BLK_SCHEDSTAT, tick);
	struct ldb_schedstat_rec r;

	memcpy(&r, recs, sizeof(r));
	*row = (struct ldb_row_schedstat){
		.flags = r.flags, .tid = r.tid, .tick = tick, .unc = uncertainty(r.unc),
		.ran = r.ran ? pack_tick(p, r.ran) : INT64_MIN, .run_ns = r.run_ns,
		.wait_ns = r.wait_ns, .nr_runs = r.nr_runs, .nr_sleeps = r.nr_sleeps,
	};
}

static void lost_event(struct pack *p, unsigned ring, const struct ldb_rec *r)
{
	struct ldb_row_lost row = {
		.tick = pack_tick(p, r->tsc), .ring = r->arg2, .count = r->arg,
		.what = LDB_LOST_OVERRUN,
	};

	writer_add_lost(p->w, &row);
}

#define TYPE(type)	[(type) >> 8][(type) & (PACK_TYPES - 1)]

const struct pack_type pack_types[PACK_GROUPS][PACK_TYPES] = {
	TYPE(LDB_EV_THREAD_START) = { 1, thread_start },
	TYPE(LDB_EV_THREAD_EXIT) = { 1, thread_exit },
	TYPE(LDB_EV_FUNC) = { 3, func_event },
	TYPE(LDB_EV_GAP) = { 1, gap_event },
	TYPE(LDB_EV_SCHEDSTAT) = { 2, schedstat_event },
	TYPE(LDB_EV_FLOW_CALL) = { 2, flow_event },
	TYPE(LDB_EV_LOCK_WAIT) = { 2, lock_event },
	TYPE(LDB_EV_LOCK_HOLD) = { 2, lock_event },
	TYPE(LDB_EV_REQ_START) = { 2, req_event },
	TYPE(LDB_EV_REQ_BLOCK) = { 2, req_event },
	TYPE(LDB_EV_REQ_END) = { 2, req_event },
	TYPE(LDB_EV_REQ_END_ALL) = { 2, req_event },
	TYPE(LDB_EV_REQ_CLASS) = { 2, class_event },
	TYPE(LDB_EV_REQ_LINK) = { 2, link_event },
	TYPE(LDB_EV_REQ_ARRIVED) = { 2, arrived_event },
	TYPE(LDB_EV_REQ_NOTE) = { 3, pack_note },
	TYPE(LDB_EV_REQ_NUMBER) = { 2, pack_note },
	TYPE(LDB_EV_MARK) = { 2, pack_mark },
	TYPE(LDB_EV_REQ_MESSAGE) = { 3, pack_message },
	TYPE(LDB_EV_SWITCH) = { 1, pack_kernel_sched },
	TYPE(LDB_EV_SWITCH_OUT) = { 2, pack_kernel_sched },
	TYPE(LDB_EV_RUNNING) = { 1, pack_kernel_sched },
	TYPE(LDB_EV_WAKING) = { 1, pack_kernel_sched },
	TYPE(LDB_EV_WAKEUP) = { 1, pack_kernel_sched },
	TYPE(LDB_EV_FRAME) = { 3, frame_event },
	TYPE(LDB_EV_MIGRATE) = { 1, pack_kernel_sched },
	TYPE(LDB_EV_FUTEX_WAIT) = { 2, pack_kernel_sched },
	TYPE(LDB_EV_FUTEX_WAKE) = { 1, pack_kernel_sched },
	TYPE(LDB_EV_FORK) = { 1, pack_kernel_sched },
	TYPE(LDB_EV_EXEC) = { 1, pack_kernel_sched },
	TYPE(LDB_EV_EXIT) = { 1, pack_kernel_sched },
	TYPE(LDB_EV_TASK) = { 2, pack_kernel_task },
	TYPE(LDB_EV_FAULT) = { 2, pack_kernel_fault },
	TYPE(LDB_EV_IRQ) = { 1, pack_kernel_irq, .has_begin = true },
	TYPE(LDB_EV_IRQ_NAME) = { 2, pack_kernel_irq_name },
	TYPE(LDB_EV_SYSCALL) = { 2, pack_kernel_syscall, .has_begin = true },
	TYPE(LDB_EV_SYSCALL_FD) = { 3, pack_kernel_syscall, .has_begin = true },
	TYPE(LDB_EV_DISK) = { 2, pack_kernel_disk, .has_begin = true },
	TYPE(LDB_EV_LOST) = { 1, lost_event },
};

/* Pauses */

static void cut_requests(struct pack *p, int64_t tick)
{
	struct ldb_row_req *row = pack_keep_back(p, LDB_BLK_REQ, tick);

	*row = (struct ldb_row_req){ .op = LDB_REQ_OP_CUT, .tick = tick };
	if (p->made)
		made_requests_cut(p->made, tick);
}

void pack_pause(struct pack *p, int64_t tick)
{
	pauses_begin(&p->pauses, tick);
	cut_requests(p, tick);
}

void pack_resume(struct pack *p, int64_t tick)
{
	pauses_end(&p->pauses, tick);
	cut_requests(p, tick);
}

/* Returns true if the event describes a task or a name: it is needed after a pause, too. */
static bool is_of_tasks(unsigned type)
{
	return (type >= LDB_EV_FORK && type <= LDB_EV_TASK) || type == LDB_EV_IRQ_NAME;
}

/*
 * Returns true if the event is of the kernel or of a request, and was written in a pause: the
 * program learns of a pause a moment later than the recorder.
 */
static bool is_dropped(const struct pack *p, const struct ldb_rec *r)
{
	bool is_kernels = r->type >> 8 == LDB_EV_SWITCH >> 8 && !is_of_tasks(r->type);

	if (!p->pauses.nr || !(is_kernels || r->type >> 8 == LDB_EV_REQ_START >> 8))
		return false;
	/* An interval that spans a whole pause may be two separate ones, so it is dropped, too. */
	return pauses_are_in(&p->pauses, pack_tick(p, pack_type(r->type)->has_begin ? r->arg : r->tsc), pack_tick(p, r->tsc));
}

static bool is_row_dropped(const struct pack *p, unsigned kind, const void *row)
{
	const struct kept_kind *k = &kept_kinds[kind];

	if (kind == LDB_BLK_SCHED && is_of_tasks(((const struct ldb_row_sched *)row)->op + 0x400))
		return false;
	return pauses_are_at(&p->pauses, *(const int64_t *)((const char *)row + k->time));
}

void pack_event(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct pack_type *type = pack_type(recs[0].type);

	if (!type->nr_slots || is_dropped(p, recs))
		return;
	rest_sometimes(p);
	type->take(p, ring, recs);
}

void pack_row(struct pack *p, unsigned kind, const void *row)
{
	const struct ldb_row_irq *irq = row;
	struct ldb_row_syscall call;
	struct ldb_row_disk disk;
	const struct kept_kind *k;

	if (kind == LDB_BLK_REQNAME) {
		add_class(p, row);
		return;
	}
	if (kind >= NR_KINDS || !kept_kinds[kind].row_bytes) {
		writer_add(p->w, kind, row, 1);
		return;
	}
	if (is_row_dropped(p, kind, row))
		return;
	k = &kept_kinds[kind];
	rest_sometimes(p);
	p->nr_rows++;
	if (kind == LDB_BLK_IRQ) {
		irq_names_set(&p->irqs, irq->nr, irq->name);
		p->nr_irqs++;
	} else if (kind == LDB_BLK_SYSCALL) {
		call = *(const struct ldb_row_syscall *)row;
		call.name = pack_keep_text(p, call.name);
		call.file = pack_keep_text(p, call.file);
		row = &call;
	} else if (kind == LDB_BLK_DISK) {
		disk = *(const struct ldb_row_disk *)row;
		disk.device = pack_keep_text(p, disk.device);
		row = &disk;
	}
	memcpy(pack_keep_back(p, kind, *(const int64_t *)((const char *)row + k->time)), row,
	       k->row_bytes);
}

struct func_counts *pack_func_counts(struct pack *p)
{
	return &p->func_counts;
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
