// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes rows of notes on requests and of marked events; see pack.h. */
#include <endian.h>
#include <string.h>
#include "record/rows/private.h"

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

/* A string that fills its field has no NUL. */
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

/* Converts eight bytes of an address from network byte order. */
static uint64_t big_endian(const unsigned char *bytes)
{
	uint64_t v;

	memcpy(&v, bytes, sizeof(v));
	return be64toh(v);
}

/*
 * Returns true if the address may exist on other machines or networks, too: 127.0.0.0/8, ::1 and
 * fe80::/10.
 */
static bool is_local(uint64_t hi, uint64_t lo)
{
	return (!hi && (lo >> 24 == 0xffff7fULL || lo == 1)) || hi >> 54 == 0xfe80ULL >> 6;
}

void pack_message(struct pack *p, unsigned ring, const struct ldb_rec *recs)
{
	struct ldb_message m;
	struct ldb_row_message row = {
		.flags = recs[0].flags, .tid = recs[0].tid, .tick = pack_tick(p, recs[0].tsc), .id = recs[0].arg,
	};

	_Static_assert(sizeof(m) == LDB_PAYLOAD(3), "it fits");
	gather(recs, 3, (char *)&m);
	row.serial = m.serial;
	row.offset = m.offset;
	row.bytes = m.bytes;
	row.own_hi = big_endian(m.own);
	row.own_lo = big_endian(m.own + 8);
	row.peer_hi = big_endian(m.peer);
	row.peer_lo = big_endian(m.peer + 8);
	row.own_port = m.own_port;
	row.peer_port = m.peer_port;
	row.scope = is_local(row.own_hi, row.own_lo) || is_local(row.peer_hi, row.peer_lo) ? p->scope : 0;
	writer_add_message(p->w, &row);
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
