/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Retains the rows that describe others, such as names of threads.  A flight recorder needs a
 * description as long as it retains the described rows, and writes it into each dump.
 */
#ifndef RECORD_FLIGHT_KNOWN_H
#define RECORD_FLIGHT_KNOWN_H

#include "trace/writer.h"

struct flight_known;

/* Returns NULL if there is no memory. */
struct flight_known *flight_known_alloc(void);
void flight_known_free(struct flight_known *k);

/*
 * Returns true if rows of this kind describe others, so that the ring does not store them; copies
 * those that are retained here.
 */
bool flight_known_take(struct flight_known *k, unsigned kind, const void *rows, size_t nr);

/* Forgets descriptions that no row after this tick needs. */
void flight_known_expire(struct flight_known *k, int64_t cut);

/*
 * Calls row() with each retained row.  Rows of mapped modules, of scanners, and of addresses in the
 * kernel are not retained: other files write them into each dump.
 */
typedef void flight_known_row_fn(void *arg, unsigned kind, const void *row);
void flight_known_each(const struct flight_known *k, flight_known_row_fn *row, void *arg);

#endif
