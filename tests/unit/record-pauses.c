// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests that late events from the time of a pause are not recorded. */
#include "recording-sample.h"

static void event(unsigned type, uint64_t tick, uint64_t id)
{
	struct ldb_rec recs[3] = { { .tsc = tick, .tid = TID, .type = type, .arg = id } };

	recs[1].type = LDB_EV_CONT + 1;
	recs[2].type = LDB_EV_CONT + 2;
	pack_event(pack, 0, recs);
}

static const char *rows_of(struct reader *r, unsigned kind)
{
	struct cursor *c = reader_cursor(r, kind, NULL);
	struct reader_rows rows;
	static char text[512];
	size_t n = 0;

	*text = '\0';
	while (cursor_next(c, &rows) > 0)
		for (size_t i = 0; i < rows.nr && n < sizeof(text); i++)
			if (kind == LDB_BLK_REQ)
				n += snprintf(text + n, sizeof(text) - n, "%u@%ld ", rows.req[i].op, (long)rows.req[i].tick);
			else
				n += snprintf(text + n, sizeof(text) - n, "%ld ", (long)rows.reqname[i].tick);
	cursor_close(c);
	return text;
}

int main(void)
{
	const char *path = sample_path("pauses");
	struct threads_total total;
	struct reader *r;

	recording_begin(path);
	event(LDB_EV_REQ_START, 100, 1);
	pack_pause(pack, 200);
	event(LDB_EV_REQ_START, 250, 2);
	event(LDB_EV_REQ_CLASS, 260, 2);
	event(LDB_EV_REQ_END, 270, 1);
	event(LDB_EV_WAKEUP, 280, 0);
	pack_resume(pack, 300);
	event(LDB_EV_REQ_START, 310, 3);
	pack_pause(pack, 400);
	pack_resume(pack, 500);
	event(LDB_EV_REQ_ARRIVED, 299, 4);
	event(LDB_EV_REQ_END, 399, 3);
	event(LDB_EV_REQ_CLASS, 300, 3);
	event(LDB_EV_REQ_END, 400, 3);
	r = recording_end(path, &total);
	is_str(rows_of(r, LDB_BLK_REQ), "1@100 64@200 64@300 1@310 3@399 64@400 64@500 ", "tags of a pause are dropped, also late ones");
	is_str(rows_of(r, LDB_BLK_REQNAME), "300 ", "and classes");
	reader_close(r);
	return done();
}
