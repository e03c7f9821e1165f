// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the runtime with a hostile or broken recorder: messages with and without descriptors, of
 * the wrong kind, too many or too small, session memory that is laid out wrong or changes while it
 * is read, hang-ups at any time; and a program that meanwhile creates threads, calls functions,
 * writes records and changes its user.  control.c, thread.c and create.c are included in this file,
 * so that their state can be reset; other files of the runtime (RUNTIME in Makefile) are compiled
 * as they are, for the machine of runtime-machine.c.
 *
 * The input is u8 HOW_*, then the steps of recorder and program: the enum lists them with their
 * arguments.
 */
#include "runtime-sys.h"
#include "../../libldb/runtime/control.c"
#include "../../libldb/runtime/thread.c"
#include "../../libldb/runtime/create.c"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "request/request.h"
#include "scan/scan.h"
#include "runtime-recorder.h"

#define PROGRAM_THREADS	4
#define STACK_WORDS	128
#define FRAME_WORDS	(sizeof(struct ldb_frame) / 8)
#define NR_MODULES	3
#define POLLS_MAX	400

enum {
	/*
	 * the recorder has started the program; without this and HOW_LISTENS it attaches through
	 * struct ldb_door
	 */
	HOW_LAUNCHED	= 0x01,
	HOW_LISTENS	= 0x02,
	HOW_DEAF	= 0x04,	/* nobody listens when the runtime connects */
	HOW_OTHER_USER	= 0x08,
	HOW_UNDUMPABLE	= 0x10,
};

enum {				/* u8: the kind of step, modulo NR_DOINGS */
	DO_ATTACH,		/* recipe of a session: see send_session() */
	DO_RESUME,		/* the same */
	DO_DETACH,
	DO_MESSAGE,		/* u8 type, u8 size, u8 descriptors */
	DO_HANG_UP,
	DO_CALL,		/* another recorder tries to connect */
	DO_WAIT,		/* u8: number of rounds in which all threads run */
	/* u8 which event, u8 at which call (0: never), u8 what happens then */
	DO_EVENT,
	DO_MEMORY,		/* u8 memory, u8 which word, number */
	DO_THREAD,		/* u8: which thread begins or ends */
	DO_FRAME,		/* u8 thread, u8 what; numbers */
	DO_RECORD,		/* u8 CPU, u8 slots */
	DO_LEAVE,		/* u8 what; see leave_and_return() */
	DO_MODULE,		/* u8 */
	DO_IDENTITY,		/* u8 */
	NR_DOINGS
};

/* The following functions replace the rest of the library. */

static struct module modules[NR_MODULES];
_Atomic uint32_t nr_modules, nr_modules_lost;

struct module *module_at(uint32_t i)
{
	if (i >= NR_MODULES)
		broken("there is no module %u", i);
	return &modules[i];
}

uint32_t module_nr_instrumented(void)
{
	return atomic_load(&nr_modules);
}

bool fork_in_progress(void)
{
	return false;
}

bool stack_foreign(uintptr_t addr, uintptr_t *lo, uintptr_t *hi)
{
	return false;
}

bool stack_unregister_within(uintptr_t lo, uintptr_t hi)
{
	return false;
}

static intptr_t gen_off;

void shim_locate(intptr_t off)
{
	gen_off = off;
}

intptr_t shim_gen_off(void)
{
	return gen_off;
}

void shim_thread_enter(struct thread *t)
{
	t->list = NULL;
}

void shim_not_alone(void)
{
}

void shim_begin(void)
{
}

void shim_flush(struct thread *t)
{
}

void shim_thread_exit(struct thread *t)
{
}

void request_thread_exit(struct thread *t)
{
}

/* Linkage tables are not changed, because this machine has no program with such tables. */
void flow_thread_enter(struct thread *t)
{
}

void flow_thread_exit(struct thread *t)
{
}

void flow_at_exit(void)
{
}

void flow_leave(uintptr_t sp, uintptr_t here)
{
}

void flow_begin_child(void)
{
}

void flow_poll(void)
{
}

void flow_pause(bool pause)
{
}

void flow_stop(void)
{
}

void flow_end(void)
{
}

/*
 * A thread that enters through struct ldb_door is not simulated, and neither are the wrappers of
 * exec().
 */
void visit_late(uint64_t what)
{
}

void exec_init_attached(void)
{
}

void door_entry(void);
void door_entry(void)
{
}

void door_pass(void);
extern struct ldb_door door;

struct input in;

/* The program's threads: their stacks contain the records that compiled code would write. */
static struct own {
	struct thread *t;
	struct ldb_thread *blocks;	/* at the thread pointer */
	uint64_t *stack;
	unsigned nr_frames;
} own[PROGRAM_THREADS];

static void run_as(unsigned i)
{
	machine.tp = (uintptr_t)own[i].blocks;
	machine.tid = i + 1;
	self = own[i].t;
}

static void thread_begin(unsigned i)
{
	struct own *o = &own[i];

	if (o->t)
		return;
	if (!o->stack) {
		o->stack = malloc(STACK_WORDS * 8);
		o->blocks = malloc(LDB_BLOCKS_MAX * sizeof(*o->blocks));
	}
	memset(o->stack, 0, STACK_WORDS * 8);
	for (unsigned b = 0; b < LDB_BLOCKS_MAX; b++)
		o->blocks[b] = (struct ldb_thread){ NULL, LDB_CANARY };
	o->nr_frames = 0;
	o->t = thread_alloc();
	o->t->stack_lo = (uintptr_t)o->stack;
	o->t->stack_hi = (uintptr_t)(o->stack + STACK_WORDS);
	run_as(i);
	thread_register(o->t, false);
	run_as(0);
}

static void thread_end(unsigned i)
{
	struct own *o = &own[i];

	if (!o->t)
		return;
	run_as(i);
	thread_unregister(o->t);
	o->t = NULL;
	run_as(0);
}

static void call_function(struct own *o, struct ldb_thread *b)
{
	uint64_t pc = take8(&in), ret = take8(&in);
	struct ldb_frame *f;

	if ((o->nr_frames + 1) * FRAME_WORDS > STACK_WORDS)
		return;
	f = (struct ldb_frame *)(o->stack + STACK_WORDS) - ++o->nr_frames;
	b->gen += LDB_GEN_ONE;
	*f = (struct ldb_frame){ b->top, b->gen, (void *)pc, (void *)ret };
	b->top = f;
}

/*
 * A thread of the program calls a function, returns from one, or changes a word of its stack or of
 * its block, which the scanner may read.
 */
static void do_frame(void)
{
	struct own *o = &own[take8(&in) % PROGRAM_THREADS];
	unsigned what = take8(&in), word;
	struct ldb_thread *b;

	if (!o->t)
		return;
	b = &o->blocks[what >> 4 & 1];
	switch (what % 5) {
	case 0:
	case 1:
		call_function(o, b);
		break;
	case 2:
		if (o->nr_frames)
			b->top = ((struct ldb_frame *)(o->stack + STACK_WORDS) - o->nr_frames--)->prev;
		break;
	case 3:
		word = take8(&in) % STACK_WORDS;
		o->stack[word] = (uintptr_t)o->stack + take_number(&in);
		break;
	case 4:
		b->top = (struct ldb_frame *)((uintptr_t)o->stack + take_number(&in));
		b->gen = take_number(&in) << LDB_GEN_SHIFT | LDB_CANARY;
	}
}

/* Conditions that must always be met */

static void check_region(const char *what, uint64_t off, uint64_t stride, uint64_t nr, uint64_t need)
{
	for (uint64_t i = 0; i < nr; i++)
		if (off + i * stride + need > machine.session_size)
			broken("%s %llu lies outside of the session", what, (unsigned long long)i);
}

static void check_session(void)
{
	const struct session *s = &session;
	uint64_t header = LDB_RING_HDR_SIZE, slot = sizeof(struct ldb_rec);

	if (!s->base || s->mapped_size < machine.session_size)
		broken("a session is on without memory");
	check_region("page", s->pages_off, s->page_stride, s->max_threads, LDB_PAGE_SIZE);
	check_region("stack", s->stacks_off, s->stack_stride, s->max_threads, sizeof(struct ldb_stack));
	check_region("ring", s->rings_off, s->ring_stride, s->nr_cpus, header + (s->ring_mask + 1) * slot);
	check_region("ring of scanner", s->scan_rings_off, s->scan_ring_stride, s->nr_scanners,
		     header + (s->scan_ring_mask + 1) * slot);
}

void machine_polls(bool serves)
{
	unsigned nr = (send_conn >= 0) + (listener >= 0) + (control_kick >= 0) + (session.device >= 0);

	if (++r.nr_polls > POLLS_MAX)
		broken("the control thread does not end");
	if (session_on())
		check_session();
	else if (session.device >= 0)
		broken("a session that is over keeps the device");
	if (!session_on() && machine_nr_counters())
		broken("counters of threads stay open when nobody records");
	if (machine_nr_fds() != nr + machine_nr_loadavg() + machine_nr_counters())
		broken("a descriptor is left open: %u, not %u", machine_nr_fds(), nr);
}

static const uint16_t sizes[16] = {
	[LDB_MSG_HELLO] = sizeof(struct ldb_msg_hello), [LDB_MSG_ATTACHED] = sizeof(struct ldb_msg_attached),
	[LDB_MSG_ERROR] = sizeof(struct ldb_msg_text), [LDB_MSG_TEXT] = sizeof(struct ldb_msg_text),
	[LDB_MSG_COMMAND] = sizeof(struct ldb_msg_command),
	[LDB_MSG_MODULE] = sizeof(struct ldb_msg_module), [LDB_MSG_UNLOADED] = sizeof(struct ldb_msg_unloaded),
	[LDB_MSG_READY] = sizeof(struct ldb_msg), [LDB_MSG_DETACHED] = sizeof(struct ldb_msg),
	[LDB_MSG_LEAVING] = sizeof(struct ldb_msg_leaving), [LDB_MSG_BLOCKS] = sizeof(struct ldb_msg_blocks),
};

void machine_sent(const void *message, size_t size)
{
	const struct ldb_msg *m = message;

	if (m->type >= 16 || !sizes[m->type] || m->size != size || size != sizes[m->type])
		broken("a message of type %u and size %zu is sent", m->type, size);
	if ((m->type == LDB_MSG_ERROR || m->type == LDB_MSG_TEXT) &&
	    !memchr(((const struct ldb_msg_text *)m)->text, 0, sizeof(((struct ldb_msg_text *)0)->text)))
		broken("a text without an end is sent");
	machine.nr_sent[m->type]++;
}

/* The steps */

static void do_record(void)
{
	struct ldb_rec slots[3] = { 0 };
	unsigned nr;

	machine.cpu = take8(&in);
	nr = 1 + take8(&in) % 3;
	slots[0].tid = 1;
	if (session_on())
		ring_write(slots, nr);
}

/*
 * Does what runtime/privilege.c does.  u8: bit 0: leave for ever; bit 1: come back as another user;
 * bit 2: the recorder has ended before the program comes back.
 */
static void leave_and_return(void)
{
	unsigned what = take8(&in);
	bool returns = control_leave(what & 1 ? LEAVE_FOR_GOOD : LEAVE_AND_RETURN);

	if (what & 2)
		machine.identity++;
	if (what & 4)
		machine.deaf = true;
	if (returns)
		control_return();
}

static void do_module(unsigned what)
{
	uint32_t nr = atomic_load(&nr_modules);
	struct module *m = &modules[nr % NR_MODULES];

	if (what & 1 && nr < NR_MODULES) {
		*m = (struct module){ .start = what, .flags = what >> 1 & 3, .loaded_tsc = 1 };
		memset(m->path, 'm', sizeof(m->path) - 1);
		atomic_store(&nr_modules, nr + 1);
		block_off[0] = 0;
		block_off[1] = sizeof(struct ldb_thread);
		atomic_store(&nr_blocks, nr < 2 ? nr + 1 : 2);
	} else if (nr) {
		modules[what % nr].unloaded_tsc = session_clock();
	}
	if (what & 0x80)
		atomic_fetch_add(&nr_modules_lost, 1);
	if (what & 0x10)
		command_dump(what & 0x20 ? "why" : NULL);
	if (what & 0x40)
		(what & 0x20 ? command_start : command_stop)();
}

static void let_run(unsigned rounds)
{
	do {
		machine_control();
		machine_scanners();
	} while (rounds--);
}

static bool by_recorder(unsigned what)
{
	unsigned v;

	switch (what) {
	case DO_ATTACH:
		send_session(LDB_MSG_ATTACH);
		break;
	case DO_RESUME:
		send_session(LDB_MSG_RESUME);
		break;
	case DO_DETACH:
		send_any_message(&(struct ldb_msg){ LDB_MSG_DETACH, sizeof(struct ldb_msg) }, sizeof(struct ldb_msg), -1, 0);
		break;
	case DO_MESSAGE:
		send_any();
		break;
	case DO_HANG_UP:
		hang_up_recorder();
		break;
	case DO_CALL:
		machine.nr_callers += machine.nr_callers < 4;
		break;
	case DO_EVENT:
		v = take8(&in) % NR_EVENTS;
		machine.after[v] = take8(&in) % 32;
		r.event = take8(&in);
		break;
	case DO_MEMORY:
		write_memory();
		break;
	default:
		return false;
	}
	return true;
}

static void by_program(unsigned what)
{
	unsigned v;

	switch (what) {
	case DO_WAIT:
		let_run(take8(&in) % 8);
		break;
	case DO_THREAD:
		v = take8(&in);
		if (v & 0x80)
			thread_end(1 + v % (PROGRAM_THREADS - 1));
		else
			thread_begin(1 + v % (PROGRAM_THREADS - 1));
		break;
	case DO_FRAME:
		do_frame();
		break;
	case DO_RECORD:
		do_record();
		break;
	case DO_LEAVE:
		leave_and_return();
		break;
	case DO_MODULE:
		do_module(take8(&in));
		break;
	case DO_IDENTITY:
		machine.identity = take8(&in);
		break;
	}
}

/*
 * Called while the program waits for a thread of the runtime: the recorder, the control thread and
 * the scanners run.
 */
void machine_waits(void)
{
	if (in.left && in.p[0] % NR_DOINGS <= DO_CALL)
		by_recorder(take8(&in) % NR_DOINGS);
	machine_control();
	machine_scanners();
}

static void begin(unsigned how)
{
	machine.deaf = how & HOW_DEAF;
	machine.uid = how & HOW_OTHER_USER ? 1001 : 0;
	machine.undumpable = how & HOW_UNDUMPABLE;
	thread_begin(0);
	do_module(1);
	memset(door.name, 'x', sizeof(door.name));
	if (how & HOW_LISTENS)
		control_listen();
	else if (how & HOW_LAUNCHED)
		control_launched("recorder");
	else
		door_pass();
	machine_control();
}

static void end(void)
{
	hang_up_recorder();
	machine.deaf = true;
	machine.nr_callers = 0;
	memset(machine.after, 0, sizeof(machine.after));
	r.nr_polls = 0;
	for (int i = 0; i < 4 && machine_control(); i++)
		;
	if (listens)
		control_leave(LEAVE_FOR_GOOD);
	if (machine_control() || paused)
		broken("the control thread is still there");
	for (unsigned i = 0; scanners && i < LDB_MAX_SCANNERS; i++)
		if (atomic_load(&scanners[i].thread.tid))
			broken("a scanner is still there");
	if (session_on())
		broken("a session is on, and nobody is there");
	for (unsigned i = PROGRAM_THREADS; i--;)
		thread_end(i);
}

/* Reuses the scanners' memory: mapping it again would take longer than everything else. */
static void reset_scanners(void)
{
	void *stack;

	if (scan_prepare())
		broken("no memory for scanners");
	for (unsigned i = 0; i < LDB_MAX_SCANNERS; i++) {
		stack = scanners[i].thread.stack;
		if (stack)
			memset(&scanners[i], 0, sizeof(scanners[i]));
		scanners[i].thread.stack = stack;
	}
	for (unsigned i = 0; i < FILE_MAX / sizeof(struct ldb_stack); i++)
		if (states[i].t)
			memset(&states[i], 0, sizeof(states[i]));
}

/* Resets all state that a run leaves behind. */
static void reset(void)
{
	reset_scanners();
	machine_give_back(scanners, states);
	session = (struct session){ .device = -1 };
	memset(&session_page, 0, sizeof(session_page));
	memset(modules, 0, sizeof(modules));
	nr_modules = nr_modules_lost = nr_blocks = 0;
	listens = paused = false;
	send_conn = listener = control_kick = -1;
	recorder[0] = 0;
	control_pid = 0;
	raw_on_wait = NULL;
	control_leaving = leave_owner = 0;
	identity_wait = 0;
	self = NULL;
	if (r.session >= 0)
		close(r.session);
	r.session = -1;
	r.nr_polls = 0;
	machine_reset();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned what;

	if (!r.folder) {
		r.folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r.null = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (pipe2(r.pipe, O_CLOEXEC))
			broken("no pipe");
	}
	reset();
	in = (struct input){ data, size };
	begin(take8(&in));
	while (in.left) {
		r.nr_polls = 0;
		what = take8(&in) % NR_DOINGS;
		if (!by_recorder(what))
			by_program(what);
		machine_control();
	}
	end();
	return 0;
}
