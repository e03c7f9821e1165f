// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks whether requests have become slower between two runs; see gate.h. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "cli/units.h"
#include "bootstrap.h"
#include "differential.h"
#include "gate.h"

#define PERCENT_MAX	1e6	/* greatest N of +N% */

__attribute__((format(printf, 4, 5)))
static bool complain(const struct gate *g, char *err, size_t err_size, const char *format, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	snprintf(err, err_size, "'%.80s': %s", g->text, what);
	return false;
}

static bool parse_metric(struct gate *g)
{
	const char *name = g->metric_name;
	char *end;
	double p;

	g->metric = GATE_MAX;
	if (!strcmp(name, "max"))
		return true;
	g->metric = GATE_MEAN;
	if (!strcmp(name, "mean"))
		return true;
	if (name[0] != 'p' || !isdigit((unsigned char)name[1]) || strspn(name + 1, "0123456789.") !=
	    strlen(name + 1))
		return false;
	p = strtod(name + 1, &end);
	g->metric = GATE_PERCENTILE;
	g->part = p / 100;
	return !*end && p > 0 && p <= 100;
}

static bool parse_limit(struct gate *g, const char *text, char *err, size_t err_size)
{
	size_t len = strlen(text);
	uint64_t ns;
	char *end;
	int ret;

	if (*text == '+' && len > 1 && text[len - 1] == '%') {
		double percent = strtod(text + 1, &end);

		/* strtod() also reads signs, blanks, hexadecimal numbers and "nan". */
		if (end != text + len - 1 || strspn(text + 1, "0123456789.") != len - 2)
			return complain(g, err, err_size, "'%.40s' is not a percentage", text + 1);
		if (percent > PERCENT_MAX)
			return complain(g, err, err_size, "'%.40s' is too great", text + 1);
		g->limit = GATE_PERCENT;
		g->limit_part = percent / 100;
		return true;
	}
	ret = units_parse_duration(text + 1, 0, &ns);
	if (ret == -ERANGE)
		return complain(g, err, err_size, "'%.40s' is too long", text + 1);
	if (ret)
		return complain(g, err, err_size, "'%.40s' is %s time: write 5%%, 100us or 2ms",
				text + 1, *text == '+' ? "neither a percentage nor a" : "not a");
	g->limit = *text == '+' ? GATE_GROWTH : GATE_ABOVE;
	g->limit_ns = ns;
	return true;
}

bool gate_parse(const char *text, struct gate *g, char *err, size_t err_size)
{
	/* Names of classes may contain colons; the text after the last one has none. */
	const char *colon = strrchr(text, ':'), *metric = colon ? colon + 1 : text;
	size_t len = strcspn(metric, "+>");

	*g = (struct gate){ .text = text, .class = "*" };
	if (colon && ((size_t)(colon - text) >= sizeof(g->class) || colon == text))
		return complain(g, err, err_size, "no class, or too long a name of one, before ':'");
	if (colon)
		snprintf(g->class, sizeof(g->class), "%.*s", (int)(colon - text), text);
	if (!metric[len])
		return complain(g, err, err_size, "no limit: write p99+5%%, p99+100us or p99>2ms");
	if (len < sizeof(g->metric_name))
		snprintf(g->metric_name, sizeof(g->metric_name), "%.*s", (int)len, metric);
	if (!parse_metric(g))
		return complain(g, err, err_size, "'%.*s' is none of p50, p90, p99, p99.9, p99.99, max "
				"and mean", len < 40 ? (int)len : 40, metric);
	return parse_limit(g, metric + len, err, err_size);
}

/* Checking */

static int open_class(struct resampler *s, const struct partition *p, uint32_t class)
{
	int64_t *latencies = calloc(p->nr_requests + 1, sizeof(*latencies));
	size_t nr = 0;
	int ret;

	if (!latencies)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_requests; i++)
		if (p->requests[i].class == class)
			latencies[nr++] = p->requests[i].latency_ns;
	ret = resampler_open(s, latencies, nr);
	free(latencies);
	return ret;
}

static double measure(const struct gate *g, const struct resampler *s, const uint32_t *times)
{
	switch (g->metric) {
	case GATE_MEAN:
		return resampler_mean(s, times);
	case GATE_MAX:
		return resampler_percentile(s, times, 1);
	case GATE_PERCENTILE:
		break;
	}
	return resampler_percentile(s, times, g->part);
}

COMPARE_NUMBERS(compare_doubles, double)

/*
 * Returns about how many requests determine the metric: for a percentile, those from it to the
 * nearer end; for a mean, half of them.
 */
static size_t count_telling(const struct gate *g, size_t nr)
{
	double part = g->metric == GATE_MEAN ? 0.5 : g->metric == GATE_MAX ? 1 : g->part;

	return (part < 0.5 ? part : 1 - part) * nr + 2;
}

/* Computes the interval of the change. */
static int resample(const struct gate *g, const struct resampler *before,
		    const struct resampler *after, struct gate_result *r)
{
	size_t nr_blocks = before->blocks.nr > after->blocks.nr ? before->blocks.nr : after->blocks.nr;
	size_t nr_independent = before->blocks.nr + after->blocks.nr - nr_blocks;
	uint32_t *times = calloc(nr_blocks + 1, sizeof(*times));
	double *changes = calloc(BOOTSTRAP_RESAMPLES, sizeof(*changes));
	size_t nr_telling = count_telling(g, before->nr < after->nr ? before->nr : after->nr);
	struct random random = { BOOTSTRAP_SEED };
	struct interval i;

	if (!times || !changes) {
		free(times);
		free(changes);
		return -ENOMEM;
	}
	for (size_t n = 0; n < BOOTSTRAP_RESAMPLES; n++) {
		bootstrap_draw(&random, &after->blocks, times);
		changes[n] = measure(g, after, times);
		bootstrap_draw(&random, &before->blocks, times);
		changes[n] -= measure(g, before, times);
	}
	qsort(changes, BOOTSTRAP_RESAMPLES, sizeof(*changes), compare_doubles);
	i = bootstrap_interval(changes, BOOTSTRAP_RESAMPLES,
			       nr_telling < nr_independent ? nr_telling : nr_independent);
	r->change_lo_ns = llround(i.lo);
	r->change_hi_ns = llround(i.hi);
	/* A single block does not show the variation by chance. */
	r->is_certain = nr_independent > 1 && i.lo > 0;
	free(times);
	free(changes);
	return 0;
}

static void judge(struct gate_result *r)
{
	const struct gate *g = r->gate;
	int64_t change = r->after_ns - r->before_ns;

	switch (g->limit) {
	case GATE_ABOVE:
		r->is_over = r->after_ns > g->limit_ns;
		r->holds = r->is_over;
		return;
	case GATE_GROWTH:
		r->is_over = change > g->limit_ns;
		break;
	case GATE_PERCENT:
		r->is_over = change > g->limit_part * r->before_ns;
		break;
	}
	r->holds = r->is_over && r->is_certain;
}

static int check_class(const struct gate *g, const struct partition *before, uint32_t class_before,
		       const struct partition *after, uint32_t class_after, struct gate_result *r)
{
	struct resampler b = { 0 }, a = { 0 };
	size_t least;
	int ret = open_class(&b, before, class_before);

	if (!ret)
		ret = open_class(&a, after, class_after);
	*r = (struct gate_result){
		.gate = g, .class = after->classes[class_after], .nr_before = b.nr, .nr_after = a.nr,
	};
	if (!ret && b.nr && a.nr) {
		least = b.nr < a.nr ? b.nr : a.nr;
		r->before_ns = llround(measure(g, &b, NULL));
		r->after_ns = llround(measure(g, &a, NULL));
		r->is_coarse = g->metric == GATE_PERCENTILE && g->part < 1 &&
			       (1 - g->part) * least < 1 - 1e-6;
		ret = resample(g, &b, &a, r);
		judge(r);
	}
	resampler_close(&b);
	resampler_close(&a);
	return ret;
}

int gate_check(const struct gate *g, const struct partition *before, const struct partition *after,
	       struct gate_result **results, size_t *nr)
{
	for (size_t i = 0; i < after->nr_classes; i++) {
		uint32_t class = differential_class(before, after->classes[i]);
		struct gate_result *more, r;
		int ret;

		if (class == UINT32_MAX || fnmatch(g->class, after->classes[i], 0))
			continue;
		ret = check_class(g, before, class, after, i, &r);
		if (ret)
			return ret;
		if (!r.nr_before || !r.nr_after)
			continue;
		more = reallocarray(*results, *nr + 1, sizeof(r));
		if (!more)
			return -ENOMEM;
		*results = more;
		more[(*nr)++] = r;
	}
	return 0;
}
