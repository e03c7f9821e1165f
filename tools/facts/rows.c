// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include "base/window.h"
#include "rows.h"
#include "ticks.h"

static const size_t sizes[] = {
#define ROWS(KIND, name, when, bulk, columns)	[LDB_BLK_##KIND] = sizeof(struct ldb_row_##name),
#include "trace/schemas.def"
};

struct sink {
	row_function *row;
	void *arg;
};

static int on_rows(void *arg, const struct reader_rows *rows)
{
	const struct sink *sink = arg;
	const char *row = rows->rows;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++, row += sizes[rows->kind])
		ret = sink->row(sink->arg, row);
	return ret;
}

int rows_each(struct reader *r, unsigned kind, const struct reader_filter *filter,
	      row_function *row, void *arg)
{
	struct sink sink = { row, arg };

	return reader_each(r, kind, filter, on_rows, &sink);
}

/* The members of REQ rows that callers of rows_by_time() read, which are the first ones. */
#define REQ_BYTES	offsetof(struct ldb_row_req, gen)

/*
 * Adds REQ rows to the window in which they are sorted.  This must be fast: there may be millions.
 */
static int add_reqs(void *window, const struct reader_rows *rows)
{
	struct ldb_row_req row;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		memcpy(&row, &rows->req[i], REQ_BYTES);
		row.tick = ticks_sane(row.tick);
		ret = window_add(window, &row, row.tick);
	}
	return ret;
}

static int add_scheds(void *window, const struct reader_rows *rows)
{
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		struct ldb_row_sched row = rows->sched[i];

		row.tick = ticks_sane(row.tick);
		ret = window_add(window, &row, row.tick);
	}
	return ret;
}

int rows_by_time(struct reader *r, unsigned kind, const struct reader_filter *filter,
		 row_function *row, void *arg)
{
	struct reader_filter selected = filter ? *filter : (struct reader_filter)READER_FILTER_ALL;
	struct window window;
	int ret;

	window_init(&window, kind == LDB_BLK_REQ ? REQ_BYTES : sizes[kind], row, arg);
	selected.bytes = kind == LDB_BLK_REQ ? REQ_BYTES : 0;
	ret = reader_each(r, kind, &selected, kind == LDB_BLK_REQ ? add_reqs : add_scheds, &window);
	if (!ret)
		ret = window_finish(&window);
	window_free(&window);
	return ret;
}
