/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that only the files of the symtab use. */
#ifndef SYMBOL_SYMTAB_PRIVATE_H
#define SYMBOL_SYMTAB_PRIVATE_H

#include "base/intern.h"
#include "base/keyed.h"
#include "symbol/archive.h"
#include "symbol/elffile.h"
#include "symbol/symbol.h"

struct file {
	struct file *next;
	struct elffile *elf;	/* NULL: not opened yet */
	char *path, *build_id;
	bool is_asked, is_instrumented, lacks_name;
	bool is_archived;	/* the trace contains its names */
	uint32_t archived_flags;	/* LDB_FILE_F_* */
	uint32_t id;		/* id of its FILE row, in the trace or to be emitted; 0: none */
};

struct module {
	uint64_t start, end, bias;
	int64_t tick, end_tick;
	uint64_t max_end;	/* the greatest end address of this module and all before it */
	struct file *file;
};

struct entry {
	uint64_t addr;
	const struct module *module;
	enum ldb_symbol_ask question;
	struct symbol symbol;
};

struct symtab {
	struct elffile_search search;
	char **debug_dirs;
	char *sysroot;
	bool no_demangle;
	const char *(*known)(void *arg, uint64_t addr);
	void *known_arg;
	struct file *files;
	struct module *modules;
	size_t nr_modules, room_modules;
	bool is_sorted;
	int64_t *epochs;	/* ticks at which some address changes its module */
	size_t nr_epochs;
	struct keyed entries;		/* all results of lookups */
	struct intern strings;
	struct archive *archive;	/* names from the trace; NULL: none */
	struct keyed queues;		/* struct named_queue */
};

/* Returns the only copy of the text; "" when there is no memory. */
const char *symtab_intern(struct symtab *st, const char *text);

/* Returns the file, which is added if it is new; NULL if there is no memory. */
struct file *symtab_file(struct symtab *st, const char *path, const char *build_id);

/*
 * Opens the file, unless it is open already.  Returns NULL if the file cannot be read, or is not
 * the one that was recorded, or if names have another source (options.known).
 */
struct elffile *symtab_elf(struct symtab *st, struct file *file);

void symtab_set_name(struct symtab *st, struct symbol *s, const char *linker_name);
void symtab_set_offset(struct symtab *st, struct symbol *s, uint64_t offset);

/*
 * In symtab-archive.c: looks up a name in the trace.  Returns false if the trace does not contain
 * it, or if the file on disk should be read instead.
 */
bool symtab_archived(struct symtab *st, struct entry *e);

#endif
