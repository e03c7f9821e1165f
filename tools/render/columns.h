/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns that several relations have. */
#ifndef RENDER_COLUMNS_H
#define RENDER_COLUMNS_H

#include "cli/relation.h"
#include "render/render.h"

extern const struct column site_columns[];	/* of struct symbol: caller, file, line */
extern const struct column party_columns[];	/* of struct party */
extern const struct column hits_columns[];	/* of page faults and interrupts */
extern const struct column made_columns[];	/* of struct model: observed calls */
extern const struct column left_columns[];	/* of struct model: what was left out, in words, too */
extern const struct column lost_columns[];	/* of struct model: and of the table, in words */
extern const struct column note_columns[];	/* of struct note */
extern const struct column kernel_columns[];	/* of struct model */
extern const struct column model_summary_columns[]; /* of struct model: what --summary has of it */

/* NULL makes an empty one. */
struct rows site_rows(const struct symbol *site);

/* Has no row if p is NULL, or the task is not known. */
struct rows party_rows(const struct party *p);

/* Returns the text of a cell that has only a name: "(idle)", "(interrupt)". */
const char *party_cell(const struct party *p);

/* What requests are, where they are not tagged: no row if they are. */
extern const struct column request_source_columns[];
struct rows request_source_rows(const struct row *row);

struct value value_cpu(uint32_t cpu);

/* The struct of a report begins with a pointer to its model. */
const struct model *row_model(const struct row *row);
struct rows model_rows(const struct row *row);

#endif
