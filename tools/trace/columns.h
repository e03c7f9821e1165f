/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Describes the tables of the trace file (schemas.def): the columns of each kind of block and their
 * codings.  Encodes rows into a payload, and decodes them.  Only files of this directory use this
 * header.
 *
 * All arithmetic is modulo 2^64, so every value is decoded as it was encoded.
 */
#ifndef TRACE_COLUMNS_H
#define TRACE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ldb/trace-format.h>

#define COLUMNS_MAX	20	/* most columns of a table */

enum column_coding {
	COLUMN_V,	/* varint */
	COLUMN_D,	/* varint of the zigzag difference to the row before */
	COLUMN_S,	/* string */
	COLUMN_R,	/* varint of value - base */
	COLUMN_Z,	/* varint of the zigzag coding of value - base */
};

enum column_meaning {	/* as schemas.def says */
	COLUMN_IS_,	/* any number */
	COLUMN_IS_TICK, COLUMN_IS_TICKS, COLUMN_IS_CODE, COLUMN_IS_DATA, COLUMN_IS_TID,
	COLUMN_IS_REQUEST, COLUMN_IS_API, COLUMN_IS_KSYM, COLUMN_IS_NAMED,
};

struct schema_column {
	uint8_t coding;		/* enum column_coding */
	uint8_t size;		/* bytes of the field: 4 or 8; strings: sizeof(char *) */
	uint8_t offset;		/* where the field is in the row */
	uint8_t base;		/* R, Z: offset of the field subtracted, an earlier column */
	uint8_t meaning;	/* enum column_meaning */
};

/* Calls do(column, coding, bytes, ...) with constants, so that its loops have no branches. */
#define COLUMN_CONSTANT(do, c, ...)						\
	((c)->coding == COLUMN_R ? do(c, COLUMN_R, 8, __VA_ARGS__) :		\
	 (c)->coding == COLUMN_Z ? do(c, COLUMN_Z, 8, __VA_ARGS__) :		\
	 (c)->coding == COLUMN_V && (c)->size == 4 ? do(c, COLUMN_V, 4, __VA_ARGS__) : \
	 (c)->coding == COLUMN_V ? do(c, COLUMN_V, 8, __VA_ARGS__) :		\
	 (c)->size == 4 ? do(c, COLUMN_D, 4, __VA_ARGS__) : do(c, COLUMN_D, 8, __VA_ARGS__))

struct schema {
	const char *name;
	const struct schema_column *columns;
	uint16_t nr_columns;
	uint16_t nr_strings;	/* columns that are strings */
	uint16_t row_bytes;
	uint16_t flags;		/* SCHEMA_F_* */
};
#define SCHEMA_F_TIME	1	/* filters compare the time of a row, */
#define SCHEMA_F_ID	2	/* an id, */
#define SCHEMA_F_DUR	4	/* its duration */
#define SCHEMA_F_BULKY	8	/* the kind is not needed to close a file */

/* The bounds that the index stores for a block, and that filters compare for a row. */
struct extent {
	int64_t t_min, t_max;	/* ticks */
	uint64_t id_min, id_max; /* the least and the greatest id */
	uint64_t dur;		/* ticks: the greatest duration */
};

/* Returns NULL if this version does not know the kind. */
const struct schema *schema_find(unsigned kind);

/* Widens `sum`, which is EXTENT_NONE at first, by the extents of nr rows. */
void schema_extents(unsigned kind, const void *rows, size_t nr, struct extent *sum);
#define EXTENT_NONE	{ INT64_MAX, INT64_MIN, UINT64_MAX, 0, 0 }

static inline void extent_widen(struct extent *sum, const struct extent *e)
{
	sum->t_min = e->t_min < sum->t_min ? e->t_min : sum->t_min;
	sum->t_max = e->t_max > sum->t_max ? e->t_max : sum->t_max;
	sum->id_min = e->id_min < sum->id_min ? e->id_min : sum->id_min;
	sum->id_max = e->id_max > sum->id_max ? e->id_max : sum->id_max;
	sum->dur = e->dur > sum->dur ? e->dur : sum->dur;
}

/*
 * Returns true if the extent of a block or a row overlaps `want`, and its duration is at least that
 * of `want`.
 */
static inline bool extent_matches(const struct extent *want, const struct extent *e)
{
	return e->t_max >= want->t_min && e->t_min <= want->t_max && e->id_max >= want->id_min &&
	       e->id_min <= want->id_max && e->dur >= want->dur;
}

/* Copies the rows that match `want` to `to`, which may be `rows`; returns their number. */
size_t schema_filter(unsigned kind, const struct extent *want, void *to, const void *rows,
		     size_t nr);

#define ENCODER_STRING_MAX	65536	/* longer ones are cut */

/* A block that is being encoded; initially all zeros except for its schema. */
struct encoder {
	const struct schema *schema;
	size_t nr;		/* rows */
	struct encoder_column {
		uint8_t *data;
		size_t bytes, room;
		uint64_t before;	/* the column's value in the last row */
	} columns[COLUMNS_MAX];
};

/* Adds all of the rows, or none: returns 0 or -ENOMEM.  nr is at most ENCODER_TILE. */
int encoder_add(struct encoder *e, const void *rows, size_t nr);
#define ENCODER_TILE	256

size_t encoder_bytes(const struct encoder *e);	/* the size of the payload */
void encoder_put(const struct encoder *e, uint8_t *out);
void encoder_clear(struct encoder *e);		/* begins the next block */
void encoder_exit(struct encoder *e);

/* Selects rows of a block as they are decoded. */
struct columns_select {
	/*
	 * Moves the needed ones of nr rows to the front; returns their number.  NULL: all are
	 * needed.
	 */
	size_t (*rows)(const void *arg, char *rows, size_t nr);
	/*
	 * Is called first, when only the times of the rows are set.  Returns false if none of the
	 * rows is needed, by their times.  NULL: they may all be needed.  Not called for a table
	 * with strings.
	 */
	bool (*times)(const void *arg, const char *rows, size_t nr);
	const void *arg;
	/* the caller needs only the columns in the first `bytes` bytes of a row; 0: all columns */
	size_t bytes;
};

/*
 * Decodes *nr rows, and sets *nr to how many of them are selected (select NULL: all).  Those that
 * are not selected are overwritten by the next ones, so memory behind the selected ones is hardly
 * touched.  Returns false if the payload does not have exactly *nr valid rows.  Texts are stored in
 * `strings`, which has room for bytes + *nr * nr_strings.
 */
bool columns_decode(const struct schema *s, const uint8_t *payload, size_t bytes, void *rows,
		    size_t *nr, char *strings, const struct columns_select *select);

struct column_state {		/* position in a column */
	const uint8_t *p, *end;
	uint64_t before;	/* the column's value in the last row */
	bool is_missing;	/* the file was written before the format had this column */
	size_t behind;		/* rows that were passed over and are not decoded yet */
};

#ifndef TILES_ROWS		/* tests/fuzz sets a smaller number */
#define TILES_ROWS	4096	/* some columns of this many rows fit into the CPU's caches */
#endif

/* Decodes some columns of a block, a few rows at a time. */
struct tiles {
	const struct schema *s;
	/* a bit for each column that is wanted, or on which a wanted one depends */
	uint32_t wanted;
	size_t left;		/* rows */
	struct column_state states[COLUMNS_MAX];
};

/*
 * Returns false if the payload may be invalid, or has such large numbers that only columns_decode()
 * can check them.  Otherwise tiles_next() does not fail.  The table must not have strings.
 */
bool tiles_begin(struct tiles *t, const struct schema *s, const uint8_t *payload, size_t bytes,
		 size_t nr, uint32_t wanted);

/*
 * Decodes each wanted column i into values[i].  Returns the number of rows; 0: there are no more.
 */
size_t tiles_next(struct tiles *t, uint64_t (*values)[TILES_ROWS]);

#endif
