/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces the rest of the runtime: the test begins and ends the session, and the ring retains
 * every record.
 *
 * Threads register themselves at their first use of thread_self(); they unregister when they
 * end.
 */
#ifndef SHIM_HARNESS_H
#define SHIM_HARNESS_H

#ifdef __cplusplus
#include <stdint.h>
#else
#include "internal.h"
#include "shim/next.h"

extern __thread uint64_t harness_gen;		/* return value of thread_gen() */
extern __thread bool harness_unregistered;	/* thread_self() returns NULL */
extern __thread struct ldb_thread harness_block;
extern unsigned harness_nr_quiesce;		/* calls of scan_quiesce() */
extern _Atomic uint64_t harness_clock;		/* if not 0: return value of session_clock() */
extern void (*harness_on_write)(void);		/* called by each ring_write(), if set */

/* Begins a new session: it has no records, and the next epoch. */
void harness_start(enum ldb_mutex_level level, uint64_t threshold);
void harness_stop(void);
/* The session ends and a new one begins; the records stay. */
void harness_reattach(void);

union harness_rec {
	struct ldb_rec slot[3];
	struct ldb_lock_rec lock;
	struct ldb_req_rec req;
};
/*
 * harness_nr() returns the number of records so far; harness_rec() returns one, in the order in
 * which they were written.
 */
unsigned harness_nr(void);
const union harness_rec *harness_rec(unsigned n);

/*
 * harness_count() counts records of this type and kind (0: any) about this object (NULL: any);
 * harness_last() returns the last of them, or an empty record.
 */
unsigned harness_count(unsigned type, unsigned kind, const volatile void *object);
const struct ldb_lock_rec *harness_last(unsigned type, unsigned kind, const volatile void *object);
uint64_t harness_site(const struct ldb_lock_rec *r);

/* Waits until thread `tid` of this process sleeps. */
void harness_wait_asleep(int tid);

/* The interposed functions, in the form of the table of the real ones. */
extern const struct next harness_shim;

#endif
#endif /* SHIM_HARNESS_H */
