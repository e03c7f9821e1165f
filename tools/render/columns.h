/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares columns that several relations have. */
#ifndef RENDER_COLUMNS_H
#define RENDER_COLUMNS_H

#include "cli/relation.h"
#include "render/render.h"

extern const struct column site_columns[];	/* columns of struct symbol: caller, file, line */
extern const struct column context_columns[];	/* columns of struct context */
extern const struct column interruptions_columns[];	/* page faults and interrupts */
extern const struct column made_columns[];	/* columns of struct model: observed calls */
/* columns of struct model: numbers of what was left out, and the same in words */
extern const struct column left_columns[];
/* columns of struct model: numbers of what was lost, and the same in words for the table */
extern const struct column lost_columns[];
extern const struct column note_columns[];	/* columns of struct note */
extern const struct column kernel_columns[];	/* columns of struct model: kernel events */
/* columns of struct model that --summary shows */
extern const struct column model_summary_columns[];

/* Returns one row; NULL: a row without values. */
struct rows site_rows(const struct symbol *site);

/* Returns one row; no row if p is NULL, or if the task is not known. */
struct rows context_rows(const struct context *p);

/* Returns the text of a cell that contains only a name: "(idle)", "(interrupt)". */
const char *context_cell(const struct context *p);

/* Returns a row that says from what the requests were made; no row if the program tagged them. */
extern const struct column request_source_columns[];
struct rows request_source_rows(const struct row *row);

struct value value_cpu(uint32_t cpu);

/* Returns the model of a report: the report's struct begins with a pointer to it. */
const struct model *row_model(const struct row *row);
struct rows model_rows(const struct row *row);

#endif
