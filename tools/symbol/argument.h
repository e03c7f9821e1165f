/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds an integer that a function gets as an argument, or that its arguments lead to. */
#ifndef SYMBOL_ARGUMENT_H
#define SYMBOL_ARGUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "trace/request-words.h"

struct elffile;

/*
 * Finds all functions with that name (request_word_matches()).  Returns their number; 0: there is none;
 * -1: why says in one line why it cannot be done for one of them.
 */
int argument_find(struct elffile *f, const char *function, const struct request_id *id,
		  struct request_place found[REQUEST_PLACES_MAX], char *why, size_t why_size);

#endif
