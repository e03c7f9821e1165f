/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the notes that the program attached to its requests, from the NOTE rows. */
#ifndef FACTS_NOTES_H
#define FACTS_NOTES_H

#include "model.h"

/* This many keys are retained for each request: those that were set last. */
#define NOTES_KEYS_MAX	16

struct note {
	uint64_t id;		/* id of the request */
	int64_t tick;
	/* keys and texts are stored once each, so they are equal if the pointers are */
	const char *key;
	const char *text;	/* NULL: the value is a number */
	uint64_t number;
};

struct notes;

/* Sets m->notes, unless they were read before.  Returns 0 or -ENOMEM. */
int notes_read(struct model *m);
void notes_close(struct notes *n);

/*
 * Stores the notes of the request instance of id that was open in [start, end] (ticks): the last
 * note of each key, in the order of time.  Returns their number.  m->notes may be NULL.
 */
size_t notes_of(const struct model *m, uint64_t id, int64_t start, int64_t end,
		const struct note *found[NOTES_KEYS_MAX]);

/* Returns how many notes were dropped because there were too many different texts. */
uint64_t notes_nr_dropped(const struct notes *n);

/* Returns the value as text; buf is used if it is a number. */
#define NOTE_ROOM	64
const char *note_value(const struct note *n, char buf[NOTE_ROOM]);

/* Writes "tenant=7, bytes=65536", cut to size; returns buf. */
#define NOTES_ROOM	(NOTES_KEYS_MAX * NOTE_ROOM)
char *notes_text(const struct note *const *notes, size_t nr, char *buf, size_t size);

/*
 * A condition that a note must fulfil: "tenant=7", "tenant=a*" (a glob), "bytes>65536",
 * "bytes<=64K".  K, M and G are powers of 1024.
 */
struct note_filter {
	char key[32];
	char op;		/* '=', '<', '>' */
	bool or_equal;
	const char *glob;
	uint64_t number;
};

/* Returns false if the text is not a condition. */
bool note_filter_parse(const char *text, struct note_filter *f);

/* Returns true if the request instance has a note that fulfils the condition. */
bool note_filter_matches(const struct note_filter *f, const struct model *m, uint64_t id, int64_t start,
			 int64_t end);

#endif
