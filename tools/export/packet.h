/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encodes protobuf messages in place.  A message inside another one is begun, and when it is ended,
 * its length is filled in as a varint of four bytes.  This must be fast: a trace has many millions
 * of small packets.
 */
#ifndef EXPORT_PACKET_H
#define EXPORT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"

struct packet {
	uint8_t *at;
	size_t nr, room;
	bool has_failed;	/* out of memory: the contents are invalid */
};

static inline bool packet_room(struct packet *p, size_t more)
{
	if (array_reserve(&p->at, &p->room, p->nr + more, 1))
		return true;
	p->has_failed = true;
	return false;
}

static inline void packet_varint(struct packet *p, uint64_t value)
{
	if (!packet_room(p, 10))
		return;
	while (value >= 0x80) {
		p->at[p->nr++] = value | 0x80;
		value >>= 7;
	}
	p->at[p->nr++] = value;
}

enum { PACKET_VARINT = 0, PACKET_FIXED64 = 1, PACKET_BYTES = 2 };

static inline void packet_tag(struct packet *p, unsigned field, unsigned type)
{
	packet_varint(p, (uint64_t)field << 3 | type);
}

static inline void packet_u64(struct packet *p, unsigned field, uint64_t value)
{
	packet_tag(p, field, PACKET_VARINT);
	packet_varint(p, value);
}

/* Writes an int32 or int64; negative numbers take ten bytes. */
static inline void packet_i64(struct packet *p, unsigned field, int64_t value)
{
	packet_u64(p, field, (uint64_t)value);
}

static inline void packet_fixed64(struct packet *p, unsigned field, uint64_t value)
{
	packet_tag(p, field, PACKET_FIXED64);
	if (!packet_room(p, 8))
		return;
	for (int i = 0; i < 8; i++)
		p->at[p->nr++] = value >> 8 * i;
}

static inline void packet_bytes(struct packet *p, unsigned field, const void *data, size_t nr)
{
	packet_tag(p, field, PACKET_BYTES);
	packet_varint(p, nr);
	if (!packet_room(p, nr))
		return;
	if (nr)
		memcpy(p->at + p->nr, data, nr);
	p->nr += nr;
}

/* Writes a text as UTF-8, as protobuf requires; other bytes and control characters become '?'. */
void packet_text(struct packet *p, unsigned field, const char *text);

/* Begins a message in a field.  The result must be passed to packet_end(). */
static inline size_t packet_begin(struct packet *p, unsigned field)
{
	packet_tag(p, field, PACKET_BYTES);
	if (packet_room(p, 4))
		p->nr += 4;
	return p->nr;
}

static inline void packet_end(struct packet *p, size_t begin)
{
	size_t nr = p->nr - begin;

	if (p->has_failed)
		return;
	for (int i = 0; i < 4; i++)
		p->at[begin - 4 + i] = (nr >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0);
}

#endif
