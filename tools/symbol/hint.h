/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says in one line what to do about symbols that were not found. */
#ifndef SYMBOL_HINT_H
#define SYMBOL_HINT_H

#include <stdbool.h>
#include <stddef.h>
#include "symbol/symbol.h"

struct hint {
	enum symtab_problem problem;
	const char *path;	/* path of a file that has the problem */
	const char *build_id;	/* hex; "": not known */
	bool is_there;		/* the file was found: now, or when its names were stored */
	bool has_symbols;	/* the file has symbols */
	bool is_instrumented;	/* compiled with the plugin: by the user */
	unsigned nr;		/* number of files that have the problem */
};

/*
 * Returns true if a hint should be printed for missing names in this library, which comes from a
 * package.
 */
bool hint_is_of_use(const char *path);
void hint_text(const struct hint *h, const char *sysroot, char *buf, size_t size);

#endif
