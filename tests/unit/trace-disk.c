// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the writer when the disk is full or the file may not grow: rows in the file must be
 * readable, and all others must be counted.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include "trace-sample.h"

#define NR_BATCHES	200
#define BATCH		5000

struct outcome {
	size_t nr;
	bool damaged;
	struct reader_damage d;
	uint64_t lost;		/* number of rows according to the file itself */
};

static void read_back(const char *path, struct outcome *o)
{
	struct reader_rows rows;
	struct reader *r;
	struct cursor *c;
	char err[256];

	memset(o, 0, sizeof(*o));
	r = reader_open(path, err, sizeof(err));
	if (!r)
		bail_out(err);
	c = reader_cursor(r, LDB_BLK_FUNC, NULL);
	while (cursor_next(c, &rows) > 0)
		o->nr += rows.nr;
	cursor_close(c);
	c = reader_cursor(r, LDB_BLK_LOST, NULL);
	while (cursor_next(c, &rows) > 0)
		for (size_t i = 0; i < rows.nr; i++)
			if (rows.lost[i].what == LDB_LOST_DISK)
				o->lost += rows.lost[i].count;
	cursor_close(c);
	o->damaged = reader_is_damaged(r);
	reader_damage(r, &o->d);
	reader_close(r);
}

/* Writes incompressible rows until nothing fits any more; then closes. */
static int fill(struct writer *w, int *close_error)
{
	int error = 0;

	for (int b = 0; b < NR_BATCHES; b++) {
		for (int i = 0; i < BATCH; i++) {
			struct ldb_row_func row = {
				.tid = 1, .pc = sample_random(), .ret = sample_random(),
				.gen = sample_random(), .start_max = i, .end_max = i + 1,
			};
			int rc = writer_add_func(w, &row);

			error = error ? error : rc;
		}
		{
			int rc = writer_flush(w);

			error = error ? error : rc;
		}
	}
	*close_error = writer_close(w);
	return error;
}

static void test_limit(void)
{
	const char *path = sample_path("limited");
	struct rlimit old, limit = { 3 << 20, RLIM_INFINITY };
	int error, close_error;
	struct outcome o;
	struct writer *w;
	struct stat st;
	char err[256];

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit.rlim_max = old.rlim_max;
	if (setrlimit(RLIMIT_FSIZE, &limit))
		skip_all("setrlimit");
	w = writer_open(path, &sample_header, err, sizeof(err));
	if (!w)
		bail_out(err);
	error = fill(w, &close_error);
	setrlimit(RLIMIT_FSIZE, &old);
	is_int(error, -EFBIG, "a write behind the size limit is reported");
	stat(path, &st);
	ok(st.st_size <= 3 << 20, "the file is no longer than the limit");
	read_back(path, &o);
	ok(o.nr >= BATCH && o.nr < NR_BATCHES * BATCH && !o.d.nr_bad_blocks && !o.d.bytes_skipped,
	   "whole blocks only: %zu rows", o.nr);
	diag("footer: %s, lost by the file's account: %" PRIu64, o.d.no_footer ? "no" : "yes", o.lost);
}

/* The file system is really full. */
static void test_full(void)
{
	const char *dir = sample_path("mnt");
	int error, close_error;
	struct outcome o;
	struct writer *w;
	struct stat st;
	char path[300], err[256];

	mkdir(dir, 0700);
	if (mount("tmpfs", dir, "tmpfs", 0, "size=4m")) {
		skip(5, "no permission to mount a tmpfs");
		return;
	}
	snprintf(path, sizeof(path), "%s/ldb.data", dir);
	w = writer_open(path, &sample_header, err, sizeof(err));
	if (!w)
		bail_out(err);
	error = fill(w, &close_error);
	is_int(error, -ENOSPC, "a full disk is reported");
	is_int(close_error, 0, "and the file is closed properly all the same");
	read_back(path, &o);
	ok(!o.damaged && o.nr >= BATCH, "it is not damaged: %zu rows", o.nr);
	is_int(o.nr + o.lost, NR_BATCHES * BATCH, "rows in the file and lost rows are all rows");
	stat(path, &st);
	ok((uint64_t)st.st_blocks * 512 <= (uint64_t)st.st_size + 8192,
	   "the reserved space is free again");
	umount(dir);
}

static void test_device(void)
{
	char err[256];
	struct writer *w = writer_open("/dev/full", &sample_header, err, sizeof(err));
	struct stat st;

	ok(!w && strstr(err, "/dev/full"), "a device that is full: %s", w ? "opened" : err);
	ok(!stat("/dev/full", &st) && S_ISCHR(st.st_mode), "and it is still there");
	w = writer_open("/nonexistent/x", &sample_header, err, sizeof(err));
	ok(!w && strstr(err, "No such file"), "no folder: %s", w ? "opened" : err);
	w = writer_open("/", &sample_header, err, sizeof(err));
	ok(!w && strstr(err, "directory"), "a folder: %s", w ? "opened" : err);
	w = writer_open("/dev/null", &sample_header, err, sizeof(err));
	ok(w && !writer_close(w), "/dev/null takes a trace");
}

/* An error message says what to do, if that is known. */
static void test_open(void)
{
	char err[256] = "";

	ok(!reader_open("/no/such/file", err, sizeof(err)) && strstr(err, "record one"), "no file: %s", err);
	ok(!reader_open("/dev/null/file", err, sizeof(err)) && strstr(err, "/dev/null/file: ") &&
	   !strstr(err, "record one") && !strstr(err, "owner"), "below what is no folder: %s", err);
}

int main(void)
{
	test_open();
	test_limit();
	test_full();
	test_device();
	return done();
}
