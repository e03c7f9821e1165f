// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens a trace, and returns what every tool needs: meta data, clock, requests, damage.  See
 * reader.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/ldb.h>
#include "base/array.h"
#include "trace/crc32c.h"
#include "trace/reader-private.h"

#define READER_METAS_MAX	(1U << 20)
#define READER_HEADER_MAX	65536

/* Opening */

/*
 * Makes all threads use one heap.  If each had its own, freed buffers for blocks might stay in a
 * thread's heap.  Threads rarely allocate.
 *
 * Buffers for a block of rows of less than 29 bytes come from the heap, and the heap shrinks only
 * if it has 32 MiB of free memory at its end: else the kernel would clear new pages for each block.
 * Larger buffers, and arrays that have grown larger, do not come from the heap: other memory would
 * be allocated from the holes that they leave.
 */
static void set_heap(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 29 * LDB_BLOCK_ROWS);
	mallopt(M_TRIM_THRESHOLD, 32 << 20);
}

static int open_file(struct reader *r, const char *path, char *err, size_t err_size)
{
	struct stat st;

	r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (r->fd < 0 || fstat(r->fd, &st)) {
		snprintf(err, err_size, "cannot open %s: %s%s", path, strerror(errno),
			 errno == ENOENT ? ": record one with ldb-record" :
			 errno == EACCES ? ": only its owner may read it: become that user, or use chown" : "");
		return -errno;
	}
	if (!S_ISREG(st.st_mode)) {
		snprintf(err, err_size, "%s is not a regular file", path);
		return -EINVAL;
	}
	r->file_size = st.st_size;
	return 0;
}

static int read_header(struct reader *r, const char *path, char *err, size_t err_size)
{
	struct ldb_file_header *h = &r->header;

	if (!file_read(r, 0, h, sizeof(*h))) {
		snprintf(err, err_size,
			 "%s is not a trace: %" PRIu64 " bytes are too few for its header", path,
			 r->file_size);
	} else if (memcmp(h->magic, LDB_FILE_MAGIC, sizeof(h->magic))) {
		snprintf(err, err_size, "%s is not a trace of ldb: wrong magic number at offset 0",
			 path);
	} else if (h->version < LDB_FILE_VERSION_MIN || h->version > LDB_FILE_VERSION) {
		snprintf(err, err_size,
			 "%s has format version %u, this ldb reads %d to %d: use the ldb that recorded it",
			 path, h->version, LDB_FILE_VERSION_MIN, LDB_FILE_VERSION);
	} else if (h->crc != crc32c(0, h, offsetof(struct ldb_file_header, crc))) {
		snprintf(err, err_size, "%s is damaged: wrong checksum of the header at offset 0",
			 path);
	} else if (h->features) {
		snprintf(err, err_size,
			 "%s uses features this version of ldb does not know (bits 0x%x): use a newer ldb",
			 path, h->features);
	} else if (h->header_size < sizeof(*h) || h->header_size > READER_HEADER_MAX ||
		   !h->clock_hz ||
		   (h->clock_id != LDB_CLOCK_TSC && h->clock_id != LDB_CLOCK_MONO)) {
		snprintf(err, err_size, "%s is damaged: the header at offset 0 makes no sense",
			 path);
	} else {
		return 0;
	}
	return -EINVAL;
}

static int add_metas(void *arg, const struct reader_rows *rows)
{
	struct reader *r = arg;

	for (size_t i = 0; i < rows->nr && r->nr_metas < READER_METAS_MAX; i++) {
		struct ldb_row_meta m = {
			intern_text(&r->texts, rows->meta[i].key),
			intern_text(&r->texts, rows->meta[i].value),
		};

		if (!m.key || !m.value ||
		    !array_room(&r->metas, &r->room_metas, r->nr_metas, sizeof(*r->metas)))
			return -ENOMEM;
		r->metas[r->nr_metas++] = m;
	}
	return 0;
}

/* Clock */

static int add_clocks(void *arg, const struct reader_rows *rows)
{
	struct clock_span *s = arg;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_clock *c = &rows->clock[i];

		if (!s->any || c->tick < s->first.tick)
			s->first = *c;
		if (!s->any || c->tick > s->last.tick)
			s->last = *c;
		s->any = true;
	}
	return 0;
}

int clock_span_read(struct reader *r, struct clock_span *s)
{
	*s = (struct clock_span){ 0 };
	return reader_each(r, LDB_BLK_CLOCK, NULL, add_clocks, s);
}

/* Finds the largest ns_mult whose product with a tick of 63 bits fits into 126 bits. */
static void clock_fit(struct reader *r, const struct clock_span *s)
{
	long double ns = (long double)s->last.raw_ns - s->first.raw_ns;
	long double ticks = (long double)s->last.tick - s->first.tick;
	long double nominal = 1e9L / r->header.clock_hz;
	long double slope = nominal;

	/*
	 * A rate that differs from the nominal one by a factor of two or more is due to damage, and
	 * is not used.
	 */
	if (s->any && ticks > 0 && ns > 0 && ns / ticks > nominal / 2 && ns / ticks < nominal * 2)
		slope = ns / ticks;
	r->ns_shift = 0;
	while (r->ns_shift < 90 && slope * 2 < 0x1p62L) {
		slope *= 2;
		r->ns_shift++;
	}
	r->ns_mult = slope;
	r->ns_per_tick = ldexp(r->ns_mult, -(int)r->ns_shift);
}

static int64_t saturate(__int128 v);

/*
 * Sets the time of day at one tick, and its rate.  A rate that is off by a thousandth or more is
 * not used: the clock was set during the recording, because NTP adjusts it by less.
 */
static void wall_fit(struct reader *r, const struct clock_span *s)
{
	double ns = (double)s->last.raw_ns - (double)s->first.raw_ns;
	double rate = ((double)s->last.real_ns - (double)s->first.real_ns) / ns;

	r->wall_ns = s->any && s->first.real_ns ? s->first.real_ns : r->header.realtime_ns;
	r->wall_at = s->any && s->first.real_ns ? reader_ns(r, s->first.tick) : 0;
	r->wall_rate = ns > 0 && fabs(rate - 1) < 0.001 ? rate : 1;
}

int64_t reader_wall_ns(const struct reader *r, int64_t tick)
{
	__int128 ns = (__int128)reader_ns(r, tick) - r->wall_at;

	return saturate(r->wall_ns + ns + (__int128)((double)ns * (r->wall_rate - 1)));
}

int64_t reader_wall_tick(const struct reader *r, int64_t ns)
{
	__int128 since = (__int128)ns - r->wall_ns;

	return reader_tick(r, saturate(r->wall_at + since - (__int128)((double)since * (r->wall_rate - 1))));
}

static int64_t saturate(__int128 v)
{
	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

int64_t reader_ns(const struct reader *r, int64_t tick)
{
	__int128 v = (__int128)tick * r->ns_mult;

	if (r->ns_shift)
		v += (__int128)1 << (r->ns_shift - 1);
	return saturate(v >> r->ns_shift);
}

double reader_ticks_to_ns(const struct reader *r, double ticks)
{
	return ticks * r->ns_per_tick;
}

int64_t reader_tick(const struct reader *r, int64_t ns)
{
	long double v = ns * (ldexpl(1, r->ns_shift) / r->ns_mult);

	return v >= 0x1p63L ? INT64_MAX : v <= -0x1p63L ? INT64_MIN : llroundl(v);
}

/*
 * Finds the latest tick.  Blocks with the tick INT64_MAX are ignored: the end of a thread or module
 * may be "never".
 */
static void find_end(struct reader *r)
{
	for (size_t i = 0; i < r->nr_blocks; i++) {
		const struct ldb_row_index *b = &r->blocks[i].i;

		if (b->rows && b->t_max != INT64_MAX && b->t_max > r->end_tick &&
		    schema_find(b->kind))
			r->end_tick = b->t_max;
	}
}

struct reader *reader_open(const char *path, char *err, size_t err_size)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct clock_span clock = { 0 };
	int rc;

	if (!r) {
		snprintf(err, err_size, "out of memory");
		return NULL;
	}
	set_heap();
	r->damage_offset = -1;
	r->fd = -1;
	if (open_file(r, path, err, err_size) || read_header(r, path, err, err_size))
		goto err_close;
	rc = file_find_blocks(r);
	if (!rc)
		rc = reader_each(r, LDB_BLK_META, NULL, add_metas, r);
	if (!rc)
		rc = clock_span_read(r, &clock);
	if (rc) {
		snprintf(err, err_size, "cannot read %s: %s", path, strerror(-rc));
		goto err_close;
	}
	clock_fit(r, &clock);
	wall_fit(r, &clock);
	find_end(r);
	return r;

err_close:
	reader_close(r);
	return NULL;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	reader_close(r->replaced);
	reader_retain_end(r);
	intern_free(&r->texts);
	free(r->metas);
	free(r->blocks);
	reqtab_free(r->reqtab);
	free(r->requests);
	free(r);
}

const struct ldb_file_header *reader_header(const struct reader *r)
{
	return &r->header;
}

const char *reader_meta(const struct reader *r, const char *key)
{
	for (size_t i = r->nr_metas; i--;)
		if (!strcmp(r->metas[i].key, key))
			return r->metas[i].value;
	return NULL;
}

const struct ldb_row_meta *reader_metas(const struct reader *r, size_t *nr)
{
	*nr = r->nr_metas;
	return r->metas;
}

int64_t reader_end_tick(const struct reader *r)
{
	return r->end_tick;
}

/* Requests */

struct request_rows {
	struct ldb_row_reqtab *rows;
	size_t nr;
};

static int add_reqtab(void *arg, const struct reader_rows *rows)
{
	struct request_rows *t = arg;
	struct ldb_row_reqtab *grown = realloc(t->rows, (t->nr + rows->nr) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	memcpy(grown + t->nr, rows->reqtab, rows->nr * sizeof(*grown));
	t->rows = grown;
	t->nr += rows->nr;
	return 0;
}

static int add_reqs(void *arg, const struct reader_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		if (reqtab_add(arg, &rows->req[i]))
			return -ENOMEM;
	return 0;
}

static bool has_bad(const struct reader *r, unsigned kind)
{
	size_t i = 0;

	while (i < r->nr_blocks && !(r->blocks[i].i.kind == kind && r->blocks[i].bad))
		i++;
	return i < r->nr_blocks;
}

/*
 * If a block of the table in the file is damaged, the table is not used, because it lacks requests.
 */
static int load_reqtab(struct reader *r, struct request_rows *t)
{
	int rc = reader_each(r, LDB_BLK_REQTAB, NULL, add_reqtab, t);

	if (!rc && has_bad(r, LDB_BLK_REQTAB)) {
		free(t->rows);
		*t = (struct request_rows){ 0 };
	}
	return rc;
}

void reader_replace_requests(struct reader *r, struct reader *requests)
{
	requests->end_tick = r->end_tick;
	r->replaced = requests;
}

int reader_requests(struct reader *r, const struct ldb_row_reqtab **rows, size_t *nr)
{
	struct request_rows t = { 0 };
	int rc = 0;

	if (r->replaced)
		return reader_requests(r->replaced, rows, nr);
	if (!r->has_requests) {
		rc = r->has_index ? load_reqtab(r, &t) : 0;
		r->requests = t.rows;
		r->nr_requests = t.nr;
		if (!rc && !t.nr) {
			r->reqtab = reqtab_alloc(UINT32_MAX);
			rc = r->reqtab ? reader_each(r, LDB_BLK_REQ, NULL, add_reqs, r->reqtab) :
					 -ENOMEM;
		}
		r->has_requests = true;
	}
	if (!r->reqtab) {
		*rows = r->requests;
		*nr = r->nr_requests;
	} else {
		*rows = reqtab_finish(r->reqtab, r->end_tick, nr);
	}
	return rc;
}

/* Damage */

void reader_damage(const struct reader *r, struct reader_damage *d)
{
	*d = (struct reader_damage){
		.no_footer = r->no_footer,
		.nr_bad_blocks = r->nr_bad,
		.nr_too_large = r->nr_too_large,
		.bytes_skipped = r->bytes_skipped,
		.nr_unknown = r->nr_unknown,
		.offset = r->damage_offset,
	};
}

bool reader_is_file_damaged(const struct reader *r)
{
	return r->no_footer || r->nr_bad || r->bytes_skipped;
}

bool reader_is_damaged(const struct reader *r)
{
	return reader_is_file_damaged(r) || reader_meta(r, "damage");
}

/* Adds the text on damage of the parts from which the trace was joined. */
static void add_damaged_parts(const struct reader *r, char *buf, size_t size)
{
	size_t n = strlen(buf);

	for (size_t i = 0; i < r->nr_metas && n < size; i++)
		if (!strcmp(r->metas[i].key, "damage"))
			n += snprintf(buf + n, size - n, "%s%s", n ? "; " : "", r->metas[i].value);
}

const char *reader_file_damage_text(const struct reader *r, char *buf, size_t size)
{
	struct reader_damage d;
	size_t n = 0;

	reader_damage(r, &d);
	if (size)
		buf[0] = '\0';
	if (d.nr_bad_blocks)
		n = snprintf(buf, size,
			     "the trace is damaged: %" PRIu64 " block%s left out (%" PRIu64
			     " bytes, first at offset %" PRId64 ")",
			     d.nr_bad_blocks, d.nr_bad_blocks == 1 ? "" : "s", d.bytes_skipped,
			     d.offset);
	if (d.nr_too_large && n < size)
		n += snprintf(buf + n, size - n,
			      "; %" PRIu64 " of them hold%s more text than a trace of its size can have",
			      d.nr_too_large, d.nr_too_large == 1 ? "s" : "");
	if (d.no_footer && n < size)
		n += snprintf(buf + n, size - n, "%sthe recording ended without being closed",
			      n ? "; " : "");
	if (d.bytes_skipped && !d.nr_bad_blocks && n < size)
		snprintf(buf + n, size - n, "%s%" PRIu64 " bytes at offset %" PRId64
			 " could not be read", n ? "; " : "", d.bytes_skipped, d.offset);
	return buf;
}

const char *reader_damage_text(const struct reader *r, char *buf, size_t size)
{
	reader_file_damage_text(r, buf, size);
	if (size)
		add_damaged_parts(r, buf, size);
	return buf;
}
