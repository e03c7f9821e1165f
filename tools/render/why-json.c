// SPDX-License-Identifier: GPL-2.0-or-later
/* Causes of slow requests as JSON.  Keys are a promise: see cli/document.h. */
#include "cli/document.h"
#include "render/why.h"

void json_put_why_chain(struct json *j, const struct why_chain *chain)
{
	json_array_begin(j, "chain");
	for (size_t i = 0; chain && i < chain->nr; i++) {
		const struct why_link *l = &chain->links[i];

		json_flat(j);
		json_object_begin(j, NULL);
		json_string(j, "kind", l->kind);
		json_string(j, "label", l->label);
		json_string(j, "file", l->file);
		json_u64(j, "tid", l->tid);
		json_string(j, "thread", l->thread);
		json_i64(j, "ns", l->ns);
		json_i64(j, "resolution_ns", l->resolution_ns);
		json_string(j, "source", edge_source_name(l->source));
		json_double(j, "confidence", l->confidence);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_path(struct json *j, const struct partition *p, uint32_t path)
{
	uint32_t at[128];
	size_t nr = 0;

	for (; path && nr < 128; path = p->paths[path].parent)
		at[nr++] = path;
	json_flat(j);
	json_array_begin(j, "path");
	while (nr-- > 0)
		json_string(j, NULL, path_name(p, at[nr]));
	json_array_end(j);
}

void json_put_why_classes(struct json *j, const struct why *w)
{
	json_array_begin(j, "classes");
	for (size_t i = 0; i < w->p->nr_classes; i++) {
		const struct why_class *c = &w->classes[i];

		json_flat(j);
		json_object_begin(j, NULL);
		json_string(j, "class", c->name);
		json_u64(j, "requests", c->nr);
		json_u64(j, "reference", c->nr_reference);
		json_u64(j, "targets", c->nr_targets);
		json_i64(j, "reference_ns", c->reference_ns);
		json_i64(j, "reference_lo_ns", c->reference_lo_ns);
		json_i64(j, "reference_hi_ns", c->reference_hi_ns);
		json_i64(j, "target_lo_ns", c->target_lo_ns);
		json_i64(j, "target_hi_ns", c->target_hi_ns);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_cause(struct json *j, const struct why *w, const struct why_cause *c)
{
	char sentence[WHY_SENTENCE_MAX];

	json_object_begin(j, NULL);
	json_string(j, "cause", why_cause_name(c));
	json_string(j, "anomaly", anomaly_name(c->anomaly));
	json_string(j, "label", c->label);
	put_path(j, w->p, c->path);
	json_string(j, "category", c->category);
	json_string(j, "advice", c->advice);
	json_u64(j, "requests", c->nr_requests);
	json_u64(j, "first", c->nr_first);
	json_i64(j, "median_ns", c->median_ns);
	json_i64(j, "total_ns", c->total_ns);
	json_i64(j, "reference_ns", c->reference_ns);
	json_bool(j, "has_faults", c->has_faults);
	json_put_why_chain(j, c->chain);
	json_string(j, "sentence", why_cause_sentence(w, c, sentence));
	json_object_end(j);
}

static void put_shares(struct json *j, const struct partition *p, const struct request *r)
{
	json_array_begin(j, "shares");
	for (uint32_t i = 0; i < r->nr_shares; i++) {
		const struct share *s = &p->shares[r->first + i];

		json_flat(j);
		json_object_begin(j, NULL);
		json_string(j, "cause", leaf_kind_name(p->leaves[s->leaf].kind));
		json_string(j, "label", p->leaves[s->leaf].label);
		put_path(j, p, p->leaves[s->leaf].path);
		json_i64(j, "ns", s->ns);
		json_u64(j, "nr", s->nr);
		json_u64(j, "faults", s->nr_faults);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_first(struct json *j, const struct why *w, const struct why_target *t)
{
	const struct why_cause *c;

	if (!t->nr_amounts) {
		json_null(j, "first");
		return;
	}
	c = &w->causes[t->amounts[0].cause];
	json_flat(j);
	json_object_begin(j, "first");
	json_string(j, "cause", why_cause_name(c));
	json_string(j, "anomaly", anomaly_name(c->anomaly));
	json_string(j, "label", c->label);
	json_string(j, "category", c->category);
	json_string(j, "root", t->root);
	json_string(j, "root_label", t->root_label);
	json_object_end(j);
}

static void put_amounts(struct json *j, const struct why *w, const struct why_target *t)
{
	json_array_begin(j, "amounts");
	for (size_t i = 0; i < t->nr_amounts; i++) {
		const struct why_cause *c = &w->causes[t->amounts[i].cause];

		json_flat(j);
		json_object_begin(j, NULL);
		json_string(j, "cause", why_cause_name(c));
		json_string(j, "label", c->label);
		json_string(j, "anomaly", anomaly_name(c->anomaly));
		json_i64(j, "ns", t->amounts[i].ns);
		json_u64(j, "more", t->amounts[i].nr_more);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_target(struct json *j, const struct render_why *rw, const struct why_target *t)
{
	const struct why *w = rw->why;
	char sentence[WHY_SENTENCE_MAX];

	json_object_begin(j, NULL);
	json_u64(j, "req", t->request->id);
	json_string(j, "class", w->classes[t->request->class].name);
	json_i64(j, "start_ns", t->request->start_ns);
	json_i64(j, "latency_ns", t->request->latency_ns);
	json_i64(j, "resolution_ns", t->request->resolution_ns);
	json_i64(j, "deviation_ns", t->deviation_ns);
	json_double(j, "coverage", t->coverage);
	json_i64(j, "unknown_ns", t->unknown_ns);
	json_i64(j, "not_watched_ns", t->unwatched_ns);
	json_u64(j, "ahead", t->request->nr_ahead);
	put_first(j, w, t);
	json_string(j, "sentence", why_target_sentence(w, t, sentence));
	put_amounts(j, w, t);
	json_put_why_chain(j, t->chain);
	if (rw->has_shares)
		put_shares(j, w->p, t->request);
	json_object_end(j);
}

static void put_range(struct json *j, const char *key, double lo, double hi)
{
	json_flat(j);
	json_array_begin(j, key);
	json_double(j, NULL, lo);
	json_double(j, NULL, hi);
	json_array_end(j);
}

static void put_options(struct json *j, const struct render_why *rw)
{
	const struct why_options *o = rw->options;

	json_object_begin(j, "options");
	put_range(j, "target", o->target_lo, o->target_hi);
	put_range(j, "reference", o->reference_lo, o->reference_hi);
	json_double(j, "explain", o->explain);
	json_bool(j, "nsight_strict", o->is_strict);
	json_object_end(j);
}

static void put_coverage(struct json *j, const struct why *w)
{
	json_flat(j);
	json_object_begin(j, "coverage");
	json_double(j, "min", w->coverage_min);
	json_double(j, "median", w->coverage_median);
	json_double(j, "unknown", w->unknown);
	json_double(j, "not_watched", w->unwatched);
	json_object_end(j);
}

void json_why(const struct render *r, const struct render_why *rw)
{
	const struct render_summary summary = { .model = rw->model };
	const struct why *w = rw->why;
	struct json j;

	json_init(&j, r->out);
	document_begin(&j, DOCUMENT_WHY);
	json_put_summary(&j, "summary", &summary);
	put_options(&j, rw);
	json_put_why_classes(&j, w);
	json_u64(&j, "incomplete", w->p->nr_incomplete);
	json_u64(&j, "lost_handoffs", w->p->nr_lost_handoffs);
	json_u64(&j, "targets", w->nr_targets);
	json_u64(&j, "chains", w->nr_chains);
	put_coverage(&j, w);
	json_array_begin(&j, "causes");
	for (size_t i = 0; i < w->nr_causes && i < rw->nr_causes; i++)
		put_cause(&j, w, &w->causes[i]);
	json_array_end(&j);
	json_array_begin(&j, "requests");
	for (size_t i = 0; i < w->nr_targets && i < rw->nr_requests; i++)
		put_target(&j, rw, &w->targets[i]);
	json_array_end(&j);
	json_object_end(&j);
	json_end(&j);
}
