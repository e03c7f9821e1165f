// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ldb-report shows statistics of a recording.  The data flow is options -> reader -> analysis ->
 * render, or export or page; this file connects these.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/write.h"
#include "analysis/tracks/request-source.h"
#include "names/names.h"
#include "cli/error.h"
#include "cli/opts.h"
#include "cli/outfile.h"
#include "cli/units.h"
#include "export/calls.h"
#include "page/page.h"
#include "page/report.h"
#include "render/open.h"
#include "render/render.h"
#include "render/samples.h"
#include "render/untagged.h"

#define TOP_TEXT	30
#define TOP_REQUESTS	10
#define TOP_CONTEXTS	10

static struct {
	struct open_options open;
	bool mutex, requests, sched, samples, summary, json_summary, tree, graph;
	int by, sort;
	uint64_t top;
	bool has_top, has_sort;
	const char *thread, *function, *class, *diff, *archive;
	struct cli_list note;
} opt;

static const char *const by_names[] = { "callsite", "function", "module", NULL };

static const struct cli_option options[] = {
	OPEN_OPTIONS(opt.open),
	{ .name = "mutex", .type = CLI_FLAG, .value = &opt.mutex,
	  .help = "waits and holds of each lock, by call site" },
	{ .name = "requests", .type = CLI_FLAG, .value = &opt.requests,
	  .help = "latencies of tagged requests by class, and the slowest ones" },
	{ .name = "sched", .type = CLI_FLAG, .value = &opt.sched,
	  .help = "kernel events: when threads were off the CPU, and which tasks were running then" },
	{ .name = "samples", .type = CLI_FLAG, .value = &opt.samples,
	  .help = "functions by samples, divided into lines, functions of libraries and of the kernel" },
	{ .name = "tree", .type = CLI_FLAG, .value = &opt.tree,
	  .help = "which functions call which, as a tree: total and self times, observed calls" },
	{ .name = "graph", .type = CLI_FLAG, .value = &opt.graph,
	  .help = "the tree of --tree as a graph for Graphviz (DOT)" },
	{ .name = "summary", .type = CLI_FLAG, .value = &opt.summary,
	  .help = "the recording itself: threads, what was observed, what was lost" },
	{ .name = "json-summary", .type = CLI_FLAG, .value = &opt.json_summary,
	  .help = "the same as --summary --json" },
	{ .name = "by", .type = CLI_CHOICE, .value = &opt.by, .arg = "WHAT",
	  .help = "one row for each callsite (function and call site; default), function or module",
	  .choices = by_names },
	{ .name = "sort", .type = CLI_CHOICE, .value = &opt.sort, .arg = "KEY",
	  .choice = functions_sort_key, .given = &opt.has_sort },
	{ .name = "top", .type = CLI_NUMBER, .value = &opt.top, .arg = "N",
	  .help = "at most N rows (default: text: 30; JSON and CSV: all; requests: 10)",
	  .given = &opt.has_top, .max = 1000000000 },
	OPEN_REQUEST(opt.open),
	OPEN_RANGE(opt.open, "only what happened at"),
	{ .name = "thread", .type = CLI_STRING, .value = &opt.thread, .arg = "TID|NAME",
	  .help = "only this thread; NAME may contain * and ?" },
	{ .name = "function", .type = CLI_STRING, .value = &opt.function, .arg = "GLOB",
	  .help = "only functions of this name" },
	{ .name = "class", .type = CLI_STRING, .value = &opt.class, .arg = "GLOB",
	  .help = "--requests: only requests of this class" },
	{ .name = "note", .type = CLI_LIST, .value = &opt.note, .arg = "KEY=GLOB",
	  .help = "--requests: only requests with this note; also KEY>N, KEY<=64K (may be repeated)" },
	{ .name = "diff", .type = CLI_STRING, .value = &opt.diff, .arg = "FILE",
	  .help = "-o FILE.html: compare with this trace" },
	{ .name = "archive", .type = CLI_STRING, .value = &opt.archive, .arg = "FILE",
	  .help = "copy the trace to FILE and add all names, so that it can be read without the program's files" },
	OPEN_JSON(opt.open, "JSON: all columns, times in ns"),
	OPEN_CSV(opt.open, "CSV: the same columns"),
	OPEN_QUIET(opt.open, "no hints on stderr"),
	OPEN_VERBOSE(opt.open, "more detail"),
	{ .name = NULL }
};

static const struct cli_tool tool = {
	.name = "ldb-report",
	.synopsis = "[-i FILE] [OPTION]... [FILE]...\n[-i FILE] --mutex|--requests|--sched|--samples|--tree|--graph|--summary [OPTION]...\n"
		    "[-i FILE] -o FILE.html [--from TIME] [--to TIME] [--thread TID|NAME] [--diff FILE]",
	.summary = "Shows how long functions took, by function and call site: percentiles of the "
		   "observed calls.",
	.options = options,
	.argument = "FILE",
	.examples = "ldb-report                        the 30 call sites with the worst p99.99\n"
		    "ldb-report --sort=total --top=10  the call sites with the greatest total time\n"
		    "ldb-report --mutex                which thread waits for which\n"
		    "ldb-report --sched                which task took the CPU from which\n"
		    "ldb-report --graph | dot -Tsvg -o calls.svg\n"
		    "ldb-report --requests             latencies of requests, and the slowest requests\n"
		    "ldb-report -o report.html         a page for a browser, with all reports but --samples\n"
		    "ldb-report --function='db_*' --json | jq '.functions[0]'",
};

static bool is_selection(void)
{
	return opt.thread || open_has_range(&opt.open);
}

static size_t nr_rows(size_t nr, size_t text_default)
{
	size_t top = opt.has_top ? opt.top : open_is_data(&opt.open) ? nr : text_default;

	return top < nr ? top : nr;
}

static void report_functions(struct model *m, const struct render *r)
{
	struct stats_options options = STATS_OPTIONS_ALL;
	const struct stats_entry **rows;
	struct render_functions f = { .model = m, .by = opt.by };
	struct stats stats;

	options.by = opt.by;
	options.thread = opt.thread;
	options.function = opt.function;
	options.from = open_from(&opt.open, m);
	options.to = open_to(&opt.open, m);
	if (stats_build(m, &options, &stats))
		open_fail_memory();
	rows = calloc(stats.nr + 1, sizeof(*rows));
	if (!rows)
		open_fail_memory();
	for (size_t i = 0; i < stats.nr; i++)
		rows[i] = &stats.entries[i];
	f.sorted_by = functions_sort_key(opt.sort);
	functions_sort(rows, stats.nr, f.sorted_by);
	f.stats = &stats;
	f.rows = rows;
	f.nr = nr_rows(stats.nr, TOP_TEXT);
	f.nr_hidden = stats.nr - f.nr;
	if (stats.nr || r->form != RENDER_TEXT)
		render_show(r, &functions_printer, &f);
	else
		open_say_empty(r, "no call of a function was observed%s",
			       opt.function || is_selection() ?
			       " that matches" : ": was the program compiled with -fplugin=ldb.so?");
	free(rows);
	stats_free(&stats);
}

static void report_locks(struct model *m, const struct render *r)
{
	struct locks_options options = LOCKS_OPTIONS_ALL;
	struct render_locks l = { .model = m };
	struct locks locks;

	options.thread = opt.thread;
	options.from = open_from(&opt.open, m);
	options.to = open_to(&opt.open, m);
	if (locks_build(m, &options, &locks))
		open_fail_memory();
	if (opt.has_sort && locks_sort(&locks, functions_sort_key(opt.sort)))
		cli_usage("--sort=%s does not go with --mutex: use total, max, p99, p50, mean or count",
			  functions_sort_key(opt.sort));
	l.locks = &locks;
	l.nr = nr_rows(locks.nr, TOP_TEXT);
	if (locks.nr || r->form != RENDER_TEXT)
		render_show(r, &locks_printer, &l);
	else
		open_say_empty(r, "no thread waited for a lock%s", is_selection() ?
			       " in this selection" : " as long as the recorder's "
			       "threshold: ldb-record --mutex=hold records holds too");
	locks_free(&locks);
}

static void say_untagged(const struct opened *o)
{
	char why[UNTAGGED_TEXT];

	open_say_empty(&o->render, "%s", untagged_why(o, why));
	untagged_say(o, " --requests");
}

static void report_requests(const struct opened *o)
{
	const struct render *r = &o->render;
	struct model *m = o->model;
	struct requests_options options = REQUESTS_OPTIONS_ALL;
	struct render_requests q = { .model = m };
	struct timeline *timelines;
	struct requests requests;

	open_notes(&opt.note, &options);
	options.class = opt.class;
	options.nr_slowest = opt.has_top ? opt.top : TOP_REQUESTS;
	options.from = open_from(&opt.open, m);
	options.to = open_to(&opt.open, m);
	if (requests_build(m, &options, &requests))
		open_fail_memory();
	if (timelines_build(m, requests.instances, requests.nr_instances, &timelines))
		open_fail_memory();
	q.requests = &requests;
	q.timelines = timelines;
	if (requests.nr_classes || r->form != RENDER_TEXT)
		render_show(r, &requests_printer, &q);
	else if (opt.class || opt.note.nr || open_has_range(&opt.open))
		open_say_empty(r, "no request matches");
	else
		say_untagged(o);
	timelines_free(timelines, requests.nr_instances);
	requests_free(&requests);
}

/* Returns false, after printing why, if the trace has no kernel events. */
static bool report_sched(struct model *m, const struct render *r)
{
	struct schedstats_options options = SCHEDSTATS_OPTIONS_ALL;
	struct render_sched s = { .model = m };
	struct schedstats stats;

	if (!m->has_sched) {
		cli_error("this trace has no kernel events%s%s", *m->kernel_why ? ": " : "",
			  *m->kernel_why ? m->kernel_why : *m->kernel_events ? "" :
			  ": it was recorded without (ldb-record --kernel)");
		return false;
	}
	options.thread = opt.thread;
	options.from = open_from(&opt.open, m);
	options.to = open_to(&opt.open, m);
	if (schedstats_build(m, &options, &stats))
		open_fail_memory();
	if (opt.has_sort && schedstats_sort(&stats, functions_sort_key(opt.sort)))
		cli_usage("--sort=%s does not go with --sched: use total, max, p999, p99, p50, mean or "
			  "count", functions_sort_key(opt.sort));
	s.stats = &stats;
	s.nr = nr_rows(stats.nr, TOP_TEXT);
	s.nr_contexts = nr_rows(SIZE_MAX, TOP_CONTEXTS);
	if (stats.nr || r->form != RENDER_TEXT)
		render_show(r, &sched_printer, &s);
	else
		open_say_empty(r, "no event of a thread%s", is_selection() ?
			       " in this selection" : " of the program");
	schedstats_free(&stats);
	return true;
}

/* Returns false, after printing why, if the trace has no samples, or on failure. */
static bool report_samples(struct model *m, const struct render *r)
{
	struct sampled_options options = { .thread = opt.thread, .function = opt.function };
	struct render_sampled s = { .model = m };
	struct sampled sampled;
	int ret;

	if (!*m->samples) {
		cli_error("this trace has no samples: record with --samples=HZ");
		return false;
	}
	if (opt.has_sort)
		cli_usage("--sort does not go with --samples");
	options.from = open_from(&opt.open, m);
	options.to = open_to(&opt.open, m);
	ret = sampled_build(m, &options, &sampled);
	if (ret == -ENOMEM)
		open_fail_memory();
	if (ret) {
		cli_error("cannot sort the trace in temporary files: %s", strerror(-ret));
		return false;
	}
	s.sampled = &sampled;
	s.nr = nr_rows(sampled.nr, TOP_TEXT);
	if (sampled.nr || r->form != RENDER_TEXT)
		render_show(r, &sampled_printer, &s);
	else
		open_say_empty(r, "no sample%s", opt.function || is_selection() ? " that matches" :
			       " was taken in the program");
	sampled_free(&sampled);
	return true;
}

/* Prints the call trees, after what was observed and lost; or the graph, without that. */
static void report_calls(struct model *m, const struct render *r)
{
	struct export_result result = { 0 };
	struct export_options o = {
		.from = open_from(&opt.open, m), .to = open_to(&opt.open, m), .thread = opt.thread, .result = &result,
	};
	struct calls_options c = {
		.function = opt.function, .top = opt.has_top ? opt.top : 0, .width = r->width,
	};
	int ret;

	if (opt.tree)
		text_head(r, m, NULL);
	ret = opt.tree ? calls_tree(m, &o, &c, r->out) : calls_graph(m, &o, &c, r->out);
	if (ret == -ENOMEM)
		open_fail_memory();
	if (ret) {
		cli_error("cannot sort the trace in temporary files: %s", strerror(-ret));
		exit(CLI_FAILURE);
	}
}

static void report_summary(struct model *m, const struct render *r)
{
	struct stats_options options = STATS_OPTIONS_ALL;
	struct render_summary s = { .model = m };
	struct stats stats;

	if (stats_build(m, &options, &stats))
		open_fail_memory();
	s.stats = &stats;
	render_show(r, &summary_printer, &s);
	stats_free(&stats);
}

static struct symtab_options symbol_options(void)
{
	return (struct symtab_options){
		.sysroot = opt.open.sysroot, .debug_dirs = opt.open.debug_dirs.items,
		.nr_debug_dirs = opt.open.debug_dirs.nr, .no_demangle = opt.open.no_demangle,
	};
}

static int fail_archive(struct outfile *out, const char *what, const char *why)
{
	if (out)
		outfile_drop(out);
	cli_error("%s %s: %s", what, opt.archive, why);
	return CLI_FAILURE;
}

/* Returns 0 or -errno. */
static int copy_trace(const char *input, int to)
{
	int from = open(input, O_RDONLY | O_CLOEXEC), rc = from < 0 ? -errno : 0;
	char part[65536];
	ssize_t n = 0;

	while (!rc && (n = read(from, part, sizeof(part))) > 0)
		rc = write_all(to, part, n, NULL);
	rc = rc ? rc : n < 0 ? -errno : 0;
	if (from >= 0)
		close(from);
	return rc;
}

/* Writes a copy of the trace, with the names that are found on this machine. */
static int archive(void)
{
	struct names_options o = { .symbols = symbol_options() };
	char err[512] = "out of memory", bytes[UNITS_ROOM], path[NAME_MAX + 64];
	const char *input = open_input(&opt.open);
	struct names_done done;
	struct outfile out;
	struct reader *r;
	int rc, names;

	if (open_is_input(&opt.open, opt.archive))
		cli_usage("--archive: %s is the trace itself, give another file", opt.archive);
	r = reader_open(input, err, sizeof(err));
	if (!r) {
		cli_error("%s", err);
		return CLI_FAILURE;
	}
	reader_close(r);
	rc = outfile_begin(&out, opt.archive);
	if (rc)
		return fail_archive(NULL, "cannot write", outfile_why(rc));
	rc = opt.open.nr_files > 1 ? open_join(&opt.open, dup(out.fd)) : copy_trace(input, out.fd);
	if (rc && opt.open.nr_files > 1) {
		outfile_drop(&out);
		return CLI_FAILURE;
	}
	if (rc)
		return fail_archive(&out, "cannot write", strerror(-rc));
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", out.dir, out.temporary);
	names = names_store(path, &o, &done, err, sizeof(err));
	if (names && names != -EEXIST)
		return fail_archive(&out, "cannot make", err);
	rc = outfile_commit(&out);
	if (rc)
		return fail_archive(NULL, "cannot write", strerror(-rc));
	if (opt.open.is_quiet)
		return CLI_OK;
	if (names)
		printf("%s: a copy, the trace has its names already\n", opt.archive);
	else
		printf("%s: names of %zu addresses in %zu files, %s\n", opt.archive, done.nr_symbols,
		       done.nr_files, units_bytes(done.bytes, bytes));
	return cli_flush() ? CLI_OK : CLI_FAILURE;
}

/* Opens the other trace, with the same directories for symbols as the first one. */
static void open_other(struct opened *o)
{
	struct symtab_options symbols = symbol_options();
	char err[512];

	*o = (struct opened){ 0 };
	if (open_is_same_file(opt.diff, opt.open.output)) {
		cli_error("%s is the other trace: give another file with -o", opt.open.output);
		exit(CLI_FAILURE);
	}
	o->reader = reader_open(opt.diff, err, sizeof(err));
	if (!o->reader) {
		cli_error("%s", err);
		exit(CLI_FAILURE);
	}
	o->symtab = symtab_open(&symbols);
	o->model = o->symtab ? model_open(o->reader, o->symtab, err, sizeof(err)) : NULL;
	if (!o->model)
		open_fail_memory();
	if (!request_source_open(o->model, opt.open.request.items, opt.open.request.nr, err, sizeof(err))) {
		cli_error("%s: %s", opt.diff, err);
		exit(CLI_FAILURE);
	}
}

static void close_other(struct opened *o)
{
	char text[1024];

	if (reader_is_damaged(o->reader))
		cli_warn("%s: %s", opt.diff, reader_damage_text(o->reader, text, sizeof(text)));
	model_close(o->model);
	symtab_close(o->symtab);
	reader_close(o->reader);
}

static void report_html(struct model *m, const struct render *r, struct opened *other)
{
	const char *cmdline = reader_meta(m->reader, "cmdline");
	struct report_options options = {
		.title = cmdline && *cmdline ? cmdline : "a recording",
		.from = open_from(&opt.open, m),
		.to = open_to(&opt.open, m),
		.thread = opt.thread, .other = other ? other->model : NULL, .other_title = opt.diff,
	};
	int ret = report_page(m, &options, r->out);

	if (ret == -ENOMEM)
		open_fail_memory();
	if (ret) {
		cli_error("cannot sort the trace in temporary files: %s", strerror(-ret));
		exit(CLI_FAILURE);
	}
}

/* A page contains a fixed set of reports, so options that select a report are refused. */
static void check_page(void)
{
	if (opt.mutex + opt.requests + opt.sched + opt.samples + opt.summary + opt.tree + opt.graph + open_is_data(&opt.open))
		cli_usage("a page has its own set of reports: -o FILE.html goes with none of --mutex, --requests, "
			  "--sched, --samples, --tree, --graph, --summary, --json and --csv");
	if (opt.by || opt.has_sort || opt.has_top || opt.function || opt.class || opt.note.nr)
		cli_usage("a page is sorted and filtered in the browser: -o FILE.html does not go with "
			  "--by, --sort, --top, --function, --class and --note");
}

int main(int argc, char **argv)
{
	int first = cli_parse(&tool, argc, argv);
	bool found = true, is_page = page_is_wanted(opt.open.output);
	struct opened o, other;

	open_files(&opt.open, argc, argv, first);
	opt.summary |= opt.json_summary;
	opt.open.is_json |= opt.json_summary;
	if (opt.mutex + opt.requests + opt.sched + opt.samples + opt.summary + opt.tree + opt.graph > 1)
		cli_usage("--mutex, --requests, --sched, --samples, --tree, --graph and --summary are one report each: give one");
	if ((opt.tree || opt.graph) && (open_is_data(&opt.open) || opt.has_sort || opt.by))
		cli_usage("--tree and --graph have no --json, --csv, --sort and --by: ldb-export folded has the stacks as data");
	if (opt.summary && opt.open.is_csv)
		cli_usage("--summary has no CSV: use --json");
	if (is_page)
		check_page();
	else if (opt.diff)
		cli_usage("--diff goes with a page: -o FILE.html");
	if (opt.archive)
		return archive();
	if (opt.diff)
		open_other(&other);
	open_trace(&o, &opt.open);
	if (is_page)
		report_html(o.model, &o.render, opt.diff ? &other : NULL);
	else if (opt.mutex)
		report_locks(o.model, &o.render);
	else if (opt.requests)
		report_requests(&o);
	else if (opt.sched)
		found = report_sched(o.model, &o.render);
	else if (opt.samples)
		found = report_samples(o.model, &o.render);
	else if (opt.summary)
		report_summary(o.model, &o.render);
	else if (opt.tree || opt.graph)
		report_calls(o.model, &o.render);
	else
		report_functions(o.model, &o.render);
	if (opt.diff)
		close_other(&other);
	return open_finish(&o, found, true);
}
