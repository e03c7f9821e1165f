/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets a child do what takes long or reads what is not trusted, such as the program's debug
 * information: it writes texts that end with a NUL, which are there when it has ended.
 */
#ifndef RECORD_HELPER_H
#define RECORD_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct helper {
	pid_t child;		/* 0: none is at work */
	int fd;			/* of what it writes */
	char *text;
	size_t nr, room;
};

/* work() runs in the child, which ends when it returns.  Returns false if there is none. */
bool helper_begin(struct helper *h, void (*work)(void *arg, FILE *out), void *arg);

/* Is the answer there as a whole?  Call it now and then. */
bool helper_has_ended(struct helper *h);

/* Returns the text behind this one, NULL: there is none; or the first one, for NULL. */
const char *helper_text(const struct helper *h, const char *text);

/* Ends it, and forgets what it wrote. */
void helper_end(struct helper *h);

#endif
