// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements lists of globs that choose functions and classes; see filter.h. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "record/filter/private.h"

#define RULES_MAX	256

static const char *const prefixes[] = { [FILTER_FILE] = "file:", [FILTER_MODULE] = "module:" };

void filter_list_free(struct filter_list *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->nr; i++)
		free(l->rules[i].glob);
	free(l->rules);
	free(l);
}

static bool add(struct filter_list *l, const struct filter_rule *rule, const char *glob, size_t len)
{
	struct filter_rule *r;

	if (l->nr == RULES_MAX || !array_room(&l->rules, &l->room, l->nr, sizeof(*l->rules)))
		return false;
	r = &l->rules[l->nr];
	*r = *rule;
	r->glob = strndup(glob, len);
	l->nr += !!r->glob;
	return r->glob;
}

bool filter_list_add(struct filter_list *l, const char *glob, uint64_t ticks)
{
	struct filter_rule rule = { .is_added = true, .ticks = ticks };

	for (size_t i = 0; i < l->nr; i++) {
		if (strcmp(l->rules[i].glob, glob))
			continue;
		rule.glob = l->rules[i].glob;
		memmove(&l->rules[i], &l->rules[i + 1], (l->nr - i - 1) * sizeof(*l->rules));
		l->rules[l->nr - 1] = rule;
		return true;
	}
	return add(l, &rule, glob, strlen(glob));
}

static const char *parse_word(struct filter_list *l, const char *word, size_t len, bool has_whats)
{
	struct filter_rule rule = { .is_added = *word != '-' };

	if (*word == '-' || *word == '+') {
		word++;
		len--;
	}
	for (unsigned what = FILTER_FILE; has_whats && what <= FILTER_MODULE; what++) {
		size_t n = strlen(prefixes[what]);

		if (len < n || strncmp(word, prefixes[what], n))
			continue;
		rule.what = what;
		word += n;
		len -= n;
		break;
	}
	if (!len)
		return "a word has no glob";
	return add(l, &rule, word, len) ? NULL : "there are too many words";
}

struct filter_list *filter_list_parse(const char *words, bool has_whats, const char **why)
{
	struct filter_list *l = calloc(1, sizeof(*l));

	*why = l ? NULL : "out of memory";
	while (!*why && *(words += strspn(words, " \t"))) {
		size_t len = strcspn(words, " \t");

		*why = parse_word(l, words, len, has_whats);
		words += len;
	}
	if (!*why)
		return l;
	filter_list_free(l);
	return NULL;
}

void filter_list_print(const struct filter_list *l, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	for (size_t i = 0; l && i < l->nr && n < size; i++) {
		const struct filter_rule *r = &l->rules[i];

		n += snprintf(text + n, size - n, "%s%c%s%s", i ? " " : "", r->is_added ? '+' : '-',
			      prefixes[r->what] ?: "", r->glob);
	}
}

/* A glob of a file or module is compared both with the whole path and with the last component. */
static bool matches(const struct filter_rule *r, const char *const names[3])
{
	const char *name = names[r->what], *last = strrchr(name, '/');

	return !fnmatch(r->glob, name, 0) || (r->what != FILTER_NAME && last && !fnmatch(r->glob, last + 1, 0));
}

static const struct filter_rule *last_match(const struct filter_list *l, const char *const names[3])
{
	for (size_t i = l ? l->nr : 0; i-- > 0;)
		if (matches(&l->rules[i], names))
			return &l->rules[i];
	return NULL;
}

bool filter_list_has(const struct filter_list *l, const char *const names[3])
{
	const struct filter_rule *r = last_match(l, names);

	return r ? r->is_added : !l || !l->nr || !l->rules[0].is_added;
}

uint64_t filter_list_ticks(const struct filter_list *l, const char *const names[3])
{
	const struct filter_rule *r = last_match(l, names);

	return r ? r->ticks : 0;
}
