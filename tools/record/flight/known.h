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

/* If rows of this kind describe others, copies them and returns true. */
bool flight_known_take(struct flight_known *k, unsigned kind, const void *rows, size_t nr);

/* Forgets descriptions that no row after this tick needs. */
void flight_known_expire(struct flight_known *k, int64_t cut);

/*
 * Calls row() with each retained row.  Rows of mapped modules are not retained: modules.c writes
 * them into each dump.
 */
typedef void flight_known_row_fn(void *arg, unsigned kind, const void *row);
void flight_known_each(const struct flight_known *k, flight_known_row_fn *row, void *arg);

#endif
