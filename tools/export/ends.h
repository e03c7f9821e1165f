/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the ends of open segments in order of time; of ends at the same time, that of the segment
 * that began last is first.
 */
#ifndef EXPORT_ENDS_H
#define EXPORT_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct export_end {
	int64_t at;		/* ns */
	uint64_t nr;		/* ends_push() sets it */
	uint64_t track;		/* for the caller's use, as the following */
	uint64_t flow;
	bool is_instant;	/* an instant event and not an end */
	bool is_last;		/* of its flow */
};

struct export_ends {
	struct export_end *heap;
	size_t nr, room;
	uint64_t nr_pushed;
};

/* 0 or -ENOMEM. */
int ends_push(struct export_ends *e, const struct export_end *end);

/*
 * Calls end for all ends up to that time, and removes them.  A result other than 0 stops, and is
 * returned.
 */
int ends_until(struct export_ends *e, int64_t at, int (*end)(void *arg, const struct export_end *end),
	       void *arg);
void ends_free(struct export_ends *e);

#endif
