// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes one record of the ring into one event.  The layouts are those of the events that
 * open.c opens:
 *
 *	sample	header, u64 ip; u32 tgid, tid; u64 time, addr; u32 size, raw data
 *	major	header, u64 ip; u32 tgid, tid; u64 time, addr, period; u32 size, raw data
 *	calls	header, u64 ip; u32 tgid, tid; u64 time, addr, nr, chain[nr], abi, registers
 *	others	header, what belongs to the kind, u32 tgid, tid; u64 time
 *
 * Page faults have raw data of four bytes, unlike any tracepoint.  Major page faults also have
 * a period, which is 1.
 *
 * Nothing outside of the record is read, whatever its bytes.
 */
#include <stddef.h>
#include <string.h>
#include "arch/cpu.h"
#include "record/names/calls.h"
#include "record/perf/private.h"

#define CLONE_THREAD_BIT	0x00010000

/* Bits of common_flags in a tracepoint; the kernel's enum trace_flag_type. */
#define TRACE_F_HARDIRQ		0x08
#define TRACE_F_SOFTIRQ		0x10

#define CALL_ARGS	5	/* the last one of six is never recorded */
/* size of the raw data of an event without raw data: perf_output_sample() */
#define RAW_OF_FAULT		4

struct sample {
	uint64_t ip;
	uint32_t tgid, tid;
	uint64_t time, addr;
	uint32_t raw_size;
	char raw[];
};

struct major_fault {
	uint64_t ip;
	uint32_t tgid, tid;
	uint64_t time, addr, period;
	uint32_t raw_size, raw;
};

struct in_call {
	uint64_t ip;
	uint32_t tgid, tid;
	uint64_t time, addr, nr, chain[];
};

struct trailer {		/* sample_id_all */
	uint32_t tgid, tid;
	uint64_t time;
};

struct task_body {		/* FORK, EXIT */
	uint32_t tgid, parent_tgid, tid, parent_tid;
	uint64_t time;
};

static uint32_t state_of(const struct perf_formats *f, uint64_t prev_state)
{
	/* A preempted thread is RUNNING; otherwise the lowest bit that is set is the state. */
	if (prev_state & f->preempt_bit)
		return LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT;
	for (int bit = 0; bit < 16; bit++)
		if (prev_state & 1ULL << bit && 1U << bit != f->preempt_bit)
			return f->state_of_bit[bit];
	return LDB_STATE_RUNNING;
}

static void decode_name(struct perf_event *e, int which, const struct perf_field *field,
		      const char *raw, size_t size)
{
	char *name = which ? e->name_b : e->name_a;

	if (field->size != sizeof(e->name_a) || field->offset > size ||
	    size - field->offset < sizeof(e->name_a))
		return;
	memcpy(name, raw + field->offset, sizeof(e->name_a));
	e->names |= 1 << which;
}

/* A __data_loc field contains offset and length in one number. */
static void decode_irq_name(struct perf_event *e, const struct perf_field *field, const char *raw,
			  size_t size)
{
	uint32_t loc = perf_field_read(field, raw, size), offset = loc & 0xffff, n = loc >> 16;
	char name[sizeof(e->name_a) + sizeof(e->name_b)] = "";

	if (offset > size || n > size - offset)
		return;
	memcpy(name, raw + offset, n < sizeof(name) ? n : sizeof(name) - 1);
	memcpy(e->name_a, name, sizeof(e->name_a));
	memcpy(e->name_b, name + sizeof(e->name_a), sizeof(e->name_b));
	e->names = 3;
}

/* The field contains letters for the operation: "R", "WS", "FWFS", "FF". */
static void decode_disk_op(struct perf_event *e, const struct perf_field *field, const char *raw, size_t size)
{
	const char *text = raw + field->offset;
	bool flush = false;

	e->flags = LDB_DISK_OTHER;
	if (field->offset > size || field->size > size - field->offset)
		return;
	for (unsigned i = 0; i < field->size && text[i]; i++) {
		if (text[i] == 'R' || text[i] == 'W') {
			e->flags = text[i] == 'R' ? LDB_DISK_READ : LDB_DISK_WRITE;
			return;
		}
		flush |= text[i] == 'F';
	}
	if (flush)
		e->flags = LDB_DISK_FLUSH;
}

static void set_call(const struct perf_decoder *d, struct perf_event *e, int64_t nr)
{
	e->value = nr;
	e->flags = d->how && nr >= 0 && nr < LDB_CALLS_MAX ? d->how[nr] : 0;
}

/* INTO_CALL, the field before this one, has set e->flags by the number of the system call. */
static void decode_args(struct perf_event *e, const struct perf_field *field, const char *raw,
			size_t size)
{
	struct perf_field arg = { field->offset, sizeof(uint64_t) };
	unsigned which = LDB_SYSCALL_ARG(e->flags);

	if (field->size < CALL_ARGS * sizeof(uint64_t))
		return;
	e->addr = perf_field_read(&arg, raw, size);
	arg.offset += which * sizeof(uint64_t);
	e->pc = which ? perf_field_read(&arg, raw, size) : 0;
}

static void decode_field(const struct perf_decoder *d, enum perf_into into,
		       const struct perf_field *field, const char *raw, size_t size,
		       struct perf_event *e)
{
	int64_t v = perf_field_read(field, raw, size);

	switch (into) {
	case INTO_A:
		e->a = v;
		break;
	case INTO_B:
		e->b = v;
		break;
	case INTO_VALUE:
		e->value = v;
		break;
	case INTO_ADDR:
		e->addr = field->size < 8 ? (uint32_t)v : (uint64_t)v;
		break;
	case INTO_STATE:
		e->flags = state_of(d->formats, v);
		break;
	case INTO_CLONE:
		e->value = v & CLONE_THREAD_BIT ? 1 : 0;
		break;
	case INTO_CALL:
		set_call(d, e, v);
		break;
	case INTO_ARGS:
		decode_args(e, field, raw, size);
		break;
	case INTO_NAME_A:
	case INTO_NAME_B:
		decode_name(e, into == INTO_NAME_B, field, raw, size);
		break;
	case INTO_IRQ_NAME:
		decode_irq_name(e, field, raw, size);
		break;
	case INTO_DISK_OP:
		decode_disk_op(e, field, raw, size);
		break;
	}
}

static bool decode_fields(const struct perf_decoder *d, enum perf_tp tp, const char *raw,
			  size_t size, struct perf_event *e)
{
	const struct perf_tracepoint *t = &perf_tracepoints[tp];
	const struct perf_format *f = &d->formats->tp[tp];
	int64_t flags = perf_field_read(&f->common_flags, raw, size);

	e->kind = t->kind;
	e->flags = t->flags;
	e->value = t->value;
	if (tp == PERF_TP_RENAME)
		/* kernels that do not report the renamed thread: it is the running one */
		e->a = e->by;
	if (tp == PERF_TP_WAKING)
		e->flags = flags & TRACE_F_HARDIRQ ? LDB_SCHED_F_HARDIRQ :
			   flags & TRACE_F_SOFTIRQ ? LDB_SCHED_F_SOFTIRQ : 0;
	for (int i = 0; i < PERF_FIELDS && t->fields[i].name; i++)
		if (f->fields[i].size)
			decode_field(d, t->fields[i].into, &f->fields[i], raw, size, e);
	/* Requests without a sector have this number at their end, and 0 at their start. */
	if (e->kind == PERF_EVENT_DISK_END && e->addr == UINT64_MAX)
		e->addr = 0;
	return true;
}

/*
 * The data after the chain in the sample of a thread that leaves its CPU.  They contain registers
 * if abi is not 0.
 */
struct call_regs {
	uint64_t abi, regs[CALL_ARGS];
};

static const struct call_regs *regs_of_call(const struct perf_event_header *record)
{
	const struct in_call *c = (const void *)(record + 1);
	size_t before = sizeof(*record) + sizeof(*c), min = before + sizeof(uint64_t), end;
	const struct call_regs *regs;

	if (record->size < min || c->nr > (record->size - min) / sizeof(uint64_t))
		return NULL;
	regs = (const void *)&c->chain[c->nr];
	end = before + c->nr * sizeof(uint64_t);
	if (record->size == end + sizeof(regs->abi) && !regs->abi)
		return regs;
	return record->size == end + sizeof(*regs) && regs->abi ? regs : NULL;
}

/*
 * Returns true for a sample of a thread that leaves its CPU.  Other samples are too short for the
 * number of entries that they seem to have: in its place a major page fault has the period, 1, and
 * a tracepoint has the size of its raw data and, in the upper half, its id.
 */
static bool is_in_call(const struct perf_event_header *record)
{
	return regs_of_call(record);
}

static bool decode_in_call(const struct perf_decoder *d, const struct perf_event_header *record,
			   struct perf_event *e)
{
	static const uint8_t order[] = CPU_CALL_ORDER;
	const struct in_call *c = (const void *)(record + 1);
	const struct call_regs *regs = regs_of_call(record);
	int64_t nr = d->calls ? kernel_calls_find(d->calls, c->chain, c->nr) : KERNEL_CALL_NONE;

	if (nr == KERNEL_CALL_NONE)
		return false;
	e->time = c->time;
	e->by_tgid = c->tgid;
	e->by = e->by_tid = c->tid;
	e->kind = PERF_EVENT_IN_CALL;
	set_call(d, e, nr);
	if (regs->abi == PERF_SAMPLE_REGS_ABI_64 && nr != LDB_SYSCALL_NR_FAULT) {
		e->addr = regs->regs[order[0]];
		e->pc = LDB_SYSCALL_ARG(e->flags) ? regs->regs[order[LDB_SYSCALL_ARG(e->flags)]] : 0;
	} else {
		e->flags = 0;
	}
	return true;
}

static bool is_major_fault(const struct perf_event_header *record)
{
	const struct major_fault *f = (const void *)(record + 1);

	return record->size == sizeof(*record) + sizeof(*f) && f->period == 1 &&
	       f->raw_size == RAW_OF_FAULT;
}

static bool is_fault(const struct perf_event_header *record)
{
	const struct sample *s = (const void *)(record + 1);

	return record->size == sizeof(*record) + offsetof(struct sample, raw) + RAW_OF_FAULT &&
	       s->raw_size == RAW_OF_FAULT;
}

/* Decodes a page fault: both layouts have these fields at the same position. */
static bool decode_fault(const struct perf_event_header *record, uint32_t flags, struct perf_event *e)
{
	const struct sample *s = (const void *)(record + 1);
	unsigned mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	e->kind = PERF_EVENT_FAULT;
	e->time = s->time;
	e->by_tgid = s->tgid;
	e->by = e->by_tid = s->tid;
	e->addr = s->addr;
	e->flags = flags;
	if (mode == PERF_RECORD_MISC_KERNEL)
		e->flags |= LDB_FAULT_F_KERNEL;	/* the instruction is not the program's */
	else
		e->pc = s->ip;
	return true;
}

static bool decode_sample(struct perf_decoder *d, const struct perf_event_header *record,
			  struct perf_event *e)
{
	const struct sample *s = (const void *)(record + 1);
	size_t room = record->size - sizeof(*record);
	unsigned short id;

	if (is_in_call(record))
		return decode_in_call(d, record, e);
	if (is_major_fault(record))
		return decode_fault(record, LDB_FAULT_ROW_MAJOR, e);
	if (is_fault(record))
		return decode_fault(record, LDB_FAULT_ROW_MINOR, e);
	if (d->mode != PERF_TRACEPOINTS || room < offsetof(struct sample, raw) || s->raw_size < sizeof(id) ||
	    s->raw_size > room - offsetof(struct sample, raw)) {
		d->nr_bad++;
		return false;
	}
	e->time = s->time;
	e->by_tgid = s->tgid;
	e->by_tid = s->tid;
	memcpy(&id, s->raw, sizeof(id));
	for (int tp = 0; tp < PERF_TP_NR; tp++) {
		const struct perf_format *f = &d->formats->tp[tp];

		if (!f->id || f->id != id)
			continue;
		e->by = perf_field_read(&f->common_pid, s->raw, s->raw_size);
		return decode_fields(d, tp, s->raw, s->raw_size, e);
	}
	d->nr_bad++;
	return false;
}

/* Each record that is not a sample ends with the running thread and the time. */
static bool decode_trailer(const struct perf_event_header *record, size_t body,
			   struct perf_event *e)
{
	const struct trailer *t;

	if (record->size < sizeof(*record) + body + sizeof(*t))
		return false;
	t = (const void *)((const char *)record + record->size - sizeof(*t));
	e->time = t->time;
	e->by_tgid = t->tgid;
	e->by = e->by_tid = t->tid;
	return true;
}

static bool decode_lost(const struct perf_event_header *record, struct perf_event *e)
{
	const uint64_t *body = (const void *)(record + 1);	/* id, count */

	if (!decode_trailer(record, 2 * sizeof(*body), e))
		return false;
	e->kind = PERF_EVENT_LOST;
	e->value = body[1] > UINT32_MAX ? UINT32_MAX : body[1];
	return true;
}

static bool decode_task(const struct perf_event_header *record, struct perf_event *e)
{
	const struct task_body *body = (const void *)(record + 1);

	if (!decode_trailer(record, sizeof(*body), e))
		return false;
	e->a = body->tid;
	if (record->type == PERF_RECORD_EXIT) {
		e->kind = PERF_EVENT_EXIT;
		e->value = 2;
		return true;
	}
	e->kind = PERF_EVENT_FORK;
	e->by = body->parent_tid;
	e->by_tid = body->parent_tid;
	e->by_tgid = body->parent_tgid;
	e->value = body->tgid == body->parent_tgid;
	return true;
}

static bool decode_comm(const struct perf_event_header *record, struct perf_event *e)
{
	const uint32_t *body = (const void *)(record + 1);	/* tgid, tid, then the name */
	size_t room;

	if (!decode_trailer(record, 2 * sizeof(*body), e))
		return false;
	room = record->size - sizeof(*record) - 2 * sizeof(*body) - sizeof(struct trailer);
	e->kind = record->misc & PERF_RECORD_MISC_COMM_EXEC ? PERF_EVENT_EXEC : PERF_EVENT_NAME;
	e->a = body[1];
	e->b = 0;
	room = room < sizeof(e->name_a) ? room : sizeof(e->name_a);
	memset(e->name_a, 0, sizeof(e->name_a));
	memcpy(e->name_a, body + 2, strnlen((const char *)(body + 2), room));
	e->names = 1;
	return true;
}

/* `samples`: tracepoints report switches, too; see perf.c. */
static bool decode_switch(const struct perf_event_header *record, bool samples,
			  struct perf_event *e)
{
	bool wide = record->type == PERF_RECORD_SWITCH_CPU_WIDE;
	/* wide: tgid and tid of the other thread */
	const uint32_t *body = (const void *)(record + 1);

	if (!decode_trailer(record, wide ? 2 * sizeof(*body) : 0, e))
		return false;
	if (!(record->misc & PERF_RECORD_MISC_SWITCH_OUT)) {
		e->kind = PERF_EVENT_IN;
		e->b = e->by;
		return !wide;	/* the OUT record names both threads, so the IN record is dropped */
	}
	e->kind = !wide ? PERF_EVENT_OUT : samples ? PERF_EVENT_SWITCH_TOO : PERF_EVENT_SWITCH;
	e->a = e->by;
	e->b = wide ? (int32_t)body[1] : 0;
	e->flags = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? LDB_STATE_RUNNING :
									LDB_STATE_SLEEPING;
	return true;
}

bool perf_decode(struct perf_decoder *d, unsigned cpu, const struct perf_event_header *record,
		 struct perf_event *e)
{
	bool samples = d->mode == PERF_TRACEPOINTS, good;

	memset(e, 0, sizeof(*e));
	e->cpu = cpu;
	e->by = e->by_tgid = e->by_tid = -1;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return decode_sample(d, record, e);
	case PERF_RECORD_LOST:
		good = decode_lost(record, e);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		good = !samples && decode_task(record, e);
		break;
	case PERF_RECORD_COMM:
		good = !samples && decode_comm(record, e);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return decode_switch(record, samples, e);
	default:
		return false;
	}
	d->nr_bad += !good;
	return good;
}
