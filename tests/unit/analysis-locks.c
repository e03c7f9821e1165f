// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests locks: bounds of holds that were not stamped, totals, call sites, holders. */
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
	/* Frame 10 was entered in [1000, 1100], 12 in [2000, 2050]; 11 was not observed. */
	made_func(&t, .tid = 1, .pc = (void *)1, .gen = 10, .start = 1050, .end = 9000, .unc = 100);
	made_func(&t, .tid = 1, .pc = (void *)1, .gen = 12, .parent = 10, .depth = 1, .start = 2025,
		  .end = 2900, .unc = 50);
	made_func(&t, .tid = 1, .pc = (void *)1, .gen = 30, .parent = 10, .depth = 1, .start = 6000,
		  .end = 6900);
	/* in frame 10, before 12 */
	made_bounded_hold(&t, .tid = 1, .lock = LOCK, .end = 5000, .gen = 10);
	/* in 11: after 10, before 12 */
	made_bounded_hold(&t, .tid = 1, .lock = LOCK + 8, .end = 5000, .gen = 11);
	/* after 12, before 30, before the end of the hold */
	made_bounded_hold(&t, .tid = 1, .lock = LOCK + 16, .end = 5000, .gen = 20);
	/* before 10: no lower bound but the thread */
	made_bounded_hold(&t, .tid = 1, .lock = LOCK + 24, .end = 8000, .gen = 5);
	/* after 30 */
	made_bounded_hold(&t, .tid = 1, .lock = LOCK + 32, .end = 8001, .gen = 40);
	/* only the thread is known */
	made_bounded_hold(&t, .tid = 1, .lock = LOCK + 40, .end = 700);
	/* The same generations on another thread, and in another block, have no effect. */
	made_func(&t, .tid = 2, .pc = (void *)1, .gen = 11, .start = 1500, .end = 1600);
	writer_add_func(t.w, &(struct ldb_row_func){
		.tid = 1, .pc = 1, .gen = GEN(11) | 1, .start_max = 1600, .end_max = 1700 });
	resolve();
	for (size_t i = 0; i < set.nr; i++)
		if (set.events[i].lock == LOCK + 8)
			ok(set.events[i].begin == 1525 && set.events[i].resolution == 525,
			   "frame not observed: [1000, 2050]");
		else if (set.events[i].lock == LOCK + 16)
			ok(set.events[i].begin == 3500 && set.events[i].resolution == 1500,
			   "after the last frame: [2000, 5000], not past the unlock");
		else if (set.events[i].lock == LOCK)
			ok(set.events[i].begin == 1525 && set.events[i].resolution == 525,
			   "frame observed: [1000, 2050]");
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
	made_func(&t, .tid = 1, .pc = (void *)1, .gen = 1, .start = 100, .end = 50000);
	made_func(&t, .tid = 2, .pc = (void *)1, .gen = 1, .start = 100, .end = 50000);
	made_bounded_hold(&t, .tid = 1, .lock = LOCK, .end = 3000, .gen = 1);
	/* This wait names thread 1, which therefore had the lock at 2000. */
	made_wait(&t, .tid = 2, .lock = LOCK, .owner = 1, .begin = 2000, .end = 3010, .gen = 1);
	/* Thread 2 cannot have had the lock before thread 1 released it at 3000. */
	made_bounded_hold(&t, .tid = 2, .lock = LOCK, .end = 5000, .gen = 1);
	made_wait(&t, .tid = 3, .lock = LOCK, .owner = 2, .begin = 4000, .end = 5010, .gen = 1);
	/* this wait is for another lock */
	made_wait(&t, .tid = 3, .lock = LOCK + 8, .owner = 1, .begin = 500, .end = 600, .gen = 1);
	resolve();
	is_bound(1, 3000, 100, 2000, "a wait that names the holder is an upper bound");
	is_bound(2, 5000, 3000, 4000, "the hold before is a lower bound");
	end();
}

/* This frame existed when the recording began, so it is not known when it was entered. */
static void test_from_start(void)
{
	made_begin(&t, "from-start.data");
	made_thread(&t, 1, "a", 50, 100000);
	writer_add_func(t.w, &(struct ldb_row_func){
		.tid = 1, .pc = 1, .gen = GEN(10), .start_max = 600, .end_max = 9000,
		.flags = LDB_FUNC_F_FROM_START });
	made_bounded_hold(&t, .tid = 1, .lock = LOCK, .end = 5000, .gen = 10);
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

/* Makes a frame of a function in a system header; ret: the return address, in its caller. */
static void made_frame(unsigned gen, unsigned parent, const char *ret)
{
	made_func(&t, .tid = 1, .pc = (char *)in_header + 1, .ret = ret, .gen = gen,
		  .parent = parent, .depth = parent ? 1 : 0, .start = 1000, .end = 9000);
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
	is_str(place_of(LOCK + 5), "in_header", "a frame that was not observed");
	end();
}

/* A second thread uses the same tid, and its generations start again. */
static void test_reuse(void)
{
	made_begin(&t, "reuse.data");
	made_thread(&t, 1, "first", 0, 9999);
	made_thread(&t, 1, "second", 10000, 20000);
	made_func(&t, .tid = 1, .pc = (void *)1, .gen = 5, .start = 1000, .end = 2000);
	made_func(&t, .tid = 1, .pc = (void *)1, .gen = 6, .start = 3000, .end = 4000);
	made_func(&t, .tid = 1, .pc = (void *)1, .gen = 5, .start = 11000, .end = 12000);
	made_func(&t, .tid = 1, .pc = (void *)1, .gen = 6, .start = 13000, .end = 14000);
	made_bounded_hold(&t, .tid = 1, .lock = LOCK, .end = 3500, .gen = 5);
	made_bounded_hold(&t, .tid = 1, .lock = LOCK, .end = 13500, .gen = 5);
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
		made_hold(&t, .tid = 1, .lock = LOCK, .begin = i * 1000, .end = i * 1000 + 500);
		made_wait(&t, .tid = 2, .lock = LOCK, .owner = 1, .begin = i * 1000 + 100,
			  .end = i * 1000 + 500 + i);
	}
	made_lock(&t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_RWLOCK_RD, .tid = 2,
		  .lock = LOCK + 64, .begin = 50000, .end = 90000);
	made_lock(&t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_RWLOCK_WR | LDB_LOCK_F_FAILED,
		  .tid = 1, .lock = LOCK + 64, .begin = 50000, .end = 51000);
	made_lock(&t, .op = 77, .flags = LDB_LOCK_MUTEX, .tid = 1, .lock = LOCK, .begin = 0,
		  .end = 1);	/* a kind of a later version */
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
	return done();
}
