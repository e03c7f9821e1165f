/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records the ids that calls of functions have as arguments (--request='FUNCTION(r->id)'): a probe of
 * the kernel at the function's first instruction reads each.
 */
#ifndef RECORD_CALL_IDS_H
#define RECORD_CALL_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "trace/request-words.h"

struct call_ids;

/*
 * Finds where the id of a word is, in a file, below the program's root folder or NULL.  Returns for how many
 * functions; 0: there are none of that name; -1: why says in one line why not.
 */
typedef int call_ids_find_fn(const char *root, const char *file, const char *word,
			     struct request_place found[REQUEST_PLACES_MAX], char *why, size_t why_size);

struct call_ids_options {
	pid_t pid;
	const char *words;	/* of --request, with newlines between */
	call_ids_find_fn *find;	/* is called in a process of its own */
	unsigned clock_id;	/* enum ldb_clock: rows are stamped in it */
	uint64_t t0;		/* clock value that is tick 0 */
	int64_t offset_ns;	/* clock_offset() of the program */
	void (*row)(void *arg, unsigned kind, const void *row);
	void (*warn)(void *arg, const char *text);
	void *arg;
};

/* Does any of the words say where its id is? */
bool call_ids_are_wanted(const char *words);

/* Warns about each function whose calls have no ids.  NULL: none has. */
struct call_ids *call_ids_open(const struct call_ids_options *o);
void call_ids_close(struct call_ids *c);

/* Delivers rows. */
void call_ids_poll(struct call_ids *c);
/* While it is paused, the program does not pay for it. */
void call_ids_pause(struct call_ids *c, bool pause);
/* Ends it; delivers the remaining rows. */
void call_ids_finish(struct call_ids *c);

uint64_t call_ids_err_ns(const struct call_ids *c);	/* of their times */
uint64_t call_ids_nr(const struct call_ids *c);
uint64_t call_ids_lost(const struct call_ids *c);	/* so far; all of them after call_ids_finish() */
/* Calls on whose way to the id there was no valid address. */
uint64_t call_ids_nowhere(const struct call_ids *c);

#endif
