// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects the data described in why.h, and writes the page of ldb-why. */
#include <stdlib.h>

#include "page/why-private.h"
#include "render/chain.h"
#include "render/pictures.h"
#include "render/samples.h"
#include "render/traits.h"
#include "render/why.h"

static const char *const assets[] = {
	"report.css", "why.css", "vendor/NOTICE.js", "vendor/d3-dispatch.min.js", "vendor/d3-ease.min.js",
	"vendor/d3-array.min.js", "vendor/d3-color.min.js", "vendor/d3-interpolate.min.js",
	"vendor/d3-timer.min.js", "vendor/d3-hierarchy.min.js", "vendor/d3-format.min.js",
	"vendor/d3-scale.min.js", "vendor/d3-selection.min.js", "vendor/d3-transition.min.js",
	"vendor/d3-flamegraph.umd.min.js", "report-table.js", "why-data.js", "why-plot.js", "why-balloons.js",
	"why-boxes.js", "why-queues.js", "why-cpus.js", "why-flame.js", "why-instance.js", "why.js", NULL
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The documents */

struct shown {
	const struct why *why;
	const struct why_page_options *options;
};

static const struct shown *shown_of(const struct row *row)
{
	return row_report(row);
}

static const struct why *why_of(const struct row *row)
{
	return shown_of(row)->why;
}

#define ROW struct why_cause
GET(get_text, text, picture_cause(why_of(row), e, buf))
GET(get_sentence, text, why_cause_sentence(why_of(row), e, buf))
GET(get_advice, text, why_cause_advice(e, buf))
GET(get_path, text, path_text(why_of(row)->p, e->path, buf, COLUMN_ROOM))
GET(get_group, text, boxes_group(e))
FROM(cause_chain, (struct rows){ .at = e->chain, .nr = 1 })
GET(get_inside, text, samples_say(why_of(row)->p->m, &e->split, buf))
WHEN(if_call, *e->call)
WHEN(if_inside, e->split.nr_samples)

static const struct column cause_columns[] = {
	MADE("text", get_text), MADE("sentence", get_sentence), SELF(NULL, why_cause_columns),
	SAME(call, .when = if_call),
	MADE("path", get_path), MADE("group", get_group), MADE("inside", get_inside, .when = if_inside),
	SAME(category), MADE("advice", get_advice), SAME(has_faults), COLUMN("requests", nr_requests),
	COLUMN("first", nr_first), SAME(median_ns), SAME(total_ns), SAME(reference_ns),
	PART_AT(NULL, cause_chain, chain_columns), { 0 }
};
#undef ROW

/* Writes sentences, chains and roots of the slowest targets, in the targets' order. */
#define ROW struct why_target
GET(get_target_sentence, text, why_target_sentence(why_of(row), e, buf))
GET(get_root, text, link_kind_name(e->root))
FROM(target_chain, (struct rows){ .at = e->chain, .nr = 1 })

static const struct column target_columns[] = {
	MADE("sentence", get_target_sentence), MADE("root", get_root), SAME(root_label),
	PART_AT(NULL, target_chain, chain_columns), { 0 }
};
#undef ROW

#define ROW struct why_options
GET(get_against, text, shown_of(row)->options->against_title)

static const struct column options_columns[] = {
	SAME(target_lo), SAME(target_hi), SAME(reference_lo), SAME(reference_hi), SAME(has_id),
	COLUMN("slowest", nr_slowest), SAME(explain), MADE("against", get_against), { 0 }
};
#undef ROW

#define ROW struct why
GET(get_duration, i64, e->p->m->duration_ns)
FROM(chains, rows_of(e->targets, least(e->nr_targets, WHY_PAGE_CHAINS)))

static const struct column sums_columns[] = {
	MADE("duration_ns", get_duration), VIA("requests", p, nr_requests),
	COLUMN("targets", nr_targets), { 0 }
};

static const struct column coverage_columns[] = {
	COLUMN("min", coverage_min), COLUMN("median", coverage_median), SAME(unknown),
	COLUMN("chains", nr_chains), { 0 }
};

static const struct column rest_columns[] = {
	SELF("coverage", coverage_columns), VIA("incomplete", p, nr_incomplete),
	VIA("lost_handoffs", p, nr_lost_handoffs), VIA("losses", p, nr_losses),
	VIA("has_sched", p, has_sched), VIA("has_faults", p, has_faults), VIA("has_irqs", p, has_irqs),
	SELF(NULL, why_classes_columns), NESTED("causes", causes, nr_causes, cause_columns),
	NESTED_AT("chains", chains, target_columns), { 0 }
};
#undef ROW

#define ROW struct shown
GET(get_version, text, LDB_VERSION)
FROM(why, rows_one(e->why))
FROM(options, rows_one(e->options->why))
FROM(traits, rows_one(e->options->traits))

static const struct column shown_columns[] = {
	VIA("title", options, title), MADE("version", get_version), PART_AT(NULL, why, sums_columns),
	PART_AT("options", options, options_columns), PART_AT(NULL, why, rest_columns),
	PART_AT("shared", traits, traits_columns), { 0 }
};
#undef ROW

struct built {
	struct boxes boxes;
	struct queues queues;
	struct cpus cpus;
	struct blametree blame;
	struct balloons balloons;
};

static int build(const struct why *w, const struct why_page_options *o, struct built *b)
{
	int ret = boxes_build(w, &b->boxes);

	if (!ret)
		ret = queues_build(w, &b->queues);
	if (!ret)
		ret = cpus_build(w, &b->cpus);
	if (!ret)
		ret = blametree_build(w, &b->blame);
	return ret ? ret : balloons_build(w, WHY_PAGE_BINS, &b->balloons);
}

static void free_built(struct built *b)
{
	boxes_free(&b->boxes);
	queues_free(&b->queues);
	cpus_free(&b->cpus);
	blametree_free(&b->blame);
	balloons_free(&b->balloons);
}

static void write_document(struct page *p, const struct why *w, const struct why_page_options *o,
			   const struct built *b)
{
	struct render_summary summary = { .model = w->p->m };
	struct json *j = page_json_begin(p, "why");

	relation_json(j, shown_columns, &(struct shown){ w, o });
	picture_put_json(j, PICTURE_BOXES, w, &b->boxes);
	picture_put_json(j, PICTURE_QUEUES, w, &b->queues);
	picture_put_json(j, PICTURE_CPUS, w, &b->cpus);
	picture_put_json(j, PICTURE_BLAME, w, &b->blame);
	page_put_states(j);
	relation_object(j, "summary", summary_printer.columns, &summary);
	page_json_end(p);
}

/* The columns */

static int write_targets(struct page *p, const struct why *w)
{
	size_t nr = least(w->nr_targets, WHY_PAGE_TARGETS);
	struct store s;

	store_init(&s, "number id_low id_high class start latency deviation unknown coverage ahead"
		       " resolution amounts");
	for (const struct why_target *t = w->targets; t < w->targets + nr; t++) {
		const struct request *r = t->request;

		store_add(&s, (int64_t[]){
			r - w->p->requests, r->id & UINT32_MAX, r->id >> 32, r->class, r->start_ns,
			r->latency_ns, t->deviation_ns, t->unknown_ns, t->coverage * 1e6 + 0.5,
			r->nr_ahead, r->resolution_ns, t->nr_amounts });
	}
	return store_finish(&s, p, "targets");
}

static int write_amounts(struct page *p, const struct why *w)
{
	size_t nr = least(w->nr_targets, WHY_PAGE_TARGETS);
	struct store s;

	store_init(&s, "cause ns more");
	for (const struct why_target *t = w->targets; t < w->targets + nr; t++)
		for (const struct why_amount *a = t->amounts; a < t->amounts + t->nr_amounts; a++)
			store_add(&s, (int64_t[]){ a->cause, a->ns, a->nr_more });
	return store_finish(&s, p, "amounts");
}

static int write_bins(struct page *p, const struct balloons *b)
{
	struct store s;

	store_init(&s, "first count min median max");
	for (const struct balloon_bin *bin = b->bins; bin < b->bins + b->nr_bins; bin++)
		store_add(&s, (int64_t[]){ bin->first, bin->nr, bin->min_ns, bin->median_ns, bin->max_ns });
	return store_finish(&s, p, "bins");
}

int why_page(const struct why *w, const struct why_page_options *o, FILE *out)
{
	struct page_options options = { .title = o->title, .assets = assets };
	struct built b = { 0 };
	struct page p;
	int ret = build(w, o, &b);

	if (!ret) {
		page_begin(&p, out, &options);
		write_document(&p, w, o, &b);
		ret = write_targets(&p, w);
		if (!ret)
			ret = write_amounts(&p, w);
		if (!ret)
			ret = write_bins(&p, &b.balloons);
		if (!ret)
			ret = why_instances_write(w, &p);
		page_end(&p);
	}
	free_built(&b);
	return ret;
}
