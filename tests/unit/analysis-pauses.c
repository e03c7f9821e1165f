// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that nothing is reported about the time of a pause, and that this does not depend on which
 * part of the trace is read.
 */
#include "analysis/tracks/request-source.h"
#include "facts/instances.h"
#include "facts/pauses.h"
#include "facts/sched.h"
#include "analysis-sample.h"

enum { S = LDB_STATE_SLEEPING };

static struct made t;
static char said[1024];

static void say(const char *format, ...)
{
	size_t n = strlen(said);
	va_list args;

	va_start(args, format);
	vsnprintf(said + n, sizeof(said) - n, format, args);
	va_end(args);
}

static void pause_is(int64_t begin, int64_t end)
{
	writer_add_lost(t.w, &(struct ldb_row_lost){ .tick = end, .what = LDB_LEFT_PAUSE, .count = end - begin });
	made_req(&t, .op = LDB_REQ_OP_CUT, .tick = begin);
	made_req(&t, .op = LDB_REQ_OP_CUT, .tick = end);
}

/* Kernel events */

static int on_off(void *arg, const struct sched_off *off)
{
	say("%soff %u %ld%s-%ld%s%s", *said ? "; " : "", off->tid, (long)off->out, off->has_out ? "" : "?",
	    (long)off->in, off->has_in ? "" : "?", off->has_lost ? " lost" : "");
	return 0;
}

static int on_run(void *arg, const struct sched_run *run)
{
	say("%srun %u %ld%s-%ld%s", *said ? "; " : "", run->tid, (long)run->start, run->has_start ? "" : "?",
	    (long)run->end, run->has_end ? "" : "?");
	return 0;
}

static const char *sched_within(int64_t from, int64_t to, bool runs)
{
	struct sched_sink sink = { .off = runs ? NULL : on_off, .run = runs ? on_run : NULL };
	struct sched_result result;

	*said = '\0';
	if (sched_each(t.model, from, to, &sink, &result))
		bail_out("sched_each");
	return said;
}

static void test_sched(void)
{
	made_begin(&t, "sched");
	for (uint32_t tid = 1; tid <= 3; tid++)
		made_thread(&t, tid, "", 0, 9000);
	made_switch(&t, .tick = 500, .cpu = 0, .prev = 1, .state = S);
	made_switch(&t, .tick = 600, .cpu = 1, .next = 2);
	made_switch(&t, .tick = 700, .cpu = 2, .prev = 3, .state = S);
	pause_is(2000, 5000);
	made_switch(&t, .tick = 5300, .cpu = 0, .prev = 1, .state = S);
	made_switch(&t, .tick = 5600, .cpu = 1, .next = 2);
	pause_is(6000, 6500);
	made_switch(&t, .tick = 7000, .cpu = 1, .prev = 2, .state = S);
	made_open(&t);
	is_int(t.model->pauses.nr, 2, "pauses have their times");
	is_str(sched_within(INT64_MIN, INT64_MAX, false),
	       "off 2 0?-600 lost; off 3 700-2000? lost; off 1 500-2000? lost; off 2 5000?-5600 lost; off 1 5300-6000? lost; off 2 7000-9000?",
	       "a sleep ends where a pause begins, and after it nothing is known");
	is_str(sched_within(INT64_MIN, INT64_MAX, true),
	       "run 1 0?-500; run 3 0?-700; run 2 600-2000?; run 1 5000?-5300; run 2 5600-6000?; run 2 6500?-7000",
	       "nor did anything run in it");
	is_str(sched_within(4000, 5900, false), "off 2 5000?-5600 lost; off 1 5300-5900? lost", "a part that begins in a pause");
	is_str(sched_within(5000, 5900, false), "off 2 5000?-5600 lost; off 1 5300-5900? lost", "one that begins where it ends");
	is_str(sched_within(100, 3000, true), "run 1 100?-500; run 3 100?-700; run 2 600-2000?", "one that ends in it");
	made_close(&t);
}

/* Requests */

static int on_instance(void *arg, struct instance *instance)
{
	say("%s%lu %ld-%ld%s", *said ? "; " : "", (unsigned long)instance->id, (long)instance->start,
	    (long)instance->end,
	    instance->is_complete ? "" : "?");
	return 0;
}

static const char *instances(int64_t from, int64_t to)
{
	struct instances_result result;

	*said = '\0';
	if (from == INT64_MIN ? instances_each(t.model, on_instance, NULL, &result) :
				instances_within(t.model, from, to, on_instance, NULL, &result))
		bail_out("instances");
	return said;
}

static void test_instances(void)
{
	made_begin(&t, "instances");
	made_thread(&t, 1, "", 0, 9000);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 100, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 200, .id = 8);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 300, .id = 8);
	pause_is(1000, 2000);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 2100, .id = 9);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 3000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 3100, .id = 6);
	made_req(&t, .op = LDB_REQ_OP_BLOCK, .tid = 1, .tick = 3200, .id = 8, .queue = 4);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 3300, .id = 9);
	made_open(&t);
	is_str(instances(INT64_MIN, INT64_MAX), "8 200-300; 7 100-1000?; 9 2100-3300; 8 3200-9000?",
	       "a pause cuts requests");
	is_str(instances(2500, 3400), "9 2500-3300; 8 3200-9000?", "also those that end in a part behind it");
	is_str(instances(250, 400), "8 250-300", "before it, parts are as they were");
	is_int(pauses_cut(t.model, 0, 999), INT64_MIN, "no cut before the pause");
	is_int(pauses_cut(t.model, 0, 1500), 1000, "one at its start");
	is_int(pauses_cut(t.model, 0, 2000), 2000, "one at its end");
	made_close(&t);
}

/* There are two processes with a thread each; the recording of the first one is paused. */
static void test_processes(void)
{
	made_begin(&t, "joined");
	writer_add_meta(t.w, "pid", "1");
	for (uint32_t pid = 1; pid <= 2; pid++) {
		writer_add_process(t.w, &(struct ldb_row_process){
			.number = pid - 1, .pid = pid, .end = 9000, .name = "p", .cmdline = "", .host = "", .ended = "",
		});
		writer_add_thread(t.w, &(struct ldb_row_thread){ .tid = pid, .pid = pid, .end = 9000, .name = "" });
	}
	made_switch(&t, .tick = 500, .cpu = 0, .next = 1);
	made_switch(&t, .tick = 600, .cpu = 1, .next = 2);
	made_switch(&t, .tick = 1500, .cpu = 0, .prev = 1, .state = S);
	made_switch(&t, .tick = 1600, .cpu = 1, .prev = 2, .state = S);
	writer_add_lost(t.w, &(struct ldb_row_lost){ .tick = 5000, .what = LDB_LEFT_PAUSE, .count = 3000, .ring = 1 });
	made_switch(&t, .tick = 6000, .cpu = 1, .next = 2);
	made_switch(&t, .tick = 7000, .cpu = 0, .next = 1);
	made_open(&t);
	is_str(sched_within(INT64_MIN, INT64_MAX, false),
	       "off 1 0?-500 lost; off 2 0?-600 lost; off 1 1500-2000? lost; off 2 1600-6000 lost; off 1 5000?-7000 lost",
	       "a pause ends the sleeps of its process");
	is_str(sched_within(3000, INT64_MAX, false), "off 2 3000?-6000 lost; off 1 5000?-7000 lost",
	       "also if it began before the part that is read");
	ok(pauses_between(t.model, 1, 1000, 3000) && !pauses_between(t.model, 2, 1000, 3000) &&
	   !pauses_between(t.model, 0, 1000, 3000), "it is of one process");
	is_int(pauses_cut(t.model, 1, 6000), 5000, "whose requests it cuts");
	is_int(pauses_cut(t.model, 2, 6000), INT64_MIN, "and not those of the other one");
	made_close(&t);
}

static const char *made_of(const char *name)
{
	char err[256] = "";

	if (!request_source_open(t.model, &name, 1, err, sizeof(err)))
		diag("%s", err);
	return instances(INT64_MIN, INT64_MAX);
}

static void test_calls(void)
{
	made_begin(&t, "calls");
	made_thread(&t, 1, "", 0, 90000);
	made_func(&t, .tid = 1, .pc = test_instances, .gen = 1, .start = 1000, .end = 2000);
	made_func(&t, .tid = 1, .pc = test_instances, .gen = 2, .start = 3000, .end = 50000);
	made_func(&t, .tid = 1, .pc = test_instances, .gen = 3, .start = 55000, .end = 60000);
	/* This call began during the second pause. */
	made_func(&t, .tid = 1, .pc = test_instances, .gen = 4, .start = 75000, .end = 85000, .unc = 9900);
	pause_is(10000, 20000);
	pause_is(70000, 80000);
	made_open(&t);
	is_str(made_of("test_instances"), "1 1000-2000; 2 3000-10000?; 3 55000-60000",
	       "a call in which the recording is paused is cut, one that began in a pause is no request");
	made_close(&t);
}

static void test_turns(void)
{
	made_begin(&t, "turns");
	made_thread(&t, 1, "", 0, 90000);
	writer_add_meta(t.w, "kernel_syscalls", "all");
	for (int64_t at = 1000; at < 90000; at += 6000) {
		if (at < 20000 || at > 40000)
			made_call(&t, .tid = 1, .start = at, .end = at + 1000, .name = "epoll_wait");
	}
	pause_is(21000, 40000);
	made_open(&t);
	is_str(made_of("loop"), "1 2000-7000; 2 8000-13000; 3 14000-19000; 4 20000-21000?; 5 44000-49000; 6 50000-55000; "
	       "7 56000-61000; 8 62000-67000; 9 68000-73000; 10 74000-79000; 11 80000-85000; 12 86000-90000?",
	       "a turn is cut by a pause, and the next one begins with a wait behind it");
	made_close(&t);
}

int main(void)
{
	test_sched();
	test_instances();
	test_processes();
	test_calls();
	test_turns();
	return done();
}
