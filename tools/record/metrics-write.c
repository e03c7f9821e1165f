// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the sums for monitoring: OpenMetrics text, and OTLP's JSON; see metrics.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/json.h"
#include "cli/outfile.h"
#include "cli/utf8.h"
#include "record/metrics-private.h"

#define MINUTE_NS	60000000000LL
#define NAME_ROOM	512

static const struct {
	const char *name, *label, *otlp, *help;
} kinds[METRICS_NR] = {
	[METRICS_FUNCTION] = { "ldb_function_duration_seconds", "function", "ldb.function.duration",
			       "Observed invocations of functions." },
	[METRICS_REQUEST] = { "ldb_request_duration_seconds", "class", "ldb.request.duration",
			      "Requests that have ended." },
	[METRICS_LOCK] = { "ldb_lock_wait_seconds", "lock", "ldb.lock.wait", "Waits for locks, by address." },
	[METRICS_CPU] = { "ldb_cpu_wait_seconds", NULL, "ldb.cpu.wait",
			  "Waits of runnable threads for a CPU." },
};

static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999 };

/* 1, 2 and 5 microseconds, and so on up to 10 seconds. */
static const uint64_t bounds[] = {
	1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000, 5000000, 10000000,
	20000000, 50000000, 100000000, 200000000, 500000000, 1000000000, 2000000000, 5000000000, 10000000000,
};
#define NR_BOUNDS	(sizeof(bounds) / sizeof(*bounds))

const char *metrics_name(const struct metrics *m, enum metrics_kind kind, const struct series *s, char *buf, size_t size)
{
	const char *name = NULL;

	if (kind == METRICS_REQUEST)
		return intern_key(&m->classes, s->key);
	if (kind == METRICS_FUNCTION)
		name = filter_function(m->filter, s->key);
	if (!name || !*name)
		snprintf(buf, size, "0x%" PRIx64, s->key);
	return name && *name ? name : buf;
}

/* Functions of one name, such as the parts of a function, are one series: merged here. */
struct named {
	char name[NAME_ROOM];
	struct dist dist;
};

struct family {
	struct named *all;
	size_t nr;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Bytes that are no text become '?'. */
static void copy_name(char *to, size_t size, const char *name)
{
	size_t nr = 0;

	while (*name) {
		unsigned n = utf8_length(name);
		bool is_text = n && !utf8_is_control(name, n);

		if (nr + (is_text ? n : 1) >= size)
			break;
		if (is_text)
			memcpy(to + nr, name, n);
		else
			to[nr] = '?';
		nr += is_text ? n : 1;
		name += n ? n : 1;
	}
	to[nr] = '\0';
}

static void free_family(struct family *f)
{
	for (size_t i = 0; i < f->nr; i++)
		dist_free(&f->all[i].dist);
	free(f->all);
}

static int make_family(struct metrics *m, enum metrics_kind kind, struct family *f)
{
	struct kind *k = &m->kinds[kind];
	char buf[32];
	size_t nr = 0;

	f->nr = k->nr;
	f->all = calloc(k->nr + 1, sizeof(*f->all));
	if (!f->all)
		return -ENOMEM;
	for (size_t i = 0; i < k->nr; i++) {
		copy_name(f->all[i].name, NAME_ROOM, metrics_name(m, kind, &k->all[i], buf, sizeof(buf)));
		dist_init(&f->all[i].dist, &m->pool);
		if (dist_merge(&f->all[i].dist, &k->all[i].dist))
			return -ENOMEM;
	}
	qsort(f->all, f->nr, sizeof(*f->all), by_name);
	for (size_t i = 0; i < f->nr; i++) {
		if (nr && !by_name(&f->all[nr - 1], &f->all[i])) {
			if (dist_merge(&f->all[nr - 1].dist, &f->all[i].dist))
				return -ENOMEM;
			dist_free(&f->all[i].dist);
		} else if (nr++ != i) {
			f->all[nr - 1] = f->all[i];
			memset(&f->all[i], 0, sizeof(f->all[i]));
		}
	}
	f->nr = nr;
	return 0;
}

/* OpenMetrics */

/* Writes {label="name",...; more is what follows, "" or ,key="value". */
static void put_labels(FILE *out, enum metrics_kind kind, const char *name, const char *more)
{
	const char *label = kinds[kind].label;

	if (!label && !*more)
		return;
	putc('{', out);
	if (label) {
		fprintf(out, "%s=\"", label);
		for (; *name; name++) {
			if (*name == '"' || *name == '\\')
				putc('\\', out);
			putc(*name, out);
		}
		fputs(*more ? "\"," : "\"", out);
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

static void put_buckets(FILE *out, enum metrics_kind kind, struct named *n)
{
	struct cumulative c = { { 0 } };
	char more[64];

	dist_each_bucket(&n->dist, add_bucket, &c);
	for (size_t i = 0; i <= NR_BOUNDS; i++) {
		if (i < NR_BOUNDS)
			snprintf(more, sizeof(more), "le=\"%g\"", bounds[i] / 1e9);
		else
			snprintf(more, sizeof(more), "le=\"+Inf\"");
		fprintf(out, "%s_bucket", kinds[kind].name);
		put_labels(out, kind, n->name, more);
		fprintf(out, " %" PRIu64 "\n", i < NR_BOUNDS ? c.nr[i] : n->dist.nr);
	}
	fprintf(out, "%s_count", kinds[kind].name);
	put_labels(out, kind, n->name, "");
	fprintf(out, " %" PRIu64 "\n%s_sum", n->dist.nr, kinds[kind].name);
	put_labels(out, kind, n->name, "");
	fprintf(out, " %.9f\n", (double)n->dist.sum / 1e9);
}

static void put_quantiles(FILE *out, enum metrics_kind kind, struct named *n)
{
	char more[64];

	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		snprintf(more, sizeof(more), "quantile=\"%g\"", quantiles[i]);
		fprintf(out, "%.*s_quantile_seconds", (int)(strlen(kinds[kind].name) - strlen("_seconds")), kinds[kind].name);
		put_labels(out, kind, n->name, more);
		fprintf(out, " %.9f\n", dist_percentile(&n->dist, quantiles[i] * 1000, 1000) / 1e9);
	}
}

static void put_family(FILE *out, enum metrics_kind kind, struct family *f)
{
	int base = strlen(kinds[kind].name) - strlen("_seconds");

	fprintf(out, "# TYPE %s histogram\n# UNIT %s seconds\n# HELP %s %s\n", kinds[kind].name,
		kinds[kind].name, kinds[kind].name, kinds[kind].help);
	for (size_t i = 0; i < f->nr; i++)
		put_buckets(out, kind, &f->all[i]);
	fprintf(out, "# TYPE %.*s_quantile_seconds gauge\n# UNIT %.*s_quantile_seconds seconds\n", base,
		kinds[kind].name, base, kinds[kind].name);
	for (size_t i = 0; i < f->nr; i++)
		put_quantiles(out, kind, &f->all[i]);
}

static void put_counter(FILE *out, const char *name, const char *help, uint64_t value)
{
	fprintf(out, "# TYPE %s counter\n# HELP %s %s\n%s_total %" PRIu64 "\n", name, name, help, name, value);
}

static int by_ns(const void *a, const void *b)
{
	const struct slow *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static void put_slowest(FILE *out, struct metrics *m)
{
	fputs("# TYPE ldb_slowest_request_seconds gauge\n# UNIT ldb_slowest_request_seconds seconds\n"
	      "# HELP ldb_slowest_request_seconds The slowest requests of the last minute; ldb-why --req NUMBER explains one of a trace.\n", out);
	for (unsigned i = 0; i < METRICS_SLOWEST; i++) {
		char more[96], class[NAME_ROOM];

		if (!m->before[i].ns)
			continue;
		copy_name(class, sizeof(class), intern_key(&m->classes, m->before[i].class));
		snprintf(more, sizeof(more), "request=\"%" PRIu64 "\",rank=\"%u\"", m->before[i].id, i + 1);
		fputs("ldb_slowest_request_seconds", out);
		put_labels(out, METRICS_REQUEST, class, more);
		fprintf(out, " %.9f\n", m->before[i].ns / 1e9);
	}
}

/* A minute is shown when it is over; only the first one at once. */
static void next_minute(struct metrics *m, int64_t now_ns)
{
	int64_t minute = now_ns / MINUTE_NS;

	if (!m->first_minute)
		m->first_minute = m->minute = minute;
	if (minute == m->minute && minute != m->first_minute)
		return;
	memcpy(m->before, m->slowest, sizeof(m->before));
	qsort(m->before, METRICS_SLOWEST, sizeof(*m->before), by_ns);
	if (minute != m->minute)
		memset(m->slowest, 0, sizeof(m->slowest));
	m->minute = minute;
}

static void put_text(FILE *out, struct metrics *m, struct family f[METRICS_NR], const struct metrics_state *s)
{
	uint64_t dropped = 0;

	for (unsigned k = 0; k < METRICS_NR; k++) {
		put_family(out, k, &f[k]);
		dropped += m->kinds[k].nr_dropped;
	}
	put_slowest(out, m);
	put_counter(out, "ldb_calls", "Calls of instrumented functions.", s->calls);
	put_counter(out, "ldb_observed_calls", "Those of them that were observed.", s->observed_calls);
	put_counter(out, "ldb_lost_records", "Records that were lost.", s->nr_lost);
	put_counter(out, "ldb_dropped_values", "Values of series for which there was no room.", dropped);
	fprintf(out, "# TYPE ldb_threads gauge\nldb_threads %" PRIu64 "\n# EOF\n", s->nr_threads);
}

/* OTLP */

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

static void put_point(struct json *j, enum metrics_kind kind, struct named *n, const struct metrics_state *s)
{
	struct points p = { .j = j };

	json_object_begin(j, NULL);
	json_array_begin(j, "attributes");
	if (kinds[kind].label)
		put_attribute(j, kinds[kind].label, n->name);
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
	json_object_end(j);
}

static void put_metric(struct json *j, enum metrics_kind kind, struct family *f, const struct metrics_state *s)
{
	json_object_begin(j, NULL);
	json_string(j, "name", kinds[kind].otlp);
	json_string(j, "description", kinds[kind].help);
	json_string(j, "unit", "s");
	json_object_begin(j, "histogram");
	json_u64(j, "aggregationTemporality", 2);	/* cumulative */
	json_array_begin(j, "dataPoints");
	for (size_t i = 0; i < f->nr; i++)
		put_point(j, kind, &f->all[i], s);
	json_array_end(j);
	json_object_end(j);
	json_object_end(j);
}

static void put_otlp(FILE *out, struct family f[METRICS_NR], const struct metrics_state *s)
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
			put_metric(&j, k, &f[k], s);
	json_array_end(&j);
	json_object_end(&j);
	json_array_end(&j);
	json_object_end(&j);
	json_array_end(&j);
	json_object_end(&j);
	json_end(&j);
}

static bool is_otlp(const char *path)
{
	size_t len = strlen(path);

	return len > 5 && !strcmp(path + len - 5, ".json");
}

static int write_file(struct metrics *m, struct family f[METRICS_NR], const struct metrics_state *s)
{
	struct outfile o;
	int ret = outfile_begin(&o, m->path);
	bool is_written;
	FILE *out;
	int fd;

	if (ret)
		return ret;
	fd = dup(o.fd);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		if (fd >= 0)
			close(fd);
		outfile_drop(&o);
		return -ENOMEM;
	}
	if (is_otlp(m->path))
		put_otlp(out, f, s);
	else
		put_text(out, m, f, s);
	is_written = !ferror(out);
	if (fclose(out) || !is_written) {
		outfile_drop(&o);
		return -EIO;
	}
	return outfile_commit(&o);
}

int metrics_write(struct metrics *m, const struct metrics_state *s)
{
	struct family f[METRICS_NR] = { { 0 } };
	int ret = 0;

	next_minute(m, s->now_ns);
	for (unsigned k = 0; k < METRICS_NR && !ret; k++)
		ret = make_family(m, k, &f[k]);
	if (!ret)
		ret = write_file(m, f, s);
	for (unsigned k = 0; k < METRICS_NR; k++)
		free_family(&f[k]);
	return ret;
}
