// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stores notes in one array; see notes.h.  A program may attach notes to requests that it
 * never begins or ends, so when the array is full, the oldest note is replaced.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <linux/ldb.h>
#include "base/hash.h"
#include "record/flight/notes.h"

#define NOTES_MAX	16384

struct noted {
	struct ldb_row_note row;
	bool is_used;
	char key[LDB_NOTE_KEY_BYTES + 1], text[LDB_NOTE_TEXT_BYTES + 1];
};

struct flight_notes {
	struct noted *all;	/* circular */
	uint32_t next;
	struct hash by_id;
	uint64_t secret;	/* for hashing, because the program chooses the ids */
};

struct flight_notes *flight_notes_alloc(void)
{
	struct flight_notes *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	if (getrandom(&f->secret, sizeof(f->secret), GRND_NONBLOCK) < 0)
		f->secret = (uintptr_t)f;
	f->all = calloc(NOTES_MAX, sizeof(*f->all));
	if (f->all)
		return f;
	free(f);
	return NULL;
}

void flight_notes_free(struct flight_notes *f)
{
	if (!f)
		return;
	hash_free(&f->by_id);
	free(f->all);
	free(f);
}

static uint64_t hash_of(const struct flight_notes *f, uint64_t id)
{
	return hash_mix(hash_mix(f->secret, id), f->secret);
}

static void drop(struct flight_notes *f, struct noted *n)
{
	if (n->is_used)
		hash_remove(&f->by_id, hash_of(f, n->row.id), n - f->all);
	n->is_used = false;
}

static void add_one(struct flight_notes *f, const struct ldb_row_note *row)
{
	struct noted *n = &f->all[f->next++ % NOTES_MAX];

	drop(f, n);
	if (hash_add(&f->by_id, hash_of(f, row->id), n - f->all))
		return;
	n->row = *row;
	n->is_used = true;
	snprintf(n->key, sizeof(n->key), "%s", row->key);
	snprintf(n->text, sizeof(n->text), "%s", row->text);
}

void flight_notes_add(struct flight_notes *f, const struct ldb_row_note *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		add_one(f, &rows[i]);
}

static struct noted *find(const struct flight_notes *f, uint64_t id)
{
	uint32_t n;

	hash_each(&f->by_id, hash_of(f, id), n)
		if (f->all[n].row.id == id)
			return &f->all[n];
	return NULL;
}

void flight_notes_forget(struct flight_notes *f, uint64_t id)
{
	struct noted *n;

	while ((n = find(f, id)))
		drop(f, n);
}

void flight_notes_each(const struct flight_notes *f, int64_t until, flight_notes_row_fn *row, void *arg)
{
	for (uint32_t i = 0; i < NOTES_MAX; i++) {
		const struct noted *n = &f->all[(f->next + i) % NOTES_MAX];
		struct ldb_row_note copy = n->row;

		copy.key = n->key;
		copy.text = n->text;
		if (n->is_used && copy.tick <= until)
			row(arg, LDB_BLK_NOTE, &copy);
	}
}
