/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the probes of --queue in the files that a program has mapped. */
#ifndef RECORD_PROBES_QUEUE_PLACES_H
#define RECORD_PROBES_QUEUE_PLACES_H

#include "record/probes/queue-words.h"
#include "record/probes/queues.h"

struct queue_place {
	size_t word;
	unsigned probe;		/* index of the probe in the word */
	/* NULL, or one line: why the probe cannot be followed; "": there is no such probe */
	const char *why;
	const char *file;	/* a path by which the kernel finds the file */
	uint64_t offset, semaphore;
	const char *args;	/* arguments of the probe, from the program's file; not trusted */
};

/*
 * Calls fn for each place of each probe, and, with `why`, for each probe that cannot be followed.
 * If the files cannot be read, calls it once for each word.
 */
void queue_places_find(pid_t pid, const struct queue_words *words, size_t nr_words, queue_find_fn *find,
		       void (*fn)(void *arg, const struct queue_place *place), void *arg);

#endif
