// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Implements libc.h.  Functions are looked up as the loader does, by the module's hash table in
 * memory.
 *
 * The loader's locks have no symbols.  They are the only recursive mutexes in _rtld_global, and are
 * adjacent.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arch/program.h"
#include "record/inject/libc.h"
#include "record/inject/regs.h"
#include "record/process/image.h"
#include "record/process/proc.h"

#define PHDRS_MAX	64
#define DYNAMIC_MAX	256
#define CODE_MAX	(4 << 20)
#define CHAIN_MAX	4096
#define GLOBAL_MAX	(64 << 10)

struct module {
	uint64_t start, end;		/* all mappings of the file together */
	uint64_t code, code_end;	/* the executable mapping */
};

struct modules {
	struct module libc, libdl, loader;
	bool is_readable, has_musl, has_any;
	unsigned char ident[EI_NIDENT];	/* first bytes of the program's file */
};

/* Mapped files */

static void add_mapping(struct module *m, uint64_t start, uint64_t end, bool is_code)
{
	if (!m->start)
		m->start = start;
	m->end = end;
	if (is_code && !m->code) {
		m->code = start;
		m->code_end = end;
	}
}

static void read_mapping(pid_t tid, struct modules *all, char *line)
{
	unsigned long start, end;
	char perms[8], *name = strchr(line, '/');

	all->is_readable = true;
	if (!name || sscanf(line, "%lx-%lx %7s", &start, &end, perms) != 3)
		return;
	name[strcspn(name, "\n")] = '\0';
	if (!all->has_any)
		all->has_any = image_peek(tid, start, all->ident, sizeof(all->ident));
	name = strrchr(name, '/') + 1;
	if (!strncmp(name, "ld-musl", 7) || !strncmp(name, "libc.musl", 9))
		all->has_musl = true;
	if (!strcmp(name, "libc.so.6") || !strncmp(name, "libc-2.", 7))
		add_mapping(&all->libc, start, end, perms[2] == 'x');
	else if (!strcmp(name, "libdl.so.2") || !strncmp(name, "libdl-2.", 8))
		add_mapping(&all->libdl, start, end, perms[2] == 'x');
	else if (!strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5))
		add_mapping(&all->loader, start, end, perms[2] == 'x');
}

static void read_mappings(pid_t tid, struct modules *all)
{
	FILE *f = proc_open(tid, tid, "maps");
	char *line = NULL;
	size_t room = 0;

	memset(all, 0, sizeof(*all));
	while (f && getline(&line, &room, f) > 0)
		read_mapping(tid, all, line);
	free(line);
	if (f)
		fclose(f);
}

/* Symbols */

struct symbols {
	pid_t tid;
	uint64_t bias, sym, str, hash, versions;
};

static void take_dynamic(struct symbols *s, const Elf64_Dyn *d)
{
	/*
	 * The loader has added the load address to these values, except in modules whose dynamic
	 * section is not writable.
	 */
	uint64_t at = d->d_un.d_ptr < s->bias ? d->d_un.d_ptr + s->bias : d->d_un.d_ptr;

	switch (d->d_tag) {
	case DT_SYMTAB:		s->sym = at; break;
	case DT_STRTAB:		s->str = at; break;
	case DT_GNU_HASH:	s->hash = at; break;
	case DT_VERSYM:		s->versions = at; break;
	}
}

static bool read_dynamic(struct symbols *s, const Elf64_Phdr *ph)
{
	Elf64_Dyn d[DYNAMIC_MAX];
	size_t nr = ph->p_memsz / sizeof(d[0]);

	if (nr > DYNAMIC_MAX)
		nr = DYNAMIC_MAX;
	if (!image_peek(s->tid, s->bias + ph->p_vaddr, d, nr * sizeof(d[0])))
		return false;
	for (size_t i = 0; i < nr && d[i].d_tag != DT_NULL; i++)
		take_dynamic(s, &d[i]);
	return s->sym && s->str && s->hash;
}

static bool symbols_open(struct symbols *s, pid_t tid, const struct module *m)
{
	Elf64_Phdr ph[PHDRS_MAX];
	Elf64_Ehdr h;

	*s = (struct symbols){ .tid = tid, .bias = m->start };
	if (!m->start || !image_peek(tid, m->start, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof(ph[0]) ||
	    h.e_phnum > PHDRS_MAX || !image_peek(tid, m->start + h.e_phoff, ph, h.e_phnum * sizeof(ph[0])))
		return false;
	for (int i = 0; i < h.e_phnum; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			return read_dynamic(s, &ph[i]);
	return false;
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

/* Returns true if this is the default version of a symbol that the module defines. */
static bool is_the_one(const struct symbols *s, uint32_t i, const char *name, Elf64_Sym *sym)
{
	char found[64] = "";
	uint16_t version = 0;
	size_t size = strlen(name) + 1;

	return image_peek(s->tid, s->sym + i * sizeof(*sym), sym, sizeof(*sym)) &&
	       image_peek(s->tid, s->str + sym->st_name, found, size) && !memcmp(found, name, size) &&
	       sym->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(sym->st_info) != STT_GNU_IFUNC &&
	       (!s->versions || (image_peek(s->tid, s->versions + i * 2, &version, 2) && !(version & 0x8000)));
}

/* Returns the address of a symbol; 0: there is none. */
static uint64_t symbol(const struct symbols *s, const char *name, uint64_t *size)
{
	uint32_t head[4], hash = hash_of(name), i, link;
	uint64_t buckets, chain;
	Elf64_Sym sym;

	if (!s->hash || !image_peek(s->tid, s->hash, head, sizeof(head)) || !head[0])
		return 0;
	buckets = s->hash + sizeof(head) + head[2] * 8ULL;
	chain = buckets + head[0] * 4ULL;
	if (!image_peek(s->tid, buckets + hash % head[0] * 4ULL, &i, sizeof(i)) || i < head[1])
		return 0;
	for (unsigned n = 0; n < CHAIN_MAX; n++, i++) {
		if (!image_peek(s->tid, chain + (i - head[1]) * 4ULL, &link, sizeof(link)))
			return 0;
		if (!((link ^ hash) & ~1U) && is_the_one(s, i, name, &sym)) {
			*size = sym.st_size;
			return s->bias + sym.st_value;
		}
		if (link & 1)
			break;
	}
	return 0;
}

/* Pieces of code */

static void find_code(pid_t tid, const struct module *m, struct libc *l)
{
	size_t size = m->code_end - m->code;
	char *code = m->code && size <= CODE_MAX ? malloc(size) : NULL, *at;

	if (code && image_peek(tid, m->code, code, size)) {
		at = memmem(code, size, inject_code_call.bytes, inject_code_call.size);
		l->call = at ? m->code + (at - code) : 0;
		at = memmem(code, size, inject_code_back.bytes, inject_code_back.size);
		l->back = at ? m->code + (at - code) : 0;
	}
	free(code);
}

/* The loader's locks */

struct mutex {			/* the beginning of glibc's pthread_mutex_t */
	uint32_t lock, count;
	int32_t owner;
	uint32_t nr_users;
	int32_t kind;
	int16_t spins, elision;
	uint64_t list[2];
};
#define RECURSIVE	1

static bool is_recursive(const struct mutex *m)
{
	return m->kind == RECURSIVE && m->lock <= 2 && !m->list[0] && !m->list[1] && !m->spins && !m->elision;
}

static void find_locks(pid_t tid, const struct symbols *loader, struct libc *l)
{
	uint64_t size = 0, at = symbol(loader, "_rtld_global", &size);
	char *copy = at && size <= GLOBAL_MAX ? malloc(size) : NULL;
	/* the loader's locks are adjacent, so a single mutex is not one of them */
	unsigned best = 1;

	if (copy && image_peek(tid, at, copy, size)) {
		for (uint64_t i = 0; i + sizeof(struct mutex) <= size; i += 8) {
			unsigned nr = 0;

			while (i + (nr + 1) * sizeof(struct mutex) <= size &&
			       is_recursive((const struct mutex *)(copy + i) + nr))
				nr++;
			if (nr > best) {
				best = l->nr_locks = nr;
				l->locks = at + i;
			}
		}
	}
	free(copy);
}

pid_t libc_loading(pid_t tid, const struct libc *l)
{
	for (unsigned i = 0; i < l->nr_locks; i++) {
		struct mutex m;

		if (image_peek(tid, l->locks + i * sizeof(m), &m, sizeof(m)) && m.lock)
			return m.owner ? m.owner : -1;
	}
	return 0;
}

static void find_functions(const struct symbols *libc, const struct symbols *libdl, struct libc *l)
{
	uint64_t size;

	l->errno_location = symbol(libc, "__errno_location", &size);
	l->dlopen = symbol(libc, "dlopen", &size);
	l->dlerror = symbol(libc, "dlerror", &size);
	if (!l->dlopen && libdl->hash) {
		l->dlopen = symbol(libdl, "dlopen", &size);
		l->dlerror = symbol(libdl, "dlerror", &size);
	}
	if (!l->dlopen) {
		l->dlopen = symbol(libc, "__libc_dlopen_mode", &size);
		l->is_internal = true;
	}
}

enum libc_found libc_find(pid_t tid, struct libc *l)
{
	struct symbols libc, libdl, loader;
	struct modules all;

	memset(l, 0, sizeof(*l));
	image_id(tid, &l->id);
	read_mappings(tid, &all);
	if (!all.is_readable || !all.has_any)
		return LIBC_UNREADABLE;
	if (all.ident[EI_CLASS] != ELFCLASS64)
		return LIBC_OTHER_CPU;
	if (all.has_musl)
		return LIBC_MUSL;
	if (!all.libc.start && !all.loader.start)
		return LIBC_STATIC;
	if (!symbols_open(&libc, tid, &all.libc) || !symbols_open(&loader, tid, &all.loader))
		return LIBC_STRANGE;
	symbols_open(&libdl, tid, &all.libdl);
	find_functions(&libc, &libdl, l);
	find_code(tid, &all.libc, l);
	find_locks(tid, &loader, l);
	l->loader_from = all.loader.start;
	l->loader_to = all.loader.end;
	/*
	 * The locks must be found, because only they show whether dlopen() is still running at the
	 * timeout.
	 */
	return l->dlopen && l->errno_location && l->call && l->back && l->nr_locks ? LIBC_FOUND : LIBC_STRANGE;
}

/* Code */

/*
 * Returns true if the module that is mapped at this address defines malloc(): the program itself
 * may.
 */
static bool has_malloc(pid_t tid, uint64_t start)
{
	const struct module m = { .start = start };
	struct symbols s;
	uint64_t size;

	return symbols_open(&s, tid, &m) && symbol(&s, "malloc", &size);
}

/*
 * Returns the address of the C library's function that calls main(), or 0: a return address into it
 * is on the stack of the process's first thread.
 */
static uint64_t start_of(pid_t tid, uint64_t start)
{
	const struct module m = { .start = start };
	struct symbols s;
	uint64_t size;

	return symbols_open(&s, tid, &m) ? symbol(&s, "__libc_start_main", &size) : 0;
}

bool libc_code_read(pid_t tid, struct libc_code *c)
{
	FILE *f = proc_open(tid, tid, "maps");
	char *line = NULL;
	unsigned long from, to, offset, start = 0;
	size_t room = 0;
	char perms[8];

	memset(c, 0, sizeof(*c));
	while (f && getline(&line, &room, f) > 0 && c->nr < LIBC_CODE_MAX) {
		char *name = strrchr(line, '/');

		if (sscanf(line, "%lx-%lx %7s %lx", &from, &to, perms, &offset) != 4)
			continue;
		if (!offset)
			start = name ? from : 0;
		if (perms[2] != 'x')
			continue;
		c->part[c->nr].from = from;
		c->part[c->nr].to = to;
		c->part[c->nr].is_closed = name && start && strncmp(name, "/ld-", 4) && has_malloc(tid, start);
		if (name && !strncmp(name, "/libc", 5) && !c->start)
			c->start = start_of(tid, start);
		c->nr++;
	}
	free(line);
	if (f)
		fclose(f);
	return c->nr < LIBC_CODE_MAX;
}

enum place { NO_CODE, OPEN_CODE, CLOSED_CODE };

static enum place place_of(const struct libc_code *c, uint64_t at)
{
	for (unsigned i = 0; i < c->nr; i++)
		if (at >= c->part[i].from && at < c->part[i].to)
			return c->part[i].is_closed ? CLOSED_CODE : OPEN_CODE;
	return NO_CODE;
}

#define START_BEFORE	512	/* a part of the function that calls main() is before its symbol */
#define START_SIZE	1024

/* Returns true if there may be a call instruction before this address. */
static bool is_return(pid_t tid, uint64_t address)
{
	unsigned char before[INJECT_CALL_BYTES];

	return image_peek(tid, address - sizeof(before), before, sizeof(before)) &&
	       inject_ends_with_call(before);
}

bool libc_is_outside(pid_t tid, const struct libc_code *c, uint64_t at, const uint64_t *stack, size_t nr)
{
	size_t end = nr;

	if (place_of(c, at) != OPEN_CODE)
		return false;
	/*
	 * Ignores words above the outermost one in open code: they belong to the code that has
	 * called the program's first function.
	 */
	while (end && place_of(c, stack[end - 1]) != OPEN_CODE)
		end--;
	for (size_t i = 0; i < end; i++)
		if (place_of(c, stack[i]) == CLOSED_CODE && is_return(tid, stack[i]) &&
		    !(c->start && stack[i] + START_BEFORE >= c->start && stack[i] < c->start + START_SIZE))
			return false;
	return true;
}
