/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes dumps while the recording continues.  One thread copies blocks from the ring into a file,
 * and gives it its final name when it is complete.  Another thread looks up names of functions,
 * which may take long, and replaces the file by one that contains them.
 */
#ifndef RECORD_FLIGHT_DUMPS_H
#define RECORD_FLIGHT_DUMPS_H

#include "record/flight/file.h"
#include "record/flight/ring.h"
#include "record/names/ksyms.h"

struct flight_dumps;

struct flight_dumps_options {
	struct flight_ring *ring;
	const char *name;
	struct ldb_file_header header;
	flight_names_fn *names;		/* looks up names of functions, or NULL */
	pid_t pid;
};

struct flight_dump {		/* allocated by the caller */
	struct flight_dump *next;
	uint64_t first, end;	/* blocks of the ring: [first, end) */
	char *blocks;		/* further blocks, with the rows that describe those in the ring */
	size_t size, room;
	/* CLOCK_MONOTONIC of: trigger, end of the dump, file complete, names added */
	int64_t triggered_ns, closed_ns, done_ns, named_ns;
	int64_t before_ns, after_ns;
	struct ksyms *ksyms;		/* addresses in the kernel that must be named, or NULL */
	char why[512];
	/* results, set by the threads */
	struct flight_file file;
	char path[PATH_MAX];
	int64_t bytes;		/* size of the file; -errno: it could not be written */
	uint64_t nr_missing;	/* blocks that were dropped before they were copied */
	char err[512];
};

struct flight_dumps *flight_dumps_open(const struct flight_dumps_options *o);
/* Waits until all dumps are written. */
void flight_dumps_wait(struct flight_dumps *d);
void flight_dumps_close(struct flight_dumps *d);

/* Adds a dump, which the threads own until flight_dumps_done() returns it. */
void flight_dumps_add(struct flight_dumps *d, struct flight_dump *dump);

/* Returns a completed dump, or NULL.  The caller frees it. */
struct flight_dump *flight_dumps_done(struct flight_dumps *d);
void flight_dumps_free_one(struct flight_dump *dump);

/*
 * Returns the number of dumps that are being written; *nr_hidden: of those whose file does not have
 * its final name yet.
 */
unsigned flight_dumps_nr(struct flight_dumps *d, unsigned *nr_hidden);

#endif
