// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows are not moved; their keys are sorted, by merging the runs that are in order already.  Rows
 * that come in order are a single run, which is read only once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "window.h"

void window_init(struct window *w, size_t row_bytes, int (*play)(void *arg, const void *row),
		 void *arg)
{
	*w = (struct window){ .row_bytes = row_bytes, .play = play, .arg = arg };
}

void window_free(struct window *w)
{
	for (size_t i = 0; i < WINDOW_ROWS / WINDOW_CHUNK; i++)
		free(w->chunks[i]);
	free(w->keys);
	free(w->spare);
	window_init(w, w->row_bytes, w->play, w->arg);
}

/* Returns where the run that begins at i ends. */
static size_t run_end(const struct window_key *keys, size_t i, size_t nr)
{
	while (++i < nr && keys[i - 1].tick <= keys[i].tick)
		;
	return i < nr ? i : nr;
}

/*
 * Merges [from, middle) and [middle, to) into `out`; of equal keys, those of the first range come
 * first.
 */
static void merge(const struct window_key *keys, size_t from, size_t middle, size_t to,
		  struct window_key *out)
{
	size_t a = from, b = middle;

	for (size_t i = from; i < to; i++)
		out[i] = b == to || (a < middle && keys[a].tick <= keys[b].tick) ? keys[a++] :
										   keys[b++];
}

/* Merges neighbouring runs until a single one is left. */
static void sort_keys(struct window_key *keys, size_t nr, struct window_key *spare)
{
	struct window_key *in = keys, *out = spare, *swap;
	size_t middle, end;

	while (run_end(in, 0, nr) < nr) {
		for (size_t i = 0; i < nr; i = end) {
			middle = run_end(in, i, nr);
			end = middle < nr ? run_end(in, middle, nr) : nr;
			merge(in, i, middle, end, out);
		}
		swap = in;
		in = out;
		out = swap;
	}
	if (in != keys)
		memcpy(keys, in, nr * sizeof(*keys));
}

/* Sorts the new keys, and merges them with the earlier ones, which are sorted already. */
static void sort(struct window *w)
{
	struct window_key *spare = w->spare;
	size_t sorted = w->nr_sorted;

	sort_keys(w->keys + sorted, w->nr - sorted, spare);
	if (sorted && sorted < w->nr && w->keys[sorted - 1].tick > w->keys[sorted].tick) {
		merge(w->keys, 0, sorted, w->nr, spare);
		memcpy(w->keys, spare, w->nr * sizeof(*spare));
	}
	w->nr_sorted = w->nr;
}

static char *row_at(const struct window *w, uint32_t slot)
{
	return w->chunks[slot / WINDOW_CHUNK] + slot % WINDOW_CHUNK * w->row_bytes;
}

static int play_rows(struct window *w, size_t nr)
{
	struct window_key *played;
	int rc = 0;

	if (!nr)
		return 0;	/* keys may still be NULL */
	played = w->spare;
	sort(w);
	for (size_t i = 0; i < nr && !rc; i++)
		rc = w->play(w->arg, row_at(w, w->keys[i].slot));
	/*
	 * The slots of rows that were passed to play() are free now, and their numbers are stored
	 * behind the keys.
	 */
	memcpy(played, w->keys, nr * sizeof(*played));
	memmove(w->keys, w->keys + nr, (w->nr - nr) * sizeof(*w->keys));
	memcpy(w->keys + w->nr - nr, played, nr * sizeof(*played));
	w->nr -= nr;
	w->nr_sorted = w->nr;
	return rc;
}

/*
 * Allocates a chunk of slots, not all slots at once, because most windows have few rows.  Keys grow
 * in one step: each further step would leave a hole in the heap that is too small for the next.
 */
static int make_room(struct window *w)
{
	char **chunk = &w->chunks[w->nr_slots / WINDOW_CHUNK];
	size_t need = w->nr_slots < WINDOW_FIRST ? WINDOW_FIRST : WINDOW_ROWS;

	if (!*chunk)
		*chunk = malloc(WINDOW_CHUNK * w->row_bytes);
	if (!*chunk || !array_reserve(&w->keys, &w->room, need, sizeof(*w->keys)) ||
	    !buffer_room(&w->spare, &w->spare_bytes, w->room * sizeof(*w->spare)))
		return -ENOMEM;
	return 0;
}

int window_add(struct window *w, const void *row, int64_t tick)
{
	struct window_key *key;

	if (w->nr == w->nr_slots && w->nr % WINDOW_CHUNK == 0 && make_room(w))
		return -ENOMEM;
	key = &w->keys[w->nr];
	if (w->nr++ == w->nr_slots)
		key->slot = w->nr_slots++;
	key->tick = tick;
	memcpy(row_at(w, key->slot), row, w->row_bytes);
	return w->nr == WINDOW_ROWS ? play_rows(w, WINDOW_ROWS / 2) : 0;
}

int window_finish(struct window *w)
{
	return play_rows(w, w->nr);
}
