// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares functions with the words of --request; see request-words.h. */
#include <fnmatch.h>
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

/* Returns what comes after the scopes of a C++ name. */
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
