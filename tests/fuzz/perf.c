// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the perf decoder: rings -> records -> events in order -> rows of the observed thread
 * group, as record/perf/perf.c moves them.
 *
 * The input is u8 mode, u8 PERF_*, with PERF_FORMATS offset and size of the fields of each
 * tracepoint, u8 for each ring: where it begins; then follow the steps: the enum lists them with
 * their arguments.
 */
#include "base/backlog.h"
#include "record/names/calls.h"
#include "record/perf/private.h"
#include "fuzz.h"

#define NR_RINGS	2
#define RING_BYTES	4096
#define PAGE_BYTES	4096
#define RAW_MAX		128
#define TGID		10	/* the observed thread group; its threads are 10 to 13 */

/* The functions of system calls and of page faults are behind this address. */
#define SYMBOLS_AT	0xffffffff81000000
static struct kernel_call symbols[] = {
	{ SYMBOLS_AT + 16, SYMBOLS_AT + 32, 0 }, { SYMBOLS_AT + 32, SYMBOLS_AT + 48, 75 },
	{ SYMBOLS_AT + 64, UINT64_MAX, LDB_SYSCALL_NR_FAULT },
};
static const struct kernel_calls calls = { symbols, sizeof(symbols) / sizeof(*symbols), 0 };
static uint8_t how[LDB_CALLS_MAX];

enum {
	PERF_FORMATS	= 0x01,
	/* keys differ from tids, and the program has a pid namespace of its own */
	PERF_NAMESPACE	= 0x02,
};

/* u8: bit 7: the ring; the other bits, modulo NR_DOINGS: the kind of step */
enum {
	/* u8 tracepoint, u8 common_flags; pid, tgid, tid, time, addr; the fields */
	DO_SAMPLE,
	DO_FAULT,		/* u8 misc, u8: is major; tgid, tid, time, addr */
	/* u8 type, u16 misc, u8 number of words; the words, tgid, tid, time */
	DO_RECORD,
	/* u16 type, u16 misc, u16 size in the header; u8 real size, bytes */
	DO_BYTES,
	/* time; the rings are emptied, and events older than time are delivered */
	DO_READ,
	DO_HEAD,		/* number: the new head of the ring */
	/*
	 * u8: number of entries of the chain, u8: ABI of the registers (0: there are none); tgid,
	 * tid, time; the entries, as offsets from SYMBOLS_AT; the registers
	 */
	DO_CALL,
	NR_DOINGS
};

static struct {
	struct perf_ring rings[NR_RINGS];
	struct perf_formats formats;
	struct perf_decoder decoder;
	struct perf_tids tids;
	struct backlog order;
	struct perf_watch *watch;
	unsigned ring;
	uint64_t time, nr_bad, nr_rows;
} t;

/*
 * { offset, size } of each field, as in Linux 6.1; the fields are in the order of
 * perf_tracepoints[] (record/perf/format.c).
 */
static const struct perf_field layout[PERF_TP_NR][PERF_FIELDS] = {
	[PERF_TP_SWITCH] = { { 24, 4 }, { 56, 4 }, { 32, 8 }, { 8, 16 }, { 40, 16 } },
	[PERF_TP_WAKING] = { { 24, 4 }, { 32, 4 }, { 8, 16 } },
	[PERF_TP_WAKEUP] = { { 24, 4 }, { 32, 4 }, { 8, 16 } },
	[PERF_TP_WAKEUP_NEW] = { { 24, 4 }, { 32, 4 }, { 8, 16 } },
	[PERF_TP_MIGRATE] = { { 24, 4 }, { 32, 4 }, { 36, 4 } },
	[PERF_TP_NEWTASK] = { { 8, 4 }, { 32, 8 }, { 12, 16 } },
	[PERF_TP_FORK] = { { 44, 4 } },
	[PERF_TP_EXEC] = { { 12, 4 }, { 16, 4 } },
	[PERF_TP_EXIT] = { { 24, 4 }, { 32, 1 } },
	[PERF_TP_RENAME] = { { 8, 4 }, { 28, 16 } },
	[PERF_TP_CALL_ENTER] = { { 8, 8 }, { 16, 48 } },
	[PERF_TP_CALL_LEAVE] = { { 8, 8 }, { 16, 8 } },
	[PERF_TP_IRQ_ENTRY] = { { 8, 4 }, { 12, 4 } },
	[PERF_TP_IRQ_EXIT] = { { 8, 4 } },
	[PERF_TP_SOFTIRQ_ENTRY] = { { 8, 4 } },
	[PERF_TP_SOFTIRQ_EXIT] = { { 8, 4 } },
	[PERF_TP_DISK_INSERT] = { { 8, 4 }, { 16, 8 }, { 28, 4 }, { 34, 10 } },
	[PERF_TP_DISK_ISSUE] = { { 8, 4 }, { 16, 8 }, { 28, 4 }, { 34, 10 } },
	[PERF_TP_DISK_END] = { { 8, 4 }, { 16, 8 }, { 28, 4 } },
	[PERF_TP_TIMER_ENTRY] = { { 8, 4 } },
	[PERF_TP_TIMER_EXIT] = { { 8, 4 } },
};

static void take_formats(struct input *in, bool own)
{
	memset(&t.formats, 0, sizeof(t.formats));
	for (int tp = 0; tp < PERF_TP_NR; tp++) {
		struct perf_format *f = &t.formats.tp[tp];

		f->id = 100 + tp;
		f->common_flags = (struct perf_field){ 2, 1 };
		f->common_pid = (struct perf_field){ 4, 4 };
		memcpy(f->fields, layout[tp], sizeof(f->fields));
		/*
		 * perf_format_parse() accepts no larger offset; sizes up to 23 are sufficient here.
		 */
		for (int i = 0; own && i < PERF_FIELDS; i++)
			f->fields[i] = (struct perf_field){ take_number(in) % 4097, take8(in) % 24 };
	}
	for (int i = 0; i < 16; i++)
		t.formats.state_of_bit[i] = i < 7 ? i : LDB_STATE_SLEEPING;
	t.formats.preempt_bit = 0x100;
}

/* Rows */

static void check_sched(const struct ldb_row_sched *row)
{
	if (row->cpu >= NR_RINGS)
		broken("a row of CPU %u", row->cpu);
}

static void check_task(const struct ldb_row_task *row)
{
	if (strlen(row->name) > 16)
		broken("a name of %zu bytes", strlen(row->name));
}

static void check_fault(const struct ldb_row_fault *row)
{
	if (!row->tid)
		broken("a page fault of nobody");
}

static void check_irq(const struct ldb_row_irq *row)
{
	if (!row->tid)
		broken("an interrupt of nobody");
	t.nr_rows += strlen(row->name);
}

static void check_call(const struct ldb_row_syscall *row)
{
	if (!row->tid)
		broken("a system call of nobody");
	t.nr_rows += strlen(row->name) + strlen(row->file);
}

static void check_disk(const struct ldb_row_disk *row)
{
	if (!row->tid || row->start > row->end)
		broken("a disk's work for %u, %lld ticks", row->tid, (long long)(row->end - row->start));
	t.nr_rows += strlen(row->device);
}

static void on_row(void *arg, unsigned kind, const void *row)
{
	t.nr_rows++;
	switch (kind) {
	case LDB_BLK_SCHED:
		check_sched(row);
		break;
	case LDB_BLK_TASK:
		check_task(row);
		break;
	case LDB_BLK_FAULT:
		check_fault(row);
		break;
	case LDB_BLK_IRQ:
		check_irq(row);
		break;
	case LDB_BLK_LOST:
		t.nr_rows += ((const struct ldb_row_lost *)row)->count;
		break;
	case LDB_BLK_SYSCALL:
		check_call(row);
		break;
	case LDB_BLK_DISK:
		check_disk(row);
		break;
	default:
		broken("a row of kind %u", kind);
	}
}

static const struct perf_sink sink = { .row = on_row };

/* The following functions do what record/perf/perf.c does. */

static void take_record(void *arg, unsigned cpu, const struct perf_event_header *record)
{
	struct perf_event e;

	if (!perf_decode(&t.decoder, cpu, record, &e))
		return;
	perf_watch_learn(t.watch, &e);
	*(struct perf_event *)backlog_add(&t.order, e.time) = e;
}

static void watch_events(void *last, void *events, size_t nr)
{
	const struct perf_event *e = events;

	for (size_t i = 0; i < nr; i++) {
		if ((int64_t)e[i].time < *(int64_t *)last)
			broken("events that are not in order of time");
		*(int64_t *)last = e[i].time;
		perf_rows_event(t.watch, &e[i], e[i].time);
	}
}

static void read_rings(int64_t limit)
{
	int64_t last = INT64_MIN;

	t.order.arg = &last;
	for (t.ring = 0; t.ring < NR_RINGS; t.ring++)
		perf_ring_read(&t.rings[t.ring], take_record, NULL, &t.nr_bad);
	backlog_release(&t.order, limit);
	for (unsigned cpu = 0; cpu < NR_RINGS; cpu++) {
		perf_watch_is_deaf(t.watch, cpu);
		perf_watch_heard_idle(t.watch, cpu);
	}
}

/* Records */

static void put(unsigned ring, const void *record, size_t size)
{
	struct perf_ring *r = &t.rings[ring % NR_RINGS];
	char *data = (char *)r->page + PAGE_BYTES;

	for (size_t i = 0; i < size; i++)
		data[(r->page->data_head + i) & (RING_BYTES - 1)] = ((const char *)record)[i];
	r->page->data_head += size;
}

struct record {
	struct perf_event_header header;
	uint8_t bytes[512];
	size_t size;		/* number of bytes that are in use */
};

static void add(struct record *r, uint64_t v, unsigned bytes)
{
	if (r->size + bytes <= sizeof(r->bytes))
		memcpy(r->bytes + r->size, &v, bytes);
	r->size += bytes;
}

static void finish(struct record *r, unsigned ring)
{
	r->size = (r->size + 7) & ~7UL;
	r->header.size = sizeof(r->header) + r->size;
	put(ring, &r->header, r->header.size);
}

/* Takes the next time: mostly later than the last one, but a large number makes it go back. */
static uint64_t take_time(struct input *in)
{
	return t.time += take_number(in);
}

static void add_who(struct record *r, struct input *in)
{
	add(r, take_number(in), 4);
	add(r, take_number(in), 4);
	add(r, take_time(in), 8);
}

static void do_sample(struct input *in, unsigned ring)
{
	struct record r = { .header = { .type = PERF_RECORD_SAMPLE } };
	unsigned tp = take8(in) % PERF_TP_NR, flags = take8(in);
	const struct perf_format *f = &t.formats.tp[tp];
	uint8_t raw[RAW_MAX] = { 0 };
	uint32_t pid = take_number(in);
	size_t size = 8;

	memcpy(raw, &(uint16_t){ f->id }, 2);
	raw[2] = flags;
	memcpy(raw + 4, &pid, 4);
	add(&r, 0, 8);
	add_who(&r, in);
	add(&r, take_number(in), 8);
	for (int i = 0; i < PERF_FIELDS; i++) {
		const struct perf_field *field = &f->fields[i];
		uint64_t v = take_number(in);

		if (!field->size || field->offset + 8 > RAW_MAX)
			continue;
		memcpy(raw + field->offset, &v, field->size < 8 ? field->size : 8);
		if (field->offset + field->size > size)
			size = field->offset + field->size;
	}
	size = size < RAW_MAX ? size : RAW_MAX;
	/* the name to which a field of this tracepoint points */
	if (tp == PERF_TP_IRQ_ENTRY && size + 8 <= RAW_MAX) {
		memcpy(raw + 12, &(uint32_t){ size | 8 << 16 }, 4);
		memcpy(raw + size, "virtio0", 8);
		size += 8;
	}
	add(&r, size, 4);
	for (size_t i = 0; i < size; i++)
		add(&r, raw[i], 1);
	finish(&r, ring);
}

static void do_fault(struct input *in, unsigned ring)
{
	struct record r = { .header = { .type = PERF_RECORD_SAMPLE, .misc = take8(in) } };
	bool is_major = take8(in) & 1;

	add(&r, 0x1000, 8);
	add_who(&r, in);
	add(&r, take_number(in), 8);
	if (is_major)
		add(&r, 1, 8);
	add(&r, 4, 4);
	add(&r, 0, 4);
	finish(&r, ring);
}

static void do_record(struct input *in, unsigned ring)
{
	struct record r = { .header = { .type = take8(in), .misc = take(in, 2) } };
	unsigned nr = take8(in) % 16;

	for (unsigned i = 0; i < nr; i++)
		add(&r, take_number(in), 4);
	if (nr % 2)
		add(&r, 0, 4);
	add_who(&r, in);
	finish(&r, ring);
}

static void do_bytes(struct input *in, unsigned ring)
{
	struct perf_event_header h = { .type = take(in, 2), .misc = take(in, 2), .size = take(in, 2) };
	const uint8_t *bytes;
	size_t size;

	bytes = take_bytes(in, take8(in), &size);
	put(ring, &h, sizeof(h));
	put(ring, bytes, size & ~7UL);
}

/* Writes the sample of a thread that leaves its CPU in a function of the kernel. */
static void do_call(struct input *in, unsigned ring)
{
	struct record r = { .header = { .type = PERF_RECORD_SAMPLE } };
	unsigned nr = take8(in) % 16, abi = take8(in) % 3;

	add(&r, 0, 8);
	add_who(&r, in);
	add(&r, 0, 8);
	add(&r, nr, 8);
	for (unsigned i = 0; i < nr; i++)
		add(&r, SYMBOLS_AT + take_number(in), 8);
	add(&r, abi, 8);
	for (unsigned i = 0; abi && i < 5; i++)
		add(&r, take_number(in), 8);
	finish(&r, ring);
}

static void act(struct input *in)
{
	unsigned what = take8(in), ring = what >> 7;

	switch ((what & 0x7f) % NR_DOINGS) {
	case DO_SAMPLE:
		do_sample(in, ring);
		break;
	case DO_FAULT:
		do_fault(in, ring);
		break;
	case DO_RECORD:
		do_record(in, ring);
		break;
	case DO_BYTES:
		do_bytes(in, ring);
		break;
	case DO_READ:
		read_rings(take_time(in));
		break;
	case DO_CALL:
		do_call(in, ring);
		break;
	case DO_HEAD:
		t.rings[ring].page->data_head = take_number(in);
		break;
	}
}

/* Begins a run: takes the mode, the formats, and where the rings begin. */
static void begin(struct input *in)
{
	unsigned mode = take8(in) % 3 + 1, flags = take8(in);
	static struct {
		struct perf_event_mmap_page page;
		char rest[PAGE_BYTES - sizeof(struct perf_event_mmap_page)];
		char data[RING_BYTES];
	} memory[NR_RINGS];

	take_formats(in, flags & PERF_FORMATS);
	memset(memory, 0, sizeof(memory));
	for (unsigned i = 0; i < NR_RINGS; i++) {
		uint64_t at = take8(in) * 8ULL;

		t.rings[i] = (struct perf_ring){ &memory[i].page, RING_BYTES, i };
		/*
		 * The position of ring 0 is near the end of the ring, that of ring 1 near the
		 * greatest number of the counter.
		 */
		memory[i].page.data_head = memory[i].page.data_tail = i ? -at : RING_BYTES - at;
	}
	if (!how[1])	/* write(): how[] is still empty */
		calls_describe(how);
	t.decoder = (struct perf_decoder){
		.formats = &t.formats, .mode = mode, .calls = &calls, .how = how };
	t.tids = (struct perf_tids){
		.tgid = TGID, .keys_are_tids = !(flags & PERF_NAMESPACE),
		.same_namespace = !(flags & PERF_NAMESPACE), .shown_tgid = TGID,
	};
	t.time = t.nr_bad = t.nr_rows = 0;
	t.watch = perf_watch_alloc(&t.tids, mode, NR_RINGS, &sink);
	if (backlog_init(&t.order, sizeof(struct perf_event), SIZE_MAX, watch_events, NULL) || !t.watch)
		broken("out of memory");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	sandbox_enter();
	begin(&in);
	perf_watch_member(t.watch, TGID, "main");
	perf_watch_member(t.watch, TGID + 1, "worker");
	while (in.left)
		act(&in);
	read_rings(INT64_MAX);
	perf_rows_finish(t.watch);
	perf_watch_free(t.watch);
	backlog_exit(&t.order);
	sandbox_leave();
	return 0;
}
