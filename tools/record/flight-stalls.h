/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds stalls of event loops.  A thread that has waited in epoll_wait(), poll() or select() is
 * expected to wait again, or to begin another request, soon.
 */
#ifndef RECORD_FLIGHT_STALLS_H
#define RECORD_FLIGHT_STALLS_H

#include <stddef.h>
#include <ldb/trace-format.h>

struct flight_stalls;

/* Called if a thread did neither between two ticks; also for short times. */
typedef void flight_stalls_fn(void *arg, uint32_t tid, int64_t from, int64_t to);

/* Returns NULL if there is no memory. */
struct flight_stalls *flight_stalls_alloc(flight_stalls_fn *fn, void *arg);
void flight_stalls_free(struct flight_stalls *s);

/* Rows of one kind come in order of time, those of one pass in any order of kinds. */
void flight_stalls_starts(struct flight_stalls *s, const struct ldb_row_req *rows, size_t nr);
void flight_stalls_calls(struct flight_stalls *s, const struct ldb_row_syscall *rows, size_t nr);
void flight_stalls_pass(struct flight_stalls *s);

#endif
