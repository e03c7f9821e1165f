// SPDX-License-Identifier: GPL-2.0-or-later
/* Locks: bounds of holds that were not stamped, totals, call sites, holders. */
#include "analysis/report/locks.h"
#include "analysis-sample.h"

#define LOCK	0x7000

__attribute__((noinline)) void in_source(void)	{ __asm__ volatile("nop; nop" ::: "memory"); }
#line 1 "/usr/include/sample.h"
__attribute__((noinline)) void in_header(void)	{ __asm__ volatile("nop; nop; nop" ::: "memory"); }
__attribute__((noinline)) void in_other(void)	{ __asm__ volatile("nop" ::: "memory"); }
#line 13 "analysis-locks.c"

static struct made t;
static struct lockset set;

static int add(void *arg, const struct reader_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		lockset_add(&set, &rows->lock[i]);
	return 0;
}

static int feed(void *arg, const struct reader_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		lockset_feed(&set, &rows->func[i]);
	return 0;
}

static void resolve(void)
{
	made_open(&t);
	lockset_init(&set, t.model);
	reader_each(t.reader, LDB_BLK_LOCK, NULL, add, NULL);
	lockset_prepare(&set);
	reader_each(t.reader, LDB_BLK_FUNC, NULL, feed, NULL);
	lockset_resolve(&set);
}

static void end(void)
{
	lockset_free(&set);
	made_close(&t);
}

static const struct lock_event *hold_of(uint32_t tid, int64_t end)
{
	static const struct lock_event none = { .begin = -1 };

	for (size_t i = 0; i < set.nr; i++)
		if (set.events[i].op == LDB_LOCK_OP_HOLD && set.events[i].tid == tid &&
		    set.events[i].end == end)
			return &set.events[i];
	return &none;
}

static void is_bound(uint32_t tid, int64_t at, int64_t lo, int64_t hi, const char *name)
{
	const struct lock_event *e = hold_of(tid, at);

	ok(e->begin == lo + (hi - lo) / 2 && e->resolution == (uint64_t)(hi - lo + 1) / 2,
	   "%s: begin %ld +-%lu, want [%ld, %ld]", name, (long)e->begin,
	   (unsigned long)e->resolution, (long)lo, (long)hi);
}

static void test_frames(void)
{
	made_begin(&t, "bounds.data");
	made_thread(&t, 1, "a", 50, 100000);
	/* Frame 10 entered in [1000, 1100], 12 in [2000, 2050]; 11 was not seen. */
	made_func(&t, 1, (void *)1, NULL, 10, 0, 0, 1050, 9000, 100);
	made_func(&t, 1, (void *)1, NULL, 12, 10, 1, 2025, 2900, 50);
	made_func(&t, 1, (void *)1, NULL, 30, 10, 1, 6000, 6900, 0);
	made_bounded_hold(&t, 1, LOCK, 5000, 10);	/* in frame 10, before 12 */
	made_bounded_hold(&t, 1, LOCK + 8, 5000, 11);	/* in 11: after 10, before 12 */
	made_bounded_hold(&t, 1, LOCK + 16, 5000, 20);	/* after 12, before 30, before its end */
	made_bounded_hold(&t, 1, LOCK + 24, 8000, 5);	/* before 10: no lower bound but the thread */
	made_bounded_hold(&t, 1, LOCK + 32, 8001, 40);	/* after 30 */
	made_bounded_hold(&t, 1, LOCK + 40, 700, 0);	/* nothing known but the thread */
	/* The same generations on another thread, and in another block, say nothing here. */
	made_func(&t, 2, (void *)1, NULL, 11, 0, 0, 1500, 1600, 0);
	writer_add_func(t.w, &(struct ldb_row_func){
		.tid = 1, .pc = 1, .gen = GEN(11) | 1, .start_max = 1600, .end_max = 1700 });
	resolve();
	for (size_t i = 0; i < set.nr; i++)
		if (set.events[i].lock == LOCK + 8)
			ok(set.events[i].begin == 1525 && set.events[i].resolution == 525,
			   "frame not seen: [1000, 2050]");
		else if (set.events[i].lock == LOCK + 16)
			ok(set.events[i].begin == 3500 && set.events[i].resolution == 1500,
			   "after the last frame: [2000, 5000], not past the unlock");
		else if (set.events[i].lock == LOCK)
			ok(set.events[i].begin == 1525 && set.events[i].resolution == 525,
			   "frame seen: [1000, 2050]");
	is_bound(1, 8000, 50, 1100, "before the first frame");
	is_bound(1, 8001, 6000, 8001, "after the last frame");
	is_bound(1, 700, 50, 700, "no generation");
	end();
}

static void test_events(void)
{
	made_begin(&t, "convoy.data");
	made_thread(&t, 1, "a", 0, 100000);
	made_thread(&t, 2, "b", 0, 100000);
	made_func(&t, 1, (void *)1, NULL, 1, 0, 0, 100, 50000, 0);
	made_func(&t, 2, (void *)1, NULL, 1, 0, 0, 100, 50000, 0);
	made_bounded_hold(&t, 1, LOCK, 3000, 1);
	made_wait(&t, 2, LOCK, 1, 2000, 3010, 1);	/* names 1: it had the lock at 2000 */
	made_bounded_hold(&t, 2, LOCK, 5000, 1);	/* not before 1 let go at 3000 */
	made_wait(&t, 3, LOCK, 2, 4000, 5010, 1);
	made_wait(&t, 3, LOCK + 8, 1, 500, 600, 1);	/* of another lock */
	resolve();
	is_bound(1, 3000, 100, 2000, "a wait that names the holder is an upper bound");
	is_bound(2, 5000, 3000, 4000, "the hold before is a lower bound");
	end();
}

/* A frame that was there when the recording began: when it was entered is not known. */
static void test_from_start(void)
{
	made_begin(&t, "from-start.data");
	made_thread(&t, 1, "a", 50, 100000);
	writer_add_func(t.w, &(struct ldb_row_func){
		.tid = 1, .pc = 1, .gen = GEN(10), .start_max = 600, .end_max = 9000,
		.flags = LDB_FUNC_F_FROM_START });
	made_bounded_hold(&t, 1, LOCK, 5000, 10);
	resolve();
	is_bound(1, 5000, 50, 5000, "since the thread began");
	end();
}

static const char *place_of(uint64_t lock)
{
	for (size_t i = 0; i < set.nr; i++)
		if (set.events[i].lock == lock && set.events[i].where)
			return set.events[i].where->function;
	return "none";
}

/* A frame, and a hold whose call stands in a system header. */
static void made_frame(unsigned gen, unsigned parent, const char *ret)
{
	made_func(&t, 1, (char *)in_header + 1, ret, gen, parent, parent ? 1 : 0, 1000, 9000, 0);
}

static void made_place(uint64_t lock, unsigned gen)
{
	writer_add_lock(t.w, &(struct ldb_row_lock){
		.op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_MUTEX | LDB_LOCK_F_BEGIN_EXACT, .tid = 1,
		.lock = lock, .begin = 2000, .end = 3000, .gen = GEN(gen),
		.site = (uintptr_t)in_header + 2 });
}

static void test_places(void)
{
	made_begin(&t, "places.data");
	made_thread(&t, 1, "a", 0, 100000);
	made_frame(11, 10, (char *)in_source + 2);
	made_frame(10, 0, (char *)in_other + 1);
	made_frame(21, 20, (char *)in_other + 1);
	made_frame(20, 0, (char *)in_source + 2);
	made_frame(31, 30, (char *)in_other + 1);
	made_frame(30, 0, (char *)8);
	made_frame(41, 40, (char *)8);
	made_frame(40, 0, (char *)in_source + 2);
	for (unsigned i = 1; i <= 5; i++)
		made_place(LOCK + i, i * 10 + 1);
	resolve();
	is_str(place_of(LOCK + 1), "in_source", "a call in a header: who called its function");
	is_str(place_of(LOCK + 2), "in_source", "or the next one outwards");
	is_str(place_of(LOCK + 3), "in_header", "nobody in the user's source: where it was");
	is_str(place_of(LOCK + 4), "in_header", "no further than what is not known");
	is_str(place_of(LOCK + 5), "in_header", "a frame that was not seen");
	end();
}

/* A tid that is used by a second thread, whose generations start again. */
static void test_reuse(void)
{
	made_begin(&t, "reuse.data");
	made_thread(&t, 1, "first", 0, 9999);
	made_thread(&t, 1, "second", 10000, 20000);
	made_func(&t, 1, (void *)1, NULL, 5, 0, 0, 1000, 2000, 0);
	made_func(&t, 1, (void *)1, NULL, 6, 0, 0, 3000, 4000, 0);
	made_func(&t, 1, (void *)1, NULL, 5, 0, 0, 11000, 12000, 0);
	made_func(&t, 1, (void *)1, NULL, 6, 0, 0, 13000, 14000, 0);
	made_bounded_hold(&t, 1, LOCK, 3500, 5);
	made_bounded_hold(&t, 1, LOCK, 13500, 5);
	resolve();
	is_bound(1, 3500, 1000, 3000, "the first thread");
	is_bound(1, 13500, 11000, 13000, "the second thread of that tid");
	end();
}

static void test_report(void)
{
	struct locks_options o = LOCKS_OPTIONS_ALL;
	struct locks l;

	made_begin(&t, "locks.data");
	made_thread(&t, 1, "one", 0, 1000000);
	made_thread(&t, 2, "two", 0, 1000000);
	for (int i = 0; i < 10; i++) {
		made_hold(&t, 1, LOCK, i * 1000, i * 1000 + 500, 0);
		made_wait(&t, 2, LOCK, 1, i * 1000 + 100, i * 1000 + 500 + i, 0);
	}
	made_lock(&t, LDB_LOCK_OP_WAIT, LDB_LOCK_RWLOCK_RD, 2, LOCK + 64, 0, 50000, 90000, 0);
	made_lock(&t, LDB_LOCK_OP_WAIT, LDB_LOCK_RWLOCK_WR | LDB_LOCK_F_FAILED, 1, LOCK + 64, 0,
		  50000, 51000, 0);
	made_lock(&t, 77, LDB_LOCK_MUTEX, 1, LOCK, 0, 0, 1, 0);	/* of a later version */
	made_open(&t);
	is_int(locks_build(t.model, &o, &l), 0, "locks_build");
	is_int(l.nr, 2, "two locks");
	ok(l.entries[0].lock == LOCK + 64 && l.entries[0].waits.count == 2 &&
	   l.entries[0].waits.failed == 1 && l.entries[0].waits.total_ns == 41000,
	   "readers and writers of one lock are together, the longest wait comes first");
	is_int(l.entries[0].nr_sites, 2, "and apart by kind");
	ok(l.entries[1].waits.count == 10 && l.entries[1].waits.p50_ns == 404 &&
	   l.entries[1].waits.max_ns == 409 && l.entries[1].holds.count == 10 &&
	   l.entries[1].holds.total_ns == 5000, "waits and holds");
	ok(l.entries[1].nr_owners == 1 && l.entries[1].owners[0].tid == 1 &&
	   l.entries[1].owners[0].waits == 10 && l.entries[1].owners[0].holds == 10 &&
	   l.entries[1].owners[0].wait_ns == 4045, "who held it");
	is_int(locks_sort(&l, "count"), 0, "sorted by count");
	is_int(l.entries[0].lock, LOCK, "the one with more waits");
	ok(locks_sort(&l, "caller") < 0, "no such order");
	locks_free(&l);
	o.thread = "t?o";
	locks_build(t.model, &o, &l);
	ok(l.nr == 2 && l.nr_holds == 0 && l.nr_waits == 11, "of one thread");
	locks_free(&l);
	made_close(&t);
}

int main(void)
{
	test_frames();
	test_events();
	test_from_start();
	test_places();
	test_reuse();
	test_report();
	sample_cleanup();
	return done();
}
