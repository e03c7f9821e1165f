// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes JSON as a stream, without storing the document.  Strings come from traces and may contain
 * any bytes: those that are not UTF-8 become U+FFFD.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "cli/json.h"
#include "cli/utf8.h"

void json_init(struct json *j, FILE *f)
{
	*j = (struct json){ .f = f };
}

static void new_line(const struct json *j)
{
	putc('\n', j->f);
	for (unsigned i = 0; i < j->depth; i++)
		fputs("  ", j->f);
}

static void put_quoted(const struct json *j, const char *string)
{
	const unsigned char *s = (const unsigned char *)string;

	putc('"', j->f);
	while (*s) {
		unsigned n = utf8_length((const char *)s);

		if (*s == '"' || *s == '\\')
			fprintf(j->f, "\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", j->f);
		else if (*s == '\t')
			fputs("\\t", j->f);
		else if (*s < 0x20 || *s == 0x7f || (*s == '<' && j->is_html))
			fprintf(j->f, "\\u%04x", *s);
		else if (!n)
			fputs("\xef\xbf\xbd", j->f);
		else if (utf8_is_control((const char *)s, n))
			fprintf(j->f, "\\u%04x", s[1]);	/* C2 xx is U+00xx */
		else
			fwrite(s, 1, n, j->f);
		s += n ? n : 1;
	}
	putc('"', j->f);
}

static void begin_value(struct json *j, const char *key)
{
	if (j->any[j->depth])
		putc(',', j->f);
	if (j->depth && !j->flat[j->depth])
		new_line(j);
	else if (j->any[j->depth])
		putc(' ', j->f);
	j->any[j->depth] = true;
	if (key) {
		put_quoted(j, key);
		fputs(": ", j->f);
	}
}

static void open_bracket(struct json *j, const char *key, char bracket)
{
	bool flat = j->flat[j->depth];

	begin_value(j, key);
	putc(bracket, j->f);
	assert(j->depth < JSON_DEPTH_MAX);
	j->depth++;
	j->any[j->depth] = false;
	/* json_flat() may have set it; everything in a flat object is flat. */
	j->flat[j->depth] |= flat;
}

static void close_bracket(struct json *j, char bracket)
{
	bool line = j->any[j->depth] && !j->flat[j->depth];

	assert(j->depth);
	j->flat[j->depth] = false;
	j->depth--;
	if (line)
		new_line(j);
	putc(bracket, j->f);
}

void json_flat(struct json *j)
{
	j->flat[j->depth + 1] = true;
}

void json_object_begin(struct json *j, const char *key)
{
	open_bracket(j, key, '{');
}

void json_object_end(struct json *j)
{
	close_bracket(j, '}');
}

void json_array_begin(struct json *j, const char *key)
{
	open_bracket(j, key, '[');
}

void json_array_end(struct json *j)
{
	close_bracket(j, ']');
}

void json_string(struct json *j, const char *key, const char *value)
{
	begin_value(j, key);
	if (value)
		put_quoted(j, value);
	else
		fputs("null", j->f);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	begin_value(j, key);
	fprintf(j->f, "%" PRIu64, value);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	begin_value(j, key);
	fprintf(j->f, "%" PRId64, value);
}

void json_micros(struct json *j, const char *key, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	begin_value(j, key);
	fprintf(j->f, "%s%" PRIu64 ".%03" PRIu64, ns < 0 ? "-" : "", size / 1000, size % 1000);
}

void json_double(struct json *j, const char *key, double value)
{
	char buf[32];

	begin_value(j, key);
	if (!isfinite(value)) {
		fputs("null", j->f);
		return;
	}
	/* this form is shorter; it is used if it is exact */
	snprintf(buf, sizeof(buf), "%.15g", value);
	if (strtod(buf, NULL) != value)
		snprintf(buf, sizeof(buf), "%.17g", value);
	fputs(buf, j->f);
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin_value(j, key);
	fputs(value ? "true" : "false", j->f);
}

void json_null(struct json *j, const char *key)
{
	json_string(j, key, NULL);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	begin_value(j, key);
	fprintf(j->f, "\"0x%" PRIx64 "\"", value);
}

void json_end(struct json *j)
{
	assert(!j->depth);
	putc('\n', j->f);
}
