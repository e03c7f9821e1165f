/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves the sums for monitoring by HTTP/1.0, on a local port or a UNIX socket.
 *
 * Clients are not trusted: their number, memory and time are limited, connections are accepted at a
 * limited rate, and the answer in each format is made at most once a second.  No function here
 * blocks.
 */
#ifndef RECORD_METRICS_SCRAPE_H
#define RECORD_METRICS_SCRAPE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRAPE_CLIENTS	8
#define SCRAPE_FDS	(SCRAPE_CLIENTS + 1)

struct scrape;

/*
 * Checks where to listen: ":PORT", or a path that contains a '/'.  Returns NULL, or what is wrong
 * with it.
 */
const char *scrape_check(const char *where);

/* Makes a text, which the caller frees.  Returns 0 or -errno. */
typedef int scrape_fn(void *arg, bool is_openmetrics, char **text, size_t *size);

/* Returns NULL on failure, with one line in err. */
struct scrape *scrape_open(const char *where, scrape_fn *fn, void *arg, char *err, size_t err_size);
void scrape_close(struct scrape *s);

/* Returns the listening socket; -1 if s is NULL. */
int scrape_fd(const struct scrape *s);

/*
 * Fills in what to poll for, and shortens the timeout (ms; -1: none) if something must be done
 * earlier.  s may be NULL.
 */
void scrape_poll(struct scrape *s, struct pollfd p[SCRAPE_FDS], int64_t now_ns, int *timeout);
/* Serves the clients; must be called after the poll. */
void scrape_serve(struct scrape *s, const struct pollfd p[SCRAPE_FDS], int64_t now_ns);

#endif
