/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares lists of globs, which the files tools/record/filter*.c share. */
#ifndef RECORD_FILTER_PRIVATE_H
#define RECORD_FILTER_PRIVATE_H

#include "record/filter.h"

enum filter_what { FILTER_NAME, FILTER_FILE, FILTER_MODULE };

struct filter_rule {
	bool is_added;
	enum filter_what what;
	char *glob;
	uint64_t ticks;		/* of the list of shortest times */
};

struct filter_list {
	struct filter_rule *rules;
	size_t nr, room;
};

/* filter-list.c; the list may be NULL. */

void filter_list_free(struct filter_list *l);
/* If it returns NULL, *why is the reason.  has_whats: file: and module: are allowed. */
struct filter_list *filter_list_parse(const char *words, bool has_whats, const char **why);
bool filter_list_add(struct filter_list *l, const char *glob, uint64_t ticks);
void filter_list_print(const struct filter_list *l, char *text, size_t size);
/* names: of FILTER_NAME and so on. */
bool filter_list_has(const struct filter_list *l, const char *const names[3]);
/* Returns the ticks of the last rule that matches; 0: none. */
uint64_t filter_list_ticks(const struct filter_list *l, const char *const names[3]);

#endif
