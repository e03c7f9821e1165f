// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds lines and definitions in DWARF 2-5.
 *
 * Units are found by their own address ranges and not by .debug_aranges, which clang does not
 * write.  The functions of a unit are collected once, sorted by address: libdw's dwarf_getscopes()
 * walks the whole unit for each address, which takes minutes for a program linked with -flto.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <dwarf.h>
#include <elfutils/libdw.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "cli/foreign.h"
#include "symbol/dwarfinfo.h"

#define DIE_DEPTH_MAX	64	/* nesting of scopes: a broken file must not exhaust the stack */

struct range {
	Dwarf_Addr lo, hi;	/* [lo, hi) */
	Dwarf_Die die;
	size_t unit;
};

struct range_list {
	struct range *at;
	size_t nr, room;
};

struct unit {
	Dwarf_Die die;		/* unit with the line table */
	Dwarf_Die funcs_die;	/* unit with the functions; not the same as die if DWARF is split */
	struct range_list funcs;
	bool has_funcs;
};

struct dwarfinfo {
	Dwarf_Addr bias;
	struct unit *units;
	size_t nr_units, room;
	struct range_list ranges;
	bool lacks_split;
};

static bool range_add(struct range_list *list, Dwarf_Addr lo, Dwarf_Addr hi, const Dwarf_Die *die,
		      size_t unit)
{
	return !array_push(list->at, list->nr, list->room,
			  { .lo = lo, .hi = hi, .die = *die, .unit = unit });
}

/*
 * Adds the ranges of a unit or function.  One with address 0 was dropped by the linker: it is left
 * out.
 */
static bool range_add_die(struct range_list *list, Dwarf_Die *die, size_t unit)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t off = 0;

	while ((off = dwarf_ranges(die, off, &base, &lo, &hi)) > 0)
		if (lo && lo < hi && !range_add(list, lo, hi, die, unit))
			return false;
	return true;
}

COMPARE(range_compare, struct range, UP(lo) DOWN(hi))

/* Returns the innermost range that contains addr; nested ones start later. */
static struct range *range_find(struct range_list *list, Dwarf_Addr addr)
{
	size_t lo = search(list->nr, i, list->at[i].lo <= addr);

	for (size_t tries = 0; lo > 0 && tries < 16; tries++, lo--)
		if (addr < list->at[lo - 1].hi)
			return &list->at[lo - 1];
	return NULL;
}

static const char *attr_text(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr(die, name, &attr));
}

/* Returns true if the file is missing, or may be opened (cli/foreign.h). */
static bool is_harmless(const char *folder, const char *name)
{
	char path[PATH_MAX];
	int fd;

	if (*name == '/')
		folder = "";
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return false;
	fd = foreign_open(path);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -ENOENT || fd == -ENOTDIR;
}

/*
 * Returns true if libdw may open the .dwo file.  It opens it by a name in the debug information:
 * next to the file, in the directory in which it was compiled, or in the current directory.
 */
static bool may_open_split(Dwarf_Die *skeleton, const char *folder)
{
	const char *name = attr_text(skeleton, DW_AT_dwo_name);
	const char *compiled_in = attr_text(skeleton, DW_AT_comp_dir);

	if (!name)
		name = attr_text(skeleton, DW_AT_GNU_dwo_name);
	return name && is_harmless(folder, name) && is_harmless(".", name) &&
	       (!compiled_in || is_harmless(compiled_in, name));
}

/* Writes to `folder` the directory of the file with the debug information. */
static void folder_of(Dwfl_Module *mod, char *folder)
{
	const char *file = NULL, *debug_file = NULL;
	char *slash;

	dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, &file, &debug_file);
	if (debug_file)
		file = debug_file;
	if (!file || !realpath(file, folder))
		strcpy(folder, ".");
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
}

static bool unit_add(struct dwarfinfo *d, const struct unit *unit)
{
	return !array_push(d->units, d->nr_units, d->room, *unit);
}

static bool collect_units(struct dwarfinfo *d, Dwarf *dw, const char *folder)
{
	Dwarf_CU *cu = NULL, *before = NULL;
	Dwarf_Die cudie, subdie;
	uint8_t type;

	/* For each unit, the unit itself is read first, and then its split part. */
	for (; dwarf_get_units(dw, before, &cu, NULL, &type, &cudie, NULL) == 0; before = cu) {
		struct unit unit = { .die = cudie, .funcs_die = cudie };

		if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_partial)
			continue;
		if (type == DW_UT_skeleton) {
			if (may_open_split(&cudie, folder) &&
			    dwarf_get_units(dw, before, &cu, NULL, NULL, NULL, &subdie) == 0 &&
			    subdie.addr)
				unit.funcs_die = subdie;
			else
				d->lacks_split = true;
		}
		if (!unit_add(d, &unit) || !range_add_die(&d->ranges, &cudie, d->nr_units - 1))
			return false;
	}
	sort_by(d->ranges.at, d->ranges.nr, range_compare);
	return true;
}

struct dwarfinfo *dwarfinfo_open(Dwfl_Module *mod)
{
	struct dwarfinfo *d;
	Dwarf_Addr bias;
	Dwarf *dw = dwfl_module_getdwarf(mod, &bias);
	char folder[PATH_MAX];

	if (!dw)
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->bias = bias;
	folder_of(mod, folder);
	if (!collect_units(d, dw, folder) || !d->ranges.nr) {
		dwarfinfo_close(d);
		return NULL;
	}
	return d;
}

bool dwarfinfo_lacks_split(const struct dwarfinfo *d)
{
	return d->lacks_split;
}

void dwarfinfo_close(struct dwarfinfo *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nr_units; i++)
		free(d->units[i].funcs.at);
	free(d->units);
	free(d->ranges.at);
	free(d);
}

static struct unit *unit_of(struct dwarfinfo *d, uint64_t addr)
{
	struct range *r = range_find(&d->ranges, addr - d->bias);

	return r ? &d->units[r->unit] : NULL;
}

static void collect_funcs(struct unit *u, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth > DIE_DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			range_add_die(&u->funcs, &die, 0);
			collect_funcs(u, &die, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_lexical_block:
			collect_funcs(u, &die, depth + 1);
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static Dwarf_Die *find_function(struct dwarfinfo *d, struct unit *u, uint64_t addr)
{
	struct range *r;

	if (!u->has_funcs) {
		u->has_funcs = true;
		collect_funcs(u, &u->funcs_die, 0);
		sort_by(u->funcs.at, u->funcs.nr, range_compare);
	}
	r = range_find(&u->funcs, addr - d->bias);
	return r ? &r->die : NULL;
}

static bool is_system(const char *file)
{
	static const char own[] = "ldb/ldb.h";
	size_t len = strlen(file), own_len = sizeof(own) - 1;

	return !strncmp(file, "/usr/include/", 13) || !strncmp(file, "/usr/lib/gcc", 12) ||
	       strstr(file, "/include/c++/") ||
	       (len >= own_len && !strcmp(file + len - own_len, own));
}

static void pos_set(struct dwarfinfo_pos *pos, const char *file, int line)
{
	pos->file = file;
	/* The number of a line is useless without its file. */
	pos->line = file && line > 0 ? line : 0;
	pos->in_system = file && is_system(file);
}

static bool unit_line(struct dwarfinfo *d, struct unit *u, uint64_t addr,
		      struct dwarfinfo_pos *pos)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->die, addr - d->bias);
	const char *file;
	int nr = 0;

	if (!line || dwarf_lineno(line, &nr) || nr <= 0)
		return false;
	file = dwarf_linesrc(line, NULL, NULL);
	if (!file)
		return false;
	pos_set(pos, file, nr);
	return true;
}

bool dwarfinfo_line(struct dwarfinfo *d, uint64_t addr, struct dwarfinfo_pos *pos)
{
	struct unit *u = unit_of(d, addr);

	return u && unit_line(d, u, addr, pos);
}

/*
 * Stores the inlined calls that contain pc in `chain`, outermost first, and returns their number.
 * Each step goes to a child, so that the loop ends even if the file is damaged.
 */
static unsigned inline_chain(Dwarf_Die *func, Dwarf_Addr pc, Dwarf_Die *chain)
{
	Dwarf_Die scope = *func, die;
	unsigned nr = 0;

	for (unsigned depth = 0; depth < DIE_DEPTH_MAX; depth++) {
		bool found = false;

		if (dwarf_child(&scope, &die) != 0)
			break;
		do {
			int tag = dwarf_tag(&die);

			if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block)
				continue;
			if (dwarf_haspc(&die, pc) > 0) {
				if (tag == DW_TAG_inlined_subroutine)
					chain[nr++] = die;
				found = true;
				break;
			}
		} while (dwarf_siblingof(&die, &die) == 0);
		if (!found)
			break;
		scope = die;
	}
	return nr;
}

/*
 * Returns the file of an attribute.  The attribute is a number in the table of the unit that has
 * the attribute, which with -flto and dwz is another unit than the function's.  libdw's
 * dwarf_decl_file() ends the process if there is no such table.
 */
static const char *attr_file(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	const char *file;
	Dwarf_Word nr = 0;
	Dwarf_Die cu;

	if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &nr))
		return NULL;
	if (!dwarf_cu_die(attr.cu, &cu, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&cu, &files, NULL))
		return NULL;
	/* In DWARF 5, number 0 is a file; in earlier versions it means that there is none. */
	file = dwarf_filesrc(files, nr, NULL, NULL);
	return file && strcmp(file, "???") ? file : NULL;
}

/* Finds where the inlined function was called. */
static bool call_pos(Dwarf_Die *die, struct dwarfinfo_pos *pos)
{
	Dwarf_Word line = 0;
	Dwarf_Attribute attr;
	const char *name;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &line))
		return false;
	name = attr_file(die, DW_AT_call_file);
	if (!name || line > INT32_MAX)
		return false;
	pos_set(pos, name, line);
	return true;
}

bool dwarfinfo_user_line(struct dwarfinfo *d, uint64_t addr, struct dwarfinfo_pos *pos)
{
	struct unit *u = unit_of(d, addr);
	Dwarf_Die chain[DIE_DEPTH_MAX], *func;
	struct dwarfinfo_pos outer;
	unsigned nr;

	if (!u || !unit_line(d, u, addr, pos))
		return false;
	if (!pos->in_system)
		return true;
	func = find_function(d, u, addr);
	if (!func)
		return true;
	nr = inline_chain(func, addr - d->bias, chain);
	while (nr-- > 0) {
		if (call_pos(&chain[nr], &outer) && !outer.in_system) {
			*pos = outer;
			break;
		}
	}
	return true;
}

static const char *attr_string(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attr));
}

bool dwarfinfo_function(struct dwarfinfo *d, uint64_t addr, struct dwarfinfo_func *func)
{
	struct unit *u = unit_of(d, addr);
	Dwarf_Die *die = u ? find_function(d, u, addr) : NULL;
	int line = 0;

	if (!die)
		return false;
	func->linkage_name = attr_string(die, DW_AT_linkage_name);
	if (!func->linkage_name)
		func->linkage_name = attr_string(die, DW_AT_MIPS_linkage_name);
	if (!func->linkage_name)
		func->linkage_name = attr_string(die, DW_AT_name);
	if (dwarf_decl_line(die, &line))
		line = 0;
	pos_set(&func->decl, attr_file(die, DW_AT_decl_file), line);
	return true;
}

bool dwarfinfo_entry(struct dwarfinfo *d, uint64_t addr, Dwarf_Die *die)
{
	struct unit *u = unit_of(d, addr);
	Dwarf_Die *found = u ? find_function(d, u, addr) : NULL;
	Dwarf_Addr entry;

	if (!found || dwarf_entrypc(found, &entry) || entry != addr - d->bias)
		return false;
	*die = *found;
	return true;
}
