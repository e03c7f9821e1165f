/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the tags (classes) of requests until the rows of the requests arrive.  These come later,
 * in order of time; meanwhile an id may be used again with another tag.
 *
 * Only one thread at a time may use an object.
 */
#ifndef RECORD_FILTER_REQ_TAGS_H
#define RECORD_FILTER_REQ_TAGS_H

#include <stdbool.h>
#include <stdint.h>

struct req_tags;

struct req_tags *req_tags_alloc(void);		/* NULL: out of memory */
void req_tags_free(struct req_tags *t);

/* Does nothing if there are too many tags, or if there is no memory. */
void req_tags_add(struct req_tags *t, uint64_t id, int64_t tick, uint32_t value);

/*
 * Finds the tag of a request with this id that ran from `begin` to `end`: the last tag up to
 * `begin`, or else the first one up to `end`.  Returns false if there is none.
 */
bool req_tags_find(const struct req_tags *t, uint64_t id, int64_t begin, int64_t end, uint32_t *value);

/* Forgets the tags of a request that ended at this tick. */
void req_tags_forget(struct req_tags *t, uint64_t id, int64_t tick);

void req_tags_forget_all(struct req_tags *t);

#endif
