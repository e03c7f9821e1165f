// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns kernel events into rows of the trace; see pack.h. */
#include <limits.h>
#include <string.h>
#include "record/names/calls.h"
#include "record/rows/private.h"

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

/* Updates the chains of threads that stop or begin to run, are created, call exec(), or exit. */
static void follow_thread(struct pack *p, const struct ldb_rec *r, int64_t tick)
{
	bool is_hidden = r->flags & LDB_SCHED_F_HIDDEN;

	switch (r->type) {
	case LDB_EV_SWITCH:
	case LDB_EV_SWITCH_OUT:
		if (r->flags & LDB_SCHED_F_TID)
			chains_thread(p->chains, tick, r->tid,
				      r->flags & LDB_SCHED_F_CHAIN ? CHAIN_OUT : CHAIN_UNREAD);
		if (r->flags & LDB_SCHED_F_OTHER)
			chains_thread(p->chains, tick, r->arg2, is_hidden ? CHAIN_UNREAD : CHAIN_IN);
		break;
	case LDB_EV_FORK:
		if (r->flags & LDB_SCHED_F_OTHER)
			chains_thread(p->chains, tick, r->arg2, CHAIN_BORN);
		break;
	case LDB_EV_EXEC:
	case LDB_EV_EXIT:
		chains_thread(p->chains, tick, r->tid, CHAIN_GONE);
		break;
	}
}

/* The columns that get arg and arg2 depend on the event; see trace-format.h. */
void pack_kernel_sched(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	const struct ldb_rec *r = &recs[0];
	int64_t tick = pack_tick(p, r->tsc);
	struct ldb_row_sched *row = pack_keep_back(p, LDB_BLK_SCHED, tick);

	*row = (struct ldb_row_sched){
		.op = r->type - 0x400, .flags = r->flags & ~LDB_SCHED_F_CHAIN, .cpu = session_ring_cpu(p->s, ring),
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

void pack_kernel_task(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	struct ldb_row_task row;
	struct ldb_task_rec t;
	char name[17] = "";

	memcpy(&t, recs, sizeof(t));
	memcpy(name, &t.name0, 8);
	memcpy(name + 8, &t.name1, 8);
	row = (struct ldb_row_task){
		.tid = t.tid, .pid = t.tgid, .flags = t.flags, .tick = pack_tick(p, t.tsc),
		.name = name,
	};
	writer_add_task(p->w, &row);
}

void pack_kernel_fault(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	int64_t tick = pack_tick(p, recs[0].tsc);
	struct ldb_row_fault *row = pack_keep_back(p, LDB_BLK_FAULT, tick);
	struct ldb_fault_rec f;

	memcpy(&f, recs, sizeof(f));
	*row = (struct ldb_row_fault){
		.flags = f.flags, .tid = f.tid, .tick = tick, .addr = f.addr, .pc = f.pc,
	};
}

void pack_kernel_irq(struct pack *p, unsigned ring, const struct ldb_rec *r)
{
	int64_t start = pack_tick(p, r->arg), end = pack_tick(p, r->tsc);
	struct ldb_row_irq *row = pack_keep_back(p, LDB_BLK_IRQ, end);

	*row = (struct ldb_row_irq){
		.kind = LDB_IRQ_KIND(r->flags), .flags = r->flags & LDB_IRQ_F_HIDDEN,
		.cpu = session_ring_cpu(p->s, ring), .nr = r->arg2, .tid = r->tid,
		.nr_short = LDB_IRQ_NR_SHORT(r->flags),
		/* If the program wrote an invalid interval, the row has no duration. */
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

void pack_kernel_irq_name(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	struct ldb_irq_name_rec r;
	char name[IRQ_NAME_SIZE] = "";

	memcpy(&r, recs, sizeof(r));
	memcpy(name, &r.name0, 8);
	memcpy(name + 8, &r.name1, 8);
	memcpy(name + 16, &r.name2, 8);
	irq_names_set(&p->irqs, r.irq, name);
}

const char *pack_keep_text(struct pack *p, const char *text)
{
	const char *known = intern_text(&p->call_texts, text);

	return known ? known : "";
}

static const char *descriptor_name(struct pack *p, const struct ldb_syscall_rec *r)
{
	char text[64];

	calls_descriptor(r, text, sizeof(text));
	return pack_keep_text(p, text);
}

/*
 * Returns the name of the file to which the descriptor of the system call or io_uring operation, or
 * the address of the fault, refers; "" if there is none.
 */
static const char *file_of(struct pack *p, const struct ldb_syscall_rec *r)
{
	if (r->kind)
		return descriptor_name(p, r);
	if (r->nr == LDB_SYSCALL_NR_FAULT && p->on_mapping)
		return pack_keep_text(p, p->on_mapping(p->mapping_arg, r->arg0));
	if (LDB_SYSCALL_IS_RING(r->nr) && p->on_descriptor && r->arg0 <= INT_MAX)
		return pack_keep_text(p, p->on_descriptor(p->descriptor_arg, r->arg0));
	return "";
}

void pack_kernel_syscall(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	bool has_fd = recs[0].type == LDB_EV_SYSCALL_FD;
	int64_t start = pack_tick(p, recs[0].arg), end = pack_tick(p, recs[0].tsc);
	struct ldb_row_syscall *row = pack_keep_back(p, LDB_BLK_SYSCALL, end);
	struct ldb_syscall_rec r = { 0 };

	memcpy(&r, recs, (has_fd ? 3 : 2) * sizeof(*recs));
	*row = (struct ldb_row_syscall){
		.flags = r.flags, .nr = r.nr, .tid = r.tid, .nr_short = r.nr_short,
		.start = start < end ? start : end, .end = end, .result = r.result, .arg0 = r.arg0,
		.arg = (uint64_t)r.arg_hi << 32 | r.arg_lo, .name = calls_name(r.nr),
		.file = file_of(p, &r),
	};
}

void pack_kernel_disk(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	int64_t start = pack_tick(p, recs[0].arg), end = pack_tick(p, recs[0].tsc);
	struct ldb_row_disk *row = pack_keep_back(p, LDB_BLK_DISK, end);
	struct ldb_disk_rec r;
	char name[17] = "";

	memcpy(&r, recs, sizeof(r));
	memcpy(name, &r.name0, 8);
	memcpy(name + 8, &r.name1, 8);
	*row = (struct ldb_row_disk){
		.flags = r.flags, .tid = r.tid, .start = start < end ? start : end, .end = end,
		.bytes = r.bytes, .device = pack_keep_text(p, name),
	};
}
