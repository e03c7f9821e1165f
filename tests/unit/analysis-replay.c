// SPDX-License-Identifier: GPL-2.0-or-later
/* What if: expressions, and replays of small traces whose outcome is known exactly. */
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

/* Names for functions of the traces: they must differ in more than the name. */
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

/* NULL ends the expressions. */
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

/* One holds the lock for 2 ms; two requests wait for it one behind the other. */
static void make_convoy(void)
{
	begin("convoy.data", 3);
	made_func(&t, 1, replay_snapshot, NULL, 10, 0, 0, 1000 * US, 3000 * US, 0);
	made_func(&t, 1, replay_inner, NULL, 11, 10, 1, 2000 * US, 2400 * US, 0);
	made_hold(&t, 1, LOCK, 1000 * US, 3000 * US, 10);
	made_req(&t, LDB_REQ_OP_START, 2, 1100 * US, 1, 0);
	made_req(&t, LDB_REQ_OP_START, 3, 1200 * US, 2, 0);
	made_wait(&t, 2, LOCK, 1, 1100 * US, 3010 * US, 1);
	made_hold(&t, 2, LOCK, 3010 * US, 3110 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 2, 3120 * US, 1, 0);
	made_wait(&t, 3, LOCK, 1, 1200 * US, 3130 * US, 1);
	made_hold(&t, 3, LOCK, 3130 * US, 3230 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 3, 3240 * US, 2, 0);
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

/* All take the lock one after the other; with many shards hardly two take the same. */
static void test_freed(void)
{
	make_convoy();
	must(NULL, NULL);
	whatif_free(&w);
	ok(!w.requests && !w.nr_requests && !w.classes && !w.nr_classes, "freed: nothing is left");
	forget();
	made_close(&t);
}

static void test_shards(void)
{
	begin("shards.data", 20);
	for (unsigned i = 1; i <= 20; i++) {
		int64_t got = 1000 * US + (i - 1) * 100 * US;

		made_req(&t, LDB_REQ_OP_START, i, 1000 * US, i, 0);
		if (i > 1)
			made_wait(&t, i, LOCK, 1, 1000 * US + i, got, 1);
		made_hold(&t, i, LOCK, got, got + 100 * US, 1);
		made_req(&t, LDB_REQ_OP_END, i, got + 100 * US, i, 0);
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

/* The one who holds what the request wants waits for another lock. */
static void test_two_locks(void)
{
	begin("two.data", 3);
	made_func(&t, 1, replay_snapshot, NULL, 10, 0, 0, 1000 * US, 5000 * US, 0);
	made_hold(&t, 1, OTHER, 1000 * US, 5000 * US, 10);
	made_hold(&t, 2, LOCK, 2000 * US, 5120 * US, 1);
	made_wait(&t, 2, OTHER, 1, 2000 * US, 5020 * US, 1);
	made_hold(&t, 2, OTHER, 5020 * US, 5110 * US, 1);
	made_req(&t, LDB_REQ_OP_START, 3, 3000 * US, 1, 0);
	made_wait(&t, 3, LOCK, 2, 3000 * US, 5150 * US, 1);
	made_hold(&t, 3, LOCK, 5150 * US, 5250 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 3, 5250 * US, 1, 0);
	made_open(&t);
	must("replay_snapshot*0.625", NULL);
	/* OTHER is free at 3500, LOCK at 3500 + 20 + 90 + 10, and 30 later the request goes on. */
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

/* Who comes while the lock is handed over gets it, or not. */
static void test_policies(void)
{
	begin("policies.data", 3);
	made_hold(&t, 1, LOCK, 1000 * US, 2000 * US, 1);
	made_req(&t, LDB_REQ_OP_START, 2, 1500 * US, 1, 0);
	made_wait(&t, 2, LOCK, 1, 1500 * US, 2050 * US, 1);
	made_hold(&t, 2, LOCK, 2050 * US, 2150 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 2, 2150 * US, 1, 0);
	made_req(&t, LDB_REQ_OP_START, 3, 1400 * US, 2, 0);
	made_func(&t, 3, replay_work, NULL, 1, 0, 0, 1400 * US, 2400 * US, 0);
	made_hold(&t, 3, LOCK, 2400 * US, 2500 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 3, 2500 * US, 2, 0);
	made_open(&t);
	must("replay_work*0.62", NULL);	/* comes at 2020 */
	/* In order: has it at 2150 + 50.  Else it has it from 2020 to 2120, and the other waits. */
	is_after(2, 1100 * US, 720 * US, 900 * US, "who comes meanwhile");
	is_after(1, 650 * US, 650 * US, 770 * US, "who waits");
	forget();
	made_close(&t);
}

/* Who came while the lock was free took it in the recording, too. */
static void test_passes(void)
{
	int ret;

	begin("passes.data", 3);
	made_hold(&t, 1, LOCK, 500 * US, 2000 * US, 1);
	made_req(&t, LDB_REQ_OP_START, 2, 1000 * US, 1, 0);
	made_wait(&t, 2, LOCK, 1, 1000 * US, 3005 * US, 1);
	made_hold(&t, 2, LOCK, 3005 * US, 3105 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 2, 3105 * US, 1, 0);
	made_hold(&t, 3, LOCK, 2010 * US, 3000 * US, 1);
	made_open(&t);
	ret = replay(NULL, NULL);
	ok(!ret && !w.error[WHATIF_BARGING] && !w.error[WHATIF_RECORDED], "with barging it is as it was");
	ok(!ret && !w.is_good[WHATIF_FIFO] && w.error[WHATIF_FIFO] < -0.4, "in order it is not");
	forget();
	made_close(&t);
}

/* Two workers, three requests: the third goes to whoever is free first. */
static void make_queue(void)
{
	begin("queue.data", 3);
	for (unsigned i = 1; i <= 3; i++) {
		made_req(&t, LDB_REQ_OP_START, 1, (900 + 100 * i) * US, i, 0);
		made_req(&t, LDB_REQ_OP_BLOCK, 1, (910 + 100 * i) * US, i, QUEUE);
	}
	made_req(&t, LDB_REQ_OP_START, 2, 1020 * US, 1, QUEUE);
	made_func(&t, 2, replay_work, NULL, 1, 0, 0, 1020 * US, 3020 * US, 0);
	made_req(&t, LDB_REQ_OP_END, 2, 3020 * US, 1, 0);
	made_req(&t, LDB_REQ_OP_START, 3, 1120 * US, 2, QUEUE);
	made_req(&t, LDB_REQ_OP_END, 3, 2120 * US, 2, 0);
	made_req(&t, LDB_REQ_OP_START, 3, 2140 * US, 3, QUEUE);
	made_req(&t, LDB_REQ_OP_END, 3, 2240 * US, 3, 0);
	made_open(&t);
}

static void test_queue(void)
{
	make_queue();
	must("replay_work*0.1", NULL);
	is_after(1, 2020 * US, 220 * US, 220 * US, "the first is faster");
	/* Worker 2 is free at 1220, and the third was put at 1210. */
	is_after(3, 1040 * US, 140 * US, 140 * US, "its worker takes the third");
	ok(!find(2), "the second does not change");
	forget();
	must("replay_work*0", NULL);
	/* Worker 2 is there first: 10 us from the put to the start. */
	is_after(3, 1040 * US, 120 * US, 120 * US, "a worker that waits");
	forget();
	made_close(&t);
}

/* Pauses until a time, and pauses for a time. */
static void make_pauses(bool is_clocked)
{
	int64_t at = 1000 * US;

	begin("pauses.data", 2);
	for (unsigned i = 0; i < 20; i++) {
		int64_t hold = (200 + 40 * (i % 5)) * US;

		made_func(&t, 1, replay_snapshot, NULL, 10 + i, 0, 0, at, at + hold, 0);
		made_hold(&t, 1, LOCK, at, at + hold, 10 + i);
		made_req(&t, LDB_REQ_OP_START, 1, at, i + 1, 0);
		made_req(&t, LDB_REQ_OP_END, 1, at + hold, i + 1, 0);
		at += is_clocked ? 1000 * US : hold + 500 * US;
	}
	/* One that waits in the last hold. */
	made_req(&t, LDB_REQ_OP_START, 2, is_clocked ? 20100 * US : 15600 * US, 100, 0);
	at -= is_clocked ? 1000 * US : 860 * US;
	made_wait(&t, 2, LOCK, 1, at + 100 * US, at + 360 * US, 1);
	made_hold(&t, 2, LOCK, at + 360 * US, at + 370 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 2, at + 370 * US, 100, 0);
	made_open(&t);
}

static void test_pauses(void)
{
	make_pauses(true);
	must("replay_snapshot*0.5", NULL);
	/* The last hold begins when it did. */
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

/* In a queue before anybody tagged them: they arrive when they did, whatever is changed. */
static void test_arrivals(void)
{
	begin("arrivals.data", 1);
	for (unsigned i = 0; i < 3; i++) {
		int64_t at = (1000 + 1000 * i) * US;

		/* They came at 900, 1100 and 1300 and were served one after the other. */
		writer_add_req(t.w, &(struct ldb_row_req){
			.op = LDB_REQ_OP_ARRIVED, .tid = 1, .tick = at, .id = i + 1, .queue = QUEUE,
			.site = at - (900 + 200 * i) * US });
		made_req(&t, LDB_REQ_OP_START, 1, at, i + 1, QUEUE);
		made_func(&t, 1, replay_work, NULL, i + 1, 0, 0, at, at + 900 * US, 0);
		made_req(&t, LDB_REQ_OP_END, 1, at + 900 * US, i + 1, 0);
	}
	made_open(&t);
	must("replay_work*0.5", NULL);
	is_after(1, 1000 * US, 550 * US, 550 * US, "the first");
	is_after(2, 1800 * US, 900 * US, 900 * US, "the second begins 100 us after the first ended");
	is_after(3, 2600 * US, 1250 * US, 1250 * US, "and the third after that");
	forget();
	must("replay_work*0", NULL);
	/* 100 us from arrival to start, as the first had it. */
	is_after(3, 2600 * US, 100 * US, 100 * US, "no earlier than it came");
	forget();
	made_close(&t);
}

/* Recorded with --mutex=wait: it is not known when the hold began. */
static void test_contended_only(void)
{
	made_begin(&t, "contended.data");
	made_thread(&t, 1, "thread", 0, 100000 * US);
	made_thread(&t, 2, "thread", 0, 100000 * US);
	made_func(&t, 1, replay_snapshot, NULL, 11, 10, 1, 3000 * US, 5000 * US, 0);
	made_func(&t, 1, replay_inner, NULL, 10, 0, 0, 1000 * US, 6000 * US, 0);
	made_bounded_hold(&t, 1, LOCK, 5000 * US, 10);
	made_req(&t, LDB_REQ_OP_START, 2, 4000 * US, 1, 0);
	made_wait(&t, 2, LOCK, 1, 4000 * US, 5010 * US, 1);
	made_hold(&t, 2, LOCK, 5010 * US, 5020 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 2, 5020 * US, 1, 0);
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

/* Nobody was seen to hold it, and nobody was seen to wake: these waits stay as they were. */
static void test_blind(void)
{
	begin("blind.data", 1);
	made_req(&t, LDB_REQ_OP_START, 1, 1000 * US, 1, 0);
	made_func(&t, 1, replay_work, NULL, 1, 0, 0, 1000 * US, 2000 * US, 0);
	made_wait(&t, 1, LOCK, 0, 2000 * US, 3000 * US, 1);
	made_hold(&t, 1, LOCK, 3000 * US, 3100 * US, 1);
	made_lock(&t, LDB_LOCK_OP_WAIT, LDB_LOCK_SEM, 1, OTHER, 0, 4000 * US, 5000 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 1, 5100 * US, 1, 0);
	made_open(&t);
	must("lock:0x7000*0.5", "replay_work*0.5");
	ok(!w.nr_changed, "the second wait ends when it ended");
	forget();
	must("replay_work*3", NULL);
	ok(w.nr_waits == 1 && w.nr_blind_waits == 1 && w.blind_ns == 1000 * US && w.nr_fixed == 1 &&
	   w.fixed_ns == 1000 * US, "both are counted");
	/* 2000 later; it gets to the semaphore at 6000, when that is free. */
	is_after(1, 4100 * US, 5100 * US, 5100 * US, "the first wait is as long as it was");
	forget();
	made_close(&t);
}

/* One that the program made itself is a lock, too. */
static void test_own_lock(void)
{
	begin("own.data", 2);
	made_lock(&t, LDB_LOCK_OP_HOLD, LDB_LOCK_OWN | LDB_LOCK_F_BEGIN_EXACT, 1, LOCK, 0, 1000 * US,
		  3000 * US, 1);
	made_req(&t, LDB_REQ_OP_START, 2, 2000 * US, 1, 0);
	made_lock(&t, LDB_LOCK_OP_WAIT, LDB_LOCK_OWN, 2, LOCK, 1, 2000 * US, 3010 * US, 1);
	made_lock(&t, LDB_LOCK_OP_HOLD, LDB_LOCK_OWN | LDB_LOCK_F_BEGIN_EXACT, 2, LOCK, 0, 3010 * US,
		  4010 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 2, 4010 * US, 1, 0);
	made_open(&t);
	must("lock:0x7000*0.75", NULL);
	is_after(1, 2010 * US, 1260 * US, 1260 * US, "one that was held for less long");
	forget();
	made_close(&t);
}

/* Readers hold it together; a writer keeps them out. */
static void test_readers(void)
{
	begin("readers.data", 3);
	made_lock(&t, LDB_LOCK_OP_HOLD, LDB_LOCK_RWLOCK_WR | LDB_LOCK_F_BEGIN_EXACT, 1, LOCK, 0,
		  1000 * US, 3000 * US, 1);
	for (unsigned i = 2; i <= 3; i++) {
		made_req(&t, LDB_REQ_OP_START, i, 2000 * US, i, 0);
		made_lock(&t, LDB_LOCK_OP_WAIT, LDB_LOCK_RWLOCK_RD, i, LOCK, 1, 2000 * US, 3010 * US, 1);
		made_lock(&t, LDB_LOCK_OP_HOLD, LDB_LOCK_RWLOCK_RD | LDB_LOCK_F_BEGIN_EXACT, i, LOCK, 0,
			  3010 * US, 4010 * US, 1);
		made_req(&t, LDB_REQ_OP_END, i, 4010 * US, i, 0);
	}
	made_open(&t);
	must("lock:0x7000*0.75", NULL);
	is_after(2, 2010 * US, 1260 * US, 1260 * US, "one reader");
	is_after(3, 2010 * US, 1260 * US, 1260 * US, "and the other, at the same time");
	forget();
	made_close(&t);

	/* Read-locked; a writer waits; another reader comes later, or does not. */
	begin("passing.data", 3);
	made_lock(&t, LDB_LOCK_OP_HOLD, LDB_LOCK_RWLOCK_RD | LDB_LOCK_F_BEGIN_EXACT, 1, LOCK, 0,
		  1000 * US, 3000 * US, 1);
	made_lock(&t, LDB_LOCK_OP_WAIT, LDB_LOCK_RWLOCK_WR, 2, LOCK, 1, 1500 * US, 3010 * US, 1);
	made_lock(&t, LDB_LOCK_OP_HOLD, LDB_LOCK_RWLOCK_WR | LDB_LOCK_F_BEGIN_EXACT, 2, LOCK, 0,
		  3010 * US, 3510 * US, 1);
	made_req(&t, LDB_REQ_OP_START, 3, 1400 * US, 1, 0);
	made_func(&t, 3, replay_work, NULL, 1, 0, 0, 1400 * US, 4400 * US, 0);
	made_lock(&t, LDB_LOCK_OP_HOLD, LDB_LOCK_RWLOCK_RD | LDB_LOCK_F_BEGIN_EXACT, 3, LOCK, 0,
		  4400 * US, 4500 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 3, 4500 * US, 1, 0);
	made_open(&t);
	must("replay_work*0.2", NULL);	/* comes at 2000 */
	is_after(1, 3100 * US, 700 * US, 2220 * US, "a reader passes a waiting writer, or waits");
	forget();
	made_close(&t);
}

/* A thread that another one wakes goes on when that gets to it. */
static void test_wakers(void)
{
	begin("wakers.data", 2);
	made_task(&t, 1, 1, "thread");
	made_task(&t, 2, 1, "thread");
	made_func(&t, 1, replay_work, NULL, 1, 0, 0, 500 * US, 3000 * US, 0);
	made_req(&t, LDB_REQ_OP_START, 2, 900 * US, 1, 0);
	made_lock(&t, LDB_LOCK_OP_WAIT, LDB_LOCK_COND, 2, OTHER, 0, 1000 * US, 3025 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 2, 3100 * US, 1, 0);
	made_func(&t, 1, replay_inner, NULL, 2, 0, 0, 3000 * US, 4000 * US, 0);
	made_switch(&t, 100 * US, 0, 0, LDB_STATE_RUNNING, 1, 0);
	made_switch(&t, 101 * US, 1, 0, LDB_STATE_RUNNING, 2, 0);
	made_futex_wait(&t, 1005 * US, 1, 2, OTHER, 0);
	made_switch(&t, 1010 * US, 1, 2, LDB_STATE_SLEEPING, 0, 0);
	made_futex_wake(&t, 2999 * US, 0, 1, OTHER);
	made_waking(&t, 3000 * US, 0, 1, 0, 2);
	made_wakeup(&t, 3000 * US, 1, 2, 0);
	made_switch(&t, 3020 * US, 1, 0, LDB_STATE_RUNNING, 2, 0);
	made_switch(&t, 5000 * US, 0, 1, LDB_STATE_SLEEPING, 0, 0);
	made_switch(&t, 5001 * US, 1, 2, LDB_STATE_SLEEPING, 0, 0);
	made_open(&t);
	must("replay_work*0.5", "replay_inner*3");
	is_after(1, 2200 * US, 950 * US, 950 * US, "woken earlier, before what its waker does next");
	ok(!w.nr_fixed, "its waker is known");
	forget();
	must("replay_work*0.1", NULL);
	/* Woken at 750, before it waits. */
	is_after(1, 2200 * US, 175 * US, 175 * US, "does not wait at all");
	forget();
	made_close(&t);
}

/* The woken is put on a run queue by its own CPU, and the waker may sleep by then. */
static void test_late_wakeup(void)
{
	begin("late.data", 2);
	made_task(&t, 1, 1, "thread");
	made_task(&t, 2, 1, "thread");
	made_func(&t, 1, replay_work, NULL, 1, 0, 0, 500 * US, 3000 * US, 0);
	made_req(&t, LDB_REQ_OP_START, 2, 900 * US, 1, 0);
	made_switch(&t, 100 * US, 0, 0, LDB_STATE_RUNNING, 1, 0);
	made_switch(&t, 101 * US, 1, 0, LDB_STATE_RUNNING, 2, 0);
	made_switch(&t, 1010 * US, 1, 2, LDB_STATE_SLEEPING, 0, 0);
	made_waking(&t, 3000 * US, 0, 1, 0, 2);
	made_switch(&t, 3005 * US, 0, 1, LDB_STATE_SLEEPING, 0, 0);
	made_wakeup(&t, 3010 * US, 1, 2, 0);
	made_switch(&t, 3020 * US, 1, 0, LDB_STATE_RUNNING, 2, 0);
	made_req(&t, LDB_REQ_OP_END, 2, 3100 * US, 1, 0);
	made_wakeup(&t, 8000 * US, 0, 1, 0);
	made_switch(&t, 8010 * US, 0, 0, LDB_STATE_RUNNING, 1, 0);
	made_switch(&t, 9000 * US, 0, 1, LDB_STATE_SLEEPING, 0, 0);
	made_switch(&t, 9001 * US, 1, 2, LDB_STATE_SLEEPING, 0, 0);
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
	made_switch(&t, 500 * US, 0, 0, LDB_STATE_RUNNING, 2, 0);
	made_req(&t, LDB_REQ_OP_START, 2, 1000 * US, 1, 0);
	made_switch(&t, 2000 * US, 0, 2, LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT, 200, 0);
	made_switch(&t, 3000 * US, 0, 200, LDB_STATE_RUNNING, 2, 0);
	made_req(&t, LDB_REQ_OP_END, 2, 4000 * US, 1, 0);
	made_switch(&t, 5000 * US, 0, 2, LDB_STATE_SLEEPING, 0, 0);
	made_open(&t);
	must("no-preempt", NULL);
	is_after(1, 3000 * US, 2000 * US, 2000 * US, "without a preemption");
	forget();
	must("cpus+1", NULL);
	is_after(1, 3000 * US, 2000 * US, 2000 * US, "with another CPU");
	forget();
	made_close(&t);
}

/* Two threads take two locks in different orders: a change makes them meet. */
static void test_deadlock(void)
{
	begin("deadlock.data", 2);
	made_req(&t, LDB_REQ_OP_START, 1, 1000 * US, 1, 0);
	made_hold(&t, 1, LOCK, 1100 * US, 1300 * US, 1);
	made_hold(&t, 1, OTHER, 1200 * US, 1290 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 1, 1300 * US, 1, 0);
	made_req(&t, LDB_REQ_OP_START, 2, 1000 * US, 2, 0);
	made_func(&t, 2, replay_work, NULL, 1, 0, 0, 1000 * US, 2000 * US, 0);
	made_hold(&t, 2, OTHER, 2000 * US, 2300 * US, 1);
	made_hold(&t, 2, LOCK, 2100 * US, 2290 * US, 1);
	made_req(&t, LDB_REQ_OP_END, 2, 2300 * US, 2, 0);
	made_open(&t);
	must_not("replay_work*0.15", "wait for each other");
	made_close(&t);
}

static void test_refusals(void)
{
	struct whatif_options o = WHATIF_OPTIONS_ALL;

	begin("lost.data", 1);
	made_req(&t, LDB_REQ_OP_START, 1, 1000 * US, 1, 0);
	made_req(&t, LDB_REQ_OP_END, 1, 2000 * US, 1, 0);
	writer_add_lost(t.w, &(struct ldb_row_lost){ .tick = 5, .count = 7,
						     .what = LDB_LOST_OVERRUN });
	made_open(&t);
	must_not(NULL, "7 records were lost");
	made_close(&t);

	begin("none.data", 1);
	made_req(&t, LDB_REQ_OP_START, 1, 1000 * US, 1, 0);
	made_open(&t);
	must_not(NULL, "no request ended");
	made_close(&t);

	/* A request that ends on a thread that does nothing else, in a queue that nobody served. */
	begin("off.data", 2);
	made_req(&t, LDB_REQ_OP_START, 1, 1000 * US, 1, 0);
	made_req(&t, LDB_REQ_OP_BLOCK, 1, 1100 * US, 1, QUEUE);
	made_req(&t, LDB_REQ_OP_END, 2, 9000 * US, 1, 0);
	made_open(&t);
	must_not(NULL, "is off by -98.8 %");
	o.class = "nothing";
	ok(whatif_build(t.model, &o, &w, err, sizeof(err)) == -EINVAL &&
	   strstr(err, "this selection"), "no request of a class");
	made_close(&t);
}

/* Rows of any content must not hang it or break it. */
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
	sample_cleanup();
	return done();
}
