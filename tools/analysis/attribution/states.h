/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the states of states.def and the kinds of segments.def. */
#ifndef ATTRIBUTION_STATES_H
#define ATTRIBUTION_STATES_H

#include "facts/model.h"

#define STATE(name, ...) LEAF_##name,
enum leaf_kind {
#include "states.def"
	NR_LEAF_KINDS
};
#undef STATE

/*
 * The four classes of anomalies of NSight (NSDI '22); its class of functions is divided into three
 * here.  ANOMALY_UNKNOWN is added for time of which nothing is known.
 */
enum anomaly {
	/* another task, an interrupt or the hypervisor, which most requests did not have */
	ANOMALY_CONTEXT,
	ANOMALY_GAP,		/* off the CPU, or waiting */
	ANOMALY_SLOWER,		/* a function's time per call */
	ANOMALY_MORE,		/* a function's number of calls */
	ANOMALY_UNEXPECTED,	/* a function that few requests call */
	ANOMALY_OVERLAP,	/* behind other requests */
	ANOMALY_UNKNOWN,
	NR_ANOMALIES
};

/* The columns of states.def. */
extern const struct state {
	/* name: "lock_wait", as in JSON; colour: "wait", the pages' CSS variable --c-wait */
	const char *name, *colour;
	unsigned rank;			/* as in states.def */
	/* the anomaly of a slow request that has more of this state than others */
	enum anomaly anomaly;
	/* noun: "CPU quota", in a table of causes; words: "preempted by", in pictures */
	const char *noun, *words;
	const char *phrase, *joint;	/* for leaf_kind_say() */
} leaf_kinds[NR_LEAF_KINDS];

/* Writes the phrase of a sentence: "preempted by hog", "preempted".  Returns buf. */
char *leaf_kind_say(enum leaf_kind kind, const char *label, char *buf, size_t size);

/* The columns of segments.def. */
extern const struct segment_words {
	const char *name, *words;	/* "lock_wait", as in JSON; "lock wait" */
	const char *colour;		/* its colour in the pages; NULL: the colour of its state */
	const char *row;		/* the name of the row of the pages that shows it */
	/* the letter in ldb-timeline's picture if it is a time off the CPU; else 0 */
	char off_cpu;
	enum leaf_kind state;
	enum segment_kind track;	/* for exports: the track has the name of this kind */
	const char *track_words, *category;
} segment_kinds[NR_SEGMENT_KINDS];

/* Returns the state in which the thread of the segment was during the segment. */
enum leaf_kind leaf_kind_of(const struct segment *s);

#endif
