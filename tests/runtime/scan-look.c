// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what one poll concludes: scan/look.c alone, with simulated walks whose results a test sets,
 * and a clock that advances by a microsecond with each stamp.
 */
#define _GNU_SOURCE
#include "scan/scan.h"
#include "tap.h"

#define US	1000ULL

struct session session;
_Atomic uint32_t nr_blocks;
intptr_t block_off[LDB_BLOCKS_MAX];
static struct scanner all_scanners[LDB_MAX_SCANNERS];
struct scanner *scanners = all_scanners;

static struct ldb_thread block;
static struct thread thread;
static struct ldb_page page;
static struct ldb_stack stack;
static struct ldb_scan_stats stats;
static struct scan_state state;
static uint64_t now;

static struct found {			/* result of a walk */
	enum walk_end end;
	int known;
	uint32_t nr;
	uint64_t bottom_gen;
	bool moves;			/* the thread changes its stack during the walk */
} walks[2];
static unsigned nr_walks;

static struct {
	unsigned times;
	int known;
	uint32_t nr;
} applied;

uint64_t session_clock(void)
{
	return now += US;
}

bool pace_is_gap(uint64_t ticks)
{
	(void)ticks;
	return false;
}

void pace_gap(struct scanner *s, uint32_t tid, uint64_t begin, uint64_t end)
{
	(void)s, (void)tid, (void)begin, (void)end;
}

void pace_stamp(struct scanner *s, uint64_t stamp)
{
	s->stamp = stamp;
}

bool pace_settle(struct scan_state *st, uint64_t lo, bool known, bool still)
{
	(void)st, (void)lo, (void)known, (void)still;
	return false;
}

void pace_walked(struct scan_state *st, bool valid)
{
	(void)st, (void)valid;
}

void pace_pay(struct scanner *s, struct scan_state *st, uint64_t took, uint32_t frames)
{
	(void)s, (void)st, (void)took, (void)frames;
}

static unsigned nr_changed, nr_still;	/* calls of schedstat_changed() and schedstat_still() */

void schedstat_changed(struct scanner *s, struct scan_state *st, uint64_t lo)
{
	(void)s, (void)st, (void)lo;
	nr_changed++;
}

void schedstat_still(struct scanner *s, struct scan_state *st, uint64_t lo)
{
	(void)s, (void)st, (void)lo;
	nr_still++;
}

void frame_walk(struct walk *w, const struct scan_state *st, unsigned b, uintptr_t top, uint64_t gen)
{
	const struct found *f = &walks[nr_walks++];

	(void)st, (void)b, (void)top, (void)gen;
	w->end = f->end;
	w->known = f->known;
	w->nr = f->nr;
	for (uint32_t i = 0; i < f->nr; i++)
		w->f[i] = (struct scan_frame){ .gen = f->bottom_gen + (f->nr - 1 - i) * LDB_GEN_ONE };
	if (f->moves)
		block.gen += LDB_GEN_ONE;
}

void track_apply(struct scanner *s, struct scan_state *st, unsigned b, int known,
		 const struct scan_frame *f, uint32_t nr, uint64_t hi)
{
	(void)s, (void)st, (void)b, (void)f, (void)hi;
	applied.times++;
	applied.known = known;
	applied.nr = nr;
}

/*
 * Three frames are known; the walks find a given number of these, and a given number of new ones.
 */
static void look_with(struct found x, struct found y)
{
	struct scanner *s = &scanners[0];

	memset(&state, 0, sizeof(state));
	memset(&applied, 0, sizeof(applied));
	session.clock_id = LDB_CLOCK_MONO;
	atomic_store(&nr_blocks, 1);
	thread = (struct thread){ .tid = 1, .tp = (uintptr_t)&block, .stack_hi = UINTPTR_MAX };
	state.t = &thread;
	state.page = &page;
	state.stack = &stack;
	state.depth = 3;
	block.gen = 100 * LDB_GEN_ONE;
	block.top = (struct ldb_frame *)0x1000;
	look_blocks_new(&state, 1);
	s->stats = &stats;
	walks[0] = x;
	walks[1] = y;
	nr_walks = 0;
	look(s, &state, now += US);
}

static const struct found moving = { .moves = true };

static struct found known(int k, uint32_t nr, uint64_t gen)
{
	struct found f = moving;

	f.end = k < 0 ? WALK_BOTTOM : WALK_KNOWN;
	f.known = k;
	f.nr = nr;
	f.bottom_gen = gen * LDB_GEN_ONE;
	return f;
}

/*
 * If the recorder wants the kernel's counters, they are read both when a thread has changed and
 * when it has not.
 */
static void test_counters(struct found still)
{
	nr_changed = nr_still = 0;
	look_with(still, known(-1, 0, 0));
	is_int(nr_changed, 0, "a change: no counters are read if the recorder wants none");
	session.schedstat_after = 1;
	look_with(still, known(-1, 0, 0));
	is_int(nr_changed, 1, "a change: the counters are read if the recorder wants them");
	session.schedstat_after = 0;
	nr_still = 0;
	state.count_at = UINT64_MAX;
	look(&scanners[0], &state, now += US);
	is_int(nr_still, 0, "no change: the counters are not read before it is time");
	state.count_at = now;
	look(&scanners[0], &state, now += US);
	is_int(nr_still, 1, "no change: the counters are read when it is time");
}

int main(void)
{
	struct found still = known(1, 2, 90);

	still.moves = false;
	test_counters(still);
	look_with(still, known(-1, 0, 0));
	is_int(nr_walks, 1, "the stack of a thread that does not change it is read once");
	is_int(applied.known, 1, "the known frames that this walk found remain known");
	is_int(applied.nr, 2, "its new frames are added");

	look_with(known(2, 3, 90), known(2, 2, 95));
	is_int(nr_walks, 2, "the stack of a thread that changes it is read twice");
	is_int(applied.known, 2, "known frames that both walks found remain known");
	is_int(applied.nr, 0, "new frames that only one walk found are not added");

	look_with(known(1, 2, 90), known(1, 2, 90));
	is_int(applied.known, 1, "known frames that no walk found have ended");
	is_int(applied.nr, 2, "new frames that both walks found are added");

	look_with(known(2, 1, 90), known(-1, 1, 95));
	is_int(applied.times, 1, "the second walk ended too early: the poll is still reported");
	is_int(applied.known, 2, "known frames that the first walk found have not ended");
	is_int(applied.nr, 0, "the new frame of one walk alone is not added");

	look_with(known(-1, 1, 95), known(2, 1, 90));
	is_int(applied.times, 0, "the first walk ended too early: nothing is reported");
	ok(state.failed, "the state is not known if the first walk ended too early");

	return done();
}
