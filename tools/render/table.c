// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints tables for people; see table.h. */
#include <inttypes.h>
#include <string.h>

#include "cli/units.h"
#include "render/table.h"
#include "render/text.h"

#define COUNT_WIDTH	6
#define NS_WIDTH	7

static bool is_shown(const struct render *r, const struct column *c)
{
	return c->head && r->width >= c->from && (r->has_estimates || !(c->form & COLUMN_IF_ESTIMATES));
}

static bool is_time(const struct column *c)
{
	size_t len = c->key ? strlen(c->key) : 0;

	return len > 3 && !strcmp(c->key + len - 3, "_ns");
}

static int width_of(const struct column *c)
{
	return c->width ? c->width : is_time(c) ? NS_WIDTH : COUNT_WIDTH;
}

void table_head(const struct render *r, const char *first, unsigned width,
		const struct column *columns, const char *last)
{
	text_style(r, TEXT_BOLD);
	fprintf(r->out, "%-*s", (int)width, first);
	for (const struct column *c = columns; c->type; c++)
		if (is_shown(r, c))
			fprintf(r->out, " %*s", width_of(c), c->head);
	fprintf(r->out, "%s\n", last);
	text_style(r, TEXT_PLAIN);
}

static const char *cell_text(const struct column *c, struct value v, char *buf)
{
	if (v.type == VALUE_TEXT)
		return v.text;
	if (v.type == VALUE_NONE)
		return "";
	if (c->form & COLUMN_DIGITS)
		snprintf(buf, UNITS_ROOM, "%" PRIu64, v.u64);
	else if (is_time(c))
		text_ns(v.i64, buf);
	else
		text_count(v.u64, buf);
	return buf;
}

void table_cells(const struct render *r, const struct column *columns, const void *at)
{
	char buf[COLUMN_ROOM], text[UNITS_ROOM];
	const struct row row = { .columns = columns, .at = at };

	for (const struct column *c = columns; c->type; c++)
		if (is_shown(r, c))
			fprintf(r->out, " %*s", width_of(c),
				cell_text(c, column_value(c, &row, buf), text));
}

unsigned table_width(const struct render *r, const struct column *columns)
{
	unsigned width = 0;

	for (const struct column *c = columns; c->type; c++)
		width += is_shown(r, c) ? 1 + width_of(c) : 0;
	return width;
}
