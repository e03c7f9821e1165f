/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds lines and definitions in DWARF 2-5.  The functions of a compilation unit are indexed by
 * address when the first address in it is resolved.
 */
#ifndef SYMBOL_DWARFINFO_H
#define SYMBOL_DWARFINFO_H

#include <stdbool.h>
#include <stdint.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

struct dwarfinfo;

/* Strings belong to the Dwfl; NULL or 0: not known. */
struct dwarfinfo_pos {
	const char *file;
	unsigned line;
	bool in_system;		/* the file is a system header */
};

struct dwarfinfo_func {
	const char *linkage_name;	/* or, in C, the name of the function */
	struct dwarfinfo_pos decl;	/* its definition */
};

/* Returns NULL if there is no DWARF in the module, or there is no memory. */
struct dwarfinfo *dwarfinfo_open(Dwfl_Module *mod);
void dwarfinfo_close(struct dwarfinfo *d);

/* Returns true if a compilation unit lacks its .dwo file (split DWARF). */
bool dwarfinfo_lacks_split(const struct dwarfinfo *d);

bool dwarfinfo_line(struct dwarfinfo *d, uint64_t addr, struct dwarfinfo_pos *pos);

/*
 * As dwarfinfo_line(), but if the line of addr is in a system header, it finds the line of the
 * innermost inlined call that is in no system header, if there is such a call.
 */
bool dwarfinfo_user_line(struct dwarfinfo *d, uint64_t addr, struct dwarfinfo_pos *pos);

/* Finds the function whose code (not inlined code) contains addr. */
bool dwarfinfo_function(struct dwarfinfo *d, uint64_t addr, struct dwarfinfo_func *func);

/* Finds the DWARF entry of the function that begins at addr; false: no function begins there. */
bool dwarfinfo_entry(struct dwarfinfo *d, uint64_t addr, Dwarf_Die *die);

#endif
