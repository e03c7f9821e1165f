// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/window.h"
#include "ordered.h"
#include "ticks.h"

static int add_reqs(void *arg, const struct reader_rows *rows)
{
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		struct ldb_row_req row = rows->req[i];

		row.tick = ticks_sane(row.tick);
		ret = window_add(arg, &row, row.tick);
	}
	return ret;
}

static int add_scheds(void *arg, const struct reader_rows *rows)
{
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		struct ldb_row_sched row = rows->sched[i];

		row.tick = ticks_sane(row.tick);
		ret = window_add(arg, &row, row.tick);
	}
	return ret;
}

int ordered_each(struct model *m, unsigned kind, const struct reader_filter *filter,
		 int (*row)(void *arg, const void *row), void *arg)
{
	bool is_req = kind == LDB_BLK_REQ;
	struct window window;
	int ret;

	window_init(&window, is_req ? sizeof(struct ldb_row_req) : sizeof(struct ldb_row_sched),
		    row, arg);
	ret = reader_each(m->reader, kind, filter, is_req ? add_reqs : add_scheds, &window);
	if (!ret)
		ret = window_finish(&window);
	window_free(&window);
	return ret;
}
