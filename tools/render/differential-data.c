// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The additive difference between two sets of requests as JSON and CSV, and conditions as
 * sentences.  Keys are a promise: see cli/document.h.
 */
#include <string.h>

#include "cli/csv.h"
#include "cli/document.h"
#include "cli/units.h"
#include "render/differential.h"
#include "render/text.h"

/* The same range as a part of a change. */
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
		 g->is_coarse ? "; of so few requests it is the greatest" : "");
	return buf;
}

static void put_interval(struct json *j, const struct differential_interval *i)
{
	if (i->is_known) {
		json_i64(j, "gap_lo_ns", i->lo_ns);
		json_i64(j, "gap_hi_ns", i->hi_ns);
	} else {
		json_null(j, "gap_lo_ns");
		json_null(j, "gap_hi_ns");
	}
}

static void put_slice(struct json *j, const char *key, const struct differential_slice *s)
{
	json_flat(j);
	json_object_begin(j, key);
	json_double(j, "lo", s->lo);
	json_double(j, "hi", s->hi);
	json_u64(j, "requests", s->nr);
	json_u64(j, "of", s->nr_class);
	json_i64(j, "mean_ns", s->mean_ns);
	json_i64(j, "lo_ns", s->lo_ns);
	json_i64(j, "hi_ns", s->hi_ns);
	json_object_end(j);
}

#define DEPTH_MAX	128

static void put_path(struct json *j, const struct leafkeys *keys, uint32_t path)
{
	uint32_t at[DEPTH_MAX];
	size_t nr = 0;

	for (; path && nr < DEPTH_MAX; path = keys->paths[path].parent)
		at[nr++] = path;
	json_array_begin(j, "path");
	while (nr-- > 0)
		json_string(j, NULL, path_name(keys->paths[at[nr]].p, keys->paths[at[nr]].path));
	json_array_end(j);
}

static void put_leaves(struct json *j, const struct differential *d,
		       const struct differential_part *p)
{
	json_array_begin(j, "paths");
	for (size_t i = p->first; i < p->first + p->nr; i++) {
		const struct differential_leaf *leaf = &d->leaves[i];

		json_flat(j);
		json_object_begin(j, NULL);
		put_path(j, &d->keys, d->keys.leaves[leaf->key].path);
		json_i64(j, "gap_ns", leaf->target_ns - leaf->reference_ns);
		json_i64(j, "target_ns", leaf->target_ns);
		json_i64(j, "reference_ns", leaf->reference_ns);
		json_double(j, "target_nr", leaf->target_nr);
		json_double(j, "reference_nr", leaf->reference_nr);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_part(struct json *j, const struct differential *d, const struct differential_part *p)
{
	json_object_begin(j, NULL);
	json_string(j, "cause", leaf_kind_name(p->kind));
	json_string(j, "label", p->label);
	json_string(j, "where", p->where);
	json_string(j, "category", p->category);
	json_string(j, "advice", p->advice);
	json_i64(j, "gap_ns", differential_gap(p));
	put_interval(j, &p->gap);
	json_i64(j, "target_ns", p->target_ns);
	json_i64(j, "reference_ns", p->reference_ns);
	json_double(j, "target_nr", p->target_nr);
	json_double(j, "reference_nr", p->reference_nr);
	json_double(j, "share", p->share);
	put_leaves(j, d, p);
	json_object_end(j);
}

static void put_class(struct json *j, const struct differential *d)
{
	json_object_begin(j, NULL);
	json_string(j, "class", d->class);
	put_slice(j, "target", &d->target);
	put_slice(j, "reference", &d->reference);
	json_i64(j, "gap_ns", d->target.mean_ns - d->reference.mean_ns);
	put_interval(j, &d->gap);
	json_array_begin(j, "parts");
	for (size_t i = 0; i < d->nr_parts; i++)
		put_part(j, d, &d->parts[i]);
	json_array_end(j);
	json_object_end(j);
}

static void put_gate(struct json *j, const struct gate_result *g)
{
	char sentence[GATE_SENTENCE_MAX];

	json_object_begin(j, NULL);
	json_string(j, "condition", g->gate->text);
	json_string(j, "class", g->class);
	json_string(j, "metric", g->gate->metric_name);
	json_u64(j, "before_requests", g->nr_before);
	json_u64(j, "after_requests", g->nr_after);
	json_i64(j, "before_ns", g->before_ns);
	json_i64(j, "after_ns", g->after_ns);
	json_i64(j, "change_ns", g->after_ns - g->before_ns);
	json_i64(j, "change_lo_ns", g->change_lo_ns);
	json_i64(j, "change_hi_ns", g->change_hi_ns);
	json_bool(j, "over", g->is_over);
	json_bool(j, "certain", g->is_certain);
	json_bool(j, "coarse", g->is_coarse);
	json_bool(j, "failed", g->holds);
	json_string(j, "sentence", gate_sentence(g, sentence));
	json_object_end(j);
}

static void put_names(struct json *j, const char *key, const char *const *names, size_t nr)
{
	json_flat(j);
	json_array_begin(j, key);
	for (size_t i = 0; i < nr; i++)
		json_string(j, NULL, names[i]);
	json_array_end(j);
}

static void put_recording(struct json *j, const char *key, const char *file, const struct model *m)
{
	const struct render_summary summary = { .model = m };

	json_object_begin(j, key);
	json_string(j, "file", file);
	json_put_summary(j, "summary", &summary);
	json_object_end(j);
}

void json_differential(const struct render *r, const struct render_differential *rd)
{
	struct json j;

	json_init(&j, r->out);
	document_begin(&j, DOCUMENT_WHY_DIFFERENTIAL);
	json_string(&j, "mode", rd->is_compare ? "runs" : "slices");
	put_recording(&j, "target", rd->target_file, rd->target_model);
	if (rd->is_compare)
		put_recording(&j, "reference", rd->reference_file, rd->reference_model);
	json_u64(&j, "resamples", rd->nr ? rd->of[0].nr_resamples : 0);
	json_double(&j, "confidence", 0.95);
	json_array_begin(&j, "classes");
	for (size_t i = 0; i < rd->nr; i++)
		put_class(&j, &rd->of[i]);
	json_array_end(&j);
	put_names(&j, "only_target", rd->only_target, rd->nr_only_target);
	put_names(&j, "only_reference", rd->only_reference, rd->nr_only_reference);
	json_array_begin(&j, "fail_if");
	for (size_t i = 0; i < rd->nr_gates; i++)
		put_gate(&j, &rd->gates[i]);
	json_array_end(&j);
	json_object_end(&j);
	json_end(&j);
}

static void csv_interval(struct csv *c, const struct differential_interval *i)
{
	if (i->is_known) {
		csv_i64(c, i->lo_ns);
		csv_i64(c, i->hi_ns);
	} else {
		csv_string(c, NULL);
		csv_string(c, NULL);
	}
}

static void csv_part(struct csv *c, const struct differential *d, const struct differential_part *p)
{
	csv_string(c, d->class);
	csv_string(c, leaf_kind_name(p->kind));
	csv_string(c, p->label);
	csv_string(c, p->where);
	csv_string(c, p->category);
	csv_i64(c, differential_gap(p));
	csv_interval(c, &p->gap);
	csv_i64(c, p->target_ns);
	csv_i64(c, p->reference_ns);
	csv_double(c, p->target_nr);
	csv_double(c, p->reference_nr);
	csv_double(c, p->share);
	csv_row_end(c);
}

void csv_differential(const struct render *r, const struct render_differential *rd)
{
	static const char *const heads[] = {
		"class", "cause", "label", "where", "category", "gap_ns", "gap_lo_ns", "gap_hi_ns",
		"target_ns", "reference_ns", "target_nr", "reference_nr", "share",
	};
	struct csv c;

	csv_init(&c, r->out);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		csv_string(&c, heads[i]);
	csv_row_end(&c);
	for (size_t i = 0; i < rd->nr; i++)
		for (size_t k = 0; k < rd->of[i].nr_parts; k++)
			csv_part(&c, &rd->of[i], &rd->of[i].parts[k]);
}
