// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares decoding varints in groups of 64 bytes with decoding one at a time, at every length
 * and end.
 */
#include "trace/varint.h"
#include "trace-sample.h"

#define NR	5000

static size_t put(uint8_t *out, uint64_t v)
{
	size_t n = 0;

	do {
		out[n++] = (v & 0x7f) | (v > 0x7f) << 7;
		v >>= 7;
	} while (v);
	return n;
}

/* Draws values of up to `bits` bits; 0: values of one byte; 1: values of two bytes. */
static uint64_t value(unsigned bits)
{
	if (bits < 2)
		return bits ? 128 + sample_random() % (16384 - 128) : sample_random() % 128;
	return sample_random() >> (64 - bits) >> sample_random() % bits;
}

static void test_values(void)
{
	static uint8_t bytes[NR * 10];
	static uint64_t want[NR], got[NR + 1];
	size_t wrong = 0, wrong_end = 0, wrong_short = 0;

	for (unsigned bits = 0; bits <= 64; bits++) {
		size_t size = 0, most = 0, n;

		for (size_t i = 0; i < NR; i++) {
			want[i] = value(bits);
			n = put(bytes + size, want[i]);
			most = n > most ? n : most;
			size += n;
		}
		/* The bytes are decoded in pieces: the rest of a group is left for the next call. */
		const uint8_t *p = bytes;

		for (size_t done = 0; done < NR && p; done += n) {
			n = 1 + sample_random() % 300;
			n = n < NR - done ? n : NR - done;
			p = varint_decode(p, bytes + size, got + done, n);
		}
		wrong_end += p != bytes + size;
		wrong += memcmp(want, got, sizeof(want)) != 0;
		for (unsigned max = 1; max <= 8; max *= 2)
			wrong_short += varint_are_short(bytes, bytes + size, NR, max) != (most <= max);
		wrong_short += varint_are_short(bytes, bytes + size, NR - 1, 8) ||
			       varint_are_short(bytes, bytes + size, NR + 1, 8) ||
			       varint_are_short(bytes, bytes + size - 1, NR, 8);
	}
	ok(!wrong && !wrong_end, "values of up to 0 to 64 bits");
	ok(!wrong_short, "short ones are distinguished from long ones, and their number is counted");
}

/* Puts a long value at each place of a group, and across two groups. */
static void test_places(void)
{
	uint8_t bytes[400];
	uint64_t got[301];
	size_t wrong = 0;

	for (unsigned at = 0; at < 200; at++) {
		for (unsigned bits = 7; bits <= 63; bits += 7) {
			uint64_t v = 1ULL << bits;
			size_t n;

			memset(bytes, 5, sizeof(bytes));
			n = put(bytes + at, v);
			wrong += varint_decode(bytes, bytes + 250 + n, got, 251) != bytes + 250 + n;
			wrong += got[at] != v || (at && got[at - 1] != 5) || got[at + 1] != 5;
			for (unsigned max = 1; max <= 8; max *= 2)
				wrong += varint_are_short(bytes, bytes + 250 + n, 251, max) !=
					 (n <= max);
		}
	}
	ok(!wrong, "a long one at each place");
}

static void test_invalid(void)
{
	static const uint8_t long_zero[] = { 0x80, 0x80, 0x00 };
	uint8_t bytes[300], *exact;
	uint64_t got[301];
	size_t wrong = 0;

	ok(varint_decode(long_zero, long_zero + 3, got, 1) == long_zero + 3 && !got[0],
	   "more bytes than needed are no error");
	memset(bytes, 0xff, sizeof(bytes));
	ok(!varint_decode(bytes, bytes + 300, got, 1), "a value without an end");
	bytes[9] = 2;
	ok(!varint_decode(bytes, bytes + 300, got, 1), "a value of more than 64 bits");
	bytes[9] = 1;
	ok(varint_decode(bytes, bytes + 300, got, 1) == bytes + 10 && got[0] == UINT64_MAX,
	   "the greatest value");
	/* The memory has exactly that size, so that a sanitizer detects reads beyond it. */
	for (size_t size = 0; size < 300; size++) {
		exact = malloc(size + 1);
		memset(exact, 3, size);
		wrong += !varint_decode(exact, exact + size, got, size);
		wrong += varint_decode(exact, exact + size, got, size + 1) != NULL;
		wrong += !varint_are_short(exact, exact + size, size, 1);
		if (size) {
			exact[size - 1] = 0x83;
			wrong += varint_decode(exact, exact + size, got, size) != NULL;
			wrong += varint_are_short(exact, exact + size, size, 8);
		}
		free(exact);
	}
	ok(!wrong, "ends at each size");
}

int main(void)
{
	test_values();
	test_places();
	test_invalid();
	return done();
}
