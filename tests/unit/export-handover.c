// SPDX-License-Identifier: GPL-2.0-or-later
/* Who gave a lock to whom, told thread by thread. */
#include "analysis/timeline/tracks.h"
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
			return NULL;	/* told twice */
		found = &g->ends[i];
	}
	return found;
}

/* Did from give it at one time to to, who got it at another? */
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
	/* A convoy: 2 gives it to 1, who gives it to 3. */
	made_hold(t, 2, LOCK, 10000, 20000, 0);
	made_wait(t, 1, LOCK, 2, 15000, 21000, 0);
	made_hold(t, 1, LOCK, 21000, 30000, 0);
	made_wait(t, 3, LOCK, 2, 16000, 30500, 0);
	made_hold(t, 3, LOCK, 30500, 31000, 0);
	/* Stamped after the waiter went on. */
	made_hold(t, 2, LOCK, 40000, 52000, 0);
	made_wait(t, 1, LOCK, 2, 45000, 51500, 0);
	made_hold(t, 1, LOCK, 51500, 51900, 0);
	/* No hold was recorded, of another lock, given up, long before. */
	made_wait(t, 1, OTHER, 2, 60000, 70000, 0);
	made_lock(t, LDB_LOCK_OP_WAIT, LDB_LOCK_MUTEX | LDB_LOCK_F_FAILED, 4, LOCK, 2, 80000, 82000, 0);
	made_hold(t, 2, LOCK, 79000, 81000, 0);
	made_wait(t, 4, LOCK, 2, 90000, 99000, 0);
	/* Readers do not wait for readers, but for the writer. */
	made_lock(t, LDB_LOCK_OP_HOLD, LDB_LOCK_RWLOCK_RD | LDB_LOCK_F_BEGIN_EXACT, 2, OTHER, 0, 200000,
		  210000, 0);
	made_lock(t, LDB_LOCK_OP_WAIT, LDB_LOCK_RWLOCK_RD, 1, OTHER, 0, 205000, 211000, 0);
	made_lock(t, LDB_LOCK_OP_HOLD, LDB_LOCK_RWLOCK_WR | LDB_LOCK_F_BEGIN_EXACT, 3, OTHER, 0, 220000,
		  230000, 0);
	made_lock(t, LDB_LOCK_OP_WAIT, LDB_LOCK_RWLOCK_RD, 1, OTHER, 0, 225000, 231000, 0);
	made_open(t);
}

int main(void)
{
	struct export_options o = { .from = INT64_MIN, .to = INT64_MAX };
	struct life life = { .id = 1, .start = 44000, .end = 53000, .class = "" };
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

	/* Only what happened during a request. */
	o.has_lives = true;
	o.lives = &life;
	o.nr_lives = 1;
	if (export_find_windows(&o))
		bail_out("export_find_windows");
	walk(&g, &t, &o);
	ok(has_pair(&g, 2, 51500, 1, 51500), "the one within the request");
	is_int(g.nr, 2, "alone");
	free(o.windows);
	made_close(&t);
	sample_cleanup();
	return done();
}
