/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts times of kernel events to ticks of the session.  The source of the events may use
 * another clock than the session.
 */
#ifndef RECORD_KERNEL_CLOCK_H
#define RECORD_KERNEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <linux/ldb.h>

struct kernel_clock;

/*
 * clock_id is the session's clock (enum ldb_clock).  `stamps` is the clock of the source; it is
 * used only if the session's clock is the time stamp counter.  Otherwise the source uses the
 * session's clock.  t0 is the clock's value at tick 0; offset_ns is clock_offset() of the program.
 */
struct kernel_clock *kernel_clock_alloc(unsigned clock_id, clockid_t stamps, uint64_t t0,
					int64_t offset_ns);
void kernel_clock_free(struct kernel_clock *c);
/* Returns the clock of the source's time stamps. */
clockid_t kernel_clock_id(const struct kernel_clock *c);

/*
 * Reads both clocks now; `must`: tries harder, and uses even an inaccurate sample.  Returns the
 * time in ns up to which kernel_clock_tick() can interpolate.  Later times are extrapolated, with a
 * larger error.
 */
uint64_t kernel_clock_sample(struct kernel_clock *c, bool must);
/* Converts a time stamp of the source to ticks since t0. */
int64_t kernel_clock_tick(struct kernel_clock *c, uint64_t ns);
/*
 * Converts the times in an event of the kernel's rings to the session's clock.  has_begin: its arg
 * is a time, too.
 */
void kernel_clock_stamp(struct kernel_clock *c, struct ldb_rec *recs, bool has_begin);
/* Returns the present time in the clock of the source's time stamps, in ns. */
uint64_t kernel_clock_now(const struct kernel_clock *c);
/* Return by how much a time between two samples may be wrong, in ticks and in ns. */
int64_t kernel_clock_err(const struct kernel_clock *c);
uint64_t kernel_clock_err_ns(const struct kernel_clock *c);

#endif
