// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which thread released a lock to which other thread, reported thread by thread. */
#include "analysis/tracks/tracks.h"
#include "export/handover.h"
#include "analysis-sample.h"

#define LOCK	((uint64_t)0x1000)
#define OTHER	((uint64_t)0x2000)

struct end {
	struct handover_end e;
	uint32_t tid;
};

struct got {
	struct made *t;
	struct handover h;
	uint32_t tid;
	struct end ends[64];
	size_t nr;
};

static int on_end(void *arg, const struct handover_end *e)
{
	struct got *g = arg;

	if (g->nr < 64)
		g->ends[g->nr++] = (struct end){ *e, g->tid };
	return 0;
}

static int on_segment(void *arg, const struct segment *s)
{
	struct got *g = arg;

	g->tid = s->tid;
	return handover_each(&g->h, g->t->model, s, on_end, g);
}

static void walk(struct got *g, struct made *t, const struct export_options *o)
{
	struct tracks_options options = TRACKS_OPTIONS_ALL;
	struct tracks_sink sink = { .segment = on_segment, .arg = g };
	struct tracks_result result;

	*g = (struct got){ .t = t };
	if (handover_open(&g->h, t->model, o) || tracks_each(t->model, &options, &sink, &result))
		bail_out("handover_open");
	handover_close(&g->h);
}

static const struct end *find(const struct got *g, uint64_t nr, bool is_wait)
{
	const struct end *found = NULL;

	for (size_t i = 0; i < g->nr; i++) {
		if (g->ends[i].e.nr != nr || g->ends[i].e.is_wait != is_wait)
			continue;
		if (found)
			return NULL;	/* reported twice */
		found = &g->ends[i];
	}
	return found;
}

/* Returns true if thread `from` released the lock at `gave`, and thread `to` got it at `got`. */
static bool has_pair(const struct got *g, uint32_t from, int64_t gave, uint32_t to, int64_t got)
{
	for (uint64_t nr = 1; nr <= 64; nr++) {
		const struct end *a = find(g, nr, false), *b = find(g, nr, true);

		if (a && b && a->tid == from && b->tid == to && a->e.at == gave && b->e.at == got)
			return true;
	}
	return false;
}

static void make(struct made *t)
{
	made_begin(t, "handover.data");
	for (uint32_t tid = 1; tid <= 4; tid++)
		made_thread(t, tid, "worker", 0, 1000000);
	/*
	 * This is a convoy: thread 2 releases the lock to thread 1, and thread 1 releases it to
	 * thread 3.
	 */
	made_hold(t, .tid = 2, .lock = LOCK, .begin = 10000, .end = 20000);
	made_wait(t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 15000, .end = 21000);
	made_hold(t, .tid = 1, .lock = LOCK, .begin = 21000, .end = 30000);
	made_wait(t, .tid = 3, .lock = LOCK, .owner = 2, .begin = 16000, .end = 30500);
	made_hold(t, .tid = 3, .lock = LOCK, .begin = 30500, .end = 31000);
	/* The end of this hold is stamped after the waiter continued. */
	made_hold(t, .tid = 2, .lock = LOCK, .begin = 40000, .end = 52000);
	made_wait(t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 45000, .end = 51500);
	made_hold(t, .tid = 1, .lock = LOCK, .begin = 51500, .end = 51900);
	/*
	 * Cases without a handover: no hold was recorded; the hold was of another lock; the wait
	 * failed; the hold ended long before.
	 */
	made_wait(t, .tid = 1, .lock = OTHER, .owner = 2, .begin = 60000, .end = 70000);
	made_lock(t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_MUTEX | LDB_LOCK_F_FAILED, .tid = 4,
		  .lock = LOCK, .owner = 2, .begin = 80000, .end = 82000);
	made_hold(t, .tid = 2, .lock = LOCK, .begin = 79000, .end = 81000);
	made_wait(t, .tid = 4, .lock = LOCK, .owner = 2, .begin = 90000, .end = 99000);
	/* Readers wait for a writer, and not for other readers. */
	made_lock(t, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_RWLOCK_RD | LDB_LOCK_F_BEGIN_EXACT,
		  .tid = 2, .lock = OTHER, .begin = 200000, .end = 210000);
	made_lock(t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_RWLOCK_RD, .tid = 1, .lock = OTHER,
		  .begin = 205000, .end = 211000);
	made_lock(t, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_RWLOCK_WR | LDB_LOCK_F_BEGIN_EXACT,
		  .tid = 3, .lock = OTHER, .begin = 220000, .end = 230000);
	made_lock(t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_RWLOCK_RD, .tid = 1, .lock = OTHER,
		  .begin = 225000, .end = 231000);
	made_open(t);
}

/*
 * Two threads waited for the lock in the same interval, and the wait of the first one is not drawn:
 * its end of the handover is not reported at the wait of the second one.
 */
static void test_same_time(void)
{
	struct export_options o = { .from = INT64_MIN, .to = INT64_MAX };
	struct segment first = {
		.tid = 1, .kind = SEGMENT_LOCK_HOLD, .lock = OTHER, .start = 15000, .end = 16000,
	};
	struct segment second = {
		.tid = 4, .kind = SEGMENT_LOCK_WAIT, .lock = LOCK, .start = 15000, .end = 21000,
	};
	struct made t;
	struct got g = { .t = &t };

	make(&t);
	if (handover_open(&g.h, t.model, &o) ||
	    handover_each(&g.h, t.model, &first, on_end, &g) ||
	    handover_each(&g.h, t.model, &second, on_end, &g))
		bail_out("handover_each");
	is_int(g.nr, 0, "an end of another thread is not reported");
	handover_close(&g.h);
	made_close(&t);
}

int main(void)
{
	struct export_options o = { .from = INT64_MIN, .to = INT64_MAX };
	struct instance instance = { .id = 1, .start = 44000, .end = 53000, .class = "" };
	struct made t;
	struct got g;

	make(&t);
	walk(&g, &t, &o);
	ok(has_pair(&g, 2, 20000, 1, 21000), "from the holder");
	ok(has_pair(&g, 1, 30000, 3, 30500), "from the last holder, not the one it waited for first");
	ok(has_pair(&g, 2, 51500, 1, 51500), "an unlock that was stamped late is not after the lock");
	ok(has_pair(&g, 3, 230000, 1, 231000), "from a writer to a reader");
	is_int(g.nr, 8, "and no others");
	is_int(g.h.nr_flows, 4, "counted");

	/* Only events during a request count. */
	o.has_instances = true;
	o.instances = &instance;
	o.nr_instances = 1;
	if (export_find_windows(&o))
		bail_out("export_find_windows");
	walk(&g, &t, &o);
	ok(has_pair(&g, 2, 51500, 1, 51500), "the one within the request");
	is_int(g.nr, 2, "alone");
	free(o.windows);
	made_close(&t);
	test_same_time();
	return done();
}
