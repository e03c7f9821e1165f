// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds notes of requests: the rows are sorted by (id, tick), and each key and text is stored once.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/search.h"
#include "base/sort.h"
#include "cli/units.h"
#include "notes.h"
#include "rows.h"
#include "ticks.h"

#ifndef NOTES_TEXTS_MAX		/* tests set a smaller number */
/* different keys and texts; notes with further ones are dropped */
#define NOTES_TEXTS_MAX	(1U << 20)
#endif

struct notes {
	struct note *rows;
	size_t nr, room;
	struct intern texts;
	uint64_t nr_dropped;
};

static int add_row(void *arg, const void *at)
{
	const struct ldb_row_note *row = at;
	struct notes *n = arg;
	struct note note = { .id = row->id, .tick = ticks_sane(row->tick), .number = row->number };
	bool is_number = row->flags & LDB_NOTE_F_NUMBER;

	note.key = intern_text(&n->texts, row->key);
	if (!is_number && note.key)
		note.text = intern_text(&n->texts, row->text);
	if (!note.key || (!is_number && !note.text)) {
		n->nr_dropped++;
		return n->texts.nr >= NOTES_TEXTS_MAX ? 0 : -ENOMEM;
	}
	return array_push(n->rows, n->nr, n->room, note);
}

COMPARE(compare, struct note, UP(id) UP(tick))

int notes_read(struct model *m)
{
	struct notes *n = m->notes;

	if (n)
		return 0;
	n = m->notes = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->texts.max = NOTES_TEXTS_MAX;
	if (rows_each(m->reader, LDB_BLK_NOTE, NULL, add_row, n)) {
		notes_close(n);
		m->notes = NULL;
		return -ENOMEM;
	}
	sort_by(n->rows, n->nr, compare);
	return 0;
}

void notes_close(struct notes *n)
{
	if (!n)
		return;
	intern_free(&n->texts);
	free(n->rows);
	free(n);
}

uint64_t notes_nr_dropped(const struct notes *n)
{
	return n ? n->nr_dropped : 0;
}

static bool has_key(const struct note *const *found, size_t nr, const char *key)
{
	for (size_t i = 0; i < nr; i++)
		if (found[i]->key == key)
			return true;
	return false;
}

/* The search goes backward, so the last note of each key is found first. */
size_t notes_of(const struct model *m, uint64_t id, int64_t start, int64_t end,
		const struct note *found[NOTES_KEYS_MAX])
{
	const struct notes *n = m->notes;
	size_t from, nr = 0;

	if (!n || !n->nr)
		return 0;
	from = search(n->nr, i, n->rows[i].id < id || (n->rows[i].id == id && n->rows[i].tick <= end));
	while (from-- > 0 && nr < NOTES_KEYS_MAX) {
		const struct note *note = &n->rows[from];

		if (note->id != id || note->tick < start)
			break;
		if (!has_key(found, nr, note->key))
			found[nr++] = note;
	}
	for (size_t i = 0; i < nr / 2; i++) {
		const struct note *swap = found[i];

		found[i] = found[nr - 1 - i];
		found[nr - 1 - i] = swap;
	}
	return nr;
}

const char *note_value(const struct note *n, char buf[NOTE_ROOM])
{
	if (n->text)
		return n->text;
	snprintf(buf, NOTE_ROOM, "%" PRIu64, n->number);
	return buf;
}

char *notes_text(const struct note *const *notes, size_t nr, char *buf, size_t size)
{
	char value[NOTE_ROOM];
	size_t used = 0;

	*buf = '\0';
	for (size_t i = 0; i < nr && used < size; i++)
		used += snprintf(buf + used, size - used, "%s%s=%s", i ? ", " : "", notes[i]->key,
				 note_value(notes[i], value));
	return buf;
}

bool note_filter_parse(const char *text, struct note_filter *f)
{
	size_t length = strcspn(text, "=<>");
	const char *value = text + length;

	*f = (struct note_filter){ .op = *value };
	if (!length || !*value || length >= sizeof(f->key))
		return false;
	memcpy(f->key, text, length);
	value++;
	f->glob = value;
	if (f->op == '=')
		return true;
	f->or_equal = *value == '=';
	return !units_parse_size(value + f->or_equal, &f->number);
}

static bool matches(const struct note_filter *f, const struct note *n)
{
	char buf[NOTE_ROOM];
	uint64_t number;

	if (f->op == '=')
		return !fnmatch(f->glob, note_value(n, buf), 0) ||
		       (!n->text && !units_parse_size(f->glob, &number) && number == n->number);
	if (n->text)
		return false;
	if (n->number == f->number)
		return f->or_equal;
	return (n->number > f->number) == (f->op == '>');
}

bool note_filter_matches(const struct note_filter *f, const struct model *m, uint64_t id, int64_t start,
			 int64_t end)
{
	const struct note *found[NOTES_KEYS_MAX];
	size_t nr = notes_of(m, id, start, end, found);

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(found[i]->key, f->key))
			return matches(f, found[i]);
	return false;
}
