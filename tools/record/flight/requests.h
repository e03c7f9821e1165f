/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows requests while a flight recorder runs: how long each took, and the beginnings of open
 * requests, which may be older than the retained events.
 */
#ifndef RECORD_FLIGHT_REQUESTS_H
#define RECORD_FLIGHT_REQUESTS_H

#include <stddef.h>
#include <ldb/trace-format.h>

struct flight_requests;

struct flight_request {		/* a request that has ended */
	uint64_t id;
	int64_t start, end;	/* ticks */
	const char *name;	/* its class; "": none */
	/* thread whose call is the request; 0: the program has tagged the request */
	uint32_t tid;
};
typedef void flight_request_fn(void *arg, const struct flight_request *request);

/*
 * ended() is called for each request that ends.  The beginnings of requests that took longer than
 * long_ticks are retained for some time after their end.  Returns NULL if there is no memory.
 */
struct flight_requests *flight_requests_alloc(int64_t long_ticks, flight_request_fn *ended, void *arg);
void flight_requests_free(struct flight_requests *f);

/* These two must be called for all rows, in the order in which they are written. */
void flight_requests_add(struct flight_requests *f, const struct ldb_row_req *rows, size_t nr);
void flight_requests_name(struct flight_requests *f, const struct ldb_row_reqname *rows, size_t nr);

/*
 * Delivers the rows up to a tick (REQ, REQNAME) of the requests that were open at that tick, and
 * the names of ids that are used again; and a warning (META) if requests were forgotten, because
 * too many were open.  Returns the number of requests that were delivered.
 */
typedef void flight_requests_row_fn(void *arg, unsigned kind, const void *row);
uint64_t flight_requests_each(const struct flight_requests *f, int64_t until, flight_requests_row_fn *row, void *arg);

#endif
