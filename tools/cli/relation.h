/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A relation consists of rows of one kind and the list of their columns.  All outputs are made from
 * the list: JSON objects, CSV lines, tables for people (render/table.h), and the keys of --sort.
 *
 *	#define ROW struct lock_owner
 *	GET(owner_thread, text, model_thread_name(e->thread))
 *
 *	static const struct column owner_columns[] = {
 *		SAME(tid), MADE("thread", owner_thread), SAME(holds, .head = "holds"), { 0 }
 *	};
 *	#undef ROW
 *
 * Most columns are members of the row, and are printed according to the member's type.  Others are
 * computed by a function.  A row may contain other rows: a PART is printed as an object inside of
 * the object, or (without a key) as further members; NESTED rows are an array.  A report is a row,
 * too, whose columns are computed from the whole analysis: see row_report().
 */
#ifndef CLI_RELATION_H
#define CLI_RELATION_H

#include <stddef.h>
#include <stdio.h>
#include "cli/json.h"

#define COLUMN_ROOM	4096	/* size of the buffer for a computed text */

enum value_type {
	VALUE_NONE,		/* no member in JSON, an empty cell in CSV */
	VALUE_NULL,
	VALUE_I64, VALUE_U64, VALUE_DOUBLE, VALUE_BOOL, VALUE_TEXT, VALUE_HEX
};

struct value {
	enum value_type type;
	union {
		int64_t i64;
		uint64_t u64;	/* HEX and BOOL, too */
		double number;
		const char *text;
	};
};

struct row {
	const struct column *columns;
	const void *at;
	const struct row *in;	/* the row that contains this one; NULL: this row is the report */
	size_t nth;		/* index of this row in its array of nested rows */
};

/* Rows of an array.  If `first` is not NULL, it is one more row, before them. */
struct rows {
	const void *at;
	size_t nr, size;
	bool are_pointers;
	const void *first;
};

enum column_type {
	COLUMN_END,
	COLUMN_I64, COLUMN_U64, COLUMN_U32, COLUMN_BOOL, COLUMN_DOUBLE,
	COLUMN_TEXT,		/* const char * */
	COLUMN_CHARS,		/* char[] */
	COLUMN_HEX,		/* uint64_t */
	COLUMN_GET,		/* computed by get() */
	COLUMN_PART,		/* a row inside of this row */
	COLUMN_SELF,		/* further columns of the same row */
	COLUMN_NESTED,		/* an array of rows */
	COLUMN_WORDS		/* an array of texts, which word() returns */
};

enum column_form {
	COLUMN_ONLY_JSON = 1,
	COLUMN_ONLY_CSV = 2,
	COLUMN_ONLY_TABLE = COLUMN_ONLY_JSON | COLUMN_ONLY_CSV,
	COLUMN_TALL = 4,	/* JSON: an object over several lines */
	COLUMN_ONE_LINE = 8,	/* JSON: the whole array on one line */
	COLUMN_OR_NULL = 16,	/* JSON: null if there is no part */
	/*
	 * CSV: prints a line for each row of this array, which begins with the cells of the row
	 * that contains the array.  If several arrays are spread, the heads are those of the first
	 * one, and the cells of all rows are under the heads of the same names.
	 */
	COLUMN_SPREAD = 32,
	COLUMN_IF_ANY = 64,	/* JSON: left out if the array is empty */
	COLUMN_DIGITS = 128,	/* table: prints the whole number, not "1.24k" */
	COLUMN_IF_ESTIMATES = 256 /* table: only where latencies of requests are estimates */
};

struct column {
	/* key in JSON, and head in CSV; NULL in arrays, and for parts without a key */
	const char *key;
	const char *csv;	/* head in CSV, if it differs from key */
	enum column_type type;
	unsigned form;
	size_t offset;
	/* at offset is a pointer to a struct with the value; NULL: the value is "" or 0 */
	bool is_via;
	size_t inner;		/* offset of the value in that struct */
	/* says whether this row has the column; NULL: it always has */
	bool (*when)(const struct row *row);
	struct value (*get)(const struct row *row, char *buf); /* buf: COLUMN_ROOM bytes */
	/* returns the nth text; NULL after the last */
	const char *(*word)(const struct row *row, size_t n);
	/* for PART and NESTED */
	const struct column *columns;
	struct rows (*rows)(const struct row *row); /* NULL: at offset */
	/* says which of the rows are printed; NULL: all */
	bool (*is_one)(const struct row *nested);
	size_t nr_offset, size;	/* NESTED: the offset of the number of rows; the size of a row */
	/* Head of the column in the table for people; NULL: not in the table. */
	const char *head;
	unsigned char width;	/* 0: the usual width of a time or a number */
	unsigned char from;	/* only if the screen has at least this many columns */
	unsigned char sort;	/* position among the keys of --sort, from 1; 0: not a key */
};

/* Only the size of an expression distinguishes a constant array of char from a pointer. */
#define COLUMN_TYPE(member)							\
	_Generic((member), int64_t: COLUMN_I64, uint64_t: COLUMN_U64,		\
		 uint32_t: COLUMN_U32, bool: COLUMN_BOOL, double: COLUMN_DOUBLE, \
		 const char *: sizeof(member) == sizeof(char *) ? COLUMN_TEXT : COLUMN_CHARS, \
		 char *: COLUMN_CHARS)

/* Defines columns of ROW, the row's type; further members of struct column may follow. */
#define COLUMN(name, member, ...)						\
	{ .key = (name), .type = COLUMN_TYPE(((ROW *)NULL)->member),		\
	  .offset = offsetof(ROW, member), ##__VA_ARGS__ }
#define SAME(member, ...)	COLUMN(#member, member, ##__VA_ARGS__)
#define VIA(name, pointer, member, ...)						\
	{ .key = (name), .type = COLUMN_TYPE(((ROW *)NULL)->pointer->member),	\
	  .offset = offsetof(ROW, pointer), .is_via = true,			\
	  .inner = offsetof(__typeof__(*((ROW *)NULL)->pointer), member), ##__VA_ARGS__ }
#define MADE(name, function, ...)						\
	{ .key = (name), .type = COLUMN_GET, .get = (function), ##__VA_ARGS__ }
#define HEX(name, member, ...)							\
	{ .key = (name), .type = COLUMN_HEX, .offset = offsetof(ROW, member), ##__VA_ARGS__ }
#define PART(name, member, list, ...)						\
	{ .key = (name), .type = COLUMN_PART, .columns = (list),		\
	  .offset = offsetof(ROW, member), ##__VA_ARGS__ }
#define SELF(name, list, ...)							\
	{ .key = (name), .type = COLUMN_SELF, .columns = (list), ##__VA_ARGS__ }
#define PART_AT(name, function, list, ...)					\
	{ .key = (name), .type = COLUMN_PART, .columns = (list), .rows = (function), ##__VA_ARGS__ }
#define NESTED(name, member, nr_member, list, ...)				\
	{ .key = (name), .type = COLUMN_NESTED, .columns = (list),		\
	  .offset = offsetof(ROW, member),					\
	  .nr_offset = offsetof(ROW, nr_member), .size = sizeof(*((ROW *)NULL)->member), \
	  ##__VA_ARGS__ }
#define NESTED_AT(name, function, list, ...)					\
	{ .key = (name), .type = COLUMN_NESTED, .columns = (list), .rows = (function), \
	  ##__VA_ARGS__ }

#define WORDS(name, function)							\
	{ .key = (name), .type = COLUMN_WORDS, .word = (function), .form = COLUMN_ONLY_JSON }

/* Defines a function for MADE(): e is the row, and value_TYPE() makes the value. */
#define GET(name, type, ...)							\
	static struct value name(const struct row *row, char *buf)		\
	{									\
		const ROW *e __attribute__((unused)) = row->at;			\
										\
		return value_##type(__VA_ARGS__);				\
	}

/*
 * Defines a function for PART_AT() or NESTED_AT(), which calls rows_one() or rows_of() for a member
 * of e.
 */
#define FROM(name, ...)								\
	static struct rows name(const struct row *row)				\
	{									\
		const ROW *e __attribute__((unused)) = row->at;			\
										\
		return __VA_ARGS__;						\
	}

/* Defines a function for .when, which returns true if e has the column. */
#define WHEN(name, ...)								\
	static bool name(const struct row *row)					\
	{									\
		const ROW *e __attribute__((unused)) = row->at;			\
										\
		return __VA_ARGS__;						\
	}

static inline struct value value_i64(int64_t v)
{
	return (struct value){ .type = VALUE_I64, .i64 = v };
}

static inline struct value value_u64(uint64_t v)
{
	return (struct value){ .type = VALUE_U64, .u64 = v };
}

static inline struct value value_double(double v)
{
	return (struct value){ .type = VALUE_DOUBLE, .number = v };
}

static inline struct value value_bool(bool v)
{
	return (struct value){ .type = VALUE_BOOL, .u64 = v };
}

static inline struct value value_hex(uint64_t v)
{
	return (struct value){ .type = VALUE_HEX, .u64 = v };
}

static inline struct value value_text(const char *v)
{
	return (struct value){ .type = VALUE_TEXT, .text = v };
}

/* Prints a text into buf, which is the buf of a GET() function. */
__attribute__((format(printf, 2, 3)))
struct value value_textf(char *buf, const char *format, ...);

static inline struct value value_none(void)
{
	return (struct value){ .type = VALUE_NONE };
}

static inline struct value value_null(void)
{
	return (struct value){ .type = VALUE_NULL };
}

static inline struct value value_nonzero(int64_t v)
{
	return v ? value_i64(v) : value_null();
}

static inline struct value value_i64_or_null(bool is_known, int64_t v)
{
	return is_known ? value_i64(v) : value_null();
}

/* Returns v if is_there, else no member; v need not be valid in that case. */
#define value_if(is_there, v)	((is_there) ? (v) : value_none())

/* For .rows: returns one row, or none if at is NULL. */
static inline struct rows rows_one(const void *at)
{
	return (struct rows){ .at = at, .nr = !!at };
}

#define rows_of(array, number)							\
	((struct rows){ .at = (array), .nr = (number), .size = sizeof(*(array)) })

/* Returns the report, which is the outermost row. */
const void *row_report(const struct row *row);

/* Calls each() for the rows of a PART or of NESTED, or for the same row if the column is SELF. */
void column_each(const struct column *c, const struct row *row,
		 void (*each)(void *arg, const struct row *nested), void *arg);
struct value column_value(const struct column *c, const struct row *row, char *buf);

/* Prints the columns of a report as members of the open object. */
void relation_json(struct json *j, const struct column *columns, const void *at);

/* Prints the columns as an object with this key. */
void relation_object(struct json *j, const char *key, const struct column *columns, const void *at);

/* Prints the heads, and a line for each row that is spread; if none can be, one for the report. */
void relation_csv(FILE *f, const struct column *columns, const void *at);

/* Returns the column whose JSON key is this key of --sort, or this key and "_ns"; NULL: none. */
const struct column *relation_find(const struct column *columns, const char *key);

/*
 * Compares two rows by a column; greater numbers, and texts that are first in the alphabet, come
 * first.
 */
int column_compare(const struct column *c, const void *a, const void *b);

#endif
