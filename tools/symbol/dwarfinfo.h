/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines and definitions from DWARF 2-5.  The functions of a compilation unit
 * are indexed by address when the first address in it is asked for.
 */
#ifndef SYMBOL_DWARFINFO_H
#define SYMBOL_DWARFINFO_H

#include <stdbool.h>
#include <stdint.h>
#include <elfutils/libdwfl.h>

struct dwarfinfo;

/* Strings belong to the Dwfl; NULL or 0: not known. */
struct dwarfinfo_pos {
	const char *file;
	unsigned line;
	bool in_system;		/* file is a system header */
};

struct dwarfinfo_func {
	const char *linkage_name;	/* or the plain name of a C function */
	struct dwarfinfo_pos decl;	/* its definition */
};

/* NULL: no DWARF in the module, or out of memory. */
struct dwarfinfo *dwarfinfo_open(Dwfl_Module *mod);
void dwarfinfo_close(struct dwarfinfo *d);

/* Is some unit a skeleton whose .dwo file was not found? */
bool dwarfinfo_lacks_split(const struct dwarfinfo *d);

bool dwarfinfo_line(struct dwarfinfo *d, uint64_t addr, struct dwarfinfo_pos *pos);

/* Like dwarfinfo_line(), but moved out of inlined functions of system headers. */
bool dwarfinfo_user_line(struct dwarfinfo *d, uint64_t addr, struct dwarfinfo_pos *pos);

/* The function whose code (not inlined code) addr is in. */
bool dwarfinfo_function(struct dwarfinfo *d, uint64_t addr, struct dwarfinfo_func *func);

#endif
