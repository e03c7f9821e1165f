/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the names of all addresses of a trace into the trace, so that the trace can be read after
 * the program was rebuilt or removed, and on other machines.
 */
#ifndef NAMES_NAMES_H
#define NAMES_NAMES_H

#include "symbol/symbol.h"

struct names_options {
	struct symtab_options symbols;
	/* if it returns false, the work stops and the trace stays as it was; NULL: never stop */
	bool (*goes_on)(void *arg);
	void *arg;
};

struct names_done {
	size_t nr_files, nr_symbols;
	uint64_t bytes;			/* number of bytes that were added */
};

/*
 * Returns 0, or -EEXIST if the trace has names already, or -EINTR if goes_on() returned false.  For
 * other errors err has the reason, unless memory ran out.  The file is changed only at the end,
 * when all names are known.
 */
int names_store(const char *path, const struct names_options *o, struct names_done *done,
		char *err, size_t err_size);

#endif
