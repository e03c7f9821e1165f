/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a thread, or a request, can be in: states.def. */
#ifndef ATTRIBUTION_STATES_H
#define ATTRIBUTION_STATES_H

#include "facts/model.h"

#define STATE(name, ...) LEAF_##name,
enum leaf_kind {
#include "states.def"
	NR_LEAF_KINDS
};
#undef STATE

/* NSight's four classes of anomalies; a function's is one of three. */
enum anomaly {
	ANOMALY_CONTEXT,	/* a context that most requests did not meet */
	ANOMALY_GAP,		/* off the CPU, or waiting */
	ANOMALY_SLOWER,		/* a function's time per call */
	ANOMALY_MORE,		/* a function's number of calls */
	ANOMALY_UNEXPECTED,	/* a function that few requests call */
	ANOMALY_OVERLAP,	/* behind other requests */
	ANOMALY_UNKNOWN,
	NR_ANOMALIES
};

/* "function", "lock_wait", "head_of_line", ...: as in JSON. */
const char *leaf_kind_name(enum leaf_kind kind);

/* "CPU quota": in a table.  "kept off the CPU by a quota": before its label, in pictures. */
const char *leaf_kind_noun(enum leaf_kind kind);
const char *leaf_kind_words(enum leaf_kind kind);

/* "preempted by hog", "preempted": in a sentence.  Returns buf. */
char *leaf_kind_say(enum leaf_kind kind, const char *label, char *buf, size_t size);

/* "wait": the pages' --c-wait. */
const char *leaf_kind_colour(enum leaf_kind kind);

/* Of what covers functions: the higher one counts; 0: does not. */
unsigned leaf_kind_rank(enum leaf_kind kind);

/* What it is called when a slow request has more of it. */
enum anomaly leaf_kind_anomaly(enum leaf_kind kind);

/* Of a function, a wait or a time off the CPU. */
enum leaf_kind leaf_kind_of(const struct segment *s);

#endif
