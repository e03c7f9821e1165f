/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes facts of the samples of threads, and names the place of each.  In code with records this is
 * the line; in other code it is the function that was called or, if that is not known, the function
 * that the symbols of the file have there; in the kernel it is the kernel's function.
 */
#ifndef FACTS_SAMPLES_H
#define FACTS_SAMPLES_H

#include "model.h"

struct sample {
	int64_t tick;
	uint32_t tid;
	const struct thread *thread;	/* NULL: not in the trace */
	uint64_t pc;			/* where its own code was; 0: not known */
	uint64_t ret;			/* of the call that it was in: return address in code with records; 0: none */
	uint32_t kernel;		/* as in the row: 0: in its own code */
};

/* Calls call() for each of them, as faults_each() of interruptions.h does for faults. */
int samples_each(struct model *m, const struct reader_filter *filter,
		 int (*call)(void *arg, const struct sample *s), void *arg);

enum place_kind {
	PLACE_LINE,		/* a line of a function with records, or of a function without that it calls */
	PLACE_LIBRARY,		/* a function of another file, or that file */
	PLACE_KERNEL,
	PLACE_UNKNOWN,
};

/* Texts are the model's, or its symbols'. */
struct sample_place {
	enum place_kind kind;
	const char *function;	/* "deflate"; LINE: only if it is another; "": not known */
	const char *module;	/* LIBRARY: the file where it was; "" */
	const char *file;	/* LINE */
	unsigned line;
};

/* A struct of zeros except for m is an empty one.  Each place is there once. */
struct places {
	struct model *m;
	struct sample_place *at;
	size_t nr, room;
	struct hash by_key;
	const char **kernel;	/* names of the kernel's functions, by the number of their row */
	size_t nr_kernel;
};

/* Finds where a sample is; in: the function it is attributed to, or NULL.  -ENOMEM, or its number. */
int64_t places_find(struct places *p, const struct sample *s, const struct symbol *in);
void places_free(struct places *p);

/* How a time divides into places, as its samples say. */
#define SPLIT_MAX	8

struct split {
	size_t nr_samples, nr_parts;
	struct split_part {
		struct sample_place place;
		uint64_t nr;
		double share, low, high;	/* 0..1; the interval contains the share with 95 % */
	} parts[SPLIT_MAX];			/* the biggest first; the rest is left out */
};

/* numbers: of the places of samples; they are sorted. */
void places_split(const struct places *p, uint32_t *numbers, size_t nr, struct split *split);

/* Wilson's interval of a share: nr of all. */
void split_interval(uint64_t nr, uint64_t all, double *low, double *high);

/* "line", "library", "kernel", "unknown" */
const char *place_kind_name(enum place_kind kind);

#endif
