/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes recordings of simulated programs that a seed determines: threads serve requests, call
 * functions, wait for the locks of each other, for CPUs, disks and queues.  Times are plausible;
 * addresses are constants, so that nothing depends on where the test program is mapped.
 */
#ifndef UNIT_ANALYSIS_PROGRAM_H
#define UNIT_ANALYSIS_PROGRAM_H

#include "analysis-sample.h"

#define PROGRAM_LOCKS	3
#define PROGRAM_REQS	120	/* requests of each thread */
#define PROGRAM_THREADS	4
#define PROGRAM_QUEUE	0x9000
#define PROGRAM_HOG	900

struct program_options {
	uint64_t seed;
	unsigned nr_threads;
	unsigned nr_requests;	/* requests of each thread; 0: PROGRAM_REQS, the greatest number */
	bool has_kernel;	/* events of the scheduler, page faults, interrupts */
	bool has_queues;	/* the first thread takes requests and puts them into a queue */
	/* locks are taken in the order of time, so that the recording can be replayed */
	bool is_simple;
	/* starts and ends of functions have errors, and there are observation gaps */
	bool is_unsure;
};

struct program {
	struct made *t;
	struct program_options o;
	int64_t now[PROGRAM_THREADS + 1];
	unsigned gen[PROGRAM_THREADS + 1];
	struct {
		int64_t free_at;
		uint32_t owner;
	} lock[PROGRAM_LOCKS];
	struct {
		uint64_t id;
		int64_t at;
	} queue[2 * PROGRAM_REQS];
	size_t nr_queued, nr_taken;
};

static inline int64_t program_some(int64_t max)
{
	return sample_random() % max;
}

struct program_away {
	unsigned state;
	uint32_t waker;		/* 0: an interrupt */
	uint32_t running;	/* the task that ran meanwhile; 0: none */
};

#define program_away(p, tid, then, ...)	\
	program_away_until(p, tid, then, &(struct program_away){ __VA_ARGS__ })

/* Takes the thread off the CPU from now to then. */
static inline void program_away_until(struct program *p, uint32_t tid, int64_t then,
				      const struct program_away *a)
{
	int64_t now = p->now[tid], woken = then - (then - now) / 4;

	if (p->o.has_kernel) {
		made_switch(p->t, .tick = now, .cpu = tid, .prev = tid, .state = a->state,
			    .next = a->running, .gen = p->gen[tid]);
		if (LDB_SCHED_STATE(a->state) != LDB_STATE_RUNNING) {
			made_waking(p->t, .tick = woken, .cpu = a->waker, .waker = a->waker,
				    .flags = a->waker ? 0 : LDB_SCHED_F_HARDIRQ, .woken = tid);
			made_wakeup(p->t, .tick = woken + 2, .cpu = tid, .woken = tid,
				    .running = a->running);
		}
		made_switch(p->t, .tick = then, .cpu = tid, .prev = a->running,
			    .state = LDB_STATE_RUNNING, .next = tid);
	}
	p->now[tid] = then + 3;
}

static inline uint64_t program_site(uint64_t lock)
{
	return 0x1210 + lock % 0x300;
}

static inline void program_lock(struct program *p, uint32_t tid, unsigned gen)
{
	unsigned n = program_some(PROGRAM_LOCKS);
	uint64_t lock = 0x7000 + n * 0x100;
	int64_t held = 50 + program_some(n ? 400 : 1500), begin = p->now[tid];

	if (p->lock[n].free_at > begin) {
		int64_t until = p->lock[n].free_at;

		made_wait(p->t, .tid = tid, .lock = lock, .owner = p->lock[n].owner, .begin = begin,
			  .end = until, .gen = gen, .site = program_site(lock));
		if (p->o.has_kernel) {
			made_futex_wait(p->t, .tick = begin + 5, .cpu = tid, .tid = tid,
					.addr = lock, .owner = p->lock[n].owner);
			p->now[tid] += 8;
			made_futex_wake(p->t, .tick = until - 4, .cpu = p->lock[n].owner,
					.tid = p->lock[n].owner, .addr = lock);
		}
		if (until > p->now[tid] + 40)
			program_away(p, tid, until, .state = LDB_STATE_SLEEPING,
				     .waker = p->lock[n].owner);
		if (p->now[tid] < until)
			p->now[tid] = until;
	}
	begin = p->now[tid];
	p->now[tid] += held;
	if (!program_some(6) && p->o.has_kernel && !p->o.is_simple) {
		uint32_t hog = PROGRAM_HOG + program_some(2);

		program_away(p, tid, p->now[tid] + 300 + program_some(2000),
			     .state = LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT, .running = hog);
	}
	if (program_some(5) || p->o.is_simple)
		made_hold(p->t, .tid = tid, .lock = lock, .begin = begin, .end = p->now[tid],
			  .gen = gen, .site = program_site(lock));
	else
		made_bounded_hold(p->t, .tid = tid, .lock = lock, .end = p->now[tid], .gen = gen);
	p->lock[n].free_at = p->now[tid];
	p->lock[n].owner = tid;
}

static inline void program_interruptions(struct program *p, uint32_t tid)
{
	static const char *const names[] = { "TIMER", "NET_RX", "RCU", "eth0", "local_timer" };
	static const unsigned kinds[] = {
		LDB_IRQ_SOFT, LDB_IRQ_SOFT, LDB_IRQ_SOFT, LDB_IRQ_HARD, LDB_IRQ_LOCAL_TIMER,
	};
	unsigned which = program_some(5);
	int64_t at = p->now[tid];

	if (!p->o.has_kernel)
		return;
	if (!program_some(5))
		writer_add_fault(p->t->w, &(struct ldb_row_fault){
			.tid = tid, .tick = at, .addr = 0x50000 + 4096 * program_some(9), .pc = 0x1000 + 16 * program_some(6),
			.flags = program_some(2) ? LDB_FAULT_ROW_MAJOR : LDB_FAULT_ROW_MINOR | LDB_FAULT_F_WRITE,
		});
	if (!program_some(8)) {
		uint32_t nr_short = program_some(3);
		int64_t end = at + 40 + program_some(200);

		made_irq(p->t, .tid = tid, .start = at + 2, .end = end, .kind = kinds[which],
			 .nr_short = nr_short, .name = names[which]);
		p->now[tid] += 60;
	}
}

static inline void program_call(struct program *p, uint32_t tid, unsigned parent, unsigned depth)
{
	unsigned own = ++p->gen[tid], which = program_some(3) + 2 * (depth > 2);
	uint64_t unsure = p->o.is_unsure ? 2 * program_some(60) : 0;
	int64_t start = p->now[tid];

	p->now[tid] += 10 + program_some(which == 2 ? 900 : 200);
	while (depth < 5 && program_some(7) < 3) {
		program_call(p, tid, own, depth + 1);
		p->now[tid] += program_some(100);
	}
	program_interruptions(p, tid);
	if (!program_some(4))
		program_lock(p, tid, own);
	if (!program_some(9)) {
		uint32_t running = program_some(2) ? PROGRAM_HOG : 0;
		uint32_t waker = program_some(2) ? tid % p->o.nr_threads + 1 : 0;
		unsigned state = program_some(2) ? LDB_STATE_SLEEPING : LDB_STATE_DISK;

		program_away(p, tid, p->now[tid] + 200 + program_some(3000), .state = state,
			     .waker = waker, .running = running);
	}
	p->now[tid] += 5 + unsure;
	if (program_some(12))	/* otherwise the call was not observed */
		made_func(p->t, .tid = tid, .pc = (void *)(uintptr_t)(0x1000 + 0x100 * which),
			  .ret = (void *)(uintptr_t)(0x1040 + 0x100 * (depth ? which : 9)),
			  .gen = own, .parent = parent, .depth = depth, .start = start,
			  .end = p->now[tid], .unc = unsure);
	p->now[tid] += 2;
}

/*
 * The thread takes a lock a fixed time after the start of the request, and then does something
 * else.
 */
static inline void program_turn(struct program *p, uint32_t tid, uint64_t id)
{
	unsigned outer = ++p->gen[tid], inner = ++p->gen[tid];
	int64_t start = p->now[tid];

	made_req(p->t, .op = LDB_REQ_OP_START, .tid = tid, .tick = start, .id = id);
	made_class(p->t, start, id, program_some(3) ? "A" : "BIG");
	p->now[tid] += 100;
	program_lock(p, tid, inner);
	made_func(p->t, .tid = tid, .pc = (void *)0x1200, .ret = (void *)0x1040, .gen = inner,
		  .parent = outer, .depth = 1, .start = start + 10, .end = p->now[tid]);
	p->now[tid] += 200 + program_some(4000);
	if (!program_some(4)) {
		unsigned preempted = LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT;
		unsigned state = program_some(2) ? LDB_STATE_DISK : preempted;

		program_away(p, tid, p->now[tid] + 500 + program_some(3000), .state = state,
			     .running = PROGRAM_HOG);
	}
	made_func(p->t, .tid = tid, .pc = (void *)0x1000, .ret = (void *)0x1940, .gen = outer,
		  .start = start + 2, .end = p->now[tid]);
	made_req(p->t, .op = LDB_REQ_OP_END, .tid = tid, .tick = p->now[tid] + 4, .id = id);
	p->now[tid] += 300 + program_some(3000);
}

static inline void program_request(struct program *p, uint32_t tid, unsigned i)
{
	static const char *const classes[] = { "A", "BIG", "" };
	uint64_t id = tid * 1000 + i;

	if (p->o.is_simple) {
		program_turn(p, tid, id);
		return;
	}
	if (p->o.has_queues && tid > 1) {
		if (p->nr_taken == p->nr_queued || p->queue[p->nr_taken].at > p->now[tid]) {
			p->now[tid] += 300;
			return;
		}
		id = p->queue[p->nr_taken++].id;
		made_req(p->t, .op = LDB_REQ_OP_START, .tid = tid, .tick = p->now[tid], .id = id,
			 .queue = PROGRAM_QUEUE);
	} else {
		made_req(p->t, .op = LDB_REQ_OP_START, .tid = tid, .tick = p->now[tid], .id = id);
		made_class(p->t, p->now[tid], id, classes[program_some(3)]);
	}
	p->now[tid] += 5;
	if (p->o.has_queues && tid == 1) {
		p->now[tid] += 20 + program_some(300);
		p->queue[p->nr_queued].id = id;
		p->queue[p->nr_queued++].at = p->now[tid] + 5;
		made_req(p->t, .op = LDB_REQ_OP_BLOCK, .tid = tid, .tick = p->now[tid], .id = id,
			 .queue = PROGRAM_QUEUE);
		p->now[tid] += 200 + program_some(1200);
		return;
	}
	program_call(p, tid, 0, 0);
	if (!program_some(20))	/* a batch: the next one begins before this one ends */
		made_req(p->t, .op = LDB_REQ_OP_START, .tid = tid, .tick = p->now[tid],
			 .id = id + 100000);
	program_call(p, tid, 0, 0);
	made_req(p->t, .op = program_some(9) ? LDB_REQ_OP_END : LDB_REQ_OP_END_ALL, .tid = tid,
		 .tick = p->now[tid], .id = id);
	p->now[tid] += 50 + program_some(400);
	if (p->o.is_unsure && !program_some(15)) {
		made_gap(p->t, program_some(2) ? tid : 0, p->now[tid] - 400, p->now[tid] + 100);
		p->now[tid] += 100;
	}
}

/* Writes a file and opens it for reading. */
TAP_FN void program_make(struct made *t, const char *name, const struct program_options *o)
{
	struct program p = { .t = t, .o = *o };
	unsigned done[PROGRAM_THREADS + 1] = { 0 }, nr = o->nr_requests ? o->nr_requests : PROGRAM_REQS;
	char err[256];

	*t = (struct made){ 0 };
	snprintf(t->path, sizeof(t->path), "%s", sample_path(name));
	t->w = writer_open(t->path, &sample_header, err, sizeof(err));
	if (!t->w)
		bail_out(err);
	sample_state = o->seed;
	if (o->has_kernel) {
		writer_add_meta(t->w, "kernel_events", "module");
		writer_add_meta(t->w, "kernel_faults", "1");
		writer_add_meta(t->w, "kernel_irqs", "1");
		made_task(t, PROGRAM_HOG, PROGRAM_HOG, "hog");
		made_task(t, PROGRAM_HOG + 1, 990, "kworker/1:0");
	}
	writer_add_meta(t->w, "mutex", "hold");
	writer_add_meta(t->w, "lock_threshold_ns", "20");
	for (uint32_t tid = 1; tid <= o->nr_threads; tid++) {
		p.now[tid] = 5000 + 100 * tid;
		p.gen[tid] = 1;
		made_task(t, tid, 1, tid == 1 ? "main" : "worker");
		/*
		 * the start of this function is not known; that of thread 1 was before the
		 * recording
		 */
		if (o->is_unsure)
			writer_add_func(t->w, &(struct ldb_row_func){
				.tid = tid, .pc = 0x1400, .ret = 0x1940, .gen = GEN(1), .start_max = 2000,
				.end_max = 400000, .start_unc = LDB_UNC_UNKNOWN, .end_unc = 900,
				.flags = tid == 1 ? LDB_FUNC_F_FROM_START : 0,
			});
		if (o->has_kernel)
			made_switch(t, .tick = 100, .cpu = tid, .next = tid);
	}
	for (;;) {
		uint32_t next = 0;

		for (uint32_t tid = 1; tid <= o->nr_threads; tid++)
			if (done[tid] < nr && (!next || p.now[tid] < p.now[next]))
				next = tid;
		if (!next)
			break;
		program_request(&p, next, done[next]++);
	}
	for (uint32_t tid = 1; tid <= o->nr_threads; tid++)
		made_thread(t, tid, tid == 1 ? "main" : "worker", 0, p.now[tid] + 1000);
	made_open(t);
}

#endif
