// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encodes rows into the payload of a block.
 *
 * This is the recorder's inner loop.  Rows are encoded a few at a time, while they are in the
 * nearest cache, into one buffer for each column.  The values of a column in those rows mostly have
 * similar sizes, so one loop is chosen for the largest of them.  The loops have nearly no branches
 * that depend on a value, because these would often be mispredicted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "trace/columns.h"

#define VARINT_MAX	10
#define SPILL		8	/* a store may write so many bytes more than it adds */

static inline uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ -(v >> 63);
}

static uint8_t *put_varint(uint8_t *out, uint64_t v)
{
	while (v >= 0x80) {
		*out++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*out++ = (uint8_t)v;
	return out;
}

/* Encodes values below 1 << 14. */
static uint8_t *put_2(uint8_t *out, const uint64_t *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t x = v[i], more = x > 0x7f;
		uint16_t word = (x & 0x7f) | more << 7 | x >> 7 << 8;

		memcpy(out, &word, 2);
		out += 1 + more;
	}
	return out;
}

/* Encodes values below 1 << 28. */
static uint8_t *put_4(uint8_t *out, const uint64_t *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t x = v[i];
		unsigned more = (x > 0x7f) + (x > 0x3fff) + (x > 0x1fffff);

		x = (x & 0x3fff) | (x & 0xfffc000) << 2;
		x = (x & 0x7f007f) | (x & 0x3f803f80) << 1;
		x |= 0x80808080U & ((1U << more * 8) - 1);
		memcpy(out, &x, 4);
		out += 1 + more;
	}
	return out;
}

/* Encodes any values; nearly all are below 1 << 56. */
static uint8_t *put_8(uint8_t *out, const uint64_t *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t x = v[i];
		unsigned more = (63 - __builtin_clzll(x | 1)) / 7;

		if (__builtin_expect(more > 7, 0)) {
			out = put_varint(out, x);
			continue;
		}
		x = (x & 0xfffffff) | (x & 0xfffffff0000000) << 4;
		x = (x & 0x3fff00003fff) | (x & 0xfffc0000fffc000) << 2;
		x = (x & 0x7f007f007f007f) | (x & 0x3f803f803f803f80) << 1;
		x |= 0x8080808080808080U & ((1ULL << more * 8) - 1);
		memcpy(out, &x, 8);
		out += 1 + more;
	}
	return out;
}

/* `all` is the bitwise or of all values. */
static uint8_t *put_varints(uint8_t *out, const uint64_t *v, size_t nr, uint64_t all)
{
	if (all < 0x80) {
		for (size_t i = 0; i < nr; i++)
			out[i] = v[i];
		return out + nr;
	}
	if (all < 1U << 14)
		return put_2(out, v, nr);
	if (all < 1U << 28)
		return put_4(out, v, nr);
	return put_8(out, v, nr);
}

/* Stores a column's values in v, as they are coded; returns their bitwise or. */
static inline __attribute__((always_inline)) uint64_t
gather(const struct schema_column *c, unsigned coding, unsigned size, const char *row, size_t nr,
       size_t stride, uint64_t *before, uint64_t *v)
{
	uint64_t last = *before, all = 0;
	const char *base = row + c->base;

	row += c->offset;
	for (size_t i = 0; i < nr; i++, row += stride, base += stride) {
		uint64_t x, from;
		uint32_t x32;

		if (size == 4) {
			memcpy(&x32, row, 4);
			x = x32;
		} else {
			memcpy(&x, row, 8);
		}
		if (coding == COLUMN_D) {
			from = last;
			last = x;
			x = zigzag(x - from);
		} else if (coding == COLUMN_R || coding == COLUMN_Z) {
			memcpy(&from, base, 8);
			x -= from;
			if (coding == COLUMN_Z)
				x = zigzag(x);
		}
		all |= x;
		v[i] = x;
	}
	*before = last;
	return all;
}

static const char *string_of(const struct schema_column *c, const char *row)
{
	const char *s;

	memcpy(&s, row + c->offset, sizeof(s));
	return s ? s : "";
}

/* Makes room for the most that add_tile() can store. */
static int reserve_tile(struct encoder *e, const char *rows, size_t nr)
{
	const struct schema *s = e->schema;

	for (unsigned i = 0; i < s->nr_columns; i++) {
		struct encoder_column *col = &e->columns[i];
		size_t more = nr * VARINT_MAX;

		for (size_t n = 0; s->columns[i].coding == COLUMN_S && n < nr; n++)
			more += strnlen(string_of(&s->columns[i], rows + n * s->row_bytes),
					ENCODER_STRING_MAX);
		if (!array_reserve(&col->data, &col->room, col->bytes + more + SPILL, 1))
			return -ENOMEM;
	}
	return 0;
}

static void add_strings(const struct schema_column *c, struct encoder_column *col, const char *row,
			size_t nr, size_t stride)
{
	uint8_t *out = col->data + col->bytes;

	for (; nr; nr--, row += stride) {
		const char *s = string_of(c, row);
		size_t length = strnlen(s, ENCODER_STRING_MAX);

		out = put_varint(out, length);
		memcpy(out, s, length);
		out += length;
	}
	col->bytes = out - col->data;
}

static void add_tile(struct encoder *e, const char *rows, size_t nr)
{
	const struct schema *s = e->schema;
	uint64_t values[ENCODER_TILE], all;

	for (unsigned i = 0; i < s->nr_columns; i++) {
		struct encoder_column *col = &e->columns[i];

		if (s->columns[i].coding == COLUMN_S) {
			add_strings(&s->columns[i], col, rows, nr, s->row_bytes);
			continue;
		}
		all = COLUMN_CONSTANT(gather, &s->columns[i], rows, nr, s->row_bytes, &col->before,
				      values);
		col->bytes = put_varints(col->data + col->bytes, values, nr, all) - col->data;
	}
	e->nr += nr;
}

int encoder_add(struct encoder *e, const void *rows, size_t nr)
{
	if (reserve_tile(e, rows, nr))
		return -ENOMEM;
	add_tile(e, rows, nr);
	return 0;
}

size_t encoder_bytes(const struct encoder *e)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < e->schema->nr_columns; i++)
		bytes += 4 + e->columns[i].bytes;
	return bytes;
}

void encoder_put(const struct encoder *e, uint8_t *out)
{
	for (unsigned i = 0; i < e->schema->nr_columns; i++) {
		uint32_t bytes = e->columns[i].bytes;

		memcpy(out, &bytes, 4);
		if (bytes)
			memcpy(out + 4, e->columns[i].data, bytes);
		out += 4 + bytes;
	}
}

void encoder_clear(struct encoder *e)
{
	for (unsigned i = 0; i < COLUMNS_MAX; i++) {
		e->columns[i].bytes = 0;
		e->columns[i].before = 0;
	}
	e->nr = 0;
}

void encoder_exit(struct encoder *e)
{
	for (unsigned i = 0; i < COLUMNS_MAX; i++)
		free(e->columns[i].data);
}
