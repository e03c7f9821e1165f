/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares a small recording that has every kind of event that the oracle checks.  It
 * consists of rows in memory that a test can change before they are written.
 *
 * Thread 10 is the program's first, on CPU 0; it creates thread 11, which exists from 1000 to
 * 90000, first on CPU 1 and then on both.  A tick is a nanosecond; the end is at 100000.
 */
#ifndef TESTS_ORACLE_MUTANTS_H
#define TESTS_ORACLE_MUTANTS_H

#include "oracle.h"

#define ROWS_MAX	64
#define GEN(n)		((uint64_t)(n) << 16)

enum { FIRST = 10, SECOND = 11 };			/* threads */
enum { META_ATTACHED, META_CPUS, META_SCANNERS, META_KERNEL, META_THRESHOLD, META_END, META_FLOWS };
enum { F_LEAF, F_INNER, F_INNER2, F_OUTER, F_SECOND, F_MAIN };	/* in the order of their ends */
enum { L_HOLD, L_WAIT, L_AFTER, L_POINT, L_READ, L_READ2, L_WRITE, L_COND, L_JOIN };
enum { R_START, R_BLOCK, R_ARRIVED, R_ARRIVED_START, R_END_ALL, R_TAKEN, R_END };
enum { S_BEGIN, S_FORK, S_NEW, S_SECOND, S_FUTEX, S_SLEEP, S_WAKING, S_MOVE, S_WAKEUP, S_PREEMPT, S_BACK,
       S_WAKING2, S_WAKEUP2, S_AGAIN, S_EXIT, S_DEAD };

struct sample {
	struct ldb_row_meta meta[ROWS_MAX];
	struct ldb_row_clock clock[ROWS_MAX];
	struct ldb_row_thread thread[ROWS_MAX];
	struct ldb_row_func func[ROWS_MAX];
	struct ldb_row_lock lock[ROWS_MAX];
	struct ldb_row_req req[ROWS_MAX];
	struct ldb_row_sched sched[ROWS_MAX];
	struct ldb_row_fault fault[ROWS_MAX];
	struct ldb_row_irq irq[ROWS_MAX];
	struct ldb_row_gap gap[ROWS_MAX];
	struct ldb_row_lost lost[ROWS_MAX];
	struct ldb_row_module module[ROWS_MAX];
	struct ldb_row_flow_api flow_api[ROWS_MAX];
	struct ldb_row_flow flow[ROWS_MAX];
	struct ldb_row_flow_hist flow_hist[ROWS_MAX];
	struct ldb_row_flow_call flow_call[ROWS_MAX];
	size_t nr_meta, nr_clock, nr_thread, nr_func, nr_lock, nr_req, nr_sched, nr_fault, nr_irq, nr_gap,
	       nr_lost, nr_module, nr_flow_api, nr_flow, nr_flow_hist, nr_flow_call;
	size_t flush_req;	/* the rows before it are written first; 0: all at once */
	bool is_cut;
	uint32_t clock_id;
};

void sample_good(struct sample *s);

/*
 * Returns the number of violations that the oracle finds, or < 0 if it cannot read the trace, and
 * stores the rule of the first one.
 */
int64_t sample_judge(const struct sample *s, const struct oracle_options *options, char *rule,
		     size_t size);

/* Returns the file that sample_judge() wrote last. */
const char *sample_file(void);
void sample_end(void);

/* These change the rows of a kind: they drop one row, or add one. */
#define sample_drop(s, kind, i)								\
	do {										\
		memmove(&(s)->kind[i], &(s)->kind[(i) + 1],				\
			((s)->nr_##kind - (i) - 1) * sizeof((s)->kind[0]));		\
		(s)->nr_##kind--;							\
	} while (0)
#define sample_add(s, kind, ...)	((s)->kind[(s)->nr_##kind++] = (__typeof__((s)->kind[0]))__VA_ARGS__)

#endif
