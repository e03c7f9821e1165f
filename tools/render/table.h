/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints a relation as a table for people.  The table contains those columns that have a head and
 * for which the screen is wide enough.  Columns whose key ends in _ns are times; other numbers,
 * except those with COLUMN_DIGITS, are printed with k, M or G.  The caller prints what follows the
 * last column, usually a name.
 */
#ifndef RENDER_TABLE_H
#define RENDER_TABLE_H

#include "cli/relation.h"
#include "render/render.h"

#define TABLE_WIDE	130	/* on a screen of at least this width, a row fits on one line */

/* Prints the line of heads: first, which takes width columns; the heads; last. */
void table_head(const struct render *r, const char *first, unsigned width,
		const struct column *columns, const char *last);

/* Prints the cells of a row, each after a blank, in the columns of the heads. */
void table_cells(const struct render *r, const struct column *columns, const void *at);
unsigned table_width(const struct render *r, const struct column *columns);

#endif
