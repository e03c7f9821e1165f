/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of the function report: one list for JSON, CSV and --sort. */
#ifndef RENDER_COLUMNS_H
#define RENDER_COLUMNS_H

#include "render/render.h"

enum column_type { COLUMN_TEXT, COLUMN_NUMBER, COLUMN_BOOL };

struct column_value {
	const char *text;
	int64_t number;		/* and bool */
};

struct function_column {
	const char *key;	/* of JSON, and head of CSV */
	const char *sort;	/* what --sort calls it */
	enum column_type type;
	struct column_value (*get)(const struct stats_entry *e);
};

extern const struct function_column function_columns[];
extern const size_t nr_function_columns;

#endif
