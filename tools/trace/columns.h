/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of the trace file: which columns a block kind has, how each is
 * coded, and the two directions rows -> payload -> rows.  Private to the writer
 * and the reader.
 *
 * All arithmetic is modulo 2^64, so every value survives the round trip.
 */
#ifndef TRACE_COLUMNS_H
#define TRACE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ldb/trace-format.h>

enum column_coding {
	COLUMN_V,	/* varint */
	COLUMN_D,	/* zigzag difference to the row before */
	COLUMN_S,	/* string */
	COLUMN_R,	/* varint of value - base */
	COLUMN_Z,	/* zigzag of value - base */
};

struct column {
	uint8_t coding;		/* enum column_coding */
	uint8_t size;		/* bytes of the field: 4 or 8; strings: sizeof(char *) */
	uint8_t offset;		/* of the field in the row */
	uint8_t base;		/* R, Z: offset of the field subtracted, an earlier column */
};

struct schema {
	const char *name;
	const struct column *columns;
	uint16_t nr_columns;
	uint16_t nr_strings;	/* columns that are strings */
	uint16_t row_bytes;
};

/* What the index keeps of a block, and what filters ask of a row. */
struct extent {
	int64_t t_min, t_max;	/* ticks */
	uint64_t id_min, id_max; /* equal, or all ids */
	uint64_t dur;
};

/* NULL: a kind this version does not know. */
const struct schema *schema_find(unsigned kind);

void schema_extent(unsigned kind, const void *row, struct extent *e);

/* Upper bound of the payload of nr rows whose strings have string_bytes in all. */
size_t columns_bound(const struct schema *s, size_t nr, size_t string_bytes);

/* Returns the size of the payload written to out. */
size_t columns_encode(const struct schema *s, const void *rows, size_t nr, uint8_t *out);

/*
 * False: the payload is not a valid one of nr rows.  Strings are put into
 * strings, which has room for bytes + nr * nr_strings; they live as long as it.
 */
bool columns_decode(const struct schema *s, const uint8_t *payload, size_t bytes, void *rows,
		    size_t nr, char *strings);

#endif
