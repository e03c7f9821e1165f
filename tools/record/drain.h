/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the rings: finds what was written, drops what is not whole, counts what
 * was lost.  Whatever the program writes into its rings, at worst it loses its
 * own events.
 */
#ifndef RECORD_DRAIN_H
#define RECORD_DRAIN_H

#include "record/session.h"

struct drain;

/* nr records that belong together, private copies; the first has the type. */
typedef void drain_event_fn(void *arg, unsigned ring, const struct ldb_rec *recs, unsigned nr);

/* Everything stamped before this clock value was handed out; while much is left to read. */
typedef void drain_read_fn(void *arg, uint64_t time);

/*
 * Brings the times of an event from a kernel ring into the session's clock: its first record's
 * tsc, and whatever other times it has.
 */
typedef void drain_stamp_fn(void *arg, struct ldb_rec *recs);

/* Records, by LDB_LOST_*. */
struct drain_lost {
	uint64_t overrun, uncommitted, torn;
};

struct drain *drain_alloc(const struct session *s, drain_event_fn *event, drain_read_fn *read,
			  void *arg);
void drain_free(struct drain *d);

/* The kernel's rings are stamped by another clock. */
void drain_stamp_with(struct drain *d, drain_stamp_fn *stamp, void *arg);

/*
 * One pass over all rings.  now_ns: any steady clock, for the age of records
 * never finished.  Returns how full the fullest ring was, in 1/1000.
 */
unsigned drain_pass(struct drain *d, int64_t now_ns);

/* Nobody writes any more: what is not finished never will be. */
void drain_finish(struct drain *d, int64_t now_ns);

/* What a ring has lost since this was last asked. */
struct drain_lost drain_take_lost(struct drain *d, unsigned ring);
unsigned drain_nr_rings(const struct drain *d);

uint64_t drain_events(const struct drain *d);	/* handed out */

#endif
