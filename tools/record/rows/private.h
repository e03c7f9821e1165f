/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares what the files of this directory share.
 *
 * pack.c makes rows from the program's events and passes all rows on in order; kernel.c makes rows
 * from kernel events.
 */
#ifndef RECORD_ROWS_PRIVATE_H
#define RECORD_ROWS_PRIVATE_H

#include "base/backlog.h"
#include "base/hash.h"
#include "base/intern.h"
#include "record/names/irq.h"
#include "record/requests/made.h"
#include "record/requests/pauses.h"
#include "record/rows/func-counts.h"
#include "record/rows/pack.h"

#define FUNCS_AT_ONCE	128
#define NR_KINDS	(LDB_BLK_DISK + 1)	/* rows of greater kinds are passed on unsorted */

struct pack {
	const struct session *s;
	struct writer *w;
	uint64_t t0, slack;
	pack_exit_fn *on_exit;
	void *exit_arg;
	struct kept {
		struct pack *pack;
		struct backlog rows;
	} kept[NR_KINDS];
	struct irq_names irqs;
	struct intern call_texts;
	/* rows that are waiting to be written together */
	struct ldb_row_func funcs[FUNCS_AT_ONCE];
	size_t nr_funcs;
	struct last_func {
		uint64_t gen;
		uint32_t tid;
	} *last_funcs;			/* last FUNC of each ring */
	unsigned nr_rings;
	/* the last THREAD_START of each tid */
	struct pack_birth *births;
	size_t nr_births, room_births;
	struct hash birth_of;		/* by tid */
	struct chains *chains;
	struct func_counts func_counts;
	struct chains *waiting;		/* a copy of chains, for pack_waiting_end() */
	/*
	 * invocations that waiting.c has written for the last dump, of existing threads and of
	 * earlier threads with the same tids
	 */
	struct func_counts waiting_counts, waiting_exited;
	struct metrics *metrics;	/* NULL: no sums for monitoring */
	struct filter *filter;		/* NULL: all rows are written */
	struct made_requests *made;	/* NULL: the program or the runtime makes the requests */
	uint64_t nr_rows, nr_irqs, nr_open, nr_socket;
	uint64_t scope;			/* the scope of MESSAGE rows */
	pack_rest_fn *on_rest;
	void *rest_arg;
	pack_mapping_fn *on_mapping;
	pack_descriptor_fn *on_descriptor;
	void *descriptor_arg;
	void *mapping_arg;
	pack_lock_fn *on_lock;
	void *lock_arg;
	struct pauses pauses;
	unsigned nr_since;		/* events since on_rest() was called */
};

/* Returns the page of a thread, or NULL. */
const volatile struct ldb_page *pack_page(void *pack, uint32_t tid);

/* Returns the tick of a clock value in the rings. */
static inline int64_t pack_tick(const struct pack *p, uint64_t tsc)
{
	return (int64_t)(tsc - p->t0);
}

/*
 * Returns memory for a row, which is written when all earlier rows are known.  The caller must fill
 * it before the next call.
 */
static inline void *pack_keep_back(struct pack *p, unsigned kind, int64_t tick)
{
	return backlog_add(&p->kept[kind].rows, tick);
}

/* kernel.c: each function makes a row from a kernel event. */
void pack_kernel_sched(struct pack *p, unsigned ring, const struct ldb_rec *recs);
void pack_kernel_task(struct pack *p, unsigned ring, const struct ldb_rec *recs);
void pack_kernel_fault(struct pack *p, unsigned ring, const struct ldb_rec *recs);
void pack_kernel_irq(struct pack *p, unsigned ring, const struct ldb_rec *recs);
void pack_kernel_irq_name(struct pack *p, unsigned ring, const struct ldb_rec *recs);
void pack_kernel_syscall(struct pack *p, unsigned ring, const struct ldb_rec *recs);
void pack_kernel_disk(struct pack *p, unsigned ring, const struct ldb_rec *recs);

/* notes.c: each function makes a row from an event of the program. */
void pack_note(struct pack *p, unsigned ring, const struct ldb_rec *recs);
void pack_message(struct pack *p, unsigned ring, const struct ldb_rec *recs);
void pack_mark(struct pack *p, unsigned ring, const struct ldb_rec *recs);

/* Discards the counts of pack_waiting_count(). */
static inline void pack_waiting_forget(struct pack *p)
{
	func_counts_free(&p->waiting_counts);
	func_counts_free(&p->waiting_exited);
	p->waiting_counts = p->waiting_exited = (struct func_counts){ 0 };
}

/*
 * Returns a copy of the string that is valid until pack_free(); "" if there is no memory, or there
 * are too many strings.
 */
const char *pack_keep_text(struct pack *p, const char *text);

#endif
