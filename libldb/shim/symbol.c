// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds a function in the libraries after this one, up to libc, without dlsym().
 *
 * A wrapper finds its function on the first call, which may be made anywhere: in a signal handler,
 * in a child of vfork(), or while another thread holds the loader's lock and waits for a lock of
 * the caller.  In such places dlsym() could deadlock, because it takes the loader's lock.  Finding
 * all functions at the start would make the start of every program slower.
 *
 * Libraries with which a program starts are never unloaded, and the loader's list of them does
 * not change up to libc.  If this library was loaded later, or a symbol needs something that only
 * the loader can do, dlsym() is called after all.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <stdint.h>
#include "internal.h"
#include "symbol.h"

extern const ElfW(Dyn) our_dynamic[] __asm__("_DYNAMIC") HIDDEN;

struct table {			/* the symbol table of one library */
	const ElfW(Sym) *sym;
	const char *str;
	const ElfW(Half) *version;
	const uint32_t *hash;
};

enum found { FOUND, FOUND_NOT, FOUND_ASK };

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static bool is_libc(const char *path)
{
	const char *base = path;

	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	return same(base, LIBC_SO);
}

/*
 * Returns the address that a value in a dynamic section stands for.  The loader has converted these
 * values to addresses, except in the vDSO, to which it cannot write.
 */
static const void *address(const struct link_map *l, ElfW(Addr) value)
{
	return (const void *)(value < l->l_addr ? value + l->l_addr : value);
}

static void table_read(const struct link_map *l, struct table *t)
{
	*t = (struct table){ NULL };
	for (const ElfW(Dyn) *d = l->l_ld; d->d_tag != DT_NULL; d++)
		switch (d->d_tag) {
		case DT_SYMTAB:
			t->sym = address(l, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			t->str = address(l, d->d_un.d_ptr);
			break;
		case DT_VERSYM:
			t->version = address(l, d->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			t->hash = address(l, d->d_un.d_ptr);
			break;
		}
}

static enum found table_find(const struct link_map *l, const struct table *t, const char *name,
			     uint32_t hash, void **fn, unsigned *type)
{
	uint32_t nr_buckets = t->hash[0], first = t->hash[1], nr_words = t->hash[2];
	const uint64_t *bloom = (const uint64_t *)(t->hash + 4);
	const uint32_t *buckets = (const uint32_t *)(bloom + nr_words);
	const uint32_t *chain = buckets + nr_buckets;
	uint64_t word = bloom[hash / 64 % nr_words];
	uint32_t i;

	if (!(word >> hash % 64 & word >> (hash >> t->hash[3]) % 64 & 1) || !nr_buckets)
		return FOUND_NOT;
	i = buckets[hash % nr_buckets];
	for (; i >= first; i++) {
		const ElfW(Sym) *s = &t->sym[i];
		bool hidden = t->version && t->version[i] & 0x8000;

		if (!((chain[i - first] ^ hash) & ~1U) && !hidden && s->st_shndx != SHN_UNDEF &&
		    same(t->str + s->st_name, name)) {
			*type = ELF64_ST_TYPE(s->st_info);
			*fn = (void *)(l->l_addr + s->st_value);
			return *type == STT_FUNC ? FOUND : FOUND_ASK;
		}
		if (chain[i - first] & 1)
			break;
	}
	return FOUND_NOT;
}

/* Returns this library in the loader's list, if libc comes after it. */
static const struct link_map *ours(void)
{
	const struct link_map *l;

	for (l = _r_debug.r_map; l && l->l_ld != our_dynamic; l = l->l_next)
		if (is_libc(l->l_name))
			return NULL;
	return l;
}

bool symbol_lockless(void)
{
	return ours();
}

/*
 * dlsym() returns the oldest version of a symbol, so dlvsym() comes first.  If a symbol has only
 * one version, this may have another name; then dlsym() finds the symbol.
 */
static void *ask_loader(const char *name, const char *version)
{
	void *fn = version ? dlvsym(RTLD_NEXT, name, version) : NULL;

	if (!fn)
		fn = dlsym(RTLD_NEXT, name);
	if (!fn)
		dlerror();	/* discards the error of our call, which the program must not see */
	return fn;
}

#define KNOWN_MAX	192
static struct {
	const char *name;
	void *fn;
} known[KNOWN_MAX];
static _Atomic uint32_t nr_known;

/* Called by one thread at a time: under the loader's lock. */
void symbol_remember(const char *name, void *fn)
{
	uint32_t n = order_list_count(&nr_known);

	if (n == KNOWN_MAX)
		return;
	known[n].name = name;
	known[n].fn = fn;
	order_list_grow(&nr_known, n + 1);
}

static void *remembered(const char *name)
{
	uint32_t n = order_list_count(&nr_known);

	for (uint32_t i = 0; i < n; i++)
		if (same(known[i].name, name))
			return known[i].fn;
	return NULL;
}

void *symbol_next_known(const char *name)
{
	const struct link_map *l = ours();
	uint32_t hash = gnu_hash(name);
	enum found found = FOUND_ASK;
	struct table t;
	unsigned type;
	void *fn = remembered(name);

	if (fn)
		return fn;
	for (l = l ? l->l_next : NULL; l; l = l->l_next) {
		table_read(l, &t);
		found = t.hash && t.sym && t.str ? table_find(l, &t, name, hash, &fn, &type) : FOUND_ASK;
		if (found != FOUND_NOT || is_libc(l->l_name))
			break;
	}
	return found == FOUND ? fn : NULL;
}

void *symbol_next(const char *name, const char *version)
{
	return symbol_next_known(name) ?: ask_loader(name, version);
}

/*
 * Calls table_find() for the module with this dynamic section; FOUND_NOT if it has no symbol table.
 */
static enum found find_in(const void *dynamic, uint64_t bias, const char *name, void **fn, unsigned *type)
{
	const struct link_map l = { .l_addr = bias, .l_ld = (ElfW(Dyn) *)dynamic };
	struct table t;

	table_read(&l, &t);
	if (!t.hash || !t.sym || !t.str)
		return FOUND_NOT;
	return table_find(&l, &t, name, gnu_hash(name), fn, type);
}

void *symbol_in(const void *dynamic, uint64_t bias, const char *name)
{
	unsigned type;
	void *fn;

	return find_in(dynamic, bias, name, &fn, &type) == FOUND ? fn : NULL;
}

void *symbol_of_libc(const char *name)
{
	const struct link_map *l = ours();

	while (l && !is_libc(l->l_name))
		l = l->l_next;
	return l ? symbol_in(l->l_ld, l->l_addr, name) : NULL;
}

bool symbol_is_function(const void *dynamic, uint64_t bias, const char *name, const void *fn)
{
	unsigned type = STT_NOTYPE;
	void *found = NULL;

	find_in(dynamic, bias, name, &found, &type);
	return (type == STT_FUNC && found == fn) || type == STT_GNU_IFUNC;
}

bool symbol_thread_variable(const void *dynamic, uint64_t bias, const char *name, uint64_t *offset)
{
	unsigned type = STT_NOTYPE;
	void *found = NULL;

	find_in(dynamic, bias, name, &found, &type);
	*offset = (uintptr_t)found - bias;
	return type == STT_TLS;
}

/* The image is not at the addresses that it contains; the program headers show the difference. */
void *symbol_vdso(const void *image, const char *name)
{
	const ElfW(Ehdr) *e = image;
	const ElfW(Phdr) *ph = (const ElfW(Phdr) *)((const char *)image + (e ? e->e_phoff : 0));
	struct link_map l = { 0 };
	struct table t;
	unsigned type;
	void *fn;

	for (int i = 0; e && i < e->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD)
			l.l_addr = (uintptr_t)image + ph[i].p_offset - ph[i].p_vaddr;
	for (int i = 0; e && i < e->e_phnum; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			l.l_ld = (ElfW(Dyn) *)(l.l_addr + ph[i].p_vaddr);
	if (!l.l_ld)
		return NULL;
	table_read(&l, &t);
	if (!t.hash || !t.sym || !t.str ||
	    table_find(&l, &t, name, gnu_hash(name), &fn, &type) != FOUND)
		return NULL;
	return fn;
}
