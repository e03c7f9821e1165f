// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the recorder with a hostile program: messages of the runtime, rings, thread pages, stacks
 * and the info page, in any order, and the trace that is written.  phase.c, messages.c and record.c
 * are included in this file, so that their static functions can be called; kernel events come from
 * the rings alone.
 *
 * The input is a byte of CONTROL_* bits, then the steps: the enum lists them with their arguments.
 */
#include "../../tools/record/run/phase.c"
#include "../../tools/record/run/messages.c"
#include "../../tools/record/run/record.c"
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "trace/reader.h"
#include "fuzz.h"

#define NR_CPUS		2
#define NR_SCANNERS	1
#define RING_ORDER	4
#define OUT_MAX		(1U << 20)
#define T0		1000000000
#define NO_SOCKET	1000000

enum {
	CONTROL_KERNEL	= 0x01,	/* kernel events have rings of their own */
	CONTROL_READ	= 0x02,	/* the trace is read again, and must not be damaged */
	CONTROL_FULL	= 0x04,	/* the disk is nearly full */
	CONTROL_RUNNING	= 0x08,	/* the recording has begun */
};

enum {				/* u8: the kind of step, modulo NR_DOINGS */
	DO_MESSAGE,		/* u8 type, u8 what is wrong with it: see do_message(); fields */
	/* u8 ring, u8 type, u8 what is wrong with it: see do_event(); fields of the slots */
	DO_EVENT,
	DO_HEAD,		/* u8 ring, number: the new head of the ring */
	DO_PAGE,		/* u8 slot, u8: which word, number */
	DO_FRAME,		/* u8 slot, u8 frame, fields of the frame */
	DO_DEPTH,		/* u8 slot, number: its depth */
	DO_INFO,		/* u8: which word, number */
	DO_TIME,		/* u16: milliseconds, after which the recorder runs */
	DO_SIGNAL,		/* u8 */
	DO_SECOND,
	DO_LIVE,
	NR_DOINGS
};

static struct recording r;
static struct {
	uint8_t message[sizeof(union control_message) + 64];
	/* length of the pending message; 0: there is none; SIZE_MAX: the connection was closed */
	size_t message_size;
	uint8_t *out;
	size_t nr_out, room_out;
	uint64_t heads[2 * NR_CPUS + NR_SCANNERS];
	uint64_t nr_periods;
	bool is_kernel;
} t;

/* This is the runtime's end of the socket. */

static ssize_t receive_one(void *buf, size_t size)
{
	size_t n = t.message_size;

	t.message_size = 0;
	if (n == SIZE_MAX)
		return 0;
	if (!n) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(buf, t.message, n < size ? n : size);
	return n;
}

/* The following functions store the trace that the recorder writes. */

static int take_block(void *arg, const void *data, size_t size)
{
	if (size > t.room_out - t.nr_out)
		return -ENOSPC;
	memcpy(t.out + t.nr_out, data, size);
	t.nr_out += size;
	return 0;
}

static void begin_anew(void *arg)
{
}

static void take_period(void *arg, const struct record_status *status)
{
	t.nr_periods++;
}

static const struct record_live live = {
	.block = take_block, .anew = begin_anew, .period = take_period, .period_ns = 1000000000,
	.stop_fd = -1,
};

/*
 * The following functions replace those of kernel.c: the session's memory is anonymous, and no
 * kernel events are recorded.
 */

static void lay_out(struct ldb_info *i)
{
	uint64_t at = LDB_PAGE_SIZE, stride = LDB_RING_HDR_SIZE + (sizeof(struct ldb_rec) << RING_ORDER);

	*i = (struct ldb_info){
		.magic = LDB_INFO_MAGIC, .abi = LDB_SESSION_ABI, .nr_cpus = NR_CPUS,
		.nr_scanners = NR_SCANNERS, .nr_rings = NR_CPUS + NR_SCANNERS,
		.ring_order = RING_ORDER, .scan_ring_order = RING_ORDER,
		.max_threads = SESSION_THREADS, .clock_id = LDB_CLOCK_MONO, .tsc_hz = 1000000000,
		.pages_off = at, .page_stride = LDB_PAGE_SIZE,
	};
	i->stacks_off = at + SESSION_THREADS * LDB_PAGE_SIZE;
	i->stack_stride = sizeof(struct ldb_stack);
	i->rings_off = i->stacks_off + SESSION_THREADS * i->stack_stride;
	i->ring_stride = i->scan_ring_stride = i->kernel_ring_stride = stride;
	i->scan_rings_off = i->rings_off + NR_CPUS * stride;
	i->total_size = i->scan_rings_off + NR_SCANNERS * stride;
}

static char *map(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);

	if (p == MAP_FAILED)
		broken("no memory for a session");
	return p;
}

bool kernel_open(struct output *out, uint64_t *hz)
{
	struct session *s = &out->session;

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	lay_out(&s->info);
	s->size = s->info.total_size;
	s->base = map(s->size);
	memcpy(s->base, &s->info, sizeof(s->info));
	if (t.is_kernel) {
		s->events = LDB_GROUP_ALL;
		s->kernel_size = NR_CPUS * s->info.kernel_ring_stride;
		s->kernel_order = s->info.ring_order;
		s->kernel_rings = map(s->kernel_size);
	}
	memset(t.heads, 0, sizeof(t.heads));
	out->kernel.choice = t.is_kernel ? KERNEL_MODULE : KERNEL_NONE;
	out->t0 = T0;
	*hz = 1000000000;
	return true;
}

void kernel_close(struct output *out)
{
}

void kernel_hold_budget(struct output *out, int64_t now_ns)
{
}

void kernel_metas(struct output *out)
{
	writer_add_meta(out->writer, "kernel_events", kernel_name(out));
}

unsigned kernel_poll(struct output *out)
{
	return 0;
}

void kernel_pause(struct output *out, bool pause)
{
}

void kernel_finish(struct output *out)
{
}

const char *kernel_name(const struct output *out)
{
	return out->kernel.choice == KERNEL_MODULE ? "module" : "none";
}

/* The following functions replace those of cli/error.c: messages are formatted, and not shown. */

static char said[4096];

void cli_set_tool(const char *name)
{
}

const char *cli_tool_name(void)
{
	return "fuzz";
}

#define SAY(name)					\
	void name(const char *format, ...)		\
	{						\
		va_list ap;				\
							\
		va_start(ap, format);			\
		vsnprintf(said, sizeof(said), format, ap); \
		va_end(ap);				\
	}
SAY(cli_error)
SAY(cli_warn)
SAY(cli_note)

bool cli_flush(void)
{
	return true;
}

/* What the program does */

static void put(size_t *n, const void *data, size_t size)
{
	if (*n + size <= sizeof(t.message))
		memcpy(t.message + *n, data, size);
	*n += size;
}

static void fill_module(struct input *in, struct ldb_msg_module *m)
{
	const uint8_t *path;
	size_t size;

	m->flags = take8(in);
	m->build_id_size = take_number(in);
	m->tsc = take_number(in) ? T0 + take_number(in) : 0;
	m->start = take_number(in);
	m->end = m->start + take_number(in);
	m->bias = take_number(in);
	memset(m->build_id, take8(in), sizeof(m->build_id));
	path = take_bytes(in, take8(in), &size);
	memcpy(m->path, path, size);
	/* If its last byte is 0xff, the path has the greatest length, and no terminating zero. */
	if (size && path[size - 1] == 0xff)
		memset(m->path + size, 'x', sizeof(m->path) - size);
}

static void do_message(struct input *in)
{
	static const size_t sizes[] = {
		[LDB_MSG_HELLO] = sizeof(struct ldb_msg_hello),
		[LDB_MSG_ATTACH] = sizeof(struct ldb_msg_attach),
		[LDB_MSG_ATTACHED] = sizeof(struct ldb_msg_attached),
		[LDB_MSG_ERROR] = sizeof(struct ldb_msg_text),
		[LDB_MSG_TEXT] = sizeof(struct ldb_msg_text),
		[LDB_MSG_COMMAND] = sizeof(struct ldb_msg_command),
		[LDB_MSG_MODULE] = sizeof(struct ldb_msg_module),
		[LDB_MSG_UNLOADED] = sizeof(struct ldb_msg_unloaded),
		[LDB_MSG_LEAVING] = sizeof(struct ldb_msg_leaving),
		[LDB_MSG_BLOCKS] = sizeof(struct ldb_msg_blocks),
	};
	unsigned type = take8(in) % (LDB_MSG_RESUME + 4), wrong = take8(in);
	union control_message m;
	const uint8_t *bytes;
	size_t size, n = 0, nr_bytes;

	if (type == LDB_MSG_RESUME + 2) {	/* the runtime connects again */
		if (r.phase == PHASE_AWAY && r.sock < 0)
			r.sock = NO_SOCKET;
		return;
	}
	if (type > LDB_MSG_RESUME + 2) {
		t.message_size = SIZE_MAX;
		messages_receive(&r);
		return;
	}
	/* The number of COMMAND closes the connection: see above. */
	if (type == LDB_MSG_TEXT && wrong & 0x80)
		type = LDB_MSG_COMMAND;
	size = type < sizeof(sizes) / sizeof(sizes[0]) && sizes[type] ? sizes[type] : sizeof(struct ldb_msg);
	m = (union control_message){ .m = { .type = type } };
	if (type == LDB_MSG_MODULE) {
		fill_module(in, &m.module);
	} else if (type == LDB_MSG_HELLO) {
		m.hello.version = LDB_CONTROL_VERSION + (wrong == 0xfe);
		m.hello.abi = LDB_SESSION_ABI + (wrong == 0xfd);
		m.hello.nr_instrumented = take8(in);
		memset(m.hello.release, take8(in), sizeof(m.hello.release));
	} else if (type == LDB_MSG_LEAVING) {
		m.leaving.returns = take8(in) & 1;
		memset(m.leaving.text, take8(in), sizeof(m.leaving.text));
	} else if (type == LDB_MSG_UNLOADED) {
		m.unloaded.tsc = T0 + take_number(in);
		m.unloaded.start = take_number(in);
	} else if (size > sizeof(m.m)) {
		bytes = take_bytes(in, take8(in), &nr_bytes);
		nr_bytes = nr_bytes < size - sizeof(m.m) ? nr_bytes : size - sizeof(m.m);
		memcpy((char *)&m + sizeof(m.m), bytes, nr_bytes);
		if (wrong & 0x40)	/* the text has no terminating zero */
			memset((char *)&m + sizeof(m.m) + nr_bytes, '%', size - sizeof(m.m) - nr_bytes);
	}
	m.m.size = size + (wrong & 3);
	put(&n, &m, size);
	t.message_size = size + (wrong >> 2 & 3) * 9;
	messages_receive(&r);
}

static struct ldb_ring_hdr *ring_of(unsigned ring)
{
	return (struct ldb_ring_hdr *)session_ring(&r.out.session, ring % session_nr_rings(&r.out.session));
}

/* The types of events, and some numbers that are none, and how many slots each has. */
static const struct {
	uint16_t type;
	uint8_t slots;
} events[] = {
	{ LDB_EV_THREAD_START, 1 }, { LDB_EV_THREAD_EXIT, 1 }, { LDB_EV_FUNC, 3 }, { LDB_EV_GAP, 1 },
	{ LDB_EV_SCHEDSTAT, 2 },
	{ LDB_EV_LOCK_WAIT, 2 }, { LDB_EV_LOCK_HOLD, 2 }, { LDB_EV_REQ_START, 2 },
	{ LDB_EV_REQ_BLOCK, 2 }, { LDB_EV_REQ_END, 2 }, { LDB_EV_REQ_END_ALL, 2 },
	{ LDB_EV_REQ_CLASS, 2 }, { LDB_EV_REQ_LINK, 2 }, { LDB_EV_REQ_ARRIVED, 2 },
	{ LDB_EV_REQ_NOTE, 3 }, { LDB_EV_REQ_NUMBER, 2 }, { LDB_EV_MARK, 2 }, { LDB_EV_REQ_MESSAGE, 3 },
	{ LDB_EV_SWITCH, 1 }, { LDB_EV_SWITCH_OUT, 2 }, { LDB_EV_RUNNING, 1 }, { LDB_EV_WAKING, 1 },
	{ LDB_EV_WAKEUP, 1 }, { LDB_EV_MIGRATE, 1 }, { LDB_EV_FUTEX_WAIT, 2 }, { LDB_EV_FUTEX_WAKE, 1 },
	{ LDB_EV_FORK, 1 }, { LDB_EV_EXEC, 1 }, { LDB_EV_EXIT, 1 }, { LDB_EV_TASK, 2 },
	{ LDB_EV_FAULT, 2 }, { LDB_EV_IRQ, 1 }, { LDB_EV_IRQ_NAME, 2 }, { LDB_EV_LOST, 1 },
	{ LDB_EV_CONT + 1, 1 }, { LDB_EV_CONT + 2, 1 }, { 0, 1 }, { LDB_EV_SYSCALL, 2 },
	{ LDB_EV_SYSCALL_FD, 3 }, { LDB_EV_DISK, 2 }, { 0x436, 2 }, { 0xffff, 3 },
};

static void do_event(struct input *in)
{
	unsigned ring = take8(in) % session_nr_rings(&r.out.session), which = take8(in), how = take8(in);
	struct ldb_ring_hdr *h = ring_of(ring);
	struct ldb_rec *slots = (void *)((char *)h + LDB_RING_HDR_SIZE);
	unsigned mask = (1U << session_ring_order(&r.out.session, ring)) - 1;
	unsigned type = events[which % (sizeof(events) / sizeof(events[0]))].type;
	unsigned nr = events[which % (sizeof(events) / sizeof(events[0]))].slots;
	uint64_t idx = h->head;

	h->head += how & 0x80 ? nr + 1 : how & 0x40 ? nr - 1 : nr;
	for (unsigned k = 0; k < nr; k++) {
		struct ldb_rec *s = &slots[(idx + k) & mask];

		s->tsc = how & 0x10 ? take_number(in) : sandbox_ns + take_number(in) - 64;
		s->tid = take_number(in);
		s->type = k ? LDB_EV_CONT + k : type;
		s->flags = take(in, 2);
		s->arg = take_number(in);
		s->arg2 = take_number(in);
		s->commit = (uint32_t)(idx + k + 1) ^ ldb_rec_hash(s) ^ (how >> k & 1);
	}
}

static uint64_t *word(void *page, unsigned which, size_t nr)
{
	return (uint64_t *)page + which % nr;
}

/* Memory is changed by words, because a program could write each word with one store. */
static void do_memory(struct input *in, unsigned what)
{
	unsigned slot = take8(in) % SESSION_THREADS;
	struct ldb_page *page = (void *)session_page(&r.out.session, slot);
	struct ldb_stack *stack = (void *)session_stack(&r.out.session, slot);
	struct ldb_stack_frame *f;

	switch (what) {
	case DO_PAGE:
		*word(page, take8(in), 32) = take_number(in);
		/* In most cases the thread is to exist. */
		if (!page->state)
			page->state = LDB_PAGE_LIVE;
		if (!page->tid)
			page->tid = slot + 1;
		break;
	case DO_DEPTH:
		stack->depth = take_number(in);
		break;
	default:
		f = &stack->frame[take8(in) % 16];
		f->gen = take_number(in);
		f->pc = take_number(in);
		f->start_min = T0 + take_number(in);
		f->start_max = f->start_min + take_number(in);
		f->last_seen = take_number(in);
		f->flags = take8(in);
	}
}

static void act(struct input *in)
{
	unsigned what = take8(in) % NR_DOINGS;

	/* Without a session there is no memory to which the program could write. */
	if (!recording_is_open(&r) && what != DO_MESSAGE && what != DO_SIGNAL && what != DO_TIME)
		return;
	switch (what) {
	case DO_MESSAGE:
		do_message(in);
		break;
	case DO_EVENT:
		do_event(in);
		break;
	case DO_HEAD:
		ring_of(take8(in))->head = take_number(in);
		break;
	case DO_PAGE:
	case DO_FRAME:
	case DO_DEPTH:
		do_memory(in, what);
		break;
	case DO_INFO:
		*word(r.out.session.base, take8(in), LDB_PAGE_SIZE / 8) = take_number(in);
		break;
	case DO_TIME:
		sandbox_ns += take(in, 2) * 1000000;
		tick(&r);
		break;
	case DO_SIGNAL:
		on_signal(&r, take8(in) % 2 ? SIGTERM : SIGINT);
		break;
	case DO_SECOND:
		output_second(&r.out);
		break;
	case DO_LIVE:
		output_live(&r.out);
		break;
	}
}

static void begin_running(void)
{
	const union control_message hello = { .hello = {
		.version = LDB_CONTROL_VERSION, .abi = LDB_SESSION_ABI, .nr_instrumented = 1,
	} }, attached = { .attached = { .nr_threads = 1 } };

	on_hello(&r, &hello);
	if (r.phase != PHASE_ATTACH)
		broken("the recording does not begin: %s", said);
	on_attached(&r, &attached);
	on_ready(&r, NULL);
}

/* Whatever the program did, the recorder writes no damaged trace. */
static void check_out(void)
{
	struct reader_damage d;
	struct reader *reader;
	char err[512];

	sandbox_put("out", t.out, t.nr_out);
	reader = reader_open(SANDBOX_DIR "out", err, sizeof(err));
	if (!reader)
		broken("what was written cannot be read: %s", err);
	reader_check(reader);
	reader_damage(reader, &d);
	if (d.nr_bad_blocks || d.nr_unknown || d.bytes_skipped)
		broken("what was written is damaged: %s", reader_damage_text(reader, err, sizeof(err)));
	reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct record_options o = { RECORD_DEFAULTS };
	struct input in = { data, size };
	unsigned flags = take8(&in);

	o.live = &live;
	o.verbose = true;
	o.output = "ldb.data";
	o.pid = 1000000;
	if (!t.out)
		t.out = malloc(OUT_MAX);
	t.nr_out = t.message_size = 0;
	t.room_out = flags & CONTROL_FULL ? 2048 : OUT_MAX;
	t.is_kernel = flags & CONTROL_KERNEL;
	sandbox_enter();
	sandbox_recv = receive_one;
	r = (struct recording){
		.o = &o, .sock = NO_SOCKET, .pidfd = -1, .drain_ms = 1, .listen_fd = -1,
		.command = { .listen_fd = -1 },
		.pid = o.pid, .out.clock_id = LDB_CLOCK_MONO,
	};
	recording_enter(&r, PHASE_HELLO);
	if (flags & CONTROL_RUNNING)
		begin_running();
	while (in.left)
		act(&in);
	recording_set_end(&r, "detached");
	recording_close(&r);
	if (flags & CONTROL_READ && t.nr_out > sizeof(struct ldb_file_header))
		check_out();
	sandbox_recv = NULL;
	sandbox_leave();
	return 0;
}
