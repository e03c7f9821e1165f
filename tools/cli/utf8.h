/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names in a trace may be any bytes; files that other programs read want UTF-8. */
#ifndef CLI_UTF8_H
#define CLI_UTF8_H

#include <stdbool.h>

/* Bytes of the character at s, which is not the end; 0 if it is none. */
unsigned utf8_length(const char *s);

bool utf8_is_valid(const char *s);

/* A copy, '?' for each byte that belongs to no character; to be freed.  NULL: out of memory. */
char *utf8_copy(const char *s);

#endif
