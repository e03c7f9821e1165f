/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * W3C trace contexts that the program gave its requests, and ids for the
 * requests that were given none: the same trace gives the same ids each time,
 * another recording other ones.
 */
#ifndef EXPORT_LINKS_H
#define EXPORT_LINKS_H

#include "facts/lives.h"

struct links;

/* Ids are numbers, read like their hex digits.  trace 0, 0: not given; span 0: not given. */
struct link_ids {
	uint64_t trace_hi, trace_lo, span;
};

/* NULL: out of memory. */
struct links *links_open(struct model *m);
void links_close(struct links *links);

/*
 * What the request instance was joined to: the last context that its id was given before it
 * ended and after the one before it had ended.  0, or -ENOMEM.
 */
int links_find(struct links *links, const struct life *life, struct link_ids *ids);

/* Invents an id: of the trace, and of the nth span of the request instance. */
void links_make_trace(const struct links *links, const struct life *life, struct link_ids *ids);
uint64_t links_make_span(const struct links *links, const struct life *life, uint64_t nth);

#endif
