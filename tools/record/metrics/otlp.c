// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the sums for monitoring as OTLP's JSON. */
#include <inttypes.h>
#include <string.h>
#include "cli/json.h"
#include "record/metrics/private.h"

struct points {
	struct json *j;
	bool is_bounds;
};

static void put_point_bucket(void *arg, uint64_t below, uint64_t nr)
{
	struct points *p = arg;
	char text[32];

	if (p->is_bounds) {
		json_double(p->j, NULL, (below - 1) / 1e9);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, nr);
	json_string(p->j, NULL, text);
}

static void put_u64_text(struct json *j, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	json_string(j, key, text);
}

static void put_attribute(struct json *j, const char *key, const char *value)
{
	json_object_begin(j, NULL);
	json_string(j, "key", key);
	json_object_begin(j, "value");
	json_string(j, "stringValue", value);
	json_object_end(j);
	json_object_end(j);
}

/* Writes the slowest requests of a class; their attributes are the seconds spent in each state. */
static void put_exemplars(struct json *j, const struct metrics *m, const char *class, const struct metrics_state *s)
{
	char name[METRICS_NAME * 2], value[32];

	json_array_begin(j, "exemplars");
	for (unsigned i = 0; i < METRICS_SLOWEST; i++) {
		const struct slow *slow = &m->before[i];

		metrics_copy_name(name, METRICS_NAME, intern_key(&m->classes, slow->class));
		if (!slow->ns || strcmp(name, class))
			continue;
		json_object_begin(j, NULL);
		json_array_begin(j, "filteredAttributes");
		snprintf(value, sizeof(value), "%" PRIu64, slow->tid ? slow->tid : slow->id);
		put_attribute(j, slow->tid ? "thread" : "request", value);
		for (unsigned k = 0; k < m->parts[i].nr; k++) {
			const struct slow_part *part = &m->parts[i].all[k];

			snprintf(name, sizeof(name), "%s%s%s", part->state, *part->name ? ":" : "", part->name);
			snprintf(value, sizeof(value), "%.9f", part->ns / 1e9);
			put_attribute(j, name, value);
		}
		json_array_end(j);
		put_u64_text(j, "timeUnixNano", s->now_ns);
		json_double(j, "asDouble", slow->ns / 1e9);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_point(struct json *j, const struct metrics *m, enum metrics_kind kind, struct named *n,
		      const struct metrics_state *s)
{
	struct points p = { .j = j };

	json_object_begin(j, NULL);
	json_array_begin(j, "attributes");
	if (metrics_words[kind].label)
		put_attribute(j, metrics_words[kind].label, n->name);
	json_array_end(j);
	put_u64_text(j, "startTimeUnixNano", s->begin_ns);
	put_u64_text(j, "timeUnixNano", s->now_ns);
	put_u64_text(j, "count", n->dist.nr);
	json_double(j, "sum", (double)n->dist.sum / 1e9);
	json_double(j, "min", n->dist.min / 1e9);
	json_double(j, "max", n->dist.max / 1e9);
	json_array_begin(j, "bucketCounts");
	dist_each_bucket(&n->dist, put_point_bucket, &p);
	json_string(j, NULL, "0");
	json_array_end(j);
	p.is_bounds = true;
	json_array_begin(j, "explicitBounds");
	dist_each_bucket(&n->dist, put_point_bucket, &p);
	json_array_end(j);
	if (kind == METRICS_REQUEST)
		put_exemplars(j, m, n->name, s);
	json_object_end(j);
}

static void put_metric(struct json *j, const struct metrics *m, enum metrics_kind kind, struct family *f,
		       const struct metrics_state *s)
{
	json_object_begin(j, NULL);
	json_string(j, "name", metrics_words[kind].otlp);
	json_string(j, "description", metrics_words[kind].help);
	json_string(j, "unit", "s");
	json_object_begin(j, "histogram");
	json_u64(j, "aggregationTemporality", 2);	/* cumulative */
	json_array_begin(j, "dataPoints");
	for (size_t i = 0; i < f->nr; i++)
		put_point(j, m, kind, &f->all[i], s);
	json_array_end(j);
	json_object_end(j);
	json_object_end(j);
}

void metrics_put_otlp(FILE *out, struct metrics *m, struct family f[METRICS_NR], const struct metrics_state *s)
{
	struct json j;

	json_init(&j, out);
	json_object_begin(&j, NULL);
	json_array_begin(&j, "resourceMetrics");
	json_object_begin(&j, NULL);
	json_object_begin(&j, "resource");
	json_array_begin(&j, "attributes");
	json_array_end(&j);
	json_object_end(&j);
	json_array_begin(&j, "scopeMetrics");
	json_object_begin(&j, NULL);
	json_object_begin(&j, "scope");
	json_string(&j, "name", "ldb");
	json_string(&j, "version", LDB_VERSION);
	json_object_end(&j);
	json_array_begin(&j, "metrics");
	for (unsigned k = 0; k < METRICS_NR; k++)
		if (f[k].nr)
			put_metric(&j, m, k, &f[k], s);
	json_array_end(&j);
	json_object_end(&j);
	json_array_end(&j);
	json_object_end(&j);
	json_array_end(&j);
	json_object_end(&j);
	json_end(&j);
}
