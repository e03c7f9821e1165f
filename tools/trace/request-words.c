// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the words of --request, and compares functions with them; see request-words.h. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "trace/request-words.h"

char *request_bare_name(const char *word)
{
	const char *open = strrchr(word, '(');
	size_t length = strlen(word);
	bool is_bare = !open || open == word || word[length - 1] != ')' ||
		       (open - word >= 8 && !strncmp(open - 8, "operator", 8));

	return strndup(word, is_bare ? length : (size_t)(open - word));
}

/* Returns the last part of a C++ name, after its scopes. */
static const char *last_part(const char *function)
{
	const char *last = function;

	for (const char *p = function; *p && *p != '<'; p++)
		if (p[0] == ':' && p[1] == ':')
			last = p + 2;
	return last;
}

bool request_word_matches(const char *word, const char *function)
{
	return !fnmatch(word, function, 0) || !fnmatch(word, last_part(function), 0);
}

/* Returns a copy of the text in the brackets that end the word, or NULL. */
static char *inside(const char *word)
{
	char *bare = request_bare_name(word);
	size_t length = strlen(word), start = bare ? strlen(bare) + 1 : length;

	free(bare);
	return start < length ? strndup(word + start, length - start - 1) : NULL;
}

bool request_has_id(const char *word)
{
	char *text = inside(word);
	bool has = text && *text;

	free(text);
	return has;
}

static bool is_name(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}

static const char *parse_path(struct request_id *id)
{
	char *rest = id->text;
	bool is_arrow = false;

	while (rest) {
		char *name = rest, *end = strpbrk(rest, ".-");

		if (id->nr_names == REQUEST_PATH_MAX)
			return "too many members on the way to the id";
		rest = NULL;
		if (end && *end == '-' && end[1] != '>')
			return "give a parameter, as in FUNCTION(r->id)";
		id->is_arrow[id->nr_names] = is_arrow;
		id->names[id->nr_names++] = name;
		if (end) {
			is_arrow = *end == '-';
			rest = end + 1 + is_arrow;
			*end = '\0';
		}
		if (!is_name(name))
			return "give a parameter, as in FUNCTION(r->id), or $1";
	}
	return NULL;
}

/* Parses a type from u8 to s64; the default is a whole register. */
static bool parse_type(const char *text, struct request_id *id)
{
	static const char *const bits[] = { "8", "16", "32", "64" };

	id->size = 8;
	if (!*text)
		return true;
	if (text[0] != ':' || (text[1] != 'u' && text[1] != 's'))
		return false;
	id->is_signed = text[1] == 's';
	for (unsigned i = 0; i < 4; i++) {
		id->size = 1U << i;
		if (!strcmp(text + 2, bits[i]))
			return true;
	}
	return false;
}

const char *request_id_parse(const char *word, struct request_id *id)
{
	*id = (struct request_id){ .text = inside(word) };
	if (!id->text)
		return "out of memory";
	if (*id->text != '$')
		return parse_path(id);
	if (id->text[1] < '1' || id->text[1] > '0' + REQUEST_PARAMETERS_MAX || !parse_type(id->text + 2, id))
		return "give $1 to $6, maybe with a type, as in $2:u32";
	id->number = id->text[1] - '0';
	return NULL;
}
