/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the linkage tables of a module, and makes their slots writable: the words that hold the
 * addresses of other modules' functions.
 */
#ifndef RUNTIME_LINKAGE_H
#define RUNTIME_LINKAGE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct linkage {
	uint64_t bias, relro_from, relro_to;
	const ElfW(Sym) *sym;
	const char *str;
	const ElfW(Half) *versym;
	const ElfW(Verneed) *verneed;
	const ElfW(Verdef) *verdef;
	const uint32_t *gnu_hash;
	const ElfW(Rela) *plt, *rela;
	uint64_t plt_size, rela_size;
	bool is_open;		/* the pages that the loader write-protected are writable */
};

/* Finds all tables to which the dynamic section points; those that the module lacks are NULL. */
void linkage_tables(struct linkage *l, const ElfW(Dyn) *dynamic, uint64_t bias);
/*
 * Does the same as linkage_tables() for a module whose part from relro_from to relro_to the loader
 * has write-protected.  Returns false if the module has no slots or no symbols.
 */
bool linkage_read(struct linkage *l, const ElfW(Dyn) *dynamic, uint64_t bias, uint64_t relro_from,
		  uint64_t relro_to);
/*
 * Returns an address from the dynamic section.  The loader has added the bias to some of them, and
 * not to others.
 */
const void *linkage_address(uint64_t bias, ElfW(Addr) value);
/* Returns the name of the version of a symbol that the module requires; NULL: any version. */
const char *linkage_version(const struct linkage *l, uint32_t symbol);
/*
 * Makes the slot writable if the loader has write-protected it.  Returns false if it is not
 * writable.
 */
bool linkage_open(struct linkage *l, uint64_t *slot);
/*
 * Returns true if the slot is mapped and writable.  The last such page is remembered until
 * linkage_forget().
 */
bool linkage_is_writable(uint64_t *slot);
void linkage_forget(void);
/* Protects again what linkage_open() has made writable. */
void linkage_close(struct linkage *l);

#pragma GCC visibility pop
#endif
