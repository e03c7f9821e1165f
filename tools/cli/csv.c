// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes CSV cells.  A cell is quoted if it contains a separator, a quote or a newline, or if it
 * begins or ends with a blank, which some readers would remove.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "cli/csv.h"
#include "cli/utf8.h"

void csv_init(struct csv *c, FILE *f)
{
	c->f = f;
	c->any = false;
}

static void separate(struct csv *c)
{
	if (c->any)
		putc(',', c->f);
	c->any = true;
}

static bool needs_quotes(const char *s)
{
	size_t n = strlen(s);

	return n && (strpbrk(s, ",\"\r\n") || s[0] == ' ' || s[n - 1] == ' ');
}

/*
 * Cells may contain newlines and tabs.  '?' replaces other control characters, and bytes that are
 * not UTF-8, because readers do not expect them.
 */
static void put_text(const struct csv *c, const char *s)
{
	while (*s) {
		unsigned n = utf8_length(s);

		if (*s == '"')
			fputs("\"\"", c->f);
		else if (*s == '\n' || *s == '\t')
			putc(*s, c->f);
		else if (!n || utf8_is_control(s, n))
			putc('?', c->f);
		else
			fwrite(s, 1, n, c->f);
		s += n ? n : 1;
	}
}

void csv_string(struct csv *c, const char *value)
{
	const char *s = value ? value : "";

	separate(c);
	if (!needs_quotes(s)) {
		put_text(c, s);
		return;
	}
	putc('"', c->f);
	put_text(c, s);
	putc('"', c->f);
}

void csv_u64(struct csv *c, uint64_t value)
{
	separate(c);
	fprintf(c->f, "%" PRIu64, value);
}

void csv_i64(struct csv *c, int64_t value)
{
	separate(c);
	fprintf(c->f, "%" PRId64, value);
}

void csv_double(struct csv *c, double value)
{
	separate(c);
	if (isfinite(value))
		fprintf(c->f, "%.12g", value);
}

void csv_hex(struct csv *c, uint64_t value)
{
	separate(c);
	fprintf(c->f, "0x%" PRIx64, value);
}

void csv_row_end(struct csv *c)
{
	putc('\n', c->f);
	c->any = false;
}
