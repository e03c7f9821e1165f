// SPDX-License-Identifier: GPL-2.0-or-later
/* The recording that is changed; see mutants.h. */
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

static void func(struct sample *s, uint32_t tid, unsigned gen, unsigned parent, uint32_t depth,
		 int64_t start, int64_t end)
{
	sample_add(s, func, {
		.tid = tid, .pc = 0x1000 + gen, .ret = 0x2000, .gen = GEN(gen), .parent_gen = GEN(parent),
		.depth = depth, .start_max = start, .start_unc = 50, .end_max = end, .end_unc = 50,
	});
}

/* main calls leaf, then outer, which calls inner twice. */
static void good_calls(struct sample *s)
{
	func(s, FIRST, 2, 1, 1, 1000, 2000);
	func(s, FIRST, 4, 3, 2, 3500, 4000);
	func(s, FIRST, 5, 3, 2, 4500, 5000);
	func(s, FIRST, 3, 1, 1, 3000, 6000);
	func(s, SECOND, 1, 0, 0, 1500, 89000);
	func(s, FIRST, 1, 0, 0, 150, 99000);
	s->func[F_MAIN].flags = LDB_FUNC_F_OPEN;
	s->func[F_MAIN].end_unc = 0;
	sample_add(s, gap, { .begin = 50000, .end = 51000 });
}

static void lock(struct sample *s, uint32_t op, uint32_t flags, uint32_t tid, uint64_t lock, uint32_t owner,
		 int64_t begin, int64_t end)
{
	sample_add(s, lock, {
		.op = op, .flags = flags, .tid = tid, .lock = lock, .owner = owner, .begin = begin,
		.end = end, .gen = tid == FIRST ? GEN(5) : GEN(1), .site = 0x3000,
	});
}

static void good_locks(struct sample *s)
{
	lock(s, LDB_LOCK_OP_HOLD, MUTEX | STAMPED, FIRST, 0x100, 0, 6000, 7000);
	lock(s, LDB_LOCK_OP_WAIT, MUTEX, SECOND, 0x100, FIRST, 6500, 7050);
	lock(s, LDB_LOCK_OP_HOLD, MUTEX | STAMPED, SECOND, 0x100, 0, 7050, 8000);
	lock(s, LDB_LOCK_OP_HOLD, MUTEX, FIRST, 0x100, 0, 9000, 9000);
	lock(s, LDB_LOCK_OP_HOLD, LDB_LOCK_RWLOCK_RD | STAMPED, FIRST, 0x200, 0, 30000, 31000);
	lock(s, LDB_LOCK_OP_HOLD, LDB_LOCK_RWLOCK_RD | STAMPED, SECOND, 0x200, 0, 30500, 31500);
	lock(s, LDB_LOCK_OP_HOLD, LDB_LOCK_RWLOCK_WR | STAMPED, FIRST, 0x200, 0, 32000, 33000);
	lock(s, LDB_LOCK_OP_WAIT, LDB_LOCK_COND, SECOND, 0x300, 0, 40000, 45000);
	lock(s, LDB_LOCK_OP_WAIT, LDB_LOCK_JOIN, FIRST, 0x400, SECOND, 80000, 95000);
}

static void req(struct sample *s, uint32_t op, uint32_t tid, int64_t tick, uint64_t id)
{
	sample_add(s, req, { .op = op, .tid = tid, .tick = tick, .id = id });
}

/* Request 1 goes through a queue, request 2 has waited before it was started. */
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

static void sched(struct sample *s, uint32_t op, uint32_t flags, uint32_t cpu, int64_t tick, uint32_t tid,
		  uint32_t other, uint32_t value)
{
	sample_add(s, sched, {
		.op = op, .flags = flags, .cpu = cpu, .tick = tick, .tid = tid, .other = other, .value = value,
	});
}

static void good_kernel(struct sample *s)
{
	const uint32_t asleep = LDB_STATE_SLEEPING, dead = LDB_STATE_DEAD, preempt = LDB_SCHED_F_PREEMPT;

	sched(s, LDB_SCHED_OP_SWITCH, OTHER, 0, 100, 0, FIRST, 0);
	sched(s, LDB_SCHED_OP_FORK, TID | OTHER, 0, 500, FIRST, SECOND, FIRST);
	sched(s, LDB_SCHED_OP_WAKEUP, TID | LDB_SCHED_F_NEW, 0, 600, SECOND, 0, 1);
	sched(s, LDB_SCHED_OP_SWITCH, OTHER, 1, 700, 0, SECOND, 0);
	sched(s, LDB_SCHED_OP_FUTEX_WAIT, LDB_FUTEX_PLAIN, 1, 10000, SECOND, 0, 0);
	sched(s, LDB_SCHED_OP_SWITCH, TID | asleep, 1, 10100, SECOND, 0, 0);
	sched(s, LDB_SCHED_OP_WAKING, TID | OTHER, 0, 12000, FIRST, SECOND, 0);
	sched(s, LDB_SCHED_OP_MIGRATE, TID, 0, 12050, SECOND, 0, 0);
	s->sched[S_MOVE].addr = 1;
	sched(s, LDB_SCHED_OP_WAKEUP, TID | OTHER, 0, 12100, SECOND, FIRST, 0);
	sched(s, LDB_SCHED_OP_SWITCH, TID | OTHER | preempt, 0, 13000, FIRST, SECOND, 0);
	sched(s, LDB_SCHED_OP_SWITCH, TID | OTHER | asleep, 0, 20000, SECOND, FIRST, 0);
	sched(s, LDB_SCHED_OP_WAKING, LDB_SCHED_F_HARDIRQ | OTHER, 1, 21000, 0, SECOND, 0);
	sched(s, LDB_SCHED_OP_WAKEUP, TID | OTHER, 1, 21100, SECOND, FIRST, 0);
	sched(s, LDB_SCHED_OP_SWITCH, TID | OTHER | asleep, 0, 85000, FIRST, SECOND, 0);
	sched(s, LDB_SCHED_OP_EXIT, TID, 0, 91000, SECOND, 0, 0);
	sched(s, LDB_SCHED_OP_SWITCH, TID | dead, 0, 92000, SECOND, 0, 0);
	sample_add(s, fault, { .tid = FIRST, .tick = 5200, .addr = 0x5000, .pc = 0x1003 });
	sample_add(s, irq, {
		.kind = LDB_IRQ_LOCAL_TIMER, .cpu = 0, .nr = 236, .tid = FIRST, .start = 3000, .end = 3100,
		.name = "local_timer",
	});
}

void sample_good(struct sample *s)
{
	static const struct ldb_row_meta metas[] = {
		[META_ATTACHED] = { "attached", "launch" }, [META_CPUS] = { "nr_cpus", "2" },
		[META_SCANNERS] = { "nr_scanners", "1" }, [META_KERNEL] = { "kernel_events", "module" },
		[META_THRESHOLD] = { "lock_threshold_ns", "100" }, [META_END] = { "end", "exit:0" },
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
		writer_flush(w);	/* and never closed: it is leaked, as by a killed recorder */
	else
		writer_close(w);
	return oracle_first(path, options, rule, size);
}

void sample_end(void)
{
	unlink(path);
	rmdir(folder);
}
