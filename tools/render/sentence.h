/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sentence that is written piece by piece; what does not fit into its buffer is cut off. */
#ifndef RENDER_SENTENCE_H
#define RENDER_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>

struct sentence {
	char *buf;
	size_t used, size;	/* size: at least 1 */
	bool is_long;		/* with source lines of functions, and blanks before units */
};

__attribute__((format(printf, 2, 3)))
void say(struct sentence *s, const char *format, ...);

#endif
