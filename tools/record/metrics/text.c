// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the sums for monitoring as text, in the format OpenMetrics or in the older one of
 * Prometheus, which has neither units nor exemplars.
 */
#include <inttypes.h>
#include <string.h>
#include "record/metrics/private.h"

#define EXEMPLAR_NAME	64	/* all labels of an exemplar together may have 128 characters */

struct text {
	FILE *out;
	const struct metrics *m;
	bool is_openmetrics;
};

static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999 };

/* 1, 2 and 5 microseconds, and so on, up to 10 seconds. */
static const uint64_t bounds[] = {
	1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000, 5000000, 10000000,
	20000000, 50000000, 100000000, 200000000, 500000000, 1000000000, 2000000000, 5000000000, 10000000000,
};
#define NR_BOUNDS	(sizeof(bounds) / sizeof(*bounds))

static void put_label(FILE *out, const char *label, const char *value)
{
	fprintf(out, "%s=\"", label);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			putc('\\', out);
		putc(*value, out);
	}
	putc('"', out);
}

/* Writes the labels, {label="name",more}.  `more` is a further label, key="value", or "". */
static void put_labels(FILE *out, enum metrics_kind kind, const char *name, const char *more)
{
	const char *label = metrics_words[kind].label;

	if (!label && !*more)
		return;
	putc('{', out);
	if (label) {
		put_label(out, label, name);
		fputs(*more ? "," : "", out);
	}
	fprintf(out, "%s}", more);
}

struct cumulative {
	uint64_t nr[NR_BOUNDS];
};

static void add_bucket(void *arg, uint64_t below, uint64_t nr)
{
	struct cumulative *c = arg;

	for (size_t i = 0; i < NR_BOUNDS; i++)
		if (below - 1 <= bounds[i])
			c->nr[i] += nr;
}

/* Writes the slowest request of the last minute in this bucket, with its longest state. */
static void put_exemplar(FILE *out, const struct metrics *m, const char *class, uint64_t above, uint64_t most)
{
	for (unsigned i = 0; i < METRICS_SLOWEST; i++) {
		const struct slow *s = &m->before[i];
		char text[METRICS_NAME];

		if (s->ns <= above || s->ns > most)
			continue;
		metrics_copy_name(text, sizeof(text), intern_key(&m->classes, s->class));
		if (strcmp(text, class))
			continue;
		fprintf(out, " # {%s=\"%" PRIu64 "\"", s->tid ? "thread" : "request", s->tid ? s->tid : s->id);
		if (m->parts[i].nr) {
			metrics_copy_name(text, EXEMPLAR_NAME, m->parts[i].all[0].name);
			fprintf(out, ",state=\"%s\",", m->parts[i].all[0].state);
			put_label(out, "name", text);
		}
		fprintf(out, "} %.9f", s->ns / 1e9);
		return;
	}
}

static void put_buckets(struct text *t, enum metrics_kind kind, struct named *n)
{
	FILE *out = t->out;
	struct cumulative c = { { 0 } };
	char more[64];

	dist_each_bucket(&n->dist, add_bucket, &c);
	for (size_t i = 0; i <= NR_BOUNDS; i++) {
		if (i < NR_BOUNDS)
			snprintf(more, sizeof(more), "le=\"%g\"", bounds[i] / 1e9);
		else
			snprintf(more, sizeof(more), "le=\"+Inf\"");
		fprintf(out, "%s_bucket", metrics_words[kind].name);
		put_labels(out, kind, n->name, more);
		fprintf(out, " %" PRIu64, i < NR_BOUNDS ? c.nr[i] : n->dist.nr);
		if (t->is_openmetrics && kind == METRICS_REQUEST)
			put_exemplar(out, t->m, n->name, i ? bounds[i - 1] : 0, i < NR_BOUNDS ? bounds[i] : UINT64_MAX);
		putc('\n', out);
	}
	fprintf(out, "%s_count", metrics_words[kind].name);
	put_labels(out, kind, n->name, "");
	fprintf(out, " %" PRIu64 "\n%s_sum", n->dist.nr, metrics_words[kind].name);
	put_labels(out, kind, n->name, "");
	fprintf(out, " %.9f\n", (double)n->dist.sum / 1e9);
}

static void put_quantiles(FILE *out, enum metrics_kind kind, struct named *n)
{
	char more[64];

	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		snprintf(more, sizeof(more), "quantile=\"%g\"", quantiles[i]);
		fprintf(out, "%.*s_quantile_seconds", (int)(strlen(metrics_words[kind].name) - strlen("_seconds")), metrics_words[kind].name);
		put_labels(out, kind, n->name, more);
		fprintf(out, " %.9f\n", dist_percentile(&n->dist, quantiles[i] * 1000, 1000) / 1e9);
	}
}

/* Writes the head of a family whose unit is the second. */
static void put_head(struct text *t, const char *name, const char *end, const char *type, const char *help)
{
	fprintf(t->out, "# TYPE %s%s %s\n", name, end, type);
	if (t->is_openmetrics)
		fprintf(t->out, "# UNIT %s%s seconds\n", name, end);
	fprintf(t->out, "# HELP %s%s %s\n", name, end, help);
}

static void put_family(struct text *t, enum metrics_kind kind, struct family *f)
{
	char name[64];
	int base = strlen(metrics_words[kind].name) - strlen("_seconds");

	put_head(t, metrics_words[kind].name, "", "histogram", metrics_words[kind].help);
	for (size_t i = 0; i < f->nr; i++)
		put_buckets(t, kind, &f->all[i]);
	snprintf(name, sizeof(name), "%.*s", base, metrics_words[kind].name);
	put_head(t, name, "_quantile_seconds", "summary", "Percentiles of these durations.");
	for (size_t i = 0; i < f->nr; i++)
		put_quantiles(t->out, kind, &f->all[i]);
}

/* In the older format, a family has the name of its value, which ends in _total. */
static void put_counter(struct text *t, const char *name, const char *help, uint64_t value)
{
	const char *end = t->is_openmetrics ? "" : "_total";

	fprintf(t->out, "# TYPE %s%s counter\n# HELP %s%s %s\n%s_total %" PRIu64 "\n", name, end, name, end, help,
		name, value);
}

static void put_slow(FILE *out, const struct metrics *m, unsigned i, const char *name, const struct slow_part *part)
{
	const struct slow *s = &m->before[i];
	char class[METRICS_NAME];

	metrics_copy_name(class, sizeof(class), intern_key(&m->classes, s->class));
	fprintf(out, "%s{", name);
	put_label(out, "class", class);
	fprintf(out, ",%s=\"%" PRIu64 "\",rank=\"%u\"", s->tid ? "thread" : "request", s->tid ? s->tid : s->id, i + 1);
	if (part) {
		fprintf(out, ",state=\"%s\",", part->state);
		put_label(out, "name", part->name);
	}
	fprintf(out, "} %.9f\n", (part ? part->ns : s->ns) / 1e9);
}

static void put_slowest(struct text *t)
{
	const struct metrics *m = t->m;

	put_head(t, "ldb_slowest_request_seconds", "", "gauge",
		 "The slowest requests of the last minute; ldb-why --req NUMBER explains one of a trace.");
	for (unsigned i = 0; i < METRICS_SLOWEST; i++)
		if (m->before[i].ns)
			put_slow(t->out, m, i, "ldb_slowest_request_seconds", NULL);
	put_head(t, "ldb_slowest_request_part_seconds", "", "gauge",
		 "What the slowest requests spent their time on; the parts of a request add up to its duration.");
	for (unsigned i = 0; i < METRICS_SLOWEST; i++)
		for (unsigned k = 0; k < m->parts[i].nr; k++)
			put_slow(t->out, m, i, "ldb_slowest_request_part_seconds", &m->parts[i].all[k]);
}

void metrics_put_text(FILE *out, struct metrics *m, struct family f[METRICS_NR], const struct metrics_state *s,
		      bool is_openmetrics)
{
	struct text t = { out, m, is_openmetrics };
	uint64_t dropped = 0;

	for (unsigned k = 0; k < METRICS_NR; k++) {
		put_family(&t, k, &f[k]);
		dropped += m->kinds[k].nr_dropped;
	}
	put_slowest(&t);
	put_counter(&t, "ldb_calls", "Calls of instrumented functions.", s->calls);
	put_counter(&t, "ldb_observed_calls", "Calls of instrumented functions that were observed.", s->observed_calls);
	put_counter(&t, "ldb_lost_records", "Records that were lost.", s->nr_lost);
	put_counter(&t, "ldb_dropped_values", "Values of series for which there was no room.", dropped);
	fprintf(out, "# TYPE ldb_threads gauge\n# HELP ldb_threads Threads of the program.\nldb_threads %" PRIu64 "\n", s->nr_threads);
	if (is_openmetrics)
		fputs("# EOF\n", out);
}
