/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Represents a C source as tokens and simple statements, as far as mutate.c needs them. */
#ifndef TESTS_MUTATE_H
#define TESTS_MUTATE_H

#include <stdbool.h>
#include <stddef.h>

enum token_type { TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCT };

struct token {
	enum token_type type;
	const char *text;	/* of the source: not ended */
	size_t at, len;
	unsigned depth;		/* of braces; that of a brace is the one outside of it */
	bool is_code;		/* in a function's body or a macro's */
	bool is_define_line;	/* in a macro of one line: its numbers are constants */
	bool is_silent;		/* not to be changed */
};

/* A statement is an expression or a jump, with its semicolon. */
struct statement {
	size_t first, last;	/* tokens */
	bool is_jump;
	bool is_branch;		/* what an if, for, while or else does */
};

enum kind { KIND_OP, KIND_CONST, KIND_NEGATE, KIND_DROP, KIND_SWAP };

/* A place: the bytes from start to end are replaced by text. */
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

/* Each of these ends the program when it fails. */
struct source *source_read(const char *path);
void *need(void *memory);

bool token_is(const struct token *t, const char *word);
/* Returns the token that closes the parenthesis or bracket that token i opens, or the last one. */
size_t closing(const struct source *s, size_t i);
/* Returns the line of a byte, from 1 on. */
size_t line_of(const struct source *s, size_t at);

#endif
