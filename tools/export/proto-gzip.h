/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A protobuf message, compressed by gzip, written field by field: nothing but the
 * field at hand is in memory.  Messages inside of it are made in a buffer first.
 */
#ifndef EXPORT_PROTO_GZIP_H
#define EXPORT_PROTO_GZIP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

/* A message in memory.  Out of memory is found at the end: error is set. */
struct proto {
	uint8_t *data;
	size_t nr, room;
	int error;
};

/* Fields of the default value are left out, as proto3 has it. */
void proto_u64(struct proto *p, unsigned field, uint64_t value);
void proto_text(struct proto *p, unsigned field, const char *text);
void proto_packed(struct proto *p, unsigned field, const uint64_t *values, size_t nr);
/* Also an empty one. */
void proto_message(struct proto *p, unsigned field, const struct proto *message);
void proto_clear(struct proto *p);
void proto_free(struct proto *p);

struct proto_gzip {
	FILE *out;
	z_stream z;
	int error;		/* the first; all that follows does nothing */
};

/* 0 or -errno. */
int proto_gzip_begin(struct proto_gzip *g, FILE *out);
/* The fields in p, which is cleared. */
void proto_gzip_put(struct proto_gzip *g, struct proto *p);
/* Field of g: the message p, which is cleared. */
void proto_gzip_message(struct proto_gzip *g, unsigned field, struct proto *p);
/* Frees all; 0, or the first error. */
int proto_gzip_end(struct proto_gzip *g);

#endif
