// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The scanner threads: whom to look at, and when.  (raw thread)
 *
 * A look reads (gen, top) of a thread.  While they do not change, the line
 * stays shared and looking costs the program nothing.  A look that finds a
 * change has taken the line from the program: about 180 ns of its time, and
 * about 120 ns more for each record read (both measured).  Such looks are
 * therefore paid for: after one, the thread is left alone until the cost is no
 * more than the budget's share of the time.  A quiet thread saves up for a
 * short burst.
 *
 * Reading is a seqlock whose writer does not know of it:
 *
 *	thread	gen, record, top		(plain stores, in this order)
 *	scanner	gen, top, records, top, gen
 *
 * To see that nothing changed, top is read before gen: the other way round, a
 * return and a call at the same address between the two loads would go unseen.
 *
 * A scanner that has no core of its own would take the program's: once it was
 * kept off the CPU it looks only now and then, so seldom that its wake-ups stay
 * within the budget too, until no more threads want to run than there are CPUs.
 *
 * With the kernel module, a thread that has not run since the last look at it is
 * not looked at: its page says so (k_seq).
 *
 * A walk during which the thread moved is done once more.  Whatever both walks
 * found in the same place with the same contents was there from one to the
 * other, since an invocation that ended does not come back with its generation;
 * so the older part of a busy stack is known even if the walk never succeeds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include "scan.h"
#include "safe-load.h"

#define COST_LOOK_NS	180
#define COST_FRAME_NS	120
#define BURST_NS	20000		/* saved up at most: this much time's budget */
#define GAP_NS		1000		/* a scanner that was away longer says so */
#define GAP_STAMPS	16		/* but not for what some stamps take where clocks are slow */
#define WAKE_COST_NS	5000		/* of one sleep and wake-up, for the whole machine */
#define AWAY_NS		500000		/* longer than an interrupt: another task ran here */
#define ROOM_CHECK_NS	1000000		/* between two looks for a free core */
#define ROOM_RETRY_NS	200000000	/* a try without having seen one */
#define IDLE_RELAX	4		/* pauses of up to 70 ns each: less than GAP_NS */
#define SPINS_PER_SLEEP	200
#define EXIT_SLEEP_NS	50000

static struct scanner scanners[LDB_MAX_SCANNERS];
static struct scan_state states[SESSION_THREADS_MAX];
static uint64_t cost_look, cost_frame, burst, gap_min, away_min;
static int nr_allowed;		/* CPUs the scanners may use */

static struct ldb_thread *block_of(const struct scan_state *st, unsigned b)
{
	return (struct ldb_thread *)(st->t->tp + block_off[b]);
}

static void gap_event(struct scanner *s, uint32_t tid, uint64_t begin, uint64_t end)
{
	struct ldb_rec r = {
		.tsc = end, .tid = tid, .type = LDB_EV_GAP, .arg = begin,
	};

	ring_write_scan(s->id, &r, 1);
}

/* Between two stamps nobody was looked at. */
static void stamp_next(struct scanner *s, uint64_t now)
{
	if (unlikely(now - s->stamp > gap_min)) {
		gap_event(s, 0, s->stamp, now);
		s->stats->gaps++;
		s->stats->gap_tsc += now - s->stamp;
		if (now - s->stamp > away_min)
			s->was_away = true;
	}
	s->stamp = now;
}

/* The thread's state was known at time lo. */
static void look_ok(struct scanner *s, struct scan_state *st, uint64_t lo)
{
	if (unlikely(st->failed)) {
		st->failed = false;
		if (lo - st->last_ok > gap_min) {
			gap_event(s, st->t->tid, st->last_ok, lo);
			st->page->gap_tsc += lo - st->last_ok;
		}
	}
	st->last_ok = lo;
	st->page->last_look_tsc = lo;
}

static void pay(struct scan_state *st, uint64_t cost, uint64_t now)
{
	if (session.budget_ppm >= 1000000) {
		st->next_look = now + session.scan_interval;
		return;
	}
	if (st->next_look + burst < now)
		st->next_look = now - burst;
	st->next_look += cost * 1000000 / session.budget_ppm;
	if (st->next_look < now + session.scan_interval)
		st->next_look = now + session.scan_interval;
}

static bool moved(const struct ldb_thread *b, uint64_t gen, uintptr_t top)
{
	/* top before gen, see the head */
	if (safe_load((uintptr_t)&b->top) != top)
		return true;
	return safe_load((uintptr_t)&b->gen) != gen;
}

static void walk_failed(struct scan_state *st, struct scan_block *sb, enum walk_end end)
{
	st->failed = true;
	sb->bad = true;
	switch (end) {
	case WALK_FOREIGN:
		st->page->foreign++;
		break;
	case WALK_DEEP:
		st->page->too_deep++;
		break;
	default:
		st->page->disorder++;
	}
}

static bool same_frame(const struct scan_frame *a, const struct scan_frame *b)
{
	return a->addr == b->addr && a->gen == b->gen && a->prev == b->prev &&
	       a->pc == b->pc && a->ret == b->ret;
}

/*
 * Two walks, the thread moving: takes what both agree on.  Returns false if
 * that says nothing.
 */
static bool scan_moving(struct scanner *s, struct scan_state *st, unsigned b)
{
	const struct walk *x = &s->walk[0];
	struct walk *y = &s->walk[1];
	const struct ldb_thread *blk = block_of(st, b);
	uint64_t gen = safe_load((uintptr_t)&blk->gen);
	uintptr_t top = safe_load((uintptr_t)&blk->top);
	uint32_t n = 0;

	scan_top_seen(st, top);
	frame_walk(y, st, b, top, gen);
	if (x->end > WALK_BOTTOM || y->end > WALK_BOTTOM || y->known > x->known)
		return false;
	if (x->known == y->known)
		while (n < x->nr && n < y->nr &&
		       same_frame(&x->f[x->nr - 1 - n], &y->f[y->nr - 1 - n]))
			n++;
	track_apply(s, st, b, y->known, &y->f[y->nr - n], n, scan_stamp());
	return true;
}

/*
 * Returns what it cost the program; clears *ok if the state is not known now.
 * Each time the block is read again it is taken from the program once more.
 */
static uint64_t scan_block(struct scanner *s, struct scan_state *st, unsigned b,
			   uint64_t gen, uintptr_t top, uint64_t hi, bool *ok)
{
	struct scan_block *sb = &st->b[b];
	struct walk *w = &s->walk[0];

	frame_walk(w, st, b, top, gen);
	sb->bad = false;
	s->stats->frames += w->nr;
	if (likely(!moved(block_of(st, b), gen, top))) {
		sb->gen = gen;
		sb->top = top;
		if (unlikely(w->end > WALK_BOTTOM)) {
			walk_failed(st, sb, w->end);
			*ok = false;
			return cost_frame * (w->nr + 1);
		}
		track_apply(s, st, b, w->known, w->f, w->nr, hi);
		st->page->scans++;
		s->stats->scans++;
		return cost_frame * (w->nr + 1);	/* the known one, too, was read */
	}
	st->page->invalid++;
	s->stats->invalid++;
	sb->gen = 0;
	if (!scan_moving(s, st, b)) {
		st->failed = true;
		*ok = false;
	}
	return 2 * cost_look + cost_frame * (w->nr + s->walk[1].nr + 2);
}

static void blocks_new(struct scan_state *st, uint32_t n)
{
	for (; st->nr_blocks < n; st->nr_blocks++) {
		struct scan_block *sb = &st->b[st->nr_blocks];

		sb->gen = 0;
		sb->top = 0;
		sb->bad = false;
		sb->made_from = safe_load((uintptr_t)&block_of(st, st->nr_blocks)->gen);
		sb->made_to = sb->made_from;
	}
}

static void count_made(struct scan_state *st)
{
	uint64_t made = 0;

	for (unsigned b = 0; b < st->nr_blocks; b++)
		made += (st->b[b].made_to - st->b[b].made_from) >> LDB_GEN_SHIFT;
	st->page->made = made;
}

static void look(struct scanner *s, struct scan_state *st)
{
	uint32_t nr = atomic_load_explicit(&nr_blocks, memory_order_acquire);
	uint64_t lo = scan_stamp(), hi, cost = cost_look;
	bool changed = false, ok = true;

	stamp_next(s, lo);
	s->stats->looks++;
	if (unlikely(nr != st->nr_blocks))
		blocks_new(st, nr);
	for (unsigned b = 0; b < nr; b++) {
		const struct ldb_thread *blk = block_of(st, b);
		struct scan_block *sb = &st->b[b];
		uintptr_t top = safe_load((uintptr_t)&blk->top);
		uint64_t gen = safe_load((uintptr_t)&blk->gen);

		if (gen == sb->gen && top == sb->top) {
			ok &= !sb->bad;
			continue;
		}
		top = safe_load((uintptr_t)&blk->top);
		changed = true;
		scan_top_seen(st, top);
		hi = scan_stamp();
		sb->made_to = gen;
		cost += scan_block(s, st, b, gen, top, hi, &ok);
	}
	if (ok) {
		look_ok(s, st, lo);
		st->fresh = false;
	} else {
		st->failed = true;
	}
	if (changed) {
		s->stats->changes++;
		st->page->looks_changed++;
		count_made(st);
		/* a long walk, or an interruption of it, hides what came and went */
		stamp_next(s, scan_stamp());
		pay(st, cost, s->stamp);
	}
}

/*
 * Tells the module which page the thread has, and where its block is.  From here
 * because the descriptor is in the control thread's file table, which program
 * threads do not share.
 */
static void register_thread(struct scan_state *st)
{
	struct ldb_reg reg = {
		.tid = st->t->tid, .slot = st->t->slot,
		.tls = st->nr_blocks ? (uintptr_t)block_of(st, 0) : 0,
	};

	st->reg_blocks = st->nr_blocks;
	st->asleep_seq = 0;
	/* refused: its switches carry no frame, and it is looked at all the time */
	sys(SYS_ioctl, session.device, LDB_IOC_REG, &reg);
}

/*
 * What the module says of a thread; 0 while it says nothing.  What an earlier
 * owner of the page left there does not count.
 */
static uint32_t kernel_seq(const struct scan_state *st)
{
	uint32_t seq = __atomic_load_n(&st->page->k_seq, __ATOMIC_ACQUIRE);

	return st->reg_blocks >= 0 && st->page->k_tid == st->t->tid ? seq : 0;
}

/* Has it not run since it was last looked at?  Then its stack is as it was. */
static bool still_asleep(const struct scan_state *st)
{
	return st->asleep_seq && kernel_seq(st) == st->asleep_seq;
}

static void look_registered(struct scanner *s, struct scan_state *st)
{
	uint32_t seq;

	if (unlikely(st->reg_blocks < 0 || (!st->reg_blocks && st->nr_blocks)))
		register_thread(st);
	seq = kernel_seq(st);
	look(s, st);
	st->asleep_seq = !st->failed && seq % 2 == 0 ? seq : 0;
}

/* A round: each thread that is due.  Returns whether any was. */
static bool scan_round(struct scanner *s)
{
	uint32_t n = atomic_load_explicit(&nr_live, memory_order_acquire);
	bool any = false, device = session.device >= 0;
	uint64_t lo = s->stamp;		/* before any k_seq is read below */

	for (uint32_t i = 0; i < n; i++) {
		struct thread *t = atomic_load_explicit(&live[i], memory_order_relaxed);
		struct scan_state *st;

		if (!t)
			continue;
		/* without the hazard: states and pages outlive every thread */
		if (device && (st = t->scan) && st->scanner == s->id && still_asleep(st)) {
			st->last_ok = lo;
			st->page->last_look_tsc = lo;
			continue;
		}
		/* exchange: the hazard must be visible before the state is read */
		atomic_exchange(&s->looking, t);
		if (atomic_load(&t->state) == THREAD_LIVE && (st = t->scan) &&
		    st->scanner == s->id && scan_clock() >= st->next_look) {
			if (device)
				look_registered(s, st);
			else
				look(s, st);
			any = true;
		}
		atomic_store_explicit(&s->looking, NULL, memory_order_release);
	}
	return any;
}

static void scan_pin(int32_t cpu)
{
	uint64_t mask[16] = { 0 };

	if (cpu < 0 || cpu >= 1024)
		return;
	mask[cpu / 64] = 1ULL << cpu % 64;
	sys(SYS_sched_setaffinity, 0, sizeof(mask), mask);
}

/* Sleeps between two rounds: meant, and so no gap unless it was far too long. */
static void share_sleep(struct scanner *s, uint64_t round_ticks)
{
	uint64_t ns = (WAKE_COST_NS + round_ticks * 1000000000 / session.hz) *
		      1000000 / session.budget_ppm;
	uint64_t before = s->stamp, now;

	raw_sleep_ns(ns);
	now = scan_stamp();
	s->stats->paused_tsc += now - before;
	if (now - before > 4 * session_ticks(ns))
		stamp_next(s, now);
	s->stamp = now;
}

/*
 * Threads of the whole machine that run or want to, this one included; 0 if that
 * cannot be known.  The file is opened in the control thread's file table, of
 * which the program sees nothing.
 */
static int nr_runnable(struct scanner *s)
{
	char buf[64];
	int field = 0, nr = 0;
	long n;

	if (s->loadavg_fd < 0)
		s->loadavg_fd = sys(SYS_openat, AT_FDCWD, "/proc/loadavg", O_RDONLY | O_CLOEXEC, 0);
	if (s->loadavg_fd < 0)
		return 0;
	n = sys(SYS_pread64, s->loadavg_fd, buf, sizeof(buf), 0);
	/* "0.20 0.18 0.12 3/80 11206" */
	for (long i = 0; i < n && buf[i] != '/'; i++) {
		if (buf[i] == ' ')
			field++;
		else if (field == 3)
			nr = nr * 10 + buf[i] - '0';
	}
	return nr;
}

/* Decides whether this scanner has a core to itself. */
static void share_judge(struct scanner *s)
{
	int nr;

	if (session.budget_ppm >= 1000000 || (nr_allowed == 1 && s->sharing))
		return;
	if (!s->sharing) {
		if (!s->was_away && nr_allowed > 1)
			return;
		s->sharing = true;
		s->check_at = s->stamp + session_ticks(ROOM_CHECK_NS);
		s->retry_at = s->stamp + session_ticks(ROOM_RETRY_NS);
		return;
	}
	if (s->stamp < s->check_at)
		return;
	s->check_at = s->stamp + session_ticks(ROOM_CHECK_NS);
	nr = nr_runnable(s);
	if ((nr && nr <= nr_allowed) || s->stamp >= s->retry_at) {
		s->sharing = false;
		s->was_away = false;
	}
}

static void scan_main(void *arg)
{
	struct scanner *s = arg;

	scan_pin(session.scanner_cpu);
	s->stamp = scan_stamp();
	s->sharing = s->was_away = false;
	s->loadavg_fd = -1;
	while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
		uint64_t begin = s->stamp;

		if (!scan_round(s)) {
			/* nobody is due: being away still has to be noticed */
			for (int i = 0; i < IDLE_RELAX; i++)
				cpu_relax();
			stamp_next(s, scan_stamp());
		} else if (session.budget_ppm < 1000000) {
			/* the other hyperthread of this core may be the program's */
			cpu_relax();
		}
		atomic_store_explicit(&s->rounds, s->rounds + 1, memory_order_release);
		s->stats->rounds++;
		s->stats->busy_tsc += s->stamp - begin;
		if (unlikely(s->sharing))
			share_sleep(s, s->stamp - begin);
		share_judge(s);
	}
	if (s->loadavg_fd >= 0)
		sys(SYS_close, s->loadavg_fd);
}

/* A look takes a few stamps, which cost microseconds where the clock is a system call. */
static uint64_t shortest_gap(void)
{
	uint64_t least = session_ticks(GAP_NS), stamp = UINT64_MAX;

	for (int i = 0; i < GAP_STAMPS; i++) {
		uint64_t begin = scan_stamp(), took = scan_stamp() - begin;

		if (took < stamp)
			stamp = took;
	}
	return stamp * GAP_STAMPS > least ? stamp * GAP_STAMPS : least;
}

static int count_allowed(void)
{
	uint64_t mask[16] = { 0 };
	int n = 0;

	/* pinned by the user: that core is taken for its own */
	if (session.scanner_cpu >= 0)
		return INT32_MAX;
	if (sys(SYS_sched_getaffinity, 0, sizeof(mask), mask) < 0)
		return 1;
	for (int i = 0; i < 16; i++)
		n += __builtin_popcountll(mask[i]);
	return n;
}

int scan_start(void)
{
	cost_look = session_ticks(COST_LOOK_NS);
	cost_frame = session_ticks(COST_FRAME_NS);
	burst = session_ticks(BURST_NS);
	gap_min = shortest_gap();
	away_min = session_ticks(AWAY_NS);
	nr_allowed = count_allowed();
	if (!session.budget_ppm)
		session.budget_ppm = 1;
	for (unsigned i = 0; i < session.nr_scanners; i++) {
		struct scanner *s = &scanners[i];
		int ret;

		s->id = i;
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

void scan_stop(void)
{
	for (unsigned i = 0; i < LDB_MAX_SCANNERS; i++)
		atomic_store(&scanners[i].stop, 1);
	for (unsigned i = 0; i < LDB_MAX_SCANNERS; i++) {
		raw_thread_join(&scanners[i].thread);
		atomic_store(&scanners[i].looking, NULL);
	}
}

void scan_fork_child(void)
{
	for (unsigned i = 0; i < LDB_MAX_SCANNERS; i++) {
		atomic_store(&scanners[i].thread.tid, 0);
		atomic_store(&scanners[i].looking, NULL);
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
	st->scanner = t->slot % session.nr_scanners;
	st->nr_blocks = 0;
	st->lowest_top = t->stack_hi;
	st->existing = existing;
	st->fresh = true;
	st->failed = false;
	st->next_look = 0;
	st->asleep_seq = 0;
	st->reg_blocks = -1;
	st->last_ok = existing ? session.attach_tsc : t->start_tsc;
	blocks_new(st, atomic_load(&nr_blocks));
	t->scan = st;
}

static void wait_a_little(unsigned *spins)
{
	/* a yield would not let the scanner run if this is a real-time thread */
	if (++*spins % SPINS_PER_SLEEP)
		cpu_relax();
	else
		raw_sleep_ns(EXIT_SLEEP_NS);
}

/*
 * In the child of a fork that ran no handlers nobody looks, whatever the
 * scanners' words say: the epoch is wiped there.
 */
static bool scanners_are_ours(void)
{
	return session_page.a.epoch != 0;
}

void scan_thread_gone(struct thread *t)
{
	unsigned spins = 0;

	for (unsigned i = 0; i < LDB_MAX_SCANNERS; i++)
		while (scanners_are_ours() && atomic_load(&scanners[i].looking) == t)
			wait_a_little(&spins);
}

void scan_count_made(struct thread *t)
{
	struct scan_state *st = t->scan;

	for (unsigned b = 0; st && b < st->nr_blocks; b++)
		st->b[b].made_to = safe_load((uintptr_t)&block_of(st, b)->gen);
	if (st)
		count_made(st);
}

void scan_thread_flush(struct thread *t)
{
	struct scan_state *st = t->scan;

	if (!st)
		return;
	scan_count_made(t);
	track_flush(st, session_clock());
	t->scan = NULL;
}

void scan_quiesce(void)
{
	unsigned spins = 0;

	for (unsigned i = 0; i < LDB_MAX_SCANNERS; i++) {
		struct scanner *s = &scanners[i];
		uint64_t from = atomic_load(&s->rounds);

		while (scanners_are_ours() && atomic_load(&s->looking) &&
		       atomic_load(&s->rounds) == from)
			wait_a_little(&spins);
	}
}
