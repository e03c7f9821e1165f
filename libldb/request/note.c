// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implements notes on requests, events, and records about messages.  Each call writes one record
 * with copies of its texts, so the caller's memory is not read later.
 *
 * The functions are async-signal-safe and do not change errno.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <ldb/ldb.h>
#include "request.h"

#define SLOTS_MAX	3

/* The payload of a record, before it is spread over its slots. */
union payload {
	struct {
		char key[LDB_NOTE_KEY_MAX];
		union {
			char text[LDB_NOTE_VALUE_MAX];
			uint64_t number;
		} value;
	} __attribute__((packed)) note;
	char name[LDB_EVENT_NAME_MAX];
	char bytes[LDB_PAYLOAD(SLOTS_MAX)];
};

_Static_assert(LDB_NOTE_KEY_MAX == LDB_NOTE_KEY_BYTES && LDB_NOTE_VALUE_MAX == LDB_NOTE_TEXT_BYTES,
	       "without a NUL");
_Static_assert(LDB_NOTE_KEY_BYTES + LDB_NOTE_TEXT_BYTES == LDB_PAYLOAD(3), "they fill the slots");
_Static_assert(LDB_NOTE_KEY_BYTES + sizeof(uint64_t) <= LDB_PAYLOAD(2), "and a number fits");
_Static_assert(LDB_EVENT_NAME_MAX == LDB_PAYLOAD(2), "so does a name");

static void copy_text(char *to, const char *text, unsigned size)
{
	for (unsigned n = 0; text && n < size && text[n]; n++)
		to[n] = text[n];
}

/* Distributes a payload over the slots of a record as LDB_PAYLOAD() describes. */
static void spread(struct ldb_rec *slots, unsigned nr, const char *bytes)
{
	memcpy(&slots[0].arg2, bytes, 4);
	bytes += 4;
	for (unsigned k = 1; k < nr; k++, bytes += 24) {
		memcpy(&slots[k].tsc, bytes, 8);
		memcpy(&slots[k].tid, bytes + 8, 4);
		memcpy(&slots[k].arg, bytes + 12, 8);
		memcpy(&slots[k].arg2, bytes + 20, 4);
		slots[k].type = LDB_EV_CONT + k;
	}
}

static void note_write(uint16_t type, uint64_t arg, const union payload *p, unsigned nr)
{
	struct ldb_rec slots[SLOTS_MAX] = { { .type = type, .arg = arg } };
	int saved = errno;

	spread(slots, nr, p->bytes);
	slots[0].tid = request_tid(thread_self());
	slots[0].tsc = session_clock();
	ring_write(slots, nr);
	errno = saved;
}

void note_text(uint64_t id, const char *key, const char *value)
{
	union payload p = { .bytes = "" };

	if (!session_wants_tags())
		return;
	copy_text(p.note.key, key, sizeof(p.note.key));
	copy_text(p.note.value.text, value, sizeof(p.note.value.text));
	note_write(LDB_EV_REQ_NOTE, id, &p, 3);
}

void note_number(uint64_t id, const char *key, uint64_t value)
{
	union payload p = { .bytes = "" };

	if (!session_wants_tags())
		return;
	copy_text(p.note.key, key, sizeof(p.note.key));
	p.note.value.number = value;
	note_write(LDB_EV_REQ_NUMBER, id, &p, 2);
}

void note_message(uint64_t id, uint16_t flags, uint64_t at, uint32_t tid, const char *bytes)
{
	struct ldb_rec slots[SLOTS_MAX] = {
		{ .tsc = at, .tid = tid, .type = LDB_EV_REQ_MESSAGE, .flags = flags, .arg = id }
	};

	if (!session_wants_tags())
		return;
	spread(slots, 3, bytes);
	ring_write(slots, 3);
}

void note_event(const char *name, int64_t value)
{
	union payload p = { .bytes = "" };

	if (!session_wants_tags())
		return;
	copy_text(p.name, name, sizeof(p.name));
	note_write(LDB_EV_MARK, (uint64_t)value, &p, 2);
}
