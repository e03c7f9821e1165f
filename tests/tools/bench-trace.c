// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a large trace, as a busy server would:
 *	bench-trace FILE EVENTS [SEED [CALLS]]
 *
 * Eight workers serve requests that one acceptor puts into a queue.  A request is a tree of some
 * CALLS invocations, by default 80, sometimes with waits for locks that other workers hold; kernel
 * events say when workers slept.  One request in a thousand is slow.  Calls are observed by samples
 * some 2 us apart, so their bounds repeat from row to row as those of the scanner do.  The same
 * arguments give the same trace, except for the addresses of code and locks.
 */
#include <errno.h>
#include <inttypes.h>
#include "unit/analysis-sample.h"

#define NR_WORKERS	8
#define ACCEPTOR	(100 + NR_WORKERS)
#define TICKS_PER_US	2500
#define LOCKS		4
#define NR_FUNCTIONS	64
#define DEPTH_MAX	9

#define F1(n)	\
	__attribute__((noinline)) void work_##n(void) { __asm__ volatile(".skip 96, 0x90" ::: "memory"); }
#define F4(n)	F1(n##0) F1(n##1) F1(n##2) F1(n##3)
#define F16(n)	F4(n##0) F4(n##1) F4(n##2) F4(n##3)
F16(0) F16(1) F16(2) F16(3)
#define A1(n)	work_##n,
#define A4(n)	A1(n##0) A1(n##1) A1(n##2) A1(n##3)
#define A16(n)	A4(n##0) A4(n##1) A4(n##2) A4(n##3)
static void (*const functions[NR_FUNCTIONS])(void) = { A16(0) A16(1) A16(2) A16(3) };

int table_lock[LOCKS][10];

struct worker {
	uint32_t tid, cpu;
	int64_t now;		/* ticks */
	int64_t look, before;	/* ticks of the next sample, and of the one before it */
	uint64_t gen, seen;
	unsigned left;		/* number of invocations still to come in this request */
};

static struct writer *w;
static struct worker workers[NR_WORKERS];
static uint64_t nr_rows[LDB_BLK_TASK + 1], nr_requests, nr_calls = 80;

static uint64_t below(uint64_t n)
{
	return (sample_random() >> 32) * n >> 32;
}

static void *code(unsigned f, unsigned offset)
{
	return (char *)functions[f % NR_FUNCTIONS] + offset;
}

/* Draws a time around `us`; one in 64 is longer by up to 16 times `us`. */
static int64_t some_us(unsigned us)
{
	uint64_t ticks = us * TICKS_PER_US;

	return ticks / 4 + below(ticks) + (below(64) ? 0 : below(ticks * 16));
}

static void advance(struct worker *k, int64_t ticks)
{
	k->now += ticks;
	/* while the worker sleeps, no samples are simulated */
	if (k->look + 100 * TICKS_PER_US < k->now) {
		k->before = k->now - 500;
		k->look = k->now + 100;
	}
	while (k->look <= k->now) {
		k->before = k->look;
		k->look += 4000 + below(2000);
	}
}

static void add_func(struct worker *k, struct ldb_row_func *row)
{
	row->end_max = k->look;
	row->end_unc = k->look - k->before;
	writer_add_func(w, row);
	nr_rows[LDB_BLK_FUNC]++;
	k->seen++;
}

static void call(struct worker *k, unsigned function, unsigned caller, uint64_t parent, unsigned depth)
{
	struct ldb_row_func row = {
		.tid = k->tid, .pc = (uintptr_t)code(function, 4),
		.ret = (uintptr_t)code(caller, 9 + caller % 7 * 8), .gen = k->gen += GEN(1 + below(4)),
		.parent_gen = parent, .depth = depth, .start_max = k->look,
		.start_unc = k->look - k->before,
	};
	unsigned nr = depth < DEPTH_MAX ? 1 + below(4) : 0;

	k->left -= k->left > 0;
	advance(k, some_us(2));
	while (nr-- && k->left) {
		call(k, function * 5 + 1 + below(4), function, row.gen, depth + 1);
		advance(k, some_us(1));
	}
	/* A call that no sample fell into was not observed. */
	if (row.start_max < k->look)
		add_func(k, &row);
}

#define add_req(...)	\
	add_req_row(&(struct ldb_row_req){ .site = (uintptr_t)code(1, 20), __VA_ARGS__ })

static void add_req_row(const struct ldb_row_req *row)
{
	writer_add_req(w, row);
	nr_rows[LDB_BLK_REQ]++;
}

static void add_sched(struct ldb_row_sched row)
{
	writer_add_sched(w, &row);
	nr_rows[LDB_BLK_SCHED]++;
}

/* The worker sleeps until tick, when the acceptor wakes it. */
static void sleep_until(struct worker *k, int64_t tick)
{
	add_sched((struct ldb_row_sched){
		.op = LDB_SCHED_OP_SWITCH, .flags = LDB_STATE_SLEEPING | LDB_SCHED_F_TID, .cpu = k->cpu,
		.tick = k->now, .tid = k->tid, .gen = k->gen, .pc = (uintptr_t)code(0, 4) });
	add_sched((struct ldb_row_sched){
		.op = LDB_SCHED_OP_WAKING, .flags = LDB_SCHED_F_TID | LDB_SCHED_F_OTHER, .cpu = NR_WORKERS,
		.tick = tick - 3000, .tid = ACCEPTOR, .other = k->tid });
	add_sched((struct ldb_row_sched){
		.op = LDB_SCHED_OP_WAKEUP, .flags = LDB_SCHED_F_TID, .cpu = k->cpu, .value = k->cpu,
		.tick = tick - 2000, .tid = k->tid });
	add_sched((struct ldb_row_sched){
		.op = LDB_SCHED_OP_SWITCH, .flags = LDB_STATE_RUNNING | LDB_SCHED_F_OTHER, .cpu = k->cpu,
		.tick = tick, .other = k->tid });
	advance(k, tick - k->now);
}

/* Worker k waits for a lock that another worker holds for a while. */
static void wait_for_lock(struct worker *k)
{
	struct worker *holder = &workers[below(NR_WORKERS)];
	int64_t begin = k->now, end = begin + some_us(20);
	struct ldb_row_lock row = {
		.op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_MUTEX, .tid = k->tid,
		.lock = (uintptr_t)&table_lock[below(LOCKS)], .owner = holder->tid, .begin = begin,
		.end = end, .gen = k->gen, .site = (uintptr_t)code(2, 20),
	};

	if (holder == k)
		return;
	writer_add_lock(w, &row);
	/* The start of the hold was not stamped. */
	row.op = LDB_LOCK_OP_HOLD;
	row.tid = holder->tid;
	row.owner = 0;
	row.begin = row.end = end - 200;
	row.gen = holder->gen;
	row.site = (uintptr_t)code(3, 20);
	writer_add_lock(w, &row);
	nr_rows[LDB_BLK_LOCK] += 2;
	advance(k, end - begin);
}

static void serve(struct worker *k, uint64_t id)
{
	static const char *const classes[] = { "get", "set", "scan" };
	struct ldb_row_reqname name = { .id = id, .name = classes[id % 16 ? id % 2 : 2] };
	struct ldb_row_func row;
	int64_t come = k->now + some_us(10), taken = come + some_us(10);

	add_req(.op = LDB_REQ_OP_START, .tid = ACCEPTOR, .tick = come, .id = id);
	name.tick = come + 10;
	writer_add_reqname(w, &name);
	nr_rows[LDB_BLK_REQNAME]++;
	add_req(.op = LDB_REQ_OP_BLOCK, .tid = ACCEPTOR, .tick = come + 1000, .id = id,
		.queue = (uintptr_t)&workers);
	sleep_until(k, taken - 100);
	advance(k, 100);
	add_req(.op = LDB_REQ_OP_START, .tid = k->tid, .tick = k->now, .id = id,
		.queue = (uintptr_t)&workers);
	row = (struct ldb_row_func){
		.tid = k->tid, .pc = (uintptr_t)code(0, 4), .ret = (uintptr_t)code(63, 20),
		.gen = k->gen += GEN(1), .parent_gen = GEN(1), .depth = 1, .start_max = k->look,
		.start_unc = k->look - k->before,
	};
	for (k->left = nr_calls / 4 * 3 + below(nr_calls / 2) + (below(1000) ? 0 : 25 * nr_calls); k->left;) {
		call(k, 4 + below(8), 0, row.gen, 2);
		advance(k, some_us(1));
		if (!below(8))
			wait_for_lock(k);
	}
	add_func(k, &row);
	add_req(.op = LDB_REQ_OP_END, .tid = k->tid, .tick = k->now, .id = id);
	nr_requests++;
}

static uint64_t count(void)
{
	uint64_t nr = 0;

	for (unsigned i = 0; i <= LDB_BLK_TASK; i++)
		nr += nr_rows[i];
	return nr;
}

static struct worker *least(void)
{
	struct worker *k = &workers[0];

	for (unsigned i = 1; i < NR_WORKERS; i++)
		if (workers[i].now < k->now)
			k = &workers[i];
	return k;
}

static void add_clock(int64_t tick)
{
	int64_t ns = tick * 2 / 5;

	writer_add_clock(w, &(struct ldb_row_clock){
		.tick = tick, .raw_ns = ns, .mono_ns = ns, .real_ns = ns, .err = 50 });
}

static int64_t simulate(uint64_t events)
{
	int64_t clock = 0;

	for (unsigned i = 0; i < NR_WORKERS; i++)
		workers[i] = (struct worker){
			.tid = 100 + i, .cpu = i, .now = 1000000 + i * 10000, .gen = GEN(1),
		};
	for (uint64_t id = 1; count() < events; id++) {
		struct worker *k = least();

		if (k->now > clock) {
			add_clock(clock);
			clock += 1000000LL * TICKS_PER_US;
		}
		serve(k, id);
	}
	return least()->now;
}

/* Adds the threads, and the loop that each worker is in from the first to the last request. */
static void add_threads(int64_t end)
{
	char name[16];

	for (unsigned i = 0; i <= NR_WORKERS; i++) {
		struct worker *k = i < NR_WORKERS ? &workers[i] : NULL;

		snprintf(name, sizeof(name), "worker-%u", i);
		writer_add_thread(w, &(struct ldb_row_thread){
			.tid = 100 + i, .start = 0, .end = end, .name = k ? name : "acceptor",
			.made = k ? k->gen >> 16 : 0, .seen = k ? k->seen : 0 });
		writer_add_task(w, &(struct ldb_row_task){
			.tid = 100 + i, .pid = 100, .flags = LDB_SCHED_F_TID, .name = k ? name : "acceptor" });
		if (k)
			writer_add_func(w, &(struct ldb_row_func){
				.flags = LDB_FUNC_F_OPEN, .tid = k->tid, .pc = (uintptr_t)code(63, 4),
				.gen = GEN(1), .start_max = 1000, .end_max = end, .start_unc = 500 });
	}
}

int main(int argc, char **argv)
{
	struct ldb_file_header header = {
		.clock_id = LDB_CLOCK_TSC, .t0 = 1000, .clock_hz = 1000000ULL * TICKS_PER_US,
		.realtime_ns = 5,
	};
	char err[256];
	int64_t end;

	if (argc < 3) {
		fputs("usage: bench-trace FILE EVENTS [SEED [CALLS]]\n", stderr);
		return 2;
	}
	if (argc > 4)
		nr_calls = strtoull(argv[4], NULL, 10) | 4;
	if (argc > 3)
		sample_state = strtoull(argv[3], NULL, 10) | 1;
	w = writer_open(argv[1], &header, err, sizeof(err));
	if (!w)
		bail_out(err);
	dl_iterate_phdr(made_find_self, NULL);
	writer_add_module(w, &made_self);
	writer_add_meta(w, "cmdline", "./bench-trace");
	writer_add_meta(w, "kernel_events", "module");
	writer_add_meta(w, "nr_cpus", "9");
	end = simulate(strtoull(argv[2], NULL, 10));
	add_clock(end);
	add_threads(end);
	if (writer_close(w))
		bail_out("writer_close");
	printf("%" PRIu64 " events: %" PRIu64 " of functions, %" PRIu64 " of locks, %" PRIu64
	       " of requests, %" PRIu64 " of the kernel; %" PRIu64 " requests in %.3f s\n", count(),
	       nr_rows[LDB_BLK_FUNC], nr_rows[LDB_BLK_LOCK], nr_rows[LDB_BLK_REQ],
	       nr_rows[LDB_BLK_SCHED], nr_requests, end / 1e6 / TICKS_PER_US);
	return 0;
}
