/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the words of --queue, PROVIDER:PUT[:N],TAKE[:N][,END[:N]...][,name=N].  They name probes
 * of the program: at PUT an item is put into a queue, at TAKE it is taken out, at END it is done.
 * Argument N of the probe (default: 1) identifies the item; with name=N, argument N of PUT and TAKE
 * is the name of the queue.
 */
#ifndef RECORD_PROBES_QUEUE_WORDS_H
#define RECORD_PROBES_QUEUE_WORDS_H

#define QUEUE_WORDS_MAX		16	/* greatest number of words */
#define QUEUE_PROBES_MAX	8	/* greatest number of probes of a word */
/* greatest number of arguments of a probe, as in <sys/sdt.h> */
#define QUEUE_ARGUMENTS_MAX	12

enum queue_event { QUEUE_PUT, QUEUE_TAKE, QUEUE_END };

struct queue_words {
	char *text;		/* the text that contains the names; must be freed */
	const char *provider;
	struct queue_probe {
		const char *name;
		unsigned item;	/* which argument is the item, counted from 1 */
	} probes[QUEUE_PROBES_MAX];	/* PUT, TAKE; all others are ENDs */
	unsigned nr_probes;
	unsigned name;		/* which argument is the text that names the queue; 0: none */
};

static inline enum queue_event queue_event_of(unsigned probe)
{
	return probe < QUEUE_END ? probe : QUEUE_END;
}

/* Returns NULL, or what is wrong with the word. */
const char *queue_words_parse(const char *word, struct queue_words *words);

#endif
