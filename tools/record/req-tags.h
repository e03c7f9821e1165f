/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores tags of requests (their classes) until their rows come.  Rows are written later, in order
 * of time, and meanwhile an id may be used and tagged again.
 *
 * One thread at a time may use it.
 */
#ifndef RECORD_REQ_TAGS_H
#define RECORD_REQ_TAGS_H

#include <stdbool.h>
#include <stdint.h>

struct req_tags;

struct req_tags *req_tags_alloc(void);		/* NULL: out of memory */
void req_tags_free(struct req_tags *t);

/* Returns false if there are too many, or there is no memory. */
bool req_tags_add(struct req_tags *t, uint64_t id, int64_t tick, uint32_t value);

/*
 * Finds the tag of a request with this id that began at begin: the last tag before that, else the
 * first one up to end.  Returns false if there is none.
 */
bool req_tags_find(const struct req_tags *t, uint64_t id, int64_t begin, int64_t end, uint32_t *value);

/* Forgets the tags of a request that ended at this tick. */
void req_tags_forget(struct req_tags *t, uint64_t id, int64_t tick);

void req_tags_forget_all(struct req_tags *t);

#endif
