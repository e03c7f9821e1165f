// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints a relation as JSON and CSV, and compares its rows; see relation.h. */
#include <stdarg.h>
#include <string.h>

#include "cli/relation.h"
#include "cli/csv.h"

const void *row_report(const struct row *row)
{
	while (row->in)
		row = row->in;
	return row->at;
}

struct value value_textf(char *buf, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(buf, COLUMN_ROOM, format, ap);
	va_end(ap);
	return value_text(buf);
}

static const void *column_at(const struct column *c, const struct row *row)
{
	static const union {
		const char *text;
		uint64_t number;
	} text = { .text = "" }, number = { .number = 0 };
	const char *at = (const char *)row->at + c->offset, *to;

	if (!c->is_via)
		return at;
	to = *(const char *const *)at;
	return to ? to + c->inner : c->type == COLUMN_TEXT ? (const void *)&text : &number;
}

struct value column_value(const struct column *c, const struct row *row, char *buf)
{
	const void *at = column_at(c, row);

	if (c->when && !c->when(row))
		return value_none();
	switch (c->type) {
	case COLUMN_I64:
		return value_i64(*(const int64_t *)at);
	case COLUMN_U64:
		return value_u64(*(const uint64_t *)at);
	case COLUMN_U32:
		return value_u64(*(const uint32_t *)at);
	case COLUMN_BOOL:
		return value_bool(*(const bool *)at);
	case COLUMN_DOUBLE:
		return value_double(*(const double *)at);
	case COLUMN_TEXT:
		return value_text(*(const char *const *)at);
	case COLUMN_CHARS:
		return value_text(at);
	case COLUMN_HEX:
		return value_hex(*(const uint64_t *)at);
	case COLUMN_GET:
		return c->get(row, buf);
	default:
		return value_none();
	}
}

static struct rows column_rows(const struct column *c, const struct row *row)
{
	const char *at = row->at;

	if (c->type == COLUMN_SELF || (c->when && !c->when(row)))
		return (struct rows){ 0 };
	if (c->rows)
		return c->rows(row);
	if (c->type == COLUMN_PART)
		return rows_one(at + c->offset);
	return (struct rows){
		.at = *(const void *const *)(at + c->offset),
		.nr = *(const size_t *)(at + c->nr_offset), .size = c->size,
	};
}

void column_each(const struct column *c, const struct row *row,
		 void (*each)(void *arg, const struct row *nested), void *arg)
{
	struct rows rows = column_rows(c, row);
	struct row self = *row, nested = { .columns = c->columns, .at = rows.first, .in = row };

	self.columns = c->columns;
	if (c->type == COLUMN_SELF && (!c->when || c->when(row)))
		each(arg, &self);
	if (rows.first) {
		each(arg, &nested);
		nested.nth++;
	}
	for (size_t i = 0; i < rows.nr; i++, nested.nth++) {
		nested.at = rows.are_pointers ? ((const void *const *)rows.at)[i] :
			    (const char *)rows.at + i * rows.size;
		if (!c->is_one || c->is_one(&nested))
			each(arg, &nested);
	}
}

/* JSON */

static void put_members(void *json, const struct row *row);

static void put_value(struct json *j, const char *key, struct value v)
{
	switch (v.type) {
	case VALUE_NONE:
		break;
	case VALUE_NULL:
		json_null(j, key);
		break;
	case VALUE_I64:
		json_i64(j, key, v.i64);
		break;
	case VALUE_U64:
		json_u64(j, key, v.u64);
		break;
	case VALUE_DOUBLE:
		json_double(j, key, v.number);
		break;
	case VALUE_BOOL:
		json_bool(j, key, v.u64);
		break;
	case VALUE_TEXT:
		json_string(j, key, v.text);
		break;
	case VALUE_HEX:
		json_hex(j, key, v.u64);
		break;
	}
}

static void put_object(void *json, const struct row *row)
{
	json_object_begin(json, NULL);
	put_members(json, row);
	json_object_end(json);
}

static void put_flat_object(void *json, const struct row *row)
{
	json_flat(json);
	put_object(json, row);
}

static bool is_part(const struct column *c)
{
	return c->type == COLUMN_PART || c->type == COLUMN_SELF;
}

/*
 * Returns true if the columns have no keys: then they are elements of an array, and not members of
 * an object.
 */
static bool is_plain(const struct column *columns)
{
	return !columns->key && !is_part(columns);
}

static void put_array(struct json *j, const struct column *c, const struct row *row)
{
	if (c->form & COLUMN_IF_ANY && !column_rows(c, row).nr)
		return;
	if (c->form & COLUMN_ONE_LINE)
		json_flat(j);
	json_array_begin(j, c->key);
	column_each(c, row, is_plain(c->columns) ? put_members :
		    c->form & COLUMN_TALL ? put_object : put_flat_object, j);
	json_array_end(j);
}

static void put_part(struct json *j, const struct column *c, const struct row *row)
{
	if (!c->key) {
		column_each(c, row, put_members, j);
		return;
	}
	if (c->type == COLUMN_PART && !column_rows(c, row).nr) {
		if (c->form & COLUMN_OR_NULL)
			json_null(j, c->key);
		return;
	}
	if (!(c->form & COLUMN_TALL))
		json_flat(j);
	json_object_begin(j, c->key);
	column_each(c, row, put_members, j);
	json_object_end(j);
}

static void put_words(struct json *j, const struct column *c, const struct row *row)
{
	const char *word;

	json_flat(j);
	json_array_begin(j, c->key);
	for (size_t n = 0; (word = c->word(row, n)); n++)
		json_string(j, NULL, word);
	json_array_end(j);
}

static void put_members(void *json, const struct row *row)
{
	char buf[COLUMN_ROOM];

	for (const struct column *c = row->columns; c->type; c++) {
		if (c->form & COLUMN_ONLY_CSV)
			continue;
		if (c->type == COLUMN_NESTED)
			put_array(json, c, row);
		else if (is_part(c))
			put_part(json, c, row);
		else if (c->type == COLUMN_WORDS)
			put_words(json, c, row);
		else
			put_value(json, c->key, column_value(c, row, buf));
	}
}

void relation_json(struct json *j, const struct column *columns, const void *at)
{
	put_members(j, &(struct row){ .columns = columns, .at = at });
}

void relation_object(struct json *j, const char *key, const struct column *columns, const void *at)
{
	json_object_begin(j, key);
	relation_json(j, columns, at);
	json_object_end(j);
}

/* CSV */

static bool is_nested(const struct column *c)
{
	return c->type == COLUMN_NESTED || (is_part(c) && c->key);
}

static bool is_in_csv(const struct column *c)
{
	return !(c->form & COLUMN_ONLY_JSON) && (c->form & COLUMN_SPREAD || !is_nested(c));
}

static const struct column *find_spread(const struct column *c)
{
	while (c->type && !(c->form & COLUMN_SPREAD))
		c++;
	return c->type ? c : NULL;
}

static const char *head_of(const struct column *c)
{
	return c->csv ? c->csv : c->key;
}

static void put_heads(struct csv *csv, const struct column *columns)
{
	const struct column *spread = find_spread(columns);

	for (const struct column *c = columns; c->type; c++) {
		if (!is_in_csv(c) || c->form & COLUMN_SPREAD)
			continue;
		if (c->columns)
			put_heads(csv, c->columns);
		else
			csv_string(csv, head_of(c));
	}
	if (spread)
		put_heads(csv, spread->columns);
}

static void put_cell(struct csv *csv, struct value v)
{
	if (v.type == VALUE_I64)
		csv_i64(csv, v.i64);
	else if (v.type == VALUE_U64 || v.type == VALUE_BOOL)
		csv_u64(csv, v.u64);
	else if (v.type == VALUE_DOUBLE)
		csv_double(csv, v.number);
	else if (v.type == VALUE_HEX)
		csv_hex(csv, v.u64);
	else
		csv_string(csv, v.type == VALUE_TEXT ? v.text : NULL);
}

/* Prints the cells of one row, without those of the rows that contain it. */
static void put_own_cells(void *csv, const struct row *row)
{
	char buf[COLUMN_ROOM];

	for (const struct column *c = row->columns; c->type; c++) {
		if (!is_in_csv(c) || c->form & COLUMN_SPREAD)
			continue;
		if (c->columns)
			column_each(c, row, put_own_cells, csv);
		else
			put_cell(csv, column_value(c, row, buf));
	}
}

struct search {
	const char *head;
	struct value value;
	char *buf;
};

static void find_cell(void *arg, const struct row *row)
{
	struct search *s = arg;

	for (const struct column *c = row->columns; c->type; c++) {
		if (!is_in_csv(c))
			continue;
		if (c->columns)
			column_each(c, row, find_cell, s);
		else if (!strcmp(head_of(c), s->head))
			s->value = column_value(c, row, s->buf);
	}
}

/* Prints a cell under each of these heads; it is empty if the row has no column of that name. */
static void put_cells_under(struct csv *csv, const struct column *heads, const struct row *row)
{
	char buf[COLUMN_ROOM];

	for (const struct column *c = heads; c->type; c++) {
		struct search s = { .head = head_of(c), .buf = buf };

		if (!is_in_csv(c))
			continue;
		if (c->columns) {
			put_cells_under(csv, c->columns, row);
		} else {
			find_cell(&s, row);
			put_cell(csv, s.value);
		}
	}
}

static void put_cells(struct csv *csv, const struct row *row)
{
	const struct column *heads = row->columns;

	if (row->in) {
		heads = find_spread(row->in->columns)->columns;
		put_cells(csv, row->in);
	}
	if (heads == row->columns)
		put_own_cells(csv, row);
	else
		put_cells_under(csv, heads, row);
}

static void put_lines(void *csv, const struct row *row)
{
	for (const struct column *c = row->columns; c->type; c++)
		if (c->form & COLUMN_SPREAD)
			column_each(c, row, put_lines, csv);
	if (find_spread(row->columns))
		return;
	put_cells(csv, row);
	csv_row_end(csv);
}

void relation_csv(FILE *f, const struct column *columns, const void *at)
{
	struct csv csv;

	csv_init(&csv, f);
	put_heads(&csv, columns);
	csv_row_end(&csv);
	put_lines(&csv, &(struct row){ .columns = columns, .at = at });
}

/* Order */

static bool is_named(const struct column *c, const char *key)
{
	size_t len = strlen(key);

	return c->key && !strncmp(c->key, key, len) &&
	       (!c->key[len] || !strcmp(c->key + len, "_ns"));
}

const struct column *relation_find(const struct column *columns, const char *key)
{
	for (const struct column *c = columns; c->type; c++)
		if (is_named(c, key))
			return c;
	return NULL;
}

int column_compare(const struct column *c, const void *a, const void *b)
{
	char buf[COLUMN_ROOM];
	struct value va = column_value(c, &(struct row){ .at = a }, buf);
	struct value vb = column_value(c, &(struct row){ .at = b }, buf);

	if (va.type == VALUE_TEXT)
		return strcmp(va.text, vb.text);
	if (va.type == VALUE_DOUBLE)
		return va.number > vb.number ? -1 : va.number < vb.number;
	return va.i64 > vb.i64 ? -1 : va.i64 < vb.i64;
}
