// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts rows in order of time; see backlog.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/backlog.h"

#define OUT_BYTES	16384	/* most bytes of rows that are emitted with one call */
#define NEAR		8	/* a row at most this many places out of order begins no new run */

/* Enlarges the arrays.  If one of the three cannot be enlarged, all of them remain usable. */
static int grow(struct backlog *w)
{
	size_t rows = w->room, keys = w->room, merged = w->room;

	if (!array_room(&w->rows, &rows, w->nr, w->row_bytes) ||
	    !array_room(&w->keys, &keys, w->nr, sizeof(*w->keys)) ||
	    !array_room(&w->merged, &merged, w->nr, sizeof(*w->merged)))
		return -ENOMEM;
	w->room = merged;
	return 0;
}

int backlog_init(struct backlog *w, size_t row_bytes, size_t max, backlog_out_fn *out, void *arg)
{
	memset(w, 0, sizeof(*w));
	w->row_bytes = row_bytes;
	w->max = max;
	w->out = out;
	w->arg = arg;
	return grow(w);
}

void backlog_exit(struct backlog *w)
{
	free(w->rows);
	free(w->keys);
	free(w->merged);
}

void *backlog_add(struct backlog *w, int64_t tick)
{
	/*
	 * At the limit, or if there is no memory, all rows are emitted, although earlier ones may
	 * follow: so none is lost.
	 */
	if (w->nr == w->room && (w->nr >= w->max || grow(w)))
		backlog_release(w, INT64_MAX);
	w->keys[w->nr] = (struct backlog_key){ tick, w->nr };
	return w->rows + w->nr++ * w->row_bytes;
}

/*
 * Returns the end of the run that begins at `from`, after moving keys that are only a few places
 * out of order.
 */
static size_t run_end(struct backlog_key *k, size_t from, size_t nr)
{
	size_t i;

	for (i = from + 1; i < nr; i++) {
		struct backlog_key key = k[i];
		size_t at = i;

		if (key.tick >= k[i - 1].tick)
			continue;
		while (at > from && i - at < NEAR && k[at - 1].tick > key.tick)
			at--;
		if (at > from && k[at - 1].tick > key.tick)
			break;
		memmove(&k[at + 1], &k[at], (i - at) * sizeof(*k));
		k[at] = key;
	}
	return i;
}

/* Merges [0, mid) and [mid, nr) of `in`, each of which is in order, into `out`. */
static void merge(const struct backlog_key *in, size_t mid, size_t nr, struct backlog_key *out)
{
	size_t i = 0, j = mid;

	while (i < mid && j < nr) {
		int second = in[j].tick < in[i].tick;

		*out++ = in[second ? j : i];
		j += second;
		i += !second;
	}
	memcpy(out, &in[i], (mid - i) * sizeof(*in));
	memcpy(out + mid - i, &in[j], (nr - j) * sizeof(*in));
}

/* Merges neighbouring runs in pairs; returns how many runs are left. */
static size_t merge_runs(struct backlog *w)
{
	struct backlog_key *merged = w->merged;
	size_t from = 0, runs;

	for (runs = 0; from < w->nr; runs++) {
		size_t mid = run_end(w->keys, from, w->nr), end = mid;

		if (!from && mid == w->nr)
			return 1;
		if (mid < w->nr)
			end = run_end(w->keys, mid, w->nr);
		merge(w->keys + from, mid - from, end - from, merged + from);
		from = end;
	}
	w->merged = w->keys;
	w->keys = merged;
	return runs;
}

/*
 * Copies the rows of keys [from, from + nr).  This function is inlined, so that callers with a
 * constant size are fast.
 */
static inline __attribute__((always_inline)) void
gather_rows(const struct backlog *w, size_t from, size_t nr, size_t row_bytes, char *out)
{
	for (size_t i = 0; i < nr; i++)
		memcpy(out + i * row_bytes, w->rows + w->keys[from + i].row * row_bytes,
		       row_bytes);
}

static void gather(const struct backlog *w, size_t from, size_t nr, char *out)
{
	switch (w->row_bytes) {
	case 40:
		gather_rows(w, from, nr, 40, out);
		break;
	case 56:
		gather_rows(w, from, nr, 56, out);
		break;
	case 64:
		gather_rows(w, from, nr, 64, out);
		break;
	case 88:
		gather_rows(w, from, nr, 88, out);
		break;
	default:
		gather_rows(w, from, nr, w->row_bytes, out);
	}
}

/*
 * Removes the first nr keys, whose rows were emitted.  Then the other rows are moved, in any order,
 * so that they are at the front of w->rows without free places between them.
 */
static void close_up(struct backlog *w, size_t nr)
{
	struct backlog_key *keys = w->keys, *is_taken = w->merged;
	size_t left = w->nr - nr, free_row = 0;

	memmove(keys, keys + nr, left * sizeof(*keys));
	for (size_t i = 0; i < left; i++)
		is_taken[i].row = 0;
	for (size_t i = 0; i < left; i++)
		if (keys[i].row < left)
			is_taken[keys[i].row].row = 1;
	for (size_t i = 0; i < left; i++) {
		if (keys[i].row < left)
			continue;
		while (is_taken[free_row].row)
			free_row++;
		memcpy(w->rows + free_row * w->row_bytes, w->rows + keys[i].row * w->row_bytes,
		       w->row_bytes);
		keys[i].row = free_row++;
	}
	w->nr = left;
}

void backlog_release(struct backlog *w, int64_t tick)
{
	char rows[OUT_BYTES] __attribute__((aligned(64)));
	size_t at_once, nr = 0;

	if (!w->nr)
		return;
	at_once = OUT_BYTES / w->row_bytes;
	while (merge_runs(w) > 1)
		;
	while (nr < w->nr && w->keys[nr].tick <= tick)
		nr++;
	if (!nr)
		return;
	for (size_t i = 0; i < nr;) {
		size_t n = nr - i < at_once ? nr - i : at_once;

		gather(w, i, n, rows);
		w->out(w->arg, rows, n);
		i += n;
	}
	close_up(w, nr);
}
