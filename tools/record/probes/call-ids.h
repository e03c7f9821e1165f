/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the ids of requests from arguments of function calls, as in --request='FUNCTION(r->id)': a
 * kernel probe at the function's first instruction reads the id.
 */
#ifndef RECORD_PROBES_CALL_IDS_H
#define RECORD_PROBES_CALL_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "trace/request-words.h"

struct call_ids;

/*
 * Finds the places of the ids in a file, of the functions that a word of --request names.  `root`
 * is the program's root directory, or NULL.  Returns the number of functions; 0: none has that
 * name; -1: the id cannot be read, and `why` contains the reason in one line.
 */
typedef int call_ids_find_fn(const char *root, const char *file, const char *word,
			     struct request_place found[REQUEST_PLACES_MAX], char *why, size_t why_size);

struct call_ids_options {
	pid_t pid;
	const char *words;	/* the words of --request, separated by newlines */
	call_ids_find_fn *find;	/* this function is called in a child process */
	unsigned clock_id;	/* enum ldb_clock: rows are stamped in it */
	uint64_t t0;		/* clock value that is tick 0 */
	int64_t offset_ns;	/* clock_offset() of the program */
	void (*row)(void *arg, unsigned kind, const void *row);
	void (*warn)(void *arg, const char *text);
	void *arg;
};

/* Returns true if any of the words says where an id is. */
bool call_ids_are_wanted(const char *words);

/*
 * Begins to read ids.  Warns about each function whose calls will have none.  Returns NULL if no
 * ids can be read.
 */
struct call_ids *call_ids_open(const struct call_ids_options *o);
void call_ids_close(struct call_ids *c);

/* Delivers the rows of new calls, except those of the last 20 ms. */
void call_ids_poll(struct call_ids *c);
/*
 * Disables the probes, or enables them again.  While they are disabled, they cost the program
 * nothing.
 */
void call_ids_pause(struct call_ids *c, bool pause);
/* Stops reading ids, and delivers the remaining rows. */
void call_ids_finish(struct call_ids *c);

uint64_t call_ids_err_ns(const struct call_ids *c);	/* greatest error of the rows' times */
uint64_t call_ids_nr(const struct call_ids *c);
/* number of lost calls; complete after call_ids_finish() */
uint64_t call_ids_lost(const struct call_ids *c);
/* Returns how many calls had no id because a pointer on the way to it was not valid. */
uint64_t call_ids_nowhere(const struct call_ids *c);

#endif
