/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns events of the rings into rows of the trace.
 *
 * Request, lock and kernel events come from many rings.  They are held until every ring has been
 * read beyond them, and are written in order of time.
 */
#ifndef RECORD_PACK_H
#define RECORD_PACK_H

#include <stdbool.h>
#include <linux/ldb.h>
#include "record/chain.h"
#include "record/filter.h"
#include "record/func-counts.h"
#include "record/metrics.h"
#include "record/session.h"
#include "trace/writer.h"

struct pack;

/* slack_ticks is how long before its appearance in a ring an event may be stamped. */
struct pack *pack_alloc(const struct session *s, struct writer *w, uint64_t t0,
			uint64_t slack_ticks, uint64_t func_threshold_ticks);
void pack_free(struct pack *p);

/* Sets the filter: rows of the program that do not pass it are left out. */
void pack_set_filter(struct pack *p, struct filter *f);

/* Its name is needed although no call of it has ended: sums for monitoring may name it. */
void pack_want_name(struct pack *p, uint64_t pc);

/* Sums the rows that pass the filter. */
void pack_set_metrics(struct pack *p, struct metrics *m);

/* Requests are made of rows that pass the filter. */
struct made_requests;
void pack_set_made(struct pack *p, struct made_requests *m);

/* Is it a thread of the program, and not one of ldb's own? */
bool pack_is_of_program(void *pack, uint32_t tid);

/* Called every few microseconds of work, so that other tasks can run in between. */
typedef void pack_rest_fn(void *arg);
void pack_on_rest(struct pack *p, pack_rest_fn *fn, void *arg);

/* Returns the name of the file that is mapped at an address, or "". */
typedef const char *pack_mapping_fn(void *arg, uint64_t address);
void pack_on_mapping(struct pack *p, pack_mapping_fn *fn, void *arg);

/* Returns what a descriptor of the program's is, or "". */
typedef const char *pack_descriptor_fn(void *arg, int fd);
void pack_on_descriptor(struct pack *p, pack_descriptor_fn *fn, void *arg);

/* This is called for the address of each wait for, and hold of, a lock. */
typedef void pack_lock_fn(void *arg, uint64_t address);
void pack_on_lock(struct pack *p, pack_lock_fn *fn, void *arg);

/* This is called for a thread's THREAD_EXIT: its page is at slot; tick is the time. */
typedef void pack_exit_fn(void *arg, uint32_t tid, uint64_t slot, int64_t tick);
void pack_on_exit(struct pack *p, pack_exit_fn *fn, void *arg);

/*
 * How events of the rings are processed, by their type: a new kind of event is a line in this
 * table.  For an unknown type all is 0.
 */
struct pack_type {
	uint8_t nr_slots;
	void (*take)(struct pack *p, unsigned ring, const struct ldb_rec *recs);
	bool has_begin;		/* its arg is a time, as its tsc is */
};

#define PACK_GROUPS	16	/* the upper byte of a type */
#define PACK_TYPES	64	/* the lower one; powers of two */

extern const struct pack_type pack_types[PACK_GROUPS][PACK_TYPES];

static inline const struct pack_type *pack_type(unsigned type)
{
	bool is_any = !(type & ~((PACK_GROUPS - 1) << 8 | (PACK_TYPES - 1)));

	return &pack_types[is_any ? type >> 8 : 0][type & (PACK_TYPES - 1)];
}

/* Processes an event, given private copies of its records; the first has the type. */
void pack_event(struct pack *p, unsigned ring, const struct ldb_rec *recs);

/* Events of a ring were lost before the one with this clock value, which is processed next. */
void pack_lost(struct pack *p, uint64_t now);

/*
 * Adds a row that does not come from the rings, of any kind (LDB_BLK_*); ticks since t0, in any
 * order within the slack.
 */
void pack_row(struct pack *p, unsigned kind, const void *row);

/*
 * From tick on, until pack_resume(), events of the kernel and of requests are dropped.  Requests that are
 * open at one of the two times are cut.
 */
void pack_pause(struct pack *p, int64_t tick);
void pack_resume(struct pack *p, int64_t tick);

uint64_t pack_nr_rows(const struct pack *p);	/* of these, without TASK and LOST */
uint64_t pack_nr_open(const struct pack *p);	/* invocations that had not ended */
uint64_t pack_nr_irqs(const struct pack *p);	/* interrupts, also those too short for a row */

/* All rings have been read up to clock value now, so older rows may be written. */
void pack_release(struct pack *p, uint64_t now);

/* Counts FUNC rows by thread, filtered ones too, if is_on is set. */
struct func_counts *pack_func_counts(struct pack *p);

/* Is this the last FUNC of some ring? */
bool pack_is_last_func(const struct pack *p, uint32_t tid, uint64_t gen);

/* Writes all rows, except those of invocations that are still running. */
void pack_finish(struct pack *p);

/* Adds an invocation that the scanner has observed and that is not in its rings. */
void pack_func(struct pack *p, const struct ldb_row_func *row);

/* At the end of the recording: writes rows of all other invocations that are still running. */
void pack_finish_open(struct pack *p);

/* Returns the object that makes rows of the kernel's readings of frames. */
struct chains *pack_chains(struct pack *p);

/* Returns how many requests the runtime has made from connections. */
uint64_t pack_nr_socket(const struct pack *p);

struct pack_birth {		/* a THREAD_START */
	uint32_t tid, creator;
	uint64_t start_routine;
	int64_t tick;
	bool has_page;		/* for the caller */
};

/* Returns the last THREAD_START of a tid, or NULL. */
struct pack_birth *pack_birth_of(struct pack *p, uint32_t tid);

/* Iterates over all of them: *i starts at 0.  NULL: no more. */
struct pack_birth *pack_birth_next(struct pack *p, size_t *i);

#endif
