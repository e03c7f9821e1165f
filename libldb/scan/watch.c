// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Chooses the threads to poll.  (raw thread)
 *
 * A scanner has a list of active threads.  It takes a few of them at a time (a stint), sets their
 * hazard pointers once, and polls them repeatedly.  All other threads are idle: they have not
 * changed for a long time, or the kernel module reports that they do not run.  Between two stints a
 * few idle threads are polled (the sweep), so a thousand sleeping threads do not delay the polls of
 * two that run.
 *
 * With the kernel module a thread becomes active when the module reports it on a CPU (k_slot in the
 * header of each CPU's ring), and idle when it has left the CPU and was polled after that; while it
 * is idle, only the sweep reads its cache lines, and finds threads that ran in between.  Without
 * the module a thread stays active for a while after it was last found changed.  What an idle
 * thread does is known to happen after its last poll, so the bounds of events are wide but true.
 *
 * Each thread belongs to one scanner, and no other scanner polls it or changes its state.  A
 * scanner hands a thread to another one that has at least two fewer threads that change.
 */
#include "scan.h"

/* polls of each thread in a stint, if all active threads fit into it */
#define STINT_ROUNDS	32
#define SWEEP		8		/* idle threads polled between two stints */
#define SWEEP_ASLEEP	1		/* the same if the module reports which threads run */
#define IDLE_NS		1000000		/* a thread that has not changed for this long is idle */
#define LONG_ROUND_NS	5000
/*
 * while rounds take long, threads that work on no request are polled only in 1 of this many rounds
 */
#define BEHIND_SKIP	4
#define BALANCE_NS	10000000
#define BUSY_NS		50000000	/* a thread that has changed within this time is busy */

struct scanner *scanners;
struct scan_state *states;

/*
 * Tells the module which page the thread has, and where its block is.  A scanner does this because
 * the device's descriptor is in the control thread's file table, which scanners share and program
 * threads do not.
 */
static void register_thread(struct scan_state *st)
{
	struct ldb_reg reg = {
		.tid = st->t->tid, .slot = st->t->slot,
		.tls = st->nr_blocks ? (uintptr_t)(st->t->tp + block_off[0]) : 0,
	};

	st->reg_blocks = st->nr_blocks;
	st->asleep_seq = 0;
	/*
	 * if the module refuses, the thread's switches have no frame, and it is polled continuously
	 */
	sys(SYS_ioctl, session.device, LDB_IOC_REG, &reg);
}

/*
 * Returns k_seq of a thread; 0 if the module does not report on it, or if the page still has the
 * values of the thread that had it before.
 */
static uint32_t kernel_seq(const struct scan_state *st)
{
	uint32_t seq = order_kernel_seq(st->page);

	return st->reg_blocks >= 0 && st->page->k_tid == st->t->tid ? seq : 0;
}

/*
 * If the thread was off its CPU at the last poll and has been switched in once since then (k_seq is
 * seq now), its stack was unchanged until it was switched in.
 */
static void woken(struct scan_state *st, uint32_t seq, uint64_t lo)
{
	uint64_t in = order_kernel_in(st->page);

	/* a k_tsc_in that was not updated yet is earlier than last_ok */
	if (st->asleep_seq && seq == st->asleep_seq + 1 && kernel_seq(st) == seq &&
	    in > st->last_ok && in < lo)
		st->last_ok = in;
}

static void look_registered(struct scanner *s, struct scan_state *st, uint64_t lo)
{
	uint32_t seq;

	if (unlikely(st->reg_blocks < 0 || (!st->reg_blocks && st->nr_blocks)))
		register_thread(st);
	seq = kernel_seq(st);
	if (!st->failed)
		woken(st, seq, lo);
	look(s, st, lo);
	st->asleep_seq = !st->failed && !st->settling && seq % 2 == 0 ? seq : 0;
}

/* Returns true if the thread has not run since it was last polled: its stack is unchanged. */
static bool still_asleep(struct scanner *s, struct scan_state *st, uint64_t lo)
{
	if (!st->asleep_seq || kernel_seq(st) != st->asleep_seq)
		return false;
	s->stats->pages++;
	st->last_ok = lo;
	st->page->last_look_tsc = lo;
	return true;
}

static void visit(struct scanner *s, struct scan_state *st, uint64_t lo)
{
	s->stats->pages++;
	if (session.device >= 0)
		look_registered(s, st, lo);
	else
		look(s, st, lo);
}

/* The list of active threads */

static bool is_active(const struct scanner *s, const struct scan_state *st, const struct thread *t)
{
	return (uint32_t)st->place < s->nr_active && s->active[st->place] == t;
}

static void activate(struct scanner *s, struct scan_state *st, struct thread *t)
{
	if (s->nr_active == SESSION_THREADS_MAX)
		return;
	st->place = s->nr_active;
	s->active[s->nr_active++] = t;
}

/* Removes a thread from the list; the last one takes its place. */
static void remove_active(struct scanner *s, uint32_t i)
{
	struct thread *t = s->active[--s->nr_active];
	struct scan_state *st = t->scan;

	s->active[i] = t;
	if (st && order_owner_is(&st->scanner, s->id))
		st->place = i;
}

static void deactivate(struct scanner *s, struct scan_state *st)
{
	if (is_active(s, st, st->t))
		remove_active(s, st->place);
	st->place = -1;
}

/* Returns true if it is sufficient that the sweep polls the thread. */
static bool is_idle(const struct scanner *s, const struct scan_state *st, uint32_t nr)
{
	if (session.device >= 0 && kernel_seq(st))
		return st->asleep_seq && kernel_seq(st) == st->asleep_seq;
	return nr > STINT_MAX && s->stamp - st->changed > session_ticks(IDLE_NS);
}

/* New threads are at the end of live[]; the sweep finds threads whose entry was moved. */
static void add_new(struct scanner *s)
{
	uint32_t nr = order_live_count(&nr_live);

	for (uint32_t i = s->nr_known; i < nr; i++) {
		struct thread *t = order_live_get(&live[i]);
		struct scan_state *st = t ? t->scan : NULL;

		if (st && order_owner_is(&st->scanner, s->id) && !is_active(s, st, t))
			activate(s, st, t);
	}
	s->nr_known = nr;
}

/*
 * Adds the threads that run according to the module; the values in shared memory may be anything.
 */
static void add_running(struct scanner *s)
{
	for (uint32_t cpu = 0; cpu < session.nr_cpus; cpu++) {
		const struct ldb_ring_hdr *hdr = (const struct ldb_ring_hdr *)
			(session.base + session.rings_off + cpu * session.ring_stride);
		uint32_t slot = order_kernel_slot(hdr);
		struct scan_state *st;

		s->stats->pages++;
		if (!slot || slot > session.max_threads)
			continue;
		st = &states[slot - 1];
		if (st->t && st->t->scan == st && order_owner_is(&st->scanner, s->id) && !is_active(s, st, st->t))
			activate(s, st, st->t);
	}
}

/* Hazard pointers */

void watch_release(struct scanner *s)
{
	for (unsigned i = 0; i < STINT_MAX; i++)
		if (order_any_load(&s->looking[i]))
			order_hazard_clear(&s->looking[i]);
	s->nr_stint = 0;
}

/* Returns the state of a thread whose hazard is visible; NULL if this scanner must not poll it. */
static struct scan_state *state_of(const struct scanner *s, struct thread *t)
{
	struct scan_state *st;

	if (order_thread_state(&t->state) != THREAD_LIVE)
		return NULL;
	st = t->scan;
	return st && order_owner_is(&st->scanner, s->id) ? st : NULL;
}

static void sweep(struct scanner *s, unsigned n)
{
	uint32_t nr = order_live_count(&nr_live);

	for (uint32_t seen = 0; n && seen < nr && seen < 4 * SWEEP; seen++) {
		uint32_t i = s->next_live < nr ? s->next_live : 0;
		struct thread *t = order_live_get(&live[i]);
		/*
		 * needs no hazard, because states and pages are never unmapped while a scanner runs
		 */
		struct scan_state *st = t ? t->scan : NULL;

		s->next_live = i + 1;
		if (!st || !order_owner_is(&st->scanner, s->id) || is_active(s, st, t))
			continue;
		n--;
		pace_stamp(s, scan_stamp_before());
		if (still_asleep(s, st, s->stamp))
			continue;
		order_hazard_set(&s->looking[0], t);
		order_hazards_visible();
		st = state_of(s, t);
		if (st && s->stamp >= st->next_poll)
			visit(s, st, s->stamp);
		if (st && !is_idle(s, st, nr))
			activate(s, st, t);
		order_hazard_clear(&s->looking[0]);
	}
}

/* Takes the next few active threads; those that are gone leave the list. */
static void choose(struct scanner *s)
{
	uint32_t from = s->next_active < s->nr_active ? s->next_active : 0;
	uint32_t n = s->nr_active - from < STINT_MAX ? s->nr_active - from : STINT_MAX;

	for (uint32_t i = 0; i < n; i++)
		order_hazard_set(&s->looking[i], s->active[from + i]);
	order_hazards_visible();
	/* from the end, because the entry that replaces a removed one has no hazard */
	for (uint32_t i = n; i--;) {
		struct scan_state *st = state_of(s, s->active[from + i]);

		if (st && st->place == (int32_t)(from + i))
			s->stint[s->nr_stint++] = st;
		else
			remove_active(s, from + i);
	}
	s->next_active = from + n;
}

/* Several scanners */

static bool is_busy(const struct scanner *s, const struct scan_state *st)
{
	return s->stamp - st->changed < session_ticks(BUSY_NS);
}

/*
 * Hands one of the stint's busy threads to the scanner that has the fewest, if this has at least
 * two fewer.
 */
static void balance(struct scanner *s)
{
	struct scanner *least = s;
	uint32_t busy = 0;

	if (s->stamp < s->balance_at)
		return;
	s->balance_at = s->stamp + session_ticks(BALANCE_NS);
	for (uint32_t i = 0; i < s->nr_active; i++) {
		const struct scan_state *st = s->active[i]->scan;

		busy += st && is_busy(s, st);
	}
	order_any_store(&s->nr_busy, busy);
	for (unsigned i = 0; i < session.nr_scanners; i++)
		if (atomic_load(&scanners[i].nr_busy) < atomic_load(&least->nr_busy))
			least = &scanners[i];
	if (busy < atomic_load(&least->nr_busy) + 2)
		return;
	for (unsigned i = 0; i < s->nr_stint; i++) {
		struct scan_state *st = s->stint[i];

		if (!is_busy(s, st) || st->settling)
			continue;
		deactivate(s, st);
		s->stint[i] = s->stint[--s->nr_stint];
		s->stats->handed++;
		order_owner_set(&st->scanner, least->id);
		return;
	}
}

void watch_begin(struct scanner *s)
{
	s->nr_active = s->nr_stint = 0;
	s->next_active = s->next_live = s->nr_known = 0;
	s->behind = false;
	s->round_begin = s->balance_at = s->stamp;
	atomic_store(&s->nr_busy, 0);
}

/* Called when all active threads have had their turn. */
static void round_done(struct scanner *s)
{
	s->behind = s->nr_tagged && s->stamp - s->round_begin > session_ticks(LONG_ROUND_NS);
	s->nr_tagged = 0;
	s->round_begin = s->stamp;
	s->stats->rounds++;
}

void watch_stint(struct scanner *s)
{
	uint32_t nr = order_live_count(&nr_live);

	if (session.nr_scanners > 1)
		balance(s);
	for (unsigned i = 0; i < s->nr_stint; i++)
		if (is_idle(s, s->stint[i], nr))
			deactivate(s, s->stint[i]);
	watch_release(s);
	add_new(s);
	if (session.device >= 0)
		add_running(s);
	sweep(s, session.device >= 0 ? SWEEP_ASLEEP : SWEEP);
	choose(s);
	s->stint_rounds = s->nr_active > STINT_MAX || s->sharing ? 1 : STINT_ROUNDS;
}

/*
 * Returns true if the poll can be postponed, because there is not enough time for all threads, and
 * the thread works on no request.
 */
static bool can_wait(struct scanner *s, const struct scan_state *st)
{
	if (order_any_load(&st->t->in_request)) {
		s->nr_tagged++;
		return false;
	}
	return s->behind && (s->stats->rounds + st->place) % BEHIND_SKIP;
}

bool watch_round(struct scanner *s)
{
	bool any = false, many = s->nr_active > STINT_MAX;

	for (unsigned i = 0; i < s->nr_stint; i++) {
		struct scan_state *st = s->stint[i];
		uint64_t lo = scan_stamp_before();

		pace_stamp(s, lo);
		if (lo < st->next_poll || (many && can_wait(s, st)) || still_asleep(s, st, lo))
			continue;
		visit(s, st, lo);
		any = true;
	}
	if (s->next_active >= s->nr_active)
		round_done(s);
	return any;
}
