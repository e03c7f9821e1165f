// SPDX-License-Identifier: GPL-2.0-or-later
/* Protobuf messages; see proto-gzip.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/proto-gzip.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

static void put_bytes(struct proto *p, const void *bytes, size_t nr)
{
	if (p->error || !nr)
		return;
	if (p->room - p->nr < nr) {
		size_t room = 2 * p->room + nr + 64;
		uint8_t *data = realloc(p->data, room);

		if (!data) {
			p->error = -ENOMEM;
			return;
		}
		p->data = data;
		p->room = room;
	}
	memcpy(p->data + p->nr, bytes, nr);
	p->nr += nr;
}

static size_t varint(uint8_t *to, uint64_t value)
{
	size_t nr = 0;

	for (; value > 0x7f; value >>= 7)
		to[nr++] = value | 0x80;
	to[nr++] = value;
	return nr;
}

static void put_varint(struct proto *p, uint64_t value)
{
	uint8_t bytes[10];

	put_bytes(p, bytes, varint(bytes, value));
}

static void put_tag(struct proto *p, unsigned field, unsigned wire)
{
	put_varint(p, field << 3 | wire);
}

void proto_u64(struct proto *p, unsigned field, uint64_t value)
{
	if (!value)
		return;
	put_tag(p, field, WIRE_VARINT);
	put_varint(p, value);
}

void proto_text(struct proto *p, unsigned field, const char *text)
{
	put_tag(p, field, WIRE_BYTES);
	put_varint(p, strlen(text));
	put_bytes(p, text, strlen(text));
}

void proto_packed(struct proto *p, unsigned field, const uint64_t *values, size_t nr)
{
	uint8_t bytes[10];
	size_t size = 0;

	for (size_t i = 0; i < nr; i++)
		size += varint(bytes, values[i]);
	put_tag(p, field, WIRE_BYTES);
	put_varint(p, size);
	for (size_t i = 0; i < nr; i++)
		put_varint(p, values[i]);
}

void proto_message(struct proto *p, unsigned field, const struct proto *message)
{
	put_tag(p, field, WIRE_BYTES);
	put_varint(p, message->nr);
	put_bytes(p, message->data, message->nr);
	if (message->error)
		p->error = message->error;
}

void proto_clear(struct proto *p)
{
	p->nr = 0;
}

void proto_free(struct proto *p)
{
	free(p->data);
	*p = (struct proto){ 0 };
}

int proto_gzip_begin(struct proto_gzip *g, FILE *out)
{
	*g = (struct proto_gzip){ .out = out };
	/* 15 bits of window, as everybody; 16: with the head and end of a gzip file. */
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		g->error = -ENOMEM;
	return g->error;
}

static void deflate_bytes(struct proto_gzip *g, const void *bytes, size_t nr, int flush)
{
	uint8_t out[16384];

	g->z.next_in = (Bytef *)bytes;
	g->z.avail_in = nr;
	do {
		size_t made;

		g->z.next_out = out;
		g->z.avail_out = sizeof(out);
		deflate(&g->z, flush);
		made = sizeof(out) - g->z.avail_out;
		if (made && fwrite(out, 1, made, g->out) != made) {
			g->error = errno ? -errno : -EIO;
			return;
		}
	} while (!g->z.avail_out);
}

void proto_gzip_put(struct proto_gzip *g, struct proto *p)
{
	if (!g->error)
		g->error = p->error;
	if (!g->error)
		deflate_bytes(g, p->data, p->nr, Z_NO_FLUSH);
	proto_clear(p);
}

void proto_gzip_message(struct proto_gzip *g, unsigned field, struct proto *p)
{
	struct proto head = { 0 };

	put_tag(&head, field, WIRE_BYTES);
	put_varint(&head, p->nr);
	proto_gzip_put(g, &head);
	proto_gzip_put(g, p);
	proto_free(&head);
}

int proto_gzip_end(struct proto_gzip *g)
{
	if (!g->error)
		deflate_bytes(g, NULL, 0, Z_FINISH);
	deflateEnd(&g->z);
	return g->error;
}
