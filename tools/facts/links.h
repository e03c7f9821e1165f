/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the W3C trace contexts of requests, and makes ids for requests that have none.  These ids
 * are the same whenever a recording is read, and differ between recordings.
 */
#ifndef FACTS_LINKS_H
#define FACTS_LINKS_H

#include "instances.h"

struct links;

/*
 * The ids of a trace, whose text is trace_hi and then trace_lo in hex, and of a span.  0 means that
 * the request has no such id.
 */
struct link_ids {
	uint64_t trace_hi, trace_lo, span;
};

/* Returns NULL if there is no memory. */
struct links *links_open(struct model *m);
void links_close(struct links *links);

/*
 * Finds the context of the request instance: the last one that was set for the id before the
 * instance ended and after the previous instance ended.  Returns 0 or -errno.
 */
int links_find(struct links *links, const struct instance *instance, struct link_ids *ids);

/* A trace id to search for: its first hex digits, or all 32. */
struct link_want {
	uint64_t trace_hi, trace_lo, mask_hi, mask_lo;
};

/*
 * Parses at least 8 hex digits of a trace id, or a whole W3C traceparent header.  Returns false if
 * the text is neither.
 */
bool link_want_parse(const char *text, struct link_want *want);

/* Returns 1 if the request instance belongs to that trace, 0 if it does not, or -errno. */
int links_match(struct links *links, const struct instance *instance, const struct link_want *want);

/* Make an id for the trace of a request instance, and one for its nth span. */
void links_make_trace(const struct links *links, const struct instance *instance, struct link_ids *ids);
uint64_t links_make_span(const struct links *links, const struct instance *instance, uint64_t nth);

#endif
