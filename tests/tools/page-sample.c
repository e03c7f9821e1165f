// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a page with values that are hard to encode: page-sample FILE.html.
 * tests/browser/page.js checks the values that the page reads.
 */
#include <stdlib.h>
#include <string.h>

#include "page/page.h"

#define BIG	100000

static const char hostile[] = "</script><script>window.owned=1</script><!-- \" \\ \n\xff\xe2\x82\xac";

int main(int argc, char **argv)
{
	static const int64_t none[1], plain[] = { 0, 1, 255, 256, 65535, 1 << 24, 4294967295 };
	static const int64_t negative[] = { -1, 0, 1, -128, 127, -2147483648, 2147483647 };
	static const int64_t wide[] = { 4294967296, (1LL << 53) - 1, 0, 4294967295, 1LL << 40 };
	static const int64_t down[] = { -1, -4294967296, -((1LL << 53) - 1), 5, -(1LL << 40) };
	static const int64_t steps[] = { 9007199254740991, 9007199254740990, 0, 1, -9007199254740991,
		1000000000000, 1000000000001 };
	static const char *const assets[] = { NULL };
	static int64_t big[2 * BIG];
	const struct page_options options = { .title = hostile, .assets = assets };
	struct page_column columns[] = {
		{ .name = "none", .values = none, .nr = 0 }, { .name = "plain", .values = plain, .nr = 7 },
		{ .name = "negative", .values = negative, .nr = 7 },
		{ .name = "wide", .values = wide, .nr = 5 }, { .name = "down", .values = down, .nr = 5 },
		{ .name = "steps", .values = steps, .nr = 7, .is_delta = true },
		{ .name = "zeros", .values = (const int64_t[3]){ 0 }, .nr = 3 },
		{ .name = "odd", .values = big + 1, .nr = BIG, .stride = 2, .is_delta = true },
		{ .name = "even", .values = big, .nr = BIG, .stride = 2 },
	};
	FILE *f = argc == 2 ? fopen(argv[1], "w") : NULL;
	struct page p;
	struct json *j;

	if (!f) {
		fputs("usage: page-sample FILE.html\n", stderr);
		return 2;
	}
	for (int i = 0; i < BIG; i++) {
		big[2 * i] = (i * 2654435761u) % 1000003;
		big[2 * i + 1] = i * 1000003LL - big[2 * i];
	}
	page_begin(&p, f, &options);
	j = page_json_begin(&p, "data");
	json_string(j, "hostile", hostile);
	json_string(j, hostile, "a key, too");
	page_json_end(&p);
	if (page_columns(&p, "numbers", columns, sizeof(columns) / sizeof(columns[0])))
		return 1;
	page_end(&p);
	return fclose(f) ? 1 : 0;
}
