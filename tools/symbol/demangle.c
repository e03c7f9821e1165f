// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes readable names of linker names.  libstdc++ demangles; this file leaves out what does not
 * help to recognise a function: parameters, return types and the suffixes of GCC's clones.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle.h"

/* This function is declared in <cxxabi.h>, which only C++ can include. */
extern char *__cxa_demangle(const char *name, char *buf, size_t *size, int *status);

#define NAME_MAX_BYTES	(64U << 10)	/* longer names are not changed */

static const char *const clones[] = {
	"cold", "part", "isra", "constprop", "lto_priv", "localalias", "llvm",
};

static size_t word_len(const char *s)
{
	return strcspn(s, ".");
}

static bool is_clone_word(const char *s, size_t len)
{
	for (size_t i = 0; i < sizeof(clones) / sizeof(clones[0]); i++)
		if (strlen(clones[i]) == len && !memcmp(clones[i], s, len))
			return true;
	return false;
}

/*
 * Returns true if s, the text after a dot, is a suffix of clones ("constprop.0.isra.1").  It must
 * begin with a name.
 */
static bool is_clone_suffix(const char *s)
{
	size_t len = word_len(s);

	if (!is_clone_word(s, len))
		return false;
	while (s[len]) {
		s += len + 1;
		len = word_len(s);
		if (!len || (strspn(s, "0123456789") != len && !is_clone_word(s, len)))
			return false;
	}
	return true;
}

void demangle_fold(char *name)
{
	char *dot = name;

	if (!*name)
		return;
	while ((dot = strchr(dot + 1, '.'))) {
		if (is_clone_suffix(dot + 1)) {
			*dot = '\0';
			return;
		}
	}
}

/* Returns the index of the bracket that matches the closing one at s[end], or -1. */
static long matching(const char *s, long end)
{
	long depth = 0;

	for (long i = end; i >= 0; i--) {
		if (strchr(")}>]", s[i])) {
			if (s[i] == '>' && i && s[i - 1] == '-')
				continue;
			depth++;
		} else if (strchr("({<[", s[i])) {
			if (--depth == 0)
				return i;
		}
	}
	return -1;
}

/* Returns true if s[..pos] ends in "operator". */
static bool after_operator(const char *s, long pos)
{
	return pos >= 8 && !memcmp(s + pos - 8, "operator", 8);
}

/* Cuts " const", " &" and the parameter list at the end. */
static void cut_parameters(char *s)
{
	static const char *const quals[] = { " const", " volatile", " &&", " &", " noexcept" };
	size_t len = strlen(s);
	bool again = true;
	long open;

	while (again) {
		again = false;
		for (size_t i = 0; i < sizeof(quals) / sizeof(quals[0]); i++) {
			size_t q = strlen(quals[i]);

			if (len > q && !memcmp(s + len - q, quals[i], q) && s[len - q - 1] == ')') {
				len -= q;
				again = true;
			}
		}
	}
	if (!len || s[len - 1] != ')')
		return;
	/* operator()(int) ends in two pairs of brackets, and the first belongs to the name. */
	open = matching(s, len - 1);
	if (open <= 0 || (after_operator(s, open) && open + 2 == (long)len))
		return;
	s[open] = '\0';
}

/*
 * Finds where the name starts, after a return type: after the last space outside of brackets that
 * is not part of the name ("operator new", "f() const::lambda").
 */
static char *skip_return_type(char *s)
{
	const char *op = strstr(s, "operator");
	long depth = 0, start = 0;

	for (long i = 0; s[i]; i++) {
		if (op && s + i == op && (i == 0 || strchr(": ", s[i - 1])))
			break;
		if (strchr("({<[", s[i]))
			depth++;
		else if (strchr(")}>]", s[i]) && depth > 0)
			depth--;
		else if (s[i] == ' ' && depth == 0 && strncmp(s + i, " const", 6) &&
			 strncmp(s + i, " volatile", 9) && s[i + 1] != '[')
			start = i + 1;
	}
	return s + start;
}

char *demangle_name(const char *raw)
{
	int status = 0;
	char *full = NULL, *clone, *name, *out;

	if (!strncmp(raw, "_Z", 2) && strlen(raw) < NAME_MAX_BYTES)
		full = __cxa_demangle(raw, NULL, NULL, &status);
	if (!full)
		return strdup(raw);

	clone = strstr(full, " [clone ");
	if (clone)
		*clone = '\0';
	cut_parameters(full);
	name = skip_return_type(full);
	out = malloc(strlen(raw) + strlen(name) + 4);
	if (out) {
		strcpy(out, name);
		/* A clone whose suffix was not cut (._omp_fn.0) is a separate function. */
		if (clone && strchr(raw, '.'))
			strcat(out, strchr(raw, '.'));
	}
	free(full);
	return out;
}
