/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks up the names of functions and variables for a filter; see filter.h. */
#ifndef RECORD_FILTER_NAMING_H
#define RECORD_FILTER_NAMING_H

#include <sys/types.h>
#include "record/filter/filter.h"
#include "record/filter/lookup.h"
#include "record/names/modules.h"
#include "record/process/helper.h"

struct naming {
	void (*lookup)(const struct record_lookup *l);
	pid_t program;
	struct helper helper;
	int64_t next_ns;	/* the next lookup begins no earlier than this */
};

/* Must be called from time to time: requests new names, and passes found ones to the filter. */
void naming_poll(struct naming *n, struct filter *f, const struct modules *m, int64_t tick, int64_t now_ns);
/* Waits until all names are found, for some 2 s at most. */
void naming_finish(struct naming *n, struct filter *f, const struct modules *m, int64_t tick);
void naming_end(struct naming *n);

#endif
