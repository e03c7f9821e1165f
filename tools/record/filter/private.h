/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares lists of globs, for the files of this directory. */
#ifndef RECORD_FILTER_PRIVATE_H
#define RECORD_FILTER_PRIVATE_H

#include "record/filter/filter.h"

enum filter_what { FILTER_NAME, FILTER_FILE, FILTER_MODULE };

struct filter_rule {
	bool is_added;
	enum filter_what what;
	char *glob;
	/* in filter->shortest: duration of the shortest invocation that is recorded */
	uint64_t ticks;
};

struct filter_list {
	struct filter_rule *rules;
	size_t nr, room;
};

/* Functions of list.c.  A list may be NULL, which means empty, except in filter_list_add(). */

void filter_list_free(struct filter_list *l);
/*
 * Returns NULL on failure; then *why is the reason.  has_whats: globs may begin with file: or
 * module:.
 */
struct filter_list *filter_list_parse(const char *words, bool has_whats, const char **why);
/*
 * Adds a rule for functions by name; a rule with the same glob is replaced.  The rule becomes the
 * last one.  Returns false if there are too many rules, or no memory.
 */
bool filter_list_add(struct filter_list *l, const char *glob, uint64_t ticks);
void filter_list_print(const struct filter_list *l, char *text, size_t size);
/*
 * Returns true if the list chooses the function with these names, which are indexed by enum
 * filter_what.
 */
bool filter_list_has(const struct filter_list *l, const char *const names[3]);
/* Returns the ticks of the last rule that matches these names; 0: none matches. */
uint64_t filter_list_ticks(const struct filter_list *l, const char *const names[3]);

#endif
