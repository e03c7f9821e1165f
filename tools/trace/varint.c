// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes varints.  The ends of all values in 64 bytes are found first, as bits of a mask, so that
 * the CPU can decode several values at the same time; otherwise each value would have to wait for
 * the length of the one before it.
 */
#include <string.h>
#include "arch/cpu.h"
#include "trace/varint.h"

#define GROUP	64		/* bytes examined together */

/* Returns NULL if the value extends past end, or exceeds 64 bits. */
static const uint8_t *decode_one(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t value = 0;

	for (unsigned shift = 0; p < end; shift += 7) {
		uint8_t byte = *p++;

		if (shift == 63 && byte > 1)
			return NULL;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*v = value;
			return p;
		}
	}
	return NULL;
}

/*
 * Returns a mask with a bit for each of 64 bytes; it is set if the value continues after the byte.
 */
static inline __attribute__((always_inline)) uint64_t continued(const uint8_t *p)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < GROUP; i += CPU_TOP_BITS_BYTES)
		mask |= cpu_top_bits(p + i) << i;
	return mask;
}

#define LOW_BITS	0x7f7f7f7f7f7f7f7fULL

/* Returns the low 7 bits of each of the first n bytes of x, put together. */
static inline __attribute__((always_inline)) uint64_t squeeze(uint64_t x, unsigned n, bool pext)
{
	x &= LOW_BITS >> (64 - 8 * n);
	if (pext)
		return cpu_pext(x, LOW_BITS);
	x = (x & 0x007f007f007f007fULL) | (x & 0x7f007f007f007f00ULL) >> 1;
	x = (x & 0x00003fff00003fffULL) | (x & 0x3fff00003fff0000ULL) >> 2;
	return (x & 0x0fffffffULL) | (x & 0x0fffffff00000000ULL) >> 4;
}

/*
 * Decodes 64 bytes if all values have one byte, or all have two.  Returns the number of values, or
 * 0.
 */
static inline __attribute__((always_inline)) size_t decode_alike(const uint8_t *p, uint64_t mask,
								 uint64_t *out)
{
	uint16_t pair;

	if (!mask) {
		for (size_t i = 0; i < GROUP; i++)
			out[i] = p[i];
		return GROUP;
	}
	if (mask != 0x5555555555555555ULL)
		return 0;
	for (size_t i = 0; i < GROUP / 2; i++) {
		memcpy(&pair, p + 2 * i, 2);
		out[i] = (pair & 0x7f) | (pair >> 1 & 0x3f80);
	}
	return GROUP / 2;
}

/*
 * Decodes values that end in the 64 bytes at p, at most nr; 8 bytes more must be readable.
 * Returns where the next value begins, or p if the first one is longer than 8 bytes.
 */
static inline __attribute__((always_inline)) const uint8_t *
decode_group(const uint8_t *p, uint64_t *out, size_t nr, size_t *done, bool pext)
{
	uint64_t mask = continued(p), ends = ~mask, x;
	unsigned from = 0;
	size_t i = 0;

	if (nr >= GROUP) {
		*done = decode_alike(p, mask, out);
		if (*done)
			return p + GROUP;
	}
	while (ends && i < nr) {
		unsigned last = __builtin_ctzll(ends), n = last - from + 1;

		if (n > VARINT_SHORT_MAX)
			break;
		ends &= ends - 1;
		memcpy(&x, p + from, 8);
		out[i++] = squeeze(x, n, pext);
		from = last + 1;
	}
	*done = i;
	return p + from;
}

static inline __attribute__((always_inline)) const uint8_t *
decode(const uint8_t *p, const uint8_t *end, uint64_t *out, size_t nr, bool pext)
{
	while (nr) {
		size_t done = 0;

		if (end - p >= GROUP + 8) {
			p = decode_group(p, out, nr, &done, pext);
			out += done;
			nr -= done;
			if (done)
				continue;
		}
		p = decode_one(p, end, out++);
		if (!p)
			return NULL;
		nr--;
	}
	return p;
}

CPU_PEXT_TARGET static const uint8_t *decode_fast(const uint8_t *p, const uint8_t *end, uint64_t *out,
					      size_t nr)
{
	return decode(p, end, out, nr, true);
}

const uint8_t *varint_decode(const uint8_t *p, const uint8_t *end, uint64_t *out, size_t nr)
{
	return cpu_has_fast_pext() ? decode_fast(p, end, out, nr) : decode(p, end, out, nr, false);
}

/* Returns the set bits of mask that have n - 1 set bits directly below them; n: 1, 2, 4 or 8. */
static inline __attribute__((always_inline)) uint64_t runs_of(uint64_t mask, unsigned n)
{
	for (unsigned i = 1; i < n; i *= 2)
		mask &= mask << i;
	return mask;
}

static inline __attribute__((always_inline)) bool
are_short(const uint8_t *p, const uint8_t *end, size_t nr, unsigned bytes)
{
	uint64_t mask, before = 0, found = 0;	/* before: bits of the previous group */
	size_t ends = 0;

	if ((size_t)(end - p) < nr || (nr && end[-1] >= 0x80))
		return false;
	for (; end - p >= GROUP; p += GROUP) {
		mask = continued(p);
		ends += __builtin_popcountll(~mask);
		/*
		 * A value has at most bytes - 1 set bits in sequence, because the bit of its last
		 * byte is not set.
		 */
		found |= runs_of(mask, bytes) | runs_of(before >> 32 | mask << 32, bytes);
		before = mask;
	}
	if (p < end) {
		uint8_t rest[GROUP] = { 0 };

		memcpy(rest, p, end - p);
		mask = continued(rest);
		ends += __builtin_popcountll(~mask) - (GROUP - (end - p));
		found |= runs_of(mask, bytes) | runs_of(before >> 32 | mask << 32, bytes);
	}
	return ends == nr && !found;
}

CPU_PEXT_TARGET static bool are_short_fast(const uint8_t *p, const uint8_t *end, size_t nr,
				       unsigned bytes)
{
	return are_short(p, end, nr, bytes);
}

bool varint_are_short(const uint8_t *p, const uint8_t *end, size_t nr, unsigned bytes)
{
	return cpu_has_fast_pext() ? are_short_fast(p, end, nr, bytes) : are_short(p, end, nr, bytes);
}
