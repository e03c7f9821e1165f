// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the filter by which the recorder leaves out short calls of some functions. */
#include <stdio.h>
#include "record/filter/filter.h"
#include "tap.h"

/* Returns true if a call of the function at pc, which took this many ns, is recorded. */
static bool wants(struct filter *f, uint64_t pc, int64_t ns)
{
	struct ldb_row_func row = { .pc = pc, .start_max = 1000, .end_max = 1000 + ns };

	return filter_wants_func(f, &row);
}

/* A program may change the limit of a function any number of times. */
static void test_changed(void)
{
	struct filter *f = filter_alloc(1);
	const char *why = NULL;

	ok(wants(f, 1, 5), "a function without a limit is recorded");
	filter_name(f, 1, "parse", "a.c", "a");
	for (unsigned i = 0; i < 1000 && !why; i++)
		why = filter_set_shortest(f, i % 2 ? "parse" : "get_*", i + 1);
	ok(!why, "limits can be changed 1000 times");
	ok(!wants(f, 1, 999) && wants(f, 1, 1000), "the last limit applies");
	filter_set_shortest(f, "*", 10);
	ok(!wants(f, 1, 9) && wants(f, 1, 10), "so does one of another glob");
	filter_set_shortest(f, "parse", 50);
	ok(!wants(f, 1, 49) && wants(f, 1, 50), "and an earlier glob, when it is set again");
	filter_free(f);
}

static void test_too_many(void)
{
	struct filter *f = filter_alloc(1);
	const char *why = NULL;
	unsigned nr = 0;
	char glob[16];

	while (!why && nr < 1000) {
		snprintf(glob, sizeof(glob), "f%u", nr++);
		why = filter_set_shortest(f, glob, 1);
	}
	is_str(why, "there are too many functions with a least latency", "different globs are limited");
	ok(!filter_set_shortest(f, "f0", 2), "those that exist can still be changed");
	filter_free(f);
}

int main(void)
{
	test_changed();
	test_too_many();
	return done();
}
