/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of --request: what is a request where the program tags none. */
#ifndef TRACE_REQUEST_WORDS_H
#define TRACE_REQUEST_WORDS_H

#include <stdbool.h>

#define REQUEST_TAGS	"tags"
#define REQUEST_LOOP	"loop"
/* the runtime has made these requests, and they are rows like those of tags */
#define REQUEST_SOCKET	"socket"
#define REQUEST_NAMES_MAX	64

/* "handle(r->id)" and "handle()" are the function handle.  The copy is to be freed; NULL: out of memory. */
char *request_bare_name(const char *word);

/* Compares the name of a function, or what comes after its scopes, with a word, which may be a glob. */
bool request_word_matches(const char *word, const char *function);

#endif
