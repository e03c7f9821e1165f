// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes mutations of C sources: finds every place where one thing can be changed, draws from
 * them, and writes the file with one of them changed.
 *
 *	mutate list FILE		one line each: line, number, kind, what it does
 *	mutate draw SEED N PART FILE...	N places of the files in random order, each line of
 *					code with the same probability:
 *					PART FILE NUMBER LINE KIND
 *	mutate apply FILE NUMBER	the file, changed, on stdout
 *	mutate lines FILE...		how many lines can be changed
 *
 * A place is identified by its number in the file, so the same file gives the same places.  The
 * kinds are:
 *	op	one operator becomes another
 *	const	a number becomes 0, one more, one less, double, or half
 *	negate	a condition of if or while, the other way round
 *	drop	a statement is removed: a call, an assignment, a jump, a return that is not the
 *		last of its function
 *	swap	two neighbouring statements, one of which calls a function or uses what the
 *		other one sets, change places
 *
 * Only what is executed is changed: bodies of functions, bodies of macros, and numbers in macros
 * of one line.  Left alone are comments, strings, other directives, types and declarations (but
 * not what they initialise with), assertions at compile time, calls that only talk to the user
 * (talks[]), and statements that only free memory (frees[]), because only a test with a leak
 * checker could detect a change there.
 *
 * This is not a parser, so it may regard something else as a statement.  Such a mutant does not
 * compile, or compiles to the same code; then run.sh draws another one.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"

static const char *const talks[] = {
	"fprintf", "printf", "perror", "complain", "err_line", "pr_info", "pr_err", "pr_warn",
	"pr_err_once", "pr_warn_once", "WARN_ON", "WARN_ON_ONCE", "dev_warn",
	"_Static_assert", "static_assert", "BUILD_BUG_ON", "assert", "MODULE_PARM_DESC",
};

static const char *const frees[] = {
	"free", "close", "fclose", "munmap", "kfree", "kvfree", "vfree", "put_page",
};

/* Lists what one operator becomes. */
static const struct swap {
	const char *from, *to[2];
} swaps[] = {
	{ "<", { "<=", ">=" } }, { "<=", { "<", ">" } }, { ">", { ">=", "<=" } },
	{ ">=", { ">", "<" } }, { "==", { "!=" } }, { "!=", { "==" } },
	{ "&&", { "||" } }, { "||", { "&&" } }, { "+", { "-" } }, { "-", { "+" } },
	{ "+=", { "-=", "=" } }, { "-=", { "+=", "=" } }, { "++", { "--" } }, { "--", { "++" } },
	{ "|=", { "=", "&=" } }, { "&=", { "=", "|=" } }, { "<<", { ">>" } }, { ">>", { "<<" } },
	{ "*", { "/" } }, { "/", { "*" } }, { "!", { "" } },
};

static bool is_one_of(const struct token *t, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (token_is(t, words[i]))
			return true;
	return false;
}

#define ONE_OF(t, words) is_one_of(t, words, sizeof(words) / sizeof((words)[0]))

static void add(struct source *s, enum kind kind, size_t at, size_t end, char *text)
{
	if (s->nr_places == s->room_places) {
		s->room_places = s->room_places ? s->room_places * 2 : 256;
		s->places = need(realloc(s->places, s->room_places * sizeof(*s->places)));
	}
	s->places[s->nr_places++] = (struct place) {
		.kind = kind, .begin = at, .end = end, .text = text, .line = line_of(s, at),
	};
}

static char *format_number(unsigned long long value, const char *suffix, bool hex)
{
	char *text = NULL;

	if (asprintf(&text, hex ? "0x%llx%s" : "%llu%s", value, suffix) < 0)
		need(NULL);
	return text;
}

/*
 * Adds what a number becomes: one more, one less, double, half, 0.  Numbers with a point are only
 * doubled and halved.
 */
static void add_number(struct source *s, const struct token *t)
{
	char word[64], *suffix;
	unsigned long long old, news[5];
	size_t nr = 0;
	bool hex;

	if (t->len >= sizeof(word))
		return;
	snprintf(word, sizeof(word), "%.*s", (int)t->len, s->text + t->at);
	hex = !strncasecmp(word, "0x", 2);
	if (!hex && strpbrk(word, ".eE")) {
		double value = strtod(word, &suffix);

		for (int i = 0; i < 2; i++) {
			char *text = NULL;

			if (asprintf(&text, "%#g%s", i ? value / 2 : value * 2, suffix) < 0)
				need(NULL);
			add(s, KIND_CONST, t->at, t->at + t->len, text);
		}
		return;
	}
	old = strtoull(word, &suffix, 0);
	news[nr++] = old + 1;
	if (old) {
		news[nr++] = old - 1;
		if (old > 2)
			news[nr++] = old * 2;
		if (old > 3)
			news[nr++] = old / 2;
		if (old > 1)
			news[nr++] = 0;
	}
	for (size_t i = 0; i < nr; i++)
		add(s, KIND_CONST, t->at, t->at + t->len, format_number(news[i], suffix, hex));
}

/* Returns true if there is an operand before token i, so that i can be a binary operator. */
static bool has_left_side(const struct source *s, size_t i)
{
	static const char *const words[] = { "return", "case", "else", "sizeof", "do", "goto" };
	const struct token *t;

	if (!i)
		return false;
	t = &s->tokens[i - 1];
	if (t->type == TOKEN_WORD)
		return !ONE_OF(t, words);
	return t->type == TOKEN_NUMBER || token_is(t, ")") || token_is(t, "]");
}

/*
 * Returns true if token i is the binary operator, or the negation, that it seems to be: a star or a
 * minus may be another operator.
 */
static bool is_operator(const struct source *s, size_t i)
{
	const struct token *t = &s->tokens[i];
	char after = s->text[t->at + t->len];

	/* binary operators are written with spaces around them; pointers are not */
	if (token_is(t, "*") || token_is(t, "/"))
		return has_left_side(s, i) && isspace(after);
	if (token_is(t, "+") || token_is(t, "-"))
		return has_left_side(s, i);
	if (token_is(t, "<") || token_is(t, ">"))
		return isspace(after);
	if (token_is(t, "!"))
		return !(i && token_is(t - 1, "!")) && after != '!';
	return true;
}

static void add_operator(struct source *s, size_t i)
{
	const struct token *t = &s->tokens[i];

	for (size_t k = 0; k < sizeof(swaps) / sizeof(swaps[0]); k++) {
		if (!token_is(t, swaps[k].from) || !is_operator(s, i))
			continue;
		for (int n = 0; n < 2 && swaps[k].to[n]; n++)
			add(s, KIND_OP, t->at, t->at + t->len, need(strdup(swaps[k].to[n])));
	}
}

static void add_tokens(struct source *s, size_t i)
{
	const struct token *t = &s->tokens[i];

	if (!t->is_code || t->is_silent)
		return;
	if (t->type == TOKEN_NUMBER)
		add_number(s, t);
	else if (t->type == TOKEN_PUNCT && !t->is_define_line)
		add_operator(s, i);
	if (t->type == TOKEN_WORD && !t->is_define_line && (token_is(t, "if") || token_is(t, "while")) &&
	    i + 1 < s->nr_tokens && token_is(t + 1, "(")) {
		size_t end = closing(s, i + 1);
		char *text = NULL;
		size_t from = t[1].at + 1, to = s->tokens[end].at;

		if (asprintf(&text, "!(%.*s)", (int)(to - from), s->text + from) < 0)
			need(NULL);
		add(s, KIND_NEGATE, from, to, text);
	}
}

/*
 * Makes the text that replaces a removed statement.  It has the same number of lines, and the lines
 * of a macro remain joined.
 */
static char *blank(const struct source *s, size_t begin, size_t end)
{
	char *text = need(calloc(1, 2 * (end - begin) + 2)), *p = text;

	*p++ = ';';
	for (size_t i = begin; i < end; i++) {
		if (s->text[i] != '\n')
			continue;
		if (i && s->text[i - 1] == '\\')
			*p++ = '\\';
		*p++ = '\n';
	}
	return text;
}

static bool is_last_return(const struct source *s, const struct statement *st)
{
	return token_is(&s->tokens[st->first], "return") && st->last + 1 < s->nr_tokens &&
	       token_is(&s->tokens[st->last + 1], "}") && s->tokens[st->last + 1].depth == 0;
}

/* Finds the name that a statement assigns to: the last one on the left; NULL: it only calls. */
static const struct token *assigned(const struct source *s, const struct statement *st)
{
	static const char *const assigns[] = { "=", "+=", "-=", "|=", "&=", "++", "--" };
	const struct token *name = NULL;

	for (size_t i = st->first; i <= st->last; i++) {
		const struct token *t = &s->tokens[i];

		if (t->type == TOKEN_PUNCT && ONE_OF(t, assigns))
			return name ? name : t + 1;
		if (token_is(t, "("))
			return NULL;
		if (t->type == TOKEN_WORD)
			name = t;
	}
	return NULL;
}

/* Returns true if the order of the two statements matters. */
static bool depends(const struct source *s, const struct statement *a, const struct statement *b)
{
	const struct token *name = assigned(s, a);

	for (size_t i = b->first; name && i <= b->last; i++) {
		const struct token *t = &s->tokens[i];

		if (t->type == TOKEN_WORD && t->len == name->len && !memcmp(t->text, name->text, t->len))
			return true;
	}
	return !name;
}

static void add_statements(struct source *s)
{
	for (size_t i = 0; i < s->nr_statements; i++) {
		const struct statement *st = &s->statements[i], *next = st + 1;
		const struct token *first = &s->tokens[st->first], *last = &s->tokens[st->last];
		char *text = NULL;
		size_t begin = first->at, end = last->at + 1;

		if (first->is_silent || ONE_OF(first, frees))
			continue;
		if (!is_last_return(s, st))
			add(s, KIND_DROP, begin, end, blank(s, begin, end));
		/* The second statement begins a new line, directly after the first. */
		if (i + 1 == s->nr_statements || next->first != st->last + 1 || st->is_jump ||
		    next->is_jump || st->is_branch || s->tokens[next->first].is_silent ||
		    ONE_OF(&s->tokens[next->first], frees) || !(depends(s, st, next) || depends(s, next, st)))
			continue;
		begin = s->tokens[next->first].at;
		if (asprintf(&text, "%.*s%.*s%.*s", (int)(s->tokens[next->last].at + 1 - begin),
			     s->text + begin, (int)(begin - end), s->text + end,
			     (int)(end - first->at), s->text + first->at) < 0)
			need(NULL);
		add(s, KIND_SWAP, first->at, s->tokens[next->last].at + 1, text);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct place *pa = a, *pb = b;

	if (pa->begin != pb->begin)
		return pa->begin < pb->begin ? -1 : 1;
	if (pa->kind != pb->kind)
		return pa->kind < pb->kind ? -1 : 1;
	return strcmp(pa->text, pb->text);
}

static void silence(struct source *s)
{
	for (size_t i = 0; i + 1 < s->nr_tokens; i++) {
		if (s->tokens[i].type != TOKEN_WORD || !token_is(&s->tokens[i + 1], "(") ||
		    !ONE_OF(&s->tokens[i], talks))
			continue;
		for (size_t end = closing(s, i + 1); i <= end; i++)
			s->tokens[i].is_silent = true;
	}
}

static struct source *source_places(const char *path)
{
	struct source *s = source_read(path);

	silence(s);
	for (size_t i = 0; i < s->nr_tokens; i++)
		add_tokens(s, i);
	add_statements(s);
	qsort(s->places, s->nr_places, sizeof(*s->places), by_place);
	for (size_t i = 0; i < s->nr_places; i++)
		s->places[i].number = i;
	return s;
}

/* This is Sebastiano Vigna's splitmix64. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static const char *const kinds[] = { "op", "const", "negate", "drop", "swap" };

struct line {
	const struct source *source;
	size_t first, nr, drawn;	/* places; the drawn ones are moved to the front */
};

/* Lists the lines that have places, of all sources. */
static struct line *lines_of(char **paths, int nr_paths, size_t *nr)
{
	struct line *lines = NULL;

	*nr = 0;
	for (int f = 0; f < nr_paths; f++) {
		const struct source *s = source_places(paths[f]);

		for (size_t i = 0, end; i < s->nr_places; i = end) {
			for (end = i; end < s->nr_places && s->places[end].line == s->places[i].line; end++)
				;
			lines = need(realloc(lines, (*nr + 1) * sizeof(*lines)));
			lines[(*nr)++] = (struct line) { .source = s, .first = i, .nr = end - i };
		}
	}
	return lines;
}

/*
 * Draws nr_wanted places and prints them.  The number of a place moves with it when the drawn ones
 * are exchanged.
 */
static int draw(uint64_t seed, size_t nr_wanted, const char *part, char **paths, int nr_paths)
{
	size_t nr_lines, nr_left;
	struct line *lines = lines_of(paths, nr_paths, &nr_lines);
	uint64_t state = seed;

	for (const char *c = part; *c; c++)	/* parts are independent of each other */
		state = (state ^ *c) * 0x100000001b3;
	nr_left = nr_lines;
	while (nr_wanted && nr_left) {
		size_t at = next_random(&state) % nr_left;
		struct line *l = &lines[at];
		struct place *places = l->source->places + l->first;
		size_t which = l->drawn + next_random(&state) % (l->nr - l->drawn);
		struct place p = places[which];

		places[which] = places[l->drawn];
		places[l->drawn] = p;
		l->drawn++;
		printf("%s %s %zu %zu %s\n", part, l->source->path, p.number, p.line, kinds[p.kind]);
		nr_wanted--;
		if (l->drawn == l->nr)
			lines[at] = lines[--nr_left];
	}
	return 0;
}

static int list(const char *path)
{
	const struct source *s = source_places(path);

	for (size_t i = 0; i < s->nr_places; i++) {
		const struct place *p = &s->places[i];

		printf("%zu %zu %s: %.*s -> %s\n", p->line, i, kinds[p->kind],
		       (int)(p->end - p->begin), s->text + p->begin, p->text);
	}
	return 0;
}

static int apply(const char *path, size_t number)
{
	const struct source *s = source_places(path);
	const struct place *p = s->places + number;

	if (number >= s->nr_places) {
		fprintf(stderr, "mutate: %s: has no place %zu: see mutate list\n", path, number);
		return 1;
	}
	fwrite(s->text, 1, p->begin, stdout);
	fputs(p->text, stdout);
	fwrite(s->text + p->end, 1, s->len - p->end, stdout);
	return 0;
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";
	size_t nr = 0;

	if (!strcmp(command, "list") && argc == 3)
		return list(argv[2]);
	if (!strcmp(command, "draw") && argc > 5)
		return draw(strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0), argv[4],
			    argv + 5, argc - 5);
	if (!strcmp(command, "apply") && argc == 4)
		return apply(argv[2], strtoull(argv[3], NULL, 0));
	if (!strcmp(command, "lines") && argc > 2) {
		lines_of(argv + 2, argc - 2, &nr);
		printf("%zu\n", nr);
		return 0;
	}
	fprintf(stderr, "usage: mutate list|lines|draw|apply ...: see the head of mutate.c\n");
	return 2;
}
