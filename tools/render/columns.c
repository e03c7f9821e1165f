// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns of the function report. */
#include <string.h>

#include "render/columns.h"

#define TEXT(name, expr)							\
	static struct column_value name(const struct stats_entry *e)		\
	{									\
		return (struct column_value){ .text = (expr) };			\
	}
#define NUMBER(name, expr)							\
	static struct column_value name(const struct stats_entry *e)		\
	{									\
		return (struct column_value){ .number = (expr) };		\
	}

/* The place of the call, or of the function where that is not known. */
static bool has_site(const struct stats_entry *e)
{
	return e->site && *e->site->file;
}

TEXT(get_function, e->func->function)
TEXT(get_symbol, e->func->raw)
TEXT(get_module, e->func->module)
TEXT(get_caller, e->site ? e->site->function : "")
TEXT(get_file, has_site(e) ? e->site->file : e->func->func_file)
NUMBER(get_line, has_site(e) ? e->site->line : e->func->func_line)
TEXT(get_func_file, e->func->func_file)
NUMBER(get_func_line, e->func->func_line)
NUMBER(get_count, e->count)
NUMBER(get_open, e->open)
NUMBER(get_p50, e->p50_ns)
NUMBER(get_p99, e->p99_ns)
NUMBER(get_p999, e->p999_ns)
NUMBER(get_p9999, e->p9999_ns)
NUMBER(get_max, e->max_ns)
NUMBER(get_mean, e->mean_ns)
NUMBER(get_total, e->total_ns)
NUMBER(get_resolution, e->resolution_ns)
NUMBER(get_resolution_max, e->resolution_max_ns)
NUMBER(get_exact, e->is_exact)

const struct function_column function_columns[] = {
	{ "function", "function", COLUMN_TEXT, get_function },
	{ "caller", "caller", COLUMN_TEXT, get_caller },
	{ "file", "file", COLUMN_TEXT, get_file },
	{ "line", "line", COLUMN_NUMBER, get_line },
	{ "count", "count", COLUMN_NUMBER, get_count },
	{ "p50_ns", "p50", COLUMN_NUMBER, get_p50 },
	{ "p99_ns", "p99", COLUMN_NUMBER, get_p99 },
	{ "p999_ns", "p999", COLUMN_NUMBER, get_p999 },
	{ "p9999_ns", "p9999", COLUMN_NUMBER, get_p9999 },
	{ "max_ns", "max", COLUMN_NUMBER, get_max },
	{ "mean_ns", "mean", COLUMN_NUMBER, get_mean },
	{ "total_ns", "total", COLUMN_NUMBER, get_total },
	{ "resolution_ns", "resolution", COLUMN_NUMBER, get_resolution },
	{ "resolution_max_ns", "resolution_max", COLUMN_NUMBER, get_resolution_max },
	{ "open", "open", COLUMN_NUMBER, get_open },
	{ "exact", "exact", COLUMN_BOOL, get_exact },
	{ "func_file", "func_file", COLUMN_TEXT, get_func_file },
	{ "func_line", "func_line", COLUMN_NUMBER, get_func_line },
	{ "module", "module", COLUMN_TEXT, get_module },
	{ "symbol", "symbol", COLUMN_TEXT, get_symbol },
};
const size_t nr_function_columns = sizeof(function_columns) / sizeof(function_columns[0]);

const char *const functions_sort_keys[] = {
	"p9999", "p999", "p99", "p50", "max", "mean", "total", "count", "resolution", "open",
	"function", "caller", "file", "line", "module", NULL
};

int functions_compare(const char *key, const struct stats_entry *a, const struct stats_entry *b)
{
	struct column_value va = { 0 }, vb = { 0 };

	for (size_t i = 0; i < nr_function_columns; i++) {
		if (strcmp(function_columns[i].sort, key))
			continue;
		va = function_columns[i].get(a);
		vb = function_columns[i].get(b);
		if (function_columns[i].type == COLUMN_TEXT)
			return strcmp(va.text, vb.text);
	}
	return va.number > vb.number ? -1 : va.number < vb.number;
}
