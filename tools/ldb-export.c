// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ldb-export makes files for other tools.  The data flow is options -> reader -> analysis ->
 * export; nothing is computed here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/report/requests.h"
#include "base/sort.h"
#include "cli/document.h"
#include "cli/error.h"
#include "cli/opts.h"
#include "cli/outfile.h"
#include "cli/progress.h"
#include "export/export.h"
#include "render/open.h"

#define CLASS_MAX	100000	/* slowest requests that --class exports without --slowest */

static struct {
	struct open_options open;
	struct cli_part req_part;
	uint64_t req, slowest, nth, max_functions, min_ns, limit;
	bool has_req, has_slowest, has_nth;
	const char *class, *thread;
	bool all_requests, with_causes;
} opt;

static const struct cli_option options[] = {
	OPEN_OPTIONS(opt.open),
	OPEN_REQUEST(opt.open),
	OPEN_RANGE(opt.open, "only what happened at"),
	OPEN_REQ(opt.req_part, opt.has_req),
	{ .name = "nth", .type = CLI_NUMBER, .value = &opt.nth, .arg = "K",
	  .help = "--req: only the Kth instance of the request",
	  .given = &opt.has_nth, .min = 1 },
	{ .name = "slowest", .type = CLI_NUMBER, .value = &opt.slowest, .arg = "K",
	  .help = "only the K slowest requests",
	  .given = &opt.has_slowest, .min = 1, .max = CLASS_MAX },
	{ .name = "class", .type = CLI_STRING, .value = &opt.class, .arg = "GLOB",
	  .help = "only requests of this class" },
	{ .name = "thread", .type = CLI_STRING, .value = &opt.thread, .arg = "TID|NAME",
	  .help = "only this thread; NAME may contain * and ?" },
	{ .name = "max-functions", .type = CLI_NUMBER, .value = &opt.max_functions, .arg = "N",
	  .help = "only the N longest calls (not otlp; speedscope, folded, pprof: only without --req, "
	  "--slowest and --class)" },
	{ .name = "min-duration", .type = CLI_DURATION, .value = &opt.min_ns, .arg = "DUR",
	  .help = "leave out shorter calls (in the same formats as --max-functions)" },
	{ .name = "causes", .type = CLI_FLAG, .value = &opt.with_causes,
	  .help = "add the cause of the time, such as a wait, as the innermost frame (speedscope, folded, pprof)" },
	{ .name = "all", .type = CLI_FLAG, .value = &opt.all_requests,
	  .help = "all requests, not only the slow ones (otlp)" },
	{ .name = "limit", .type = CLI_SIZE, .value = &opt.limit, .arg = "SIZE",
	  .help = "refuse to write more than SIZE (chrome; default: 100M)" },
	OPEN_JSON(opt.open, "describe on stdout, as JSON, what was written; needs -o"),
	OPEN_QUIET(opt.open, "no summary, no progress and no hints on stderr"),
	{ .name = NULL }
};

static const char *format_name(size_t n)
{
	return export_formats[n].name;
}

static const struct cli_tool tool = {
	.name = "ldb-export",
	.synopsis = "[-i FILE] [-o FILE] [OPTION]... FORMAT [FILE]...",
	.summary = "Writes a trace in the format of another tool: perfetto, chrome, ctf, "
		   "speedscope, folded, pprof, otlp or sqlite.",
	.options = options,
	.examples = "ldb-export -o ldb.pftrace perfetto             open it at https://ui.perfetto.dev\n"
		    "ldb-export -o slow.pftrace --slowest=5 perfetto\n"
		    "ldb-export folded --thread='worker*' | flamegraph.pl > worker.svg\n"
		    "ldb-export -o ldb.db sqlite",
	.argument = "FORMAT",
	.argument_word = format_name,
};

/* Formats */

static const struct export_format *find_format(const char *name)
{
	char list[256];
	size_t used = 0;

	for (const struct export_format *f = export_formats; f->name; f++) {
		if (!strcmp(f->name, name))
			return f;
		used += snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "",
				 f->name);
	}
	cli_usage("unknown format '%s': there are %s", name, list);
}

/* Shows progress, but not within the first second. */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

struct progress {
	int64_t start, last;
};

static void on_progress(void *arg, const char *what, double done)
{
	struct progress *p = arg;
	int64_t now = now_ns();

	if (now - p->start < 1000000000 || now - p->last < 100000000)
		return;
	p->last = now;
	progress_line("ldb-export: %3.0f %% %s", 100 * done, what);
}

/* Chooses the selected requests */

COMPARE(earlier_first, struct instance, UP(start) UP(id))

/* Returns false, after printing why, if there is no such request. */
static bool choose_instances(struct model *m, struct export_options *o, struct requests *requests)
{
	struct requests_options wanted = REQUESTS_OPTIONS_ALL;

	if (!open_req(m, &opt.req_part, &opt.req))
		return false;
	wanted.from = o->from;
	wanted.to = o->to;
	wanted.class = opt.class;
	wanted.has_id = opt.has_req;
	wanted.id = opt.req;
	wanted.nr_slowest = opt.has_slowest ? opt.slowest : CLASS_MAX;
	if (requests_build(m, &wanted, requests))
		open_fail_memory();
	if (!requests->nr_instances) {
		if (opt.has_req)
			cli_error("no request %" PRIu64 " in %s: ldb-report --requests lists the "
				  "slowest", opt.req, opt.class || open_has_range(&opt.open) ?
				  "this selection" : "this recording");
		else
			cli_error("no request ended in %s: ldb-report --requests lists the classes",
				  opt.class || open_has_range(&opt.open) ? "this selection" :
				  "this recording");
		return false;
	}
	qsort(requests->instances, requests->nr_instances, sizeof(*requests->instances), earlier_first);
	o->has_instances = true;
	o->instances = requests->instances;
	o->nr_instances = requests->nr_instances;
	if (opt.has_nth) {
		if (opt.nth > requests->nr_instances) {
			cli_error("--nth=%" PRIu64 ": request %" PRIu64 " occurs %zu times", opt.nth,
				  opt.req, requests->nr_instances);
			return false;
		}
		o->instances = &requests->instances[opt.nth - 1];
		o->nr_instances = 1;
	}
	if (export_find_windows(o))
		open_fail_memory();
	o->from = o->instances[0].start;
	o->to = o->instances[0].end;
	for (size_t i = 1; i < o->nr_instances; i++)
		if (o->instances[i].end > o->to)
			o->to = o->instances[i].end;
	return true;
}

/* What was written */

static void put_kinds(struct json *j, const struct export_result *r)
{
	for (int i = 0; i < NR_SEGMENT_KINDS; i++) {
		json_flat(j);
		json_object_begin(j, segment_kinds[i].name);
		json_u64(j, "count", r->nr[i]);
		json_i64(j, "total_ns", r->total_ns[i]);
		if (i == SEGMENT_FUNCTION)
			json_u64(j, "open", r->nr_open_functions);
		json_object_end(j);
	}
}

static void summary_json(const struct export_format *f, const struct export_options *o)
{
	const struct export_result *r = o->result;
	struct json j;

	json_init(&j, stdout);
	document_begin(&j, DOCUMENT_EXPORT);
	json_string(&j, "written_as", f->name);
	json_string(&j, "output", opt.open.output);
	json_object_begin(&j, "written");
	put_kinds(&j, r);
	json_u64(&j, "threads", r->nr_threads);
	json_u64(&j, "requests", r->nr_requests);
	json_u64(&j, "samples", r->nr_samples);
	json_u64(&j, "flows", r->nr_flows);
	json_object_end(&j);
	json_object_begin(&j, "left_out");
	json_u64(&j, "functions", r->nr_left_out);
	json_i64(&j, "functions_shorter_than_ns", r->min_ns);
	json_u64(&j, "futex_sleeps", r->nr_not_kept);
	json_u64(&j, "merged_calls", r->nr_merged);
	json_u64(&j, "broken_switches", r->nr_broken);
	json_object_end(&j);
	json_object_end(&j);
	json_end(&j);
}

static void summary_text(const struct export_options *o)
{
	const struct export_result *r = o->result;
	uint64_t nr = 0;

	for (int i = 0; i < NR_SEGMENT_KINDS; i++)
		nr += r->nr[i];
	if (opt.open.output && nr)
		cli_note("%s: %" PRIu64 " functions, %" PRIu64 " other segments, %" PRIu64
			 " requests", opt.open.output, r->nr[SEGMENT_FUNCTION],
			 nr - r->nr[SEGMENT_FUNCTION], r->nr_requests);
	if (r->nr_left_out)
		cli_note("%" PRIu64 " functions shorter than %" PRId64 " ns were left out",
			 r->nr_left_out, r->min_ns);
	if (r->nr_merged)
		cli_note("the time of %" PRIu64 " calls is counted as time of their callers: there are too "
			 "many different stacks", r->nr_merged);
	if (r->nr_not_kept)
		cli_note("%" PRIu64 " sleeps on futexes were left out: too many", r->nr_not_kept);
}

/* Writing */

/* Prints the error.  is_output: the output could not be written. */
static int fail(int ret, const char *err, bool is_output)
{
	if (*err)
		cli_error("%s", err);
	else if (ret == -ENOMEM)
		cli_error("out of memory: take a part of the recording with --from and --to");
	else if (is_output)
		cli_error("cannot write %s: %s", opt.open.output ? opt.open.output : "to stdout",
			  strerror(ret < -1 ? -ret : EIO));
	else
		cli_error("cannot sort in a temporary file in %s: %s: set TMPDIR to another directory",
			  getenv("TMPDIR") ? getenv("TMPDIR") : "/var/tmp",
			  strerror(ret < -1 ? -ret : EIO));
	return CLI_FAILURE;
}

/* Removes an incomplete file, which is useless; a device or a pipe is not removed. */
static void remove_part(FILE *out, const char *path)
{
	struct stat st;

	if (!fstat(fileno(out), &st) && S_ISREG(st.st_mode))
		unlink(path);
}

static int write_stream(struct model *m, const struct export_format *f,
			const struct export_options *o)
{
	FILE *out = stdout;
	char err[1024] = "";
	bool is_output;
	int ret;

	if (opt.open.output) {
		out = outfile_stream(opt.open.output, &ret);
		if (!out) {
			cli_error("cannot write %s: %s: give another file with -o", opt.open.output,
				  outfile_why(ret));
			return CLI_FAILURE;
		}
	}
	ret = f->to_stream(m, o, out, err, sizeof(err));
	progress_clear();
	is_output = ferror(out);
	errno = 0;
	if (!ret && (fflush(out) || ferror(out))) {
		snprintf(err, sizeof(err), "cannot write %s: %s",
			 opt.open.output ? opt.open.output : "to stdout",
			 strerror(errno ? errno : EIO));
		ret = -1;
	}
	if (ret && opt.open.output)
		remove_part(out, opt.open.output);
	/* Drops what stdio has not written yet, and its error; fail() below prints the error. */
	if (ret && !opt.open.output) {
		__fpurge(stdout);
		clearerr(stdout);
	}
	if (out != stdout && fclose(out) && !ret) {
		snprintf(err, sizeof(err), "cannot write %s: %s", opt.open.output, strerror(errno));
		unlink(opt.open.output);
		ret = -1;
	}
	return ret ? fail(ret, err, is_output) : CLI_OK;
}

static int write_path(struct model *m, const struct export_format *f,
		      const struct export_options *o)
{
	char err[1024] = "";
	int ret = f->to_path(m, o, opt.open.output, err, sizeof(err));

	progress_clear();
	return ret ? fail(ret, err, false) : CLI_OK;
}

static void check_usage(const struct export_format *f)
{
	const char *output = opt.open.output;

	if (opt.has_req && opt.has_slowest)
		cli_usage("--req and --slowest: give one");
	if (opt.has_nth && !opt.has_req)
		cli_usage("--nth goes with --req");
	if (f->to_path && !output)
		cli_usage("%s is written to files: give -o FILE", f->name);
	if (opt.open.is_json && !output)
		cli_usage("--json describes what was written to a file: give -o FILE");
	if (f->is_binary && !output && isatty(STDOUT_FILENO))
		cli_usage("%s cannot be shown on a terminal: give -o FILE", f->name);
	if (output && open_is_input(&opt.open, output)) {
		cli_error("%s is the trace itself: give another file with -o", output);
		exit(CLI_FAILURE);
	}
}

int main(int argc, char **argv)
{
	struct open_options without_output;
	struct export_result result = { .nr_threads = 0 };
	struct export_options o = { .result = &result };
	struct progress progress = { .start = now_ns() };
	int first = cli_parse(&tool, argc, argv), status = CLI_OK;
	struct requests requests = { .nr_instances = 0 };
	const struct export_format *f;
	struct opened opened;
	struct model *m;

	if (first == argc)
		cli_usage("give a FORMAT: ldb-export --help lists them");
	open_files(&opt.open, argc, argv, first + 1);
	f = find_format(argv[first]);
	check_usage(f);
	/* The output is opened below, when it is known that there is something to write. */
	without_output = opt.open;
	without_output.output = NULL;
	open_trace(&opened, &without_output);
	m = opened.model;
	progress_init(!opt.open.is_quiet);
	o.from = open_from(&opt.open, m);
	o.to = open_to(&opt.open, m);
	o.thread = opt.thread;
	o.max_functions = opt.max_functions;
	o.min_ns = opt.min_ns;
	o.with_causes = opt.with_causes;
	o.all_requests = opt.all_requests;
	o.limit_bytes = opt.limit;
	o.progress = progress_is_on() ? on_progress : NULL;
	o.progress_arg = &progress;
	if ((opt.has_req || opt.has_slowest || opt.class) && !choose_instances(m, &o, &requests))
		status = CLI_FAILURE;
	if (status == CLI_OK)
		status = f->to_path ? write_path(m, f, &o) : write_stream(m, f, &o);
	if (status == CLI_OK && opt.open.is_json)
		summary_json(f, &o);
	else if (status == CLI_OK && !opt.open.is_quiet)
		summary_text(&o);
	free(o.windows);
	requests_free(&requests);
	return open_finish(&opened, status == CLI_OK, true);
}
