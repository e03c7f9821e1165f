/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes dumps while the recording goes on.  One thread copies blocks from the ring into a file;
 * it gets its own name then.  Another thread looks up names of functions, which may take long, and
 * replaces the file by one that has them.
 */
#ifndef RECORD_FLIGHT_DUMPS_H
#define RECORD_FLIGHT_DUMPS_H

#include "record/flight-file.h"
#include "record/flight-ring.h"
#include "record/ksyms.h"

struct flight_dumps;

struct flight_dumps_options {
	struct flight_ring *ring;
	const char *name;
	struct ldb_file_header header;
	flight_names_fn *names;		/* or NULL */
	pid_t pid;
};

struct flight_dump {		/* a separate allocation */
	struct flight_dump *next;
	uint64_t first, end;	/* blocks of the ring: [first, end) */
	char *blocks;		/* blocks of rows that describe them, in memory */
	size_t size, room;
	int64_t triggered_ns, closed_ns, done_ns, named_ns;	/* CLOCK_MONOTONIC; closed: its end */
	int64_t before_ns, after_ns;
	struct ksyms *ksyms;		/* places in the kernel to be named, or NULL */
	char why[512];
	/* the result */
	struct flight_file file;
	char path[PATH_MAX];
	int64_t bytes;		/* -errno: it could not be written */
	uint64_t nr_missing;	/* blocks that were dropped before they were copied */
	char err[512];
};

struct flight_dumps *flight_dumps_open(const struct flight_dumps_options *o);
/* Waits until all dumps are written. */
void flight_dumps_wait(struct flight_dumps *d);
void flight_dumps_close(struct flight_dumps *d);

/* Adds a dump, which belongs to the threads from then on. */
void flight_dumps_add(struct flight_dumps *d, struct flight_dump *dump);

/* Returns a completed dump, or NULL.  The caller frees it. */
struct flight_dump *flight_dumps_done(struct flight_dumps *d);
void flight_dumps_free_one(struct flight_dump *dump);

/* Returns how many dumps are being written; *nr_hidden: how many of these have no file of their own yet. */
unsigned flight_dumps_nr(struct flight_dumps *d, unsigned *nr_hidden);

#endif
