/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a page: one HTML file, opened from the disk, that needs no other file.
 *
 *	struct page p;
 *
 *	page_begin(&p, out, &(struct page_options){ .title = "...", .assets = names });
 *	j = page_json_begin(&p, "about");	then json_*(j, ...) inside of its object
 *	page_json_end(&p);
 *	page_columns(&p, "spans", columns, nr);
 *	page_end(&p);
 *
 * Styles come first, then the data, then the scripts, in the order in which `assets` names them.
 * Content-Security-Policy forbids the network, and runs only scripts that carry this page's random
 * nonce: names in a trace may be hostile.  Names are in the page as JSON without '<'; the scripts
 * make text nodes of them, never HTML.
 *
 * page.js and page.css are in every page: reading the data (ldb.json, ldb.columns),
 * numbers (ldb.ns, ldb.exact), elements (ldb.el), themes and palettes.
 */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "cli/json.h"

struct page_options {
	const char *title;		/* from the trace; it is escaped */
	/* names of css and js files, as in embed.c; ends with NULL */
	const char *const *assets;
};

struct page {
	FILE *out;
	const struct page_options *options;
	char nonce[33];
	struct json json;
};

/* Returns true if the name of the output file asks for a page: it ends in .html or .htm. */
bool page_is_wanted(const char *file);

void page_begin(struct page *p, FILE *out, const struct page_options *o);

/* Begins an object, which the caller fills.  It is ldb.json(id) in the page. */
struct json *page_json_begin(struct page *p, const char *id);
void page_json_end(struct page *p);

/*
 * A table of columns, which is ldb.columns(id) in the page.  Columns are arrays and may have
 * different lengths.  Values of more than 53 bits are not exact in the page.
 */
struct page_column {
	const char *name;	/* [a-z_]+ */
	int name_length;	/* 0: the whole name */
	const int64_t *values;
	size_t nr, stride;	/* stride: distance of values in the array; 0 is 1 */
	bool is_delta;		/* each value is close to the previous one */
};

/* Returns 0 or -ENOMEM; errors of writing are found when the file is closed. */
int page_columns(struct page *p, const char *id, const struct page_column *columns, size_t nr);

/*
 * Writes the members "kinds" and "states" of an object: names and colours of the kinds of segments,
 * and of the states.
 */
void page_put_segment_kinds(struct json *j);
void page_put_states(struct json *j);

void page_end(struct page *p);

/* A file that is built into the program (embed.c). */
struct asset {
	const char *name;
	const char *data, *end;
};

const struct asset *embed_find(const char *name);	/* NULL: there is none */

#endif
