// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the page of ldb-flows; see flows.h. */
#include "page/flows.h"
#include "page/page.h"
#include "render/flows.h"

#define ROWS_MAX	20000	/* rows of each table */

static const char *const assets[] = {
	"report.css", "flows.css", "report-table.js", "flows-bands.js", "flows.js", NULL
};
static const char *const diff_assets[] = { "report.css", "flows.css", "report-table.js", "flows-diff.js", NULL };

void flows_page(const struct model *m, const struct flowstats *s, const char *title, FILE *out)
{
	const struct render_flows shown = { .model = m, .stats = s, .top = ROWS_MAX };
	const struct page_options options = { .title = title, .assets = assets };
	struct page p;
	struct json *j;

	page_begin(&p, out, &options);
	j = page_json_begin(&p, "flows");
	json_string(j, "title", title);
	json_string(j, "version_of_ldb", LDB_VERSION);
	json_i64(j, "duration_ns", m->duration_ns);
	relation_json(j, flows_printer(FLOWS_ALL, RENDER_JSON)->columns, &shown);
	page_json_end(&p);
	page_end(&p);
}

void flows_diff_page(const struct model *m, const struct flowdiff *d, const char *before, const char *title, FILE *out)
{
	const struct render_flowdiff shown = { .model = m, .diff = d, .before = before, .top = ROWS_MAX };
	const struct page_options options = { .title = title, .assets = diff_assets };
	struct page p;
	struct json *j;

	page_begin(&p, out, &options);
	j = page_json_begin(&p, "flows-diff");
	json_string(j, "title", title);
	json_string(j, "before", before);
	json_string(j, "version_of_ldb", LDB_VERSION);
	relation_json(j, flowdiff_printer.columns, &shown);
	page_json_end(&p);
	page_end(&p);
}
