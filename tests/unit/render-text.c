// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests pieces of text: widths, control characters, numbers. */
#include <unistd.h>
#include "cli/units.h"
#include "render/render.h"
#include "render/text.h"
#include "tap.h"

static char got[4096];

static const char *cell(const char *s, unsigned width, bool is_padded)
{
	struct render r = { .out = fmemopen(got, sizeof(got), "w"), .width = 80 };

	text_cell(&r, s, width, is_padded);
	fclose(r.out);
	return got;
}

static void test_cells(void)
{
	char long_name[3000];

	is_str(cell("abc", 5, true), "abc  ", "filled up");
	is_str(cell("abc", 5, false), "abc", "or not");
	is_str(cell("abcde", 5, true), "abcde", "fits");
	is_str(cell("abcdef", 5, true), "abcd~", "cut");
	is_str(cell("\xc3\xa4\xc3\xb6\xc3\xbc", 3, true), "\xc3\xa4\xc3\xb6\xc3\xbc", "UTF-8 counts characters");
	is_str(cell("\xc3\xa4\xc3\xb6\xc3\xbc", 2, true), "\xc3\xa4~", "and is not cut inside one");
	is_str(cell("a\033[31mb\n\x7f", 20, false), "a?[31mb??", "nothing steers the terminal");
	is_str(cell("a\xc2\x9b" "b\xc2\x80" "c\xc2\x9f" "d\xc2\xa0", 20, false),
	       "a?b?c?d\xc2\xa0", "nor do C1 controls");
	is_str(cell("a\x9b" "b\x80\x9f" "c\xc2", 20, false), "a?b??c?", "nor those as bytes");
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	is_int(strlen(cell(long_name, 30, true)), 30, "long names");
}

static void test_numbers(void)
{
	char buf[UNITS_ROOM];

	is_str(text_ns(0, buf), "0ns", "0 ns");
	is_str(text_ns(613, buf), "613ns", "613 ns");
	is_str(text_ns(12345, buf), "12.3us", "12.3 us");
	is_str(text_ns(69528187, buf), "69.5ms", "69.5 ms");
	for (int64_t ns = 1; ns < INT64_MAX / 3; ns = ns * 3 + 1)
		if (strlen(text_ns(ns, buf)) > 7 && ns < 1000000000000000)
			ok(false, "%s is wider than a column", buf);
	is_str(text_share(0, 0, buf), "100 %", "nothing of nothing");
	is_str(text_share(1, 2, buf), "50.0 %", "half");
	is_str(text_share(1, 1000000, buf), "<0.1 %", "not 0");
	is_str(text_share(999999, 1000000, buf), ">99.9 %", "not all");
	is_str(text_share(7, 7, buf), "100 %", "all");
	is_str(text_share(0, 7, buf), "0 %", "none");
}

static void test_places(void)
{
	struct symbol s = { .function = "a\033b", .file = "", .known = true };
	char buf[TEXT_ROOM];

	is_str(text_place("/usr/src/a.c", 7, buf), "a.c:7", "base name and line");
	is_str(text_place("", 7, buf), "", "no file");
	is_str(text_function(&s, buf), "a?b()", "a function");
	is_str(text_site(&s, buf), "a?b()", "a call site without a line");
	s.known = false;
	is_str(text_function(&s, buf), "a?b", "an address");
	is_str(text_site(NULL, buf), "", "nothing known");
	s.known = true;
	s.function = "lock";
	is_str(text_lock(LDB_LOCK_MUTEX, 0x10, &s, buf), "mutex 0x10 (lock)", "a lock");
	is_str(text_lock(LDB_LOCK_OWN, 0x10, &s, buf), "own_lock 0x10 (lock)", "one of the program's own");
	is_str(text_lock(99, 0x10, NULL, buf), "lock 0x10", "a lock of another kind");
}

static void test_color(void)
{
	int fds[2];
	struct render r;
	FILE *f;

	if (pipe(fds))
		bail_out("pipe");
	f = fdopen(fds[1], "w");
	setenv("COLUMNS", "90", 1);
	render_init(&r, f);
	ok(!r.has_color && r.width == 90, "no colour into a pipe; $COLUMNS");
	setenv("COLUMNS", "3", 1);
	render_init(&r, f);
	ok(r.width >= 60, "never too narrow");
	setenv("COLUMNS", "x", 1);
	render_init(&r, f);
	is_int(r.width, 120, "$COLUMNS that is no number");
	fclose(f);
}

static void test_sort(void)
{
	static const char *const keys[] = {
		"p9999", "p999", "p99", "p50", "max", "mean", "total", "count", "resolution", "open",
		"function", "caller", "file", "line", "module", NULL
	};
	struct symbol f = { .function = "f", .raw = "", .file = "", .func_file = "", .module = "",
			    .path = "" };
	struct symbol g = f;
	struct stats_entry a = { .func = &f, .site = &f, .p50_ns = 1, .total_ns = 9 };
	struct stats_entry b = { .func = &g, .site = &f, .p50_ns = 2, .total_ns = 8 };
	const struct stats_entry *rows[] = { &a, &b };

	g.function = "g";
	functions_sort(rows, 2, "p50");
	ok(rows[0] == &b, "the greater number first");
	functions_sort(rows, 2, "total");
	ok(rows[0] == &a, "by total");
	b.total_ns = 9;
	functions_sort(rows, 2, "total");
	ok(rows[0] == &a, "what is equal is sorted by name");
	functions_sort(rows, 2, "p50");
	functions_sort(rows, 2, "function");
	ok(rows[0] == &a, "names from a to z");
	for (size_t i = 0; keys[i]; i++) {
		ok(functions_sort_key(i) && !strcmp(functions_sort_key(i), keys[i]), "--sort=%s is a column",
		   keys[i]);
		functions_sort(rows, 2, functions_sort_key(i));
	}
	ok(!functions_sort_key(15), "there are no more");
}

int main(void)
{
	test_cells();
	test_numbers();
	test_places();
	test_color();
	test_sort();
	return done();
}
