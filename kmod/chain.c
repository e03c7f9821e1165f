// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the chain of frame records of a thread that leaves its CPU, or is interrupted by the CPU's
 * timer, if the recorder asks for that (LDB_IOC_CHAINS).
 *
 * The thread is current, and executes kernel code.  Frames that were entered before the last
 * reading have been emitted, so a reading ends at the first such frame; but once in ALL_AFTER_NS
 * the whole chain is read.  Readings may take a limited part of a thread's time; unused time is
 * saved up to a limit.  So the chain of a thread that switches very often is not read at each
 * switch.
 *
 * While a function is being entered, the generation of a block may be one ahead of its chain.  The
 * program's memory may have any contents: a reading fails if the memory is not a valid chain, if it
 * is not mapped, or if there are more new frames than can be read with interrupts off.
 */
#include <linux/math64.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include "event.h"
#include "stamp.h"

#define SAVED_NS	1000000		/* a thread saves at most the unused share of this much time (ns) */
#define TOOK_MAX_NS	200000		/* time beyond this counts as steal time: not charged */
/* after this time all frames are emitted again, because some may have been lost */
#define ALL_AFTER_NS	NSEC_PER_SEC
/* a reading of more frames fails */
#define FRAMES_MAX	256

struct reading {
	struct ldb_thread *t;
	struct ldb_session_cpu *sc;
	u64	now;
	bool	all;			/* emit also frames that were emitted before */
	bool	has_blocks;		/* a valid block was found in the thread's memory */
	int	nr_left;		/* frames that may still be read */
	u64	addr;			/* address of the frame */
	struct ldb_user_frame frame;	/* the frame that the walk has reached */
};

static bool read_block(u64 addr, struct ldb_user_block *to)
{
	const struct ldb_user_block __user *from = (void __user *)addr;

	if (!user_access_begin(from, sizeof(*from)))
		return false;
	unsafe_get_user(to->top, &from->top, fault);
	unsafe_get_user(to->gen, &from->gen, fault);
	user_access_end();
	return (u16)to->gen == LDB_CANARY;

fault:
	user_access_end();
	return false;
}

/* Returns false if the frame is not readable or invalid, or its generation exceeds at_most. */
static bool read_frame(u64 addr, u64 at_most, struct ldb_user_frame *to)
{
	const struct ldb_user_frame __user *from = (void __user *)addr;

	if (!user_access_begin(from, sizeof(*from)))
		return false;
	unsafe_get_user(to->prev, &from->prev, fault);
	unsafe_get_user(to->gen, &from->gen, fault);
	unsafe_get_user(to->pc, &from->pc, fault);
	unsafe_get_user(to->ret, &from->ret, fault);
	user_access_end();
	return (u16)to->gen == LDB_CANARY && to->gen <= at_most;

fault:
	user_access_end();
	return false;
}

/* Emits a record of a reading; a later event notices if a quarter of the ring is full. */
static void emit(const struct reading *r, u32 flags, u32 block)
{
	struct ldb_session_cpu *sc = r->sc;
	u64 idx = ldb_reserve(sc, 3);

	ldb_put(sc, idx, r->now, r->t->tid, LDB_EV_FRAME, flags, r->frame.pc, 0);
	ldb_put(sc, idx + 1, r->addr, 0, LDB_EV_CONT + 1, 0, (r->frame.gen & ~0xffffULL) | block, 0);
	ldb_put(sc, idx + 2, r->frame.ret, 0, LDB_EV_CONT + 2, 0, 0, 0);
	ldb_written(sc, 3);
}

static void emit_mark(struct reading *r, u32 flags)
{
	r->frame = (struct ldb_user_frame){};
	r->addr = 0;
	emit(r, flags, 0);
}

/*
 * Emits the new frames of a chain, from its innermost one.  Returns false if the chain is invalid,
 * or has too many new frames.
 */
static bool walk(struct reading *r, u64 emitted, u32 block)
{
	while (r->frame.gen > emitted) {
		struct ldb_user_frame caller = {};

		if (!r->nr_left--)
			return false;
		if (r->frame.prev && !read_frame(r->frame.prev, r->frame.gen - LDB_GEN_ONE, &caller))
			return false;
		emit(r, 0, block);
		r->addr = r->frame.prev;
		r->frame = caller;
	}
	emit(r, LDB_FRAME_F_KNOWN, block);
	return true;
}

static bool read_chain_of(struct reading *r, u32 n, u64 addr, struct ldb_frame_seen *innermost)
{
	u64 *seen = &r->t->chain.seen[n].gen, *seen_top = &r->t->chain.seen[n].top, top;
	struct ldb_user_block block;

	if (!read_block(addr, &block))
		return false;
	r->has_blocks = true;
	r->addr = block.top;
	r->frame = (struct ldb_user_frame){};
	if (block.top && !read_frame(block.top, block.gen, &r->frame))
		return false;
	top = r->frame.gen;
	/* The thread's innermost frame is the one that has the lowest address, of all blocks. */
	if (block.top && (!innermost->top || block.top < innermost->top))
		*innermost = (struct ldb_frame_seen){ (top & ~0xffffULL) | n, block.top, r->frame.pc };
	if ((r->all || top != *seen_top) && !walk(r, r->all ? 0 : *seen, n))
		return false;
	/* The block's generation may be one ahead of the chain; it is 0 before the first call. */
	*seen = block.gen < LDB_GEN_ONE ? 0 : top == block.gen ? top : block.gen - LDB_GEN_ONE;
	*seen_top = top;
	return true;
}

static bool read_blocks(struct reading *r, u32 nr, struct ldb_frame_seen *innermost)
{
	const struct ldb_chain_config *c = &r->t->s->chains;
	u64 thread_pointer = ldb_cpu_thread_pointer();
	bool ok = thread_pointer;

	ldb_nofault_begin();
	for (u32 n = 0; ok && n < nr; n++)
		ok = read_chain_of(r, n, thread_pointer + READ_ONCE(c->offset[n]), innermost);
	ldb_nofault_end();
	return ok;
}

/*
 * Returns true if the ring has room for a reading.  When the recorder calls LDB_IOC_CHAINS, it has
 * read what was in the ring at its call before.  Samples may fill half of the ring, and readings at
 * switches three quarters.
 */
static bool has_room(struct ldb_session_cpu *sc, bool leaves)
{
	u64 head = READ_ONCE(ldb_ring(sc)->head);
	u32 passes = READ_ONCE(sc->s->passes);

	if (sc->passes != passes) {
		sc->passes = passes;
		sc->read = sc->is_being_read;
		sc->is_being_read = head;
	}
	return head - sc->read < ldb_quarter(sc) * (leaves ? 3 : 2);
}

/*
 * Accounts for the time of a reading.  Samples have a separate account, so that they cannot prevent
 * a reading at a switch.
 */
static void pay(struct reading *r, bool leaves)
{
	const struct ldb_chain_config *c = &r->t->s->chains;
	u64 *paid = leaves ? &r->t->chain.paid : &r->t->chain.samples_paid;
	u64 took = min(ldb_clock_now(r->t->s->clock) - r->now, READ_ONCE(c->took_max));
	u64 saved = READ_ONCE(c->saved);

	if (leaves) {
		r->sc->costs.switches += took;
	} else {
		r->sc->costs.samples += took;
		r->sc->costs.nr_samples++;
	}
	if (*paid + saved < r->now)
		*paid = r->now - saved;
	*paid += took * READ_ONCE(c->share);
	if (!leaves && *paid < r->now + READ_ONCE(c->tick))
		*paid = r->now + READ_ONCE(c->tick);
}

/*
 * After a failed reading, delays the next one if it would probably fail, too: if there are too many
 * frames, or if this is a thread of ldb itself, which has no blocks.  This matters because the
 * scanner often leaves its CPU for a thread of the program, and each failed reading would delay that
 * thread by a page fault.
 */
static void delay(struct reading *r, bool leaves)
{
	struct ldb_chain_seen *c = &r->t->chain;
	u64 until = r->now + READ_ONCE(r->t->s->chains.all_after);

	if (r->nr_left < 0)
		*(leaves ? &c->paid : &c->samples_paid) = until;
	if (!r->has_blocks && !c->seen[0].gen)
		c->paid = c->samples_paid = until;
}

/*
 * Reads the chains of current, the observed thread r->t.  Returns false if there is nothing to
 * read, if the ring has no room, if a chain cannot be read, or if readings have used up their time.
 */
static bool read_chains(struct reading *r, bool leaves, struct ldb_frame_seen *innermost)
{
	struct ldb_thread *t = r->t;
	struct ldb_session *s = t->s;
	u32 nr = ldb_order_blocks(&s->chains.nr_blocks);
	bool ok;

	if (!nr || !ldb_wants(s, LDB_GROUP_SCHED) || current->mm != READ_ONCE(s->mm))
		return false;
	if (r->now < (leaves ? t->chain.paid : t->chain.samples_paid) || !has_room(r->sc, leaves))
		return false;
	/* The frames fit into a quarter of the ring, which has_room() guarantees. */
	r->nr_left = min_t(u32, FRAMES_MAX, ldb_quarter(r->sc) / 4);
	r->all = r->now >= t->chain.next_all;
	if (r->all) {
		t->chain.next_all = r->now + READ_ONCE(s->chains.all_after);
		emit_mark(r, LDB_FRAME_F_ALL);
	}
	ok = read_blocks(r, nr, innermost);
	pay(r, leaves);
	if (ok)
		return true;
	local_inc(&r->sc->unreadable);
	delay(r, leaves);
	return false;
}

/* Called with interrupts off. */
bool ldb_chain_leaves(struct ldb_thread *t, struct ldb_session_cpu *sc, u64 now,
		      struct ldb_frame_seen *innermost)
{
	struct reading r = { .t = t, .sc = sc, .now = now };

	return read_chains(&r, true, innermost);
}

/* Called when the timer has interrupted t, which then continues. */
void ldb_chain_at_tick(struct ldb_thread *t)
{
	struct ldb_frame_seen innermost = {};
	struct reading r = { .t = t, .sc = ldb_this_cpu(t->s) };

	if (!READ_ONCE(t->s->chains.nr_blocks))
		return;
	r.now = ldb_clock_now(t->s->clock);
	if (read_chains(&r, false, &innermost))
		emit_mark(&r, LDB_FRAME_F_DONE);
}

/* Functions for the recorder */

static u64 ticks(const struct ldb_session *s, u64 ns)
{
	/* The limit avoids an overflow of the quotient, for which x86 raises an exception. */
	return mul_u64_u64_div_u64(min_t(u64, ns, LDB_DURATION_MAX), ldb_clock_hz(s->clock), NSEC_PER_SEC);
}

/*
 * Chooses the fast or the slow probe of switches after a change of the settings; the fast one does
 * not read chains.  The mutex makes the last of several concurrent changes take effect.
 */
void ldb_chain_choose_probe(struct ldb_session *s)
{
	mutex_lock(&s->settings);
	WRITE_ONCE(s->fast, !READ_ONCE(s->chains.nr_blocks) && s->clock == LDB_CLOCK_TSC &&
			    ldb_wants(s, LDB_GROUP_SCHED));
	mutex_unlock(&s->settings);
}

static void configure(struct ldb_session *s, const struct ldb_chains *c)
{
	struct ldb_chain_config *to = &s->chains;
	int i;

	if (c->nr_blocks == READ_ONCE(to->nr_blocks) && c->share == READ_ONCE(to->share) &&
	    ticks(s, c->tick_ns) == READ_ONCE(to->tick) &&
	    !memcmp(to->offset, c->offset, sizeof(to->offset)))
		return;
	for (i = 0; i < LDB_CHAIN_BLOCKS_MAX; i++)
		WRITE_ONCE(to->offset[i], c->offset[i]);
	WRITE_ONCE(to->share, c->share);
	WRITE_ONCE(to->tick, ticks(s, c->tick_ns));
	WRITE_ONCE(to->saved, ticks(s, SAVED_NS));
	WRITE_ONCE(to->took_max, ticks(s, TOOK_MAX_NS));
	WRITE_ONCE(to->all_after, ticks(s, ALL_AFTER_NS));
	ldb_order_blocks_publish(&to->nr_blocks, c->nr_blocks);
	ldb_chain_choose_probe(s);
}

static void sum_up(const struct ldb_session *s, struct ldb_chains *c)
{
	unsigned int cpu;

	c->switches = c->samples = c->nr_samples = c->idle = 0;
	for_each_possible_cpu(cpu) {
		const struct ldb_chain_costs *costs = &per_cpu_ptr(s->cpu, cpu)->costs;

		c->switches += READ_ONCE(costs->switches);
		c->samples += READ_ONCE(costs->samples);
		c->nr_samples += READ_ONCE(costs->nr_samples);
		c->idle += READ_ONCE(costs->idle);
	}
}

/* Called without the locks of struct ldb_file, so several calls may run at the same time. */
int ldb_session_chains(struct ldb_session *s, struct ldb_chains __user *arg)
{
	struct ldb_chains c;

	if (current->mm != s->creator)
		return -EPERM;
	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	if (c.nr_blocks > LDB_CHAIN_BLOCKS_MAX)
		return -EINVAL;
	configure(s, &c);
	WRITE_ONCE(s->passes, READ_ONCE(s->passes) + 1);
	sum_up(s, &c);
	return copy_to_user(arg, &c, sizeof(c)) ? -EFAULT : 0;
}
