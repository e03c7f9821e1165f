/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the W3C trace contexts of requests, and makes ids for requests that have none: the ids of a
 * trace are always the same, and differ from those of other recordings.
 */
#ifndef FACTS_LINKS_H
#define FACTS_LINKS_H

#include "lives.h"

struct links;

/* Ids are numbers, in the order of their hex digits.  trace 0, 0: not given; span 0: not given. */
struct link_ids {
	uint64_t trace_hi, trace_lo, span;
};

/* Returns NULL if there is no memory. */
struct links *links_open(struct model *m);
void links_close(struct links *links);

/*
 * Finds the context of the request instance: the last one set for its id before its end and after
 * the end of the previous instance.  Returns 0, or -ENOMEM.
 */
int links_find(struct links *links, const struct life *life, struct link_ids *ids);

/* The first digits of a trace id, or all 32 of them. */
struct link_want {
	uint64_t trace_hi, trace_lo, mask_hi, mask_lo;
};

/* Reads hex digits, at least 8, or a whole traceparent header (W3C).  Returns false if it is neither. */
bool link_want_parse(const char *text, struct link_want *want);

/* Does the request instance belong to that trace?  1, 0 or -ENOMEM. */
int links_match(struct links *links, const struct life *life, const struct link_want *want);

/* Makes an id: of the trace, and of the nth span of the request instance. */
void links_make_trace(const struct links *links, const struct life *life, struct link_ids *ids);
uint64_t links_make_span(const struct links *links, const struct life *life, uint64_t nth);

#endif
