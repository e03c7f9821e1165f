/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a function in a child process, because it takes long, or because it reads untrusted data
 * such as the program's debug information.  The child writes texts, each of which ends with a NUL;
 * they can be read after the child has ended.
 */
#ifndef RECORD_PROCESS_HELPER_H
#define RECORD_PROCESS_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct helper {
	pid_t child;		/* 0: none is running */
	int fd;			/* the child's output */
	char *text;
	size_t nr, room;
};

/* Starts a child that calls work() and then ends.  Returns false if no child could be started. */
bool helper_begin(struct helper *h, void (*work)(void *arg, FILE *out), void *arg);

/*
 * Returns true if nothing more will be read: the child has closed its output, or has written too
 * much, or there is no memory.  Must be called from time to time.
 */
bool helper_has_ended(struct helper *h);
/*
 * Waits until helper_has_ended() returns true; returns false if that takes longer than ms
 * milliseconds.
 */
bool helper_wait(struct helper *h, unsigned ms);

/*
 * Returns the text that follows `text`, or the first one if `text` is NULL; NULL: there are no
 * more.
 */
const char *helper_text(const struct helper *h, const char *text);

/* Ends the child, and frees its texts. */
void helper_end(struct helper *h);

#endif
