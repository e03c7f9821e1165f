// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes THREAD rows of thread pages.
 *
 * A page may be reused as soon as its thread has exited, so its contents are copied at every poll.
 * If the page was reused when the exit is processed, the thread gets the counters of the last poll.
 * The row of a thread is written when it is first polled, so that names survive if the recorder is
 * killed, and again when its counters are final.  A thread's beginning may be in a ring that is
 * read after the thread's end; then a further row is written, which contains the creator.  There is
 * a further row, too, if the kernel has observed invocations that the scanner has not, because that
 * is known late.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <ldb/abi.h>
#include "base/array.h"
#include "base/minmax.h"
#include "record/rows/threads.h"
#include "record/session/order.h"

/* most ended threads in ended[]: a thread whose beginning was lost remains there */
#define ENDED_MAX	65536

struct known {
	uint32_t tid;		/* 0: free */
	bool is_final;		/* the last row of the thread was written */
	/* generations of the frames at the last write_running() or threads_note() */
	uint64_t *noted;
	size_t nr_noted, room_noted;
	struct ldb_row_thread row;
	uint64_t outside_requests;
	int64_t alone;		/* invocations that only the kernel has observed so far */
	char name[16];
};

/*
 * The last row of a thread that has ended.  It is written again if the beginning is found, or if
 * the kernel has observed more invocations than the scanner.
 */
struct ended {
	struct ldb_row_thread row;
	/* the beginning has not been read yet: it is in another ring, or was lost */
	bool is_unborn;
	char name[16];
};

struct threads {
	const struct session *s;
	struct writer *w;
	struct pack *pack;
	uint64_t t0;
	struct known known[SESSION_THREADS];
	/* ended threads that are is_unborn; if the kernel reads chains, all ended threads */
	struct ended *ended;
	size_t nr_ended, room_ended;
	struct threads_total total;
	struct ldb_stack copy;	/* for write_running() */
};

static void thread_exited(void *arg, uint32_t tid, uint64_t slot, int64_t tick);

struct threads *threads_alloc(const struct session *s, struct writer *w, struct pack *p,
			      uint64_t t0)
{
	struct threads *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->s = s;
	t->w = w;
	t->pack = p;
	t->t0 = t0;
	pack_on_exit(p, thread_exited, t);
	return t;
}

void threads_free(struct threads *t)
{
	if (!t)
		return;
	for (unsigned slot = 0; slot < SESSION_THREADS; slot++)
		free(t->known[slot].noted);
	free(t->ended);
	free(t);
}

static int64_t tick_of(const struct threads *t, uint64_t tsc)
{
	/* 0: the thread existed before the recording. */
	return tsc ? (int64_t)(tsc - t->t0) : 0;
}

static void copy_name(char *to, const volatile char *from)
{
	for (unsigned i = 0; i < 15; i++)
		to[i] = from[i];
	to[15] = '\0';
}

/* Adds the invocations that only the kernel has observed. */
static void add_alone(struct ldb_row_thread *row, int64_t nr)
{
	row->seen += nr;
	row->made = max(row->made, row->seen);
}

static void read_page(const struct threads *t, const volatile struct ldb_page *p, struct known *k)
{
	struct ldb_row_thread *row = &k->row;
	struct pack_birth *b;

	k->tid = p->tid;
	row->tid = k->tid;
	row->start = tick_of(t, p->start_tsc);
	row->made = p->made;
	row->seen = p->seen;
	row->scans = p->scans;
	row->invalid = p->invalid;
	row->foreign = p->foreign;
	row->too_deep = p->too_deep;
	row->disorder = p->disorder;
	row->gap = p->gap_tsc;
	row->start_routine = p->start_routine;
	row->below_threshold = p->below_threshold;
	k->alone += chains_take_alone(pack_chains(t->pack), k->tid);
	add_alone(row, k->alone);
	row->cost = p->cost_tsc;
	k->outside_requests = p->outside_requests;
	copy_name(k->name, p->name);
	row->name = k->name;
	b = pack_birth_of(t->pack, k->tid);
	if (b) {
		b->has_page = true;
		row->creator = b->creator;
	}
}

static void write_row(struct threads *t, struct known *k)
{
	k->row.name = k->name;
	writer_add_thread(t->w, &k->row);
}

/* Sets the creator from the thread's THREAD_START.  Returns false if that was not read yet. */
static bool find_birth(struct threads *t, struct ldb_row_thread *row)
{
	struct pack_birth *b = pack_birth_of(t->pack, row->tid);

	if (!b || b->tick != row->start)
		return false;
	b->has_page = true;
	row->creator = b->creator;
	return true;
}

static void keep_ended(struct threads *t, const struct known *k, bool is_unborn)
{
	struct ended *e;

	if (t->nr_ended == ENDED_MAX ||
	    !array_room(&t->ended, &t->room_ended, t->nr_ended, sizeof(*e)))
		return;
	e = &t->ended[t->nr_ended++];
	e->row = k->row;
	e->is_unborn = is_unborn;
	memcpy(e->name, k->name, sizeof(e->name));
}

/* Returns true if the thread's row was written before its THREAD_START was read. */
static bool waits_for_birth(const struct threads *t, uint32_t tid, int64_t start)
{
	for (size_t i = t->nr_ended; i--;) {
		const struct ended *e = &t->ended[i];

		if (e->is_unborn && e->row.tid == tid && e->row.start == start)
			return true;
	}
	return false;
}

static void finish(struct threads *t, struct known *k, int64_t end, bool exited)
{
	bool is_unborn;

	if (!k->tid || k->is_final)
		return;
	k->row.end = end;
	k->row.flags = exited ? LDB_THREAD_F_EXITED : 0;
	k->is_final = true;
	if (exited)
		func_counts_exit(pack_func_counts(t->pack), k->tid, end);
	is_unborn = k->row.start > 0 && !find_birth(t, &k->row);
	if (!exited)
		add_alone(&k->row, chains_take_alone(pack_chains(t->pack), k->tid));
	if (is_unborn || chains_are_read(pack_chains(t->pack)))
		keep_ended(t, k, is_unborn);
	write_row(t, k);
	t->total.nr_threads++;
	t->total.made += k->row.made;
	t->total.seen += k->row.seen;
	t->total.outside_requests += k->outside_requests;
}

static bool is_same(const struct threads *t, const struct known *k,
		    const volatile struct ldb_page *p)
{
	return k->tid && k->tid == p->tid && k->row.start == tick_of(t, p->start_tsc);
}

/*
 * Returns how many pages to read.  If the runtime says which pages were never used, these are not
 * read, because each would take a page fault and a page of memory.
 */
static unsigned nr_slots(const struct threads *t)
{
	uint64_t used = order_pages_used(session_info(t->s));

	return used && used < t->s->info.max_threads ? used : t->s->info.max_threads;
}

/* Updates the row of a thread from its page. */
static void update_slot(struct threads *t, unsigned slot)
{
	const volatile struct ldb_page *p = session_page(t->s, slot);
	struct known *k = &t->known[slot];
	uint32_t state = order_page_state(p);
	bool is_new;

	if ((state != LDB_PAGE_LIVE && state != LDB_PAGE_EXITED) || !p->tid)
		return;
	is_new = !is_same(t, k, p);
	if (!is_new && k->is_final)
		return;
	if (is_new) {
		/* the page was reused: the last counters are final */
		finish(t, k, k->row.end, true);
		free(k->noted);
		memset(k, 0, sizeof(*k));
	}
	read_page(t, p, k);
	k->row.end = (int64_t)((state == LDB_PAGE_EXITED ? p->exit_tsc : p->last_look_tsc) - t->t0);
	k->row.end = max(k->row.end, k->row.start);
	if (state == LDB_PAGE_EXITED)
		finish(t, k, k->row.end, true);
	else if (is_new)
		write_row(t, k);
}

void threads_poll(struct threads *t)
{
	for (unsigned slot = 0, nr = nr_slots(t); slot < nr; slot++)
		update_slot(t, slot);
}

struct threads_total threads_now(const struct threads *t)
{
	struct threads_total all = t->total;

	all.nr_threads = 0;
	for (unsigned slot = 0, nr = nr_slots(t); slot < nr; slot++) {
		const struct known *k = &t->known[slot];

		if (!k->tid || k->is_final)
			continue;
		all.nr_threads++;
		all.made += k->row.made;
		all.seen += k->row.seen;
		all.outside_requests += k->outside_requests;
	}
	return all;
}

/*
 * Writes the row of a thread that had no page, or whose page was reused before it was read; this
 * row has no counters.
 */
static void write_birth(struct threads *t, const struct pack_birth *b, uint32_t flags, int64_t end)
{
	struct ldb_row_thread row = {
		.tid = b->tid, .flags = flags, .start = b->tick, .end = end,
		.start_routine = b->start_routine, .creator = b->creator, .name = "",
	};

	writer_add_thread(t->w, &row);
	t->total.nr_threads++;
}

static void thread_exited(void *arg, uint32_t tid, uint64_t slot, int64_t tick)
{
	struct threads *t = arg;
	struct pack_birth *b = pack_birth_of(t->pack, tid);

	if (slot >= t->s->info.max_threads)
		return;		/* the thread had no page */
	update_slot(t, slot);
	if (t->known[slot].tid == tid) {
		finish(t, &t->known[slot], tick, true);
	} else if (b && !b->has_page && !waits_for_birth(t, tid, b->tick)) {
		/* The page was reused before the thread was polled. */
		b->has_page = true;
		write_birth(t, b, LDB_THREAD_F_EXITED, tick);
	}
}

/* Functions that are still running */

static bool frame_is_sane(const struct ldb_stack_frame *f, const struct threads *t, int64_t end)
{
	return f->gen && f->pc && f->start_max >= f->start_min &&
	       (int64_t)(f->start_max - t->t0) <= end;
}

/*
 * The newest invocations were about to end when the process died: they are still on the stack, and
 * may be in a ring, too.  Each of them must be counted once.
 */
struct ending {
	uint64_t gen;		/* of the invocation whose end was being written; 0: none */
	bool is_written;
};

static struct ending ending_of(struct threads *t, unsigned slot)
{
	const volatile struct ldb_page *p = session_page(t->s, slot);
	struct ldb_row_thread *row = &t->known[slot].row;
	struct ending e = { .gen = p->ending_gen };

	e.is_written = e.gen && pack_is_last_func(t->pack, row->tid, e.gen);
	if (e.is_written)
		row->seen = p->ending_seen;
	return e;
}

static bool has_ended(const struct ending *e, uint64_t gen)
{
	bool is_of_block = (gen & (LDB_GEN_ONE - 1)) == (e->gen & (LDB_GEN_ONE - 1));

	return e->gen && is_of_block && gen >= e->gen + !e->is_written;
}

/* Writes the calls that are still open.  is_last: they are counted as observed. */
static void write_open(struct threads *t, unsigned slot, const volatile struct ldb_stack *stack,
			   int64_t end, bool is_last)
{
	const volatile struct ldb_page *p = session_page(t->s, slot);
	uint32_t depth = order_stack_depth(stack);
	uint64_t look = p->last_look_tsc, parent = 0;
	struct ending ending = { 0 };

	if (depth > LDB_STACK_MAX)
		return;
	if (is_last)
		ending = ending_of(t, slot);
	for (uint32_t i = 0; i < depth; i++) {
		struct ldb_stack_frame f;
		struct ldb_row_func row;

		memcpy(&f, (const void *)&stack->frame[i], sizeof(f));
		if (!frame_is_sane(&f, t, end))
			return;	/* its callees' frames are not trusted, either */
		if (has_ended(&ending, f.gen)) {
			parent = f.gen;
			continue;
		}
		row = (struct ldb_row_func){
			.flags = LDB_FUNC_F_OPEN |
				 (f.flags & (LDB_FUNC_F_FROM_START | LDB_FUNC_F_RESUMED)),
			.tid = t->known[slot].tid, .pc = f.pc, .ret = f.ret, .gen = f.gen,
			.parent_gen = parent, .depth = i,
			.start_max = (int64_t)(f.start_max - t->t0),
			.start_unc = f.flags & LDB_FUNC_F_FROM_START ? LDB_UNC_UNKNOWN :
								       f.start_max - f.start_min,
		};
		/* The end is at least the last time at which the scanner found the frame. */
		row.end_max = (int64_t)((look > f.last_seen ? look : f.last_seen) - t->t0);
		row.end_max = max(row.end_max, row.start_max);
		row.end_max = min(row.end_max, end);
		if (is_last) {
			pack_func(t->pack, &row);
		} else {
			pack_want_name(t->pack, row.pc);
			pack_waiting_func(t->pack, &row);
		}
		t->known[slot].row.seen += is_last;
		parent = f.gen;
	}
}

/*
 * Stores the generations of a thread's frames.  The scanner may be writing some of them; but
 * write_running() uses only frames below the depth that it reads itself.
 */
static void note_frames(struct known *k, const volatile struct ldb_stack *stack)
{
	uint32_t depth = order_stack_depth(stack);

	k->nr_noted = 0;
	if (depth > LDB_STACK_MAX || !array_reserve(&k->noted, &k->room_noted, depth, sizeof(*k->noted)))
		return;
	for (uint32_t i = 0; i < depth; i++)
		k->noted[i] = stack->frame[i].gen;
	k->nr_noted = depth;
}

/* Returns how many of the outermost frames are the same as when they were stored. */
static uint32_t nr_unchanged(const struct known *k, const volatile struct ldb_stack *stack, uint32_t depth)
{
	uint32_t n = 0;

	while (n < depth && n < k->nr_noted && stack->frame[n].gen == k->noted[n])
		n++;
	return n;
}

/*
 * Writes the functions that have been running since the last note_frames(), while the scanner
 * continues to write.  Each generation is used only once, so a frame is valid if its generation is
 * the stored one both before and after it is copied.  So callers are written even if their callees
 * change all the time.
 */
static void write_running(struct threads *t, unsigned slot, int64_t end)
{
	const volatile struct ldb_stack *stack = session_stack(t->s, slot);
	struct known *k = &t->known[slot];
	uint32_t depth = order_stack_depth(stack);

	depth = nr_unchanged(k, stack, min(depth, (uint32_t)LDB_STACK_MAX));
	memcpy(t->copy.frame, (const void *)stack->frame, depth * sizeof(t->copy.frame[0]));
	order_stack_copied();
	/* Frames that ended during the copy are not written. */
	t->copy.depth = nr_unchanged(k, stack, min(depth, stack->depth));
	note_frames(k, stack);
	write_open(t, slot, &t->copy, end, false);
}

void threads_note(struct threads *t)
{
	for (unsigned slot = 0, nr = nr_slots(t); slot < nr; slot++)
		if (t->known[slot].tid && !t->known[slot].is_final)
			note_frames(&t->known[slot], session_stack(t->s, slot));
}

/*
 * Returns the number of observed calls.  If rows are counted, those that are still in the rings are
 * not included.
 */
static uint64_t seen_of(const struct threads *t, const struct known *k)
{
	const struct func_counts *counts = pack_func_counts(t->pack);

	return counts->is_on ? func_counts_of(counts, k->tid) : k->row.seen;
}

size_t threads_copy(const struct threads *t, struct ldb_row_thread *rows, size_t max)
{
	size_t n = 0;

	for (unsigned slot = 0, nr = nr_slots(t); slot < nr && n < max; slot++) {
		const struct known *k = &t->known[slot];

		if (!k->tid || k->is_final)
			continue;
		rows[n] = k->row;
		rows[n++].seen = seen_of(t, k);
	}
	return n;
}

/*
 * Writes a thread's row for a dump.  Invocations that waiting.c has written are counted as observed
 * in this row only.
 */
static void write_now(struct threads *t, struct known *k)
{
	uint64_t seen = k->row.seen, made = k->row.made;

	k->row.seen = seen_of(t, k) + pack_waiting_count(t->pack, k->tid, false);
	if (chains_are_read(pack_chains(t->pack)))
		k->row.made = max(k->row.made, k->row.seen);
	write_row(t, k);
	k->row.seen = seen;
	k->row.made = made;
}

/*
 * Reports the exits of the last second: a page shows its thread's exit before the event of the exit
 * has been read.
 */
static void tell_exits(struct threads *t, int64_t end)
{
	int64_t second = t->s->info.tsc_hz;

	for (size_t i = t->nr_ended; i && t->ended[i - 1].row.end > end - second; i--)
		pack_waiting_exit(t->pack, t->ended[i - 1].row.tid, t->ended[i - 1].row.end);
}

void threads_write_funcs(struct threads *t, int64_t end)
{
	pack_waiting_begin(t->pack);
	tell_exits(t, end);
	for (unsigned slot = 0, nr = nr_slots(t); slot < nr; slot++)
		if (t->known[slot].tid && !t->known[slot].is_final)
			write_running(t, slot, end);
	pack_waiting_end(t->pack, end);
}

void threads_write_counted(struct threads *t)
{
	for (unsigned slot = 0, nr = nr_slots(t); slot < nr; slot++)
		if (t->known[slot].tid && !t->known[slot].is_final)
			write_now(t, &t->known[slot]);
}

void threads_write(struct threads *t, int64_t end)
{
	threads_poll(t);
	threads_write_funcs(t, end);
	threads_write_counted(t);
}

void threads_write_known(struct threads *t)
{
	threads_poll(t);
	for (unsigned slot = 0, nr = nr_slots(t); slot < nr; slot++)
		if (t->known[slot].tid && !t->known[slot].is_final)
			write_row(t, &t->known[slot]);
}

/*
 * Writes the rows of ended threads again, if they have changed.  If several threads had the same
 * tid, the last one gets the invocations that only the kernel has observed.
 */
static void write_ended(struct threads *t)
{
	for (size_t i = t->nr_ended; i--;) {
		struct ended *e = &t->ended[i];
		bool is_born = find_birth(t, &e->row) && e->is_unborn;
		uint64_t made = e->row.made, seen = e->row.seen;

		add_alone(&e->row, chains_take_alone(pack_chains(t->pack), e->row.tid));
		if (e->row.seen == seen && !is_born)
			continue;
		e->row.name = e->name;
		t->total.made += e->row.made - made;
		t->total.seen += e->row.seen - seen;
		writer_add_thread(t->w, &e->row);
	}
}

void threads_finish(struct threads *t, int64_t end, struct threads_total *total)
{
	struct pack_birth *b;
	unsigned nr = nr_slots(t);
	size_t i = 0;

	for (unsigned slot = 0; slot < nr; slot++) {
		update_slot(t, slot);
		if (t->known[slot].tid && !t->known[slot].is_final)
			write_open(t, slot, session_stack(t->s, slot), end, true);
	}
	pack_finish_open(t->pack);
	for (unsigned slot = 0; slot < nr; slot++)
		finish(t, &t->known[slot], end, false);
	write_ended(t);
	t->total.nr_open = pack_nr_open(t->pack);
	while ((b = pack_birth_next(t->pack, &i)))
		if (!b->has_page)
			write_birth(t, b, LDB_THREAD_F_UNOBSERVED, end);
	*total = t->total;
}
