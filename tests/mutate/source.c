// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cuts a C source into tokens and finds its simple statements; see mutate.h.
 *
 * A function's body is a block outside of all others that follows a parenthesis; other text at file
 * scope is not code.  A macro's body is a region of its own.
 */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"

#define ONE_OF(t, words) is_one_of(t, words, sizeof(words) / sizeof((words)[0]))

void *need(void *memory)
{
	if (!memory) {
		fprintf(stderr, "mutate: out of memory\n");
		exit(1);
	}
	return memory;
}

bool token_is(const struct token *t, const char *word)
{
	return t->len == strlen(word) && !memcmp(t->text, word, t->len);
}

static bool is_one_of(const struct token *t, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (token_is(t, words[i]))
			return true;
	return false;
}

size_t line_of(const struct source *s, size_t at)
{
	static const struct source *last;
	static size_t last_at, line;

	if (last != s || at < last_at) {
		last = s;
		last_at = 0;
		line = 1;
	}
	for (; last_at < at; last_at++)
		line += s->text[last_at] == '\n';
	return line;
}

static bool opens(const struct token *t)
{
	return t->type == TOKEN_PUNCT && (token_is(t, "(") || token_is(t, "[") || token_is(t, "{"));
}

static bool closes(const struct token *t)
{
	return t->type == TOKEN_PUNCT && (token_is(t, ")") || token_is(t, "]") || token_is(t, "}"));
}

size_t closing(const struct source *s, size_t i)
{
	int depth = 0;

	for (; i < s->nr_tokens; i++) {
		depth += opens(&s->tokens[i]) - closes(&s->tokens[i]);
		if (depth <= 0)
			return i;
	}
	return s->nr_tokens - 1;
}

static char *read_all(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	size_t room = 1 << 20;
	char *text = need(calloc(1, room + 1));

	if (!f) {
		fprintf(stderr, "mutate: %s: cannot be read: %s\n", path, strerror(errno));
		exit(1);
	}
	*len = fread(text, 1, room, f);
	fclose(f);
	return text;
}

static size_t after_comment(const struct source *s, size_t at)
{
	const char *end;

	if (s->text[at + 1] == '/')
		return at + strcspn(s->text + at, "\n");
	end = strstr(s->text + at + 2, "*/");
	return end ? (size_t)(end + 2 - s->text) : s->len;
}

static bool is_comment(const struct source *s, size_t at)
{
	return s->text[at] == '/' && (s->text[at + 1] == '/' || s->text[at + 1] == '*');
}

static size_t after_string(const struct source *s, size_t at)
{
	char quote = s->text[at++];

	for (; at < s->len && s->text[at] != quote; at++)
		at += s->text[at] == '\\';
	return at + 1;
}

static size_t punct_length(const char *text)
{
	static const char *const longest[] = {
		"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
		"+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "##",
	};

	for (size_t i = 0; i < sizeof(longest) / sizeof(longest[0]); i++)
		if (!strncmp(text, longest[i], strlen(longest[i])))
			return strlen(longest[i]);
	return 1;
}

static void add_token(struct source *s, struct token t)
{
	if (s->nr_tokens == s->room_tokens) {
		s->room_tokens = s->room_tokens ? s->room_tokens * 2 : 4096;
		s->tokens = need(realloc(s->tokens, s->room_tokens * sizeof(*s->tokens)));
	}
	t.text = s->text + t.at;
	s->tokens[s->nr_tokens++] = t;
}

/* Returns the token that begins at this byte. */
static struct token cut(const struct source *s, size_t at)
{
	const char *c = s->text + at;
	struct token t = { .type = TOKEN_PUNCT, .text = c, .at = at };

	if (isalpha(*c) || *c == '_') {
		t.type = TOKEN_WORD;
		while (isalnum(c[t.len]) || c[t.len] == '_')
			t.len++;
	} else if (isdigit(*c) || (*c == '.' && isdigit(c[1]))) {
		t.type = TOKEN_NUMBER;
		while (isalnum(c[t.len]) || c[t.len] == '.' ||
		       (t.len && strchr("+-", c[t.len]) && strchr("eEpP", c[t.len - 1]) &&
			strncmp(c, "0x", 2)))
			t.len++;
	} else if (*c == '"' || *c == '\'') {
		t.type = TOKEN_STRING;
		t.len = after_string(s, at) - at;
	} else {
		t.len = punct_length(c);
	}
	return t;
}

static size_t skip_blank(const struct source *s, size_t at, size_t end)
{
	while (at < end && (isspace(s->text[at]) || s->text[at] == '\\' || is_comment(s, at)))
		at = is_comment(s, at) ? after_comment(s, at) : at + 1;
	return at;
}

static size_t after_directive(const struct source *s, size_t at)
{
	while (at < s->len && s->text[at] != '\n') {
		if (is_comment(s, at))
			at = after_comment(s, at);
		else
			at += s->text[at] == '\\' ? 2 : 1;
	}
	return at;
}

static void add_statement(struct source *s, struct statement st)
{
	if (s->nr_statements == s->room_statements) {
		s->room_statements = s->room_statements ? s->room_statements * 2 : 1024;
		s->statements = need(realloc(s->statements, s->room_statements * sizeof(*s->statements)));
	}
	s->statements[s->nr_statements++] = st;
}

static bool is_declaration(const struct source *s, size_t i, size_t end)
{
	static const char *const types[] = {
		"const", "static", "struct", "union", "enum", "unsigned", "signed", "int", "char",
		"long", "short", "bool", "void", "float", "double", "register", "volatile",
		"_Atomic", "__typeof__", "typeof", "extern", "_Thread_local", "__thread", "typedef",
	};
	const struct token *t = &s->tokens[i];

	if (t->type != TOKEN_WORD || i + 2 >= end)
		return false;
	if (ONE_OF(t, types) || t[1].type == TOKEN_WORD)
		return true;
	return token_is(t + 1, "*") && (t[2].type == TOKEN_WORD || token_is(t + 2, "*"));
}

/* Skips to the token that ends a declaration; only its initializer remains code. */
static size_t declaration(struct source *s, size_t i, size_t end)
{
	bool is_value = false;

	for (; i < end && !token_is(&s->tokens[i], ";"); i++) {
		struct token *t = &s->tokens[i];
		size_t to = opens(t) ? closing(s, i) : i;

		if (token_is(t, ","))
			is_value = false;
		for (; !is_value && i < to; i++)
			s->tokens[i].is_code = false;
		if (!is_value)
			s->tokens[i].is_code = false;
		if (token_is(t, "="))
			is_value = true;
		i = to;
	}
	return i;
}

/* Returns the semicolon that ends an expression, or end. */
static size_t expression_end(const struct source *s, size_t i, size_t end)
{
	for (; i < end; i++) {
		if (opens(&s->tokens[i]))
			i = closing(s, i);
		else if (closes(&s->tokens[i]))
			return end;
		if (i < end && token_is(&s->tokens[i], ";"))
			return i;
	}
	return end;
}

/*
 * Skips keywords and labels before a statement: returns the next token to examine, which may be the
 * same.
 */
static size_t skip_lead(const struct source *s, size_t i, size_t end, bool *is_branch)
{
	static const char *const heads[] = { "if", "while", "for", "switch" };
	static const char *const words[] = { "else", "do" };
	const struct token *t = &s->tokens[i];

	if (t->type == TOKEN_PUNCT && (token_is(t, "{") || token_is(t, "}") || token_is(t, ";"))) {
		*is_branch = false;
		return i + 1;
	}
	if (t->type != TOKEN_WORD || i + 1 >= end)
		return i;
	if (ONE_OF(t, words)) {
		*is_branch = true;
		return i + 1;
	}
	if (token_is(t, "case") || token_is(t, "default")) {
		while (i < end && !token_is(&s->tokens[i], ":"))
			i++;
		return i + 1;
	}
	if (token_is(t + 1, ":"))
		return i + 2;
	if (token_is(t + 1, "(")) {
		size_t to = closing(s, i + 1) + 1;

		if (ONE_OF(t, heads) || (to < end && token_is(&s->tokens[to], "{"))) {
			*is_branch = true;
			return to;
		}
	}
	return i;
}

static void statements(struct source *s, size_t i, size_t end)
{
	static const char *const jumps[] = { "return", "goto", "break", "continue" };
	bool is_branch = false;

	while (i < end) {
		size_t next = skip_lead(s, i, end, &is_branch);

		if (next > i) {
			i = next;
			continue;
		}
		if (is_declaration(s, i, end) && !ONE_OF(&s->tokens[i], jumps)) {
			i = declaration(s, i, end);
		} else {
			size_t last = expression_end(s, i, end);

			if (last < end)
				add_statement(s, (struct statement) {
					.first = i, .last = last, .is_branch = is_branch,
					.is_jump = ONE_OF(&s->tokens[i], jumps),
				});
			else
				/*
				 * This is none of the known statements; continue with the tokens
				 * inside of it.
				 */
				last = i;
			i = last;
		}
		is_branch = false;
		i++;
	}
}

/* Reads a directive from its # on.  Only macros with a body have code. */
static void directive(struct source *s, size_t at, size_t end)
{
	size_t first = s->nr_tokens, body = skip_blank(s, at + 1, end);
	unsigned depth = 1;
	bool is_long;

	if (strncmp(s->text + body, "define", 6))
		return;
	body = skip_blank(s, body + 6, end);
	body += cut(s, body).len;
	if (s->text[body] == '(')
		body += strcspn(s->text + body, ")") + 1;
	is_long = memchr(s->text + body, '\n', end - body);
	for (body = skip_blank(s, body, end); body < end; body = skip_blank(s, body, end)) {
		struct token t = cut(s, body);

		if (closes(&t) && token_is(&t, "}"))
			depth--;
		t.depth = depth;
		if (opens(&t) && token_is(&t, "{"))
			depth++;
		t.is_code = true;
		t.is_define_line = !is_long;
		add_token(s, t);
		body += t.len;
	}
	if (is_long)
		statements(s, first, s->nr_tokens);
}

static void tokens(struct source *s)
{
	unsigned depth = 0;
	size_t begin = 0, at = skip_blank(s, 0, s->len);
	bool is_body = false, is_after_paren = false;

	for (; at < s->len; at = skip_blank(s, at, s->len)) {
		struct token t;

		if (s->text[at] == '#') {
			size_t end = after_directive(s, at);

			if (!depth)
				directive(s, at, end);
			at = end;
			continue;
		}
		t = cut(s, at);
		if (token_is(&t, "}") && depth)
			depth--;
		t.depth = depth;
		t.is_code = is_body && depth;
		add_token(s, t);
		if (token_is(&t, "{") && !depth++) {
			is_body = is_after_paren;
			begin = s->nr_tokens;
		}
		if (token_is(&t, "}") && !depth && is_body) {
			statements(s, begin, s->nr_tokens - 1);
			is_body = false;
		}
		is_after_paren = token_is(&t, ")");
		at += t.len;
	}
}

struct source *source_read(const char *path)
{
	struct source *s = need(calloc(1, sizeof(*s)));

	s->path = path;
	s->text = read_all(path, &s->len);
	tokens(s);
	return s;
}
