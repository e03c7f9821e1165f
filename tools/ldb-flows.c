// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ldb-flows shows in which libraries a program spends its time, and in which of their functions.
 * The data flow is options -> reader -> analysis -> render.
 */
#include <stdlib.h>

#include "analysis/flows/flowdiff.h"
#include "cli/error.h"
#include "cli/opts.h"
#include "page/flows.h"
#include "page/page.h"
#include "render/flows.h"
#include "render/open.h"

#define TOP_TEXT	10	/* rows of each table of the overview */
#define TOP_VIEW	30	/* rows of the table of a single view */

static struct {
	struct open_options open;
	int by;
	uint64_t top;
	bool has_top;
	const char *thread, *component, *diff;
} opt;

static const char *const by_names[] = {
	"overview", "component", "function", "wait", "matrix", "thread", "pool", NULL
};

static const struct cli_option options[] = {
	OPEN_OPTIONS(opt.open),
	{ .name = "by", .type = CLI_CHOICE, .value = &opt.by, .arg = "WHAT",
	  .help = "one table: component (self times and waits, together 100 %), function (of libraries), wait "
		  "(functions that wait), matrix (from component to component), thread, pool (threads "
		  "with the same function and name); default: overview", .choices = by_names },
	{ .name = "top", .type = CLI_NUMBER, .value = &opt.top, .arg = "N",
	  .help = "at most N rows of a table (text: 10, with --by or --diff 30; JSON and CSV: all)",
	  .given = &opt.has_top, .max = 1000000000 },
	{ .name = "thread", .type = CLI_STRING, .value = &opt.thread, .arg = "TID|NAME",
	  .help = "only this thread; NAME may contain * and ?" },
	{ .name = "component", .type = CLI_STRING, .value = &opt.component, .arg = "GLOB",
	  .help = "only functions of, or called by, components of this name" },
	{ .name = "diff", .type = CLI_STRING, .value = &opt.diff, .arg = "FILE",
	  .help = "what has changed since this older trace" },
	OPEN_JSON(opt.open, "JSON: all tables, times in ns"),
	OPEN_CSV(opt.open, "CSV: the table of --by (default: component)"),
	OPEN_QUIET(opt.open, "no hints on stderr"),
	{ .name = NULL }
};

static const struct cli_tool tool = {
	.name = "ldb-flows",
	.synopsis = "[-i FILE] [OPTION]... [FILE]...\n[-i FILE] --diff FILE [OPTION]...\n"
		    "[-i FILE] -o FILE.html [--thread TID|NAME] [--component GLOB]",
	.summary = "Shows in which libraries a program spent its time, and in which of their functions, "
		   "called by whom, working or waiting (ldb-record --flows).",
	.options = options,
	.argument = "FILE",
	.examples = "ldb-record --flows ./app           records calls between components\n"
		    "ldb-flows                          where the time went\n"
		    "ldb-flows --by=matrix              from which component to which\n"
		    "ldb-flows --by=pool                are threads that are alike equally busy?\n"
		    "ldb-flows --by=function --component='libz*'\n"
		    "ldb-flows -i new.data --diff old.data\n"
		    "ldb-flows -o flows.html            all of this as a page for a browser\n"
		    "ldb-flows --json | jq '.components[] | {component, share}'",
};

/* Returns NULL if the trace contains no calls between components. */
static struct flows *open_flows(struct model *m, const char *file)
{
	struct flows *f = flows_open(m);

	if (!f)
		open_fail_memory();
	if (f->has_flows)
		return f;
	flows_close(f);
	cli_error("%s has no calls between components: record with ldb-record --flows", file);
	return NULL;
}

static void build(struct flows *f, struct flowstats *s)
{
	struct flowstats_options o = { .thread = opt.thread, .component = opt.component };

	if (flowstats_build(f, &o, s))
		open_fail_memory();
}

static size_t top(void)
{
	if (opt.has_top)
		return opt.top;
	return open_is_data(&opt.open) ? SIZE_MAX : opt.by || opt.diff ? TOP_VIEW : TOP_TEXT;
}

static const char *title_of(struct model *m)
{
	const char *cmdline = reader_meta(m->reader, "cmdline");

	return cmdline && *cmdline ? cmdline : "a recording";
}

static bool show(struct model *m, const struct render *r)
{
	struct flows *f = open_flows(m, open_input(&opt.open));
	struct render_flows shown = { .model = m, .view = opt.by, .top = top() };
	struct flowstats stats;

	if (!f)
		return false;
	build(f, &stats);
	shown.stats = &stats;
	if (page_is_wanted(opt.open.output))
		flows_page(m, &stats, title_of(m), r->out);
	else
		render_show(r, flows_printer(opt.by, r->form), &shown);
	flowstats_free(&stats);
	flows_close(f);
	return true;
}

/* Opens the other trace, and shows the differences. */
static bool show_diff(struct model *m, const struct render *r)
{
	struct open_options other = { .input = opt.diff, .sysroot = opt.open.sysroot,
				      .no_demangle = opt.open.no_demangle, .is_quiet = true };
	struct render_flowdiff shown = { .model = m, .before = opt.diff, .top = top() };
	struct flows *after = open_flows(m, open_input(&opt.open)), *before;
	struct flowstats stats_before, stats_after;
	struct flowdiff diff;
	struct opened o;

	if (!after)
		return false;
	open_trace(&o, &other);
	before = open_flows(o.model, opt.diff);
	if (!before)
		return false;
	build(before, &stats_before);
	build(after, &stats_after);
	if (flowdiff_build(&stats_before, &stats_after, &diff))
		open_fail_memory();
	shown.diff = &diff;
	if (page_is_wanted(opt.open.output))
		flows_diff_page(m, &diff, opt.diff, title_of(m), r->out);
	else
		render_show(r, &flowdiff_printer, &shown);
	flowdiff_free(&diff);
	flowstats_free(&stats_before);
	flowstats_free(&stats_after);
	flows_close(before);
	flows_close(after);
	return open_finish(&o, true, true) != CLI_FAILURE;
}

int main(int argc, char **argv)
{
	int first = cli_parse(&tool, argc, argv);
	struct opened o;
	bool found;

	open_files(&opt.open, argc, argv, first);
	if (opt.diff && opt.by)
		cli_usage("--diff shows components and functions: it does not go with --by");
	if (page_is_wanted(opt.open.output) && (opt.by || opt.has_top || open_is_data(&opt.open)))
		cli_usage("a page has all tables: -o FILE.html goes with none of --by, --top, --json and --csv");
	open_trace(&o, &opt.open);
	found = opt.diff ? show_diff(o.model, &o.render) : show(o.model, &o.render);
	return open_finish(&o, found, true);
}
