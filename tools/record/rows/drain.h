/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the rings: finds the written records, drops incomplete ones, and counts lost ones.  A
 * program that writes invalid data into its rings can only lose its own events.
 */
#ifndef RECORD_ROWS_DRAIN_H
#define RECORD_ROWS_DRAIN_H

#include "record/kernel/clock.h"
#include "record/rows/pack.h"
#include "record/session/session.h"

struct drain;

/* Numbers of lost records, by their cause (LDB_LOST_*). */
struct drain_lost {
	uint64_t overrun, uncommitted, torn;
};

/*
 * Events are passed to `pack`.  `clock` is the clock of the stamps in the kernel's rings; NULL: the
 * session's clock.
 */
struct drain *drain_alloc(const struct session *s, struct pack *pack, struct kernel_clock *clock);
void drain_free(struct drain *d);

/*
 * Makes one pass over all rings.  now_ns is the time of any monotonic clock, by which the age of
 * unfinished records is measured.  Returns how full the fullest ring was, in 1/1000.
 */
unsigned drain_pass(struct drain *d, int64_t now_ns);

/*
 * Makes the last pass, and drops unfinished records.  Must be called after the program has stopped
 * writing.
 */
void drain_finish(struct drain *d, int64_t now_ns);

/* Returns how many records of a ring were lost since the last call. */
struct drain_lost drain_take_lost(struct drain *d, unsigned ring);
unsigned drain_nr_rings(const struct drain *d);

uint64_t drain_events(const struct drain *d);	/* events that were passed on */

#endif
