/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records the items of a program's queues (--queue).  The program has probes in its code (USDT), at
 * which the kernel reads the argument that identifies the item.  Each item is a request: it has a
 * BLOCK row when it is put into the queue, a START row when it is taken out, and an END row when it
 * is done.  If there is no probe for its end, it ends when it is taken out.
 */
#ifndef RECORD_PROBES_QUEUES_H
#define RECORD_PROBES_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct queues;

/* Does what usdt_find() does; path is the path of a file of the program. */
typedef int queue_find_fn(const char *path, const char *provider, const char *name,
			  void (*fn)(void *arg, uint64_t offset, uint64_t semaphore, const char *args), void *arg);

struct queues_options {
	pid_t pid;
	const char *const *words;	/* words of --queue, which queue_words_parse() accepts */
	size_t nr_words;
	queue_find_fn *find;	/* this function is called in a child process */
	unsigned clock_id;	/* enum ldb_clock: rows are stamped in it */
	uint64_t t0;		/* clock value that is tick 0 */
	int64_t offset_ns;	/* clock_offset() of the program */
	void (*row)(void *arg, unsigned kind, const void *row);
	/* called for each queue, before the first row that has it */
	void (*name)(void *arg, uint64_t queue, const char *name);
	void (*warn)(void *arg, const char *text);
	void *arg;
};

/*
 * Calls o->warn for each word that cannot be followed.  Returns NULL if no word can be followed.
 */
struct queues *queues_open(const struct queues_options *o);
void queues_close(struct queues *q);

/* Delivers the rows of new events, except those of the last 20 ms. */
void queues_poll(struct queues *q);
/* Pauses or resumes the probes.  While they are paused, they cost the program nothing. */
void queues_pause(struct queues *q, bool pause);
/* Disables the probes, and delivers the remaining rows. */
void queues_finish(struct queues *q);

uint64_t queues_err_ns(const struct queues *q);	/* greatest error of the rows' times */
/* number of lost events; final after queues_finish() */
uint64_t queues_lost(const struct queues *q);

struct queues_total {
	uint64_t put, taken;
};
const struct queues_total *queues_total(const struct queues *q);

#endif
