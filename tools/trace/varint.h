/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes many LEB128 varints at a time. */
#ifndef TRACE_VARINT_H
#define TRACE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes nr values from [p, end).  Returns where the next one begins; NULL: they extend past the
 * end, or one exceeds 64 bits.
 */
const uint8_t *varint_decode(const uint8_t *p, const uint8_t *end, uint64_t *out, size_t nr);

#define VARINT_SHORT_MAX	8

/*
 * Returns true if [p, end) is exactly nr values of at most `bytes` (1, 2, 4 or 8) bytes each.  Then
 * varint_decode() does not fail on them, and none has more than 7 * `bytes` bits.
 */
bool varint_are_short(const uint8_t *p, const uint8_t *end, size_t nr, unsigned bytes);

#endif
