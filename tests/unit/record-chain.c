// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks that the frames that the kernel has read and the scanner's rows become one row for each
 * invocation.  The programs are simulated, so the true times are known: each row's bounds must
 * contain them, its caller must be the true one, and no invocation that was observed may be missing
 * or have two rows.
 */
#include "record/chain/chain.h"
#include "tap.h"

#define NR_CALLS	4000
#define DEPTH		12
#define TID		77
/* errors of the kernel's time stamps: less and more than chain.c allows */
#define ERROR		300
#define LARGE_ERROR	(5 * LDB_KERNEL_SLACK)

struct call {
	uint64_t gen, parent;
	unsigned depth, block;
	int64_t start, end;
	bool by_scanner, by_kernel;
	unsigned nr_rows, nr_copied;	/* nr_copied: by a copy that was finished before the end */
	int64_t row_start_min, row_start, row_end_min, row_end;	/* the bounds of its row */
};

static struct program {
	int64_t now;
	struct call calls[NR_CALLS];
	unsigned nr_calls;
	unsigned stack[DEPTH], nr;	/* numbers of calls */
	uint64_t counter[2];
	/* state of the kernel, which reads frames */
	uint64_t emitted[2];
	int64_t last_stamp;
	/* state of the scanner */
	unsigned known[DEPTH], nr_known;
	int64_t found[NR_CALLS], looked_before[NR_CALLS], last_look;
	unsigned nr_late, nr_wrong, nr_joined, nr_alone, nr_unknown;
	int64_t nr_counted;
	struct ldb_page page;
	bool has_no_page;
	bool is_told;		/* the page has the time of the scanner's last poll */
	unsigned loses;		/* one reading in this number is lost; 0: none */
	bool is_lost;		/* this reading is lost */
	/* instead, this many of the reading's records are lost, and chains_lost() is called */
	unsigned skips;
} p;
static uint64_t state;
static struct chains *chains;
static int64_t error = ERROR;

static int64_t some(int64_t max)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % max;
}

/* Some calls are shorter than the error of the stamps. */
static void pass_time(void)
{
	p.now += some(8) ? 2000 + some(20000) : 1 + some(100);
}

/* The program */

static void enter(void)
{
	struct call *c = &p.calls[p.nr_calls];
	unsigned block = some(3) == 0;

	*c = (struct call){
		.block = block, .gen = ++p.counter[block] << 16 | block, .depth = p.nr, .start = p.now,
		.parent = p.nr ? p.calls[p.stack[p.nr - 1]].gen : 0, .end = INT64_MAX,
	};
	p.stack[p.nr++] = p.nr_calls++;
}

static void leave(void)
{
	p.calls[p.stack[--p.nr]].end = p.now;
}

/* The kernel, as record/bpf/chain.h does it */

/* The stamps have an error, but are in order. */
static int64_t stamp(void)
{
	int64_t tick = p.now + some(2 * error) - error;

	p.last_stamp = tick > p.last_stamp ? tick : p.last_stamp + 1;
	return p.last_stamp;
}

static void tell_lost(int64_t tick)
{
	if (p.skips)
		chains_lost(chains, tick);
	p.skips = 0;
}

static void frame(int64_t tick, uint64_t gen, unsigned depth, uint16_t flags)
{
	struct ldb_frame_rec r = {
		.tid = TID, .type = LDB_EV_FRAME, .flags = flags, .pc = 0x400000 + gen, .gen = gen,
		.addr = 0x7f0000 - depth * 64, .ret = 0x500000,
	};

	if (p.skips == 1)
		tell_lost(tick);
	else if (p.skips)
		p.skips--;
	if (!p.is_lost && !p.skips)
		chains_frame(chains, tick, (const struct ldb_rec *)&r);
}

static void read_block(int64_t tick, unsigned block, bool is_all)
{
	uint64_t last = p.counter[block] << 16 | block, top = 0;

	for (unsigned i = p.nr; i; i--) {
		struct call *c = &p.calls[p.stack[i - 1]];

		if (c->block != block)
			continue;
		top = top ? top : c->gen;
		if (!is_all && c->gen <= p.emitted[block]) {
			frame(tick, c->gen, i - 1, LDB_FRAME_F_KNOWN);
			goto out;
		}
		frame(tick, c->gen, i - 1, 0);
		c->by_kernel |= !p.is_lost && !p.skips;
	}
	frame(tick, block, 0, LDB_FRAME_F_KNOWN);
out:
	p.emitted[block] = top == last ? top : last < 0x20000 ? 0 : last - 0x10000;
}

static void read_blocks(int64_t tick)
{
	bool is_all = !some(20);

	p.is_lost = p.loses && !some(p.loses);
	if (p.is_lost && some(2)) {
		p.is_lost = false;
		p.skips = 2 + some(3);
	}
	if (is_all)
		frame(tick, 0, 0, LDB_FRAME_F_ALL);
	read_block(tick, 0, is_all);
	read_block(tick, 1, is_all);
}

static void switch_out(void)
{
	int64_t tick = stamp();
	bool is_read = some(10);

	p.is_lost = false;
	if (is_read)
		read_blocks(tick);
	tell_lost(tick);
	if (!p.is_lost)
		chains_thread(chains, tick, TID, is_read ? CHAIN_OUT : CHAIN_UNREAD);
	p.now += 1000 + some(50000);
	chains_thread(chains, stamp(), TID, some(10) ? CHAIN_IN : CHAIN_UNREAD);
}

static void timer(void)
{
	int64_t tick = stamp();

	read_blocks(tick);
	frame(tick, 0, 0, LDB_FRAME_F_DONE);
}

/* The scanner, as libldb/scan does it */

static void report(unsigned n, uint32_t flags)
{
	const struct call *c = &p.calls[n];
	struct ldb_row_func row = {
		.flags = flags, .tid = TID, .pc = 0x400000 + c->gen, .ret = 0x500000, .gen = c->gen,
		.parent_gen = c->parent, .depth = c->depth,
		.start_max = p.found[n], .start_unc = p.found[n] - p.looked_before[n],
		.end_max = flags ? p.last_look : p.now, .end_unc = flags ? 0 : p.now - p.last_look,
	};

	if (!chains_func(chains, &row))
		bail_out("a row is not taken");
	p.nr_counted++;
}

static void look(void)
{
	unsigned same = 0;

	while (same < p.nr_known && same < p.nr && p.known[same] == p.stack[same])
		same++;
	while (p.nr_known > same)
		report(p.known[--p.nr_known], 0);
	for (; p.nr_known < p.nr; p.nr_known++) {
		unsigned n = p.known[p.nr_known] = p.stack[p.nr_known];

		p.calls[n].by_scanner = true;
		p.found[n] = p.now;
		p.looked_before[n] = p.last_look;
	}
	p.last_look = p.now;
	if (p.is_told)
		p.page.last_look_tsc = p.now;
}

/* The resulting rows */

static struct call *call_of(uint64_t gen)
{
	for (unsigned i = 0; i < p.nr_calls; i++)
		if (p.calls[i].gen == gen)
			return &p.calls[i];
	return NULL;
}

static bool is_within(int64_t true_time, int64_t max, uint64_t unc)
{
	return true_time <= max && (unc == LDB_UNC_UNKNOWN || true_time >= max - (int64_t)unc);
}

static bool is_true(const struct call *c, const struct ldb_row_func *row)
{
	bool is_open = row->flags & LDB_FUNC_F_OPEN;

	return is_within(c->start, row->start_max, row->start_unc) && row->parent_gen == c->parent &&
	       row->depth == c->depth &&
	       (is_open ? row->end_max <= c->end : is_within(c->end, row->end_max, row->end_unc));
}

static void take(void *arg, const struct ldb_row_func *row)
{
	struct call *c = call_of(row->gen);
	bool is_open = row->flags & LDB_FUNC_F_OPEN;

	if (!c || c->nr_rows++ || row->tid != TID) {
		p.nr_wrong++;
		diag("gen %lx: twice, or never called", (long)row->gen);
		return;
	}
	if (c->parent && call_of(c->parent)->nr_rows) {
		p.nr_late++;
		const struct call *a = call_of(c->parent);

		diag("gen %lx [%ld-%lu, %ld-%lu] comes after its caller %lx [%ld-%ld, %ld-%ld]", (long)row->gen,
		     (long)row->start_max, (long)row->start_unc, (long)row->end_max, (long)row->end_unc, (long)a->gen,
		     (long)a->row_start_min, (long)a->row_start, (long)a->row_end_min, (long)a->row_end);
	}
	c->row_start = row->start_max;
	c->row_start_min = row->start_max - (int64_t)row->start_unc;
	c->row_end = is_open ? INT64_MAX : row->end_max;
	c->row_end_min = is_open ? row->end_max : row->end_max - (int64_t)row->end_unc;
	p.nr_joined += c->by_scanner && c->by_kernel;
	p.nr_alone += !c->by_scanner;
	p.nr_unknown += row->start_unc == LDB_UNC_UNKNOWN;
	if (is_true(c, row))
		return;
	p.nr_wrong++;
	diag("gen %lx [%ld, %ld] parent %lx depth %u: row [%ld-%lu, %ld-%lu] parent %lx depth %u flags %x",
	     (long)c->gen, (long)c->start, (long)c->end, (long)c->parent, c->depth,
	     (long)row->start_max, (long)row->start_unc, (long)row->end_max, (long)row->end_unc,
	     (long)row->parent_gen, row->depth, row->flags);
}

static const volatile struct ldb_page *find_page(void *arg, uint32_t tid)
{
	return tid && !p.has_no_page ? &p.page : NULL;
}

static const struct chains_ops ops = { take, find_page };

/* Takes a row of the copy: there may be none of this call before. */
static void take_copied(void *arg, const struct ldb_row_func *row)
{
	struct call *c = call_of(row->gen);

	if (c && !c->nr_rows && !c->nr_copied++ && is_true(c, row))
		return;
	p.nr_wrong++;
	diag("copy: gen %lx is wrong, or not needed", (long)row->gen);
}

static const struct chains_ops copied_ops = { take_copied, find_page };

/*
 * Finishes a copy, as a dump does.  Then the callers of all calls that have rows must have one,
 * too.
 */
static void finish_copy(const char *name)
{
	struct chains *original = chains;
	int64_t nr_counted = p.nr_counted;
	unsigned nr_missing = 0;

	chains = chains_copy(original, &copied_ops, NULL);
	for (unsigned i = 0; i < p.nr_known; i++)
		report(p.known[i], LDB_FUNC_F_OPEN);
	chains_finish(chains);
	for (unsigned i = 0; i < p.nr_calls; i++) {
		struct call *c = &p.calls[i], *parent = c->parent ? call_of(c->parent) : NULL;

		nr_missing += (c->nr_rows || c->nr_copied) && parent && !parent->nr_rows && !parent->nr_copied;
	}
	ok(!nr_missing, "%s: a copy has all callers", name);
	chains_free(chains);
	chains = original;
	p.nr_counted = nr_counted;
}

/*
 * Two rows have the same block: the older call contains the newer one, or had ended before it
 * began.  Returns true if the bounds of the rows say the same.
 */
static bool agree(const struct call *old, const struct call *new)
{
	if (old->end >= new->end)
		return old->row_start_min <= new->row_start && old->row_end >= new->row_end;
	return old->row_end < new->row_end && old->row_end_min <= new->row_start;
}

static unsigned count_disagreements(void)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < p.nr_calls; i++)
		for (unsigned k = i + 1; k < p.nr_calls && k < i + 400; k++) {
			const struct call *a = &p.calls[i], *b = &p.calls[k];

			if (a->block != b->block || !a->nr_rows || !b->nr_rows || agree(a, b))
				continue;
			if (!nr++)
				diag("gen %lx [%ld-%ld, %ld-%ld] and gen %lx [%ld-%ld, %ld-%ld] do not agree", (long)a->gen,
				     (long)a->row_start_min, (long)a->row_start, (long)a->row_end_min, (long)a->row_end, (long)b->gen,
				     (long)b->row_start_min, (long)b->row_start, (long)b->row_end_min, (long)b->row_end);
		}
	return nr;
}

/*
 * The scanner polls once in a given number of steps, and the kernel reads once in a given number;
 * 0: never.  stop: after this many calls the scanner gets no CPU any more.  is_short: the recording
 * ends before any row is released, and the kernel reads only after the scanner has stopped.
 */
static void run_until(const char *name, int64_t wait, unsigned scanner, unsigned kernel, unsigned stop,
		      bool is_short, unsigned loses)
{
	unsigned nr_missing = 0, nr_seen = 0, nr_late;
	bool has_copy = false;

	p = (struct program){
		.now = 100000, .is_told = some(2), .loses = loses,
		.page = { .tid = TID, .stack_lo = 0x7e0000, .stack_hi = 0x7f1000 },
	};
	chains = chains_alloc(0, wait, 0, &ops, NULL);
	chains_set_first(chains, 0);
	chains_expect(chains);
	chains_set_error(chains, error);
	chains_thread(chains, 90000, TID, CHAIN_BORN);
	while (p.nr_calls < NR_CALLS - 1) {
		pass_time();
		if (p.nr < DEPTH && (p.nr < 2 || some(2)))
			enter();
		else
			leave();
		pass_time();
		if (kernel && (!is_short || p.nr_calls > stop) && !some(kernel))
			switch_out();
		if (kernel && (!is_short || p.nr_calls > stop) && !some(2 * kernel))
			timer();
		pass_time();
		if (scanner && p.nr_calls < stop && !some(scanner))
			look();
		if (!is_short && !some(20))
			chains_release(chains, p.now - 100000);
		if (!loses && wait && p.nr_calls == NR_CALLS / 4 && !has_copy) {
			has_copy = true;
			finish_copy(name);
		}
	}
	if (loses && some(2)) {
		while (p.nr) {
			leave();
			pass_time();
		}
		look();
		chains_thread(chains, stamp(), TID, CHAIN_EXIT);
	}
	while (p.nr_known)
		report(p.known[--p.nr_known], LDB_FUNC_F_OPEN);
	chains_release(chains, p.last_look);
	chains_finish(chains);
	for (unsigned i = 0; i < p.nr_calls; i++) {
		bool is_seen = p.calls[i].by_scanner || (p.calls[i].by_kernel && !loses);

		/* If readings were lost, the kernel may know a call but not its caller. */
		nr_seen += is_seen || p.calls[i].nr_rows;
		nr_missing += is_seen && !p.calls[i].nr_rows;
	}
	ok(!p.nr_wrong, "%s: bounds, callers and depths are true", name);
	ok(!p.nr_late, "%s: none comes after its caller", name);
	nr_late = chains_take_late(chains);
	ok(!nr_late || !wait || stop < NR_CALLS, "%s: none comes too late", name);
	ok(nr_missing == nr_late, "%s: each of %u that were observed has a row, or came too late",
	   name, nr_seen);
	ok(!p.nr_unknown, "%s: each has a beginning", name);
	if (wait)
		ok(!count_disagreements(), "%s: bounds of different calls agree", name);
	ok(p.nr_counted + chains_take_alone(chains, TID) == nr_seen - nr_missing, "%s: rows are counted", name);
	diag("%u observed by both, %u by the kernel alone", p.nr_joined, p.nr_alone);
	ok(!scanner || !kernel || is_short || (p.nr_joined > 20 && p.nr_alone > 20), "%s: by both, and by the kernel alone", name);
	chains_free(chains);
}

static void run(const char *name, int64_t wait, unsigned scanner, unsigned kernel)
{
	run_until(name, wait, scanner, kernel, NR_CALLS, false, 0);
}

/*
 * The thread's functions are read twice: before the thread has its page, while it is in nr
 * functions, and again when it has a page and is in another function.  Returns the number of rows.
 */
static unsigned read_before_page(unsigned nr)
{
	unsigned nr_rows = 0;

	p = (struct program){ .now = 1000, .page = { .tid = TID, .stack_lo = 0x7e0000, .stack_hi = 0x7f1000 } };
	chains = chains_alloc(0, 1000000, 0, &ops, NULL);
	chains_set_first(chains, 0);
	chains_expect(chains);
	chains_thread(chains, 900, TID, CHAIN_BORN);
	while (nr--)
		enter();
	p.has_no_page = true;
	for (unsigned i = 0; i < 2; i++) {
		p.now += 1000;
		read_block(p.now, 0, !i);
		read_block(p.now, 1, !i);
		frame(p.now, 0, 0, LDB_FRAME_F_DONE);
		chains_release(chains, p.now + 1);
		p.has_no_page = false;
		enter();
	}
	p.now += 1000;
	chains_thread(chains, p.now, TID, CHAIN_EXIT);
	for (unsigned i = 0; i < p.nr_calls; i++)
		p.calls[i].end = p.now;
	chains_finish(chains);
	for (unsigned i = 0; i < p.nr_calls; i++)
		nr_rows += p.calls[i].nr_rows;
	chains_free(chains);
	return nr_rows;
}

static void test_page(void)
{
	ok(read_before_page(0) == 1, "a thread that is read before it has its page is read afterwards");
	ok(read_before_page(2) == 0, "but not if functions were read before");
}

/*
 * Only calls that the scanner has observed get rows.  The scanner reports a call so late that the
 * kernel's readings of the call are not retained any more.  The kernel had read the call before the
 * scanner found it, so the call did not run only between two readings.
 */
static void test_late_report(void)
{
	p = (struct program){ .now = 10000, .page = { .tid = TID, .stack_lo = 0x7e0000, .stack_hi = 0x7f1000 } };
	chains = chains_alloc(0, 1000000, 0, &ops, NULL);
	chains_set_first(chains, 0);
	chains_expect(chains);
	chains_only_scanned(chains, true);
	chains_thread(chains, 900, TID, CHAIN_BORN);
	enter();
	p.now = 20000;
	timer();
	p.now = 100000;
	timer();
	p.looked_before[0] = 1000;
	p.found[0] = p.last_look = 300000;
	p.now = 390000;
	leave();
	p.now = 400000;
	timer();
	chains_release(chains, 3000000);
	p.now = 5000000;
	report(0, 0);
	chains_finish(chains);
	ok(p.calls[0].nr_rows == 1 && !p.nr_wrong, "a row of the scanner that comes late has true bounds");
	chains_free(chains);
}

/*
 * The time stamp of a reading is too late: a call in that reading had ended before the time up to
 * which rows are released.
 */
static void test_late_stamp(void)
{
	p = (struct program){ .now = 10000, .page = { .tid = TID, .stack_lo = 0x7e0000, .stack_hi = 0x7f1000 } };
	chains = chains_alloc(0, 1000000, 0, &ops, NULL);
	chains_set_first(chains, 0);
	chains_expect(chains);
	chains_thread(chains, 900, TID, CHAIN_BORN);
	p.now = 20000;
	timer();
	enter();
	p.looked_before[0] = 20000;
	p.found[0] = p.last_look = 25000;
	p.now = 30000;
	read_blocks(p.now + ERROR);
	frame(p.now + ERROR, 0, 0, LDB_FRAME_F_DONE);
	p.now += ERROR / 3;
	leave();
	p.now += ERROR / 3;
	report(0, 0);
	chains_release(chains, p.now);
	p.now = 40000;
	timer();
	chains_release(chains, 3000000);
	chains_finish(chains);
	ok(p.calls[0].nr_rows == 1 && !p.nr_wrong, "a call that a reading with a late stamp contains has one row");
	chains_free(chains);
}

/* The program's memory may contain anything. */
static void test_nonsense(void)
{
	uint64_t nr = 0;

	p = (struct program){ .now = 1, .page = { .stack_hi = 8 } };
	chains = chains_alloc(0, 1000, 0, &ops, NULL);
	chains_expect(chains);
	for (unsigned i = 0; i < 100000; i++) {
		struct ldb_frame_rec r = {
			.tid = some(5), .type = LDB_EV_FRAME, .flags = some(8), .pc = some(3), .gen = some(40) << 14,
			.addr = some(2000) ? some(8) : 8, .ret = state,
		};
		struct ldb_row_func row = {
			.tid = some(5), .gen = some(40) << 14, .start_max = some(100000), .end_max = some(100000),
			.start_unc = some(3) ? (uint64_t)some(1000) : LDB_UNC_UNKNOWN, .flags = some(8), .pc = 1,
		};
		int64_t tick = some(100000);

		switch (some(7)) {
		case 0: case 1: case 2: case 3:
			chains_thread(chains, tick, some(5), CHAIN_OUT + some(CHAIN_GONE - CHAIN_OUT + 1));
			break;
		case 4: nr += chains_func(chains, &row); break;
		default: chains_frame(chains, tick, (const struct ldb_rec *)&r);
		}
		if (!some(100))
			chains_release(chains, some(100000));
	}
	chains_finish(chains);
	chains_free(chains);
	ok(nr > 1000, "nonsense does no harm");
}

int main(void)
{
	for (unsigned seed = 1; seed <= 5; seed++) {
		state = seed;
		run("both", 10000000, 6, 5);
		run("a late scanner", 100000000, 200, 5);
		run("late, and nobody waits", 0, 200, 5);
		run("no scanner", 1000000, 0, 5);
		run("no switch", 1000000, 6, 0);
		run("few switches", 100000000, 6, 50);
		run_until("a scanner that stops", 100000000, 6, 5, NR_CALLS / 2, false, 0);
		run_until("a scanner that stops soon before the end", 100000000, 6, 50, NR_CALLS - 5, false, 0);
		run_until("a short recording", INT64_MAX / 2, 6, 5, NR_CALLS / 2, true, 0);
		run_until("readings are lost", 100000000, 6, 5, NR_CALLS, false, 4);
		error = LARGE_ERROR;
		run("stamps that are less exact", 100000000, 6, 5);
		error = ERROR;
	}
	test_page();
	test_late_report();
	test_late_stamp();
	test_nonsense();
	return done();
}
