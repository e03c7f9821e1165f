/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Retains the notes that the program attached to requests that are still open, or that took long.
 * A note may be older than the events that a flight recorder retains.
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

/* Forgets the notes of a request that has ended and will be in no further dump. */
void flight_notes_forget(struct flight_notes *f, uint64_t id);

/* Delivers the notes up to a tick as NOTE rows. */
typedef void flight_notes_row_fn(void *arg, unsigned kind, const void *row);
void flight_notes_each(const struct flight_notes *f, int64_t until, flight_notes_row_fn *row, void *arg);

#endif
