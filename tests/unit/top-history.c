// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what ldb-top retains: consecutive windows have each row once, memory does not grow with
 * time, and a limit of bytes makes the window shorter, which is reported.
 */
#include <fcntl.h>
#include "top/top.h"
#include "trace-sample.h"

#define SECOND		1000000000LL
#define ROWS		1000	/* number of functions in a period */

static struct history *h;
static struct writer *w;
static unsigned now;		/* periods so far, of a second each */

static int on_block(void *arg, const void *data, size_t size)
{
	return history_block(h, data, size);
}

static void begin(uint64_t window_ns, uint64_t max_bytes)
{
	struct ldb_file_header header = { .clock_id = LDB_CLOCK_MONO, .clock_hz = SECOND };
	char err[128];

	if (w)
		writer_close(w);
	history_free(h);
	now = 0;
	h = history_alloc(window_ns, max_bytes);
	w = h ? writer_open_blocks(&header, on_block, NULL, err, sizeof(err)) : NULL;
	if (!w)
		bail_out("no history");
	writer_add_meta(w, "cmdline", "test");
}

static void add_state(void)
{
	struct ldb_row_thread thread = { .tid = 1, .end = now * SECOND, .made = now, .name = "main" };
	struct ldb_row_module module = {
		.start = 4096, .end = 8192, .end_tick = INT64_MAX, .build_id = "", .path = "/nowhere",
	};

	history_anew(h);
	writer_add_thread(w, &thread);
	writer_add_module(w, &module);
	writer_flush(w);
}

/*
 * Makes rows with increasing generations; in each period a request ends that began in the previous
 * one.
 */
static void period(void)
{
	struct record_status status = { 0 };
	struct ldb_row_clock clock = { .tick = now * SECOND, .raw_ns = now * SECOND };

	for (unsigned i = 0; i < ROWS; i++) {
		int64_t tick = now * SECOND + i * (SECOND / ROWS);
		struct ldb_row_func row = {
			.tid = 1, .gen = (uint64_t)now * ROWS + i, .pc = 5000 + sample_random() % 1000,
			.start_max = tick, .end_max = tick + sample_random() % 1000,
		};

		writer_add_func(w, &row);
	}
	for (unsigned op = 0; op < 2; op++) {
		struct ldb_row_req row = {
			.op = op ? LDB_REQ_OP_START : LDB_REQ_OP_END, .tid = 1,
			.id = now + op, .tick = now * SECOND + 500,
		};

		writer_add_req(w, &row);
	}
	writer_add_clock(w, &clock);
	writer_flush(w);
	add_state();
	now++;
	status.now_ns = now * SECOND;
	status.tick = now * SECOND;
	status.made = now * 2 * ROWS;
	status.seen = now * ROWS;
	history_period(h, &status);
}

struct seen {
	uint64_t nr, first, last;	/* generations of functions */
	uint64_t threads, modules, reqs;
	int64_t bytes;
};

static struct seen look(const struct snapshot *s, bool is_wide)
{
	int fd = snapshot_file(s, is_wide);
	struct seen seen = { .first = UINT64_MAX };
	struct reader_rows rows;
	struct reader *r;
	struct cursor *c;
	char path[64], err[256];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = fd < 0 ? NULL : reader_open(path, err, sizeof(err));
	if (!r || fstat(fd, &st))
		bail_out("no trace");
	seen.bytes = st.st_size;
	c = reader_cursor(r, LDB_BLK_FUNC, NULL);
	while (cursor_next(c, &rows) > 0)
		for (size_t i = 0; i < rows.nr; i++) {
			seen.nr++;
			seen.first = rows.func[i].gen < seen.first ? rows.func[i].gen : seen.first;
			seen.last = rows.func[i].gen > seen.last ? rows.func[i].gen : seen.last;
		}
	cursor_close(c);
	for (unsigned kind = LDB_BLK_MODULE; kind <= LDB_BLK_REQ; kind++) {
		c = reader_cursor(r, kind, NULL);
		while (cursor_next(c, &rows) > 0) {
			seen.threads += kind == LDB_BLK_THREAD ? rows.nr : 0;
			seen.modules += kind == LDB_BLK_MODULE ? rows.nr : 0;
			seen.reqs += kind == LDB_BLK_REQ ? rows.nr : 0;
		}
		cursor_close(c);
	}
	if (reader_check(r))
		bail_out("out of memory");
	close(fd);
	reader_close(r);
	return seen;
}

static void test_windows(void)
{
	uint64_t total = 0, last = UINT64_MAX;
	bool follows = true, has_state = true, is_right = true;
	struct snapshot *s, *later;
	struct seen seen;

	begin(SECOND, 64 << 20);
	for (unsigned i = 0; i < 50; i++) {
		period();
		s = history_snapshot(h, NULL);
		seen = look(s, false);
		follows &= seen.first == last + 1 && seen.nr == seen.last - seen.first + 1;
		has_state &= seen.threads == 1 && seen.modules == 1;
		is_right &= snapshot_info(s)->made == 2 * ROWS && snapshot_info(s)->seen == ROWS &&
			    snapshot_info(s)->window_ns == SECOND && !snapshot_info(s)->is_cut;
		total += seen.nr;
		last = seen.last;
		snapshot_free(s);
	}
	ok(follows && total == 50 * ROWS, "windows that follow each other have each row once");
	ok(has_state, "threads and modules are in each, once");
	ok(is_right, "and the sums are those of the window");

	s = history_snapshot(h, NULL);
	period();
	period();
	later = history_snapshot(h, s);
	is_int(look(later, false).nr, 3 * ROWS, "what was not read yet is in the next window");
	snapshot_free(s);
	snapshot_free(later);
}

static void test_growth(void)
{
	int64_t size[2] = { 0 };
	struct snapshot *s;
	struct seen seen;

	begin(5 * SECOND, 64 << 20);
	for (unsigned i = 0; i < 2000; i++) {
		period();
		if (i == 200 || i == 1999) {
			s = history_snapshot(h, NULL);
			seen = look(s, true);
			size[i == 1999] = seen.bytes;
			snapshot_free(s);
		}
	}
	s = history_snapshot(h, NULL);
	is_int(look(s, false).nr, 5 * ROWS, "a window of five seconds has five");
	ok(seen.nr > 5 * ROWS && seen.nr < 20 * ROWS, "a little more is kept for requests");
	ok(seen.reqs >= 120 && seen.reqs < 150, "and a minute of requests (%lu rows)",
	   (unsigned long)seen.reqs);
	ok(size[1] < size[0] + size[0] / 4, "half an hour later no more is kept: %ld, %ld bytes",
	   (long)size[0], (long)size[1]);
	snapshot_free(s);
}

static void test_limit(void)
{
	const uint64_t limit = 64 << 10;
	struct snapshot *s;
	struct seen seen;

	begin(1000 * SECOND, limit);
	for (unsigned i = 0; i < 300; i++)
		period();
	s = history_snapshot(h, NULL);
	seen = look(s, true);
	ok(snapshot_info(s)->is_cut, "too much for the limit: said");
	ok(seen.bytes <= (int64_t)limit + 4096, "not more is kept: %ld bytes", (long)seen.bytes);
	seen = look(s, false);
	ok(seen.nr && seen.last == 300 * ROWS - 1 && seen.nr == seen.last - seen.first + 1,
	   "the latest, without a hole");
	is_int(snapshot_info(s)->window_ns, seen.nr / ROWS * SECOND, "and the time is theirs");
	snapshot_free(s);
}

int main(void)
{
	test_windows();
	test_growth();
	test_limit();
	writer_close(w);
	history_free(h);
	return done();
}
