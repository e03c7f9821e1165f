/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the conditions for dumps of a flight recorder (--trigger). */
#ifndef RECORD_FLIGHT_TRIGGERS_H
#define RECORD_FLIGHT_TRIGGERS_H

#include <stdbool.h>
#include <stddef.h>
#include "record/flight/requests.h"
#include "record/requests/loops.h"

struct flight_triggers;

/*
 * Called when a condition is met.  `why` says in one line what has happened, and which condition
 * that meets.
 */
typedef void flight_triggers_fn(void *arg, const char *why);

/* Checks the syntax of a condition.  Returns NULL, or what is wrong with it. */
const char *flight_triggers_check(const char *text);

/* The texts must be valid.  Returns NULL if there is no memory. */
struct flight_triggers *flight_triggers_alloc(const char *const *texts, size_t nr, flight_triggers_fn *fn, void *arg);
void flight_triggers_free(struct flight_triggers *t);

/*
 * These two change the conditions during the recording; the text "all" removes all of them.  They
 * return NULL, or what is wrong.
 */
const char *flight_triggers_add(struct flight_triggers *t, const char *text);
const char *flight_triggers_remove(struct flight_triggers *t, const char *text);

/* Writes the conditions, separated by two blanks; "": there are none. */
const char *flight_triggers_print(const struct flight_triggers *t, char *text, size_t size);

/* Sets the length of a tick.  Must be called before any rows are reported. */
void flight_triggers_clock(struct flight_triggers *t, double ns_per_tick);

/* fn() returns true for threads that may run event loops; fn NULL: all may. */
void flight_triggers_on_thread(struct flight_triggers *t, loops_thread_fn *fn, void *arg);

/*
 * These functions report what has happened.  flight_triggers_request() is _ended() and _count()
 * together.
 */
void flight_triggers_request(struct flight_triggers *t, const struct flight_request *r);
/* _ended() checks the limit of a single request; _count() is for percentiles. */
void flight_triggers_ended(struct flight_triggers *t, const struct flight_request *r);
void flight_triggers_count(struct flight_triggers *t, const struct flight_request *r);
void flight_triggers_locks(struct flight_triggers *t, const struct ldb_row_lock *rows, size_t nr);
void flight_triggers_starts(struct flight_triggers *t, const struct ldb_row_req *rows, size_t nr);
void flight_triggers_calls(struct flight_triggers *t, const struct ldb_row_syscall *rows, size_t nr);
void flight_triggers_sched(struct flight_triggers *t, const struct ldb_row_sched *rows, size_t nr);
void flight_triggers_signal(struct flight_triggers *t, int signal);
/* Reports the end of the recording; `end` is the reason, as in META "end". */
void flight_triggers_end(struct flight_triggers *t, const char *end);

/*
 * Must be called after each pass over the rings, when all rows up to some time have been delivered.
 */
void flight_triggers_pass(struct flight_triggers *t);
/* Must be called once a second. */
void flight_triggers_second(struct flight_triggers *t);

/* Returns true if one of these conditions names this signal. */
bool flight_triggers_has_signal(const char *const *texts, size_t nr, int signal);

#endif
