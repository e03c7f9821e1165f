// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The one writer of the trace file; see writer.h.
 *
 * Invariant: bytes [0, w->offset) of the file are the header and whole blocks;
 * what lies behind is cut off before anything else is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include "trace/columns.h"
#include "trace/crc32c.h"
#include "trace/reqtab.h"
#include "trace/writer.h"

#define WRITER_KINDS		(LDB_BLK_TASK + 1)
#define WRITER_ZSTD_LEVEL	1
#define WRITER_STRING_MAX	65536		/* longer ones are cut */
#define WRITER_STRINGS_MAX	(8U << 20)	/* of one block */
/*
 * Disk space kept for what ends a file: threads, losses, index, footer.  Fixed,
 * and for each block.  Taken in steps, since each is a call into the file system.
 */
#define WRITER_RESERVE_BYTES	(512 << 10)
#define WRITER_RESERVE_PER_BLOCK 32
#define WRITER_RESERVE_STEP	(8 << 20)
#define WRITER_REQUESTS_MAX	(4U << 20)	/* in the request table */

struct batch {			/* the rows of one kind that wait for their block */
	char *rows;
	size_t nr, room;
	size_t string_bytes;
};

struct writer {
	int fd;
	bool regular;		/* can be truncated */
	bool cut;		/* something lies behind offset */
	uint64_t offset;
	uint64_t reserved_end;	/* the disk has room up to here */
	struct batch batch[WRITER_KINDS];
	struct batch index;	/* of struct ldb_row_index */
	struct reqtab *reqtab;	/* NULL: out of memory, the reader will make it */
	int64_t last_tick;	/* of all rows */
	uint64_t lost_rows, lost_told;
	int error;		/* sticky for writer_flush(): the first since the last one */
	ZSTD_CCtx *zstd;
	uint8_t *raw, *out;	/* scratch: payload; header and compressed payload */
	size_t raw_room, out_room;
};

static int reserve(void **p, size_t *room, size_t need)
{
	void *grown;

	if (need <= *room)
		return 0;
	grown = realloc(*p, need);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*room = need;
	return 0;
}

/* The file */

/* Fails before the disk is so full that the end of the file would not fit any more. */
static int file_reserve(struct writer *w, size_t size)
{
	uint64_t need = size + WRITER_RESERVE_BYTES + w->index.nr * WRITER_RESERVE_PER_BLOCK;
	uint64_t step = need + WRITER_RESERVE_STEP;

	if (!w->regular || w->offset + need <= w->reserved_end)
		return 0;
	if (fallocate(w->fd, FALLOC_FL_KEEP_SIZE, w->offset, step)) {
		step = need;
		if (fallocate(w->fd, FALLOC_FL_KEEP_SIZE, w->offset, step) &&
		    (errno == ENOSPC || errno == EDQUOT))
			return -errno;
		/* Other errors: the file system cannot do it. */
	}
	w->reserved_end = w->offset + step;
	return 0;
}

/* What a closed file needs may use the reserve; the rest must leave it alone. */
static bool is_bulky(unsigned kind)
{
	return kind == LDB_BLK_FUNC || kind == LDB_BLK_LOCK || kind == LDB_BLK_REQ ||
	       kind == LDB_BLK_REQNAME || kind == LDB_BLK_REQTAB;
}

/* All or nothing. */
static int file_append(struct writer *w, const void *data, size_t size)
{
	size_t done = 0;

	if (w->cut) {
		if (ftruncate(w->fd, w->offset))
			return -errno;
		w->cut = false;
		w->reserved_end = 0;
	}
	while (done < size) {
		ssize_t n = write(w->fd, (const char *)data + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int error = n ? errno : EIO;

			w->cut = w->regular && done;
			if (w->cut && !ftruncate(w->fd, w->offset)) {
				w->cut = false;
				w->reserved_end = 0;	/* gone with it */
			}
			if (w->regular)
				lseek(w->fd, w->offset, SEEK_SET);
			return -error;
		}
		done += n;
	}
	w->offset += size;
	return 0;
}

/* Blocks */

static void header_extent(struct ldb_block_header *h, const struct schema *s, const void *rows,
			  size_t nr)
{
	const char *row = rows;
	struct extent e;

	h->t_min = INT64_MAX;
	h->t_max = INT64_MIN;
	h->id_min = UINT64_MAX;
	for (; nr; nr--, row += s->row_bytes) {
		schema_extent(h->kind, row, &e);
		if (e.t_min < h->t_min)
			h->t_min = e.t_min;
		if (e.t_max > h->t_max)
			h->t_max = e.t_max;
		if (e.id_min < h->id_min)
			h->id_min = e.id_min;
		if (e.id_max > h->id_max)
			h->id_max = e.id_max;
		if (e.dur > h->max_dur)
			h->max_dur = e.dur;
	}
}

/* Puts header and payload into w->out; returns the size of both, or -errno. */
static ssize_t block_build(struct writer *w, unsigned kind, const void *rows, size_t nr,
			   size_t string_bytes)
{
	const struct schema *s = schema_find(kind);
	struct ldb_block_header h = {
		.magic = LDB_BLOCK_MAGIC, .kind = kind, .version = 1, .rows = nr,
	};
	size_t n;

	if (reserve((void **)&w->raw, &w->raw_room, columns_bound(s, nr, string_bytes)))
		return -ENOMEM;
	h.raw_bytes = columns_encode(s, rows, nr, w->raw);
	if (reserve((void **)&w->out, &w->out_room, sizeof(h) + ZSTD_compressBound(h.raw_bytes)))
		return -ENOMEM;
	n = ZSTD_compressCCtx(w->zstd, w->out + sizeof(h), w->out_room - sizeof(h), w->raw,
			      h.raw_bytes, WRITER_ZSTD_LEVEL);
	if (ZSTD_isError(n))
		return -ENOMEM;
	h.bytes = n;
	header_extent(&h, s, rows, nr);
	h.crc = crc32c(crc32c(0, &h, sizeof(h)), w->out + sizeof(h), n);
	memcpy(w->out, &h, sizeof(h));
	return sizeof(h) + n;
}

/* Of the block in w->out. */
static void index_add(struct writer *w, uint64_t offset, size_t bytes)
{
	struct ldb_block_header h;
	struct ldb_row_index *row;

	memcpy(&h, w->out, sizeof(h));
	row = (struct ldb_row_index *)w->index.rows + w->index.nr++;
	*row = (struct ldb_row_index){
		.kind = h.kind, .rows = h.rows, .offset = offset, .bytes = bytes,
		.t_min = h.t_min, .t_max = h.t_max, .id_min = h.id_min, .id_max = h.id_max,
		.max_dur = h.max_dur,
	};
}

static int index_room(struct writer *w)
{
	size_t need = (w->index.nr + 1) * sizeof(struct ldb_row_index);

	if (need <= w->index.room)
		return 0;
	return reserve((void **)&w->index.rows, &w->index.room, need * 2);
}

static int block_write(struct writer *w, unsigned kind, const void *rows, size_t nr,
		       size_t string_bytes)
{
	uint64_t offset = w->offset;
	ssize_t size;
	int rc;

	rc = index_room(w);
	if (rc)
		return rc;
	size = block_build(w, kind, rows, nr, string_bytes);
	if (size < 0)
		return size;
	rc = is_bulky(kind) ? file_reserve(w, size) : 0;
	if (!rc)
		rc = file_append(w, w->out, size);
	if (!rc)
		index_add(w, offset, size);
	return rc;
}

/* Batches */

static void batch_free_strings(const struct schema *s, struct batch *b)
{
	for (unsigned i = 0; s->nr_strings && i < s->nr_columns; i++) {
		if (s->columns[i].coding != COLUMN_S)
			continue;
		for (size_t n = 0; n < b->nr; n++) {
			char *string;

			memcpy(&string, b->rows + n * s->row_bytes + s->columns[i].offset,
			       sizeof(string));
			free(string);
		}
	}
}

static void fold_requests(struct writer *w, const struct batch *b)
{
	const struct ldb_row_req *rows = (const void *)b->rows;

	for (size_t i = 0; w->reqtab && i < b->nr; i++) {
		if (reqtab_add(w->reqtab, &rows[i])) {
			reqtab_free(w->reqtab);
			w->reqtab = NULL;
		}
	}
}

static int batch_flush(struct writer *w, unsigned kind)
{
	const struct schema *s = schema_find(kind);
	struct batch *b = &w->batch[kind];
	int rc;

	if (!b->nr)
		return 0;
	if (kind == LDB_BLK_REQ)
		reqtab_sort((struct ldb_row_req *)b->rows, b->nr);
	rc = block_write(w, kind, b->rows, b->nr, b->string_bytes);
	if (rc)
		w->lost_rows += b->nr;
	else if (kind == LDB_BLK_REQ)
		fold_requests(w, b);
	if (rc && !w->error)
		w->error = rc;
	batch_free_strings(s, b);
	b->nr = 0;
	b->string_bytes = 0;
	return rc;
}

/* Strings of the row are replaced by copies.  On failure none is left behind. */
static int copy_strings(const struct schema *s, struct batch *b, char *row)
{
	unsigned i;

	for (i = 0; i < s->nr_columns; i++) {
		char *string;

		if (s->columns[i].coding != COLUMN_S)
			continue;
		memcpy(&string, row + s->columns[i].offset, sizeof(string));
		string = strndup(string ? string : "", WRITER_STRING_MAX);
		if (!string)
			goto err_free;
		memcpy(row + s->columns[i].offset, &string, sizeof(string));
		b->string_bytes += strlen(string) + 10;
	}
	return 0;

err_free:
	while (i--) {
		char *string;

		if (s->columns[i].coding != COLUMN_S)
			continue;
		memcpy(&string, row + s->columns[i].offset, sizeof(string));
		free(string);
	}
	return -ENOMEM;
}

static int batch_grow(struct batch *b, const struct schema *s)
{
	size_t room = b->room ? b->room * 4 : 64 * s->row_bytes;
	size_t all = (size_t)LDB_BLOCK_ROWS * s->row_bytes;

	return reserve((void **)&b->rows, &b->room, room < all ? room : all);
}

static int add(struct writer *w, unsigned kind, const void *row, int64_t tick)
{
	const struct schema *s = schema_find(kind);
	struct batch *b = &w->batch[kind];
	char *copy;

	if ((b->nr + 1) * s->row_bytes > b->room && batch_grow(b, s))
		goto err_lost;
	copy = b->rows + b->nr * s->row_bytes;
	memcpy(copy, row, s->row_bytes);
	if (s->nr_strings && copy_strings(s, b, copy))
		goto err_lost;
	b->nr++;
	if (tick > w->last_tick && tick != INT64_MAX)
		w->last_tick = tick;
	if (b->nr == LDB_BLOCK_ROWS || b->string_bytes > WRITER_STRINGS_MAX)
		return batch_flush(w, kind);
	return 0;

err_lost:
	w->lost_rows++;
	if (!w->error)
		w->error = -ENOMEM;
	return -ENOMEM;
}

int writer_add_meta(struct writer *w, const char *key, const char *value)
{
	struct ldb_row_meta row = { key, value };

	return add(w, LDB_BLK_META, &row, 0);
}

int writer_add_clock(struct writer *w, const struct ldb_row_clock *row)
{
	return add(w, LDB_BLK_CLOCK, row, row->tick);
}

int writer_add_module(struct writer *w, const struct ldb_row_module *row)
{
	return add(w, LDB_BLK_MODULE, row, row->tick);
}

int writer_add_thread(struct writer *w, const struct ldb_row_thread *row)
{
	return add(w, LDB_BLK_THREAD, row, row->end);
}

int writer_add_func(struct writer *w, const struct ldb_row_func *row)
{
	return add(w, LDB_BLK_FUNC, row, row->end_max);
}

int writer_add_lock(struct writer *w, const struct ldb_row_lock *row)
{
	return add(w, LDB_BLK_LOCK, row, row->end);
}

int writer_add_req(struct writer *w, const struct ldb_row_req *row)
{
	return add(w, LDB_BLK_REQ, row, row->tick);
}

int writer_add_reqname(struct writer *w, const struct ldb_row_reqname *row)
{
	return add(w, LDB_BLK_REQNAME, row, row->tick);
}

int writer_add_gap(struct writer *w, const struct ldb_row_gap *row)
{
	return add(w, LDB_BLK_GAP, row, row->end);
}

int writer_add_lost(struct writer *w, const struct ldb_row_lost *row)
{
	return add(w, LDB_BLK_LOST, row, row->tick);
}

int writer_add_scan(struct writer *w, const struct ldb_row_scan *row)
{
	return add(w, LDB_BLK_SCAN, row, 0);
}

int writer_add_sched(struct writer *w, const struct ldb_row_sched *row)
{
	return add(w, LDB_BLK_SCHED, row, row->tick);
}

int writer_add_task(struct writer *w, const struct ldb_row_task *row)
{
	return add(w, LDB_BLK_TASK, row, row->tick);
}

static void tell_lost(struct writer *w)
{
	struct ldb_row_lost row = {
		.tick = w->last_tick, .count = w->lost_rows - w->lost_told,
		.what = LDB_LOST_DISK,
	};

	if (row.count && !add(w, LDB_BLK_LOST, &row, row.tick)) {
		/* Not lost anew if this block cannot be written either. */
		uint64_t before = w->lost_rows;

		if (batch_flush(w, LDB_BLK_LOST))
			w->lost_rows = before;
		else
			w->lost_told = before;
	}
}

int writer_flush(struct writer *w)
{
	int rc;

	for (unsigned kind = 0; kind < WRITER_KINDS; kind++)
		if (schema_find(kind))
			batch_flush(w, kind);
	tell_lost(w);
	rc = w->error;
	w->error = 0;
	return rc;
}

uint64_t writer_bytes(const struct writer *w)
{
	return w->offset;
}

uint64_t writer_lost_rows(const struct writer *w)
{
	return w->lost_rows;
}

/* Opening */

/* The name must be free afterwards, or be that of a device or pipe. */
static int keep_old(const char *path, bool *regular)
{
	char old[PATH_MAX];
	struct stat st;

	*regular = true;
	if (stat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode)) {
		*regular = false;
		return 0;
	}
	if ((size_t)snprintf(old, sizeof(old), "%s.old", path) >= sizeof(old))
		return -ENAMETOOLONG;
	return rename(path, old) ? -errno : 0;
}

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

struct writer *writer_open(const char *path, const struct ldb_file_header *header, char *err,
			   size_t err_size)
{
	struct writer *w = calloc(1, sizeof(*w));
	int rc = -ENOMEM;

	if (!w)
		goto err_message;
	w->zstd = ZSTD_createCCtx();
	w->reqtab = reqtab_alloc(WRITER_REQUESTS_MAX);
	if (!w->zstd)
		goto err_free;
	rc = keep_old(path, &w->regular);
	if (rc)
		goto err_free;
	w->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (w->regular ? O_EXCL : 0), 0644);
	if (w->fd < 0) {
		rc = -errno;
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
	ZSTD_freeCCtx(w->zstd);
	reqtab_free(w->reqtab);
	free(w);
err_message:
	snprintf(err, err_size, "cannot create %s: %s", path, strerror(-rc));
	return NULL;
}

/* Closing */

/* The table is a convenience: if there is no room for it, the reader makes its own. */
static void write_reqtab(struct writer *w)
{
	const struct ldb_row_reqtab *rows;
	size_t nr;

	if (!w->reqtab)
		return;
	rows = reqtab_finish(w->reqtab, w->last_tick, &nr);
	while (nr) {
		size_t n = nr < LDB_BLOCK_ROWS ? nr : LDB_BLOCK_ROWS;

		if (block_write(w, LDB_BLK_REQTAB, rows, n, 0))
			return;
		rows += n;
		nr -= n;
	}
}

/* Uses the space that file_reserve() kept. */
static int write_index(struct writer *w)
{
	const struct ldb_row_index *rows = (const void *)w->index.rows;
	struct ldb_file_footer f = { .index_offset = w->offset, .nr_blocks = w->index.nr };
	int rc = 0;

	for (size_t done = 0; !rc && done < w->index.nr;) {
		size_t n = w->index.nr - done < LDB_BLOCK_ROWS ? w->index.nr - done :
								 LDB_BLOCK_ROWS;
		ssize_t size = block_build(w, LDB_BLK_INDEX, rows + done, n, 0);

		rc = size < 0 ? size : file_append(w, w->out, size);
		done += n;
	}
	memcpy(f.magic, LDB_FOOTER_MAGIC, sizeof(f.magic));
	f.file_size = w->offset + sizeof(f);
	f.crc = crc32c(0, &f, offsetof(struct ldb_file_footer, crc));
	return rc ? rc : file_append(w, &f, sizeof(f));
}

int writer_close(struct writer *w)
{
	int rc = writer_flush(w), rc2;

	write_reqtab(w);
	rc2 = write_index(w);
	if (w->regular && ftruncate(w->fd, w->offset) && !rc2)	/* gives the reserve back */
		rc2 = -errno;
	if (close(w->fd) && !rc2)
		rc2 = -errno;
	for (unsigned kind = 0; kind < WRITER_KINDS; kind++) {
		const struct schema *s = schema_find(kind);

		if (s)
			batch_free_strings(s, &w->batch[kind]);
		free(w->batch[kind].rows);
	}
	free(w->index.rows);
	reqtab_free(w->reqtab);
	ZSTD_freeCCtx(w->zstd);
	free(w->raw);
	free(w->out);
	free(w);
	return rc ? rc : rc2;
}
