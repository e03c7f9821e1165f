// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the recording that the tests change; see mutants.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "trace/writer.h"
#include "mutants.h"

#define TID	LDB_SCHED_F_TID
#define OTHER	LDB_SCHED_F_OTHER
#define MUTEX	LDB_LOCK_MUTEX
#define STAMPED	LDB_LOCK_F_BEGIN_EXACT

static char folder[] = "/tmp/ldb-oracle.XXXXXX";
static char path[64];

static void good_threads(struct sample *s)
{
	sample_add(s, thread, { .tid = FIRST, .end = 100, .name = "first" });
	sample_add(s, thread, {
		.tid = SECOND, .flags = LDB_THREAD_F_EXITED, .start = 1000, .end = 90000, .made = 3,
		.seen = 1, .creator = FIRST, .name = "second",
	});
	sample_add(s, thread, { .tid = FIRST, .end = 100010, .made = 9, .seen = 5, .name = "first" });
}

struct call {
	uint32_t tid, depth;
	unsigned gen, parent;
	int64_t start, end;
};

#define func(s, ...)	func_add(s, &(struct call){ __VA_ARGS__ })

static void func_add(struct sample *s, const struct call *c)
{
	sample_add(s, func, {
		.tid = c->tid, .pc = 0x1000 + c->gen, .ret = 0x2000, .gen = GEN(c->gen),
		.parent_gen = GEN(c->parent), .depth = c->depth, .start_max = c->start,
		.start_unc = 50, .end_max = c->end, .end_unc = 50,
	});
}

/* main calls leaf, then outer, which calls inner twice. */
static void good_calls(struct sample *s)
{
	func(s, .tid = FIRST, .gen = 2, .parent = 1, .depth = 1, .start = 1000, .end = 2000);
	func(s, .tid = FIRST, .gen = 4, .parent = 3, .depth = 2, .start = 3500, .end = 4000);
	func(s, .tid = FIRST, .gen = 5, .parent = 3, .depth = 2, .start = 4500, .end = 5000);
	func(s, .tid = FIRST, .gen = 3, .parent = 1, .depth = 1, .start = 3000, .end = 6000);
	func(s, .tid = SECOND, .gen = 1, .start = 1500, .end = 89000);
	func(s, .tid = FIRST, .gen = 1, .start = 150, .end = 99000);
	s->func[F_MAIN].flags = LDB_FUNC_F_OPEN;
	s->func[F_MAIN].end_unc = 0;
	sample_add(s, gap, { .begin = 50000, .end = 51000 });
}

#define lock(s, ...)	lock_add(s, (struct ldb_row_lock){ .site = 0x3000, __VA_ARGS__ })

static void lock_add(struct sample *s, struct ldb_row_lock row)
{
	row.gen = row.tid == FIRST ? GEN(5) : GEN(1);
	s->lock[s->nr_lock++] = row;
}

static void good_locks(struct sample *s)
{
	lock(s, .op = LDB_LOCK_OP_HOLD, .flags = MUTEX | STAMPED, .tid = FIRST, .lock = 0x100,
	     .begin = 6000, .end = 7000);
	lock(s, .op = LDB_LOCK_OP_WAIT, .flags = MUTEX, .tid = SECOND, .lock = 0x100,
	     .owner = FIRST, .begin = 6500, .end = 7050);
	lock(s, .op = LDB_LOCK_OP_HOLD, .flags = MUTEX | STAMPED, .tid = SECOND, .lock = 0x100,
	     .begin = 7050, .end = 8000);
	lock(s, .op = LDB_LOCK_OP_HOLD, .flags = MUTEX, .tid = FIRST, .lock = 0x100, .begin = 9000,
	     .end = 9000);
	lock(s, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_RWLOCK_RD | STAMPED, .tid = FIRST,
	     .lock = 0x200, .begin = 30000, .end = 31000);
	lock(s, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_RWLOCK_RD | STAMPED, .tid = SECOND,
	     .lock = 0x200, .begin = 30500, .end = 31500);
	lock(s, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_RWLOCK_WR | STAMPED, .tid = FIRST,
	     .lock = 0x200, .begin = 32000, .end = 33000);
	lock(s, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_COND, .tid = SECOND, .lock = 0x300,
	     .begin = 40000, .end = 45000);
	lock(s, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_JOIN, .tid = FIRST, .lock = 0x400,
	     .owner = SECOND, .begin = 80000, .end = 95000);
}

static void req(struct sample *s, uint32_t op, uint32_t tid, int64_t tick, uint64_t id)
{
	sample_add(s, req, { .op = op, .tid = tid, .tick = tick, .id = id });
}

/* Request 1 passes through a queue; request 2 has waited before it was started. */
static void good_requests(struct sample *s)
{
	req(s, LDB_REQ_OP_START, FIRST, 2000, 1);
	req(s, LDB_REQ_OP_BLOCK, FIRST, 2500, 1);
	req(s, LDB_REQ_OP_ARRIVED, FIRST, 5000, 2);
	s->req[R_ARRIVED].site = 1000;
	req(s, LDB_REQ_OP_START, FIRST, 5001, 2);
	req(s, LDB_REQ_OP_END_ALL, FIRST, 5500, 0);
	req(s, LDB_REQ_OP_START, SECOND, 14000, 1);
	req(s, LDB_REQ_OP_END, SECOND, 15000, 1);
}

#define sched(s, ...)	sample_add(s, sched, { __VA_ARGS__ })

static void good_kernel(struct sample *s)
{
	const uint32_t asleep = LDB_STATE_SLEEPING, dead = LDB_STATE_DEAD, preempt = LDB_SCHED_F_PREEMPT;

	sched(s, .op = LDB_SCHED_OP_SWITCH, .flags = OTHER, .tick = 100, .tid = 0, .other = FIRST);
	sched(s, .op = LDB_SCHED_OP_FORK, .flags = TID | OTHER, .tick = 500, .tid = FIRST,
	      .other = SECOND, .value = FIRST);
	sched(s, .op = LDB_SCHED_OP_WAKEUP, .flags = TID | LDB_SCHED_F_NEW, .tick = 600,
	      .tid = SECOND, .value = 1);
	sched(s, .op = LDB_SCHED_OP_SWITCH, .flags = OTHER, .cpu = 1, .tick = 700, .tid = 0,
	      .other = SECOND);
	sched(s, .op = LDB_SCHED_OP_FUTEX_WAIT, .flags = LDB_FUTEX_PLAIN, .cpu = 1, .tick = 10000,
	      .tid = SECOND);
	sched(s, .op = LDB_SCHED_OP_SWITCH, .flags = TID | asleep, .cpu = 1, .tick = 10100,
	      .tid = SECOND);
	sched(s, .op = LDB_SCHED_OP_WAKING, .flags = TID | OTHER, .tick = 12000, .tid = FIRST,
	      .other = SECOND);
	sched(s, .op = LDB_SCHED_OP_MIGRATE, .flags = TID, .tick = 12050, .tid = SECOND, .addr = 1);
	sched(s, .op = LDB_SCHED_OP_WAKEUP, .flags = TID | OTHER, .tick = 12100, .tid = SECOND,
	      .other = FIRST);
	sched(s, .op = LDB_SCHED_OP_SWITCH, .flags = TID | OTHER | preempt, .tick = 13000,
	      .tid = FIRST, .other = SECOND);
	sched(s, .op = LDB_SCHED_OP_SWITCH, .flags = TID | OTHER | asleep, .tick = 20000,
	      .tid = SECOND, .other = FIRST);
	sched(s, .op = LDB_SCHED_OP_WAKING, .flags = LDB_SCHED_F_HARDIRQ | OTHER, .cpu = 1,
	      .tick = 21000, .tid = 0, .other = SECOND);
	sched(s, .op = LDB_SCHED_OP_WAKEUP, .flags = TID | OTHER, .cpu = 1, .tick = 21100,
	      .tid = SECOND, .other = FIRST);
	sched(s, .op = LDB_SCHED_OP_SWITCH, .flags = TID | OTHER | asleep, .tick = 85000,
	      .tid = FIRST, .other = SECOND);
	sched(s, .op = LDB_SCHED_OP_EXIT, .flags = TID, .tick = 91000, .tid = SECOND);
	sched(s, .op = LDB_SCHED_OP_SWITCH, .flags = TID | dead, .tick = 92000, .tid = SECOND);
	sample_add(s, fault, { .tid = FIRST, .tick = 5200, .addr = 0x5000, .pc = 0x1003 });
	sample_add(s, irq, {
		.kind = LDB_IRQ_LOCAL_TIMER, .cpu = 0, .nr = 236, .tid = FIRST, .start = 3000, .end = 3100,
		.name = "local_timer",
	});
}

/* The first thread calls deflate(), which calls memcpy(), and setjmp(), which is not timed. */
static void good_flows(struct sample *s)
{
	sample_add(s, flow_api, { .id = 1, .tick = 150, .caller = 0x1000, .target = 0x8000, .name = "deflate" });
	sample_add(s, flow_api, { .id = 2, .tick = 160, .caller = 0x8000, .target = 0x9000, .name = "memcpy" });
	sample_add(s, flow_api, {
		.id = 3, .flags = LDB_FLOW_F_NOTIME, .tick = 170, .caller = 0x1000, .target = 0x9100, .name = "setjmp",
	});
	sample_add(s, flow, { .tid = FIRST, .api = 1, .tick = 50000, .calls = 1, .timed = 1, .sum = 400, .min = 400, .max = 400 });
	sample_add(s, flow, { .tid = FIRST, .api = 1, .tick = 100000, .calls = 2, .timed = 2, .sum = 900, .min = 400, .max = 500 });
	sample_add(s, flow, { .tid = FIRST, .api = 2, .tick = 100000, .calls = 9, .timed = 3, .sum = 330, .min = 10, .max = 200 });
	sample_add(s, flow, { .tid = FIRST, .api = 3, .tick = 100000, .calls = 4 });
	sample_add(s, flow_hist, { .tid = FIRST, .api = 1, .tick = 100000, .bucket = 31, .count = 2 });
	sample_add(s, flow_call, { .tid = FIRST, .api = 2, .start = 1300, .end = 1500, .gen = GEN(2), .nr_later = 1 });
	sample_add(s, flow_call, { .tid = FIRST, .api = 1, .start = 1200, .end = 1700, .gen = GEN(2), .nr_later = 1 });
	sample_add(s, flow_call, { .tid = FIRST, .api = 1, .start = 60000, .end = 60400, .gen = GEN(5), .nr_later = 5 });
}

void sample_good(struct sample *s)
{
	static const struct ldb_row_meta metas[] = {
		[META_ATTACHED] = { "attached", "launch" }, [META_CPUS] = { "nr_cpus", "2" },
		[META_SCANNERS] = { "nr_scanners", "1" }, [META_KERNEL] = { "kernel_events", "module" },
		[META_THRESHOLD] = { "lock_threshold_ns", "100" }, [META_END] = { "end", "exit:0" },
		[META_FLOWS] = { "flows_threshold_ns", "100" },
	};

	memset(s, 0, sizeof(*s));
	s->clock_id = LDB_CLOCK_TSC;
	s->nr_meta = sizeof(metas) / sizeof(metas[0]);
	memcpy(s->meta, metas, sizeof(metas));
	sample_add(s, clock, { .tick = 0, .raw_ns = 500, .mono_ns = 600, .real_ns = 700 });
	sample_add(s, clock, { .tick = 100000, .raw_ns = 100500, .mono_ns = 100600, .real_ns = 100700 });
	good_threads(s);
	good_calls(s);
	good_locks(s);
	good_requests(s);
	good_kernel(s);
	good_flows(s);
}

/* Writing and judging */

#define write_all(w, s, kind)						\
	do {								\
		for (size_t i_ = 0; i_ < (s)->nr_##kind; i_++)		\
			writer_add_##kind(w, &(s)->kind[i_]);		\
	} while (0)

static void write_rows(struct writer *w, const struct sample *s)
{
	for (size_t i = 0; i < s->nr_meta; i++)
		writer_add_meta(w, s->meta[i].key, s->meta[i].value);
	write_all(w, s, clock);
	write_all(w, s, thread);
	write_all(w, s, func);
	write_all(w, s, lock);
	for (size_t i = 0; i < s->nr_req; i++) {
		if (i && i == s->flush_req)
			writer_flush(w);
		writer_add_req(w, &s->req[i]);
	}
	write_all(w, s, sched);
	write_all(w, s, fault);
	write_all(w, s, irq);
	write_all(w, s, gap);
	write_all(w, s, lost);
	write_all(w, s, module);
	write_all(w, s, flow_api);
	write_all(w, s, flow);
	write_all(w, s, flow_hist);
	write_all(w, s, flow_call);
}

const char *sample_file(void)
{
	return path;
}

int64_t sample_judge(const struct sample *s, const struct oracle_options *options, char *rule, size_t size)
{
	const struct ldb_file_header header = {
		.clock_id = s->clock_id, .t0 = 1000, .clock_hz = 1000000000, .realtime_ns = 700,
	};
	char err[256];
	struct writer *w;

	if (!*path) {
		if (!mkdtemp(folder))
			return -1;
		snprintf(path, sizeof(path), "%s/t.data", folder);
	}
	unlink(path);
	w = writer_open(path, &header, err, sizeof(err));
	if (!w)
		return -1;
	write_rows(w, s);
	if (s->is_cut)
		/* the writer is never closed, and is leaked, as by a killed recorder */
		writer_flush(w);
	else
		writer_close(w);
	return oracle_first(path, options, rule, size);
}

void sample_end(void)
{
	unlink(path);
	rmdir(folder);
}
