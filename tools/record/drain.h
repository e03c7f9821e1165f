/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the rings: finds what was written, drops what is not whole, counts what
 * was lost.  Whatever the program writes into its rings, at worst it loses its
 * own events.
 */
#ifndef RECORD_DRAIN_H
#define RECORD_DRAIN_H

#include "record/kernel-clock.h"
#include "record/pack.h"
#include "record/session.h"

struct drain;

/* Records, by LDB_LOST_*. */
struct drain_lost {
	uint64_t overrun, uncommitted, torn;
};

/*
 * What was read goes to the pack.  clock: that of the stamps in the kernel's rings, NULL: the
 * session's.
 */
struct drain *drain_alloc(const struct session *s, struct pack *pack, struct kernel_clock *clock);
void drain_free(struct drain *d);

/*
 * One pass over all rings.  now_ns: any steady clock, for the age of records
 * never finished.  Returns how full the fullest ring was, in 1/1000.
 */
unsigned drain_pass(struct drain *d, int64_t now_ns);

/* Call it when nobody writes any more: what is not finished never will be. */
void drain_finish(struct drain *d, int64_t now_ns);

/* What a ring has lost since this was last asked. */
struct drain_lost drain_take_lost(struct drain *d, unsigned ring);
unsigned drain_nr_rings(const struct drain *d);

uint64_t drain_events(const struct drain *d);	/* handed out */

#endif
