/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the separate file that has the symbols and lines of a program or library.
 *
 * The search goes to the file's directory and to .debug in it, then below each directory for debug
 * files: by build-id, by the path of the file, and by its name alone.  A file is used only if it
 * has the required build-id.  If no build-id is known, the checksum of the link must match.
 */
#ifndef SYMBOL_DEBUGFILE_H
#define SYMBOL_DEBUGFILE_H

#include <elfutils/libdwfl.h>
#include "symbol/elffile.h"

struct debugfile {
	const struct elffile_search *search;
	const char *path;	/* path of the program or library, as in the trace */
	const char *build_id;	/* hex; "": not known */
};

/*
 * Opens a debug file that has the build-id of the program or library and can be read instead of it.
 * Returns its descriptor, or -1.  *found is set to its path, which the caller frees.
 */
int debugfile_instead(const struct debugfile *d, char **found);

/*
 * Opens the debug file of `file`, by the name in its .gnu_debuglink (may be NULL) or by its
 * build-id.  Returns a descriptor; -1: there is none.
 */
int debugfile_link(const struct debugfile *d, const char *file, const char *link, uint32_t crc,
		   char **found);

/*
 * Opens the file that the .gnu_debugaltlink (dwz) of `file` names, if it has the build-id in that
 * link.
 */
int debugfile_alt(const struct debugfile *d, const char *file, const char *link,
		  const void *id, size_t id_size);

/*
 * Opens a file.  The path may come from a trace or an ELF file: see cli/foreign.h.  A path below
 * the sysroot is resolved as if the sysroot were "/".  Returns -1 if it cannot be opened.
 */
int debugfile_open(const struct elffile_search *search, const char *path);

#endif
