/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the arguments of --request, which say what a request is if the program does not tag its
 * requests.
 */
#ifndef TRACE_REQUEST_WORDS_H
#define TRACE_REQUEST_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#define REQUEST_TAGS	"tags"
#define REQUEST_LOOP	"loop"
/*
 * ldb's runtime has made these requests from data that a socket received; their rows are like those
 * of tagged requests
 */
#define REQUEST_SOCKET	"socket"
#define REQUEST_NAMES_MAX	64

/*
 * Returns the function's name in an argument of --request: "handle" for "handle(r->id)" and for
 * "handle()".  The caller frees it; NULL: out of memory.
 */
char *request_bare_name(const char *word);

/*
 * Returns true if the word, which may be a glob, matches the function's name, or the last part of
 * its name, after the scopes.
 */
bool request_word_matches(const char *word, const char *function);

/*
 * Describes where the id is.  In "handle(r->head.id)": a parameter, and the members that lead from
 * it to the id.  In "handle($2:s32)": the second of those parameters that are integers or pointers;
 * it has 32 bits and a sign.
 */
#define REQUEST_PATH_MAX	5	/* greatest number of names: a parameter and members */
#define REQUEST_PARAMETERS_MAX	6	/* greatest N of $N */

struct request_id {
	char *text;		/* the text that contains the names; must be freed */
	unsigned number;	/* N of $N; 0: the parameter has a name */
	unsigned size;		/* bytes of $N */
	bool is_signed;
	const char *names[REQUEST_PATH_MAX];
	bool is_arrow[REQUEST_PATH_MAX];	/* this name comes after "->", and not after "." */
	unsigned nr_names;
};

/* Returns true if the argument of --request says where the id is. */
bool request_has_id(const char *word);

/* Parses the id of an argument of --request.  Returns NULL, or a text on what is wrong with it. */
const char *request_id_parse(const char *word, struct request_id *id);

/*
 * Says where the id is when the function begins.  Without steps it is in a register.  Otherwise the
 * register has an address, and each step adds a number to the address, and reads the next address
 * from memory at the sum; the last step reads the id itself.
 */
#define REQUEST_PLACES_MAX	16	/* greatest number of functions with one name */

struct request_place {
	uint64_t offset;	/* offset of the function in its file */
	/* the register: of which parameter, from 0; PROGRAM_PARAMETERS: the stack pointer */
	unsigned place;
	unsigned nr_steps;
	int64_t steps[REQUEST_PATH_MAX + 2];
	unsigned size;		/* bytes of the id */
	bool is_signed;
};

/*
 * Each call of a function whose argument of --request says where its id is, is recorded as an EVENT
 * whose value is the id.  The event's name consists of this prefix, the address to which the call
 * returns, in hex, a '?' if the call may be nested in another one from the same place, a '-' if the
 * id of this call could not be read, a space, and the function as the user wrote it.
 */
#define REQUEST_ID_EVENT	"ldb:id:"

#endif
