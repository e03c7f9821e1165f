/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums samples by the innermost function of the thread (or none), according to attribution.h.  The
 * samples of a function are divided into places (facts/samples.h).
 */
#ifndef TRACKS_SAMPLED_H
#define TRACKS_SAMPLED_H

#include "facts/samples.h"

struct sampled_options {
	int64_t from, to;		/* ticks */
	const char *thread;		/* tid or glob; NULL: all */
	const char *function;		/* glob; NULL: all */
};

struct sampled_entry {
	const struct symbol *func;	/* NULL: samples outside of instrumented functions */
	double share, low, high;	/* share of all samples, with its interval */
	struct split split;
};

struct sampled {
	struct sampled_entry *entries;	/* most samples first */
	size_t nr;
	/* the samples of all entries, also of those that do not match */
	uint64_t nr_samples;
	uint64_t nr_others;		/* samples in other states: just before or after a sleep */
};

/* Returns 0, -ENOMEM or another -errno of a temporary file. */
int sampled_build(struct model *m, const struct sampled_options *o, struct sampled *s);
void sampled_free(struct sampled *s);

#endif
