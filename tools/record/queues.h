/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records the items of a program's queues (--queue): the kernel reads them at the probes that the program has
 * in its code (USDT).  Each item is a request: BLOCK where it is put into the queue, START where it is taken
 * out, and END where it is done; without a probe for that it ends where it is taken out.
 */
#ifndef RECORD_QUEUES_H
#define RECORD_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct queues;

/* As usdt_find(): path is that of a file of the program. */
typedef int queue_find_fn(const char *path, const char *provider, const char *name,
			  void (*fn)(void *arg, uint64_t offset, uint64_t semaphore, const char *args), void *arg);

struct queues_options {
	pid_t pid;
	const char *const *words;	/* valid ones: queue_words_parse() */
	size_t nr_words;
	queue_find_fn *find;	/* is called in a process of its own */
	unsigned clock_id;	/* enum ldb_clock: rows are stamped in it */
	uint64_t t0;		/* clock value that is tick 0 */
	int64_t offset_ns;	/* clock_offset() of the program */
	void (*row)(void *arg, unsigned kind, const void *row);
	void (*name)(void *arg, uint64_t queue, const char *name);	/* before the first row with it */
	void (*warn)(void *arg, const char *text);
	void *arg;
};

/* Warns about each word that cannot be followed.  NULL: none can. */
struct queues *queues_open(const struct queues_options *o);
void queues_close(struct queues *q);

/* Delivers rows. */
void queues_poll(struct queues *q);
/* While it is paused, the program does not pay for it. */
void queues_pause(struct queues *q, bool pause);
/* Ends it; delivers the remaining rows. */
void queues_finish(struct queues *q);

uint64_t queues_err_ns(const struct queues *q);	/* of their times */
uint64_t queues_lost(const struct queues *q);	/* after queues_finish() */

struct queues_total {
	uint64_t put, taken, ended;
};
const struct queues_total *queues_total(const struct queues *q);

#endif
