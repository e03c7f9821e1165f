/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a thread leaves its CPU, or is interrupted by the CPU's timer, reads the chain of its frame
 * records (libldb/include/ldb/abi.h).  So each wait is attributed to the function that waits, and
 * to its callers, even while the scanner thread does not run.  Following a thread's chain once is
 * called a reading.
 *
 * Frames that were entered before the last reading have been emitted, so each reading ends at the
 * first of these.  Readings may take a limited share of a thread's time.  The part of the share
 * that they do not use is saved for later, up to a limit.  So a thread that switches very often is
 * not read at each switch.
 *
 * Events may be lost, so all frames are emitted again once a second.
 *
 * While a function is being entered, the counter of its block may be one ahead of the chain.  A
 * reading is discarded if memory is not mapped, or if it does not contain a valid chain.
 */
#ifndef RECORD_BPF_CHAIN_H
#define RECORD_BPF_CHAIN_H

#include "arch/cpu.h"
#include "who.h"

#define CANARY		0x4c44	/* LDB_CANARY */
#define GEN_ONE		0x10000	/* LDB_GEN_ONE */
/* a thread saves its share of this much time at most for later readings */
#define SAVED_NS	1000000
/* if a reading took longer, a hypervisor has interrupted it: only this much is counted */
#define TOOK_MAX_NS	200000
/* interval at which all frames are emitted again, because events may be lost */
#define ALL_AFTER_NS	1000000000
/*
 * A reading may emit FRAMES_ONCE frames of each block in each of TIMES_MAX loops; if a block has
 * more, the reading is discarded.
 */
#define FRAMES_ONCE	48	/* limited because the kernel's verifier checks each iteration */
#define TIMES_MAX	10

struct frame {
	u64 prev, gen, pc, ret;
};

struct block {
	u64 top, gen;
};

/* The state of a thread.  If two threads share an entry, each emits all of its frames again. */
struct chain {
	u32 pid, pad;
	/*
	 * Times up to which the thread's share has been used: by readings at switches, and in
	 * interrupts of the timer.
	 */
	u64 paid, samples_paid;
	u64 next_all;		/* the time at which all frames are to be emitted again */
	struct {
		u64 gen;	/* frames up to this generation have been emitted */
		u64 top;	/* generation of the innermost frame; 0: none */
	} seen[BPF_BLOCKS_MAX];
};

/* By pid modulo BPF_CHAINS_MAX.  The recorder sets the number of entries. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct chain);
} chains SEC(".maps");

/* The reading that a CPU makes.  Interrupts are off meanwhile. */
struct reading {
	u64 now, thread_pointer;
	u32 pid, tid;
	u32 is_all;		/* emit all frames, also those that were emitted before */
	/* the thread has a block at one of the offsets of the program's blocks */
	u32 has_blocks;
	u64 addr;		/* address of `frame` */
	struct frame frame;	/* the current position of the walk */
	/* The innermost frame of all blocks: on one stack, the frame at the lowest address. */
	struct {
		u64 gen, addr, pc;
	} innermost;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct reading);
} readings SEC(".maps");

/* Partner: order_blocks() */
static __always_inline u32 nr_blocks(void)
{
	return *(volatile u32 *)&state.nr_blocks;
}

static __always_inline struct reading *this_reading(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&readings, &zero);
}

static __always_inline struct chain *chain_at(u32 pid)
{
	u32 key = pid & (BPF_CHAINS_MAX - 1);

	return bpf_map_lookup_elem(&chains, &key);
}

static __always_inline struct chain *chain_of(u32 pid)
{
	struct chain *c = chain_at(pid);

	if (!c || c->pid == pid)
		return c;
	for (u32 b = 0; b < BPF_BLOCKS_MAX; b++)
		c->seen[b].gen = c->seen[b].top = 0;
	c->paid = c->samples_paid = c->next_all = 0;
	c->pid = pid;
	return c;
}

/* Called when a thread is created: an earlier thread may have had the same pid. */
static __always_inline void chain_forget(u32 pid)
{
	struct chain *c = chain_at(pid);

	if (c && c->pid == pid)
		c->pid = 0;
}

static __always_inline bool read_frame(struct frame *f, u64 addr, u64 at_most)
{
	return !bpf_probe_read_user(f, sizeof(*f), (void *)addr) && (u16)f->gen == CANARY &&
	       f->gen <= at_most;
}

/*
 * Emits the frame at the position of the reading.  This function is neither static nor inlined, so
 * the kernel's verifier checks it only once.  Otherwise it would check each iteration of the loop
 * in chain_walk() again for each path to it.
 */
noinline int chain_emit(u32 flags, u32 block)
{
	const struct reading *r = this_reading();
	char *ring = this_ring();
	u64 idx;

	if (!r || !ring)
		return 0;
	idx = reserve(ring, 3);
	put(ring, idx, r->now, r->tid, LDB_EV_FRAME, flags, r->frame.pc, 0);
	put(ring, idx + 1, r->addr, 0, LDB_EV_CONT + 1, 0, (r->frame.gen & ~0xffffULL) | (u16)block, 0);
	put(ring, idx + 2, r->frame.ret, 0, LDB_EV_CONT + 2, 0, 0, 0);
	return 0;
}

enum walk { WALK_BAD, WALK_DONE, WALK_GOES_ON };

/* Emits up to FRAMES_ONCE new frames of a chain, beginning at the position of the reading. */
noinline int chain_walk(u64 emitted, u32 block)
{
	struct reading *r = this_reading();

	if (!r)
		return WALK_BAD;
	for (u32 i = 0; i < FRAMES_ONCE; i++) {
		struct frame caller = {};
		bool is_known = r->frame.gen <= emitted;

		if (!is_known && r->frame.prev &&
		    !read_frame(&caller, r->frame.prev, r->frame.gen - GEN_ONE))
			return WALK_BAD;
		chain_emit(is_known ? LDB_FRAME_F_KNOWN : 0, block);
		if (is_known)
			return WALK_DONE;
		r->addr = r->frame.prev;
		r->frame = caller;
	}
	return WALK_GOES_ON;
}

/*
 * Emits the new frames of a chain, from its innermost one.  Returns false if the chain is not
 * valid, or has too many new frames.
 */
static __always_inline bool walk_all(u64 emitted, u32 block)
{
	int done = WALK_GOES_ON;

	for (u32 i = 0; i < TIMES_MAX && done == WALK_GOES_ON; i++)
		done = chain_walk(emitted, block);
	return done == WALK_DONE;
}

/* Reads a block and emits its new frames.  Returns 0 if that is not possible. */
noinline int chain_block(u32 b)
{
	struct reading *r = this_reading();
	struct frame none = {};
	struct block block;
	struct chain *c;
	u64 top;

	b &= BPF_BLOCKS_MAX - 1;
	if (!r || bpf_probe_read_user(&block, sizeof(block),
				      (void *)(r->thread_pointer + state.block_offset[b])) ||
	    (u16)block.gen != CANARY)
		return 0;
	r->has_blocks = 1;
	r->addr = block.top;
	r->frame = none;
	if (block.top && !read_frame(&r->frame, block.top, block.gen))
		return 0;
	top = r->frame.gen;
	if (block.top && (!r->innermost.addr || block.top < r->innermost.addr)) {
		r->innermost.gen = (top & ~0xffffULL) | b;
		r->innermost.addr = block.top;
		r->innermost.pc = r->frame.pc;
	}
	c = chain_of(r->pid);
	if (!c)
		return 0;
	if ((r->is_all || top != c->seen[b].top) && !walk_all(r->is_all ? 0 : c->seen[b].gen, b))
		return 0;
	/*
	 * The counter may be one ahead of the chain: its last frame may still be added.  Before the
	 * first call of a function it is 0.
	 */
	c->seen[b].gen = block.gen < GEN_ONE ? 0 : top == block.gen ? top : block.gen - GEN_ONE;
	c->seen[b].top = top;
	return 1;
}

static __always_inline void emit_mark(struct reading *r, u32 flags)
{
	struct frame none = {};

	r->frame = none;
	r->addr = 0;
	chain_emit(flags, 0);
}

/*
 * Charges the time of a reading to the thread's share.  Readings in interrupts have a share of
 * their own, so that they cannot prevent the reading of a wait.
 */
static __always_inline void pay(struct chain *c, u64 begin, bool leaves)
{
	struct bpf_cpu *cpu = cpu_of(bpf_get_smp_processor_id());
	u64 took = now_ns() - begin, *paid = leaves ? &c->paid : &c->samples_paid;
	u32 nr = bpf_get_smp_processor_id() & (BPF_CPUS_MAX - 1);

	if (took > TOOK_MAX_NS)
		took = TOOK_MAX_NS;
	if (leaves) {
		cpu->switch_ns += took;
	} else {
		cpu->sample_ns += took;
		cpu->nr_samples++;
	}
	if (*paid + SAVED_NS < begin)
		*paid = begin - SAVED_NS;
	*paid += took * config.read_share;
	if (!leaves && !*(volatile u8 *)&state.is_sampled[nr])
		*paid = begin + READINGS_TICK_NS;
}

static __always_inline bool has_room(bool leaves)
{
	u64 until = *(volatile u64 *)&state.read_until[bpf_get_smp_processor_id() & (BPF_CPUS_MAX - 1)];
	char *ring = this_ring();

	if (leaves)
		until += (config.ring_mask + 1) / 4;
	return ring && *(volatile u64 *)ring < until;
}

/*
 * Reads the chains of p, the current task.  Returns NULL if there is nothing to read, if the chains
 * are not mapped or not valid, if readings have used up their share of time, or if the ring has too
 * little room.
 */
static __always_inline struct reading *read_chain(struct task_struct *p, u32 tid, u64 now, bool leaves)
{
	u32 nr = nr_blocks();
	struct reading *r = this_reading();
	struct chain *c;
	bool is_read = true;

	if (!nr || !r)
		return NULL;
	c = chain_of(p->pid);
	if (!c || now < (leaves ? c->paid : c->samples_paid) || !has_room(leaves))
		return NULL;
	r->now = now;
	r->tid = tid;
	r->pid = p->pid;
	r->thread_pointer = thread_pointer(p);
	r->innermost.gen = r->innermost.addr = r->innermost.pc = 0;
	r->has_blocks = 0;
	r->is_all = now >= c->next_all;
	if (r->is_all) {
		c->next_all = now + ALL_AFTER_NS;
		emit_mark(r, LDB_FRAME_F_ALL);
	}
	for (u32 b = 0; b < BPF_BLOCKS_MAX && b < nr && is_read; b++)
		is_read = chain_block(b);
	pay(c, now, leaves);
	/*
	 * ldb's own threads in the program have no blocks, and reading these would fail each time.
	 * This matters for the scanner: it often leaves its CPU to a thread of the program that
	 * wakes up, and the page fault of a failing read would delay that thread.
	 */
	if (!is_read && !r->has_blocks && !c->seen[0].gen)
		c->paid = c->samples_paid = now + ALL_AFTER_NS;
	return is_read ? r : NULL;
}

/*
 * Emits the switch of prev, the current task, which leaves its CPU, with its frames.  Returns false
 * if the switch must be emitted without frames.
 */
static noinline bool emit_with_frames(struct task_struct *prev, u32 tid, u64 now, u32 flags,
				      u32 other)
{
	const struct reading *r = read_chain(prev, tid, now, true);

	if (!r)
		return false;
	emit2(now, tid, LDB_EV_SWITCH_OUT, flags | LDB_SCHED_F_CHAIN, r->innermost.gen, other, r->innermost.addr,
	      r->innermost.pc);
	return true;
}

/*
 * Called when the timer has interrupted a recorded thread: reads its frames while it keeps its CPU.
 */
static __always_inline void read_running(struct task_struct *p, u32 tid)
{
	struct reading *r = read_chain(p, tid, now_ns(), false);

	if (r)
		emit_mark(r, LDB_FRAME_F_DONE);
}

#endif
