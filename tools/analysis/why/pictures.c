// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes the outlier plot and the box plots; see pictures.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "pictures.h"

COMPARE_NUMBERS(compare_values, int64_t)

/* Returns the quartile: the value that num / 4 of the values do not exceed. */
static int64_t quartile(const int64_t *sorted, size_t nr, size_t num)
{
	return sorted[nr * num / 4 + (nr * num % 4 != 0) - 1];
}

struct box box_of(int64_t *values, size_t nr)
{
	struct box b = { .nr = nr };

	if (!nr)
		return b;
	qsort(values, nr, sizeof(*values), compare_values);
	b.min = values[0];
	b.q1 = quartile(values, nr, 1);
	b.median = quartile(values, nr, 2);
	b.q3 = quartile(values, nr, 3);
	b.max = values[nr - 1];
	for (size_t i = 0; i < nr; i++)
		b.total += values[i];
	return b;
}

/* The outlier plot */

COMPARE(compare_balloons, struct balloon, UP(number))

static int fill_bins(const struct partition *p, struct balloons *b)
{
	size_t most = b->nr_bins ? p->nr_requests / b->nr_bins + 1 : 0;
	int64_t *values = calloc(most + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_bins; i++) {
		struct balloon_bin *bin = &b->bins[i];
		size_t end = (size_t)((unsigned __int128)p->nr_requests * (i + 1) / b->nr_bins);
		struct box box;

		bin->first = (size_t)((unsigned __int128)p->nr_requests * i / b->nr_bins);
		bin->nr = end - bin->first;
		for (size_t k = 0; k < bin->nr; k++)
			values[k] = p->requests[bin->first + k].latency_ns;
		box = box_of(values, bin->nr);
		bin->min_ns = box.min;
		bin->median_ns = box.median;
		bin->max_ns = box.max;
	}
	free(values);
	return 0;
}

int balloons_build(const struct why *w, size_t max_bins, struct balloons *b)
{
	const struct partition *p = w->p;

	*b = (struct balloons){ .nr = w->nr_targets, .nr_requests = p->nr_requests };
	b->nr_bins = p->nr_requests < max_bins ? p->nr_requests : max_bins;
	b->at = calloc(b->nr + 1, sizeof(*b->at));
	b->bins = calloc(b->nr_bins + 1, sizeof(*b->bins));
	if (!b->at || !b->bins || fill_bins(p, b)) {
		balloons_free(b);
		return -ENOMEM;
	}
	for (size_t i = 0; i < b->nr; i++)
		b->at[i] = (struct balloon){
			.target = i, .number = w->targets[i].request - p->requests,
		};
	qsort(b->at, b->nr, sizeof(*b->at), compare_balloons);
	return 0;
}

void balloons_free(struct balloons *b)
{
	free(b->at);
	free(b->bins);
	*b = (struct balloons){ 0 };
}

/* The box plots */

const char *boxes_group(const struct why_cause *c)
{
	if (c->category && *c->category)
		return c->category;
	return link_kind_name(why_cause_kind(c));
}

/* Finds the number of each cause's group; there are few groups. */
static void find_groups(const struct why *w, struct boxes *b, uint32_t *group_of)
{
	for (size_t c = 0; c < w->nr_causes; c++) {
		const char *name = boxes_group(&w->causes[c]);
		size_t g = 0;

		while (g < b->nr_groups && strcmp(b->groups[g].name, name))
			g++;
		if (g == b->nr_groups)
			b->groups[b->nr_groups++].name = name;
		group_of[c] = g;
		b->groups[g].nr++;
	}
}

static void fill_causes(struct boxes *b, const struct why_sorted *s, const uint32_t *group_of)
{
	for (size_t g = 0; g + 1 < b->nr_groups; g++)
		b->groups[g + 1].first = b->groups[g].first + b->groups[g].nr;
	for (size_t g = 0; g < b->nr_groups; g++)
		b->groups[g].nr = 0;
	for (size_t c = 0; c < b->nr; c++) {
		struct cause_group *g = &b->groups[group_of[c]];

		b->at[g->first + g->nr++] = (struct cause_box){
			.cause = c,
			.box = box_of(s->ns + s->at[c], s->at[c + 1] - s->at[c]),
		};
	}
}

static int fill_groups(const struct why *w, struct boxes *b, const uint32_t *group_of)
{
	int64_t *values = calloc(w->nr_targets + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t g = 0; g < b->nr_groups; g++) {
		size_t nr = 0;

		for (size_t i = 0; i < w->nr_targets; i++) {
			const struct why_target *t = &w->targets[i];
			int64_t sum = 0;

			for (size_t k = 0; k < t->nr_amounts; k++)
				if (group_of[t->amounts[k].cause] == g)
					sum += t->amounts[k].ns;
			if (sum)
				values[nr++] = sum;
		}
		b->groups[g].box = box_of(values, nr);
	}
	free(values);
	return 0;
}

int boxes_build(const struct why *w, struct boxes *b)
{
	uint32_t *group_of = calloc(w->nr_causes + 1, sizeof(*group_of));
	struct why_sorted s = { 0 };
	int ret = -ENOMEM;

	*b = (struct boxes){ .nr = w->nr_causes };
	b->at = calloc(b->nr + 1, sizeof(*b->at));
	b->groups = calloc(b->nr + 1, sizeof(*b->groups));
	if (group_of && b->at && b->groups)
		ret = why_sort_amounts(w, &s);
	if (!ret) {
		find_groups(w, b, group_of);
		fill_causes(b, &s, group_of);
		ret = fill_groups(w, b, group_of);
	}
	why_sorted_free(&s);
	free(group_of);
	if (ret)
		boxes_free(b);
	return ret;
}

void boxes_free(struct boxes *b)
{
	free(b->at);
	free(b->groups);
	*b = (struct boxes){ 0 };
}
