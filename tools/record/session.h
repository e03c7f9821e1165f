/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory shared with the program, and its clock. */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/ldb.h>
#include <ldb/trace-format.h>

#define SESSION_THREADS		4096
#define SESSION_SCAN_ORDER	20	/* records of a scanner's ring: 32 MiB */

struct session {
	int fd;			/* sealed memfd */
	char *base;
	size_t size;
	/* What was written into the info page.  Its copy there may change; this may not. */
	struct ldb_info info;
};

/* ring_bytes: of all rings of CPUs together.  0 or -errno. */
int session_open(struct session *s, uint64_t ring_bytes, unsigned nr_scanners, unsigned clock_id,
		 uint64_t clock_hz);
void session_close(struct session *s);

/* The info page as the program left it. */
const volatile struct ldb_info *session_info(const struct session *s);

const struct ldb_page *session_page(const struct session *s, unsigned slot);
const struct ldb_stack *session_stack(const struct session *s, unsigned slot);
const struct ldb_ring_hdr *session_ring(const struct session *s, unsigned ring);
unsigned session_ring_order(const struct session *s, unsigned ring);

/* clock.c */

/* LDB_CLOCK_TSC only where the kernel itself relies on it. */
unsigned clock_choose(void);
const char *clock_name(unsigned clock_id);
uint64_t clock_now(unsigned clock_id);

/* tick is absolute here: subtract t0. */
void clock_sample(unsigned clock_id, struct ldb_row_clock *row);

/* From two samples; waits if they would be too close. */
uint64_t clock_calibrate(unsigned clock_id, const struct ldb_row_clock *first);

#endif
