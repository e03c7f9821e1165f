// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the additive difference between two sets of requests as JSON and CSV, and conditions as
 * sentences.  The keys must not change: see cli/document.h.
 */
#include <string.h>

#include "cli/units.h"
#include "render/columns.h"
#include "render/differential.h"
#include "render/text.h"

/* Writes the interval of a change. */
static void gate_range(const struct gate_result *g, char *buf, size_t size)
{
	char lo[UNITS_ROOM], hi[UNITS_ROOM];

	if (g->before_ns)
		snprintf(buf, size, "%+.1f %% to %+.1f %%", 100.0 * g->change_lo_ns / g->before_ns,
			 100.0 * g->change_hi_ns / g->before_ns);
	else
		snprintf(buf, size, "%s to %s", text_ns(g->change_lo_ns, lo),
			 text_ns(g->change_hi_ns, hi));
}

char *gate_sentence(const struct gate_result *g, char *buf)
{
	char before[UNITS_ROOM], after[UNITS_ROOM], range[96], name[TEXT_ROOM], change[32] = "";
	const char *why = g->holds ? "" : !g->is_over ? ", below the limit" :
			  ", over the limit, but that may be chance";

	gate_range(g, range, sizeof(range));
	if (g->before_ns)
		snprintf(change, sizeof(change), " (%+.1f %%)",
			 100.0 * (g->after_ns - g->before_ns) / g->before_ns);
	snprintf(buf, GATE_SENTENCE_MAX, "%s: --fail-if '%.80s': %.120s%s%s %s before, %s now%s, 95 %% "
		 "interval of the change %s%s%s", g->holds ? "FAILED" : "passed", g->gate->text,
		 text_clean(g->class, name), *g->class ? " " : "", g->gate->metric_name,
		 text_ns(g->before_ns, before), text_ns(g->after_ns, after), change, range, why,
		 g->is_coarse ? "; there are so few requests that it is the greatest latency" : "");
	return buf;
}

#define ROW struct differential_interval
GET(get_lo, i64_or_null, e->is_known, e->lo_ns)
GET(get_hi, i64_or_null, e->is_known, e->hi_ns)

static const struct column interval_columns[] = {
	MADE("difference_lo_ns", get_lo), MADE("difference_hi_ns", get_hi), { 0 }
};
#undef ROW

#define ROW struct differential_slice
static const struct column slice_columns[] = {
	SAME(lo), SAME(hi), COLUMN("requests", nr), COLUMN("of", nr_class), SAME(mean_ns),
	SAME(lo_ns), SAME(hi_ns), { 0 }
};
#undef ROW

#define ROW struct differential_leaf
GET(get_leaf_diff, i64, e->target_ns - e->reference_ns)

static const char *leaf_path(const struct row *row, size_t n)
{
	const struct differential_part *part = row->in->at;
	const struct differential *d = row->in->in->at;
	const struct leafkeys *keys = &d->keys;
	uint32_t path = keys->leaves[d->leaves[part->first + row->nth].key].path;
	uint32_t depth = keys->paths[path].depth;

	for (; depth > n + 1; depth--)
		path = keys->paths[path].parent;
	return n < depth ? path_name(keys->paths[path].p, keys->paths[path].path) : NULL;
}

static const struct column leaf_columns[] = {
	WORDS("path", leaf_path), MADE("difference_ns", get_leaf_diff), SAME(target_ns), SAME(reference_ns),
	SAME(target_nr), SAME(reference_nr), { 0 }
};
#undef ROW

#define ROW struct differential_part
GET(get_cause, text, leaf_kinds[e->kind].name)
GET(get_part_diff, i64, differential_ns(e))

static struct rows leaves(const struct row *row)
{
	const struct differential *d = row->in->at;
	const ROW *p = row->at;

	return rows_of(d->leaves + p->first, p->nr);
}

static const struct column part_columns[] = {
	MADE("cause", get_cause), SAME(label), SAME(where), SAME(category),
	SAME(advice, .form = COLUMN_ONLY_JSON), MADE("difference_ns", get_part_diff),
	PART(NULL, diff, interval_columns), SAME(target_ns), SAME(reference_ns), SAME(target_nr),
	SAME(reference_nr), SAME(share), NESTED_AT("paths", leaves, leaf_columns), { 0 }
};
#undef ROW

#define ROW struct differential
GET(get_diff, i64, e->target.mean_ns - e->reference.mean_ns)

static const struct column class_columns[] = {
	SAME(class), PART("target", target, slice_columns),
	PART("reference", reference, slice_columns),
	MADE("difference_ns", get_diff, .form = COLUMN_ONLY_JSON),
	PART(NULL, diff, interval_columns, .form = COLUMN_ONLY_JSON),
	NESTED("parts", parts, nr_parts, part_columns, .form = COLUMN_TALL | COLUMN_SPREAD), { 0 }
};
#undef ROW

#define ROW struct gate_result
GET(get_change, i64, e->after_ns - e->before_ns)
GET(get_sentence, text, gate_sentence(e, buf))

static const struct column gate_columns[] = {
	VIA("condition", gate, text), SAME(class), VIA("metric", gate, metric_name),
	COLUMN("before_requests", nr_before), COLUMN("after_requests", nr_after), SAME(before_ns),
	SAME(after_ns), MADE("change_ns", get_change), SAME(change_lo_ns), SAME(change_hi_ns),
	COLUMN("over", is_over), COLUMN("certain", is_certain), COLUMN("coarse", is_coarse),
	COLUMN("failed", holds), MADE("sentence", get_sentence), { 0 }
};
#undef ROW

#define ROW struct render_differential
FROM(target_model, rows_one(e->target_model))
FROM(reference_model, rows_one(e->reference_model))
FROM(if_compare, rows_one(e->is_compare ? row->at : NULL))

static const char *target_word(const struct row *row, size_t n)
{
	const ROW *d = row->at;

	return n < d->nr_only_target ? d->only_target[n] : NULL;
}

static const char *reference_word(const struct row *row, size_t n)
{
	const ROW *d = row->at;

	return n < d->nr_only_reference ? d->only_reference[n] : NULL;
}

GET(get_mode, text, e->is_compare ? "runs" : "slices")
GET(get_resamples, u64, e->nr ? e->of[0].nr_resamples : 0)
GET(get_confidence, double, 0.95)

static const struct column target_columns[] = {
	COLUMN("file", target_file),
	PART_AT("summary", target_model, model_summary_columns, .form = COLUMN_TALL), { 0 }
};

static const struct column reference_columns[] = {
	COLUMN("file", reference_file),
	PART_AT("summary", reference_model, model_summary_columns, .form = COLUMN_TALL), { 0 }
};

static const struct column head_columns[] = {
	MADE("mode", get_mode), SELF("target", target_columns, .form = COLUMN_TALL),
	PART_AT("reference", if_compare, reference_columns, .form = COLUMN_TALL),
	MADE("resamples", get_resamples), MADE("confidence", get_confidence), { 0 }
};

/* CSV has a row for each class and part. */
const struct column differential_columns[] = {
	SELF(NULL, head_columns, .form = COLUMN_ONLY_JSON),
	NESTED("classes", of, nr, class_columns, .form = COLUMN_TALL | COLUMN_SPREAD),
	WORDS("only_target", target_word), WORDS("only_reference", reference_word),
	NESTED("fail_if", gates, nr_gates, gate_columns, .form = COLUMN_TALL), { 0 }
};
#undef ROW
