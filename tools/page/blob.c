// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encodes columns of numbers for a page: each value as it is, or as the difference to the previous
 * one.  The lowest bytes of all values come first (a plane), then the next bytes, and so on, in as
 * many planes as the greatest value needs.  All planes of a table are in one gzip stream, in
 * base64.
 *
 * The element's attribute data-columns contains "name:planes:how:count" for each column.  `how` is
 * d (differences: zigzag), n (values, some of them negative: zigzag) or p (values).
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "page/page.h"

#define CHUNK	49152	/* a multiple of 3, so that base64 needs no padding in between */

struct stream {
	FILE *out;
	z_stream z;
	unsigned char raw[CHUNK], zipped[CHUNK];
	size_t nr_raw, nr_zipped;
};

/* How a column is encoded, and its number of planes. */
struct code {
	char how;
	unsigned nr_planes;
};

static void put_base64(FILE *out, const unsigned char *s, size_t nr)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char line[CHUNK / 3 * 4], *to = line;
	size_t i;

	for (i = 0; i + 2 < nr; i += 3) {
		uint32_t v = s[i] << 16 | s[i + 1] << 8 | s[i + 2];

		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = digits[v >> 6 & 63];
		*to++ = digits[v & 63];
	}
	if (i < nr) {
		uint32_t v = s[i] << 16 | (i + 1 < nr ? s[i + 1] << 8 : 0);

		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = i + 1 < nr ? digits[v >> 6 & 63] : '=';
		*to++ = '=';
	}
	fwrite(line, 1, to - line, out);
}

static void press(struct stream *s, int flush)
{
	int status;

	s->z.next_in = s->raw;
	s->z.avail_in = s->nr_raw;
	do {
		s->z.next_out = s->zipped + s->nr_zipped;
		s->z.avail_out = CHUNK - s->nr_zipped;
		status = deflate(&s->z, flush);
		s->nr_zipped = CHUNK - s->z.avail_out;
		if (!s->z.avail_out || status == Z_STREAM_END) {
			put_base64(s->out, s->zipped, s->nr_zipped);
			s->nr_zipped = 0;
		}
	} while (s->z.avail_in || (flush == Z_FINISH && status != Z_STREAM_END));
	s->nr_raw = 0;
}

static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static int64_t value(const struct page_column *c, size_t i)
{
	return c->values[i * (c->stride ? c->stride : 1)];
}

static uint64_t coded(const struct page_column *c, char how, size_t i)
{
	if (how == 'd')
		return zigzag((int64_t)((uint64_t)value(c, i) - (i ? (uint64_t)value(c, i - 1) : 0)));
	return how == 'n' ? zigzag(value(c, i)) : (uint64_t)value(c, i);
}

/* Returns the bits that are set in at least one of the values. */
static uint64_t all_bits(const struct page_column *c, char how)
{
	uint64_t all = 0;

	for (size_t i = 0; i < c->nr; i++)
		all |= coded(c, how, i);
	return all;
}

/*
 * Differences beyond the exact range of JavaScript's numbers are avoided, because they would make
 * all later values wrong.
 */
static struct code choose_code(const struct page_column *c)
{
	uint64_t all = c->is_delta ? all_bits(c, 'd') : UINT64_MAX;
	char how = 'd';

	if (all >> 53) {
		all = all_bits(c, 'p');
		how = all >> 63 ? 'n' : 'p';
		if (how == 'n')
			all = all_bits(c, 'n');
	}
	return (struct code){ how, all ? (64 - __builtin_clzll(all) + 7) / 8 : 0 };
}

static void put_column(struct stream *s, const struct page_column *c, struct code code)
{
	for (unsigned plane = 0; plane < code.nr_planes; plane++) {
		for (size_t i = 0; i < c->nr; i++) {
			s->raw[s->nr_raw++] = coded(c, code.how, i) >> 8 * plane;
			if (s->nr_raw == CHUNK)
				press(s, Z_NO_FLUSH);
		}
	}
}

int page_columns(struct page *p, const char *id, const struct page_column *columns, size_t nr)
{
	struct stream *s = calloc(1, sizeof(*s));
	struct code *codes = calloc(nr + 1, sizeof(*codes));

	if (!s || !codes) {
		free(s);
		free(codes);
		return -ENOMEM;
	}
	s->out = p->out;
	if (deflateInit2(&s->z, 6, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(s);
		free(codes);
		return -ENOMEM;
	}
	fprintf(p->out, "<script type=\"application/octet-stream\" id=\"%s\" data-columns=\"", id);
	for (size_t i = 0; i < nr; i++) {
		codes[i] = choose_code(&columns[i]);
		fprintf(p->out, "%s%.*s:%u:%c:%zu", i ? " " : "",
			columns[i].name_length ? columns[i].name_length : -1, columns[i].name,
			codes[i].nr_planes, codes[i].how, columns[i].nr);
	}
	fputs("\">", p->out);
	for (size_t i = 0; i < nr; i++)
		put_column(s, &columns[i], codes[i]);
	free(codes);
	press(s, Z_FINISH);
	deflateEnd(&s->z);
	free(s);
	fputs("</script>\n", p->out);
	return 0;
}
