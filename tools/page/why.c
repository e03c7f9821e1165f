// SPDX-License-Identifier: GPL-2.0-or-later
/* The page of ldb-why: gathers what why.h says, and writes it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "page/why-private.h"
#include "render/pictures.h"
#include "render/text.h"
#include "render/why.h"

static const char *const assets[] = {
	"report.css", "why.css", "vendor/NOTICE.js", "vendor/d3-dispatch.min.js", "vendor/d3-ease.min.js",
	"vendor/d3-array.min.js", "vendor/d3-color.min.js", "vendor/d3-interpolate.min.js",
	"vendor/d3-timer.min.js", "vendor/d3-hierarchy.min.js", "vendor/d3-format.min.js",
	"vendor/d3-scale.min.js", "vendor/d3-selection.min.js", "vendor/d3-transition.min.js",
	"vendor/d3-flamegraph.umd.min.js", "report-table.js", "why-data.js", "why-plot.js", "why-balloons.js",
	"why-boxes.js", "why-queues.js", "why-cpus.js", "why-flame.js", "why-life.js", "why.js", NULL
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The documents */

static void put_cause(struct json *j, const struct why *w, const struct why_cause *c)
{
	char text[TEXT_ROOM], path[4096], sentence[WHY_SENTENCE_MAX];

	json_object_begin(j, NULL);
	json_string(j, "text", picture_cause(w, c, text));
	json_string(j, "sentence", why_cause_sentence(w, c, sentence));
	json_string(j, "cause", why_cause_name(c));
	json_string(j, "anomaly", anomaly_name(c->anomaly));
	json_string(j, "label", c->label);
	json_string(j, "path", path_text(w->p, c->path, path, sizeof(path)));
	json_string(j, "group", boxes_group(c));
	json_string(j, "category", c->category);
	json_string(j, "advice", c->advice);
	json_bool(j, "has_faults", c->has_faults);
	json_u64(j, "requests", c->nr_requests);
	json_u64(j, "first", c->nr_first);
	json_i64(j, "median_ns", c->median_ns);
	json_i64(j, "total_ns", c->total_ns);
	json_i64(j, "reference_ns", c->reference_ns);
	json_put_why_chain(j, c->chain);
	json_object_end(j);
}

static void put_options(struct json *j, const struct why_page_options *o)
{
	const struct why_options *w = o->why;

	json_object_begin(j, "options");
	json_double(j, "target_lo", w->target_lo);
	json_double(j, "target_hi", w->target_hi);
	json_double(j, "reference_lo", w->reference_lo);
	json_double(j, "reference_hi", w->reference_hi);
	json_bool(j, "has_id", w->has_id);
	json_u64(j, "slowest", w->nr_slowest);
	json_double(j, "explain", w->explain);
	json_string(j, "against", o->against_title);
	json_object_end(j);
}

static void put_quality(struct json *j, const struct why *w)
{
	const struct partition *p = w->p;

	json_object_begin(j, "coverage");
	json_double(j, "min", w->coverage_min);
	json_double(j, "median", w->coverage_median);
	json_double(j, "unknown", w->unknown);
	json_u64(j, "chains", w->nr_chains);
	json_object_end(j);
	json_u64(j, "incomplete", p->nr_incomplete);
	json_u64(j, "lost_handoffs", p->nr_lost_handoffs);
	json_u64(j, "losses", p->nr_losses);
	json_bool(j, "has_sched", p->has_sched);
	json_bool(j, "has_faults", p->has_faults);
	json_bool(j, "has_irqs", p->has_irqs);
}

/* Sentences, chains and roots of the slowest targets, in their order. */
static void put_chains(struct json *j, const struct why *w)
{
	char sentence[WHY_SENTENCE_MAX];

	json_array_begin(j, "chains");
	for (size_t i = 0; i < w->nr_targets && i < WHY_PAGE_CHAINS; i++) {
		json_object_begin(j, NULL);
		json_string(j, "sentence", why_target_sentence(w, &w->targets[i], sentence));
		json_string(j, "root", link_kind_name(w->targets[i].root));
		json_string(j, "root_label", w->targets[i].root_label);
		json_put_why_chain(j, w->targets[i].chain);
		json_object_end(j);
	}
	json_array_end(j);
}

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

	json_string(j, "title", o->title);
	json_string(j, "version", LDB_VERSION);
	json_i64(j, "duration_ns", w->p->m->duration_ns);
	json_u64(j, "requests", w->p->nr_requests);
	json_u64(j, "targets", w->nr_targets);
	put_options(j, o);
	put_quality(j, w);
	json_put_why_classes(j, w);
	json_array_begin(j, "causes");
	for (size_t i = 0; i < w->nr_causes; i++)
		put_cause(j, w, &w->causes[i]);
	json_array_end(j);
	put_chains(j, w);
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
			ret = why_lives_write(w, &p);
		page_end(&p);
	}
	free_built(&b);
	return ret;
}
