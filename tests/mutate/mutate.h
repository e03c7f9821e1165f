/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Represents a C source as tokens and simple statements, as far as mutate.c needs them. */
#ifndef TESTS_MUTATE_H
#define TESTS_MUTATE_H

#include <stdbool.h>
#include <stddef.h>

enum token_type { TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCT };

struct token {
	enum token_type type;
	const char *text;	/* bytes of the source; no NUL follows them */
	size_t at, len;
	unsigned depth;		/* nesting of braces; a brace has the depth outside of it */
	bool is_code;		/* the token is in the body of a function or a macro */
	/* the token is in a macro of one line, so its numbers are constants */
	bool is_define_line;
	bool is_silent;		/* the token must not be changed */
};

/* A statement is an expression or a jump, with its semicolon. */
struct statement {
	size_t first, last;	/* first and last token */
	bool is_jump;
	bool is_branch;		/* the statement is the body of an if, for, while or else */
};

enum kind { KIND_OP, KIND_CONST, KIND_NEGATE, KIND_DROP, KIND_SWAP };

/* A place: the bytes from begin to end are replaced by text. */
struct place {
	enum kind kind;
	size_t begin, end, line, number;
	char *text;
};

struct source {
	const char *path;
	char *text;
	size_t len;
	struct token *tokens;
	size_t nr_tokens, room_tokens;
	struct statement *statements;
	size_t nr_statements, room_statements;
	struct place *places;
	size_t nr_places, room_places;
};

/* Each of these functions ends the program if it fails. */
struct source *source_read(const char *path);
void *need(void *memory);

bool token_is(const struct token *t, const char *word);
/* Returns the token that closes the parenthesis or bracket that token i opens, or the last one. */
size_t closing(const struct source *s, size_t i);
/* Returns the line of a byte, from 1 on. */
size_t line_of(const struct source *s, size_t at);

#endif
