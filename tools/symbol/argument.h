/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where the id of a request is: an integer that a function gets as an argument, or to which
 * an argument points.
 */
#ifndef SYMBOL_ARGUMENT_H
#define SYMBOL_ARGUMENT_H

#include <stddef.h>
#include "trace/request-words.h"

struct elffile;

/*
 * Finds the id in all functions with that name (request_word_matches()).  Returns the number of
 * these functions, which may be 0; -1 if it cannot be found in one of them: then `why` contains the
 * reason, in one line.
 */
int argument_find(struct elffile *f, const char *function, const struct request_id *id,
		  struct request_place found[REQUEST_PLACES_MAX], char *why, size_t why_size);

#endif
