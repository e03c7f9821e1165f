// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests threads whose events come in the order in which the rings are read, which may differ from
 * the order of time: each must have one instance in the trace, with its counters and its creator.
 */
#include <string.h>
#include <sys/mman.h>
#include "recording-sample.h"

/* Reads the written rows; returns the last row of TID, and the number of its instances. */
static struct ldb_row_thread end(const char *path, int *instances)
{
	struct ldb_row_thread last = { 0 };
	struct threads_total total;
	struct reader_rows in;
	struct reader *r = recording_end(path, &total);
	struct cursor *c = reader_cursor(r, LDB_BLK_THREAD, NULL);

	*instances = total.nr_threads;
	while (c && cursor_next(c, &in) > 0)
		for (size_t i = 0; i < in.nr; i++)
			if (in.thread[i].tid == TID)
				last = in.thread[i];
	last.name = NULL;
	cursor_close(c);
	reader_close(r);
	return last;
}

static void page(uint32_t state)
{
	struct ldb_page *p = (struct ldb_page *)session_page(&session, SLOT);

	p->tid = TID;
	p->start_tsc = 1000;
	p->exit_tsc = 5000;
	p->made = 7;
	p->seen = 2;
	p->state = state;
}

static void starts(void)
{
	struct ldb_rec r = { .tsc = 1000, .tid = TID, .type = LDB_EV_THREAD_START, .arg = 0x400, .arg2 = 77 };

	pack_event(pack, 0, &r);
}

static void exits(void)
{
	struct ldb_rec r = { .tsc = 5000, .tid = TID, .type = LDB_EV_THREAD_EXIT, .arg = SLOT };

	pack_event(pack, 0, &r);
}

static void check(const char *path, const char *order)
{
	struct ldb_row_thread row;
	int instances;

	row = end(path, &instances);
	is_int(instances, 1, order);
	ok(row.start == 1000 && row.end == 5000 && row.flags == LDB_THREAD_F_EXITED,
	   "it ends with its exit");
	ok(row.made == 7 && row.seen == 2, "its counters are its own");
	is_int(row.creator, 77, "its creator is known");
}

/* The thread's page belongs to another thread when the thread's start and end are read. */
static void reused(const char *path)
{
	struct ldb_page *p;
	int instances;

	for (unsigned is_seen = 0; is_seen < 2; is_seen++) {
		struct ldb_row_thread row;

		recording_begin(path);
		page(LDB_PAGE_EXITED);
		if (is_seen)
			threads_poll(threads);
		p = (struct ldb_page *)session_page(&session, SLOT);
		p->tid = TID + 1;
		p->start_tsc = 6000;
		p->state = LDB_PAGE_LIVE;
		threads_poll(threads);
		starts();
		exits();
		row = end(path, &instances);
		is_int(instances, 2, is_seen ? "seen before: one instance, and the other's" : "not seen: one instance, and the other's");
		ok(row.start == 1000 && row.end == 5000 && row.flags == LDB_THREAD_F_EXITED && row.creator == 77,
		   "which is whole");
		is_int(row.made, is_seen ? 7 : 0, "with the counters that were read");
	}
}

static bool has_memory(unsigned slot)
{
	unsigned char in = 0;

	if (mincore((void *)session_page(&session, slot), 1, &in))
		bail_out("mincore");
	return in & 1;
}

/*
 * Pages that were never used must not be read: a page fault for each of them would take longer than
 * all else at the start.
 */
static void unused(const char *path)
{
	int instances;

	recording_begin(path);
	((struct ldb_info *)session_info(&session))->pages_used = SLOT + 1;
	page(LDB_PAGE_LIVE);
	threads_poll(threads);
	ok(has_memory(SLOT) && !has_memory(SLOT + 1), "pages that were not used are not touched");
	((struct ldb_info *)session_info(&session))->pages_used = 0;
	threads_poll(threads);
	ok(has_memory(SLOT + 1), "not known how many were used: all are read");
	end(path, &instances);
	is_int(instances, 1, "one thread");
}

static void frame(unsigned i, uint64_t nr, uint64_t tick)
{
	struct ldb_stack *stack = (struct ldb_stack *)session_stack(&session, SLOT);

	stack->frame[i] = (struct ldb_stack_frame){
		.gen = nr << 16, .pc = 0x400 + nr, .start_min = tick, .start_max = tick, .last_seen = tick,
	};
	stack->depth = i + 1;
}

/* Returns the numbers of the calls that were written as running, as decimal digits. */
static int running(const char *path)
{
	struct threads_total total;
	struct reader_rows in;
	struct reader *r = recording_end(path, &total);
	struct cursor *c = reader_cursor(r, LDB_BLK_FUNC, NULL);
	int calls = 0;

	while (c && cursor_next(c, &in) > 0)
		for (size_t i = 0; i < in.nr; i++)
			if (in.func[i].flags & LDB_FUNC_F_OPEN)
				calls = 10 * calls + (int)(in.func[i].gen >> 16);
	cursor_close(c);
	reader_close(r);
	return calls;
}

/*
 * Running functions are written while the scanner continues.  A caller must be written even if its
 * callees have changed in between, because otherwise calls in a dump have no caller.
 */
static void writes_running(const char *path)
{
	struct ldb_stack *stack;

	recording_begin(path);
	page(LDB_PAGE_LIVE);
	stack = (struct ldb_stack *)session_stack(&session, SLOT);
	frame(0, 1, 1100);
	frame(1, 2, 1200);
	frame(2, 3, 1300);
	threads_poll(threads);
	threads_note(threads);
	frame(1, 4, 1400);
	threads_write(threads, 2000);
	stack->depth = 0;
	is_int(running(path), 1, "the caller is written, and not what began since");

	recording_begin(path);
	page(LDB_PAGE_LIVE);
	frame(0, 1, 1100);
	frame(1, 2, 1200);
	threads_poll(threads);
	threads_note(threads);
	threads_write(threads, 2000);
	stack->depth = 0;
	is_int(running(path), 12, "both are written if both were there");

	recording_begin(path);
	page(LDB_PAGE_LIVE);
	frame(0, 1, 1100);
	threads_write(threads, 2000);
	stack->depth = 0;
	is_int(running(path), 0, "nothing is if nothing was noted");
}

/* Rows of a thread may come after its exit, and another thread may have its number then. */
static void counts_exited(void)
{
	struct func_counts c = { .is_on = true };
	uint64_t nr = 0;

	func_counts_add(&c, TID, 100);
	func_counts_exit(&c, TID, 200);
	func_counts_add(&c, TID, 150);
	func_counts_add(&c, TID, 300);
	ok(func_counts_of_exited(&c, TID, 200, &nr) && nr == 2, "rows of an exited thread are counted after its exit, too");
	is_int(func_counts_of(&c, TID), 1, "and not as those of the next one");
	ok(func_counts_is_earlier(&c, TID, 150) && !func_counts_is_earlier(&c, TID, 300), "which thread a row is of is known");
	for (unsigned i = 0; i < FUNC_EXITED_MAX; i++)
		func_counts_exit(&c, TID + 1 + i, 400 + i);
	func_counts_add(&c, TID, 160);
	ok(!func_counts_of_exited(&c, TID, 200, &nr), "only the last threads that exited are remembered");
	is_int(func_counts_of(&c, TID), 1, "and the counts of others stay");
	func_counts_free(&c);
}

int main(void)
{
	const char *path = sample_path("threads.data");

	recording_begin(path);
	page(LDB_PAGE_LIVE);
	starts();
	threads_poll(threads);
	page(LDB_PAGE_EXITED);
	exits();
	check(path, "in order: one instance");

	recording_begin(path);
	page(LDB_PAGE_EXITED);
	exits();
	starts();
	check(path, "the end is read before the beginning: one instance");

	recording_begin(path);
	page(LDB_PAGE_LIVE);
	threads_poll(threads);
	page(LDB_PAGE_EXITED);
	threads_poll(threads);
	starts();
	exits();
	check(path, "the page is polled before its beginning is read: one instance");

	reused(path);
	unused(path);
	writes_running(path);
	counts_exited();
	return done();
}
