// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests what-if: expressions, and replays of small traces whose outcome is known exactly. */
#include <errno.h>
#include "analysis/whatif/replay.h"
#include "analysis-sample.h"

#define LOCK	0x7000
#define OTHER	0x7100
#define QUEUE	0x9000
#define US	1000

static struct made t;
static struct whatif_change changes[WHATIF_CHANGES_MAX];
static size_t nr_changes;
static struct whatif w;
static char err[256];

/*
 * The bodies of these functions differ, so that the compiler cannot merge them: the traces need
 * their names.
 */
__attribute__((noinline)) int replay_snapshot(int a)
{
	return a * 3 + 1;
}

__attribute__((noinline)) int replay_work(int a)
{
	return a ^ 0x1234;
}

__attribute__((noinline)) int replay_inner(int a)
{
	return a - 77;
}

/* Expressions */

static void good(const char *text, enum whatif_kind kind, const char *name, double factor,
		 unsigned n)
{
	struct whatif_change c;
	int ret = whatif_parse(text, &c, err, sizeof(err));

	ok(!ret && c.kind == kind && (!name ? !c.name : c.name && !strcmp(c.name, name)) &&
	   c.factor == factor && c.n == n, "'%s'", text);
	if (ret)
		diag("%s", err);
	else
		whatif_change_free(&c);
}

static void bad(const char *text, unsigned position)
{
	struct whatif_change c;
	char want[32];
	int ret = whatif_parse(text, &c, err, sizeof(err));

	snprintf(want, sizeof(want), ": position %u: ", position);
	ok(ret == -EINVAL && strstr(err, want) && !strchr(err, '\n'), "'%.30s' is wrong at %u", text,
	   position);
	if (ret)
		diag("%s", err);
	else
		whatif_change_free(&c);
}

static void test_expressions(void)
{
	char hostile[8192];
	unsigned nr_bad = 0;

	good("snapshot*0.25", WHATIF_FUNCTION, "snapshot", 0.25, 1);
	good("snapshot()*2", WHATIF_FUNCTION, "snapshot", 2, 1);
	good("db::*::get<int, 4>*.5", WHATIF_FUNCTION, "db::*::get<int, 4>", 0.5, 1);
	good("operator**1.5", WHATIF_FUNCTION, "operator*", 1.5, 1);
	good("self:parse*0", WHATIF_SELF, "parse", 0, 1);
	good("self::parse*1", WHATIF_FUNCTION, "self::parse", 1, 1);
	good("lock:db_lock*0.5", WHATIF_HOLD, "db_lock", 0.5, 1);
	good("lock:0x7f00*0.5", WHATIF_HOLD, "0x7f00", 0.5, 1);
	good("lock:*=sharded(8)", WHATIF_SHARDED, "*", 1, 8);
	good("no-preempt", WHATIF_NO_PREEMPT, NULL, 1, 1);
	good("cpus+2", WHATIF_CPUS, NULL, 1, 2);
	bad("", 1);
	bad("*0.5", 1);
	bad("snapshot", 9);
	bad("snapshot*", 10);
	bad("snapshot*fast", 10);
	bad("snapshot*0.5x", 13);
	bad("snapshot*1.2.3", 10);
	bad("snapshot*-1", 10);
	bad("snapshot*1001", 10);
	bad("snapshot*nan", 10);
	bad("snapshot*inf", 10);
	bad("snapshot*1e3", 11);
	bad("lock:", 6);
	bad("lock:*0.5", 6);
	bad("lock:db=sharded", 9);
	bad("lock:db=sharded(", 17);
	bad("lock:db=sharded(8", 18);
	bad("lock:db=sharded(8)x", 18);
	bad("lock:db=sharded(0)", 17);
	bad("lock:db=sharded(99999999999999999999)", 17);
	bad("lock:=sharded(8)", 6);
	bad("no-preemption", 11);
	bad("cpus+", 6);
	bad("cpus+0", 6);
	bad("cpus+2x", 7);
	memset(hostile, 'x', sizeof(hostile));
	strcpy(hostile + sizeof(hostile) - 6, "*0.25");
	bad(hostile, 1);
	for (unsigned i = 0; i < 100000; i++) {
		static const char letters[] = "*0.5:=()+-locksharded\n\xff";
		struct whatif_change c;
		size_t n = sample_random() % 24;

		for (size_t k = 0; k < n; k++)
			hostile[k] = letters[sample_random() % (sizeof(letters) - 1)];
		hostile[n] = '\0';
		if (whatif_parse(hostile, &c, err, sizeof(err)))
			nr_bad++;
		else
			whatif_change_free(&c);
	}
	ok(nr_bad > 10000 && nr_bad < 100000, "random expressions: %u of 100000 refused", nr_bad);
}

/* Replays */

/* Replays the trace with these changes; each expression may be NULL. */
static int replay(const char *first, const char *second)
{
	struct whatif_options o = WHATIF_OPTIONS_ALL;

	nr_changes = 0;
	if (first && whatif_parse(first, &changes[nr_changes++], err, sizeof(err)))
		bail_out(err);
	if (second && whatif_parse(second, &changes[nr_changes++], err, sizeof(err)))
		bail_out(err);
	o.changes = changes;
	o.nr_changes = nr_changes;
	o.nr_requests = 100;
	return whatif_build(t.model, &o, &w, err, sizeof(err));
}

static void forget(void)
{
	for (size_t i = 0; i < nr_changes; i++)
		whatif_change_free(&changes[i]);
	whatif_free(&w);
}

static const struct whatif_request *find(uint64_t id)
{
	for (size_t i = 0; i < w.nr_requests; i++)
		if (w.requests[i].id == id)
			return &w.requests[i];
	return NULL;
}

static void is_after(uint64_t id, int64_t before, int64_t lo, int64_t hi, const char *name)
{
	const struct whatif_request *q = find(id);

	ok(q && q->before_ns == before && q->lo_ns == lo && q->hi_ns == hi,
	   "%s: req %lu %ld -> %ld..%ld", name, (unsigned long)id, (long)before, (long)lo, (long)hi);
	if (q)
		diag("before %ld, after %ld..%ld", (long)q->before_ns, (long)q->lo_ns, (long)q->hi_ns);
}

static void must(const char *first, const char *second)
{
	int ret = replay(first, second);

	ok(!ret, "%s%s%s", first ? first : "nothing", second ? ", " : "", second ? second : "");
	if (ret) {
		diag("%s", err);
		return;
	}
	ok(!w.error[WHATIF_FIFO] && !w.error[WHATIF_BARGING] && !w.error[WHATIF_RECORDED],
	   "the self-check is exact");
}

static void must_not(const char *first, const char *match)
{
	int ret = replay(first, NULL);

	ok(ret == -EINVAL && strstr(err, match) && !strchr(err, '\n'), "refused: %s", match);
	diag("%s", ret ? err : "not refused");
	forget();
}

static void begin(const char *name, unsigned nr_threads)
{
	made_begin(&t, name);
	writer_add_meta(t.w, "mutex", "hold");
	for (unsigned i = 1; i <= nr_threads; i++)
		made_thread(&t, i, "thread", 0, 100000 * US);
}

/* One thread holds the lock for 2 ms; two requests wait for it one behind the other. */
static void make_convoy(void)
{
	begin("convoy.data", 3);
	made_func(&t, .tid = 1, .pc = replay_snapshot, .gen = 10, .start = 1000 * US,
		  .end = 3000 * US);
	made_func(&t, .tid = 1, .pc = replay_inner, .gen = 11, .parent = 10, .depth = 1,
		  .start = 2000 * US, .end = 2400 * US);
	made_hold(&t, .tid = 1, .lock = LOCK, .begin = 1000 * US, .end = 3000 * US, .gen = 10);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 1100 * US, .id = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 3, .tick = 1200 * US, .id = 2);
	made_wait(&t, .tid = 2, .lock = LOCK, .owner = 1, .begin = 1100 * US, .end = 3010 * US,
		  .gen = 1);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 3010 * US, .end = 3110 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 3120 * US, .id = 1);
	made_wait(&t, .tid = 3, .lock = LOCK, .owner = 1, .begin = 1200 * US, .end = 3130 * US,
		  .gen = 1);
	made_hold(&t, .tid = 3, .lock = LOCK, .begin = 3130 * US, .end = 3230 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 3, .tick = 3240 * US, .id = 2);
	made_open(&t);
}

static void test_convoy(void)
{
	make_convoy();
	must(NULL, NULL);
	ok(w.all.nr == 2 && w.all.measured_ns[WHATIF_P50] == 2020 * US &&
	   w.all.measured_ns[WHATIF_MAX] == 2040 * US && w.all.lo_ns[WHATIF_MAX] == 2040 * US &&
	   w.all.hi_ns[WHATIF_P50] == 2020 * US && !w.nr_requests, "nothing changed");
	ok(w.nr_waits == 2 && !w.nr_blind_waits && w.has_holds, "both waits have a holder");
	forget();
	must("replay_snapshot*0.25", NULL);
	is_after(1, 2020 * US, 520 * US, 520 * US, "a quarter");
	is_after(2, 2040 * US, 540 * US, 540 * US, "a quarter");
	ok(w.changes[0].nr == 1 && w.changes[0].ns == 2000 * US, "what it is about is counted");
	forget();
	must("self:replay_snapshot*0.25", NULL);
	is_after(1, 2020 * US, 820 * US, 820 * US, "not what it calls");
	ok(w.changes[0].nr == 1 && w.changes[0].ns == 1600 * US, "1.6 ms of its own");
	forget();
	must("replay_snapshot*0.5", "replay_inner*0.5");
	is_after(1, 2020 * US, 920 * US, 920 * US, "both, one in the other");
	forget();
	must("lock:0x7000*0.5", NULL);
	is_after(1, 2020 * US, 970 * US, 970 * US, "all holds");
	is_after(2, 2040 * US, 940 * US, 940 * US, "all holds");
	ok(w.changes[0].nr == 3 && w.changes[0].ns == 2200 * US, "three holds");
	forget();
	must("replay_snapshot*2", NULL);
	is_after(1, 2020 * US, 4020 * US, 4020 * US, "twice as long");
	forget();
	must("replay_snapshot*1", NULL);
	ok(!w.nr_requests, "a factor of 1 changes nothing");
	forget();
	must("lock:0x7000=sharded(1)", NULL);
	ok(!w.nr_requests, "one shard is the lock");
	forget();
	must("replay_sn?p*t*0", NULL);
	is_after(1, 2020 * US, 110 * US, 110 * US, "no time at all, by glob");
	forget();
	must_not("replay_nothing*0.5", "no function");
	must_not("lock:nothing*0.5", "no lock");
	must_not("lock:nothing=sharded(2)", "no lock");
	must_not("no-preempt", "needs kernel events");
	must_not("cpus+2", "needs kernel events");
	made_close(&t);
}

/* whatif_free() frees all results and leaves no pointers. */
static void test_freed(void)
{
	make_convoy();
	must(NULL, NULL);
	whatif_free(&w);
	ok(!w.requests && !w.nr_requests && !w.classes && !w.nr_classes, "freed: nothing is left");
	forget();
	made_close(&t);
}

/*
 * All threads take the lock one after the other; with many shards hardly any two take the same one.
 */
static void test_shards(void)
{
	begin("shards.data", 20);
	for (unsigned i = 1; i <= 20; i++) {
		int64_t got = 1000 * US + (i - 1) * 100 * US;

		made_req(&t, .op = LDB_REQ_OP_START, .tid = i, .tick = 1000 * US, .id = i);
		if (i > 1)
			made_wait(&t, .tid = i, .lock = LOCK, .owner = 1, .begin = 1000 * US + i,
				  .end = got, .gen = 1);
		made_hold(&t, .tid = i, .lock = LOCK, .begin = got, .end = got + 100 * US,
			  .gen = 1);
		made_req(&t, .op = LDB_REQ_OP_END, .tid = i, .tick = got + 100 * US, .id = i);
	}
	made_open(&t);
	must("lock:0x7000=sharded(1000)", NULL);
	ok(w.all.measured_ns[WHATIF_MAX] == 2000 * US, "one lock: 2 ms");
	ok(w.all.hi_ns[WHATIF_MAX] <= 300 * US && w.all.lo_ns[WHATIF_P50] >= 99 * US,
	   "1000 locks: %ld..%ld", (long)w.all.lo_ns[WHATIF_MAX], (long)w.all.hi_ns[WHATIF_MAX]);
	forget();
	must("lock:0x7000=sharded(2)", NULL);
	ok(w.all.hi_ns[WHATIF_MAX] < 1700 * US && w.all.lo_ns[WHATIF_MAX] >= 1000 * US,
	   "2 locks: %ld..%ld", (long)w.all.lo_ns[WHATIF_MAX], (long)w.all.hi_ns[WHATIF_MAX]);
	forget();
	made_close(&t);
}

/* The holder of the lock that the request needs waits for another lock. */
static void test_two_locks(void)
{
	begin("two.data", 3);
	made_func(&t, .tid = 1, .pc = replay_snapshot, .gen = 10, .start = 1000 * US,
		  .end = 5000 * US);
	made_hold(&t, .tid = 1, .lock = OTHER, .begin = 1000 * US, .end = 5000 * US, .gen = 10);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 2000 * US, .end = 5120 * US, .gen = 1);
	made_wait(&t, .tid = 2, .lock = OTHER, .owner = 1, .begin = 2000 * US, .end = 5020 * US,
		  .gen = 1);
	made_hold(&t, .tid = 2, .lock = OTHER, .begin = 5020 * US, .end = 5110 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 3, .tick = 3000 * US, .id = 1);
	made_wait(&t, .tid = 3, .lock = LOCK, .owner = 2, .begin = 3000 * US, .end = 5150 * US,
		  .gen = 1);
	made_hold(&t, .tid = 3, .lock = LOCK, .begin = 5150 * US, .end = 5250 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 3, .tick = 5250 * US, .id = 1);
	made_open(&t);
	must("replay_snapshot*0.625", NULL);
	/*
	 * OTHER is free at 3500, and LOCK at 3500 + 20 + 90 + 10; 30 later the request continues.
	 */
	is_after(1, 2250 * US, 750 * US, 750 * US, "two locks, one behind the other");
	forget();
	must("replay_snapshot*0.25", NULL);
	is_after(1, 2250 * US, 100 * US, 100 * US, "no wait is left");
	forget();
	must("lock:0x7100*0.5", NULL);
	is_after(1, 2250 * US, 205 * US, 205 * US, "the other lock's holds");
	forget();
	made_close(&t);
}

/* A thread that needs the lock while it is handed over may get it, depending on the policy. */
static void test_policies(void)
{
	begin("policies.data", 3);
	made_hold(&t, .tid = 1, .lock = LOCK, .begin = 1000 * US, .end = 2000 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 1500 * US, .id = 1);
	made_wait(&t, .tid = 2, .lock = LOCK, .owner = 1, .begin = 1500 * US, .end = 2050 * US,
		  .gen = 1);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 2050 * US, .end = 2150 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 2150 * US, .id = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 3, .tick = 1400 * US, .id = 2);
	made_func(&t, .tid = 3, .pc = replay_work, .gen = 1, .start = 1400 * US, .end = 2400 * US);
	made_hold(&t, .tid = 3, .lock = LOCK, .begin = 2400 * US, .end = 2500 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 3, .tick = 2500 * US, .id = 2);
	made_open(&t);
	must("replay_work*0.62", NULL);	/* thread 3 needs the lock at 2020 */
	/*
	 * With FIFO, thread 3 gets the lock at 2150 + 50.  Otherwise it has the lock from 2020 to
	 * 2120, and thread 2 waits.
	 */
	is_after(2, 1100 * US, 720 * US, 900 * US, "who comes meanwhile");
	is_after(1, 650 * US, 650 * US, 770 * US, "who waits");
	forget();
	made_close(&t);
}

/* In the recording a thread took the free lock although another thread was waiting for it. */
static void test_passes(void)
{
	int ret;

	begin("passes.data", 3);
	made_hold(&t, .tid = 1, .lock = LOCK, .begin = 500 * US, .end = 2000 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 1000 * US, .id = 1);
	made_wait(&t, .tid = 2, .lock = LOCK, .owner = 1, .begin = 1000 * US, .end = 3005 * US,
		  .gen = 1);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 3005 * US, .end = 3105 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 3105 * US, .id = 1);
	made_hold(&t, .tid = 3, .lock = LOCK, .begin = 2010 * US, .end = 3000 * US, .gen = 1);
	made_open(&t);
	ret = replay(NULL, NULL);
	ok(!ret && !w.error[WHATIF_BARGING] && !w.error[WHATIF_RECORDED], "with barging it is as it was");
	ok(!ret && !w.is_good[WHATIF_FIFO] && w.error[WHATIF_FIFO] < -0.4, "in order it is not");
	forget();
	made_close(&t);
}

/* There are two workers and three requests: the worker that is free first takes the third. */
static void make_queue(void)
{
	begin("queue.data", 3);
	for (unsigned i = 1; i <= 3; i++) {
		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = (900 + 100 * i) * US,
			 .id = i);
		made_req(&t, .op = LDB_REQ_OP_BLOCK, .tid = 1, .tick = (910 + 100 * i) * US,
			 .id = i, .queue = QUEUE);
	}
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 1020 * US, .id = 1, .queue = QUEUE);
	made_func(&t, .tid = 2, .pc = replay_work, .gen = 1, .start = 1020 * US, .end = 3020 * US);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 3020 * US, .id = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 3, .tick = 1120 * US, .id = 2, .queue = QUEUE);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 3, .tick = 2120 * US, .id = 2);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 3, .tick = 2140 * US, .id = 3, .queue = QUEUE);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 3, .tick = 2240 * US, .id = 3);
	made_open(&t);
}

static void test_queue(void)
{
	make_queue();
	must("replay_work*0.1", NULL);
	is_after(1, 2020 * US, 220 * US, 220 * US, "the first is faster");
	/* Worker 2 is free at 1220, and request 3 was put into the queue at 1210. */
	is_after(3, 1040 * US, 140 * US, 140 * US, "its worker takes the third");
	ok(!find(2), "the second does not change");
	forget();
	must("replay_work*0", NULL);
	/* Worker 2 waits already: request 3 starts 10 us after it is put into the queue. */
	is_after(3, 1040 * US, 120 * US, 120 * US, "a worker that waits");
	forget();
	made_close(&t);
}

/* The threads pause until a time, or for a duration. */
static void make_pauses(bool is_clocked)
{
	int64_t at = 1000 * US;

	begin("pauses.data", 2);
	for (unsigned i = 0; i < 20; i++) {
		int64_t hold = (200 + 40 * (i % 5)) * US;

		made_func(&t, .tid = 1, .pc = replay_snapshot, .gen = 10 + i, .start = at,
			  .end = at + hold);
		made_hold(&t, .tid = 1, .lock = LOCK, .begin = at, .end = at + hold, .gen = 10 + i);
		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = at, .id = i + 1);
		made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = at + hold, .id = i + 1);
		at += is_clocked ? 1000 * US : hold + 500 * US;
	}
	/* This request waits during the last hold. */
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = is_clocked ? 20100 * US : 15600 * US,
		 .id = 100);
	at -= is_clocked ? 1000 * US : 860 * US;
	made_wait(&t, .tid = 2, .lock = LOCK, .owner = 1, .begin = at + 100 * US,
		  .end = at + 360 * US, .gen = 1);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = at + 360 * US, .end = at + 370 * US,
		  .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = at + 370 * US, .id = 100);
	made_open(&t);
}

static void test_pauses(void)
{
	make_pauses(true);
	must("replay_snapshot*0.5", NULL);
	/* The last hold begins when it did in the recording. */
	is_after(100, 270 * US, 90 * US, 90 * US, "pauses until a time");
	forget();
	made_close(&t);
	make_pauses(false);
	must("replay_snapshot*0.5", NULL);
	is_after(100, 510 * US, 250 * US, 250 * US,
		 "pauses for a time: the holds are over earlier");
	forget();
	made_close(&t);
}

/*
 * Requests were in a queue before they were tagged: their arrivals stay the same, whatever is
 * changed.
 */
static void test_arrivals(void)
{
	begin("arrivals.data", 1);
	for (unsigned i = 0; i < 3; i++) {
		int64_t at = (1000 + 1000 * i) * US;

		/* The requests came at 900, 1100 and 1300 and were served one after the other. */
		writer_add_req(t.w, &(struct ldb_row_req){
			.op = LDB_REQ_OP_ARRIVED, .tid = 1, .tick = at, .id = i + 1, .queue = QUEUE,
			.site = at - (900 + 200 * i) * US });
		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = at, .id = i + 1,
			 .queue = QUEUE);
		made_func(&t, .tid = 1, .pc = replay_work, .gen = i + 1, .start = at,
			  .end = at + 900 * US);
		made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = at + 900 * US, .id = i + 1);
	}
	made_open(&t);
	must("replay_work*0.5", NULL);
	is_after(1, 1000 * US, 550 * US, 550 * US, "the first");
	is_after(2, 1800 * US, 900 * US, 900 * US, "the second begins 100 us after the first ended");
	is_after(3, 2600 * US, 1250 * US, 1250 * US, "and the third after that");
	forget();
	must("replay_work*0", NULL);
	/* Request 3 takes 100 us from its arrival to its start, as the first request does. */
	is_after(3, 2600 * US, 100 * US, 100 * US, "no earlier than it came");
	forget();
	made_close(&t);
}

/* With --mutex=wait it is not known when the hold began. */
static void test_contended_only(void)
{
	made_begin(&t, "contended.data");
	made_thread(&t, 1, "thread", 0, 100000 * US);
	made_thread(&t, 2, "thread", 0, 100000 * US);
	made_func(&t, .tid = 1, .pc = replay_snapshot, .gen = 11, .parent = 10, .depth = 1,
		  .start = 3000 * US, .end = 5000 * US);
	made_func(&t, .tid = 1, .pc = replay_inner, .gen = 10, .start = 1000 * US,
		  .end = 6000 * US);
	made_bounded_hold(&t, .tid = 1, .lock = LOCK, .end = 5000 * US, .gen = 10);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 4000 * US, .id = 1);
	made_wait(&t, .tid = 2, .lock = LOCK, .owner = 1, .begin = 4000 * US, .end = 5010 * US,
		  .gen = 1);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 5010 * US, .end = 5020 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 5020 * US, .id = 1);
	made_open(&t);
	must("replay_snapshot*0.75", NULL);
	is_after(1, 1020 * US, 520 * US, 520 * US, "it began with what was done with it");
	ok(!w.has_holds, "not all holds are known");
	forget();
	must("lock:0x7000*0.75", NULL);
	is_after(1, 1020 * US, 517500, 517500, "it did not begin before that");
	forget();
	made_close(&t);
}

/* No holder was recorded, and no waker: these waits stay as they were. */
static void test_blind(void)
{
	begin("blind.data", 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000 * US, .id = 1);
	made_func(&t, .tid = 1, .pc = replay_work, .gen = 1, .start = 1000 * US, .end = 2000 * US);
	made_wait(&t, .tid = 1, .lock = LOCK, .begin = 2000 * US, .end = 3000 * US, .gen = 1);
	made_hold(&t, .tid = 1, .lock = LOCK, .begin = 3000 * US, .end = 3100 * US, .gen = 1);
	made_lock(&t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_SEM, .tid = 1, .lock = OTHER,
		  .begin = 4000 * US, .end = 5000 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 5100 * US, .id = 1);
	made_open(&t);
	must("lock:0x7000*0.5", "replay_work*0.5");
	ok(!w.nr_changed, "the second wait ends when it ended");
	forget();
	must("replay_work*3", NULL);
	ok(w.nr_waits == 1 && w.nr_blind_waits == 1 && w.blind_ns == 1000 * US && w.nr_fixed == 1 &&
	   w.fixed_ns == 1000 * US, "both are counted");
	/*
	 * The thread is delayed by 2000, so it reaches the semaphore at 6000, when it need not wait
	 * any more.
	 */
	is_after(1, 4100 * US, 5100 * US, 5100 * US, "the first wait is as long as it was");
	forget();
	made_close(&t);
}

/* Locks that the program implements itself (ldb_lock_wait(3)) are replayed like others. */
static void test_own_lock(void)
{
	begin("own.data", 2);
	made_lock(&t, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_OWN | LDB_LOCK_F_BEGIN_EXACT,
		  .tid = 1, .lock = LOCK, .begin = 1000 * US, .end = 3000 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 2000 * US, .id = 1);
	made_lock(&t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_OWN, .tid = 2, .lock = LOCK,
		  .owner = 1, .begin = 2000 * US, .end = 3010 * US, .gen = 1);
	made_lock(&t, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_OWN | LDB_LOCK_F_BEGIN_EXACT,
		  .tid = 2, .lock = LOCK, .begin = 3010 * US, .end = 4010 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 4010 * US, .id = 1);
	made_open(&t);
	must("lock:0x7000*0.75", NULL);
	is_after(1, 2010 * US, 1260 * US, 1260 * US, "one that was held for less long");
	forget();
	made_close(&t);
}

/* Readers hold the lock together; a writer excludes them. */
static void test_readers(void)
{
	begin("readers.data", 3);
	made_lock(&t, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_RWLOCK_WR | LDB_LOCK_F_BEGIN_EXACT,
		  .tid = 1, .lock = LOCK, .begin = 1000 * US, .end = 3000 * US, .gen = 1);
	for (unsigned i = 2; i <= 3; i++) {
		made_req(&t, .op = LDB_REQ_OP_START, .tid = i, .tick = 2000 * US, .id = i);
		made_lock(&t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_RWLOCK_RD, .tid = i,
			  .lock = LOCK, .owner = 1, .begin = 2000 * US, .end = 3010 * US, .gen = 1);
		made_lock(&t, .op = LDB_LOCK_OP_HOLD,
			  .flags = LDB_LOCK_RWLOCK_RD | LDB_LOCK_F_BEGIN_EXACT, .tid = i,
			  .lock = LOCK, .begin = 3010 * US, .end = 4010 * US, .gen = 1);
		made_req(&t, .op = LDB_REQ_OP_END, .tid = i, .tick = 4010 * US, .id = i);
	}
	made_open(&t);
	must("lock:0x7000*0.75", NULL);
	is_after(2, 2010 * US, 1260 * US, 1260 * US, "one reader");
	is_after(3, 2010 * US, 1260 * US, 1260 * US, "and the other, at the same time");
	forget();
	made_close(&t);

	/*
	 * A reader holds the lock, and a writer waits.  In the recording another reader comes after
	 * both; with the change it comes while the writer waits.
	 */
	begin("passing.data", 3);
	made_lock(&t, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_RWLOCK_RD | LDB_LOCK_F_BEGIN_EXACT,
		  .tid = 1, .lock = LOCK, .begin = 1000 * US, .end = 3000 * US, .gen = 1);
	made_lock(&t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_RWLOCK_WR, .tid = 2, .lock = LOCK,
		  .owner = 1, .begin = 1500 * US, .end = 3010 * US, .gen = 1);
	made_lock(&t, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_RWLOCK_WR | LDB_LOCK_F_BEGIN_EXACT,
		  .tid = 2, .lock = LOCK, .begin = 3010 * US, .end = 3510 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 3, .tick = 1400 * US, .id = 1);
	made_func(&t, .tid = 3, .pc = replay_work, .gen = 1, .start = 1400 * US, .end = 4400 * US);
	made_lock(&t, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_RWLOCK_RD | LDB_LOCK_F_BEGIN_EXACT,
		  .tid = 3, .lock = LOCK, .begin = 4400 * US, .end = 4500 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 3, .tick = 4500 * US, .id = 1);
	made_open(&t);
	must("replay_work*0.2", NULL);	/* thread 3 needs the lock at 2000 */
	is_after(1, 3100 * US, 700 * US, 2220 * US, "a reader passes a waiting writer, or waits");
	forget();
	made_close(&t);
}

/* A thread that another one wakes continues when its waker reaches the wake-up. */
static void test_wakers(void)
{
	begin("wakers.data", 2);
	made_task(&t, 1, 1, "thread");
	made_task(&t, 2, 1, "thread");
	made_func(&t, .tid = 1, .pc = replay_work, .gen = 1, .start = 500 * US, .end = 3000 * US);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 900 * US, .id = 1);
	made_lock(&t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_COND, .tid = 2, .lock = OTHER,
		  .begin = 1000 * US, .end = 3025 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 3100 * US, .id = 1);
	made_func(&t, .tid = 1, .pc = replay_inner, .gen = 2, .start = 3000 * US, .end = 4000 * US);
	made_switch(&t, .tick = 100 * US, .next = 1);
	made_switch(&t, .tick = 101 * US, .cpu = 1, .next = 2);
	made_futex_wait(&t, .tick = 1005 * US, .cpu = 1, .tid = 2, .addr = OTHER);
	made_switch(&t, .tick = 1010 * US, .cpu = 1, .prev = 2, .state = LDB_STATE_SLEEPING);
	made_futex_wake(&t, .tick = 2999 * US, .tid = 1, .addr = OTHER);
	made_waking(&t, .tick = 3000 * US, .waker = 1, .woken = 2);
	made_wakeup(&t, .tick = 3000 * US, .cpu = 1, .woken = 2);
	made_switch(&t, .tick = 3020 * US, .cpu = 1, .next = 2);
	made_switch(&t, .tick = 5000 * US, .prev = 1, .state = LDB_STATE_SLEEPING);
	made_switch(&t, .tick = 5001 * US, .cpu = 1, .prev = 2, .state = LDB_STATE_SLEEPING);
	made_open(&t);
	must("replay_work*0.5", "replay_inner*3");
	is_after(1, 2200 * US, 950 * US, 950 * US, "woken earlier, before what its waker does next");
	ok(!w.nr_fixed, "its waker is known");
	forget();
	must("replay_work*0.1", NULL);
	/* The thread is woken at 750, before it waits. */
	is_after(1, 2200 * US, 175 * US, 175 * US, "does not wait at all");
	forget();
	made_close(&t);
}

/* The woken thread's own CPU puts it on the run queue; the waker may be asleep at that time. */
static void test_late_wakeup(void)
{
	begin("late.data", 2);
	made_task(&t, 1, 1, "thread");
	made_task(&t, 2, 1, "thread");
	made_func(&t, .tid = 1, .pc = replay_work, .gen = 1, .start = 500 * US, .end = 3000 * US);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 900 * US, .id = 1);
	made_switch(&t, .tick = 100 * US, .next = 1);
	made_switch(&t, .tick = 101 * US, .cpu = 1, .next = 2);
	made_switch(&t, .tick = 1010 * US, .cpu = 1, .prev = 2, .state = LDB_STATE_SLEEPING);
	made_waking(&t, .tick = 3000 * US, .waker = 1, .woken = 2);
	made_switch(&t, .tick = 3005 * US, .prev = 1, .state = LDB_STATE_SLEEPING);
	made_wakeup(&t, .tick = 3010 * US, .cpu = 1, .woken = 2);
	made_switch(&t, .tick = 3020 * US, .cpu = 1, .next = 2);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 3100 * US, .id = 1);
	made_wakeup(&t, .tick = 8000 * US, .woken = 1);
	made_switch(&t, .tick = 8010 * US, .next = 1);
	made_switch(&t, .tick = 9000 * US, .prev = 1, .state = LDB_STATE_SLEEPING);
	made_switch(&t, .tick = 9001 * US, .cpu = 1, .prev = 2, .state = LDB_STATE_SLEEPING);
	made_open(&t);
	must("replay_work*0.5", NULL);
	is_after(1, 2200 * US, 950 * US, 950 * US, "woken before its waker sleeps");
	forget();
	made_close(&t);
}

static void test_cpus(void)
{
	begin("cpus.data", 2);
	made_task(&t, 1, 1, "thread");
	made_task(&t, 2, 1, "thread");
	made_task(&t, 200, 200, "hog");
	made_switch(&t, .tick = 500 * US, .next = 2);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 1000 * US, .id = 1);
	made_switch(&t, .tick = 2000 * US, .prev = 2,
		    .state = LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT, .next = 200);
	made_switch(&t, .tick = 3000 * US, .prev = 200, .state = LDB_STATE_RUNNING, .next = 2);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 4000 * US, .id = 1);
	made_switch(&t, .tick = 5000 * US, .prev = 2, .state = LDB_STATE_SLEEPING);
	made_open(&t);
	must("no-preempt", NULL);
	is_after(1, 3000 * US, 2000 * US, 2000 * US, "without a preemption");
	forget();
	must("cpus+1", NULL);
	is_after(1, 3000 * US, 2000 * US, 2000 * US, "with another CPU");
	forget();
	made_close(&t);
}

/* Two threads take two locks in different orders: after a change they deadlock. */
static void test_deadlock(void)
{
	begin("deadlock.data", 2);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000 * US, .id = 1);
	made_hold(&t, .tid = 1, .lock = LOCK, .begin = 1100 * US, .end = 1300 * US, .gen = 1);
	made_hold(&t, .tid = 1, .lock = OTHER, .begin = 1200 * US, .end = 1290 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 1300 * US, .id = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 1000 * US, .id = 2);
	made_func(&t, .tid = 2, .pc = replay_work, .gen = 1, .start = 1000 * US, .end = 2000 * US);
	made_hold(&t, .tid = 2, .lock = OTHER, .begin = 2000 * US, .end = 2300 * US, .gen = 1);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 2100 * US, .end = 2290 * US, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 2300 * US, .id = 2);
	made_open(&t);
	must_not("replay_work*0.15", "wait for each other");
	made_close(&t);
}

static void test_refusals(void)
{
	struct whatif_options o = WHATIF_OPTIONS_ALL;

	begin("lost.data", 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000 * US, .id = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 2000 * US, .id = 1);
	writer_add_lost(t.w, &(struct ldb_row_lost){ .tick = 5, .count = 7,
						     .what = LDB_LOST_OVERRUN });
	made_open(&t);
	must_not(NULL, "7 records were lost");
	made_close(&t);

	begin("none.data", 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000 * US, .id = 1);
	made_open(&t);
	must_not(NULL, "no request ended");
	made_close(&t);

	/*
	 * A request that no thread took out of its queue ends on a thread that does nothing else.
	 */
	begin("off.data", 2);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000 * US, .id = 1);
	made_req(&t, .op = LDB_REQ_OP_BLOCK, .tid = 1, .tick = 1100 * US, .id = 1, .queue = QUEUE);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 9000 * US, .id = 1);
	made_open(&t);
	must_not(NULL, "is off by -98.8 %");
	o.class = "nothing";
	ok(whatif_build(t.model, &o, &w, err, sizeof(err)) == -EINVAL &&
	   strstr(err, "this selection"), "no request of a class");
	made_close(&t);
}

/* No content of rows may make the replay hang or crash. */
static void test_hostile(void)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < 200; i++) {
		struct sample_strings strings;
		union sample_row row;

		begin("hostile.data", 4);
		for (unsigned k = 0; k < 300; k++) {
			static const unsigned kinds[] = {
				LDB_BLK_LOCK, LDB_BLK_REQ, LDB_BLK_REQ, LDB_BLK_FUNC, LDB_BLK_SCHED,
				LDB_BLK_THREAD,
			};
			unsigned kind = kinds[sample_random() % 6];

			sample_row(kind, &row, &strings, k * 1000);
			if (kind == LDB_BLK_LOCK) {
				row.lock.tid %= 6;
				row.lock.lock = 0x7000 + 8 * (row.lock.lock % 3);
				row.lock.op = 1 + row.lock.op % 2;
				row.lock.flags = 1 + row.lock.flags % 8;
				if (row.lock.begin & 1) {
					row.lock.end = (k + 10) * 1000;
					row.lock.begin = (k - 10) * 1000;
				}
			} else if (kind == LDB_BLK_REQ) {
				row.req.tid %= 6;
				row.req.id %= 8;
				row.req.op = 1 + row.req.op % 7;
				row.req.queue %= 3;
			}
			sample_write(t.w, kind, &row);
		}
		made_open(&t);
		if (!replay("lock:*=sharded(3)", "lock:**0.5") || strstr(err, "of the recording as it is"))
			nr++;
		forget();
		made_close(&t);
	}
	ok(nr > 20, "%u of 200 hostile traces were replayed", nr);
}

int main(void)
{
	test_expressions();
	test_convoy();
	test_freed();
	test_shards();
	test_two_locks();
	test_policies();
	test_passes();
	test_queue();
	test_pauses();
	test_arrivals();
	test_contended_only();
	test_blind();
	test_own_lock();
	test_readers();
	test_wakers();
	test_late_wakeup();
	test_cpus();
	test_deadlock();
	test_refusals();
	test_hostile();
	return done();
}
