/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the probes of --queue in the files that a program has mapped. */
#ifndef RECORD_QUEUE_PLACES_H
#define RECORD_QUEUE_PLACES_H

#include "record/queue-words.h"
#include "record/queues.h"

struct queue_place {
	size_t word;
	unsigned probe;		/* of the word */
	const char *why;	/* NULL, or in one line why it cannot be followed; "": there is none */
	const char *file;	/* a path by which the kernel finds it */
	uint64_t offset, semaphore;
	const char *args;	/* from the program, and not trusted */
};

/* Calls fn for each place, and for each probe that has none. */
void queue_places_find(pid_t pid, const struct queue_words *words, size_t nr_words, queue_find_fn *find,
		       void (*fn)(void *arg, const struct queue_place *place), void *arg);

#endif
