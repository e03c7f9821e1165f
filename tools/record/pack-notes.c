// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes rows of notes on requests and of marked events; see pack.h. */
#include <string.h>
#include "record/pack-private.h"

/* Copies the payload of the slots into bytes, which has room for LDB_PAYLOAD(nr). */
static void gather(const struct ldb_rec *slots, unsigned nr, char *bytes)
{
	memcpy(bytes, &slots[0].arg2, 4);
	bytes += 4;
	for (unsigned k = 1; k < nr; k++, bytes += 24) {
		memcpy(bytes, &slots[k].tsc, 8);
		memcpy(bytes + 8, &slots[k].tid, 4);
		memcpy(bytes + 12, &slots[k].arg, 8);
		memcpy(bytes + 20, &slots[k].arg2, 4);
	}
}

/* A text that fills its field has no NUL. */
void pack_note(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	char bytes[LDB_PAYLOAD(3)] = "", key[LDB_NOTE_KEY_BYTES + 1] = "", text[LDB_NOTE_TEXT_BYTES + 1] = "";
	bool is_number = recs[0].type == LDB_EV_REQ_NUMBER;
	struct ldb_row_note row = {
		.flags = is_number ? LDB_NOTE_F_NUMBER : 0, .tid = recs[0].tid,
		.tick = pack_tick(p, recs[0].tsc), .id = recs[0].arg, .key = key, .text = text,
	};

	gather(recs, is_number ? 2 : 3, bytes);
	memcpy(key, bytes, LDB_NOTE_KEY_BYTES);
	if (is_number)
		memcpy(&row.number, bytes + LDB_NOTE_KEY_BYTES, sizeof(row.number));
	else
		memcpy(text, bytes + LDB_NOTE_KEY_BYTES, LDB_NOTE_TEXT_BYTES);
	writer_add_note(p->w, &row);
}

void pack_mark(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	char name[LDB_PAYLOAD(2) + 1] = "";
	struct ldb_row_event row = {
		.tid = recs[0].tid, .tick = pack_tick(p, recs[0].tsc), .value = (int64_t)recs[0].arg,
		.name = name,
	};

	gather(recs, 2, name);
	writer_add_event(p->w, &row);
}
