// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ldb-why shows why requests are slow.  The data flow is options -> reader -> partition ->
 * causes -> render or page; this file connects these.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/why/categories.h"
#include "cli/error.h"
#include "cli/opts.h"
#include "page/page.h"
#include "page/why.h"
#include "render/compare.h"
#include "render/open.h"
#include "render/pictures.h"
#include "render/untagged.h"
#include "render/whatif.h"
#include "render/why.h"

#define TOP_TEXT	10	/* causes in the text */
#define REQUESTS_TEXT	5	/* sentences on requests in the text */
#define PARTS_TEXT	12	/* rows of a difference in the text */
#define CHAINS_MAX	500	/* requests whose chains are followed: 4 ms each */

static struct {
	struct open_options open;
	struct cli_part req_part;
	uint64_t req, slowest, slice, top, chains;
	bool has_req, has_slowest, has_slice, is_p99, has_top;
	const char *class, *categories, *slices;
	struct cli_list fail_if, what_if;
	bool is_compare, is_uncategorised;
	uint32_t explain;
	bool is_strict, has_shares, has_shared;
	bool pictures[NR_PICTURES], is_folded, is_sums;
} opt = { .explain = 800000, .chains = CHAINS_MAX };

static const struct cli_option options[] = {
	OPEN_OPTIONS(opt.open),
	OPEN_REQ(opt.req_part, opt.has_req),
	{ .name = "slowest", .type = CLI_NUMBER, .value = &opt.slowest, .arg = "K",
	  .help = "the K slowest requests", .given = &opt.has_slowest, .min = 1 },
	{ .name = "p99", .type = CLI_FLAG, .value = &opt.is_p99,
	  .help = "the slowest hundredth of each class (the default)" },
	{ .name = "slice", .type = CLI_NUMBER, .value = &opt.slice, .arg = "P",
	  .help = "the requests from percentile P - 5 to P + 5 of each class",
	  .given = &opt.has_slice, .max = 100 },
	{ .name = "class", .type = CLI_STRING, .value = &opt.class, .arg = "GLOB",
	  .help = "only requests of this class" },
	OPEN_REQUEST(opt.open),
	OPEN_RANGE(opt.open, "only requests that start at"),
	{ .name = "top", .type = CLI_NUMBER, .value = &opt.top, .arg = "N",
	  .help = "list N causes and N requests (text: 10 and 5; JSON, CSV: all)",
	  .given = &opt.has_top },
	{ .name = "explain", .type = CLI_PERCENT, .value = &opt.explain, .arg = "PCT",
	  .help = "a function is a cause itself if its callees explain no more than PCT of its additional time (80%)" },
	{ .name = "nsight-strict", .type = CLI_FLAG, .value = &opt.is_strict,
	  .help = "the rule of NSight: what a callee takes longer counts as explained, even if it has no cause" },
	{ .name = "chains", .type = CLI_NUMBER, .value = &opt.chains, .arg = "N",
	  .help = "follow the waits of the N slowest (500)" },
	{ .name = "categories", .type = CLI_STRING, .value = &opt.categories, .arg = "FILE",
	  .help = "CSV of names and their categories, read before the one that comes with ldb" },
	{ .name = "uncategorised", .type = CLI_FLAG, .value = &opt.is_uncategorised,
	  .help = "only the names that have no category, by time" },
	{ .name = "compare", .type = CLI_FLAG, .value = &opt.is_compare,
	  .help = "what is slower in the recording AFTER than in BEFORE, in parts that sum to it: "
	  "of all requests, or of those of --slice or --p99 in each" },
	{ .name = "fail-if", .type = CLI_LIST, .value = &opt.fail_if, .arg = "COND",
	  .help = "--compare: exit status 4 if COND holds: p99+5%, GET:p50+100us, p99.9>2ms, mean+1% "
	  "(may be repeated)" },
	{ .name = "compare-slices", .type = CLI_STRING, .value = &opt.slices, .arg = "A,B",
	  .help = "what is slower in slice A of each class than in slice B: p99,p50 or 90-99,40-60" },
	{ .name = "shares", .type = CLI_FLAG, .value = &opt.has_shares,
	  .help = "JSON, CSV: where each nanosecond of these requests went" },
	{ .name = "shared", .type = CLI_FLAG, .value = &opt.has_shared,
	  .help = "CSV: a row for each trait that slow requests share (JSON always has them)" },
	{ .name = "balloons", .type = CLI_FLAG, .value = &opt.pictures[PICTURE_BALLOONS],
	  .help = "outlier plot (NSight: balloon plot): latencies in order of arrival, and the "
	  "causes of the slow ones" },
	{ .name = "boxes", .type = CLI_FLAG, .value = &opt.pictures[PICTURE_BOXES],
	  .help = "how much each cause added to the requests that have it" },
	{ .name = "queues", .type = CLI_FLAG, .value = &opt.pictures[PICTURE_QUEUES],
	  .help = "how many requests more than usual were ahead, and what that cost" },
	{ .name = "cpus", .type = CLI_FLAG, .value = &opt.pictures[PICTURE_CPUS],
	  .help = "kernel events: which tasks ran on the CPUs during these requests" },
	{ .name = "blame", .type = CLI_FLAG, .value = &opt.pictures[PICTURE_BLAME],
	  .help = "whom the time was lost to, summed up; and where it comes from: paths, locks, their "
	  "holders, and what blocked the holders" },
	{ .name = "folded", .type = CLI_FLAG, .value = &opt.is_folded,
	  .help = "--blame as folded stacks, for flame graph programs" },
	{ .name = "sums", .type = CLI_FLAG, .value = &opt.is_sums,
	  .help = "--blame without the tree, with all sums" },
	{ .name = "what-if", .type = CLI_LIST, .value = &opt.what_if, .arg = "EXPR",
	  .help = "replay with changed durations: 'parse*0.5', 'lock:NAME*0.5', "
	  "'lock:NAME=sharded(8)', no-preempt, cpus+2 (may be repeated)" },
	OPEN_JSON(opt.open, "JSON, times in ns"),
	OPEN_CSV(opt.open, "CSV: a row for each request and cause"),
	OPEN_QUIET(opt.open, "no hints on stderr"),
	{ .name = NULL }
};

static const struct cli_tool tool = {
	.name = "ldb-why",
	.synopsis = "[-i FILE] [--p99 | --slowest=K | --slice=P | --req=N] [OPTION]... [FILE]...\n"
		    "[-i FILE] --balloons|--boxes|--queues|--cpus|--blame [OPTION]...\n"
		    "[-i FILE] -o FILE.html [OPTION]...\n"
		    "[-i FILE] --compare-slices=A,B | --uncategorised [OPTION]...\n"
		    "--compare [--fail-if=COND]... [OPTION]... BEFORE AFTER\n"
		    "[-i FILE] --what-if=EXPR... [OPTION]...",
	.summary = "Says why requests are slow: what took them longer than the usual requests of "
		   "their class, who held the locks they waited for, and what blocked the holders.",
	.options = options,
	.examples = "ldb-why                           the slowest hundredth\n"
		    "ldb-why --req=4711                request 4711\n"
		    "ldb-why --class=GET --slice=50    the requests around the median\n"
		    "ldb-why -o why.html               all of this as a page, with pictures\n"
		    "ldb-why --blame --sums            which threads and functions cost how much\n"
		    "ldb-why --blame --folded | flamegraph.pl >blame.svg\n"
		    "ldb-why --compare-slices=p99,p50  how slow and usual requests differ, summed up\n"
		    "ldb-why --compare old.data new.data --fail-if=p99+5%\n"
		    "ldb-why --what-if='snapshot*0.25' latencies if snapshot() took a quarter of its time\n"
		    "ldb-why --json | jq -r '.requests[].sentence'",
	.argument = "FILE",
};

static bool is_page(void)
{
	return page_is_wanted(opt.open.output) && !open_is_data(&opt.open) && !opt.is_folded;
}

static struct why_options why_options(struct categories *categories)
{
	struct why_options o = {
		.target_lo = 99, .target_hi = 100, .reference_lo = 40, .reference_hi = 60,
		.class = opt.class, .has_id = opt.has_req, .id = opt.req,
		.nr_slowest = opt.has_slowest ? opt.slowest : 0,
		.explain = opt.explain / 1e6, .is_strict = opt.is_strict, .nr_chains = opt.chains,
		.categories = categories, .has_all_chains = opt.pictures[PICTURE_BLAME] || is_page(),
	};

	if (opt.has_slice) {
		o.target_lo = opt.slice > 5 ? opt.slice - 5 : 0;
		o.target_hi = opt.slice < 95 ? opt.slice + 5 : 100;
	}
	return o;
}

/* Returns the requested picture; NR_PICTURES: none. */
static enum picture picture(void)
{
	enum picture which = 0;

	while (which < NR_PICTURES && !opt.pictures[which])
		which++;
	return which;
}

static void check_pictures(void)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < NR_PICTURES; i++)
		nr += opt.pictures[i];
	if (nr > 1)
		cli_usage("--balloons, --boxes, --queues, --cpus and --blame: give one; -o FILE.html has "
			  "all of them");
	if (opt.is_folded && (!opt.pictures[PICTURE_BLAME] || open_is_data(&opt.open)))
		cli_usage("--folded goes with --blame, without --json and --csv");
	if (opt.is_sums && (!opt.pictures[PICTURE_BLAME] || opt.is_folded))
		cli_usage("--sums goes with --blame, without --folded");
	if (nr && is_page())
		cli_usage("-o FILE.html has all pictures: leave out the option for one");
}

/* Checks the options of reports that do not explain causes. */
static void check_compare(void)
{
	bool is_other = opt.is_compare || opt.slices || opt.is_uncategorised;

	if (opt.is_compare + !!opt.slices + opt.is_uncategorised > 1)
		cli_usage("--compare, --compare-slices and --uncategorised: give one");
	if (is_other && (opt.has_req || opt.has_slowest || opt.has_shares || opt.has_shared || is_page() ||
			 picture() != NR_PICTURES))
		cli_usage("--compare, --compare-slices and --uncategorised are reports of their own: "
			  "--req, --slowest, --shares and pictures do not go with them");
	if (opt.slices && (opt.has_slice || opt.is_p99))
		cli_usage("--compare-slices names its slices: --slice and --p99 do not go with it");
	if (opt.is_uncategorised && (open_is_data(&opt.open)))
		cli_usage("--uncategorised has no JSON and no CSV");
	if (opt.fail_if.nr && !opt.is_compare)
		cli_usage("--fail-if goes with --compare");
	if (opt.is_compare && opt.open.inputs.nr)
		cli_usage("--compare takes its recordings as arguments, not with -i");
}

/* Predicts latencies for --what-if, instead of explaining causes. */
static int what_if(void)
{
	struct whatif_show show = {
		.expressions = &opt.what_if, .class = opt.class,
		.nr_requests = opt.has_top ? opt.top : TOP_TEXT,
	};

	if (opt.has_req || opt.has_slowest || opt.has_slice || opt.is_p99 || opt.has_shares ||
	    opt.is_compare || opt.slices || opt.is_uncategorised || is_page() ||
	    picture() != NR_PICTURES)
		cli_usage("--what-if is a report of its own: it goes with --class, --from, --to, --top, "
			  "--json and --csv");
	return whatif_show(&opt.open, &show);
}

static void check_usage(void)
{
	if (opt.has_req + opt.has_slowest + opt.has_slice + opt.is_p99 > 1)
		cli_usage("--req, --slowest, --slice and --p99: give one");
	if (opt.has_shared && (!opt.open.is_csv || opt.has_shares))
		cli_usage("--shared goes with --csv, without --shares: JSON has what slow requests share, and text, too");
	if (opt.has_shares && !open_is_data(&opt.open))
		cli_usage("--shares goes with --json or --csv");
	check_pictures();
	check_compare();
}

/*
 * Returns true if the recording contains no requests at all.  That is not known if only a class or
 * a range of time was read (see build_for()), or if a part of the trace is damaged.  It also
 * returns false for recordings of kernel events only, which say_none() handles.
 */
static bool is_untagged(const struct opened *o, const struct partition *p)
{
	bool is_part = open_has_range(&opt.open) ||
		       (opt.class && (opt.slices || opt.is_uncategorised));

	return !p->nr_requests && !p->nr_incomplete && !is_part && !o->model->is_kernel_only &&
	       !reader_is_damaged(o->reader);
}

static bool say_none(const struct render *r)
{
	if (opt.has_req) {
		cli_error("no request %" PRIu64 " ended in this recording: ldb-report --requests lists "
			  "the slowest", opt.req);
		return false;
	}
	if (open_is_data(&opt.open))
		return true;
	if (opt.class || open_has_range(&opt.open))
		open_say_empty(r, "no request matches: ldb-report --requests lists the classes");
	else
		open_say_empty(r, "no request ended in this recording");
	return true;
}

/* Shows a picture, or a page with all of them.  Returns false on failure, after printing why. */
static bool show_picture(const struct opened *o, const struct why *why, const struct traits *traits,
			 const struct why_options *wo)
{
	const char *cmdline = reader_meta(o->reader, "cmdline");
	const struct why_page_options page = {
		.title = cmdline && *cmdline ? cmdline : "a recording", .why = wo,
		.traits = traits,
	};
	int ret = is_page() ? why_page(why, &page, o->render.out) :
		  picture_show(&o->render, picture(), opt.is_folded ? PICTURE_FOLDED : opt.is_sums ? PICTURE_SUMS : 0,
			       why);

	if (ret == -ENOMEM)
		open_fail_memory();
	if (ret)
		cli_error("a temporary file failed: %s (TMPDIR says where they are)", strerror(-ret));
	return !ret;
}

static bool show(const struct opened *o, const struct partition *p, const struct why_options *wo)
{
	struct render_why shown;
	struct traits traits;
	struct why why;
	bool found = true, has_rows;

	if (why_build(p, wo, &why) || traits_build(o->model, &why, &traits))
		open_fail_memory();
	shown = (struct render_why){
		.model = o->model, .why = &why, .options = wo, .traits = &traits,
		.nr_causes = opt.has_top ? opt.top : open_is_data(&opt.open) ? SIZE_MAX : TOP_TEXT,
		.nr_requests = opt.has_top ? opt.top :
			       open_is_data(&opt.open) ? SIZE_MAX : REQUESTS_TEXT,
	};
	if (!why.nr_targets && (opt.has_req || !is_page()))
		found = say_none(&o->render);
	has_rows = why.nr_targets || open_is_data(&opt.open);
	if (found && (is_page() || (picture() != NR_PICTURES && has_rows)))
		found = show_picture(o, &why, &traits, wo);
	else if (found && has_rows)
		render_show(&o->render, opt.has_shared ? &why_shared_printer : opt.has_shares || (opt.has_req && opt.open.is_json) ?
			    &why_shares_printer : &why_printer, &shown);
	traits_free(&traits);
	why_free(&why);
	return found;
}

/* Builds the partition.  wo: NULL for all requests, or the options that select some. */
static void build_for(const struct opened *o, struct partition *p, struct why_options *wo)
{
	struct partition_options po = {
		.from = open_from(&opt.open, o->model),
		.to = open_to(&opt.open, o->model),
		/*
		 * A slow request may have waited for requests of other classes, so all classes are
		 * read.
		 */
		.class = wo ? NULL : opt.class, .select = wo ? why_select : NULL, .select_arg = wo,
	};
	int ret = partition_build(o->model, &po, p);

	if (ret == -ENOMEM)
		open_fail_memory();
	if (ret) {
		cli_error("a temporary file failed: %s (TMPDIR says where they are)", strerror(-ret));
		exit(CLI_FAILURE);
	}
}

static void build(const struct opened *o, struct partition *p)
{
	build_for(o, p, NULL);
}

static struct compare_options compare_options(struct categories *categories)
{
	struct compare_options o = {
		.target = { 0, 100 }, .fail_if = &opt.fail_if, .categories = categories, .build = build,
		.nr_shown = opt.has_top ? opt.top : PARTS_TEXT,
	};

	if (opt.is_p99 || opt.has_slice) {
		struct why_options slice = why_options(NULL);

		o.target = (struct compare_slice){ slice.target_lo, slice.target_hi };
	}
	o.reference = o.target;
	if (opt.slices)
		compare_parse_slices(opt.slices, &o);
	return o;
}

static void say_untagged(const struct opened *o)
{
	char why[UNTAGGED_TEXT];

	cli_error("%s", untagged_why(o, why));
	untagged_say(o, "");
}

int main(int argc, char **argv)
{
	int first = cli_parse(&tool, argc, argv), status;
	struct compare_options co;
	struct why_options wo;
	struct categories *categories;
	struct partition partition;
	struct opened o;
	char err[512];
	bool found = false;

	check_usage();
	if (!opt.is_compare)
		open_files(&opt.open, argc, argv, first);
	if (opt.is_compare && argc - first != 2)
		cli_usage("--compare takes two recordings: BEFORE AFTER");
	if (opt.what_if.nr)
		return what_if();
	categories = categories_open(opt.categories, err, sizeof(err));
	if (!categories) {
		cli_error("%s", err);
		return CLI_FAILURE;
	}
	co = compare_options(categories);
	if (opt.is_compare) {
		status = compare_files(&opt.open, argv[first], argv[first + 1], &co);
		categories_close(categories);
		return status;
	}
	wo = why_options(categories);
	open_trace(&o, &opt.open);
	if (!open_req(o.model, &opt.req_part, &opt.req)) {
		categories_close(categories);
		return open_finish(&o, false, true);
	}
	wo.id = opt.req;
	build_for(&o, &partition, opt.slices || opt.is_uncategorised ? NULL : &wo);
	if (is_untagged(&o, &partition))
		say_untagged(&o);
	else if (opt.slices)
		found = compare_slices(&o, &partition, &co);
	else if (opt.is_uncategorised)
		found = text_uncategorised(&o.render, &partition, categories, opt.has_top ? opt.top : TOP_TEXT);
	else
		found = show(&o, &partition, &wo);
	partition_free(&partition);
	categories_close(categories);
	return open_finish(&o, found, true);
}
