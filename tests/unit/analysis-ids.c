// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which recorded id each request has, if requests are calls: with rows made here, without a
 * kernel.
 */
#include <inttypes.h>
#include "analysis/tracks/request-source.h"
#include "facts/instances.h"
#include "trace/request-words.h"
#include "analysis-sample.h"

#define FROM	((const void *)0x4711)	/* return address of the calls */
#define ERROR	"100"			/* ns */

static struct made t;
static char said[1024];

__attribute__((noipa)) void handled(void)
{
}

static void begin(const char *lost)
{
	made_begin(&t, "ids.data");
	made_thread(&t, 1, "", 0, 900000);
	writer_add_meta(t.w, "ids_err_ns", ERROR);
	if (lost)
		writer_add_meta(t.w, "ids_lost", lost);
}

/*
 * Adds a call that the scanner observed for the first time a given number of ticks after its start.
 */
static void call(int64_t start, int64_t end, int64_t after)
{
	static unsigned gen;

	made_func(&t, .tid = 1, .pc = handled, .ret = FROM, .gen = ++gen, .start = start, .end = end, .unc = 2 * after);
}

static void hit_of(int64_t tick, const void *from, const char *marks, const char *function, uint64_t id)
{
	struct ldb_row_event row = { .tid = 1, .tick = tick, .value = id };
	char name[128];

	snprintf(name, sizeof(name), REQUEST_ID_EVENT "%" PRIxPTR "%s %s", (uintptr_t)from, marks, function);
	row.name = name;
	writer_add_event(t.w, &row);
}

static void hit(int64_t tick, const char *marks, uint64_t id)
{
	hit_of(tick, FROM, marks, "handled", id);
}

static int on_instance(void *arg, struct instance *instance)
{
	size_t n = strlen(said);

	if (instance->id >> 63)
		snprintf(said + n, sizeof(said) - n, "%sunknown", n ? " " : "");
	else
		snprintf(said + n, sizeof(said) - n, "%s%" PRIu64, n ? " " : "", instance->id);
	return 0;
}

/* Returns the ids of all requests, in order. */
static const char *ids(void)
{
	const char *name = "handled";
	struct instances_result result;
	char err[256] = "";

	made_open(&t);
	if (!request_source_open(t.model, &name, 1, err, sizeof(err)))
		diag("%s", err);
	*said = '\0';
	if (instances_each(t.model, on_instance, NULL, &result))
		bail_out("instances");
	return said;
}

static void test_plain(void)
{
	begin("0");
	hit(1000, "", 71);
	call(1010, 5000, 500);
	hit(6000, "", 72);		/* the scanner did not observe the call */
	hit(10000, "", 73);
	hit_of(10010, FROM, "", "another", 1);
	hit_of(10020, (const void *)0x4712, "", "handled", 2);
	call(10010, 15000, 500);
	hit(16000, "", 0);
	call(16010, 17000, 300);
	is_str(ids(), "71 73 0", "the last call before, of this function, from this place");
	ok(t.model->requests_of->has_ids && !t.model->requests_of->nr_without_id, "all are known");
	made_close(&t);
}

static void test_nowhere(void)
{
	begin("0");
	hit(1000, "", 71);
	hit(5000, "-", 0);
	call(5010, 9000, 500);
	hit(10000, "", 72);
	call(10010, 15000, 500);
	is_str(ids(), "unknown 72", "a call without an id does not have that of an earlier one");
	is_int(t.model->requests_of->nr_without_id, 1, "and is counted");
	made_close(&t);
}

static void test_lost(void)
{
	begin("1");
	hit(1000, "", 71);
	call(1010, 5000, 500);
	is_str(ids(), "1", "where one was lost, none is certain");
	ok(!t.model->requests_of->has_ids && t.model->requests_of->why_no_ids, "it says so");
	made_close(&t);

	begin(NULL);
	hit(1000, "", 71);
	call(1010, 5000, 500);
	is_str(ids(), "1", "nor where nobody knows");
	made_close(&t);

	begin(NULL);
	writer_add_meta(t.w, "flight", "1 1");
	hit(1000, "", 71);
	call(101010, 105000, 50);
	hit(201000, "", 72);
	call(251010, 255000, 500);
	hit(280000, "", 73);
	call(401010, 405000, 500);
	is_str(ids(), "71 72 unknown", "a flight recording's dump says so, but not of the last ones");
	made_close(&t);
}

/* The scanner observes the calls at 2000 and at 12000. */
static void test_near(void)
{
	begin("0");
	hit(1000, "", 71);
	hit(1950, "", 72);
	call(1500, 5000, 500);
	hit(10000, "", 73);
	hit(12050, "", 74);
	call(11500, 15000, 500);
	hit(20000, "", 75);
	call(20010, 25000, 500);
	is_str(ids(), "unknown unknown 75", "not the one before, if another one began when it was observed");
	made_close(&t);

	begin("0");
	hit(1000, "", 71);
	hit(2200, "?", 72);
	call(1500, 5000, 500);
	hit(11950, "", 73);
	call(11500, 15000, 500);
	is_str(ids(), "71 unknown", "one inside that began later is another one; of two before, none");
	made_close(&t);

	begin("0");
	hit(1000, "", 71);
	call(1010, 1400, 30);
	hit(1950, "", 72);
	call(1900, 5000, 100);
	is_str(ids(), "71 72", "the only one that is left began when it was seen");
	made_close(&t);

	begin("0");
	hit(1000, "", 71);
	hit(3000, "", 72);
	call(1500, 5000, 500);
	is_str(ids(), "unknown", "another one cannot have begun while it was seen");
	made_close(&t);
}

static void test_inner(void)
{
	begin("0");
	hit(1000, "", 71);
	hit(1200, "?", 72);
	call(1500, 5000, 500);
	hit(10000, "?", 73);
	call(10010, 15000, 500);
	is_str(ids(), "unknown 73", "a call that may be inside of another one");
	made_close(&t);
}

static void test_cut(void)
{
	begin("0");
	hit(1000, "", 0);
	call(1010, 50000, 500);
	writer_add_lost(t.w, &(struct ldb_row_lost){ .tick = 20000, .what = LDB_LEFT_PAUSE, .count = 10000 });
	made_req(&t, .op = LDB_REQ_OP_CUT, .tick = 10000);
	made_req(&t, .op = LDB_REQ_OP_CUT, .tick = 20000);
	is_str(ids(), "unknown", "id 0, cut by a pause");
	made_close(&t);
}

int main(void)
{
	test_plain();
	test_nowhere();
	test_lost();
	test_near();
	test_inner();
	test_cut();
	return done();
}
