/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the W3C trace contexts of requests, and makes ids for requests that have none.  The same
 * recording always gets the same ids, and other recordings get other ones.
 */
#ifndef FACTS_LINKS_H
#define FACTS_LINKS_H

#include "lives.h"

struct links;

/*
 * The ids as numbers whose hex digits are in the order of the text.  If trace is 0, 0, or span is
 * 0, the request has none.
 */
struct link_ids {
	uint64_t trace_hi, trace_lo, span;
};

/* Returns NULL if there is no memory. */
struct links *links_open(struct model *m);
void links_close(struct links *links);

/*
 * Finds the context of the request instance: the last one that was set for the id before the
 * instance ended and after the previous instance ended.  Returns 0, or -ENOMEM.
 */
int links_find(struct links *links, const struct life *life, struct link_ids *ids);

/* A trace id to search for: its first hex digits, or all 32. */
struct link_want {
	uint64_t trace_hi, trace_lo, mask_hi, mask_lo;
};

/*
 * Reads at least 8 hex digits, or a whole traceparent header (W3C).  Returns false if the text is
 * neither.
 */
bool link_want_parse(const char *text, struct link_want *want);

/* Does the request instance belong to that trace?  Returns 1, 0 or -ENOMEM. */
int links_match(struct links *links, const struct life *life, const struct link_want *want);

/* The first makes an id for the trace of a request instance, the second one for its nth span. */
void links_make_trace(const struct links *links, const struct life *life, struct link_ids *ids);
uint64_t links_make_span(const struct links *links, const struct life *life, uint64_t nth);

#endif
