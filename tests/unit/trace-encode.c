// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares the encoder's fast paths with a textbook LEB128 encoder, byte for byte: values of
 * every length, alone and mixed, in tiles of every size.
 */
#include <stdlib.h>
#include <string.h>
#include "trace/columns.h"
#include "random.h"
#include "tap.h"

#define ROWS_MAX	(3 * ENCODER_TILE)

static uint8_t *put(uint8_t *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*out++ = v | 0x80;
	*out++ = v;
	return out;
}

static uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ -(v >> 63);
}

/* Encodes REQ: op V, tid D (32 bits), tick D, id D, queue D, site D, gen D, nr_later V. */
static size_t by_the_book(const struct ldb_row_req *rows, size_t nr, uint8_t *out)
{
	uint8_t *begin = out;

	for (int c = 0; c < 8; c++) {
		uint8_t *column = out + 4;
		uint64_t before = 0;
		uint32_t bytes;

		out = column;
		for (size_t i = 0; i < nr; i++) {
			const struct ldb_row_req *r = &rows[i];
			uint64_t v[] = {
				r->op, r->tid, r->tick, r->id, r->queue, r->site, r->gen, r->nr_later,
			};

			out = put(out, c % 7 ? zigzag(v[c] - before) : v[c]);
			before = v[c];
		}
		bytes = out - column;
		memcpy(column - 4, &bytes, 4);
	}
	return out - begin;
}

/* Returns the next row's value, whose difference has up to bits bits. */
static uint64_t next_value(uint64_t before, unsigned bits)
{
	uint64_t step = bits ? rnd() >> (64 - bits) : 0;

	switch (rnd() % 4) {
	case 0:			/* a value at the limit of a length */
		step = bits < 64 ? (1ULL << bits) - rnd() % 2 : UINT64_MAX;
		break;
	case 1:
		return before - step / 2;
	}
	return before + step / 2;
}

static bool is_same(struct encoder *e, const struct ldb_row_req *rows, size_t nr)
{
	static uint8_t expected[ROWS_MAX * 8 * 10 + 64], got[sizeof(expected)];
	struct ldb_row_req back[ROWS_MAX];
	size_t bytes = by_the_book(rows, nr, expected), nr_back = nr;

	encoder_clear(e);
	for (size_t done = 0; done < nr;) {
		size_t n = rnd() % ENCODER_TILE + 1;

		n = n < nr - done ? n : nr - done;
		if (encoder_add(e, rows + done, n))
			bail_out("out of memory");
		done += n;
	}
	if (encoder_bytes(e) != bytes || e->nr != nr)
		return false;
	encoder_put(e, got);
	return !memcmp(got, expected, bytes) &&
	       columns_decode(e->schema, got, bytes, back, &nr_back, NULL, NULL) && nr_back == nr &&
	       !memcmp(back, rows, nr * sizeof(*rows));
}

static void test_bits(unsigned least, unsigned most, const char *name)
{
	struct encoder e = { .schema = schema_find(LDB_BLK_REQ) };
	static struct ldb_row_req rows[ROWS_MAX];
	unsigned wrong = 0;

	for (int round = 0; round < 200; round++) {
		size_t nr = rnd() % ROWS_MAX + 1;
		struct ldb_row_req last = { 0 };

		for (size_t i = 0; i < nr; i++) {
			unsigned bits = least + rnd() % (most - least + 1);

			last.op = bits ? (uint32_t)rnd() >> (bits < 32 ? 32 - bits : 0) : 0;
			last.tid = next_value(last.tid, bits);
			last.tick = next_value(last.tick, bits);
			last.id = next_value(last.id, bits);
			last.queue = next_value(last.queue, bits);
			last.site = rnd() % 100 ? last.site : rnd();
			last.gen = next_value(last.gen, bits);
			last.nr_later = bits ? rnd() >> (64 - bits) : 0;
			rows[i] = last;
		}
		wrong += !is_same(&e, rows, nr);
	}
	encoder_exit(&e);
	is_int(wrong, 0, name);
}

/* Rows that are not selected */

struct ticks {
	int64_t from, to;
};

static size_t select_rows(const void *arg, char *rows, size_t nr)
{
	struct ldb_row_req *row = (void *)rows;
	const struct ticks *want = arg;
	size_t out = 0;

	for (size_t i = 0; i < nr; i++)
		if (row[i].tick >= want->from && row[i].tick <= want->to)
			row[out++] = row[i];
	return out;
}

static bool select_times(const void *arg, const char *rows, size_t nr)
{
	const struct ldb_row_req *row = (const void *)rows;
	const struct ticks *want = arg;

	while (nr && (row[nr - 1].tick < want->from || row[nr - 1].tick > want->to))
		nr--;
	return nr;
}

/* Returns true if the selected rows of a payload, valid or not, are those of all its rows. */
static bool is_same_selected(const struct schema *s, const uint8_t *payload, size_t bytes, size_t nr,
			     const struct ticks *want, unsigned *nr_wrong)
{
	static struct ldb_row_req all[ROWS_MAX], some[ROWS_MAX];
	const struct columns_select select = { select_rows, select_times, want, 0 };
	size_t nr_all = nr, nr_some = nr;
	bool is_right = columns_decode(s, payload, bytes, all, &nr_all, NULL, NULL);

	*nr_wrong += !is_right;
	if (columns_decode(s, payload, bytes, some, &nr_some, NULL, &select) != is_right)
		return false;
	if (!is_right)
		return true;
	nr_all = select_rows(want, (char *)all, nr_all);
	return nr_some == nr_all && !memcmp(some, all, nr_all * sizeof(*all));
}

static void test_selected(void)
{
	struct encoder e = { .schema = schema_find(LDB_BLK_REQ) };
	static struct ldb_row_req rows[ROWS_MAX];
	static uint8_t payload[ROWS_MAX * 8 * 10 + 64];
	unsigned differ = 0, nr_wrong = 0;

	for (int round = 0; round < 2000; round++) {
		size_t nr = rnd() % ROWS_MAX + 1, bytes;
		unsigned bits = 1 + rnd() % 40;
		struct ticks want = { rnd() % 3000, rnd() % 3000 };

		for (size_t i = 0; i < nr; i++)
			rows[i] = (struct ldb_row_req){
				.op = rnd() % 4, .tid = rnd() & 0xffffffff >> rnd() % 32, .tick = i + rnd() % 10,
				.id = rnd() >> (64 - bits), .queue = rnd() >> rnd() % 64, .site = rnd() % 100,
			};
		encoder_clear(&e);
		for (size_t done = 0, n; done < nr; done += n) {
			n = nr - done < ENCODER_TILE ? nr - done : ENCODER_TILE;
			if (encoder_add(&e, rows + done, n))
				bail_out("out of memory");
		}
		bytes = encoder_bytes(&e);
		encoder_put(&e, payload);
		for (unsigned i = rnd() % 3; i; i--)
			payload[rnd() % bytes] ^= 1U << rnd() % 8;
		differ += !is_same_selected(e.schema, payload, bytes, nr, &want, &nr_wrong);
	}
	encoder_exit(&e);
	ok(!differ && nr_wrong > 100 && nr_wrong < 1900,
	   "a selection has the same rows, and accepts the same payloads: %u differ, %u invalid", differ, nr_wrong);
}

int main(void)
{
	test_bits(0, 0, "nothing changes");
	test_bits(0, 6, "one byte");
	test_bits(0, 7, "one byte, at its edge");
	test_bits(7, 14, "two bytes, and their edges");
	test_bits(14, 28, "three and four");
	test_bits(28, 56, "five to eight");
	test_bits(56, 64, "nine and ten");
	test_bits(0, 64, "all lengths");
	test_selected();
	return done();
}
