// SPDX-License-Identifier: GPL-2.0-or-later
/* Begins a trace file, or opens a closed one to append to it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/outfile.h"
#include "trace/crc32c.h"
#include "trace/reader-private.h"
#include "trace/writer-private.h"

#define WRITER_REQUESTS_MAX	(4U << 20)	/* limit of the request table */

static int write_header(struct writer *w, const struct ldb_file_header *given)
{
	struct ldb_file_header h = {
		.version = LDB_FILE_VERSION, .header_size = sizeof(h),
		.features = given->features, .clock_id = given->clock_id, .t0 = given->t0,
		.clock_hz = given->clock_hz, .realtime_ns = given->realtime_ns,
	};
	int rc;

	memcpy(h.magic, LDB_FILE_MAGIC, sizeof(h.magic));
	h.crc = crc32c(0, &h, offsetof(struct ldb_file_header, crc));
	rc = file_reserve(w, sizeof(h));
	return rc ? rc : file_append(w, &h, sizeof(h));
}

static struct writer *writer_alloc(void)
{
	struct writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	for (unsigned kind = 0; kind < WRITER_KINDS; kind++) {
		w->batch[kind].encoder.schema = schema_find(kind);
		batch_clear(&w->batch[kind]);
	}
	w->fd = -1;
	w->zstd = ZSTD_createCCtx();
	if (w->zstd)
		return w;
	writer_free(w);
	return NULL;
}

struct writer *writer_open_blocks(const struct ldb_file_header *header, writer_block_fn *block,
				  void *arg, char *err, size_t err_size)
{
	struct writer *w = writer_alloc();

	if (w) {
		w->block = block;
		w->block_arg = arg;
		if (!write_header(w, header))
			return w;
		writer_free(w);
	}
	snprintf(err, err_size, "out of memory");
	return NULL;
}

struct writer *writer_open(const char *path, const struct ldb_file_header *header, char *err,
			   size_t err_size)
{
	struct writer *w = writer_alloc();
	int rc = -ENOMEM;

	if (!w)
		goto err_message;
	w->reqtab = reqtab_alloc(WRITER_REQUESTS_MAX);
	w->fd = outfile_open(path, OUTFILE_KEEP, &w->regular);
	if (w->fd < 0) {
		rc = w->fd;
		goto err_free;
	}
	rc = write_header(w, header);
	if (rc)
		goto err_close;
	return w;

err_close:
	close(w->fd);
	if (w->regular)
		unlink(path);
err_free:
	writer_free(w);
err_message:
	snprintf(err, err_size, "cannot create %s: %s", path, outfile_why(rc));
	return NULL;
}

struct writer *writer_open_fd(int fd, const struct ldb_file_header *header, char *err, size_t err_size)
{
	struct writer *w = writer_alloc();
	int rc = -ENOMEM;

	if (w) {
		w->reqtab = reqtab_alloc(WRITER_REQUESTS_MAX);
		w->fd = fd;
		w->regular = true;
		rc = write_header(w, header);
		if (!rc)
			return w;
		writer_free(w);
	}
	close(fd);
	snprintf(err, err_size, "%s", strerror(-rc));
	return NULL;
}

/*
 * Returns true if both descriptors refer to the same file.  In a shared directory, another user may
 * have replaced the file.
 */
static bool is_same(int a, int b)
{
	struct stat of_a, of_b;

	return !fstat(a, &of_a) && !fstat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

/* Reads the index that ends a closed file. */
static int read_index(struct writer *w, const char *path, char *err, size_t err_size)
{
	struct reader *r = reader_open(path, err, err_size);
	int rc = 0;

	if (!r)
		return -EINVAL;
	w->fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (w->fd < 0 || !is_same(r->fd, w->fd)) {
		snprintf(err, err_size, "it cannot be written: %s",
			 w->fd < 0 ? strerror(errno) : "there is another file now");
		rc = -EIO;
	} else if (!r->has_index || reader_is_file_damaged(r)) {
		snprintf(err, err_size, "the trace was not closed, or is damaged");
		rc = -EINVAL;
	}
	for (size_t i = 0; !rc && i < r->nr_blocks; i++) {
		rc = index_reserve(w);
		if (!rc)
			w->index[w->nr_index++] = r->blocks[i].i;
		else
			snprintf(err, err_size, "out of memory");
	}
	w->offset = r->index_offset;
	w->last_tick = r->end_tick;
	w->cut = true;
	reader_close(r);
	return rc;
}

struct writer *writer_reopen(const char *path, char *err, size_t err_size)
{
	struct writer *w = writer_alloc();

	if (!w) {
		snprintf(err, err_size, "out of memory");
		return NULL;
	}
	if (!read_index(w, path, err, err_size)) {
		w->regular = true;
		if (lseek(w->fd, w->offset, SEEK_SET) >= 0)
			return w;
		snprintf(err, err_size, "it cannot be written: %s", strerror(errno));
	}
	if (w->fd >= 0)
		close(w->fd);
	writer_free(w);
	return NULL;
}
