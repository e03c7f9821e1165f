// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints causes of slow requests as JSON and CSV.  The keys must not change: see cli/document.h. */
#include "facts/lockset.h"
#include "render/chain.h"
#include "render/columns.h"
#include "render/samples.h"
#include "render/traits.h"
#include "render/why.h"

static const struct render_why *report_of(const struct row *row)
{
	return row_report(row);
}

static const struct why *why_of(const struct row *row)
{
	return report_of(row)->why;
}

/* Returns the nth function of a path, from the outermost one; NULL after the last. */
static const char *path_word(const struct partition *p, uint32_t path, size_t n)
{
	uint32_t depth = p->paths[path].depth;

	for (; depth > n + 1; depth--)
		path = p->paths[path].parent;
	return n < depth ? path_name(p, path) : NULL;
}

/* Classes */

#define ROW struct why_class
static const struct column class_columns[] = {
	COLUMN("class", name), COLUMN("requests", nr), COLUMN("reference", nr_reference),
	COLUMN("targets", nr_targets), SAME(reference_ns), SAME(reference_lo_ns),
	SAME(reference_hi_ns), SAME(target_lo_ns), SAME(target_hi_ns), { 0 }
};
#undef ROW

#define ROW struct why
FROM(classes, rows_of(e->classes, e->p->nr_classes))

const struct column why_classes_columns[] = {
	NESTED_AT("classes", classes, class_columns), { 0 }
};
#undef ROW

/* Causes */

#define ROW struct why_cause
GET(get_cause, text, why_cause_name(e))
GET(get_anomaly, text, anomaly_name(e->anomaly))
GET(get_lock_kind, text, lock_kind_name(e->lock_kind))
WHEN(if_call, *e->call)
WHEN(if_lock, e->kind == LEAF_LOCK)
GET(get_sentence, text, why_cause_sentence(why_of(row), e, buf))
GET(get_advice, text, why_cause_advice(e, buf))

static const char *cause_path(const struct row *row, size_t n)
{
	return path_word(why_of(row)->p, ((const ROW *)row->at)->path, n);
}

FROM(cause_chain, (struct rows){ .at = e->chain, .nr = 1 })
FROM(split, samples_rows(&e->split))

const struct column why_cause_columns[] = {
	MADE("cause", get_cause), MADE("anomaly", get_anomaly), SAME(label), { 0 }
};

static const struct column cause_columns[] = {
	SELF(NULL, why_cause_columns),
	MADE("lock_kind", get_lock_kind, .form = COLUMN_ONLY_JSON, .when = if_lock),
	SAME(call, .form = COLUMN_ONLY_JSON, .when = if_call),
	WORDS("path", cause_path), SAME(category), MADE("advice", get_advice),
	COLUMN("requests", nr_requests), COLUMN("first", nr_first), SAME(median_ns), SAME(total_ns),
	SAME(reference_ns), SAME(has_faults), PART_AT("samples", split, samples_columns),
	PART_AT(NULL, cause_chain, chain_columns),
	MADE("sentence", get_sentence), { 0 }
};

/* Columns of a request's causes. */
static const struct column first_columns[] = {
	SELF(NULL, why_cause_columns), SAME(category), { 0 }
};
#undef ROW

/* The causes to which the time of a request is attributed */

#define ROW struct share
static const struct leaf *leaf_of(const struct row *row)
{
	return &why_of(row)->p->leaves[((const ROW *)row->at)->leaf];
}

static const char *share_path(const struct row *row, size_t n)
{
	return path_word(why_of(row)->p, leaf_of(row)->path, n);
}

GET(get_leaf_kind, text, leaf_kinds[leaf_of(row)->kind].name)
GET(get_leaf_label, text, leaf_of(row)->label)
GET(get_leaf_path, text, path_text(why_of(row)->p, leaf_of(row)->path, buf, COLUMN_ROOM))

static const struct column share_columns[] = {
	MADE("cause", get_leaf_kind), MADE("label", get_leaf_label), WORDS("path", share_path),
	MADE("path", get_leaf_path, .form = COLUMN_ONLY_CSV), SAME(ns), SAME(nr),
	COLUMN("faults", nr_faults), { 0 }
};
#undef ROW

/* The deviation of a request from the reference, by cause */

#define ROW struct why_amount
static const struct why_cause *cause_of(const struct row *row)
{
	return &why_of(row)->causes[((const ROW *)row->at)->cause];
}

static const struct why_target *target_of(const struct row *row)
{
	return row->in->at;
}

GET(get_rank, u64, row->nth + 1)
GET(get_amount_cause, text, why_cause_name(cause_of(row)))
GET(get_amount_label, text, cause_of(row)->label)
GET(get_amount_anomaly, text, anomaly_name(cause_of(row)->anomaly))
GET(get_root, text, row->nth ? "" : link_kind_name(target_of(row)->root))
GET(get_root_label, text, row->nth ? "" : target_of(row)->root_label)

FROM(amount_cause, rows_one(cause_of(row)))

static const struct column amount_columns[] = {
	MADE("rank", get_rank, .form = COLUMN_ONLY_CSV),
	PART_AT(NULL, amount_cause, first_columns, .form = COLUMN_ONLY_CSV),
	MADE("cause", get_amount_cause, .form = COLUMN_ONLY_JSON),
	MADE("label", get_amount_label, .form = COLUMN_ONLY_JSON),
	MADE("anomaly", get_amount_anomaly, .form = COLUMN_ONLY_JSON),
	SAME(ns), COLUMN("more", nr_more, .form = COLUMN_ONLY_JSON),
	MADE("root", get_root, .form = COLUMN_ONLY_CSV),
	MADE("root_label", get_root_label, .form = COLUMN_ONLY_CSV), { 0 }
};
#undef ROW

/* Slow requests */

#define ROW struct why_target
WHEN(if_estimate, e->request->latency_resolution_ns > 0)
GET(get_class, text, why_of(row)->classes[e->request->class].name)
GET(get_target_root, text, link_kind_name(e->root))
GET(get_target_sentence, text, why_target_sentence(why_of(row), e, buf))

FROM(first_target, rows_one(e->nr_amounts ? e : NULL))
FROM(first_cause, rows_one(&why_of(row)->causes[e->amounts[0].cause]))
FROM(target_chain, (struct rows){ .at = e->chain, .nr = 1 })

static struct rows shares(const struct row *row)
{
	const struct request *r = ((const ROW *)row->at)->request;

	return rows_of(why_of(row)->p->shares + r->first, r->nr_shares);
}

static const struct column root_columns[] = {
	PART_AT(NULL, first_cause, first_columns), MADE("root", get_target_root), SAME(root_label),
	{ 0 }
};

static const struct column id_columns[] = {
	VIA("req", request, id), MADE("class", get_class), VIA("start_ns", request, start_ns),
	VIA("latency_ns", request, latency_ns),
	VIA("latency_resolution_ns", request, latency_resolution_ns, .form = COLUMN_ONLY_JSON, .when = if_estimate),
	VIA("resolution_ns", request, resolution_ns, .form = COLUMN_ONLY_JSON),
	VIA("off_cpu_resolution_ns", request, off_resolution_ns, .form = COLUMN_ONLY_JSON),
	SAME(deviation_ns),
	{ 0 }
};

static const struct column rest_columns[] = {
	SAME(coverage), SAME(unknown_ns), COLUMN("unobserved_ns", unobserved_ns),
	VIA("ahead", request, nr_ahead),
	PART_AT("first", first_target, root_columns, .form = COLUMN_OR_NULL),
	MADE("sentence", get_target_sentence), { 0 }
};

static const struct column target_columns[] = {
	SELF(NULL, id_columns), SELF(NULL, rest_columns, .form = COLUMN_ONLY_JSON),
	NESTED("amounts", amounts, nr_amounts, amount_columns, .form = COLUMN_SPREAD),
	PART_AT(NULL, target_chain, chain_columns, .form = COLUMN_ONLY_JSON), { 0 }
};

static const struct column target_shares_columns[] = {
	SELF(NULL, id_columns), SELF(NULL, rest_columns, .form = COLUMN_ONLY_JSON),
	NESTED("amounts", amounts, nr_amounts, amount_columns),
	PART_AT(NULL, target_chain, chain_columns, .form = COLUMN_ONLY_JSON),
	NESTED_AT("shares", shares, share_columns, .form = COLUMN_SPREAD), { 0 }
};
#undef ROW

/* The report */

#define ROW struct why_options
static const struct column target_range[] = {
	COLUMN(NULL, target_lo), COLUMN(NULL, target_hi), { 0 }
};

static const struct column reference_range[] = {
	COLUMN(NULL, reference_lo), COLUMN(NULL, reference_hi), { 0 }
};

FROM(self, rows_one(row->at))

static const struct column options_columns[] = {
	NESTED_AT("target", self, target_range, .form = COLUMN_ONE_LINE),
	NESTED_AT("reference", self, reference_range, .form = COLUMN_ONE_LINE), SAME(explain),
	COLUMN("nsight_strict", is_strict), { 0 }
};
#undef ROW

#define ROW struct why
static const struct column coverage_columns[] = {
	COLUMN("min", coverage_min), COLUMN("median", coverage_median), SAME(unknown),
	COLUMN("unobserved", unobserved), { 0 }
};

static const struct column sums_columns[] = {
	SELF(NULL, why_classes_columns), VIA("incomplete", p, nr_incomplete),
	VIA("lost_handoffs", p, nr_lost_handoffs), COLUMN("targets", nr_targets),
	COLUMN("chains", nr_chains), SELF("coverage", coverage_columns), { 0 }
};
#undef ROW

#define ROW struct render_why
FROM(options, rows_one(e->options))
FROM(why, rows_one(e->why))
FROM(traits, rows_one(e->traits))
FROM(causes,
     rows_of(e->why->causes, e->why->nr_causes < e->nr_causes ? e->why->nr_causes : e->nr_causes))

static struct rows targets(const struct row *row)
{
	const ROW *r = row->at;

	return rows_of(r->why->targets,
		       r->why->nr_targets < r->nr_requests ? r->why->nr_targets : r->nr_requests);
}

static const struct column report_columns[] = {
	PART_AT("summary", model_rows, model_summary_columns, .form = COLUMN_TALL),
	PART_AT("options", options, options_columns, .form = COLUMN_TALL),
	PART_AT(NULL, why, sums_columns),
	NESTED_AT("causes", causes, cause_columns, .form = COLUMN_TALL),
	PART_AT("shared", traits, traits_columns, .form = COLUMN_TALL), { 0 }
};

const struct column why_columns[] = {
	SELF(NULL, report_columns, .form = COLUMN_ONLY_JSON),
	NESTED_AT("requests", targets, target_columns, .form = COLUMN_TALL | COLUMN_SPREAD), { 0 }
};

/* CSV of the traits that slow requests share. */
const struct column why_shared_columns[] = {
	SELF(NULL, report_columns, .form = COLUMN_ONLY_JSON),
	NESTED_AT("shared", traits, found_columns, .form = COLUMN_SPREAD | COLUMN_ONLY_CSV),
	NESTED_AT("requests", targets, target_columns, .form = COLUMN_TALL | COLUMN_ONLY_JSON), { 0 }
};

const struct column why_shares_columns[] = {
	SELF(NULL, report_columns, .form = COLUMN_ONLY_JSON),
	NESTED_AT("requests", targets, target_shares_columns, .form = COLUMN_TALL | COLUMN_SPREAD),
	{ 0 }
};
#undef ROW
