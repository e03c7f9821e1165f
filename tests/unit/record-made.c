// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests requests that are made while a recording runs, from calls of functions and from turns of
 * event loops.
 */
#include <limits.h>
#include <linux/ldb.h>
#include <stdio.h>
#include <string.h>
#include "record/requests/made.h"
#include "record/requests/pauses.h"
#include "tap.h"

#define SECOND	1000000

/* text "tTID NAME START-END; " for each request; t is N(ow) or C(ounted) */
static char log_text[4096];
static bool is_counting;	/* true: only counts the requests with is_counted */
static unsigned nr_counted;

static void on_made(void *arg, const struct made_request *r, bool is_counted)
{
	size_t n = strlen(log_text);

	if (is_counting) {
		nr_counted += is_counted;
		return;
	}
	snprintf(log_text + n, sizeof(log_text) - n, "%s%c%u %s %lld-%lld", n ? "; " : "", is_counted ? 'C' : 'N',
		 r->tid, r->name, (long long)r->start, (long long)r->end);
}

static const char *told(void)
{
	static char copy[sizeof(log_text)];

	strcpy(copy, log_text);
	*log_text = '\0';
	return copy;
}

static struct made_requests *make(struct filter *f, const char *words)
{
	struct made_options o = { .words = words, .filter = f, .second = SECOND, .made = on_made };

	told();
	return made_requests_alloc(&o);
}

static void call(struct filter *f, struct made_requests *m, uint64_t pc, int64_t start, int64_t end)
{
	struct ldb_row_func row = { .tid = 7, .pc = pc, .start_max = start, .end_max = end };

	if (filter_wants_func(f, &row))
		made_requests_func(m, &row);
}

static void test_calls(void)
{
	struct filter *f = filter_alloc(1);
	struct made_requests *m = make(f, "serve(int)\nget_*");
	struct ldb_row_func open = { .tid = 7, .pc = 1, .start_max = 1, .end_max = 90, .flags = LDB_FUNC_F_OPEN };
	struct ldb_row_func wide = { .tid = 8, .pc = 1, .start_max = 200, .start_unc = 100, .end_max = 400, .end_unc = 20 };

	f->has_funcs = f->names_all = true;
	call(f, m, 1, 100, 200);
	call(f, m, 2, 110, 190);
	is_str(told(), "", "without names there are no requests");
	filter_name(f, 1, "serve", "a.c", "a");
	filter_name(f, 2, "parse", "a.c", "a");
	filter_name(f, 3, "ns::get_one", "a.c", "a");
	made_requests_poll(m, 300);
	is_str(told(), "N7 serve 100-200", "when a name comes, calls that waited are looked through");
	call(f, m, 3, 300, 350);
	is_str(told(), "", "one that is new waits, too");
	filter_name(f, 3, "ns::get_one", "a.c", "a");
	made_requests_poll(m, 400);
	is_str(told(), "N7 ns::get_one 300-350", "scopes may be left out");
	made_requests_poll(m, 1.5 * SECOND);
	is_str(told(), "C7 serve 100-200; C7 ns::get_one 300-350", "after a second they count");
	/* The caller's row comes after those of its callees. */
	call(f, m, 1, 500, 510);
	call(f, m, 3, 520, 590);
	call(f, m, 1, 550, 560);
	call(f, m, 1, 450, 600);
	told();
	call(f, m, 1, 700, 800);
	is_str(told(), "N7 serve 700-800", "a call with others inside, which comes after them");
	call(f, m, 2, 710, 790);
	made_requests_func(m, &open);
	is_str(told(), "", "others, and those that still run, are none");
	made_requests_func(m, &wide);
	is_str(told(), "N8 serve 150-390", "the bounds are estimates");
	made_requests_poll(m, 3 * SECOND);
	is_str(told(), "C7 serve 450-600; C7 serve 700-800; C8 serve 150-390", "none of those inside counts");
	call(f, m, 99, 5, 6);
	made_requests_finish(m);
	is_str(told(), "", "a function without a name is none");
	is_int(made_requests_forgotten(m), 1, "which is counted");
	made_requests_free(m);
	filter_free(f);
}

static void test_many(void)
{
	struct filter *f = filter_alloc(1);
	struct made_requests *m = make(f, "serve");

	f->has_funcs = f->names_all = true;
	call(f, m, 1, 10, 30);
	filter_name(f, 1, "serve", "a.c", "a");
	made_requests_poll(m, 35);
	call(f, m, 2, 12, 14);
	call(f, m, 1, 40, 50);
	told();
	filter_name(f, 2, "serve", "a.c", "a");
	made_requests_poll(m, 60);
	is_str(told(), "N7 serve 12-14", "one whose name came late");
	made_requests_poll(m, 2 * SECOND);
	is_str(told(), "C7 serve 10-30; C7 serve 40-50", "does not count inside of an earlier one either");
	is_counting = true;
	for (int64_t i = 0; i < 10000; i++)
		call(f, m, 1, 2 * SECOND + 10 * i, 2 * SECOND + 10 * i + 5);
	ok(nr_counted > 5000 && nr_counted < 10000, "of many, the older ones count earlier");
	made_requests_finish(m);
	is_int(nr_counted, 10000, "and each once");
	is_counting = false;
	made_requests_free(m);
	filter_free(f);
}

static void test_turns(void)
{
	struct filter *f = filter_alloc(1);
	struct made_requests *m = make(f, "loop");

	for (int64_t at = 100; at < 400; at += 100) {
		struct ldb_row_syscall wait = { .tid = 7, .start = at, .end = at + 60, .name = "epoll_wait" };
		struct ldb_row_syscall other = { .tid = 7, .start = at + 70, .end = at + 80, .name = "read" };

		made_requests_calls(m, &wait, 1);
		made_requests_calls(m, &other, 1);
	}
	made_requests_poll(m, 500);
	is_str(told(), "N7 loop 160-200; C7 loop 160-200; N7 loop 260-300; C7 loop 260-300", "turns of an event loop");
	made_requests_cut(m, 450);
	made_requests_calls(m, &(struct ldb_row_syscall){ .tid = 7, .start = 500, .end = 510, .name = "poll" }, 1);
	made_requests_poll(m, 600);
	is_str(told(), "", "a turn in which the recording was paused is none");
	made_requests_calls(m, &(struct ldb_row_syscall){ .tid = 7, .start = 700, .end = 710, .name = "poll" }, 1);
	made_requests_poll(m, 800);
	is_str(told(), "N7 loop 510-700; C7 loop 510-700", "the next one begins with a wait");
	made_requests_cut(m, 720);
	made_requests_cut(m, 730);
	made_requests_sched(m, &(struct ldb_row_sched){ .op = LDB_SCHED_OP_SWITCH, .flags = LDB_SCHED_F_OTHER, .other = 7, .tick = 740 }, 1);
	made_requests_calls(m, &(struct ldb_row_syscall){ .tid = 7, .start = 750, .end = 750, .name = "poll",
			    .flags = LDB_SYSCALL_F_SLEEP }, 1);
	made_requests_calls(m, &(struct ldb_row_syscall){ .tid = 8, .start = 750, .end = 755, .name = "poll" }, 1);
	made_requests_sched(m, &(struct ldb_row_sched){ .op = LDB_SCHED_OP_SWITCH, .flags = LDB_SCHED_F_OTHER, .other = 7, .tick = 760 }, 1);
	made_requests_calls(m, &(struct ldb_row_syscall){ .tid = 7, .start = 770, .end = 780, .name = "poll" }, 1);
	made_requests_poll(m, 800);
	is_str(told(), "N7 loop 760-770; C7 loop 760-770", "a switch right behind a pause does not begin one");
	made_requests_sched(m, &(struct ldb_row_sched){ .op = LDB_SCHED_OP_EXIT, .tid = 7, .tick = 800 }, 1);
	made_requests_poll(m, 810);
	made_requests_calls(m, &(struct ldb_row_syscall){ .tid = 7, .start = 900, .end = 910, .name = "poll" }, 1);
	made_requests_calls(m, &(struct ldb_row_syscall){ .tid = 8, .start = 900, .end = 910, .name = "poll" }, 1);
	made_requests_poll(m, 1000);
	is_str(told(), "N8 loop 755-900; C8 loop 755-900", "a new thread does not go on with the turn of one that exited");
	made_requests_free(m);
	filter_free(f);
}

static void test_paused_calls(void)
{
	struct filter *f = filter_alloc(1);
	struct made_requests *m = make(f, "serve");
	struct pauses pauses = { .nr = 0 };

	f->has_funcs = f->names_all = true;
	made_requests_on_pauses(m, &pauses);
	call(f, m, 1, 10, 30);
	filter_name(f, 1, "serve", "a.c", "a");
	pauses_begin(&pauses, 100);
	pauses_end(&pauses, 200);
	pauses_begin(&pauses, 300);
	call(f, m, 1, 90, 120);
	call(f, m, 1, 150, 220);
	call(f, m, 1, 205, 290);
	call(f, m, 1, 250, 310);
	pauses_end(&pauses, 400);
	call(f, m, 1, 420, 430);
	made_requests_poll(m, 450);
	is_str(told(), "N7 serve 205-290; N7 serve 420-430; N7 serve 10-30", "calls in which the recording was paused are none");
	for (int64_t at = 1000; at < 1000 + 100 * 2 * PAUSES_KEPT; at += 100) {
		pauses_begin(&pauses, at);
		pauses_end(&pauses, at + 10);
	}
	ok(pauses_are_at(&pauses, 1000 + 100 * (2 * PAUSES_KEPT - 1) + 9) && pauses_are_at(&pauses, 1000 + 100 * PAUSES_KEPT),
	   "late rows of many pauses are recognised");
	ok(!pauses_are_at(&pauses, 1000 + 100 * PAUSES_KEPT + 10) && !pauses_are_at(&pauses, 1000000), "and those between and behind them");
	made_requests_free(m);
	filter_free(f);
}

int main(void)
{
	ok(!made_requests_are(NULL) && !made_requests_are("tags") && !made_requests_are("socket"), "tags are not made");
	ok(made_requests_are("loop") && made_requests_are("serve"), "others are");
	test_calls();
	test_many();
	test_turns();
	test_paused_calls();
	return done();
}
