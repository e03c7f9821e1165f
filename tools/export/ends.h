/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the ends of open segments in order of time.  If several ends are at the same time, the one
 * that was pushed last comes first.
 */
#ifndef EXPORT_ENDS_H
#define EXPORT_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct export_end {
	int64_t at;		/* ns */
	uint64_t nr;		/* set by ends_push() */
	uint64_t track;		/* this and the following are for the caller */
	uint64_t flow;
	bool is_instant;	/* an instant event, not an end */
	bool is_last;		/* the flow (an arrow in the viewer) ends here */
};

struct export_ends {
	struct export_end *heap;
	size_t nr, room;
	uint64_t nr_pushed;
};

/* Returns 0 or -ENOMEM. */
int ends_push(struct export_ends *e, const struct export_end *end);

/*
 * Calls end() for each stored end up to and including this time, and removes it.  If end() returns
 * a value that is not 0, stops and returns that value; else returns 0.
 */
int ends_until(struct export_ends *e, int64_t at, int (*end)(void *arg, const struct export_end *end),
	       void *arg);
void ends_free(struct export_ends *e);

#endif
