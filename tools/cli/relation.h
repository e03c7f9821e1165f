/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A relation consists of rows of one kind and the list of their columns.  All outputs come from the
 * list: objects of JSON, lines of CSV, tables for people (render/table.h), and the keys of --sort.
 *
 *	#define ROW struct lock_owner
 *	GET(owner_thread, text, model_thread_name(e->thread))
 *
 *	static const struct column owner_columns[] = {
 *		SAME(tid), MADE("thread", owner_thread), SAME(holds, .head = "holds"), { 0 }
 *	};
 *	#undef ROW
 *
 * Most columns are members of the row, and the member's type says how they are printed.  Others
 * are made by a function.  A row may contain others: a part is an object inside of the object,
 * or (without a key) a part of the same one; NESTED rows are an array.  A report is a row, too,
 * and its columns are made from the whole analysis: see row_report().
 */
#ifndef CLI_RELATION_H
#define CLI_RELATION_H

#include <stddef.h>
#include <stdio.h>
#include "cli/json.h"

#define COLUMN_ROOM	4096	/* bytes of the text that a column makes */

enum value_type {
	VALUE_NONE,		/* no member of JSON, an empty cell of CSV */
	VALUE_NULL,
	VALUE_I64, VALUE_U64, VALUE_DOUBLE, VALUE_BOOL, VALUE_TEXT, VALUE_HEX
};

struct value {
	enum value_type type;
	union {
		int64_t i64;
		uint64_t u64;	/* of HEX and BOOL, too */
		double number;
		const char *text;
	};
};

struct row {
	const struct column *columns;
	const void *at;
	const struct row *in;	/* the row around it; NULL: it is the report */
	size_t nth;		/* among the rows there, from 0 */
};

/* These are rows in an array; first, unless it is NULL, is a row that precedes them. */
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
	COLUMN_GET,		/* get() makes it */
	COLUMN_PART,		/* a row inside of the row */
	COLUMN_SELF,		/* more columns of the same row */
	COLUMN_NESTED,		/* an array of rows */
	COLUMN_WORDS		/* an array of texts: word() has them */
};

enum column_form {
	COLUMN_ONLY_JSON = 1,
	COLUMN_ONLY_CSV = 2,
	COLUMN_ONLY_TABLE = COLUMN_ONLY_JSON | COLUMN_ONLY_CSV,
	COLUMN_TALL = 4,	/* JSON: not on one line */
	COLUMN_ONE_LINE = 8,	/* JSON: the whole array */
	COLUMN_OR_NULL = 16,	/* JSON: null if the part is not there */
	/*
	 * CSV: a line for each of these rows, behind the columns before.  Where several are
	 * spread the first has all heads, and cells of the others stand under their own.
	 */
	COLUMN_SPREAD = 32,
	COLUMN_IF_ANY = 64,	/* JSON: no empty array */
	COLUMN_DIGITS = 128,	/* table: all of the number, not "1.24k" */
	COLUMN_IF_ESTIMATES = 256 /* table: only where latencies of requests are estimates */
};

struct column {
	/* key in JSON, and head in CSV; NULL in arrays and for parts without a key */
	const char *key;
	const char *csv;	/* head of CSV, if it is another */
	enum column_type type;
	unsigned form;
	size_t offset;
	/* at offset is a pointer to the value; if it is NULL, the value is an empty text or 0 */
	bool is_via;
	size_t inner;		/* offset of the value in what it points to */
	bool (*when)(const struct row *row); /* is the column there?  NULL: always */
	struct value (*get)(const struct row *row, char *buf); /* buf: COLUMN_ROOM bytes */
	const char *(*word)(const struct row *row, size_t n); /* NULL after the last */
	/* PART, NESTED */
	const struct column *columns;
	struct rows (*rows)(const struct row *row); /* NULL: at offset */
	bool (*is_one)(const struct row *nested); /* only of these rows; NULL: all */
	size_t nr_offset, size;	/* NESTED: the offset of the number of rows; the size of a row */
	/* This is the column in the table for people; NULL: it has none. */
	const char *head;
	unsigned char width;	/* 0: what a time or a number needs */
	unsigned char from;	/* only if the screen has at least this many columns */
	unsigned char sort;	/* place among the keys of --sort, from 1; 0: is none */
};

/* A const array of char can be distinguished from a pointer only by its size. */
#define COLUMN_TYPE(member)							\
	_Generic((member), int64_t: COLUMN_I64, uint64_t: COLUMN_U64,		\
		 uint32_t: COLUMN_U32, bool: COLUMN_BOOL, double: COLUMN_DOUBLE, \
		 const char *: sizeof(member) == sizeof(char *) ? COLUMN_TEXT : COLUMN_CHARS, \
		 char *: COLUMN_CHARS)

/* Columns of the row's type, which is ROW; more members of struct column may follow. */
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

/* Makes a function for MADE(): e is the row; type is a value_*(). */
#define GET(name, type, ...)							\
	static struct value name(const struct row *row, char *buf)		\
	{									\
		const ROW *e __attribute__((unused)) = row->at;			\
										\
		return value_##type(__VA_ARGS__);				\
	}

/* Makes a function for PART_AT() and NESTED_AT(): rows_one(), rows_of() of a member of e. */
#define FROM(name, ...)								\
	static struct rows name(const struct row *row)				\
	{									\
		const ROW *e __attribute__((unused)) = row->at;			\
										\
		return __VA_ARGS__;						\
	}

/* Makes a function for .when: does e have this? */
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

/* Prints a text into buf, which is the buf of a GET(). */
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

/* This is a member of JSON only if is_there; v may make sense only then. */
#define value_if(is_there, v)	((is_there) ? (v) : value_none())

/* These are for rows(): one row, or none if at is NULL; the nr rows of an array. */
static inline struct rows rows_one(const void *at)
{
	return (struct rows){ .at = at, .nr = !!at };
}

#define rows_of(array, number)							\
	((struct rows){ .at = (array), .nr = (number), .size = sizeof(*(array)) })

/* Returns the report, which is the outermost row. */
const void *row_report(const struct row *row);

/* Calls each() for the rows of a PART or of NESTED. */
void column_each(const struct column *c, const struct row *row,
		 void (*each)(void *arg, const struct row *nested), void *arg);
struct value column_value(const struct column *c, const struct row *row, char *buf);

/* Prints the columns of the report at as members of the object that is open. */
void relation_json(struct json *j, const struct column *columns, const void *at);

/* Prints the same as an object of its own. */
void relation_object(struct json *j, const char *key, const struct column *columns, const void *at);

/* Prints the heads, and a line for each of the rows that are spread. */
void relation_csv(FILE *f, const struct column *columns, const void *at);

/* Returns the column that --sort calls key, which is its key without "_ns"; NULL: none. */
const struct column *relation_find(const struct column *columns, const char *key);

/* Compares two rows by that column; greater numbers and lesser texts come first. */
int column_compare(const struct column *c, const void *a, const void *b);

#endif
