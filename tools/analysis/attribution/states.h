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

/* NSight's four classes of anomalies; that of functions is divided into three. */
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

/* The noun of a table, "CPU quota"; and the words before its label, in pictures. */
const char *leaf_kind_noun(enum leaf_kind kind);
const char *leaf_kind_words(enum leaf_kind kind);

/* The phrase of a sentence: "preempted by hog", "preempted".  Returns buf. */
char *leaf_kind_say(enum leaf_kind kind, const char *label, char *buf, size_t size);

/* "wait": the pages' --c-wait. */
const char *leaf_kind_colour(enum leaf_kind kind);

/* The rank of what covers functions: the highest counts; 0: it covers none. */
unsigned leaf_kind_rank(enum leaf_kind kind);

/* The class of anomaly when a slow request has more of it. */
enum anomaly leaf_kind_anomaly(enum leaf_kind kind);

/* The kind of a function, a wait or a time off the CPU. */
enum leaf_kind leaf_kind_of(const struct segment *s);

#endif
