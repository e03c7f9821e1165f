/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JSON as a stream.  `key` is NULL in arrays and at the top.
 *
 *	struct json j;
 *
 *	json_init(&j, stdout);
 *	json_array_begin(&j, NULL);
 *	json_object_begin(&j, NULL);
 *	json_string(&j, "function", name);
 *	json_object_end(&j);
 *	json_array_end(&j);
 *	json_end(&j);
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX	64

struct json {
	FILE *f;
	unsigned depth;
	bool any[JSON_DEPTH_MAX + 1];	/* something was written at this depth */
	bool flat[JSON_DEPTH_MAX + 1];	/* the object or array is on one line */
	/* replace '<' in strings, because the text is part of a <script> */
	bool is_html;
};

void json_init(struct json *j, FILE *f);
void json_object_begin(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array_begin(struct json *j, const char *key);
void json_array_end(struct json *j);

/* Writes the next object or array on one line. */
void json_flat(struct json *j);

void json_string(struct json *j, const char *key, const char *value);	/* NULL: null */
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
/* Prints nanoseconds as microseconds, exactly. */
void json_micros(struct json *j, const char *key, int64_t ns);
/* a value that is not finite becomes null */
void json_double(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
void json_hex(struct json *j, const char *key, uint64_t value);	/* "0x1f", a string */

/* Prints the final newline. */
void json_end(struct json *j);

#endif
