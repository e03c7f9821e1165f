/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is the only reader of the trace file.
 *
 *	struct reader *r = reader_open("ldb.data", err, sizeof(err));
 *	struct reader_filter f = READER_FILTER_ALL;
 *	struct cursor *c = reader_cursor(r, LDB_BLK_FUNC, &f);
 *	struct reader_rows rows;
 *
 *	while (cursor_next(c, &rows) > 0)
 *		for (size_t i = 0; i < rows.nr; i++)
 *			... rows.func[i] ...
 *	cursor_close(c);
 *	if (reader_is_damaged(r))	all damage is known only after reading
 *		...
 *	reader_close(r);
 *
 * A file of any content is safe to read.  Damaged blocks are left out and counted.  Blocks that a
 * filter excludes are not read from the disk.  A cursor changes nothing in the reader except for
 * what is known about damage, unless rows are retained: several threads may use cursors of their
 * own at the same time.
 */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ldb/trace-format.h>

struct reader;
struct cursor;

/* Opens a trace.  If it returns NULL, err has one line without the tool's name. */
struct reader *reader_open(const char *path, char *err, size_t err_size);
void reader_close(struct reader *r);

const struct ldb_file_header *reader_header(const struct reader *r);

/* Returns the last value of a META key, or NULL. */
const char *reader_meta(const struct reader *r, const char *key);

/* Returns all META rows, in order. */
const struct ldb_row_meta *reader_metas(const struct reader *r, size_t *nr);

/* Converts ticks to nanoseconds since the start of the recording, rounded; saturates. */
int64_t reader_ns(const struct reader *r, int64_t tick);

/* Converts a length in ticks to nanoseconds. */
double reader_ticks_to_ns(const struct reader *r, double ticks);

/* Does the inverse of reader_ns(), for filters. */
int64_t reader_tick(const struct reader *r, int64_t ns);

/* Returns the time of day at a tick, ns since 1970 (UTC), and the tick at a time of day. */
int64_t reader_wall_ns(const struct reader *r, int64_t tick);
int64_t reader_wall_tick(const struct reader *r, int64_t ns);

/* Returns the latest tick of any event in the file; threads that are still running end here. */
int64_t reader_end_tick(const struct reader *r);

/*
 * Selects rows that overlap [t_min, t_max] (ticks) and have an id in [id_min, id_max].  struct
 * ldb_block_header says what the id of a row is, and which rows have all ids; a SCHED row has all
 * ids from one of its tids to the other.  For kinds without time, id or duration, these members
 * have no effect.
 */
struct reader_filter {
	int64_t t_min, t_max;
	uint64_t id_min, id_max;
	uint64_t min_dur;	/* FUNC, LOCK, GAP, REQTAB: the least duration, ticks */
	/* the caller reads only this many first bytes of a row, the rest is undefined; 0: all */
	size_t bytes;
};
#define READER_FILTER_ALL	{ INT64_MIN, INT64_MAX, 0, UINT64_MAX, 0, 0 }

/* Returns true if a row of that kind overlaps [t_min, t_max], by the rules of the filters. */
bool reader_overlaps(unsigned kind, const void *row, int64_t t_min, int64_t t_max);

struct reader_rows {
	unsigned kind;		/* enum ldb_block_kind */
	size_t nr;		/* at least 1 */
	union {
		const void *rows;
#define ROWS(KIND, name, when, bulk, columns)	const struct ldb_row_##name *name;
#include "trace/schemas.def"
	};
};

/*
 * Opens a cursor, which reads the rows that `filter` selects; NULL: all rows.  Returns NULL if
 * there is no memory.
 */
struct cursor *reader_cursor(struct reader *r, unsigned kind, const struct reader_filter *filter);

/*
 * Sets *rows to the next rows, in the order of the file, and returns 1.  Returns 0 at the end, or
 * -ENOMEM.  Rows and strings are valid until the next call.
 */
int cursor_next(struct cursor *c, struct reader_rows *rows);
void cursor_close(struct cursor *c);

/* Returns 1 if there is a row of that kind, 0 if there is none, or -ENOMEM. */
int reader_exists(struct reader *r, unsigned kind);

/*
 * Reads all selected rows with a callback for each batch.  A result other than 0 ends the reading
 * and is returned.  Otherwise returns 0 or -ENOMEM.
 */
int reader_each(struct reader *r, unsigned kind, const struct reader_filter *filter,
		int (*batch)(void *arg, const struct reader_rows *rows), void *arg);

struct reader_range {
	int64_t from, to;
};

/*
 * Until reader_retain_end(), rows of the kind that overlap one of the ranges are retained, as far
 * as memory permits, when their block is decoded.  This is for analyses that read the same short
 * ranges several times; it helps most if they do so in order of time.  Ranges replace those of
 * earlier calls, unless these include them.  Returns 0 or -ENOMEM.  No cursor may be in use during
 * the call, and none in other threads until the end.
 */
int reader_retain(struct reader *r, unsigned kind, const struct reader_range *ranges, size_t nr);
/*
 * Adds a range to those of the last reader_retain().  Retained rows stay so, except for those of
 * blocks that may have further rows in the new range: such blocks are decoded again.
 */
int reader_retain_also(struct reader *r, unsigned kind, const struct reader_range *range);
bool reader_retains(const struct reader *r);

/*
 * May be called before reader_retain(), to set the memory for retained rows; the default is some
 * MB.
 */
int reader_retain_begin(struct reader *r, size_t max_bytes);
/* Returns the memory for retained rows, in bytes. */
size_t reader_retain_bytes(const struct reader *r);

void reader_retain_end(struct reader *r);

/* Returns how many threads are useful: one for each CPU that may be used, up to a limit. */
unsigned reader_nr_threads(void);

/*
 * Runs work(args[i], cursor) in nr threads, including the calling one, and returns the first result
 * other than 0; -ENOMEM if there is no memory.  Together the cursors return every selected row
 * once: whole blocks, in any order.
 */
int reader_share(struct reader *r, unsigned kind, const struct reader_filter *filter, unsigned nr,
		 int (*work)(void *arg, struct cursor *c), void *const *args);

/* Some columns of FUNC rows, each in an array. */
struct reader_funcs {
	size_t nr;		/* at least 1, at most READER_FUNCS_MAX */
	const uint64_t *flags, *pc, *ret, *start_max, *start_unc, *end_max, *end_unc;
	const uint64_t *tid;	/* NULL unless requested */
};
#ifndef READER_FUNCS_MAX		/* tests/fuzz sets a smaller number */
#define READER_FUNCS_MAX	4096
#endif

/* As cursor_next(), for FUNC rows; this is faster if only these columns are needed. */
int cursor_next_funcs(struct cursor *c, bool with_tid, struct reader_funcs *funcs);

/*
 * Sets *rows and *nr to the table of requests, sorted by id and start; if the file has no table, or
 * a damaged one, it is made from the REQ rows.  The rows belong to the reader.  Returns 0 or
 * -ENOMEM.  Only one thread may call it at a time.
 */
int reader_requests(struct reader *r, const struct ldb_row_reqtab **rows, size_t *nr);

/*
 * From here on, rows about requests (REQ, REQNAME, NOTE, REQTAB) are read from another trace, which
 * reader_close(r) closes; none may have been read from r before.  This is used if requests are not
 * those that the program tagged.
 */
void reader_replace_requests(struct reader *r, struct reader *requests);

/*
 * Reads the blocks that were not read yet, so that all damage is known.  Returns 0 or -ENOMEM.  No
 * cursor may be in use during the call.
 */
int reader_check(struct reader *r);

struct reader_damage {
	bool no_footer;		/* the recording ended without being closed */
	uint64_t nr_bad_blocks;	/* damaged, left out */
	uint64_t nr_too_large;	/* part of nr_bad_blocks: not read because of too much text */
	uint64_t bytes_skipped;	/* bytes of bad blocks, and bytes outside of blocks */
	uint64_t nr_unknown;	/* blocks of unknown kinds; not damage */
	int64_t offset;		/* offset of the first damage; -1: none */
};

void reader_damage(const struct reader *r, struct reader_damage *d);

/* Returns true if the file is damaged, or a part was from which the trace was joined (join.h). */
bool reader_is_damaged(const struct reader *r);

/* Writes one line for the user, without the tool's name; "" if there is no damage. */
const char *reader_damage_text(const struct reader *r, char *buf, size_t size);

/* As the two functions above, for this file alone, without the parts from which it was joined. */
bool reader_is_file_damaged(const struct reader *r);
const char *reader_file_damage_text(const struct reader *r, char *buf, size_t size);

#endif
