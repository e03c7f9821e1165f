// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the report on functions.  One list of columns is for all formats and for --sort. */
#include <stdlib.h>
#include <string.h>

#include "cli/units.h"
#include "render/table.h"
#include "render/text.h"
#include "render/wrap.h"

#define ROW struct stats_entry

/*
 * Returns true if the file of the call site is known; otherwise the place of the function's
 * definition is shown.
 */
static bool has_site(const struct stats_entry *e)
{
	return e->site && *e->site->file;
}

GET(get_file, text, has_site(e) ? e->site->file : e->func->func_file)
GET(get_line, i64, has_site(e) ? e->site->line : e->func->func_line)

static const struct column function_columns[] = {
	VIA("function", func, function, .sort = 11),
	VIA("caller", site, function, .sort = 12),
	MADE("file", get_file, .sort = 13),
	MADE("line", get_line, .sort = 14),
	SAME(count, .head = "count", .sort = 8),
	SAME(p50_ns, .head = "p50", .sort = 4),
	SAME(p99_ns, .head = "p99", .sort = 3),
	SAME(p999_ns, .head = "p99.9", .sort = 2),
	SAME(p9999_ns, .head = "p99.99", .sort = 1),
	SAME(max_ns, .head = "max", .sort = 5),
	SAME(mean_ns, .head = "mean", .from = TABLE_WIDE, .sort = 6),
	SAME(total_ns, .head = "total", .from = TABLE_WIDE, .sort = 7),
	SAME(resolution_ns, .head = "+-", .sort = 9),
	SAME(resolution_max_ns),
	SAME(open, .sort = 10),
	COLUMN("exact", is_exact),
	VIA("func_file", func, func_file), VIA("func_line", func, func_line),
	VIA("module", func, module, .sort = 15), VIA("symbol", func, raw), { 0 }
};
#undef ROW

#define ROW struct render_functions
FROM(rows_shown, (struct rows){ .at = e->rows, .nr = e->nr, .are_pointers = true })

static const struct column report_columns[] = {
	NESTED_AT("functions", rows_shown, function_columns, .form = COLUMN_SPREAD), { 0 }
};
#undef ROW

/* Order */

const char *functions_sort_key(size_t n)
{
	static char keys[sizeof(function_columns) / sizeof(function_columns[0])][32];

	for (const struct column *c = function_columns; c->type; c++) {
		if (c->sort != n + 1)
			continue;
		snprintf(keys[n], sizeof(keys[n]), "%.*s", (int)strcspn(c->key, "_"), c->key);
		return keys[n];
	}
	return NULL;
}

static int compare_by(const char *key, const struct stats_entry *a, const struct stats_entry *b)
{
	return column_compare(relation_find(function_columns, key), a, b);
}

static int compare(const char *key, const struct stats_entry *a, const struct stats_entry *b)
{
	static const char *const keys[] = { "total", "function", "caller", "file", "module" };
	int order = compare_by(key, a, b);

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !order; i++)
		order = compare_by(keys[i], a, b);
	if (!order)
		order = compare_by("line", b, a);
	return order ? order : strcmp(a->func->path, b->func->path);
}

static int compare_rows(const void *pa, const void *pb, void *key)
{
	const struct stats_entry *const *a = pa, *const *b = pb;

	return compare(key, *a, *b);
}

void functions_sort(const struct stats_entry **rows, size_t nr, const char *key)
{
	if (nr)
		qsort_r(rows, nr, sizeof(*rows), compare_rows, (void *)key);
}

/* Text */

/* Writes "<- main() figure1.cc:88". */
static void site_text(const struct stats_entry *e, enum stats_by by, unsigned width, char *buf)
{
	*buf = '\0';
	if (by == STATS_BY_MODULE)
		return;
	if (by == STATS_BY_FUNCTION || !e->site)
		text_place(e->func->func_file, e->func->func_line, buf);
	else
		wrap_place(e->site, e->site->file, e->site->line, "<- ", width, buf);
}

void text_function_heads(const struct render *r, enum stats_by by)
{
	table_head(r, "", 0, function_columns, by == STATS_BY_SITE ? " function <- call site" :
		   by == STATS_BY_FUNCTION ? " function, definition" : " module");
}

static void put_numbers(const struct render *r, const struct stats_entry *e, unsigned width)
{
	char buf[UNITS_ROOM];

	if (e->count)
		table_cells(r, function_columns, e);
	else
		fprintf(r->out, " %6s %*s", text_count(0, buf), (int)width - 8,
			"still running, no duration known");
	fputc(' ', r->out);
}

/* Two names share a line: each gets half of it, and one name may use what the other leaves free. */
static void put_names_wide(const struct render *r, const struct stats_entry *e, enum stats_by by,
			   const char *name, unsigned left)
{
	char fit[TEXT_ROOM], site[TEXT_ROOM];
	unsigned len = strlen(name), half = left / 2;

	site_text(e, by, TEXT_ROOM, site);
	if (len + 1 + strlen(site) > left)
		site_text(e, by, left - 1 - (len < half ? len : half), site);
	wrap_name(name, *site ? left - 1 - strlen(site) : left, fit);
	text_styled(r, TEXT_BOLD, "%s", fit);
	if (!*site)
		return;
	fputc(' ', r->out);
	text_styled(r, TEXT_DIM, "%s", site);
}

/* If the name is too long for the rest of the line, it is printed on the next line. */
static void put_names_narrow(const struct render *r, const struct stats_entry *e, enum stats_by by,
			     const char *name, unsigned left)
{
	char fit[TEXT_ROOM], site[TEXT_ROOM];

	if (strlen(name) <= left)
		text_styled(r, TEXT_BOLD, "%s", name);
	else
		text_on_next_line(r, wrap_name(name, r->width - TEXT_NEXT_INDENT, fit), TEXT_BOLD);
	site_text(e, by, r->width - TEXT_NEXT_INDENT, site);
	if (*site)
		text_on_next_line(r, site, TEXT_DIM);
}

void text_function_row(const struct render *r, const struct stats_entry *e, enum stats_by by)
{
	unsigned width = table_width(r, function_columns), left = r->width - width - 1;
	char name[TEXT_ROOM];

	put_numbers(r, e, width);
	if (by == STATS_BY_MODULE)
		text_clean(*e->func->module ? e->func->module : "?", name);
	else
		text_function(e->func, name);
	if (r->width >= TABLE_WIDE)
		put_names_wide(r, e, by, name, left);
	else
		put_names_narrow(r, e, by, name, left);
	if (!e->is_exact && r->is_verbose)
		text_on_next_line(r, "(percentiles +-0.4 %)", TEXT_PLAIN);
	fputc('\n', r->out);
}

static void text_functions(const struct render *r, const void *report)
{
	const struct render_functions *f = report;
	char a[UNITS_ROOM];

	text_head(r, f->model, f->stats);
	text_function_heads(r, f->by);
	for (size_t i = 0; i < f->nr; i++)
		text_function_row(r, f->rows[i], f->by);
	if (f->nr_hidden)
		fprintf(r->out, "%zu more rows: --top=%zu shows all.  Sorted by %s.\n",
			f->nr_hidden, f->nr + f->nr_hidden, f->sorted_by);
	if (f->stats->open)
		fprintf(r->out, "Running when the recording began or ended, not in these numbers: "
			"%s.\n", units_count(f->stats->open, a));
}

const struct printer functions_printer = {
	DOCUMENT_REPORT_FUNCTIONS, report_columns, text_functions, TEXT_INDENT
};
