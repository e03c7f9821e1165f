// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests tables that retain their greatest rows, and which outputs are pages. */
#include "page/page.h"
#include "page/store.h"
#include "tap.h"

static void test_store(void)
{
	struct page_column columns[STORE_COLUMNS_MAX];
	struct store s;
	bool in_order = true;
	int64_t sum = 0;

	store_init(&s, "id+ weight");
	store_limit(&s, 1, 10);
	is_int(s.nr_columns, 2, "columns");
	is_int(store_columns(&s, columns, 0), 2, "all of them are written");
	ok(!strncmp(columns[0].name, "id", columns[0].name_length) && columns[0].name_length == 2 &&
	   columns[0].is_delta && columns[1].name_length == 6 && !columns[1].is_delta,
	   "by name, with what resembles the row before");
	/* The weights are 0 to 99 in some order, each twice. */
	for (int i = 0; i < 200; i++)
		if (store_add(&s, (int64_t[]){ i, i * 37 % 100 }))
			bail_out("store_add");
	ok(s.nr <= 20, "never more than twice as many");
	store_prune(&s);
	is_int(s.nr, 10, "as many as may stay");
	for (size_t i = 0; i < s.nr; i++) {
		sum += store_row(&s, i)[1];
		in_order &= !i || store_row(&s, i)[0] > store_row(&s, i - 1)[0];
	}
	is_int(sum, 2 * (99 + 98 + 97 + 96 + 95), "the greatest, each");
	ok(in_order, "in their order");
	is_int(s.nr_dropped, 190, "the rest is counted");
	is_int(s.dropped_below, 94, "and how great it was");
	store_free(&s);

	store_init(&s, "id- weight");
	store_limit(&s, 1, 3);
	for (int i = 0; i < 8; i++)
		store_add(&s, (int64_t[]){ i, 7 });
	store_prune(&s);
	is_int(s.nr, 3, "of equal ones as many");
	is_int(store_columns(&s, columns, 1), 2, "those for the inside are not written");
	store_free(&s);
}

int main(void)
{
	test_store();
	ok(page_is_wanted("a.html") && page_is_wanted("b/c.HTM") && !page_is_wanted("html") &&
	   !page_is_wanted("a.html.json") && !page_is_wanted(NULL), "which outputs are pages");
	ok(embed_find("page.js") && embed_find("page.js")->end > embed_find("page.js")->data,
	   "page.js is built in");
	ok(!embed_find("nothing.js"), "what is not");
	return done();
}
