// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens an ELF file, checks that it is the one that ran, and sorts its symbols by address.  libdwfl
 * reads .symtab, .dynsym and the mini debug info, and calls find_debuginfo() to get the separate
 * debug file.
 *
 * Paths come from a trace, which may come from anywhere: see cli/foreign.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "symbol/debugfile.h"
#include "symbol/dwarfinfo.h"
#include "symbol/elfcalls.h"
#include "symbol/elffile.h"

#define NO_ALT		((Dwarf *)-1)	/* descriptor by which libdw itself marks "no such file" */
/*
 * at most this many symbols before an address are tested for whether they contain it, because
 * nesting is shallow
 */
#define BACK_MAX	64

struct sym_list {
	struct elffile_sym *at;
	size_t nr, room;
};

struct elffile {
	enum elffile_state state;
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *mod;
	struct debugfile where;
	char *file;		/* the file that was opened */
	int alt_fd;
	Dwarf *alt;		/* the file of dwz that several files share */
	bool lacks_alt;
	struct dwarfinfo *dwarf;
	struct sym_list funcs, data;
	bool has_read_syms, has_read_dwarf;
	bool has_asked;		/* libdwfl has asked for the debug file */
};

static void drop_dwfl(struct elffile *f)
{
	if (f->dwfl)
		dwfl_end(f->dwfl);
	f->dwfl = NULL;
	f->mod = NULL;
}

static bool has_build_id(Dwfl_Module *mod, const char *hex)
{
	const unsigned char *bits;
	GElf_Addr vaddr;
	int len = dwfl_module_build_id(mod, &bits, &vaddr);

	if (len <= 0 || strlen(hex) != 2 * (size_t)len)
		return false;
	for (int i = 0; i < len; i++) {
		char byte[3];

		snprintf(byte, sizeof(byte), "%02x", bits[i]);
		if (memcmp(hex + 2 * i, byte, 2))
			return false;
	}
	return true;
}

/*
 * libdwfl calls this to find the separate debug file.  If a name and no checksum are passed, it
 * searches the shared file of dwz, which open_alt() opens.
 */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *modname, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **found)
{
	struct elffile *f = *userdata;

	if (!f || (link && !crc))
		return -1;
	/* libdwfl calls this again if it could not use the file, and leaks the previous name. */
	if (f->has_asked)
		return -1;
	f->has_asked = true;
	return debugfile_link(&f->where, f->file, link, crc, found);
}

/*
 * Uses the file, and returns true, if it is an ELF file with the right build-id.  If it has another
 * build-id, sets f->state to ELFFILE_OTHER.  Takes over fd.
 */
static bool use_file(struct elffile *f, const char *path, int fd)
{
	void **userdata;

	f->dwfl = dwfl_begin(&f->callbacks);
	if (!f->dwfl) {
		close(fd);
		return false;
	}
	dwfl_report_begin(f->dwfl);
	f->mod = dwfl_report_elf(f->dwfl, "module", path, fd, 0, true);
	if (!f->mod)
		close(fd);
	dwfl_report_end(f->dwfl, NULL, NULL);
	if (f->mod && (!*f->where.build_id || has_build_id(f->mod, f->where.build_id))) {
		dwfl_module_info(f->mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
		*userdata = f;
		f->state = ELFFILE_USABLE;
		return true;
	}
	if (f->mod)
		f->state = ELFFILE_OTHER;
	drop_dwfl(f);
	return false;
}

static bool try_itself(struct elffile *f)
{
	int fd;

	if (asprintf(&f->file, "%s%s", f->where.search->sysroot, f->where.path) < 0) {
		f->file = NULL;
		return false;
	}
	fd = debugfile_open(f->where.search, f->file);
	if (fd >= 0 && use_file(f, f->file, fd))
		return true;
	free(f->file);
	f->file = NULL;
	return false;
}

struct elffile *elffile_open(const struct elffile_search *search, const char *path,
			     const char *build_id)
{
	struct elffile *f = calloc(1, sizeof(*f));
	int fd;

	if (!f)
		return NULL;
	f->state = ELFFILE_ABSENT;
	f->alt_fd = -1;
	f->where = (struct debugfile){ .search = search, .path = path, .build_id = build_id };
	f->callbacks = (Dwfl_Callbacks){
		.find_debuginfo = find_debuginfo, .section_address = dwfl_offline_section_address,
	};
	if (path[0] == '/' && try_itself(f))
		return f;
	fd = debugfile_instead(&f->where, &f->file);
	if (fd >= 0)
		use_file(f, f->file, fd);
	return f;
}

void elffile_close(struct elffile *f)
{
	if (!f)
		return;
	dwarfinfo_close(f->dwarf);
	drop_dwfl(f);
	if (f->alt)
		dwarf_end(f->alt);
	if (f->alt_fd >= 0)
		close(f->alt_fd);
	free(f->file);
	free(f->funcs.at);
	free(f->data.at);
	free(f);
}

enum elffile_state elffile_state(const struct elffile *f)
{
	return f->state;
}

static void sym_add(struct sym_list *list, const struct elffile_sym *sym)
{
	if (!array_room(&list->at, &list->room, list->nr, sizeof(*list->at)))
		return;
	list->at[list->nr++] = *sym;
}

/*
 * Ranks symbols of one address.  The best is the one that users know: a global symbol with a type,
 * a size and few leading underscores.
 */
static unsigned char sym_rank(const GElf_Sym *sym, const char *name)
{
	unsigned bind = GELF_ST_BIND(sym->st_info), rank = 0;
	size_t under = strspn(name, "_");

	if (GELF_ST_TYPE(sym->st_info) != STT_NOTYPE)
		rank += 64;
	if (sym->st_size)
		rank += 32;
	rank += bind == STB_GLOBAL ? 16 : bind == STB_WEAK ? 8 : 0;
	rank += under < 7 ? 7 - under : 0;
	return rank;
}

static int sym_compare(const void *pa, const void *pb)
{
	const struct elffile_sym *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void sym_sort(struct sym_list *list)
{
	size_t out = 0;

	sort_by(list->at, list->nr, sym_compare);
	for (size_t i = 0; i < list->nr; i++)
		if (!out || list->at[i].addr != list->at[out - 1].addr)
			list->at[out++] = list->at[i];
	list->nr = out;
}

/* Reads the symbols on the first call. */
static void read_syms(struct elffile *f)
{
	int nr = f->mod && !f->has_read_syms ? dwfl_module_getsymtab(f->mod) : 0;

	if (f->has_read_syms)
		return;
	f->has_read_syms = true;
	for (int i = 1; i < nr; i++) {
		struct elffile_sym sym;
		GElf_Word shndx;
		GElf_Sym raw;
		GElf_Addr addr;
		const char *name = dwfl_module_getsym_info(f->mod, i, &raw, &addr, &shndx, NULL,
							   NULL);

		/* Names that begin with a dollar are the assembler's mapping symbols. */
		if (!name || !*name || *name == '$' || shndx == SHN_UNDEF || shndx == SHN_ABS)
			continue;
		sym = (struct elffile_sym){
			.addr = addr, .size = raw.st_size, .name = name,
			.rank = sym_rank(&raw, name),
		};
		switch (GELF_ST_TYPE(raw.st_info)) {
		case STT_FUNC:
		case STT_GNU_IFUNC:
		case STT_NOTYPE:
			sym_add(&f->funcs, &sym);
			break;
		case STT_OBJECT:
			sym_add(&f->data, &sym);
			break;
		}
	}
	sym_sort(&f->funcs);
	sym_sort(&f->data);
}

static const struct elffile_sym *sym_find(const struct sym_list *list, uint64_t addr)
{
	const struct elffile_sym *nearest = NULL;
	size_t lo = search(list->nr, i, list->at[i].addr <= addr);

	for (size_t tries = 0; lo > 0 && tries < BACK_MAX; tries++, lo--) {
		const struct elffile_sym *s = &list->at[lo - 1];

		if (addr - s->addr < s->size)
			return s;
		if (!nearest)
			nearest = s;
	}
	/* Symbols of assembler code often have no size; they extend to the next symbol. */
	return nearest && !nearest->size ? nearest : NULL;
}

const struct elffile_sym *elffile_func(struct elffile *f, uint64_t addr)
{
	read_syms(f);
	return sym_find(&f->funcs, addr);
}

const struct elffile_sym *elffile_data(struct elffile *f, uint64_t addr)
{
	const struct elffile_sym *s;

	read_syms(f);
	s = sym_find(&f->data, addr);
	return s && s->size ? s : NULL;
}

void elffile_each_func(struct elffile *f, void (*fn)(void *arg, const struct elffile_sym *sym), void *arg)
{
	read_syms(f);
	for (size_t i = 0; i < f->funcs.nr; i++)
		fn(arg, &f->funcs.at[i]);
}

bool elffile_offset(struct elffile *f, uint64_t addr, uint64_t *offset)
{
	GElf_Addr bias;
	Elf *elf = f->mod ? dwfl_module_getelf(f->mod, &bias) : NULL;
	size_t nr = 0;
	GElf_Phdr ph;

	if (!elf || elf_getphdrnum(elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD || addr - bias < ph.p_vaddr ||
		    addr - bias - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset = addr - bias - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}

void elffile_calls(struct elffile *f, const char *name, void (*fn)(void *arg, const char *name),
		   void *arg)
{
	GElf_Addr bias;
	Elf *elf = f->mod ? dwfl_module_getelf(f->mod, &bias) : NULL;

	read_syms(f);
	for (size_t i = 0; elf && i < f->funcs.nr; i++)
		if (!strcmp(f->funcs.at[i].name, name))
			elfcalls_each(elf, f->funcs.at[i].addr, f->funcs.at[i].size, fn, arg);
}

const char *elffile_callee(struct elffile *f, uint64_t ret)
{
	GElf_Addr bias;
	Elf *elf = f->mod ? dwfl_module_getelf(f->mod, &bias) : NULL;
	const struct elffile_sym *sym;
	const char *name;
	uint64_t to;

	if (!elf)
		return NULL;
	name = elfcalls_callee(elf, ret, &to);
	if (name || !to)
		return name;
	sym = elffile_func(f, to);
	return sym && sym->addr == to ? sym->name : NULL;
}

bool elffile_has_symbols(struct elffile *f)
{
	read_syms(f);
	return f->funcs.nr > 0;
}

/* Opens the file to which dwz has moved debug information that several files share. */
static void open_alt(struct elffile *f, Dwarf *dw)
{
	const char *link, *file = f->file;
	const char *debug_file = NULL;
	const void *id;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(dw, &link, &id);

	if (size <= 0)
		return;
	dwfl_module_info(f->mod, NULL, NULL, NULL, NULL, NULL, NULL, &debug_file);
	f->alt_fd = debugfile_alt(&f->where, debug_file ? debug_file : file, link, id, size);
	f->alt = f->alt_fd >= 0 ? dwarf_begin(f->alt_fd, DWARF_C_READ) : NULL;
	f->lacks_alt = !f->alt;
	/*
	 * If there is no file, it must be marked as absent: else libdw would open any file that the
	 * link names.
	 */
	dwarf_setalt(dw, f->alt ? f->alt : NO_ALT);
}

struct dwarfinfo *elffile_dwarf(struct elffile *f)
{
	Dwarf_Addr bias;
	Dwarf *dw;

	if (!f->has_read_dwarf) {
		f->has_read_dwarf = true;
		dw = f->mod ? dwfl_module_getdwarf(f->mod, &bias) : NULL;
		if (dw) {
			open_alt(f, dw);
			f->dwarf = dwarfinfo_open(f->mod);
		}
	}
	return f->dwarf;
}

bool elffile_lacks_part(struct elffile *f)
{
	struct dwarfinfo *dw = elffile_dwarf(f);

	return f->lacks_alt || (dw && dwarfinfo_lacks_split(dw));
}

bool elffile_has_lines(struct elffile *f)
{
	return elffile_dwarf(f) != NULL;
}
