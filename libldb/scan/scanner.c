// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Starts and ends the scanner threads, and sets up their state of each program thread.  (raw
 * thread)
 *
 * watch.c chooses which threads to poll, pace.c when; look.c polls; share.c decides whether the
 * scanner has a core to itself.
 */
#include <errno.h>
#include "scan.h"

/* PAUSE instructions of up to 70 ns each: less than GAP_NS */
#define IDLE_RELAX	4
#define SPINS_PER_SLEEP	200
#define REST_NS		10000000ULL
#define EXIT_SLEEP_NS	50000

static void scan_pin(int32_t cpu)
{
	uint64_t mask[16] = { 0 };

	if (cpu < 0 || cpu >= 1024)
		return;
	mask[cpu / 64] = 1ULL << cpu % 64;
	sys(SYS_sched_setaffinity, 0, sizeof(mask), mask);
}

/*
 * Lowers the scanner's priority again, or lets other tasks on its CPU run, unless the user has
 * pinned it.
 */
static void give_way(struct scanner *s)
{
	if (session.scanner_cpu >= 0)
		return;
	if (unlikely(order_any_load(&s->thread.is_raised))) {
		watch_release(s);	/* for a thread that raised the priority and waits */
		priority_give_way(&s->thread);
	} else if (!s->sharing) {	/* otherwise it has just slept */
		priority_rest(&s->thread);
	}
}

static void scan_stint(struct scanner *s)
{
	watch_stint(s);
	for (unsigned n = s->stint_rounds; n; n--) {
		bool any = watch_round(s);

		if (session.budget_ppm >= 1000000)
			continue;
		/* the other hyperthread of this core may run the program */
		for (int i = any ? 1 : IDLE_RELAX; i; i--)
			cpu_relax();
	}
	/* even if no thread was due, an observation gap must be noticed */
	pace_stamp(s, scan_stamp());
}

/* Wakes the control thread, which checks whether it must end. */
static void kick_control(void)
{
	uint64_t one = 1;

	sys(SYS_write, control_kick, &one, sizeof(one));
}

/*
 * If no module is instrumented (ldb-record --flows), and no counters are read, sleeps for up to
 * REST_NS and returns true.
 */
static bool rest_without_blocks(struct scanner *s)
{
	if (likely(order_list_count(&nr_blocks) || session.schedstat_after))
		return false;
	s->stamp = scan_stamp();
	raw_futex_wait(&s->stop, 0, REST_NS);
	return true;
}

static void scan_main(void *arg)
{
	struct scanner *s = arg;

	scan_pin(session.scanner_cpu);
	if (!s->resumes)	/* else the time since the last stamp is an observation gap */
		s->stamp = scan_stamp();
	share_begin(s);
	watch_begin(s);
	while (!order_any_load(&s->stop)) {
		uint64_t begin;

		if (rest_without_blocks(s))
			continue;
		begin = s->stamp;
		give_way(s);
		scan_stint(s);
		s->stats->busy_tsc += s->stamp - begin;
		if (unlikely(s->sharing))
			watch_release(s);
		share_core(s, s->stamp - begin);
		if (unlikely(control_is_leaving()))
			kick_control();
	}
	watch_release(s);
	share_end(s);
}

/* Forgets the scanner's threads; called when it does not run. */
static void forget(struct scanner *s)
{
	for (unsigned i = 0; i < STINT_MAX; i++)
		atomic_store(&s->looking[i], NULL);
	atomic_store(&s->walks, 0);
}

int scan_prepare(void)
{
	if (!states)
		states = raw_map(SESSION_THREADS_MAX * sizeof(*states));
	if (!scanners && states)
		scanners = raw_map(LDB_MAX_SCANNERS * sizeof(*scanners));
	return scanners ? 0 : -ENOMEM;
}

static int start_all(bool resumes)
{
	for (unsigned i = 0; i < session.nr_scanners; i++) {
		struct scanner *s = &scanners[i];
		int ret;

		s->id = i;
		s->resumes = resumes;
		s->stats = &session_info()->scan[i];
		atomic_store(&s->stop, 0);
		ret = raw_thread_start(&s->thread, "ldb-scan", scan_main, s, false);
		if (ret) {
			scan_stop();
			return ret;
		}
	}
	return 0;
}

int scan_start(bool is_paused)
{
	pace_init();
	share_init();
	if (!is_paused)
		return start_all(false);
	/* The time until the scanners run is an observation gap. */
	for (unsigned i = 0; i < session.nr_scanners; i++)
		scanners[i].stamp = session.attach_tsc;
	return 0;
}

int scan_resume(void)
{
	share_init();
	return start_all(true);
}

void scan_stop(void)
{
	for (unsigned i = 0; i < LDB_MAX_SCANNERS; i++) {
		atomic_store(&scanners[i].stop, 1);
		raw_futex_wake(&scanners[i].stop);	/* share_sleep() */
	}
	for (unsigned i = 0; i < LDB_MAX_SCANNERS; i++) {
		raw_thread_join(&scanners[i].thread, 0, 0);
		forget(&scanners[i]);
	}
	schedstat_end();
}

void scan_raise(void)
{
	for (unsigned i = 0; scanners && i < LDB_MAX_SCANNERS; i++)
		priority_raise(&scanners[i].thread);
}

void scan_fork_child(void)
{
	for (unsigned i = 0; scanners && i < LDB_MAX_SCANNERS; i++) {
		atomic_store(&scanners[i].thread.tid, 0);
		forget(&scanners[i]);
	}
}

void scan_thread_new(struct thread *t, bool existing)
{
	struct scan_state *st = &states[t->slot];

	st->t = t;
	st->page = session_page_of(t->slot);
	st->stack = session_stack_of(t->slot);
	st->stack->depth = 0;
	st->depth = 0;
	st->place = -1;
	st->nr_blocks = 0;
	st->lowest_top = t->stack_hi;
	st->existing = existing;
	st->fresh = true;
	st->failed = st->settling = st->in_step = false;
	st->tries = 0;
	st->next_poll = st->looked = 0;
	st->settle = st->trusted = 0;
	st->trust = 0;
	st->owed = 0;
	st->asleep_seq = 0;
	st->reg_blocks = -1;
	st->last_ok = existing ? session.attach_tsc : t->start_tsc;
	st->changed = st->last_ok;
	schedstat_thread_new(st);
	order_owner_set(&st->scanner, t->slot % session.nr_scanners);
	look_blocks_new(st, order_list_count(&nr_blocks));
	t->scan = st;
}

static void wait_a_little(struct scanner *s, unsigned *spins)
{
	if (++*spins % SPINS_PER_SLEEP) {
		cpu_relax();
		return;
	}
	/* a yield would not let the scanner run if the calling thread has a real-time priority */
	priority_raise(&s->thread);
	raw_sleep_ns(EXIT_SLEEP_NS);
}

/*
 * Returns false in a child that was forked without fork handlers: the scanners' states are copies
 * there, but no scanner runs.  The epoch is 0 in such a child, because fork() zeroes session_page.
 */
static bool scanners_are_ours(void)
{
	return session_page.a.epoch != 0;
}

static bool is_looking(const struct scanner *s, const struct thread *t)
{
	for (unsigned i = 0; i < STINT_MAX; i++)
		if (order_hazard_get(&s->looking[i]) == t)
			return true;
	return false;
}

void scan_thread_gone(struct thread *t)
{
	unsigned spins = 0;

	for (unsigned i = 0; scanners && i < LDB_MAX_SCANNERS; i++)
		while (scanners_are_ours() && is_looking(&scanners[i], t))
			wait_a_little(&scanners[i], &spins);
}

void scan_thread_flush(struct thread *t, uint64_t now)
{
	struct scan_state *st = t->scan;

	if (!st)
		return;
	scan_count_calls(t);
	track_flush(st, now);
	t->scan = NULL;
}

void scan_quiesce(void)
{
	unsigned spins = 0;

	for (unsigned i = 0; scanners && i < LDB_MAX_SCANNERS; i++) {
		struct scanner *s = &scanners[i];
		uint64_t from = order_walk_count(&s->walks);

		while (scanners_are_ours() && from % 2 && order_walk_count(&s->walks) == from)
			wait_a_little(s, &spins);
	}
}
