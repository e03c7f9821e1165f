// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which waits for a CPU are in the sums of ldb-record --metrics. */
#include <linux/ldb.h>
#include "record/metrics/private.h"
#include "tap.h"

enum { R = LDB_STATE_RUNNING, S = LDB_STATE_SLEEPING, X = LDB_STATE_DEAD };

#define TID	7
#define OTHER	900
#define US	1000		/* a tick is a nanosecond */

static struct metrics *m;

static void row(struct ldb_row_sched r)
{
	metrics_sched(m, &r, 1);
}

static void out(int64_t us, unsigned state)
{
	row((struct ldb_row_sched){ .op = LDB_SCHED_OP_SWITCH, .flags = LDB_SCHED_F_TID | state,
				    .tick = us * US, .tid = TID, .other = OTHER });
}

static void in(int64_t us)
{
	row((struct ldb_row_sched){ .op = LDB_SCHED_OP_SWITCH, .flags = LDB_SCHED_F_OTHER | R,
				    .tick = us * US, .tid = OTHER, .other = TID });
}

static void wakeup(int64_t us, unsigned flags)
{
	row((struct ldb_row_sched){ .op = LDB_SCHED_OP_WAKEUP, .flags = LDB_SCHED_F_TID | flags,
				    .tick = us * US, .tid = TID, .other = OTHER });
}

static void waking(int64_t us)
{
	row((struct ldb_row_sched){ .op = LDB_SCHED_OP_WAKING, .flags = LDB_SCHED_F_OTHER,
				    .tick = us * US, .tid = OTHER, .other = TID });
}

static bool is_known;

static bool is_of_program(void *arg, uint32_t tid)
{
	return is_known;
}

static void begin(void)
{
	struct metrics_options o = { 0 };

	m = metrics_alloc(&o, 1.0, NULL);
	if (!m)
		bail_out("no memory");
}

static void waits(const char *what, uint64_t nr, uint64_t longest_us)
{
	const struct kind *k = &m->kinds[METRICS_CPU];
	uint64_t got = k->nr ? k->all[0].dist.nr : 0, max = k->nr ? k->all[0].dist.max : 0;

	if (!ok(got == nr && max == longest_us * US, "%s", what))
		diag("%lu waits, the longest of %lu ns", (unsigned long)got, (unsigned long)max);
	metrics_free(m);
}

int main(void)
{
	begin();
	in(10);
	out(100, R);
	in(130);
	out(200, S);
	wakeup(300, 0);
	in(305);
	waits("a preempted thread, and one that was woken", 2, 30);

	begin();
	out(100, S | LDB_SCHED_F_PREEMPT);
	in(140);
	waits("it was preempted on its way to sleep", 1, 40);

	begin();
	wakeup(100, 0);
	in(150);
	waits("whose sleep began before the rows is not counted", 0, 0);

	begin();
	wakeup(100, LDB_SCHED_F_NEW);
	in(150);
	waits("the first wait of a thread", 1, 50);

	begin();
	in(100);
	wakeup(200, 0);
	out(900, R);
	in(910);
	waits("it was woken while it ran, and is preempted later", 1, 10);

	begin();
	in(100);
	wakeup(200, 0);
	out(900, S);
	in(910);
	waits("a wake-up long before a sleep was not of this one", 0, 0);

	begin();
	in(100);
	wakeup(200, 0);
	out(210, S);
	in(250);
	waits("the wake-up has an earlier time stamp than the switch out", 1, 40);

	begin();
	out(100, S);
	waking(200);
	in(260);
	waits("the wake-up is lost, but not who began it", 1, 60);

	begin();
	out(100, S);
	in(260);
	waits("neither is known", 0, 0);

	begin();
	out(100, R);
	out(200, R);
	in(230);
	waits("a switch in is lost", 1, 30);

	begin();
	out(100, R);
	in(130);
	out(200, X);
	in(300);
	waits("another thread has its tid", 1, 30);

	begin();
	metrics_on_thread(m, is_of_program, NULL);
	wakeup(100, LDB_SCHED_F_NEW);
	is_known = true;
	in(130);
	out(200, R);
	is_known = false;
	in(220);
	waits("it became known after it began, and its place is free again", 2, 30);

	begin();
	metrics_on_thread(m, is_of_program, NULL);
	out(100, R);
	in(130);
	waits("threads of ldb are not counted", 0, 0);
	return done();
}
