// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ldb-timeline shows why one request took as long as it did.  The data flow is options -> reader
 * -> analysis -> render or page; this file connects these.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/error.h"
#include "cli/opts.h"
#include "cli/wall.h"
#include "facts/asked.h"
#include "page/page.h"
#include "page/timeline.h"
#include "render/open.h"
#include "render/render.h"
#include "render/untagged.h"

#define TOP_TEXT	40
#define OPEN_TEXT	20	/* requests that --at lists */
#define STORIES_PAGE	10	/* slowest requests whose causes a page shows */

static struct {
	struct open_options open;
	struct cli_part req_part;
	uint64_t req, slowest, nth, top;
	bool has_req, has_slowest, has_nth, verify, parts;
	const char *class, *trace, *at;
	struct link_want trace_id;
	int64_t at_tick;
	struct cli_list note;
} opt = { .top = TOP_TEXT, .slowest = 1 };

static const struct cli_option options[] = {
	OPEN_OPTIONS(opt.open),
	OPEN_REQ(opt.req_part, opt.has_req),
	{ .name = "nth", .type = CLI_NUMBER, .value = &opt.nth, .arg = "K",
	  .help = "the Kth instance of an id that occurs several times (default: the slowest)",
	  .given = &opt.has_nth, .min = 1 },
	{ .name = "slowest", .type = CLI_NUMBER, .value = &opt.slowest, .arg = "K",
	  .help = "the K slowest requests (default without --req: the slowest one)",
	  .given = &opt.has_slowest, .min = 1, .max = 100000 },
	{ .name = "class", .type = CLI_STRING, .value = &opt.class, .arg = "GLOB",
	  .help = "only requests of this class" },
	{ .name = "note", .type = CLI_LIST, .value = &opt.note, .arg = "KEY=GLOB",
	  .help = "only requests with this note; also KEY>N, KEY<=64K (may be repeated)" },
	{ .name = "trace", .type = CLI_STRING, .value = &opt.trace, .arg = "ID",
	  .help = "the requests of all processes with this W3C trace id, as one timeline; see ldb_req_link(3)" },
	{ .name = "parts", .type = CLI_FLAG, .value = &opt.parts,
	  .help = "with --req, or for the slowest request: also the requests in other processes that its messages "
	  "started, as one timeline" },
	{ .name = "at", .type = CLI_STRING, .value = &opt.at, .arg = "TIME",
	  .help = "the slowest of the requests that were open at this time of day: 2026-11-22T03:12:07.5, "
	  "a local time, or with Z or +01:00 at its end; or 03:12:07.5" },
	OPEN_REQUEST(opt.open),
	OPEN_RANGE(opt.open, "only requests that start at"),
	{ .name = "top", .type = CLI_NUMBER, .value = &opt.top, .arg = "N",
	  .help = "list the N longest segments (text; default: 40)" },
	{ .name = "verify", .type = CLI_FLAG, .value = &opt.verify,
	  .help = "--req: check the whole trace for damage, not only the parts that are read" },
	OPEN_JSON(opt.open, "JSON, times in ns: with --req an object, else an array of objects"),
	OPEN_CSV(opt.open, "CSV: a row for each segment"),
	OPEN_QUIET(opt.open, "no hints on stderr"),
	OPEN_VERBOSE(opt.open, "list all segments"),
	{ .name = NULL }
};

static const struct cli_tool tool = {
	.name = "ldb-timeline",
	.synopsis = "[-i FILE] [--slowest=K] [OPTION]... [FILE]...\n[-i FILE] --req=N [--nth=K] [OPTION]... [FILE]...",
	.summary = "Shows what happened to one request: the functions its threads executed, the "
		   "locks and queues it waited for, and what the holders of those locks executed "
		   "meanwhile.",
	.options = options,
	.argument = "FILE",
	.examples = "ldb-timeline                      the slowest request\n"
		    "ldb-timeline --slowest=5          the five slowest\n"
		    "ldb-timeline --note tenant=acme   the slowest request with this note: ldb_req_note(3)\n"
		    "ldb-timeline --req=4711           request 4711\n"
		    "ldb-timeline --at 03:12:07.5      the slowest request that was open then\n"
		    "ldb-timeline --trace 4bf92f3577b34da6a3ce929d0e0e4736 client.data server.data\n"
		    "ldb-timeline --req=4711 --parts client.data server.data\n"
		    "ldb-timeline -o slow.html         a page of the whole recording, opened at the slowest request\n"
		    "ldb-timeline --req=4711 --json | jq '.segments[] | select(.blocks_req)'",
};

static void build(struct model *m, const struct requests *requests, const struct instance *instance,
		  struct timeline *timeline, struct render_timeline *shown)
{
	if (timeline_build_siteless(m, instance, timeline))
		open_fail_memory();
	*shown = (struct render_timeline){
		.model = m, .timeline = timeline, .p50_ns = requests_p50_ns(requests, instance->class),
		.nth = 1, .nr_occurrences = 1, .nr_lines = opt.top,
	};
	if (timeline_interruptions(m, timeline, &shown->interruptions))
		open_fail_memory();
}

/*
 * Chooses which request instance of --req to show: --nth, or else the slowest complete one, or else
 * the slowest.
 */
static size_t choose_instance(const struct requests *requests)
{
	size_t best = 0;

	if (opt.has_nth)
		return opt.nth - 1;
	for (size_t i = 1; i < requests->nr_instances; i++) {
		const struct instance *a = &requests->instances[i], *b = &requests->instances[best];

		if (a->is_complete != b->is_complete ? a->is_complete :
		    a->end - a->start > b->end - b->start)
			best = i;
	}
	return best;
}

/* Finds the request instance to show.  Returns false if there is none, after printing so. */
static bool find_instance(const struct requests *requests, const struct instance **instance)
{
	size_t nth;

	if (!requests->nr_instances) {
		cli_error("no request %" PRIu64 " %s: ldb-report --requests lists the slowest", opt.req,
			  opt.class || opt.note.nr || open_has_range(&opt.open) ? "in this selection" :
			  "in this recording");
		return false;
	}
	nth = choose_instance(requests);
	if (nth >= requests->nr_instances) {
		cli_error("--nth=%" PRIu64 ": request %" PRIu64 " occurs %zu times", opt.nth,
			  opt.req, requests->nr_instances);
		return false;
	}
	*instance = &requests->instances[nth];
	return true;
}

/*
 * Returns the number of other requests that belong to the request: it was made for them, or they
 * were made for it.  JSON and CSV do not show this number, so it is 0 for these.
 */
static size_t nr_parts(struct model *m, const struct instance *instance, struct asked *all)
{
	if (open_is_data(&opt.open) || reader_exists(m->reader, LDB_BLK_ASKED) <= 0)
		return 0;
	asked_clear(all);
	if (asked_add(m, instance->id, instance->start, all))
		open_fail_memory();
	return all->nr ? all->nr - 1 : 0;
}

/* Returns false if there is no such request. */
static bool show_one(struct model *m, const struct render *r, const struct requests *requests)
{
	struct render_timeline shown;
	struct timeline timeline;
	const struct instance *instance;
	struct asked all = { 0 };
	size_t nth;

	if (!find_instance(requests, &instance))
		return false;
	nth = instance - requests->instances;
	build(m, requests, &requests->instances[nth], &timeline, &shown);
	timeline_set_sites(m, &timeline);
	shown.nth = nth + 1;
	shown.nr_parts = nr_parts(m, instance, &all);
	asked_free(&all);
	shown.nr_occurrences = requests->nr_instances + requests->nr_not_kept;
	if (opt.open.is_json) {
		json_timelines(r, &shown, 1, false);
	} else if (opt.open.is_csv) {
		csv_timeline(r, &shown, 1);
	} else {
		if (requests->nr_instances > 1)
			text_instances(r, m, requests->instances, requests->nr_instances, nth + 1);
		text_timeline(r, &shown);
	}
	timeline_free(&timeline);
	return true;
}

static void say_untagged(const struct opened *o)
{
	char why[UNTAGGED_TEXT];

	open_say_empty(&o->render, "%s", untagged_why(o, why));
	untagged_say(o, "");
}

static void say_none(const struct opened *o, const struct requests *requests)
{
	bool is_selected = opt.class || opt.note.nr || open_has_range(&opt.open) || opt.trace || opt.at;
	const struct render *r = &o->render;

	if (opt.trace)
		open_say_empty(r, "no request was linked to trace %s: ldb_req_link(3)", opt.trace);
	else if (opt.at)
		open_say_empty(r, "no request was open at %s", opt.at);
	else if (requests->all.incomplete)
		open_say_empty(r, "no request%s ended in this recording: --req=N shows one that did "
			       "not", is_selected ? " of this selection" : "");
	else if (is_selected && requests->result.nr_events)
		open_say_empty(r, "no request matches%s%s%s%s: ldb-report --requests lists the classes",
			       opt.class ? " --class" : "", opt.note.nr ? " --note" : "", opt.open.has_from ? " --from" : "",
			       opt.open.has_to ? " --to" : "");
	else
		say_untagged(o);
}

/* Shows all requests of --trace or --parts as one timeline. */
static void show_trace(struct model *m, const struct render *r, const struct render_timeline *each,
		       struct timeline *timelines, size_t nr)
{
	struct timeline all;
	struct render_timeline shown = *each;

	for (size_t i = 0; i < nr; i++)
		timelines[i] = *each[i].timeline;
	if (timeline_merge(timelines, nr, &all))
		open_fail_memory();
	shown.timeline = &all;
	text_trace(r, each, nr, &shown, opt.trace ? "of this trace" : "that belong together");
	free(all.segments);
}

static void show_slowest(const struct opened *o, const struct requests *requests)
{
	const struct render *r = &o->render;
	struct model *m = o->model;
	size_t nr = opt.at && requests->nr_instances > opt.slowest ? opt.slowest : requests->nr_instances;
	bool is_text = !open_is_data(&opt.open), is_one = opt.trace || opt.parts;
	struct render_timeline *shown = calloc(nr + 1, sizeof(*shown));
	struct timeline *timelines = calloc(nr + 1, sizeof(*timelines));
	struct asked all = { 0 };

	uint32_t *order = timelines_begin(m, requests->instances, nr);

	if (!shown || !timelines || !order)
		open_fail_memory();
	for (size_t i = 0; i < nr; i++)
		build(m, requests, &requests->instances[order[i]], &timelines[order[i]], &shown[order[i]]);
	timelines_end(m);
	free(order);
	for (size_t i = 0; i < nr; i++)
		timeline_set_sites(m, &timelines[i]);
	if (opt.open.is_json)
		json_timelines(r, shown, nr, true);
	else if (opt.open.is_csv)
		csv_timeline(r, shown, nr);
	if (is_text && opt.at && nr)
		text_open(r, m, requests->instances, requests->nr_instances, opt.at_tick);
	if (is_text && is_one && nr > 1)
		show_trace(m, r, shown, timelines, nr);
	for (size_t i = 0; i < nr && is_text && !(is_one && nr > 1); i++) {
		if (i)
			fputc('\n', r->out);
		if (!is_one)
			shown[i].nr_parts = nr_parts(m, &requests->instances[i], &all);
		text_timeline(r, &shown[i]);
	}
	if (!nr && !open_is_data(&opt.open))
		say_none(o, requests);
	for (size_t i = 0; i < nr; i++)
		timeline_free(&timelines[i]);
	asked_free(&all);
	free(timelines);
	free(shown);
}

/*
 * Adds the requests that belong to those of --trace, or to the request of --parts.  Returns false,
 * after printing so, if the request of --req does not exist.
 */
static bool add_parts(struct model *m, struct requests *requests)
{
	struct requests_options wanted = REQUESTS_OPTIONS_ALL;
	struct asked all = { 0 };
	const struct instance *instance = requests->instances;
	size_t nr = opt.trace ? requests->nr_instances : 1;

	if (opt.has_req && !find_instance(requests, &instance))
		return false;
	for (size_t i = 0; i < nr && requests->nr_instances; i++)
		if (asked_add(m, instance[i].id, instance[i].start, &all))
			open_fail_memory();
	wanted.among = &all;
	if (all.nr > requests->nr_instances || (opt.parts && all.nr)) {
		requests_free(requests);
		if (requests_build(m, &wanted, requests))
			open_fail_memory();
	}
	asked_free(&all);
	return true;
}

/* Returns false if the request does not exist, or on failure, after printing why. */
static bool show_page(struct model *m, const struct render *r, const struct requests_options *wanted)
{
	struct timeline_page_options page = { .from = wanted->from, .to = wanted->to };
	struct requests_options options = *wanted;
	struct requests one = { 0 }, slowest;
	char err[256];
	bool ok = true;

	if (wanted->has_id) {
		if (requests_build(m, wanted, &one))
			open_fail_memory();
		ok = find_instance(&one, &page.first);
		options.has_id = false;
	}
	options.nr_slowest = opt.has_slowest ? opt.slowest : STORIES_PAGE;
	if (requests_build(m, &options, &slowest))
		open_fail_memory();
	page.requests = &slowest;
	if (ok && timeline_page(m, &page, r->out, err, sizeof(err))) {
		cli_error("%s", err);
		ok = false;
	}
	requests_free(&slowest);
	if (wanted->has_id)
		requests_free(&one);
	return ok;
}

/*
 * Sets the options that select the requests of --trace or --at.  Ends the tool, after printing why,
 * if one of these is invalid, or the time is outside of the recording.
 */
static void choose_entry(const struct model *m, struct requests_options *wanted)
{
	int64_t from = reader_wall_ns(m->reader, 0), to, at;
	char a[WALL_ROOM], b[WALL_ROOM];

	if (opt.trace) {
		if (!link_want_parse(opt.trace, &opt.trace_id))
			cli_usage("--trace=%s: give a trace id (32 hex digits, at least the first 8) or a traceparent",
				  opt.trace);
		wanted->trace = &opt.trace_id;
	}
	if (!opt.at)
		return;
	to = reader_wall_ns(m->reader, reader_end_tick(m->reader));
	if (!wall_parse_within(opt.at, from, to, &at))
		cli_usage("--at=%s: give a time such as 2026-11-22T03:12:07.5, 2026-11-22T02:12:07Z or 03:12:07",
			  opt.at);
	if (at < from || at > to) {
		cli_error("--at=%s: the recording is from %s to %s", opt.at, wall_text(from, a),
			  wall_text(to, b));
		exit(CLI_FAILURE);
	}
	wanted->has_at = true;
	wanted->at = opt.at_tick = reader_wall_tick(m->reader, at);
	if (wanted->nr_slowest < OPEN_TEXT && !open_is_data(&opt.open))
		wanted->nr_slowest = OPEN_TEXT;
}

int main(int argc, char **argv)
{
	struct requests_options wanted = REQUESTS_OPTIONS_ALL;
	int first = cli_parse(&tool, argc, argv);
	struct requests requests;
	struct opened o;
	bool found = true, is_page = page_is_wanted(opt.open.output) && !open_is_data(&opt.open);

	open_files(&opt.open, argc, argv, first);
	if (opt.has_req && opt.has_slowest)
		cli_usage("--req and --slowest: give one");
	if ((opt.trace || opt.at) && (opt.has_req || is_page))
		cli_usage("--trace and --at do not go with --req and pages");
	if (opt.parts && (opt.trace || opt.at || opt.has_slowest || is_page))
		cli_usage("--parts goes with --req, or with the slowest request, and no page");
	if (opt.trace && (opt.at || opt.has_slowest))
		cli_usage("--trace shows all requests of the trace: it does not go with --at and --slowest");
	if (opt.has_nth && !opt.has_req)
		cli_usage("--nth goes with --req");
	if (opt.verify && !opt.has_req)
		cli_usage("--verify goes with --req: without, the whole trace is checked anyway");
	open_trace(&o, &opt.open);
	open_notes(&opt.note, &wanted);
	found = open_req(o.model, &opt.req_part, &opt.req);
	wanted.class = opt.class;
	wanted.has_id = opt.has_req;
	wanted.id = opt.req;
	wanted.nr_slowest = opt.slowest;
	wanted.from = open_from(&opt.open, o.model);
	wanted.to = open_to(&opt.open, o.model);
	choose_entry(o.model, &wanted);
	if (found && is_page) {
		found = show_page(o.model, &o.render, &wanted);
	} else if (found) {
		if (requests_build(o.model, &wanted, &requests))
			open_fail_memory();
		if (opt.trace || opt.parts)
			found = add_parts(o.model, &requests);
		if (!found)
			;	/* one line was printed */
		else if (opt.has_req && !opt.parts)
			found = show_one(o.model, &o.render, &requests);
		else
			show_slowest(&o, &requests);
		requests_free(&requests);
	}
	return open_finish(&o, found, !opt.has_req || opt.verify || is_page);
}
