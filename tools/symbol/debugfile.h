/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the symbols and lines of a file are, if they are not in it.
 *
 * Looked for beside the file and in its .debug folder, then below each folder for
 * debug files: by build-id, below the path of the file, and by name alone.  What is
 * found is taken only if its build-id is the one wanted, or, where there is none, if
 * the checksum of the link fits.
 */
#ifndef SYMBOL_DEBUGFILE_H
#define SYMBOL_DEBUGFILE_H

#include <elfutils/libdwfl.h>
#include "symbol/elffile.h"

struct debugfile {
	const struct elffile_search *search;
	const char *path;	/* of the program or library, as in the trace */
	const char *build_id;	/* hex; "": not known */
};

/* An open file that stands in for the program itself, or -1.  *found: malloc'ed path. */
int debugfile_instead(const struct debugfile *d, char **found);

/*
 * Beside file, the one that was opened: where its .gnu_debuglink (may be NULL) leads to,
 * or what its build-id does.  -1: nowhere.
 */
int debugfile_link(const struct debugfile *d, const char *file, const char *link, uint32_t crc,
		   char **found);

/* What .gnu_debugaltlink (dwz) of file names, with its build-id. */
int debugfile_alt(const struct debugfile *d, const char *file, const char *link,
		  const void *id, size_t id_size);

/*
 * The path may come from a trace or an ELF file: see cli/foreign.h.  What is below the
 * sysroot is looked up as if that were "/".  -1: not to be had.
 */
int debugfile_open(const struct elffile_search *search, const char *path);

#endif
