// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Puts entry stubs into the linkage tables of modules.
 *
 * A slot of DT_JMPREL is used only for calls.  If it is not bound yet, the function is searched for
 * as the loader would do (search.c).  If it is not found, the slot is not changed, nor is a slot
 * that leads to the module itself.  Code may also read a slot of DT_RELA (-fno-plt), to compare the
 * address or to pass it on.  So such a slot is changed only if all instructions of the module that
 * refer to it are calls or jumps.  Slots of ldb's own library and of the loader are never changed.
 *
 * Stubs are put into tables, and the list of modules is changed, only at the start of the program
 * or under the loader's lock, so that no module is patched before it was relocated, and none is
 * unloaded meanwhile.  flow_unpatch() needs no lock, because it only restores tables of modules
 * that stay loaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include "arch/flows.h"
#include "flows.h"
#include "modules.h"
#include "runtime/linkage.h"
#include "runtime/runtime.h"
#include "runtime/late.h"
#include "shim/symbol.h"

#define PATCHED		32768
#define BUFFER		65536		/* bytes of code that are read at a time */
#define OVERLAP		16
#define PAGE(a)		((a) & ~4095ULL)

/* The slots that were changed in modules that stay loaded, with their old values. */
static struct { uint64_t *slot, old; } *patched;
static uint32_t nr_patched;

/* The functions to which a module refers */

struct patching {
	struct flow_module *m;
	struct linkage l;
};

static void lose(const struct patching *p, enum ldb_flow_lost what)
{
	if (!p->m->is_again)
		flow_lose(what, 1);
}

static bool is_stub(uint64_t target)
{
	return target - (uintptr_t)flow_entry_stubs < FLOW_ENTRIES * FLOW_STUB;
}

/* The symbols of the modules that the loader searches, without modules that dlopen() has loaded. */
static struct flow_scope scopes[FLOW_MODULES];
static uint32_t nr_scopes;	/* 0: one of them has no table that can be searched */

static void scopes_read(void)
{
	nr_scopes = 0;
	for (uint32_t i = 0; i < nr_flow_modules; i++) {
		const struct flow_module *m = &flow_modules[i];

		if (!m->dynamic || m->is_kernel || !m->is_started)
			continue;
		if (!flow_scope_read(&scopes[nr_scopes++], m->dynamic, m->bias)) {
			nr_scopes = 0;
			return;
		}
	}
}

/* Slots */

static void slot_write(struct patching *p, uint64_t *slot, struct flow_entry *e)
{
	uint64_t old = *slot;

	if (!linkage_open(&p->l, slot)) {
		lose(p, LDB_FLOW_LOST_LOCKED);
		return;
	}
	if (p->m->is_started && nr_patched < PATCHED) {
		patched[nr_patched].slot = slot;
		patched[nr_patched++].old = old;
	}
	order_any_store_word(slot, flow_stub_of(e));
}

/*
 * Puts the stub for a function into a slot, unless calls of this function by this module are not
 * counted.
 */
static void slot_patch(struct patching *p, uint64_t *slot, uint64_t target, const char *name,
		       uint32_t flags)
{
	struct flow_module *to = flow_module_at(target);
	struct flow_entry *e;
	uint32_t real;

	if (!to || to == p->m || to->is_loader)
		return;
	if (to->is_ours)
		flags |= FLOW_E_OURS;
	real = flow_module_of(flow_entry_real(target, name, flags));
	e = flow_entry_find(p->m - flow_modules + 1, real, target, name, flags);
	if (e)
		slot_write(p, slot, e);
}

static bool is_needed(const struct patching *p, const struct flow_module *to)
{
	const char *name = flow_module_soname(to);

	for (const ElfW(Dyn) *d = p->m->dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && raw_str_equal(p->l.str + d->d_un.d_val, name))
			return true;
	return false;
}

/*
 * Returns the address to which the loader would bind a call.  A module that was loaded later may
 * have a scope of its own, which is searched after the global scope or before it (RTLD_DEEPBIND).
 * So for such a module the result is certain only if a library that the module itself names
 * (DT_NEEDED) contains the function.  Returns 0 if the function is not found, or the result is not
 * certain.
 */
static uint64_t search(const struct patching *p, uint32_t symbol, const char *name)
{
	uint64_t target = flow_scope_search(scopes, nr_scopes, name, linkage_version(&p->l, symbol));
	const struct flow_module *to = target ? flow_module_at(target) : NULL;

	if (!to || (!p->m->is_started && !is_needed(p, to)))
		return 0;
	return target;
}

static void patch_plt(struct patching *p)
{
	const struct linkage *l = &p->l;

	for (uint64_t i = 0; i < l->plt_size / sizeof(ElfW(Rela)); i++) {
		const ElfW(Rela) *r = &l->plt[i];
		uint32_t symbol = ELF64_R_SYM(r->r_info);
		const char *name = l->str + l->sym[symbol].st_name;
		uint64_t *slot = (uint64_t *)(p->m->bias + r->r_offset), target;

		if (ELF64_R_TYPE(r->r_info) != CPU_RELOC_PLT || flow_special_of(name) == FLOW_NEVER_TOUCHED)
			continue;
		target = order_any_load_word(slot);
		if (is_stub(target))
			continue;
		if (flow_module_at(target) == p->m) {	/* not bound, or m's own */
			if (target == p->m->bias + l->sym[symbol].st_value && l->sym[symbol].st_shndx)
				continue;
			target = search(p, symbol, name);
		}
		if (target)
			slot_patch(p, slot, target, name, FLOW_E_PLT);
		else
			lose(p, LDB_FLOW_LOST_UNBOUND);
	}
}

/* Slots that code may read, too */

#define WORDS_MAX	65536

static struct words {
	uint64_t lo, hi;	/* the slots that may be changed are between these addresses */
	uint8_t use[WORDS_MAX];	/* of each word: CALLED, READ */
} words __attribute__((aligned(4096)));
#define CALLED	1
#define READ	2

static void note_reference(void *arg, uint64_t word, bool is_call)
{
	(void)arg;
	if (word % 8 == words.lo % 8)
		words.use[(word - words.lo) / 8] |= is_call ? CALLED : READ;
}

static void search_part(const uint8_t *code, uint64_t at, uint64_t size)
{
	cpu_each_reference(code, at, size, words.lo, words.hi, note_reference, NULL);
}

/*
 * Opens the module's file, if it begins with the same bytes as the module in memory.  Returns the
 * descriptor, or a negative number.  Code is read from the file, because a page of code that is
 * read in memory counts as memory of the program from then on.
 */
static int open_file(const struct flow_module *m)
{
	char begin[512];
	int fd = sys(SYS_openat, AT_FDCWD, m->name && *m->name ? m->name : "/proc/self/exe",
		     O_RDONLY | O_CLOEXEC, 0);

	if (fd >= 0 && (sys(SYS_pread64, fd, begin, sizeof(begin), 0) != sizeof(begin) ||
			memcmp(begin, (const void *)m->start, sizeof(begin)))) {
		sys(SYS_close, fd);
		return -1;
	}
	return fd;
}

static uint8_t buffer[BUFFER] __attribute__((aligned(4096)));

/* Returns false if the file could not be read. */
static bool search_file(int fd, const struct flow_module *m, int segment)
{
	uint64_t at = m->code[segment].lo, end = m->code[segment].hi, offset = m->code[segment].offset;

	while (at < end) {
		uint64_t size = end - at < BUFFER ? end - at : BUFFER;

		if (sys(SYS_pread64, fd, buffer, size, offset) != (long)size)
			return false;
		search_part(buffer, at, size);
		if (size == end - at)
			break;
		/* an instruction may begin in one part and end in the next */
		at += size - OVERLAP;
		offset += size - OVERLAP;
	}
	return true;
}

static void search_code(const struct flow_module *m)
{
	int fd = open_file(m);

	for (int k = 0; k < FLOW_CODE_MAX; k++)
		if (m->code[k].hi > m->code[k].lo && (fd < 0 || !search_file(fd, m, k)))
			search_part((const uint8_t *)m->code[k].lo, m->code[k].lo, m->code[k].hi - m->code[k].lo);
	if (fd >= 0)
		sys(SYS_close, fd);
}

/* Returns a function of another module whose address is in the slot; 0: there is none. */
static uint64_t got_target(const struct patching *p, const ElfW(Rela) *r)
{
	const struct linkage *l = &p->l;
	const ElfW(Sym) *s = &l->sym[ELF64_R_SYM(r->r_info)];
	unsigned type = ELF64_ST_TYPE(s->st_info);
	uint64_t target;
	struct flow_module *to;

	if (ELF64_R_TYPE(r->r_info) != CPU_RELOC_GOT || (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC))
		return 0;
	if (flow_special_of(l->str + s->st_name) == FLOW_NEVER_TOUCHED)
		return 0;
	target = order_any_load_word((uint64_t *)(l->bias + r->r_offset));
	to = target && !is_stub(target) ? flow_module_at(target) : NULL;
	return to && to != p->m ? target : 0;
}

static void patch_got(struct patching *p)
{
	const struct linkage *l = &p->l;
	uint64_t nr = l->rela_size / sizeof(ElfW(Rela));

	words.lo = UINT64_MAX;
	words.hi = 0;
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t slot = l->bias + l->rela[i].r_offset;

		if (!got_target(p, &l->rela[i]))
			continue;
		if (slot < words.lo)
			words.lo = slot;
		if (slot + 8 > words.hi)
			words.hi = slot + 8;
	}
	if (words.lo >= words.hi || (words.hi - words.lo) / 8 > WORDS_MAX)
		return;
	memset(words.use, 0, (words.hi - words.lo) / 8);
	search_code(p->m);
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t target = got_target(p, &l->rela[i]), slot = l->bias + l->rela[i].r_offset;
		uint32_t symbol = ELF64_R_SYM(l->rela[i].r_info);
		uint8_t use;

		if (!target)
			continue;
		use = words.use[(slot - words.lo) / 8];
		if (use == CALLED)
			slot_patch(p, (uint64_t *)slot, target, l->str + l->sym[symbol].st_name, FLOW_E_GOT);
		else if (use & CALLED)
			lose(p, LDB_FLOW_LOST_TAKEN);
	}
}

/* Frees the memory that the search has used. */
static void forget_code(void)
{
	sys(SYS_madvise, buffer, sizeof(buffer), MADV_DONTNEED);
	sys(SYS_madvise, &words, sizeof(words) & ~4095UL, MADV_DONTNEED);
}

static void module_patch(struct flow_module *m)
{
	struct patching p = { .m = m };

	if (flow_module_is_followed(m) && linkage_read(&p.l, m->dynamic, m->bias, m->relro.lo, m->relro.hi)) {
		patch_plt(&p);
		patch_got(&p);
		linkage_close(&p.l);
	}
	m->is_new = false;
}

static void patch_what_is_new(void)
{
	for (uint32_t i = 0; i < nr_flow_modules; i++)
		if (flow_modules[i].is_new)
			module_patch(&flow_modules[i]);
	forget_code();
}

bool flow_patch_prepare(void)
{
	if (!patched)
		patched = raw_map(PATCHED * sizeof(*patched));
	return patched;
}

void flow_patch_started(void)
{
	flow_modules_find();
	scopes_read();
	patch_what_is_new();
}

/* Restores a slot, unless the program or the loader has changed it since. */
static void slot_restore(uint64_t *slot, uint64_t old)
{
	uint64_t now = order_any_load_word(slot);

	if (is_stub(now))
		order_any_replace_word(slot, &now, old);
}

void flow_unpatch(void)
{
	linkage_forget();
	for (uint32_t i = 0; i < nr_patched; i++) {
		uint64_t *slot = patched[i].slot, page = PAGE((uintptr_t)slot);
		struct flow_module *m = NULL;
		bool is_closed;

		for (uint32_t k = 0; k < nr_flow_modules && !m; k++)
			if ((uintptr_t)slot >= flow_modules[k].relro.lo && (uintptr_t)slot < flow_modules[k].relro.hi)
				m = &flow_modules[k];
		is_closed = m;
		/* The program may have made the page read-only meanwhile. */
		if (is_closed ? sys(SYS_mprotect, page, 4096, PROT_READ | PROT_WRITE) : !linkage_is_writable(slot))
			continue;
		slot_restore(slot, patched[i].old);
		if (is_closed)
			sys(SYS_mprotect, page, 4096, PROT_READ);
	}
	nr_patched = 0;
}

/* Under the loader's lock */

static void nothing(void)
{
}

/*
 * The loader calls this while dlsym() searches __ldb_flows_locked, and holds its lock: so no other
 * thread is loading anything, and all modules in its list are relocated.
 */
static void (*patch_new(void))(void)
{
	flow_modules_find();
	module_refresh();
	late_patch();
	patch_what_is_new();
	return nothing;
}

EXPORT void __ldb_flows_locked(void) __attribute__((ifunc("patch_new")));

void flow_patch_later(void)
{
	if (flow_modules_have_changed())
		dlsym(RTLD_DEFAULT, "__ldb_flows_locked");
}

/*
 * Patches all modules.  Slots that still contain stubs of an earlier recording remain as they are.
 */
void flow_patch_all(void)
{
	flow_modules_find();
	for (uint32_t i = 0; i < nr_flow_modules; i++) {
		flow_modules[i].is_new = true;
		flow_modules[i].is_again = false;
	}
	scopes_read();
	patch_what_is_new();
}

static void (*begin_locked)(void);

static void (*begin_running(void))(void)
{
	begin_locked();
	return nothing;
}

EXPORT void __ldb_flows_running(void) __attribute__((ifunc("begin_running")));

void flow_patch_running(void (*begin)(void))
{
	begin_locked = begin;
	dlsym(RTLD_DEFAULT, "__ldb_flows_running");
}
