/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of --request: what is a request where the program tags none. */
#ifndef TRACE_REQUEST_WORDS_H
#define TRACE_REQUEST_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_TAGS	"tags"
#define REQUEST_LOOP	"loop"
/* the runtime has made these requests, and they are rows like those of tags */
#define REQUEST_SOCKET	"socket"
#define REQUEST_NAMES_MAX	64

/* "handle(r->id)" and "handle()" are the function handle.  The copy is to be freed; NULL: out of memory. */
char *request_bare_name(const char *word);

/* Compares the name of a function, or what comes after its scopes, with a word, which may be a glob. */
bool request_word_matches(const char *word, const char *function);

/*
 * The id in "handle(r->head.id)": a parameter, and members on the way from it; or, in "handle($2:s32)",
 * the second parameter of those that are integers or pointers, of 32 bits with a sign.
 */
#define REQUEST_PATH_MAX	5	/* the parameter, and members */
#define REQUEST_PARAMETERS_MAX	6	/* of $N */

struct request_id {
	char *text;		/* to be freed; the names are parts of it */
	unsigned number;	/* of $N; 0: it has a name */
	unsigned size;		/* bytes of $N */
	bool is_signed;
	const char *names[REQUEST_PATH_MAX];
	bool is_arrow[REQUEST_PATH_MAX];	/* "->", and not ".", is before this name */
	unsigned nr_names;
};

/* Does the word say where the id is? */
bool request_has_id(const char *word);

/* Returns NULL, or what is wrong with it. */
const char *request_id_parse(const char *word, struct request_id *id);

/*
 * Where the id is when the function begins: in a register, or in memory; then each step adds a number
 * to the address and reads there, the last one the id itself.
 */
#define REQUEST_PLACES_MAX	16	/* functions of one name */

struct request_place {
	uint64_t offset;	/* of the function, in its file */
	unsigned place;		/* which parameter's register; PROGRAM_PARAMETERS: the stack pointer */
	unsigned nr_steps;
	int64_t steps[REQUEST_PATH_MAX + 2];
	unsigned size;		/* bytes of the id */
	bool is_signed;
};

/*
 * Each call of such a function is an EVENT of this name, followed by the address to which the call
 * returns, in hex, a '?' if it may be inside of a call from the same place, a '-' if it has no id, a
 * space, and the function as the user wrote it; its value is the id.
 */
#define REQUEST_ID_EVENT	"ldb:id:"

#endif
