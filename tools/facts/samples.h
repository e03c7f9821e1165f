/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the samples of threads, and names the place of each.  In the program or library that
 * contains the function to which the sample is attributed, the place is the line.  In other
 * libraries it is the function that this function has called or, if that is not known, the function
 * that the library's symbols have at the address.  If the sample is attributed to no function, the
 * place is the line, if it is known.  In the kernel it is the kernel's function.
 */
#ifndef FACTS_SAMPLES_H
#define FACTS_SAMPLES_H

#include "model.h"

struct sample {
	int64_t tick;
	uint32_t tid;
	const struct thread *thread;	/* NULL: not in the trace */
	uint64_t pc;			/* where its own code was; 0: not known */
	/* return address, in instrumented code, of the call that was in progress; 0: none */
	uint64_t ret;
	/* the kernel function, as in the row; 0: the thread was in its own code */
	uint32_t kernel;
};

/* Calls call() for each sample, as faults_each() of interruptions.h does for faults. */
int samples_each(struct model *m, const struct reader_filter *filter,
		 int (*call)(void *arg, const struct sample *s), void *arg);

enum place_kind {
	PLACE_LINE,		/* a line of a source file */
	PLACE_LIBRARY,		/* a function of another file, or that file */
	PLACE_KERNEL,
	PLACE_UNKNOWN,
};

/* The texts belong to the model or to its symbols. */
struct sample_place {
	enum place_kind kind;
	/*
	 * "deflate"; LINE: only if it is another function than the one to which the sample is
	 * attributed; "": not known
	 */
	const char *function;
	const char *module;	/* LIBRARY: the file in which the thread was; else "" */
	const char *file;	/* LINE */
	unsigned line;
};

/* A set of places.  A struct of zeros except for m is an empty one. */
struct places {
	struct model *m;
	struct sample_place *at;
	size_t nr, room;
	struct hash by_key;
	/* names of the kernel's functions, by the number that samples refer to */
	const char **kernel;
	size_t nr_kernel;
};

/*
 * Finds the place of a sample, and returns its number or -ENOMEM.  `in` is the function to which
 * the sample is attributed, or NULL.
 */
int64_t places_find(struct places *p, const struct sample *s, const struct symbol *in);
void places_free(struct places *p);

/* How a time divides into places, according to the samples in it. */
#define SPLIT_MAX	8

struct split {
	size_t nr_samples, nr_parts;
	struct split_part {
		struct sample_place place;
		uint64_t nr;
		/* from 0 to 1; [low, high] is the 95 % confidence interval of the share */
		double share, low, high;
	/* the biggest parts, in descending order; the rest is left out */
	} parts[SPLIT_MAX];
};

/*
 * Splits a time.  numbers are results of places_find(), one for each sample in that time; this
 * function sorts them.
 */
void places_split(const struct places *p, uint32_t *numbers, size_t nr, struct split *split);

/* Computes Wilson's interval of the share nr / all. */
void split_interval(uint64_t nr, uint64_t all, double *low, double *high);

/* "line", "library", "kernel", "unknown" */
const char *place_kind_name(enum place_kind kind);

#endif
