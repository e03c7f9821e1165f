/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file with its symbols and, if it has any, its lines.  All addresses are the ELF file's own
 * (run-time address - bias).
 */
#ifndef SYMBOL_ELFFILE_H
#define SYMBOL_ELFFILE_H

#include <stdbool.h>
#include <stdint.h>
#include "symbol/symbol.h"

struct elffile;
struct dwarfinfo;

/* Where to search for files.  Strings must be valid as long as the files. */
struct elffile_search {
	const char *sysroot;		/* "" or a path */
	const char *const *debug_dirs;
	size_t nr_debug_dirs;
};

enum elffile_state {
	ELFFILE_USABLE,
	ELFFILE_ABSENT,		/* no such file, or no ELF file */
	ELFFILE_OTHER,		/* the file has another build-id */
};

struct elffile_sym {
	uint64_t addr, size;
	const char *name;
	/* rank: of several symbols at one address, the one with the highest rank is used */
	unsigned char rank;
};

/*
 * build_id is in hex, "" if unknown.  Returns NULL if there is no memory; elffile_state() says
 * whether the file can be used.  Strings and search must be valid as long as the file.
 */
struct elffile *elffile_open(const struct elffile_search *search, const char *path,
			     const char *build_id);
void elffile_close(struct elffile *f);

enum elffile_state elffile_state(const struct elffile *f);
bool elffile_has_symbols(struct elffile *f);
bool elffile_has_lines(struct elffile *f);

/* Returns true if its debug information refers to another file (dwz, .dwo) that was not found. */
bool elffile_lacks_part(struct elffile *f);

/* Returns the function or the variable that contains addr, or NULL. */
const struct elffile_sym *elffile_func(struct elffile *f, uint64_t addr);
const struct elffile_sym *elffile_data(struct elffile *f, uint64_t addr);

/* Calls fn for each symbol of a function. */
void elffile_each_func(struct elffile *f, void (*fn)(void *arg, const struct elffile_sym *sym), void *arg);

/* Finds where in the file the code or data at addr is. */
bool elffile_offset(struct elffile *f, uint64_t addr, uint64_t *offset);

/* Calls fn for the functions of other modules that the named one calls; see elfcalls.h. */
void elffile_calls(struct elffile *f, const char *name, void (*fn)(void *arg, const char *name),
		   void *arg);

/* Returns the linker's name of the function that the call before ret calls; NULL: not known. */
const char *elffile_callee(struct elffile *f, uint64_t ret);

/* Returns NULL if there is no debug information. */
struct dwarfinfo *elffile_dwarf(struct elffile *f);

#endif
