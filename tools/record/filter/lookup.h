/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares a query for names of functions and variables, which another part of the tools
 * answers.
 */
#ifndef RECORD_FILTER_LOOKUP_H
#define RECORD_FILTER_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ldb/trace-format.h>

struct record_ask {
	uint64_t addr;
	bool is_data;		/* the address of a variable, and not of a function */
};

/*
 * Finds the names of functions and variables by their addresses, in a separate process, because the
 * debug information comes from the program and is not trusted.
 */
struct record_lookup {
	/* root directory of the program; NULL: same as the recorder's */
	const char *root;
	const struct ldb_row_module *modules;
	size_t nr_modules;
	int64_t tick;
	const struct record_ask *asks;
	size_t nr_asks;
	/* Called with each result; a variable that is not known has the name "". */
	void (*name)(void *arg, uint64_t addr, const char *name, const char *file, const char *module);
	void *arg;
};

#endif
