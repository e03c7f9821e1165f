/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remembers what was said of requests (their classes) until their rows come: those wait to be
 * written in order of time, and meanwhile an id may be used again, and tagged again.
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
 * Of a request with this id that began at this tick: the last tag before that, else the first one
 * up to this end.  Returns false if there is none.
 */
bool req_tags_find(const struct req_tags *t, uint64_t id, int64_t begin, int64_t end, uint32_t *value);

/* The request ended at this tick. */
void req_tags_forget(struct req_tags *t, uint64_t id, int64_t tick);

void req_tags_forget_all(struct req_tags *t);

#endif
