// SPDX-License-Identifier: GPL-2.0-or-later
/* Pictures for programs: JSON, CSV, folded stacks; see pictures.h. */
#include <inttypes.h>
#include <string.h>

#include "cli/csv.h"
#include "render/pictures.h"
#include "render/text.h"
#include "render/why.h"

#define PATH_ROOM	4096

static void json_box(struct json *j, const char *key, const struct box *b, const char *suffix)
{
	static const char *const names[] = { "min", "q1", "median", "q3", "max", "total" };
	const int64_t values[] = { b->min, b->q1, b->median, b->q3, b->max, b->total };
	char name[32];

	json_flat(j);
	json_object_begin(j, key);
	json_u64(j, "count", b->nr);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", names[i], suffix);
		json_i64(j, name, values[i]);
	}
	json_object_end(j);
}

static void csv_box(struct csv *c, const struct box *b)
{
	csv_u64(c, b->nr);
	csv_i64(c, b->min);
	csv_i64(c, b->q1);
	csv_i64(c, b->median);
	csv_i64(c, b->q3);
	csv_i64(c, b->max);
	csv_i64(c, b->total);
}

static void csv_heads(struct csv *c, const char *const *names)
{
	for (; *names; names++)
		csv_string(c, *names);
	csv_row_end(c);
}

static const char *class_of(const struct why *w, const struct why_target *t)
{
	return w->p->classes[t->request->class];
}

/* Balloons */

static void json_balloon(struct json *j, const struct why *w, const struct balloon *b)
{
	const struct why_target *t = &w->targets[b->target];

	json_flat(j);
	json_object_begin(j, NULL);
	json_u64(j, "number", b->number);
	json_u64(j, "req", t->request->id);
	json_string(j, "class", class_of(w, t));
	json_i64(j, "start_ns", t->request->start_ns);
	json_i64(j, "latency_ns", t->request->latency_ns);
	json_i64(j, "deviation_ns", t->deviation_ns);
	json_array_begin(j, "causes");
	for (size_t k = 0; k < t->nr_amounts && k < BALLOON_CAUSES; k++) {
		json_object_begin(j, NULL);
		json_u64(j, "cause", t->amounts[k].cause);
		json_i64(j, "ns", t->amounts[k].ns);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

void json_put_balloons(struct json *j, const char *key, const struct why *w, const struct balloons *b)
{
	json_object_begin(j, key);
	json_u64(j, "requests", b->nr_requests);
	json_array_begin(j, "targets");
	for (size_t i = 0; i < b->nr; i++)
		json_balloon(j, w, &b->at[i]);
	json_array_end(j);
	json_array_begin(j, "bins");
	for (size_t i = 0; i < b->nr_bins; i++) {
		json_flat(j);
		json_object_begin(j, NULL);
		json_u64(j, "first", b->bins[i].first);
		json_u64(j, "count", b->bins[i].nr);
		json_i64(j, "min_ns", b->bins[i].min_ns);
		json_i64(j, "median_ns", b->bins[i].median_ns);
		json_i64(j, "max_ns", b->bins[i].max_ns);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

void csv_balloons(const struct render *r, const struct why *w, const struct balloons *b)
{
	static const char *const names[] = {
		"number", "req", "class", "start_ns", "latency_ns", "deviation_ns", "rank", "cause",
		"anomaly", "label", "ns", NULL
	};
	struct csv c;

	csv_init(&c, r->out);
	csv_heads(&c, names);
	for (size_t i = 0; i < b->nr; i++) {
		const struct why_target *t = &w->targets[b->at[i].target];

		for (size_t k = 0; k < t->nr_amounts && k < BALLOON_CAUSES; k++) {
			const struct why_cause *cause = &w->causes[t->amounts[k].cause];

			csv_u64(&c, b->at[i].number);
			csv_u64(&c, t->request->id);
			csv_string(&c, class_of(w, t));
			csv_i64(&c, t->request->start_ns);
			csv_i64(&c, t->request->latency_ns);
			csv_i64(&c, t->deviation_ns);
			csv_u64(&c, k + 1);
			csv_string(&c, why_cause_name(cause));
			csv_string(&c, anomaly_name(cause->anomaly));
			csv_string(&c, cause->label);
			csv_i64(&c, t->amounts[k].ns);
			csv_row_end(&c);
		}
	}
}

/* Boxes */

void json_put_boxes(struct json *j, const char *key, const struct why *w, const struct boxes *b)
{
	char path[PATH_ROOM];

	json_array_begin(j, key);
	for (size_t g = 0; g < b->nr_groups; g++) {
		const struct cause_group *k = &b->groups[g];

		json_object_begin(j, NULL);
		json_string(j, "group", k->name);
		json_box(j, "box", &k->box, "_ns");
		json_array_begin(j, "causes");
		for (size_t i = k->first; i < k->first + k->nr; i++) {
			const struct why_cause *c = &w->causes[b->at[i].cause];

			json_object_begin(j, NULL);
			json_u64(j, "number", b->at[i].cause);
			json_string(j, "cause", why_cause_name(c));
			json_string(j, "anomaly", anomaly_name(c->anomaly));
			json_string(j, "label", c->label);
			json_string(j, "path", path_text(w->p, c->path, path, sizeof(path)));
			json_box(j, "box", &b->at[i].box, "_ns");
			json_object_end(j);
		}
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

void csv_boxes(const struct render *r, const struct why *w, const struct boxes *b)
{
	static const char *const names[] = {
		"group", "cause", "anomaly", "label", "path", "requests", "min_ns", "q1_ns",
		"median_ns", "q3_ns", "max_ns", "total_ns", NULL
	};
	char path[PATH_ROOM];
	struct csv c;

	csv_init(&c, r->out);
	csv_heads(&c, names);
	for (size_t g = 0; g < b->nr_groups; g++) {
		const struct cause_group *k = &b->groups[g];

		/* All of the group: no cause. */
		csv_string(&c, k->name);
		for (int i = 0; i < 4; i++)
			csv_string(&c, "");
		csv_box(&c, &k->box);
		csv_row_end(&c);
		for (size_t i = k->first; i < k->first + k->nr; i++) {
			const struct why_cause *cause = &w->causes[b->at[i].cause];

			csv_string(&c, k->name);
			csv_string(&c, why_cause_name(cause));
			csv_string(&c, anomaly_name(cause->anomaly));
			csv_string(&c, cause->label);
			csv_string(&c, path_text(w->p, cause->path, path, sizeof(path)));
			csv_box(&c, &b->at[i].box);
			csv_row_end(&c);
		}
	}
}

/* Queues */

void json_put_queues(struct json *j, const char *key, const struct why *w, const struct queues *q)
{
	json_array_begin(j, key);
	for (size_t i = 0; i < q->nr; i++) {
		const struct queue_depth *d = &q->at[i];

		json_object_begin(j, NULL);
		json_string(j, "class", w->classes[d->class].name);
		json_string(j, "behind", d->behind);
		json_string(j, "where", d->where);
		json_i64(j, "reference", d->reference);
		json_i64(j, "reference_ns", d->reference_ns);
		json_flat(j);
		json_array_begin(j, "more");
		for (size_t k = 0; k < d->nr_extras; k++) {
			json_object_begin(j, NULL);
			json_i64(j, "ahead", d->extras[k].extra);
			json_u64(j, "requests", d->extras[k].nr);
			json_object_end(j);
		}
		json_array_end(j);
		json_box(j, "depth", &d->depth, "");
		json_box(j, "box", &d->box, "_ns");
		json_object_end(j);
	}
	json_array_end(j);
}

void csv_queues(const struct render *r, const struct why *w, const struct queues *q)
{
	static const char *const names[] = {
		"class", "behind", "where", "reference", "reference_ns", "more_ahead", "requests",
		"min_ns", "q1_ns", "median_ns", "q3_ns", "max_ns", "total_ns", NULL
	};
	struct csv c;

	csv_init(&c, r->out);
	csv_heads(&c, names);
	for (size_t i = 0; i < q->nr; i++) {
		const struct queue_depth *d = &q->at[i];

		/* First all of it, then a row for each depth. */
		for (size_t k = 0; k <= d->nr_extras; k++) {
			csv_string(&c, w->classes[d->class].name);
			csv_string(&c, d->behind);
			csv_string(&c, d->where);
			csv_i64(&c, d->reference);
			csv_i64(&c, d->reference_ns);
			if (!k) {
				csv_string(&c, "");
				csv_box(&c, &d->box);
			} else {
				csv_i64(&c, d->extras[k - 1].extra);
				csv_u64(&c, d->extras[k - 1].nr);
				for (int n = 0; n < 6; n++)
					csv_string(&c, "");
			}
			csv_row_end(&c);
		}
	}
}

/* CPUs */

static const char *context_kind(enum party_kind kind)
{
	static const char *const names[] = {
		[PARTY_NONE] = "none", [PARTY_TASK] = "task", [PARTY_IDLE] = "idle",
		[PARTY_HIDDEN] = "hidden", [PARTY_HARDIRQ] = "hardirq", [PARTY_SOFTIRQ] = "softirq",
	};

	return names[kind];
}

void json_put_cpus(struct json *j, const char *key, const struct cpus *c)
{
	json_object_begin(j, key);
	json_bool(j, "kernel_events", c->has_events);
	json_i64(j, "lifetime_ns", c->lifetime_ns);
	json_array_begin(j, "cpus");
	for (size_t i = 0; i < c->nr; i++) {
		const struct cpu_bar *bar = &c->at[i];

		json_object_begin(j, NULL);
		json_u64(j, "cpu", bar->cpu);
		json_i64(j, "known_ns", bar->known_ns);
		json_array_begin(j, "contexts");
		for (size_t k = 0; k < bar->nr_contexts; k++) {
			json_flat(j);
			json_object_begin(j, NULL);
			json_string(j, "context", picture_context(&bar->contexts[k]));
			json_string(j, "kind", context_kind(bar->contexts[k].kind));
			json_bool(j, "own", bar->contexts[k].is_own);
			json_i64(j, "ns", bar->contexts[k].ns);
			json_object_end(j);
		}
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

void csv_cpus(const struct render *r, const struct cpus *c)
{
	static const char *const names[] = {
		"cpu", "context", "kind", "own", "ns", "lifetime_ns", NULL
	};
	struct csv csv;

	csv_init(&csv, r->out);
	csv_heads(&csv, names);
	for (size_t i = 0; i < c->nr; i++)
		for (size_t k = 0; k < c->at[i].nr_contexts; k++) {
			const struct cpu_context *x = &c->at[i].contexts[k];

			csv_u64(&csv, c->at[i].cpu);
			csv_string(&csv, picture_context(x));
			csv_string(&csv, context_kind(x->kind));
			csv_u64(&csv, x->is_own);
			csv_i64(&csv, x->ns);
			csv_i64(&csv, c->lifetime_ns);
			csv_row_end(&csv);
		}
}

/* Blame */

void json_put_blame(struct json *j, const char *key, const struct blametree *b)
{
	json_array_begin(j, key);
	for (size_t i = 0; i < b->nr; i++) {
		const struct blametree_frame *f = &b->at[i];

		json_flat(j);
		json_object_begin(j, NULL);
		json_u64(j, "parent", f->parent);
		json_u64(j, "depth", f->depth);
		json_string(j, "kind", f->kind);
		json_string(j, "name", f->name);
		json_i64(j, "own_ns", f->own_ns);
		json_i64(j, "all_ns", f->all_ns);
		json_u64(j, "count", f->nr);
		json_object_end(j);
	}
	json_array_end(j);
}

/* From the outermost frame, which is not "all"; false: the frame is "all". */
static bool put_stack(FILE *out, const struct blametree *b, uint32_t frame)
{
	char text[TEXT_ROOM];

	if (!frame)
		return false;
	if (put_stack(out, b, b->at[frame].parent))
		fputc(';', out);
	fputs(picture_frame(&b->at[frame], text), out);
	return true;
}

void folded_blame(const struct render *r, const struct blametree *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		if (!b->at[i].own_ns)
			continue;
		put_stack(r->out, b, i);
		fprintf(r->out, " %" PRId64 "\n", b->at[i].own_ns);
	}
}

void csv_blame(const struct render *r, const struct blametree *b)
{
	static const char *const names[] = {
		"frame", "parent", "depth", "kind", "name", "own_ns", "all_ns", "count", NULL
	};
	struct csv c;

	csv_init(&c, r->out);
	csv_heads(&c, names);
	for (size_t i = 0; i < b->nr; i++) {
		const struct blametree_frame *f = &b->at[i];

		csv_u64(&c, i);
		csv_u64(&c, f->parent);
		csv_u64(&c, f->depth);
		csv_string(&c, f->kind);
		csv_string(&c, f->name);
		csv_i64(&c, f->own_ns);
		csv_i64(&c, f->all_ns);
		csv_u64(&c, f->nr);
		csv_row_end(&c);
	}
}
