/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what the files that make requests share. */
#ifndef TRACKS_REQUEST_PRIVATE_H
#define TRACKS_REQUEST_PRIVATE_H

#include "request-source.h"

struct made_request {
	uint32_t tid;
	uint32_t thread;	/* from model_thread_number() */
	int64_t start, end;	/* ticks */
	bool is_open;		/* its end is not in the trace */
	bool is_cut;		/* it ends because the recording was paused at that time */
	uint64_t resolution;	/* ticks */
	uint64_t site;
	int64_t start_min, seen_from, seen_to;	/* as in struct segment */
	uint64_t id;
	const char *class;	/* the text belongs to the model or the symtab */
};

struct made_requests {
	struct model *m;
	struct request_source *source;
	struct made_request *at;
	size_t nr, room;
};

/* Add all requests, in any order, to `made`.  Return 0, -ENOMEM or another -errno. */
int request_calls(struct made_requests *made, const char *const *globs, size_t nr);
int request_turns(struct made_requests *made);

/*
 * Sets the ids of requests that are calls, and source->has_ids, if ids of calls were recorded and
 * can be used.  The requests must be in order of their start.
 */
int request_ids(struct made_requests *made);

#endif
