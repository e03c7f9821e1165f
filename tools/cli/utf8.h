/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks and cleans texts: names in a trace may consist of any bytes, but files for other programs
 * must be UTF-8.
 */
#ifndef CLI_UTF8_H
#define CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the length of the character at s, which must not be the end; 0: it is not a valid
 * character.
 */
unsigned utf8_length(const char *s);

bool utf8_is_valid(const char *s);

/*
 * Returns true if the character at s, which has n bytes, is a control character: of ASCII, or
 * U+0080 to U+009F.
 */
bool utf8_is_control(const char *s, unsigned n);

/*
 * Copies s to buf such that it cannot control a terminal that reads UTF-8: '?' replaces each
 * control character and each byte that belongs to no character.  The copy is cut after size - 1
 * bytes, but not inside a character.  buf may be s.
 */
void utf8_clean(const char *s, char *buf, size_t size);

/*
 * Returns a copy, which the caller frees, with '?' for each byte that belongs to no character.
 * NULL: no memory.
 */
char *utf8_copy(const char *s);

#endif
