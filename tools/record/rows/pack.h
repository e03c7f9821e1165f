/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns events of the rings into rows of the trace.
 *
 * Request, lock and kernel events come from many rings.  They are retained until every ring has
 * been read beyond them, and are then written in order of time.
 */
#ifndef RECORD_ROWS_PACK_H
#define RECORD_ROWS_PACK_H

#include <stdbool.h>
#include <linux/ldb.h>
#include "record/chain/chain.h"
#include "record/filter/filter.h"
#include "record/metrics/metrics.h"
#include "record/rows/func-counts.h"
#include "record/session/session.h"
#include "trace/writer.h"

struct pack;

/* An event may appear in a ring up to slack_ticks after the time of its stamp. */
struct pack *pack_alloc(const struct session *s, struct writer *w, uint64_t t0,
			uint64_t slack_ticks, uint64_t func_threshold_ticks);
void pack_free(struct pack *p);

/* Sets a filter: the program's rows that do not pass it are left out. */
void pack_set_filter(struct pack *p, struct filter *f);

/*
 * Requests the name of a running function, of which there may be no row yet: sums for monitoring
 * may name it.
 */
void pack_want_name(struct pack *p, uint64_t pc);

/* Sets the object that sums the rows that pass the filter, for monitoring; NULL: none. */
void pack_set_metrics(struct pack *p, struct metrics *m);

/*
 * Sets the number of the network to which the program's local addresses belong.  No other network
 * has this number, on any machine.
 */
void pack_set_scope(struct pack *p, uint64_t scope);

/* Sets the object that makes requests from rows; NULL: none. */
struct made_requests;
void pack_set_made(struct pack *p, struct made_requests *m);

/*
 * Returns true if the thread has a page in the session: it is an observed thread of the program,
 * and not one of ldb's own.
 */
bool pack_is_of_program(void *pack, uint32_t tid);

/* Called every few microseconds of work, so that other tasks can run in between. */
typedef void pack_rest_fn(void *arg);
void pack_on_rest(struct pack *p, pack_rest_fn *fn, void *arg);

/* Returns the name of the file that is mapped at an address, or "". */
typedef const char *pack_mapping_fn(void *arg, uint64_t address);
void pack_on_mapping(struct pack *p, pack_mapping_fn *fn, void *arg);

/* Returns a description of one of the program's descriptors, or "". */
typedef const char *pack_descriptor_fn(void *arg, int fd);
void pack_on_descriptor(struct pack *p, pack_descriptor_fn *fn, void *arg);

/* Called with the address of the lock for each wait and each hold that passes the filter. */
typedef void pack_lock_fn(void *arg, uint64_t address);
void pack_on_lock(struct pack *p, pack_lock_fn *fn, void *arg);

/* Called for a THREAD_EXIT event at this tick.  slot is the number of the thread's page. */
typedef void pack_exit_fn(void *arg, uint32_t tid, uint64_t slot, int64_t tick);
void pack_on_exit(struct pack *p, pack_exit_fn *fn, void *arg);

/*
 * Says how events of a type are processed: a new kind of event is a line in pack_types[].  For
 * an unknown type all fields are 0.
 */
struct pack_type {
	uint8_t nr_slots;
	void (*take)(struct pack *p, unsigned ring, const struct ldb_rec *recs);
	bool has_begin;		/* both its tsc and its arg are times */
};

#define PACK_GROUPS	16	/* values of the upper byte of a type: a power of two */
#define PACK_TYPES	64	/* values of the lower byte: a power of two */

extern const struct pack_type pack_types[PACK_GROUPS][PACK_TYPES];

static inline const struct pack_type *pack_type(unsigned type)
{
	bool is_any = !(type & ~((PACK_GROUPS - 1) << 8 | (PACK_TYPES - 1)));

	return &pack_types[is_any ? type >> 8 : 0][type & (PACK_TYPES - 1)];
}

/*
 * Processes an event.  recs are private copies of its records, the first of which contains the
 * type.
 */
void pack_event(struct pack *p, unsigned ring, const struct ldb_rec *recs);

/* Reports that events of a ring were lost before the next one, which has this clock value. */
void pack_lost(struct pack *p, uint64_t now);

/*
 * Adds a row of any kind (LDB_BLK_*) that does not come from the rings.  Ticks are since t0, in any
 * order within the slack.
 */
void pack_row(struct pack *p, unsigned kind, const void *row);

/*
 * From tick until pack_resume(), events of the kernel and of requests are dropped, except those
 * that describe tasks.  Requests that are open at one of these two times are cut.
 */
void pack_pause(struct pack *p, int64_t tick);
void pack_resume(struct pack *p, int64_t tick);

/* rows that pack_row() has added so far, of the kinds that are sorted by time */
uint64_t pack_nr_rows(const struct pack *p);
uint64_t pack_nr_open(const struct pack *p);	/* rows of invocations that were still running */
/* interrupts, including those that are too short for a row */
uint64_t pack_nr_irqs(const struct pack *p);

/* Says that all rings have been read up to this clock value, so that older rows may be written. */
void pack_release(struct pack *p, uint64_t now);

/*
 * Returns the counts of FUNC rows by thread, including filtered ones.  They are counted if is_on is
 * set.
 */
struct func_counts *pack_func_counts(struct pack *p);

/* Returns true if this invocation is the last one that was read from one of the rings. */
bool pack_is_last_func(const struct pack *p, uint32_t tid, uint64_t gen);

/* Writes all rows, except those of invocations that are still running. */
void pack_finish(struct pack *p);

/* Adds an invocation that the scanner has observed. */
void pack_func(struct pack *p, const struct ldb_row_func *row);

/*
 * Called at the end of the recording: writes rows of all other invocations that are still running.
 */
void pack_finish_open(struct pack *p);

/*
 * waiting.c: writes invocations as if the recording ended, while it continues.  Running invocations
 * are passed to pack_waiting_func(), between pack_waiting_begin() and pack_waiting_end().  If rows
 * are counted (pack_func_counts()), invocations that the chains retain until more is known of them
 * are written, too.  pack_waiting_exit() reports an exit whose event has not been read yet.
 * pack_waiting_count() returns how many invocations of a thread were written since the last
 * pack_waiting_begin(); is_exited: those of earlier threads with the same tid.
 */
void pack_waiting_begin(struct pack *p);
void pack_waiting_exit(struct pack *p, uint32_t tid, int64_t tick);
void pack_waiting_func(struct pack *p, const struct ldb_row_func *row);
void pack_waiting_end(struct pack *p, int64_t tick);
uint64_t pack_waiting_count(const struct pack *p, uint32_t tid, bool is_exited);

/* Returns the object that makes rows from the frames that the kernel has read. */
struct chains *pack_chains(struct pack *p);

/* Returns how many requests the runtime has made from connections. */
uint64_t pack_nr_socket(const struct pack *p);

struct pack_birth {		/* a THREAD_START event */
	uint32_t tid, creator;
	uint64_t start_routine;
	int64_t tick;
	bool has_page;		/* set by threads.c */
};

/* Returns the last THREAD_START of a tid, or NULL. */
struct pack_birth *pack_birth_of(struct pack *p, uint32_t tid);

/* Returns the next THREAD_START, or NULL.  *i must be 0 for the first one. */
struct pack_birth *pack_birth_next(struct pack *p, size_t *i);

#endif
