// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One ELF file: find it, check that it is the one that ran, keep its symbols
 * sorted by address.  libdwfl finds the separate debug file (build-id folder,
 * .gnu_debuglink) and reads .symtab, .dynsym and the mini debug info.
 *
 * Paths come from a trace, which may come from anywhere: only regular files
 * are opened, and nothing is opened for writing.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <elfutils/libdwfl.h>

#include "symbol/dwarfinfo.h"
#include "symbol/elffile.h"

#define SYSTEM_DEBUG_DIR	"/usr/lib/debug"
#define BACK_MAX	64	/* symbols looked at before the nearest one: nesting is shallow */

struct sym_list {
	struct elffile_sym *at;
	size_t nr, room;
};

struct elffile {
	enum elffile_state state;
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *mod;
	struct dwarfinfo *dwarf;
	struct sym_list funcs, data;
	bool has_read_syms, has_read_dwarf;
};

char *elffile_debug_path(const struct elffile_search *search)
{
	size_t bytes = 64 + strlen(search->sysroot) + 2 * sizeof(SYSTEM_DEBUG_DIR);
	char *path;

	for (size_t i = 0; i < search->nr_debug_dirs; i++)
		bytes += strlen(search->debug_dirs[i]) + 1;
	path = malloc(bytes);
	if (!path)
		return NULL;
	/* "": the folder of the file itself. */
	strcpy(path, ":.debug");
	for (size_t i = 0; i < search->nr_debug_dirs; i++) {
		strcat(path, ":");
		strcat(path, search->debug_dirs[i]);
	}
	if (*search->sysroot) {
		strcat(path, ":");
		strcat(path, search->sysroot);
		strcat(path, SYSTEM_DEBUG_DIR);
	}
	strcat(path, ":" SYSTEM_DEBUG_DIR);
	return path;
}

static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

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

/* Usable, or says why not in f->state unless an earlier try came further. */
static bool try_file(struct elffile *f, const char *path, const char *build_id)
{
	int fd = open_regular(path);

	if (fd < 0)
		return false;
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
	if (f->mod && (!*build_id || has_build_id(f->mod, build_id))) {
		f->state = ELFFILE_USABLE;
		return true;
	}
	if (f->mod)
		f->state = ELFFILE_OTHER;
	drop_dwfl(f);
	return false;
}

static bool try_path(struct elffile *f, const char *build_id, const char *a, const char *b,
		     const char *c)
{
	size_t bytes = strlen(a) + strlen(b) + strlen(c) + 1;
	char *path = malloc(bytes);
	bool done;

	if (!path)
		return false;
	snprintf(path, bytes, "%s%s%s", a, b, c);
	done = try_file(f, path, build_id);
	free(path);
	return done;
}

/* DIR/.build-id/xx/yyyy.debug can stand in for the program itself. */
static bool try_build_id_dir(struct elffile *f, const char *sysroot, const char *dir,
			     const char *build_id)
{
	char name[160];

	if (strlen(build_id) < 3 || strlen(build_id) > 64 ||
	    build_id[strspn(build_id, "0123456789abcdef")])
		return false;
	snprintf(name, sizeof(name), "/.build-id/%.2s/%s.debug", build_id, build_id + 2);
	return try_path(f, build_id, sysroot, dir, name);
}

static bool try_dirs(struct elffile *f, const struct elffile_search *search, const char *path,
		     const char *build_id)
{
	const char *base = strrchr(path, '/');

	for (size_t i = 0; i < search->nr_debug_dirs; i++) {
		const char *dir = search->debug_dirs[i];

		if (try_build_id_dir(f, "", dir, build_id))
			return true;
		/* Only the build-id says that a file found by its base name is the one. */
		if (*build_id && base && try_path(f, build_id, dir, base, ""))
			return true;
	}
	return try_build_id_dir(f, search->sysroot, SYSTEM_DEBUG_DIR, build_id) ||
	       (*search->sysroot && try_build_id_dir(f, "", SYSTEM_DEBUG_DIR, build_id));
}

struct elffile *elffile_open(const struct elffile_search *search, const char *path,
			     const char *build_id)
{
	struct elffile *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->state = ELFFILE_ABSENT;
	f->callbacks = (Dwfl_Callbacks){
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = (char **)&search->debug_path,
	};
	if (path[0] == '/' && try_path(f, build_id, search->sysroot, path, ""))
		return f;
	try_dirs(f, search, path, build_id);
	return f;
}

void elffile_close(struct elffile *f)
{
	if (!f)
		return;
	dwarfinfo_close(f->dwarf);
	drop_dwfl(f);
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
	if (list->nr == list->room) {
		size_t room = list->room ? list->room * 2 : 256;
		struct elffile_sym *at = reallocarray(list->at, room, sizeof(*at));

		if (!at)
			return;
		list->at = at;
		list->room = room;
	}
	list->at[list->nr++] = *sym;
}

/* Of aliases, the one a user knows: global, typed, sized, fewer underscores in front. */
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

	if (!list->nr)
		return;
	qsort(list->at, list->nr, sizeof(*list->at), sym_compare);
	for (size_t i = 0; i < list->nr; i++)
		if (!out || list->at[i].addr != list->at[out - 1].addr)
			list->at[out++] = list->at[i];
	list->nr = out;
}

static void read_syms(struct elffile *f)
{
	int nr = f->mod ? dwfl_module_getsymtab(f->mod) : 0;

	f->has_read_syms = true;
	for (int i = 1; i < nr; i++) {
		struct elffile_sym sym;
		GElf_Word shndx;
		GElf_Sym raw;
		GElf_Addr addr;
		const char *name = dwfl_module_getsym_info(f->mod, i, &raw, &addr, &shndx, NULL,
							   NULL);

		/* Names with a dollar in front are the assembler's mapping symbols. */
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
	size_t lo = 0, hi = list->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (list->at[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t tries = 0; lo > 0 && tries < BACK_MAX; tries++, lo--) {
		const struct elffile_sym *s = &list->at[lo - 1];

		if (addr - s->addr < s->size)
			return s;
		if (!nearest)
			nearest = s;
	}
	/* Assembler code often has no sizes; then a symbol reaches to the next one. */
	return nearest && !nearest->size ? nearest : NULL;
}

const struct elffile_sym *elffile_func(struct elffile *f, uint64_t addr)
{
	if (!f->has_read_syms)
		read_syms(f);
	return sym_find(&f->funcs, addr);
}

const struct elffile_sym *elffile_data(struct elffile *f, uint64_t addr)
{
	const struct elffile_sym *s;

	if (!f->has_read_syms)
		read_syms(f);
	s = sym_find(&f->data, addr);
	return s && s->size ? s : NULL;
}

bool elffile_has_symbols(struct elffile *f)
{
	if (!f->has_read_syms)
		read_syms(f);
	return f->funcs.nr > 0;
}

struct dwarfinfo *elffile_dwarf(struct elffile *f)
{
	if (!f->has_read_dwarf) {
		f->has_read_dwarf = true;
		if (f->mod)
			f->dwarf = dwarfinfo_open(f->mod);
	}
	return f->dwarf;
}

bool elffile_has_lines(struct elffile *f)
{
	return elffile_dwarf(f) != NULL;
}
