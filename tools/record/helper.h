/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs work in a child process that takes long, or that reads data which is not trusted, such as
 * the program's debug information.  The child writes texts that end with a NUL; they can be read
 * when it has ended.
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

/* Starts a child that calls work() and then ends.  Returns false if no child could be started. */
bool helper_begin(struct helper *h, void (*work)(void *arg, FILE *out), void *arg);

/* Has the child ended, and its answer arrived completely?  Must be called from time to time. */
bool helper_has_ended(struct helper *h);

/* Returns the text after this one, or the first text if text is NULL; NULL if there is no other. */
const char *helper_text(const struct helper *h, const char *text);

/* Ends it, and forgets what it wrote. */
void helper_end(struct helper *h);

#endif
