// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds out which ELF files are mapped, which of them are instrumented, and where their thread
 * blocks are.
 *
 * Later modules are added to the list only by program threads (the constructors that the plugin
 * puts into shared objects, and flows/patch.c), in a function that the loader calls with its lock
 * held, because ldb's own threads must not take that lock.  They read the list, which only grows.
 *
 * The modules with which the program started are never unmapped, so the constructor only searches
 * them for instrumented code, and notes their addresses.  Any thread makes the list from these
 * notes when it is needed, mostly for a recorder.  Finding paths takes system calls, and writing to
 * a page costs a page fault, and every program that starts would pay for both.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <ldb/ldb.h>
#include "request/context.h"
#include "runtime.h"
#include "shim/symbol.h"

#define STARTED_MAX	24	/* if there are more, the cost of the list does not matter */

struct started {
	uint64_t bias;
	const ElfW(Phdr) *phdr;
	const char *name;
	uint32_t nr_phdr;
	int32_t tls;		/* offset of its TLS memory from the thread pointer; 0: not known */
};
DORMANT_PAGE static struct started started[STARTED_MAX];
DORMANT_PAGE static uint32_t nr_started;
DORMANT_PAGE static _Atomic bool started_wait;	/* the list has not been made yet */
static struct raw_lock started_lock;
DORMANT_PAGE static bool is_start;	/* module_init() is called as the program starts */

#define TLS_SPARE	4096	/* TLS memory of the loader itself, and space lost by alignment */
#define CHUNK		32
static struct module *chunks[MODULES_MAX / CHUNK];	/* mapped when needed, never unmapped */
_Atomic uint32_t nr_modules;
_Atomic uint32_t nr_modules_lost;

void (*module_on_first)(void);

static bool seen[MODULES_MAX];

struct module *module_at(uint32_t i)
{
	return &chunks[i / CHUNK][i % CHUNK];
}

/*
 * Allocates memory for module i if necessary.  The caller holds the loader's lock.  Returns false
 * if there are too many modules, or no memory.
 */
static bool module_room(uint32_t i)
{
	if (i == MODULES_MAX)
		return false;
	if (!chunks[i / CHUNK])
		chunks[i / CHUNK] = raw_map(CHUNK * sizeof(struct module));
	return chunks[i / CHUNK];
}

/*
 * Adds a thread block.  Every block is in static TLS, so its distance to the thread pointer is
 * fixed.
 */
static void block_add(void *block)
{
	intptr_t off = (intptr_t)((uintptr_t)block - cpu_thread_pointer());
	uint32_t n = order_list_count(&nr_blocks);

	for (uint32_t i = 0; i < n; i++)
		if (block_off[i] == off)
			return;
	if (n == LDB_BLOCKS_MAX) {
		atomic_fetch_add(&nr_modules_lost, 1);
		return;
	}
	block_off[n] = off;
	if (!n)
		shim_locate(off + offsetof(struct ldb_thread, gen));
	order_list_grow(&nr_blocks, n + 1);
}

/*
 * Processes one of ldb's ELF notes.  If m is NULL, registers the thread block or fills the table to
 * which the note points; otherwise stores what the note says about the module in *m.
 */
static void note_ours(uint32_t type, const struct ldb_note_desc *d, struct module *m)
{
	char *target = (char *)d + d->off;

	switch (type) {
	case LDB_NOTE_ACCESSOR:
		if (d->version != LDB_ABI_VERSION)
			break;
		if (m)
			m->flags |= LDB_MODULE_F_INSTRUMENTED;
		else
			block_add(((void *(*)(void))(uintptr_t)target)());
		break;
	case LDB_NOTE_API:
		/*
		 * The table that <ldb/ldb.h> has put into this library itself is not written to,
		 * because no code uses it.
		 */
		if (!m && target != (char *)&__ldb_api && target != (char *)&__ldb_api_2 &&
		    target != (char *)&__ldb_api_3 && target != (char *)&__ldb_api_4)
			request_fill(d->version, target);
		break;
	case LDB_NOTE_COMPILED:
		if (m)
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
		} else if (m && n->n_namesz == 4 && !memcmp(name, "GNU", 4) &&
			   n->n_type == NT_GNU_BUILD_ID &&
			   n->n_descsz <= LDB_BUILD_ID_MAX) {
			memcpy(m->build_id, desc, n->n_descsz);
			m->build_id_size = n->n_descsz;
		}
		p = desc + ((n->n_descsz + 3) & ~3U);
	}
}

static void notes_of(const struct started *o, struct module *m)
{
	for (uint64_t i = 0; i < o->nr_phdr; i++) {
		const ElfW(Phdr) *ph = &o->phdr[i];
		const char *p = (const char *)(o->bias + ph->p_vaddr);

		if (ph->p_type == PT_NOTE)
			note_scan(p, p + ph->p_memsz, m);
	}
}

/*
 * Stores the path of the program's file; if the file has been removed or replaced, the path that it
 * had.
 */
static void exe_path(char *path, size_t size)
{
	static const char gone[] = " (deleted)";
	long n = sys(SYS_readlink, "/proc/self/exe", path, size - 1);
	long cut = n - (long)strlen(gone);

	path[n > 0 ? n : 0] = 0;
	if (cut > 0 && raw_str_equal(path + cut, gone))
		path[cut] = 0;
}

/* Returns true if the name is relative to the current directory. */
static bool is_relative(const char *name)
{
	const char *p = name;

	while (*p && *p != '/')
		p++;
	return *p && p != name;		/* the name of the vDSO has no slash */
}

static void module_path(struct module *m, const char *name)
{
	char buf[PATH_MAX];

	if (*name == '\0')
		exe_path(m->path, sizeof(m->path));
	else if (is_relative(name) && realpath(name, buf))
		raw_strcpy(m->path, buf, sizeof(m->path));
	else
		raw_strcpy(m->path, name, sizeof(m->path));
}

static bool same_file(const struct module *a, const struct module *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size) &&
	       raw_str_equal(a->path, b->path);
}

/*
 * Adds a module to the list.  The caller holds the loader's lock, or the module is one with which
 * the program started.
 */
static void module_one(const struct started *o)
{
	static struct module m;
	uint32_t n = order_list_count(&nr_modules);

	memset(&m, 0, sizeof(m));
	m.bias = o->bias;
	m.start = UINT64_MAX;
	for (uint64_t i = 0; i < o->nr_phdr; i++) {
		const ElfW(Phdr) *ph = &o->phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		if (m.bias + ph->p_vaddr < m.start)
			m.start = (m.bias + ph->p_vaddr) & ~4095ULL;
		if (m.bias + ph->p_vaddr + ph->p_memsz > m.end)
			m.end = m.bias + ph->p_vaddr + ph->p_memsz;
	}
	if (m.start >= m.end)
		return;
	module_path(&m, o->name);
	notes_of(o, &m);
	for (uint32_t i = 0; i < n; i++) {
		struct module *known = module_at(i);

		if (!atomic_load(&known->unloaded_tsc) && same_file(known, &m)) {
			seen[i] = true;
			known->fini_tsc = 0;
			return;
		}
	}
	if (!module_room(n)) {
		atomic_fetch_add(&nr_modules_lost, 1);
		return;
	}
	m.loaded_tsc = session_on() ? session_clock() : 0;
	*module_at(n) = m;
	seen[n] = true;
	order_list_grow(&nr_modules, n + 1);
}

static uint64_t tls_bytes(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			return info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
	return 0;
}

/*
 * Returns the offset of a module's TLS memory from the thread pointer, or 0 if it is not the same
 * in each thread.  It is the same for the program and the libraries with which it started, whose
 * TLS memory is next to the thread pointer.  A module that a library's constructor loaded before
 * this constructor ran may have separately allocated TLS memory for each thread.
 */
static int32_t tls_of(const struct dl_phdr_info *info)
{
	DORMANT_PAGE static uint64_t room;
	intptr_t tls = (uintptr_t)info->dlpi_tls_data - cpu_thread_pointer();
	bool is_program = !*info->dlpi_name;

	room = (is_program ? TLS_SPARE : room) + tls_bytes(info);
	if (!info->dlpi_tls_data || !(is_start || is_program) || (uint64_t)(tls < 0 ? -tls : tls) > room)
		return 0;
	return tls == (int32_t)tls ? tls : 0;
}

static struct started as_started(const struct dl_phdr_info *info)
{
	return (struct started){
		info->dlpi_addr, info->dlpi_phdr, info->dlpi_name, info->dlpi_phnum, tls_of(info),
	};
}

static int loaded_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct started o = as_started(info);

	(void)size;
	(void)arg;
	notes_of(&o, NULL);
	module_one(&o);
	context_find(o.bias, o.phdr, o.nr_phdr, o.tls);
	return 0;
}

/*
 * Stores a module in started[] at the start of the program.  *all becomes false if the list of
 * modules must be made at once.
 */
static int started_one(struct dl_phdr_info *info, size_t size, void *all)
{
	struct started o = as_started(info);

	(void)size;
	notes_of(&o, NULL);
	if (nr_started == STARTED_MAX || is_relative(o.name))
		*(bool *)all = false;
	else
		started[nr_started++] = o;
	return 0;
}

void module_list(void)
{
	if (!atomic_load(&started_wait))
		return;
	raw_lock(&started_lock);
	for (uint32_t i = 0; atomic_load(&started_wait) && i < nr_started; i++) {
		const struct started *o = &started[i];

		module_one(o);
		context_find(o->bias, o->phdr, o->nr_phdr, o->tls);
	}
	atomic_store(&started_wait, false);
	raw_unlock(&started_lock);
}

void module_fork_child(void)
{
	if (atomic_load(&started_lock.word))
		atomic_store(&started_lock.word, 0);
}

void module_init(void)
{
	/* otherwise the runtime was loaded later, and existing modules may be unloaded */
	bool all = is_start = symbol_lockless();

	dl_iterate_phdr(started_one, &all);
	if (all)
		atomic_store(&started_wait, true);
	else
		module_refresh();
	is_start = false;
}

void module_refresh(void)
{
	uint32_t n;

	module_list();
	n = order_list_count(&nr_modules);
	for (uint32_t i = 0; i < n; i++)
		seen[i] = false;
	dl_iterate_phdr(loaded_one, NULL);
	for (uint32_t i = 0; i < n; i++) {
		struct module *m = module_at(i);

		if (!seen[i] && !atomic_load(&m->unloaded_tsc))
			atomic_store(&m->unloaded_tsc, m->fini_tsc ? m->fini_tsc :
				     session_on() ? session_clock() : 1);
	}
}

uint32_t module_nr_instrumented(void)
{
	uint32_t n, count = 0;

	module_list();
	n = order_list_count(&nr_modules);
	for (uint32_t i = 0; i < n; i++)
		count += module_at(i)->flags & LDB_MODULE_F_INSTRUMENTED &&
			 !atomic_load(&module_at(i)->unloaded_tsc);
	return count;
}

/*
 * The constructor and the destructor that the plugin puts into every shared object call these,
 * with an address inside that object.
 */
EXPORT void __ldb_module_loaded(const void *addr);
EXPORT void __ldb_module_unloaded(const void *addr);

void __ldb_module_loaded(const void *addr)
{
	int saved = errno;

	(void)addr;
	/* Libraries that were initialised before the runtime are found by its own constructor. */
	if (initialised && !inert) {
		module_refresh();
		/*
		 * The control thread must report the module soon, because a module that is not
		 * reported before the program ends is missing in the trace.
		 */
		if (session_was_on())
			priority_raise(&control_thread);
		if (module_on_first && module_nr_instrumented())
			module_on_first();
	}
	errno = saved;
}

void __ldb_module_unloaded(const void *addr)
{
	uint32_t n = order_list_count(&nr_modules);
	uintptr_t a = (uintptr_t)addr;

	for (uint32_t i = 0; i < n; i++) {
		struct module *m = module_at(i);

		if (a >= m->start && a < m->end && !atomic_load(&m->unloaded_tsc))
			m->fini_tsc = session_on() ? session_clock() : 1;
	}
}
