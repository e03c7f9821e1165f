// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which ELF files are mapped, which of them are instrumented, and where their
 * thread blocks are.
 *
 * The list is only ever changed by program threads that hold the loader's lock
 * (the library's constructor, and the constructors and destructors that the
 * plugin puts into shared objects), because ldb's own threads must not take
 * that lock.  They read the list, which only grows.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>
#include <ldb/ldb.h>
#include "runtime.h"

#define CHUNK		32
static struct module first_chunk[CHUNK];
static struct module *chunks[MODULES_MAX / CHUNK] = { first_chunk };
_Atomic uint32_t nr_modules;
_Atomic uint32_t nr_modules_lost;
intptr_t block_off[BLOCKS_MAX];
_Atomic uint32_t nr_blocks;

static bool seen[MODULES_MAX];

struct module *module_at(uint32_t i)
{
	return &chunks[i / CHUNK][i % CHUNK];
}

/* Under the loader's lock.  False: there are too many, or there is no memory. */
static bool module_room(uint32_t i)
{
	if (i == MODULES_MAX)
		return false;
	if (!chunks[i / CHUNK])
		chunks[i / CHUNK] = raw_map(CHUNK * sizeof(struct module));
	return chunks[i / CHUNK];
}

/* Every block is in static TLS: its distance to the thread pointer is fixed. */
static void block_add(void *block)
{
	intptr_t off = (intptr_t)((uintptr_t)block - cpu_thread_pointer());
	uint32_t n = atomic_load(&nr_blocks);

	for (uint32_t i = 0; i < n; i++)
		if (block_off[i] == off)
			return;
	if (n == BLOCKS_MAX) {
		atomic_fetch_add(&nr_modules_lost, 1);
		return;
	}
	block_off[n] = off;
	if (!n)
		thread_gen_off = off + offsetof(struct ldb_thread, gen);
	atomic_store(&nr_blocks, n + 1);
}

static void note_ours(uint32_t type, const struct ldb_note_desc *d, struct module *m)
{
	const char *target = (const char *)d + d->off;

	switch (type) {
	case LDB_NOTE_ACCESSOR:
		if (d->version != LDB_ABI_VERSION)
			break;
		block_add(((void *(*)(void))(uintptr_t)target)());
		m->flags |= LDB_MODULE_F_INSTRUMENTED;
		break;
	case LDB_NOTE_API:
		request_fill(d->version, (void *)(uintptr_t)target);
		break;
	case LDB_NOTE_COMPILED:
		m->flags |= LDB_MODULE_F_COMPILED;
		break;
	}
}

static void note_scan(const char *p, const char *end, struct module *m)
{
	while ((size_t)(end - p) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)p;
		const char *name = p + sizeof(*n);
		const char *desc = name + ((n->n_namesz + 3) & ~3U);

		if (n->n_namesz > (size_t)(end - name) ||
		    n->n_descsz > (size_t)(end - desc))
			return;
		if (n->n_namesz == 4 && !memcmp(name, LDB_NOTE_OWNER, 4) &&
		    n->n_descsz == sizeof(struct ldb_note_desc)) {
			note_ours(n->n_type, (const struct ldb_note_desc *)desc, m);
		} else if (n->n_namesz == 4 && !memcmp(name, "GNU", 4) &&
			   n->n_type == NT_GNU_BUILD_ID &&
			   n->n_descsz <= LDB_BUILD_ID_MAX) {
			memcpy(m->build_id, desc, n->n_descsz);
			m->build_id_size = n->n_descsz;
		}
		p = desc + ((n->n_descsz + 3) & ~3U);
	}
}

static void module_path(struct module *m, const char *name)
{
	char buf[PATH_MAX];
	ssize_t n;

	if (*name == '\0') {
		n = readlink("/proc/self/exe", m->path, sizeof(m->path) - 1);
		m->path[n > 0 ? n : 0] = 0;
	} else if (*name == '/' || !realpath(name, buf)) {
		raw_strcpy(m->path, name, sizeof(m->path));
	} else {
		raw_strcpy(m->path, buf, sizeof(m->path));
	}
}

static bool same_file(const struct module *a, const struct module *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size) &&
	       raw_str_equal(a->path, b->path);
}

static int module_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	static struct module m;		/* under the loader's lock */
	uint32_t n = atomic_load(&nr_modules);

	(void)size;
	(void)arg;
	memset(&m, 0, sizeof(m));
	m.bias = info->dlpi_addr;
	m.start = UINT64_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		if (m.bias + ph->p_vaddr < m.start)
			m.start = (m.bias + ph->p_vaddr) & ~4095ULL;
		if (m.bias + ph->p_vaddr + ph->p_memsz > m.end)
			m.end = m.bias + ph->p_vaddr + ph->p_memsz;
	}
	if (m.start >= m.end)
		return 0;
	module_path(&m, info->dlpi_name);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *p = (const char *)(m.bias + ph->p_vaddr);

		if (ph->p_type == PT_NOTE)
			note_scan(p, p + ph->p_memsz, &m);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct module *known = module_at(i);

		if (!atomic_load(&known->unloaded_tsc) && same_file(known, &m)) {
			seen[i] = true;
			known->fini_tsc = 0;
			return 0;
		}
	}
	if (!module_room(n)) {
		atomic_fetch_add(&nr_modules_lost, 1);
		return 0;
	}
	m.loaded_tsc = session_on() ? session_clock() : 0;
	*module_at(n) = m;
	seen[n] = true;
	atomic_store(&nr_modules, n + 1);
	return 0;
}

void module_refresh(void)
{
	uint32_t n = atomic_load(&nr_modules);

	for (uint32_t i = 0; i < n; i++)
		seen[i] = false;
	dl_iterate_phdr(module_one, NULL);
	for (uint32_t i = 0; i < n; i++) {
		struct module *m = module_at(i);

		if (!seen[i] && !atomic_load(&m->unloaded_tsc))
			atomic_store(&m->unloaded_tsc, m->fini_tsc ? m->fini_tsc :
				     session_on() ? session_clock() : 1);
	}
}

uint32_t module_nr_instrumented(void)
{
	uint32_t n = atomic_load(&nr_modules), count = 0;

	for (uint32_t i = 0; i < n; i++)
		count += module_at(i)->flags & LDB_MODULE_F_INSTRUMENTED &&
			 !atomic_load(&module_at(i)->unloaded_tsc);
	return count;
}

/*
 * Called by the constructor and the destructor that the plugin puts into every
 * shared object, with an address inside that object.
 */
EXPORT void __ldb_module_loaded(const void *addr);
EXPORT void __ldb_module_unloaded(const void *addr);

void __ldb_module_loaded(const void *addr)
{
	int saved = errno;

	(void)addr;
	/* libraries initialised before us are found by our own constructor */
	if (initialised && !inert) {
		module_refresh();
		if (record_name && module_nr_instrumented())
			launched();
	}
	errno = saved;
}

void __ldb_module_unloaded(const void *addr)
{
	uint32_t n = atomic_load(&nr_modules);
	uintptr_t a = (uintptr_t)addr;

	for (uint32_t i = 0; i < n; i++) {
		struct module *m = module_at(i);

		if (a >= m->start && a < m->end && !atomic_load(&m->unloaded_tsc))
			m->fini_tsc = session_on() ? session_clock() : 1;
	}
}
