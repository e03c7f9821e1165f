/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Retains what the program noted of requests that are open: a note may be older than the events that
 * a flight recorder retains.
 */
#ifndef RECORD_FLIGHT_NOTES_H
#define RECORD_FLIGHT_NOTES_H

#include <stddef.h>
#include <ldb/trace-format.h>

struct flight_notes;

/* Returns NULL if there is no memory. */
struct flight_notes *flight_notes_alloc(void);
void flight_notes_free(struct flight_notes *f);

void flight_notes_add(struct flight_notes *f, const struct ldb_row_note *rows, size_t nr);

/* The request is over, and nobody will ask for its notes. */
void flight_notes_forget(struct flight_notes *f, uint64_t id);

/* Delivers those up to a tick, as NOTE rows. */
typedef void flight_notes_row_fn(void *arg, unsigned kind, const void *row);
void flight_notes_each(const struct flight_notes *f, int64_t until, flight_notes_row_fn *row, void *arg);

#endif
