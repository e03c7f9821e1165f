/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Retains the rows that describe others: a flight recorder needs them as long as it retains rows
 * that they describe, and writes them into each dump.
 */
#ifndef RECORD_FLIGHT_KNOWN_H
#define RECORD_FLIGHT_KNOWN_H

#include "trace/writer.h"

struct flight_known;

/* Returns NULL if there is no memory. */
struct flight_known *flight_known_alloc(void);
void flight_known_free(struct flight_known *k);

/* If the rows are of such a kind, copies them and returns true. */
bool flight_known_take(struct flight_known *k, unsigned kind, const void *rows, size_t nr);

/* Forgets rows that are not needed for rows after this tick. */
void flight_known_expire(struct flight_known *k, int64_t cut);

/*
 * Calls fn with all rows, except those of threads and modules that exist, which their owners write.
 */
typedef void flight_known_row_fn(void *arg, unsigned kind, const void *row);
void flight_known_each(const struct flight_known *k, flight_known_row_fn *row, void *arg);

#endif
