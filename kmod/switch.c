// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The probe of sched_switch, the most frequent probe.  The thread that leaves the CPU was looked up
 * when it was switched in, so a switch between two tasks that are not observed costs only a few
 * tests, for example whether the filter matches, and whether an observed thread waits for the CPU.
 *
 * The probe runs in the scheduler, with the run queue's lock held and interrupts off.
 */
#include <linux/uaccess.h>
#include "event.h"
#include "stamp.h"
#include "wait.h"

static noinline u32 state_slow(unsigned int state)
{
	if (state & (TASK_DEAD | EXIT_DEAD | EXIT_ZOMBIE))
		return LDB_STATE_DEAD;
	if (state & TASK_INTERRUPTIBLE)
		return LDB_STATE_SLEEPING;
	if (state & TASK_NOLOAD || state & TASK_PARKED)
		return LDB_STATE_IDLE;
	if (state & __TASK_STOPPED)
		return LDB_STATE_STOPPED;
	if (state & __TASK_TRACED)
		return LDB_STATE_TRACED;
	return LDB_STATE_DISK;
}

/* Returns true for TASK_RUNNING and TASK_INTERRUPTIBLE: the state is nearly always one of these. */
static __always_inline bool sleeps_or_runs(unsigned int prev_state)
{
	return (prev_state & ~TASK_FREEZABLE) <= TASK_INTERRUPTIBLE;
}

/*
 * Returns the state in which prev left: LDB_STATE_RUNNING if it stays on the run queue.  prev_state
 * is not sufficient: a task with a pending signal does not sleep, whatever prev_state is.
 */
static __always_inline u32 flags_of(bool preempt, const struct task_struct *prev,
				    unsigned int prev_state)
{
	if (preempt)
		return LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT;
	if (!READ_ONCE(prev->__state))
		return LDB_STATE_RUNNING;
	return likely(sleeps_or_runs(prev_state)) ? LDB_STATE_SLEEPING : state_slow(prev_state);
}

/*
 * Reads the innermost frame of the thread that leaves, which is current, with its own mm.  Returns
 * false if the thread block or the frame is not readable or not valid.  If there is no frame,
 * returns true and leaves *f unchanged.  If the thread was interrupted between the stores that link
 * or unlink a record, the record at top is complete, because of the order of the stores.
 */
static __always_inline bool read_frame(const struct ldb_thread *t, struct ldb_frame_seen *f)
{
	const struct ldb_user_block __user *block = (void __user *)t->tls;
	const struct ldb_user_frame __user *frame;
	u64 top, last, gen, pc;

	if (!user_access_begin(block, sizeof(*block)))
		return false;
	unsafe_get_user(top, &block->top, fault);
	unsafe_get_user(last, &block->gen, fault);
	user_access_end();
	if ((u16)last != LDB_CANARY)
		return false;
	if (!top)
		return true;
	frame = (void __user *)top;
	if (!user_access_begin(frame, sizeof(*frame)))
		return false;
	unsafe_get_user(gen, &frame->gen, fault);
	unsafe_get_user(pc, &frame->pc, fault);
	user_access_end();
	if ((u16)gen != LDB_CANARY || gen > last)
		return false;
	f->gen = (gen & ~0xffffULL) | t->block;
	f->top = top;
	f->pc = pc;
	return true;

fault:
	user_access_end();
	return false;
}

static __always_inline void find_frame(const struct ldb_thread *t, struct ldb_session_cpu *sc,
				       struct ldb_frame_seen *f)
{
	bool readable;

	if (!t->tls || current->mm != t->s->mm)
		return;
	ldb_nofault_begin();
	readable = read_frame(t, f);
	ldb_nofault_end();
	if (unlikely(!readable))
		local_inc(&sc->unreadable);
}

/* The innermost frames of a thread that leaves. */
struct frames {
	struct ldb_frame_seen own;	/* the innermost frame of the block that was registered */
	struct ldb_frame_seen of_all;	/* with has_chain: the innermost frame of all blocks */
	bool	has_chain, is_known;
};

/* In the fast cases `page` and `chains` are compile-time constants. */
static __always_inline void find_frames(struct ldb_thread *t, struct ldb_session_cpu *sc, bool page,
					bool chains, u64 now, struct frames *f)
{
	if (page)
		find_frame(t, sc, &f->own);
	f->has_chain = chains && ldb_chain_leaves(t, sc, now, &f->of_all);
	f->is_known = page || f->has_chain;
}

/* Returns the number of slots written, for which the caller must call ldb_written(). */
static __always_inline int emit_out(struct ldb_thread *t, struct ldb_session_cpu *sc, u32 flags,
				    u64 now, u32 other, const struct frames *frames)
{
	const struct ldb_frame_seen *f = frames->has_chain ? &frames->of_all : &frames->own;
	u64 idx;

	flags |= LDB_SCHED_F_TID | (frames->has_chain ? LDB_SCHED_F_CHAIN : 0);
	if (!frames->is_known) {
		ldb_put(sc, ldb_reserve(sc, 1), now, t->tid, LDB_EV_SWITCH, flags, 0, other);
		return 1;
	}
	idx = ldb_reserve(sc, 2);
	ldb_put(sc, idx, now, t->tid, LDB_EV_SWITCH_OUT, flags, f->gen, other);
	ldb_put(sc, idx + 1, f->top, 0, LDB_EV_CONT + 1, 0, f->pc, 0);
	return 2;
}

/*
 * Other CPUs may read seq at any time, and replace UNKNOWN (seq.h).  Only this CPU writes it
 * otherwise, so thread_leaves() and thread_comes() read seq with a plain load.
 */
static __always_inline void thread_leaves(struct ldb_thread *t, struct ldb_session_cpu *sc,
					  u32 flags, u64 now)
{
	WRITE_ONCE(t->seq, ldb_seq_out(data_race(t->seq)));	/* see above */
	WRITE_ONCE(t->tsc_out, now);
	if (LDB_SCHED_STATE(flags) == LDB_STATE_RUNNING)
		ldb_wait_begin_here(t, sc);
}

static __always_inline void thread_comes(struct ldb_thread *t, struct ldb_session_cpu *sc, u64 now)
{
	WRITE_ONCE(t->seq, ldb_seq_in(data_race(t->seq)));	/* see above */
	WRITE_ONCE(t->tsc_in, now);
	ldb_wait_end_here(t, sc);
}

/*
 * Called after the change of seq and a full barrier.  Stamps the page that the thread has now, even
 * if it had none when the event was written (publish() in thread.c).
 */
static __always_inline void stamp_out(struct ldb_thread *t, u32 flags, u64 now,
				      const struct ldb_frame_seen *f)
{
	struct ldb_page *page = READ_ONCE(t->page);

	if (page)
		ldb_stamp_out(t, page, LDB_SCHED_STATE(flags) == LDB_STATE_RUNNING, now, f);
}

static __always_inline void stamp_in(struct ldb_thread *t, struct ldb_session_cpu *sc, u64 now)
{
	struct ldb_page *page = READ_ONCE(t->page);

	ldb_stamp_cpu(sc, READ_ONCE(t->page_nr), t->tid);
	if (page)
		ldb_stamp_in(t, page, smp_processor_id(), now);
}

/*
 * Handles a switch between two threads of one session.  Returns true if ldb_ring_quarter() must be
 * called.
 */
static __always_inline bool switch_within(struct ldb_session_cpu *sc, struct ldb_thread *out,
					  struct ldb_thread *in, u32 flags, u64 now, bool page,
					  bool emit, bool chains)
{
	struct frames f = {};
	int n = 0;

	thread_leaves(out, sc, flags, now);
	thread_comes(in, sc, now);
	find_frames(out, sc, page, chains, now, &f);
	if (emit)
		n = emit_out(out, sc, flags | LDB_SCHED_F_OTHER, now, in->tid, &f);
	else
		ldb_order_seq_then_page();	/* in place of the barrier of a record */
	stamp_out(out, flags, now, &f.own);
	stamp_in(in, sc, now);
	return emit && ldb_written(sc, n);
}

static noinline void switch_to_other(struct ldb_thread *out, u32 flags, struct task_struct *next)
{
	struct ldb_session *s = out->s;
	struct ldb_session_cpu *sc = ldb_this_cpu(s);
	bool page = ldb_wants(s, LDB_GROUP_SCHED) && READ_ONCE(out->page);
	struct frames f = {};
	u64 now = ldb_clock_now(s->clock);

	sc->idle_since = next->pid ? 0 : now;
	thread_leaves(out, sc, flags, now);
	find_frames(out, sc, page, ldb_wants(s, LDB_GROUP_SCHED), now, &f);
	if (ldb_wants(s, LDB_GROUP_SCHED)) {
		struct ldb_who other = ldb_name_only_other(sc, next, now);

		ldb_written(sc, emit_out(out, sc, flags | other.flags, now, other.tid, &f));
	} else {
		ldb_order_seq_then_page();	/* in place of the barrier of a record */
	}
	stamp_out(out, flags, now, &f.own);
	ldb_stamp_cpu(sc, 0, 0);
}

static noinline void switch_from_other(struct ldb_thread *in, u32 flags)
{
	struct ldb_session *s = in->s;
	struct ldb_session_cpu *sc = ldb_this_cpu(s);
	u64 now = ldb_clock_now(s->clock);

	if (sc->idle_since && !current->pid)
		sc->costs.idle += now - sc->idle_since;
	sc->idle_since = 0;
	thread_comes(in, sc, now);
	if (ldb_wants(s, LDB_GROUP_SCHED)) {
		struct ldb_who who = ldb_name_only_other(sc, current, now);

		ldb_emit(sc, now, who.tid, LDB_EV_SWITCH, flags | who.flags | LDB_SCHED_F_OTHER, 0,
			 in->tid);
	} else {
		ldb_order_seq_then_page();	/* in place of the barrier of a record */
	}
	stamp_in(in, sc, now);
}

/*
 * Records a switch for sessions to which neither task belongs, if one of their threads waits for
 * this CPU.  Sessions that have just recorded the switch (`done` and `done2`) are skipped.
 */
static noinline void switch_between_others(const struct ldb_session *done,
					   const struct ldb_session *done2, u32 flags,
					   struct task_struct *next)
{
	struct ldb_session *s;
	int waiting = 0;
	u32 clock = 0;
	u64 now = 0;

	list_for_each_entry_rcu(s, &ldb_bound, bound) {
		struct ldb_session_cpu *sc = ldb_this_cpu(s);
		struct ldb_who from, to;

		if (!ldb_session_waits(sc))
			continue;
		waiting += sc->waiting;
		if (s == done || s == done2 || !ldb_wants(s, LDB_GROUP_SCHED))
			continue;
		/*
		 * The clock is not read again for each session, because there may be many sessions,
		 * and reading a clock can be slow.
		 */
		if (clock != s->clock) {
			clock = s->clock;
			now = ldb_clock_now(clock);
		}
		from = ldb_name_other(sc, current, now);
		to = ldb_name_other(sc, next, now);
		ldb_emit(sc, now, from.tid, LDB_EV_RUNNING, flags | from.flags | to.flags, 0,
			 to.tid);
		if ((from.flags | to.flags) & LDB_SCHED_F_HIDDEN)
			local_inc(&sc->hidden);
	}
	/* This corrects the count, which may contain threads of sessions that have ended. */
	this_cpu_write(ldb_cpu.waiting, waiting);
}

/*
 * Does the rare work after a switch: records it in other sessions, wakes the reader, and removes a
 * thread that has exited.
 */
static noinline void switch_finish(struct ldb_thread *out, u32 flags)
{
	struct ldb_thread *in = this_cpu_read(ldb_cpu.thread);

	if (ldb_waited_for())
		switch_between_others(out ? out->s : NULL, in ? in->s : NULL, flags,
				      this_cpu_read(ldb_cpu.curr));
	if (!out)
		return;
	if (local_read(&ldb_this_cpu(out->s)->left) < 0)
		ldb_ring_quarter(ldb_this_cpu(out->s));
	if (LDB_SCHED_STATE(flags) == LDB_STATE_DEAD)
		ldb_thread_remove(out);
}

/* Handles all cases.  current leaves the CPU; ldb_cpu already has the next thread. */
static noinline void switch_slow(struct ldb_thread *out, bool preempt, unsigned int prev_state)
{
	struct ldb_thread *in = this_cpu_read(ldb_cpu.thread);
	u32 flags = flags_of(preempt, current, prev_state);

	if (out && in && out->s == in->s) {
		struct ldb_session *s = out->s;

		bool emit = ldb_wants(s, LDB_GROUP_SCHED);

		switch_within(ldb_this_cpu(s), out, in, flags, ldb_clock_now(s->clock),
			      emit && READ_ONCE(out->page), emit, emit);
	} else {
		if (out)
			switch_to_other(out, flags, this_cpu_read(ldb_cpu.curr));
		if (in)
			switch_from_other(in, flags);
	}
	switch_finish(out, flags);
}

/*
 * The fast cases, with and without a page.  They call no function before their end, so that few
 * registers must be saved.
 */
static noinline void switch_fast_with_page(struct ldb_thread *out, struct ldb_thread *in, u32 flags)
{
	struct ldb_session_cpu *sc = ldb_this_cpu(out->s);

	if (switch_within(sc, out, in, flags, ldb_clock_tsc(), true, true, false) || ldb_others_wait(sc))
		switch_finish(out, flags);
}

static noinline void switch_fast(struct ldb_thread *out, struct ldb_thread *in, u32 flags)
{
	struct ldb_session_cpu *sc = ldb_this_cpu(out->s);

	if (switch_within(sc, out, in, flags, ldb_clock_tsc(), false, true, false) || ldb_others_wait(sc))
		switch_finish(out, flags);
}

/* Returns true if current goes to sleep, and its session records system calls. */
static __always_inline bool sleeps_in_call(const struct ldb_thread *out, bool preempt,
					   struct task_struct *prev, unsigned int prev_state)
{
	u32 state;

	if (!ldb_wants(out->s, LDB_GROUP_CALL) || preempt)
		return false;
	state = flags_of(preempt, prev, prev_state);
	return state == LDB_STATE_SLEEPING || state == LDB_STATE_DISK;
}

void ldb_probe_switch(void *unused, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	int gen = ldb_gen();
	struct ldb_thread *out = this_cpu_read(ldb_cpu.thread), *in = ldb_observed(next);

	if (unlikely(this_cpu_read(ldb_cpu.gen) != gen)) {
		out = ldb_observed(prev);
		this_cpu_write(ldb_cpu.gen, gen);
	}
	this_cpu_write(ldb_cpu.thread, in);
	this_cpu_write(ldb_cpu.curr, next);
	if (!in && likely(!out && !ldb_waited_for()))
		return;
	if (in && out && out->s == in->s && READ_ONCE(out->s->fast) && sleeps_or_runs(prev_state)) {
		u32 flags = preempt ? LDB_SCHED_F_PREEMPT :
			    READ_ONCE(prev->__state) ? LDB_STATE_SLEEPING : LDB_STATE_RUNNING;

		if (READ_ONCE(out->page))
			switch_fast_with_page(out, in, flags);
		else
			switch_fast(out, in, flags);
	} else {
		switch_slow(out, preempt, prev_state);
	}
	if (out && sleeps_in_call(out, preempt, prev, prev_state))
		ldb_call_sleeps(out, out->tsc_out);
}
