// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables for people; see table.h. */
#include <inttypes.h>
#include <string.h>

#include "cli/units.h"
#include "render/table.h"
#include "render/text.h"

#define COUNT_WIDTH	6
#define NS_WIDTH	7

static bool is_shown(const struct render *r, const struct column *c)
{
	return c->head && r->width >= c->from;
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

void table_heads(const struct render *r, const struct column *columns)
{
	for (const struct column *c = columns; c->type; c++)
		if (is_shown(r, c))
			fprintf(r->out, " %*s", width_of(c), c->head);
}

static const char *cell_text(const struct column *c, struct value v, char *buf)
{
	if (v.type == VALUE_TEXT)
		return v.text;
	return is_time(c) ? text_ns(v.i64, buf) : text_count(v.u64, buf);
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

void table_ns(const struct render *r, int64_t ns)
{
	char buf[UNITS_ROOM];

	fprintf(r->out, " %*s", NS_WIDTH, text_ns(ns, buf));
}
