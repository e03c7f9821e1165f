// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies a trace and exchanges the notes of its requests at random: each request gets all notes of
 * one request.  So the notes are independent of the latencies.
 *
 *	permute-notes IN OUT SEED
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/sort.h"
#include "trace/reader.h"
#include "trace/writer.h"

struct notes {
	struct ldb_row_note *at;
	size_t nr, room;
};

static const unsigned kinds[] = {
#define ROWS(KIND, name, when, bulk, columns)	LDB_BLK_##KIND,
#include "trace/schemas.def"
};

static struct notes notes;
static uint64_t state;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dULL >> 32;
}

static int copy(void *writer, const struct reader_rows *rows)
{
	return writer_add(writer, rows->kind, rows->rows, rows->nr);
}

static int collect(void *arg, const struct reader_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++) {
		struct ldb_row_note n = rows->note[i];

		n.key = strdup(n.key);
		n.text = strdup(n.text);
		if (array_push(notes.at, notes.nr, notes.room, n))
			return -1;
	}
	return 0;
}

COMPARE(by_request, struct ldb_row_note, UP(id) UP(tick))
COMPARE(by_time, struct ldb_row_note, UP(tick))

/* Returns the number of requests, and where the notes of each begin. */
static size_t find_requests(size_t *first)
{
	size_t nr = 0;

	for (size_t i = 0; i < notes.nr; i++)
		if (!i || notes.at[i].id != notes.at[i - 1].id)
			first[nr++] = i;
	first[nr] = notes.nr;
	return nr;
}

/*
 * Gives the notes at `to` the values of those at `from`.  Returns false if the numbers of notes
 * differ.
 */
static bool give(struct ldb_row_note *to, const struct ldb_row_note *from, size_t nr_to, size_t nr_from)
{
	if (nr_to != nr_from)
		return false;
	for (size_t i = 0; i < nr_to; i++) {
		to[i].flags = from[i].flags;
		to[i].number = from[i].number;
		to[i].key = from[i].key;
		to[i].text = from[i].text;
	}
	return true;
}

static bool permute(void)
{
	struct ldb_row_note *old = calloc(notes.nr + 1, sizeof(*old));
	size_t *first = calloc(notes.nr + 1, sizeof(*first)), *order = calloc(notes.nr + 1, sizeof(*order)), nr;
	bool ok = old && first && order;

	sort_by(notes.at, notes.nr, by_request);
	nr = ok ? find_requests(first) : 0;
	if (ok)
		memcpy(old, notes.at, notes.nr * sizeof(*old));
	for (size_t i = 0; i < nr; i++)
		order[i] = i;
	for (size_t i = nr; i > 1; i--) {
		size_t k = draw() % i, was = order[i - 1];

		order[i - 1] = order[k];
		order[k] = was;
	}
	for (size_t i = 0; i < nr && ok; i++)
		ok = give(&notes.at[first[i]], &old[first[order[i]]], first[i + 1] - first[i],
			  first[order[i] + 1] - first[order[i]]);
	free(old);
	free(first);
	free(order);
	sort_by(notes.at, notes.nr, by_time);
	return ok && nr > 1;
}

int main(int argc, char **argv)
{
	char err[512] = "usage: permute-notes IN OUT SEED";
	struct reader *r = argc > 3 ? reader_open(argv[1], err, sizeof(err)) : NULL;
	struct writer *w = r ? writer_open(argv[2], reader_header(r), err, sizeof(err)) : NULL;
	int ret = w ? 0 : -1;

	state = argc > 3 ? strtoull(argv[3], NULL, 10) * 0x9e3779b97f4a7c15ULL + 1 : 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !ret; i++)
		/* The table of requests is made by the writer. */
		if (kinds[i] != LDB_BLK_REQTAB)
			ret = kinds[i] == LDB_BLK_NOTE ? reader_each(r, kinds[i], NULL, collect, NULL) :
			      reader_each(r, kinds[i], NULL, copy, w);
	if (!ret && !permute()) {
		snprintf(err, sizeof(err), "requests must have equally many notes each");
		ret = -1;
	}
	for (size_t i = 0; i < notes.nr && !ret; i++)
		ret = writer_add_note(w, &notes.at[i]);
	if (w && writer_close(w))
		ret = -1;
	reader_close(r);
	if (ret)
		fprintf(stderr, "permute-notes: %s\n", err);
	return ret ? 1 : 0;
}
