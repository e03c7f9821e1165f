// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the innermost function in which a thread was for most of a period, if the scanner had no
 * CPU in that period and observed only callers of the function.
 *
 * When a thread left its CPU, the kernel read the innermost function, in which the thread then
 * remained until it ran again.  Samples show the function while the thread ran; they are few, so
 * these times are estimates.
 */
#include <string.h>

#include "facts/ticks.h"
#include "timeline-private.h"

#define NAMES_MAX	16	/* distinct functions of one thread */
#define SAMPLES_LEAST	2	/* a single sample may be of a short function */

struct names {
	const struct symbol *at[NAMES_MAX];
	int64_t sums[NAMES_MAX];
	size_t nr;
};

static void add(struct names *n, const struct symbol *func, int64_t amount)
{
	size_t i = 0;

	while (i < n->nr && strcmp(n->at[i]->function, func->function))
		i++;
	if (i == NAMES_MAX)
		return;
	if (i == n->nr)
		n->at[n->nr++] = func;
	ticks_add(&n->sums[i], amount);
}

/* Returns the function with the most time; NULL: none. */
static const struct symbol *most(const struct names *n, int64_t *sum)
{
	size_t best = 0;

	for (size_t i = 1; i < n->nr; i++)
		if (n->sums[i] > n->sums[best])
			best = i;
	*sum = n->nr ? n->sums[best] : 0;
	return n->nr ? n->at[best] : NULL;
}

/* Adds the functions at switches; returns how long the thread was off the CPU. */
static int64_t add_offs(const struct timeline *t, const struct segment *in, struct names *n)
{
	int64_t off_ns = 0;

	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];
		int64_t ns = s->tid == in->tid && segment_is_off(s) ? segment_overlap_ns(s, in) : 0;

		ticks_add(&off_ns, ns);
		if (ns && s->site && s->site->known)
			add(n, s->site, ns);
	}
	return off_ns;
}

/*
 * Adds the functions of samples, and returns the number of samples.  Functions without a source
 * file, and those of the system, are not added, because the user cannot change them.
 */
static uint64_t add_samples(const struct timeline_build *b, const struct segment *in, struct names *n)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < b->nr_samples; i++) {
		const struct sample *s = &b->samples[i];
		const struct symbol *func;

		if (s->tid != in->tid || s->tick < in->start || s->tick >= in->end)
			continue;
		nr++;
		func = symtab_lookup_aside(b->m->symtab, s->pc, s->tick);
		if (func->known && *func->func_file && !func->func_in_system)
			add(n, func, 1);
	}
	return nr;
}

bool executed_find(const struct timeline_build *b, const struct segment *in, struct executed *x)
{
	int64_t length = in->end_ns - in->start_ns, ran, nr;
	struct names offs = { .nr = 0 }, samples = { .nr = 0 };
	double low, high;
	uint64_t all;

	ran = length - add_offs(b->t, in, &offs);
	x->func = most(&offs, &x->ns);
	x->resolution_ns = 0;
	if (2 * x->ns > length)
		return true;
	all = add_samples(b, in, &samples);
	x->func = most(&samples, &nr);
	if (nr < SAMPLES_LEAST || ran <= 0)
		return false;
	split_interval(nr, all, &low, &high);
	x->ns = (int64_t)((double)ran * (double)nr / (double)all);
	x->resolution_ns = x->ns - (int64_t)((double)ran * low);
	return 2 * x->ns > length;
}
