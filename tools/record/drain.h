/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the rings: finds the written records, drops those that are not whole, counts the lost
 * ones.  Whatever the program writes into its rings, at worst it loses its own events.
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
 * The events go to the pack.  clock is that of the stamps in the kernel's rings, NULL: the
 * session's.
 */
struct drain *drain_alloc(const struct session *s, struct pack *pack, struct kernel_clock *clock);
void drain_free(struct drain *d);

/*
 * Makes one pass over all rings.  now_ns is any steady clock, for the age of records that are
 * never finished.  Returns how full the fullest ring was, in 1/1000.
 */
unsigned drain_pass(struct drain *d, int64_t now_ns);

/* Call this when the program writes no more records: it drops those that are not finished. */
void drain_finish(struct drain *d, int64_t now_ns);

/* Returns what a ring has lost since the last call. */
struct drain_lost drain_take_lost(struct drain *d, unsigned ring);
unsigned drain_nr_rings(const struct drain *d);

uint64_t drain_events(const struct drain *d);	/* events that were passed on */

#endif
