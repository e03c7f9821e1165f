/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of --queue: PROVIDER:PUT[:N],TAKE[:N][,END[:N]...][,name=N] are probes of the program at which an
 * item is put into a queue, taken out of it, and done; its argument N is the item.
 */
#ifndef RECORD_QUEUE_WORDS_H
#define RECORD_QUEUE_WORDS_H

#define QUEUE_WORDS_MAX		16	/* --queue */
#define QUEUE_PROBES_MAX	8	/* of each */
#define QUEUE_ARGUMENTS_MAX	12	/* of a probe, as <sys/sdt.h> has them */

enum queue_event { QUEUE_PUT, QUEUE_TAKE, QUEUE_END };

struct queue_words {
	char *text;		/* to be freed; the names are parts of it */
	const char *provider;
	struct queue_probe {
		const char *name;
		unsigned item;	/* which argument it is, from 1 */
	} probes[QUEUE_PROBES_MAX];	/* PUT, TAKE, and any number of END */
	unsigned nr_probes;
	unsigned name;		/* which argument is the text that names the queue; 0: none */
};

static inline enum queue_event queue_event_of(unsigned probe)
{
	return probe < QUEUE_END ? probe : QUEUE_END;
}

/* Returns NULL, or what is wrong with it. */
const char *queue_words_parse(const char *word, struct queue_words *words);

#endif
