/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds where the ids of --request are, in the files that a program has mapped. */
#ifndef RECORD_PROBES_CALL_PLACES_H
#define RECORD_PROBES_CALL_PLACES_H

#include "record/probes/call-ids.h"

struct call_place {
	const char *word;
	const char *why;	/* NULL, or one line that says why the word has no place */
	const char *file;	/* a path by which the kernel finds the file */
	struct request_place at;
};

/*
 * Calls fn for each place, and for each word that asks for an id and has no place, as long as fn
 * returns true.
 */
void call_places_find(pid_t pid, const char *words, call_ids_find_fn *find,
		      bool (*fn)(void *arg, const struct call_place *place), void *arg);

#endif
