/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes the request table from REQ rows, which come in order of time.  The table has a row for
 * each request instance, from its arrival (ARRIVED), or else the first START (or BLOCK into a
 * queue) of an id, to its END.
 */
#ifndef TRACE_REQTAB_H
#define TRACE_REQTAB_H

#include <stddef.h>
#include <ldb/trace-format.h>

struct reqtab;

struct reqtab *reqtab_alloc(size_t max_rows);
void reqtab_free(struct reqtab *t);

/* Sorts by time, stably.  When there is no memory, rows stay in their order. */
void reqtab_sort(struct ldb_row_req *rows, size_t nr);

/*
 * Adds a row.  Returns 0, or -ENOMEM if there is no memory, or if the table is full: then it is
 * incomplete.
 */
int reqtab_add(struct reqtab *t, const struct ldb_row_req *row);

/*
 * Closes requests that are open at tick `last` (complete = 0), sorts by id, start, and returns the
 * *nr rows, which belong to the table.
 */
const struct ldb_row_reqtab *reqtab_finish(struct reqtab *t, int64_t last, size_t *nr);

#endif
