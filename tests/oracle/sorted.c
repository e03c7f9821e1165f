// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts rows in order of time; see sorted.h. */
#include <stdlib.h>
#include <string.h>
#include "sorted.h"

void sorted_open(struct sorted *s, struct oracle *o, unsigned kind, size_t row_bytes,
		 sorted_key_fn *key)
{
	*s = (struct sorted){ .key = key, .row_bytes = row_bytes, .last = INT64_MIN };
	s->cursor = reader_cursor(o->r, kind, NULL);
	if (!s->cursor)
		oracle_out_of_memory();
}

void sorted_close(struct sorted *s)
{
	cursor_close(s->cursor);
	free(s->rows);
	free(s->spare);
	free(s->places);
	free(s->scratch);
}

static void *grown(void *p, size_t nr, size_t size)
{
	p = realloc(p, nr * size);
	if (!p)
		oracle_out_of_memory();
	return p;
}

static void make_room(struct sorted *s, size_t nr)
{
	if (nr <= s->room)
		return;
	s->room = nr;
	s->rows = grown(s->rows, nr, s->row_bytes);
	s->spare = grown(s->spare, nr, s->row_bytes);
	s->places = grown(s->places, nr, sizeof(*s->places));
	s->scratch = grown(s->scratch, nr, sizeof(*s->scratch));
}

static bool is_before(const struct sorted_place *a, const struct sorted_place *b)
{
	if (a->key.tick != b->key.tick)
		return a->key.tick < b->key.tick;
	return a->key.then < b->key.then;
}

static size_t run_end(const struct sorted *s, size_t from)
{
	size_t i = from + 1;

	while (i < s->nr && !is_before(&s->places[i], &s->places[i - 1]))
		i++;
	return i < s->nr ? i : s->nr;
}

static void merge(struct sorted *s, size_t from, size_t middle, size_t to)
{
	size_t a = from, b = middle;

	for (size_t i = from; i < to; i++) {
		if (b == to || (a < middle && !is_before(&s->places[b], &s->places[a])))
			s->scratch[i] = s->places[a++];
		else
			s->scratch[i] = s->places[b++];
	}
	memcpy(&s->places[from], &s->scratch[from], (to - from) * sizeof(*s->places));
}

/*
 * Merges neighbouring runs until a single run is left; rows with the same key stay in their order.
 */
static void sort(struct sorted *s)
{
	bool again = true;

	while (again) {
		size_t from = 0;

		again = false;
		while (from < s->nr) {
			size_t middle = run_end(s, from), to;

			if (middle == s->nr)
				break;
			to = run_end(s, middle);
			merge(s, from, middle, to);
			again = true;
			from = to;
		}
	}
}

/* The remaining rows move to the front, in order; then more are read. */
static void fill(struct sorted *s)
{
	size_t left = s->nr - s->at;
	struct reader_rows in;
	char *rows = s->spare;

	for (size_t i = 0; i < left; i++)
		memcpy(rows + i * s->row_bytes, s->rows + s->places[s->at + i].row * s->row_bytes,
		       s->row_bytes);
	s->spare = s->rows;
	s->rows = rows;
	s->nr = left;
	s->at = 0;
	while (!s->ended && s->nr < 2 * SORTED_WINDOW) {
		int rc = cursor_next(s->cursor, &in);

		if (rc < 0)
			oracle_out_of_memory();
		s->ended = !rc;
		if (!rc)
			break;
		make_room(s, s->nr + in.nr);
		memcpy(s->rows + s->nr * s->row_bytes, in.rows, in.nr * s->row_bytes);
		s->nr += in.nr;
		s->nr_rows += in.nr;
	}
	for (size_t i = 0; i < s->nr; i++) {
		s->places[i].row = i;
		s->key(s->rows + i * s->row_bytes, &s->places[i].key);
	}
	sort(s);
}

const void *sorted_peek(struct sorted *s)
{
	if (!s->ended && s->nr - s->at <= SORTED_WINDOW)
		fill(s);
	if (s->at == s->nr)
		return NULL;
	return s->rows + s->places[s->at].row * s->row_bytes;
}

const void *sorted_next(struct sorted *s)
{
	const void *row = sorted_peek(s);
	int64_t tick;

	if (!row)
		return NULL;
	tick = s->places[s->at++].key.tick;
	s->nr_late += tick < s->last;
	if (tick > s->last)
		s->last = tick;
	return row;
}
