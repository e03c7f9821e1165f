/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the names of all addresses of a trace into the trace, so that it can be read where the
 * program was rebuilt, was removed, or never existed.
 */
#ifndef NAMES_NAMES_H
#define NAMES_NAMES_H

#include "symbol/symbol.h"

struct names_options {
	struct symtab_options symbols;
	bool (*goes_on)(void *arg);	/* false: give up, and the trace is as it was; NULL: never */
	void *arg;
};

struct names_done {
	size_t nr_files, nr_symbols;
	uint64_t bytes;			/* added */
};

/*
 * Returns 0; -EEXIST: it has them already; -EINTR: interrupted; else err has the reason.  The
 * file stays valid in any case, except while it is written (at the end, for milliseconds).
 */
int names_store(const char *path, const struct names_options *o, struct names_done *done,
		char *err, size_t err_size);

#endif
