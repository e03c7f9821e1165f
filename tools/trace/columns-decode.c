// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes the payload of a block into rows, or some of its columns.
 *
 * The file may be hostile: every read is bounded by the end of its column, and a block is accepted
 * completely or not at all.  Groups of rows of which none is needed are mostly only checked.
 */
#include <string.h>
#include "trace/columns.h"
#include "trace/varint.h"

/*
 * The rows of a block do not fit into the CPU's inner caches, so they are decoded in groups: all
 * columns of one group before those of the next group.
 */
#define TILE_ROWS	256

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

/*
 * Undoes a column's coding (enum column_coding) and stores the values in rows.  Returns false if
 * one is too large.
 */
static inline __attribute__((always_inline)) bool
put_numbers(const struct schema_column *c, unsigned coding, unsigned size,
	    struct column_state *state, const uint64_t *values, size_t nr, char *row, size_t stride)
{
	uint64_t before = state->before, v, base, all = 0;

	for (size_t i = 0; i < nr; i++, row += stride) {
		v = values[i];
		if (coding == COLUMN_D)
			v = before += unzigzag(v);
		if (coding == COLUMN_R || coding == COLUMN_Z) {
			memcpy(&base, row + c->base, 8);
			v = (coding == COLUMN_Z ? unzigzag(v) : v) + base;
		}
		if (size == 4) {
			uint32_t v32 = v;

			all |= v;
			memcpy(row + c->offset, &v32, 4);
		} else {
			memcpy(row + c->offset, &v, 8);
		}
	}
	state->before = before;
	return size == 8 || all <= UINT32_MAX;
}

static bool decode_strings(const struct schema_column *c, struct column_state *state, char *row,
			   size_t nr, size_t stride, char **strings)
{
	char *out = *strings;

	for (; nr; nr--, row += stride) {
		uint64_t length = 0;

		if (!state->is_missing)
			state->p = varint_decode(state->p, state->end, &length, 1);
		if (!state->p || length > (size_t)(state->end - state->p))
			return false;
		memcpy(row + c->offset, &out, sizeof(out));
		memcpy(out, state->p, length);
		out[length] = '\0';
		out += length + 1;
		state->p += length;
	}
	*strings = out;
	return true;
}

static bool decode_column(const struct schema_column *c, struct column_state *state, char *row,
			  size_t nr, size_t stride, char **strings)
{
	static const uint64_t zeros[TILE_ROWS];
	uint64_t values[TILE_ROWS];

	if (c->coding == COLUMN_S)
		return decode_strings(c, state, row, nr, stride, strings);
	if (!state->is_missing)
		state->p = varint_decode(state->p, state->end, values, nr);
	if (!state->p)
		return false;
	return COLUMN_CONSTANT(put_numbers, c, state, state->is_missing ? zeros : values, nr, row, stride);
}

/* Rows that are not needed: most of their columns are decoded only if a later row is needed */

static bool is_time(const struct schema_column *c)
{
	return c->meaning == COLUMN_IS_TICK || c->meaning == COLUMN_IS_TICKS;
}

/* Decodes the values that were passed over, but does not store them.  Returns false if invalid. */
static bool catch_up(const struct schema_column *c, struct column_state *state)
{
	uint64_t values[TILE_ROWS], before = state->before, all = 0;

	while (state->behind && !state->is_missing) {
		size_t n = state->behind < TILE_ROWS ? state->behind : TILE_ROWS;

		state->p = varint_decode(state->p, state->end, values, n);
		if (!state->p)
			return false;
		for (size_t i = 0; i < n; i++)
			all |= c->coding == COLUMN_D ? before += unzigzag(values[i]) : values[i];
		state->behind -= n;
	}
	state->before = before;
	state->behind = 0;
	return c->size == 8 || all <= UINT32_MAX;
}

/* Returns true if the column ends with the rows that were passed over last, and these are valid. */
static bool ends_right(const struct schema_column *c, struct column_state *state)
{
	bool is_sum = c->coding == COLUMN_D && c->size == 4;

	if (state->behind && !is_sum && !state->is_missing &&
	    varint_are_short(state->p, state->end, state->behind, c->size))
		return true;
	return catch_up(c, state) && state->p == state->end;
}

/*
 * Decodes the times of a group of rows, and sets *is_needed to whether the rows are needed, by
 * their times.  If they are, decodes the other columns, too.  Returns false if the payload is
 * invalid.
 */
static bool decode_times(const struct schema *s, struct column_state *states, char *row, size_t nr,
			 const struct columns_select *select, bool *is_needed)
{
	for (unsigned i = 0; i < s->nr_columns; i++)
		if (is_time(&s->columns[i]) && !decode_column(&s->columns[i], &states[i], row, nr, s->row_bytes, NULL))
			return false;
	*is_needed = !select->times || select->times(select->arg, row, nr);
	for (unsigned i = 0; i < s->nr_columns; i++) {
		const struct schema_column *c = &s->columns[i];

		if (is_time(c))
			continue;
		if (!*is_needed || (select->bytes && c->offset >= select->bytes))
			states[i].behind += nr;
		else if (!catch_up(c, &states[i]) || !decode_column(c, &states[i], row, nr, s->row_bytes, NULL))
			return false;
	}
	return true;
}

/* As columns_decode(), for a table without strings. */
static bool decode_some(const struct schema *s, struct column_state *states, char *row, size_t *nr,
			const struct columns_select *select)
{
	size_t left = *nr;
	char *to = row, *cleared = row;

	for (size_t n; left; left -= n) {
		bool is_needed;

		n = left < TILE_ROWS ? left : TILE_ROWS;
		/*
		 * times() may read the other columns, whose values do not matter.  The next tile
		 * is decoded into the same memory if this one is not needed, so clearing that
		 * memory once is enough.
		 */
		if (select->times && to + n * s->row_bytes > cleared) {
			memset(cleared, 0, to + n * s->row_bytes - cleared);
			cleared = to + n * s->row_bytes;
		}
		if (!decode_times(s, states, to, n, select, &is_needed))
			return false;
		if (is_needed)
			to += (select->rows ? select->rows(select->arg, to, n) : n) * s->row_bytes;
	}
	*nr = (to - row) / s->row_bytes;
	for (unsigned i = 0; i < s->nr_columns; i++)
		if (!ends_right(&s->columns[i], &states[i]))
			return false;
	return true;
}

/*
 * Columns that a later version has added are ignored; columns that an older file lacks are read as
 * 0 and "".
 */
static bool find_columns(const struct schema *s, const uint8_t *p, const uint8_t *end,
			 struct column_state *states)
{
	for (unsigned i = 0; i < s->nr_columns; i++) {
		uint32_t bytes;

		if (p == end && i) {
			states[i] = (struct column_state){ p, p, 0, true, 0 };
			continue;
		}
		if (end - p < 4)
			return false;
		memcpy(&bytes, p, 4);
		p += 4;
		if (bytes > (size_t)(end - p))
			return false;
		states[i] = (struct column_state){ p, p + bytes, 0, false, 0 };
		p += bytes;
	}
	return true;
}

bool columns_decode(const struct schema *s, const uint8_t *payload, size_t bytes, void *rows,
		    size_t *nr, char *strings, const struct columns_select *select)
{
	struct column_state states[COLUMNS_MAX];
	size_t left = *nr;
	char *row = rows;

	if (!find_columns(s, payload, payload + bytes, states))
		return false;
	if (select && !s->nr_strings)
		return decode_some(s, states, rows, nr, select);
	while (left) {
		size_t n = left < TILE_ROWS ? left : TILE_ROWS;

		for (unsigned i = 0; i < s->nr_columns; i++)
			if (!decode_column(&s->columns[i], &states[i], row, n, s->row_bytes,
					   &strings))
				return false;
		left -= n;
		row += (select && select->rows ? select->rows(select->arg, row, n) : n) * s->row_bytes;
	}
	*nr = (row - (char *)rows) / s->row_bytes;
	for (unsigned i = 0; i < s->nr_columns; i++)
		if (states[i].p != states[i].end)
			return false;
	return true;
}

/* Some columns */

static unsigned column_at(const struct schema *s, unsigned offset)
{
	unsigned i = 0;

	while (s->columns[i].offset != offset)
		i++;
	return i;
}

/* Returns true if all values, which are sums of the column's differences, fit into 32 bits. */
static bool sums_fit(const struct column_state *c, size_t nr)
{
	uint64_t values[TILE_ROWS], sum = 0, all = 0;
	const uint8_t *p = c->p;

	while (nr) {
		size_t n = nr < TILE_ROWS ? nr : TILE_ROWS;

		p = varint_decode(p, c->end, values, n);
		for (size_t i = 0; i < n; i++)
			all |= sum += unzigzag(values[i]);
		nr -= n;
	}
	return all <= UINT32_MAX;
}

static bool column_is_plain(const struct schema_column *c, const struct column_state *state,
			    size_t nr)
{
	return varint_are_short(state->p, state->end, nr, c->size) &&
	       (c->size == 8 || c->coding == COLUMN_V || sums_fit(state, nr));
}

bool tiles_begin(struct tiles *t, const struct schema *s, const uint8_t *payload, size_t bytes,
		 size_t nr, uint32_t wanted)
{
	for (unsigned i = s->nr_columns; i--;)
		if (wanted >> i & 1 && (s->columns[i].coding == COLUMN_R ||
					s->columns[i].coding == COLUMN_Z))
			wanted |= 1U << column_at(s, s->columns[i].base);
	*t = (struct tiles){ .s = s, .wanted = wanted, .left = nr };
	if (!find_columns(s, payload, payload + bytes, t->states))
		return false;
	for (unsigned i = 0; i < s->nr_columns; i++)
		if (wanted >> i & 1 && !column_is_plain(&s->columns[i], &t->states[i], nr))
			return false;
	return true;
}

static void undo_coding(struct tiles *t, unsigned i, uint64_t *v, size_t nr,
			uint64_t (*values)[TILES_ROWS])
{
	const struct schema_column *c = &t->s->columns[i];
	uint64_t before = t->states[i].before;
	const uint64_t *base;

	if (c->coding == COLUMN_D) {
		for (size_t k = 0; k < nr; k++)
			v[k] = before += unzigzag(v[k]);
		t->states[i].before = before;
	} else if (c->coding != COLUMN_V) {
		base = values[column_at(t->s, c->base)];
		for (size_t k = 0; k < nr; k++)
			v[k] = (c->coding == COLUMN_Z ? unzigzag(v[k]) : v[k]) + base[k];
	}
}

size_t tiles_next(struct tiles *t, uint64_t (*values)[TILES_ROWS])
{
	size_t nr = t->left < TILES_ROWS ? t->left : TILES_ROWS;

	for (unsigned i = 0; i < t->s->nr_columns; i++) {
		struct column_state *c = &t->states[i];

		if (!(t->wanted >> i & 1))
			continue;
		c->p = varint_decode(c->p, c->end, values[i], nr);
		undo_coding(t, i, values[i], nr, values);
	}
	t->left -= nr;
	return nr;
}
