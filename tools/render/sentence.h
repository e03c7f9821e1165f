/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a sentence piece by piece.  Pieces that do not fit into the buffer are cut off.
 */
#ifndef RENDER_SENTENCE_H
#define RENDER_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>

struct sentence {
	char *buf;
	size_t used, size;	/* size: at least 1 */
	/* print with source lines of functions, and a blank between number and unit */
	bool is_long;
};

__attribute__((format(printf, 2, 3)))
void say(struct sentence *s, const char *format, ...);

#endif
