// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implements late.h.
 *
 * The wrappers are the functions that this library exports.  A slot of a linkage table, or a word
 * of data that the loader has relocated, is changed to a wrapper's address if it contains the
 * address of the function that the wrapper calls.  A slot with the address of another library's
 * function is not changed.  A slot that is not bound yet is changed if the loader would bind it to
 * the wrapped function.  The result is the same as with LD_PRELOAD.
 *
 * The wrapped functions are looked up when late_begin() holds the loader's lock anyway, and
 * remembered: if a wrapper searched for its function on its first call, it might be called by an
 * allocator while another thread holds that lock and waits for the allocator.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include "arch/flows.h"
#include "internal.h"
#include "runtime/late.h"
#include "runtime/linkage.h"
#include "runtime/raw.h"
#include "shim/symbol.h"

#define WRAPPERS	192
#define PAGE(a)		((a) & ~4095ULL)

extern const ElfW(Dyn) our_dynamic[] __asm__("_DYNAMIC") HIDDEN;

static struct wrapper {
	const char *name;
	uint64_t ours, real;
	/* the loader would bind a new call to the real function */
	bool is_usual;
} wrappers[WRAPPERS];
static uint32_t nr_wrappers;	/* 0: late_begin() was never called */

static bool begins_with(const char *name, const char *start)
{
	while (*start && *name == *start)
		name++, start++;
	return !*start;
}

/* The functions for condition variables have two versions, and dlsym() would find the old one. */
static void *look_up(void *handle, const char *name)
{
	void *fn = begins_with(name, "pthread_cond_") ? dlvsym(handle, name, "GLIBC_2.3.2") : NULL;

	return fn ? fn : dlsym(handle, name);
}

static void add_wrapper(const char *name, uint64_t ours)
{
	struct wrapper *w = &wrappers[nr_wrappers];
	void *real = look_up(RTLD_NEXT, name), *first = look_up(RTLD_DEFAULT, name);

	/*
	 * The unwinder's functions, and liburing's, are in libraries with which libldb is not
	 * linked.
	 */
	if (!real && (begins_with(name, "_Unwind_") || begins_with(name, "io_uring_") ||
		      begins_with(name, "__io_uring_")))
		real = first == (void *)ours ? NULL : first;
	if (!real || nr_wrappers == WRAPPERS)
		return;
	*w = (struct wrapper){ name, ours, (uintptr_t)real, first == real };
	nr_wrappers++;
	symbol_remember(name, real);
}

/* Lists the functions that this library exports, except for those of ldb itself. */
static void find_wrappers(uint64_t bias)
{
	struct linkage l;

	/*
	 * the linker puts the names (l.str) behind the symbols, which gives the number of symbols
	 */
	if (!linkage_read(&l, our_dynamic, bias, 0, 0))
		return;
	for (uint32_t i = 1; (const char *)&l.sym[i + 1] <= l.str && nr_wrappers < WRAPPERS; i++) {
		const char *name = l.str + l.sym[i].st_name;

		if (l.sym[i].st_shndx != SHN_UNDEF && ELF64_ST_TYPE(l.sym[i].st_info) == STT_FUNC &&
		    !begins_with(name, "__ldb_"))
			add_wrapper(name, bias + l.sym[i].st_value);
	}
	dlerror();	/* discards the error of these searches, which the program must not see */
}

/* Modules */

struct code {
	uint64_t from, to;	/* the memory of the module */
};

static const struct wrapper *wrapper_of(const char *name)
{
	for (uint32_t i = 0; i < nr_wrappers; i++)
		if (raw_str_equal(wrappers[i].name, name))
			return &wrappers[i];
	return NULL;
}

static void patch_one(struct linkage *l, const struct code *c, const ElfW(Rela) *r)
{
	uint32_t symbol = ELF64_R_SYM(r->r_info), type = ELF64_R_TYPE(r->r_info);
	uint64_t *slot = (uint64_t *)(l->bias + r->r_offset), value;
	const struct wrapper *w;

	if ((type != CPU_RELOC_PLT && type != CPU_RELOC_GOT && type != CPU_RELOC_WORD) || !symbol ||
	    l->sym[symbol].st_shndx != SHN_UNDEF || r->r_addend)
		return;
	w = wrapper_of(l->str + l->sym[symbol].st_name);
	if (!w)
		return;
	value = order_any_load_word(slot);
	if (value != w->real &&
	    !(type == CPU_RELOC_PLT && w->is_usual && value >= c->from && value < c->to))
		return;
	/* The word may be a variable that the program is changing, so it is replaced atomically. */
	if (linkage_open(l, slot))
		order_any_replace_word(slot, &value, w->ours);
}

static int patch_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	const ElfW(Dyn) *dynamic = NULL;
	uint64_t relro_from = 0, relro_to = 0;
	struct code c = { UINT64_MAX, 0 };
	struct linkage l;

	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t from = info->dlpi_addr + ph->p_vaddr, to = from + ph->p_memsz;

		if (ph->p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)from;
		if (ph->p_type == PT_GNU_RELRO) {
			relro_from = PAGE(from);
			relro_to = PAGE(to);
		}
		if (ph->p_type == PT_LOAD) {
			c.from = from < c.from ? from : c.from;
			c.to = to > c.to ? to : c.to;
		}
	}
	if (!dynamic || dynamic == our_dynamic || info->dlpi_addr == getauxval(AT_BASE) ||
	    PAGE(c.from) == getauxval(AT_SYSINFO_EHDR) ||
	    !linkage_read(&l, dynamic, info->dlpi_addr, relro_from, relro_to))
		return 0;
	for (uint64_t i = 0; i < l.plt_size / sizeof(*l.plt); i++)
		patch_one(&l, &c, &l.plt[i]);
	for (uint64_t i = 0; i < l.rela_size / sizeof(*l.rela); i++)
		patch_one(&l, &c, &l.rela[i]);
	linkage_close(&l);
	return 0;
}

void late_patch(void)
{
	if (nr_wrappers)
		dl_iterate_phdr(patch_module, NULL);
}

static int find_ours(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC &&
		    info->dlpi_addr + info->dlpi_phdr[i].p_vaddr == (uintptr_t)our_dynamic)
			*(uint64_t *)bias = info->dlpi_addr;
	return 0;
}

static void nothing(void)
{
}

/* The resolver of an ifunc, which the loader calls while it holds its lock, as in flows/patch.c. */
static void (*begin_locked(void))(void)
{
	uint64_t bias = 0;

	dl_iterate_phdr(find_ours, &bias);
	if (!nr_wrappers)
		find_wrappers(bias);
	late_patch();
	return nothing;
}

EXPORT void __ldb_late_locked(void) __attribute__((ifunc("begin_locked")));

void late_begin(void)
{
	if (!symbol_lockless())
		dlsym(RTLD_DEFAULT, "__ldb_late_locked");
}
