// SPDX-License-Identifier: LGPL-2.1-or-later
/* Implements modules.h. */
#define _GNU_SOURCE
#include <sys/auxv.h>
#include "flows.h"
#include "modules.h"
#include "runtime/linkage.h"
#include "runtime/runtime.h"
#include "shim/symbol.h"

#define PAGE(a)		((a) & ~4095ULL)

extern const ElfW(Dyn) our_dynamic[] __asm__("_DYNAMIC") HIDDEN;

struct flow_module flow_modules[FLOW_MODULES];
uint32_t nr_flow_modules;
static uint64_t adds_seen, subs_seen;

uint64_t flow_module_start(uint32_t number)
{
	return number && number <= nr_flow_modules ? flow_modules[number - 1].start : 0;
}

struct flow_module *flow_module_at(uint64_t addr)
{
	for (uint32_t i = 0; i < nr_flow_modules; i++) {
		struct flow_module *m = &flow_modules[i];

		if (addr < m->start || addr >= m->end || m->is_gone)
			continue;
		for (int k = 0; k < FLOW_CODE_MAX; k++)
			if (addr >= m->code[k].lo && addr < m->code[k].hi)
				return m;
	}
	return NULL;
}

uint32_t flow_module_of(uint64_t addr)
{
	struct flow_module *m = flow_module_at(addr);

	return m ? m - flow_modules + 1 : 0;
}

static void module_read(struct flow_module *m, const struct dl_phdr_info *info)
{
	unsigned nr_code = 0;

	m->bias = info->dlpi_addr;
	m->name = info->dlpi_name;
	m->start = UINT64_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t lo = m->bias + ph->p_vaddr, hi = lo + ph->p_memsz;

		if (ph->p_type == PT_DYNAMIC)
			m->dynamic = (const ElfW(Dyn) *)lo;
		if (ph->p_type == PT_GNU_RELRO) {
			m->relro.lo = PAGE(lo);
			m->relro.hi = PAGE(hi);
		}
		if (ph->p_type != PT_LOAD)
			continue;
		if (PAGE(lo) < m->start)
			m->start = PAGE(lo);
		if (hi > m->end)
			m->end = hi;
		if (ph->p_flags & PF_X && nr_code < FLOW_CODE_MAX) {
			m->code[nr_code].lo = lo;
			m->code[nr_code].offset = ph->p_offset;
			m->code[nr_code++].hi = lo + ph->p_filesz;
		}
	}
	m->is_ours = m->dynamic == our_dynamic;
	m->is_loader = m->bias == getauxval(AT_BASE);
	m->is_kernel = m->start == getauxval(AT_SYSINFO_EHDR);
}

static bool is_same_module(const struct flow_module *a, const struct flow_module *b)
{
	return a->start == b->start && a->end == b->end && a->dynamic == b->dynamic;
}

static int module_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct flow_module m = { .is_seen = true, .is_new = true };

	(void)size;
	(void)arg;
	adds_seen = info->dlpi_adds;
	subs_seen = info->dlpi_subs;
	module_read(&m, info);
	for (uint32_t i = 0; i < nr_flow_modules; i++)
		if (!flow_modules[i].is_gone && is_same_module(&flow_modules[i], &m)) {
			flow_modules[i].is_seen = true;
			flow_modules[i].name = m.name;
			return 0;
		}
	if (nr_flow_modules < FLOW_MODULES)
		flow_modules[nr_flow_modules++] = m;
	return 0;
}

bool flow_is_function(uint32_t number, const void *fn, const char *name)
{
	const struct flow_module *m = &flow_modules[number - 1];

	return flow_module_is_followed(m) && symbol_is_function(m->dynamic, m->bias, name, fn);
}

/* Functions that find the modules with which the program started */

const char *flow_module_soname(const struct flow_module *m)
{
	const char *str = NULL;
	uint64_t name = 0;

	for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB)
			str = linkage_address(m->bias, d->d_un.d_ptr);
		if (d->d_tag == DT_SONAME)
			name = d->d_un.d_val;
	}
	return str && name ? str + name : "";
}

static bool is_named(const struct flow_module *m, const char *needed)
{
	const char *name = flow_module_soname(m), *file = m->name;

	if (*name)
		return raw_str_equal(name, needed);
	for (const char *c = m->name; c && *c; c++)
		if (*c == '/')
			file = c + 1;
	return file && raw_str_equal(file, needed);
}

/* Marks the modules that m names as needed (DT_NEEDED); returns the highest index of these. */
static uint32_t mark_needed(const struct flow_module *m)
{
	const char *str = NULL;
	uint32_t last = 0;

	for (const ElfW(Dyn) *d = m->dynamic; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)
			str = linkage_address(m->bias, d->d_un.d_ptr);
	for (const ElfW(Dyn) *d = m->dynamic; str && d->d_tag != DT_NULL; d++)
		for (uint32_t i = 1; d->d_tag == DT_NEEDED && i < nr_flow_modules; i++) {
			struct flow_module *other = &flow_modules[i];

			if (!other->dynamic || !is_named(other, str + d->d_un.d_val))
				continue;
			/*
			 * Only the first module of that name is marked: a later one may be
			 * unloaded.
			 */
			other->is_started = true;
			if (i > last)
				last = i;
			break;
		}
	return last;
}

/*
 * Marks the modules with which the program started.  The loader's list begins with the program, the
 * libraries with which it was linked, and preloaded libraries; dlopen() adds modules after them.
 */
static void mark_started(void)
{
	static bool is_done[FLOW_MODULES];
	uint32_t last = 0;
	bool goes_on = true;

	flow_modules[0].is_started = true;
	while (goes_on) {
		/*
		 * No module needs preloaded libraries by name, but in the list they come before a
		 * library that is needed.
		 */
		for (uint32_t i = 0; i < last; i++)
			flow_modules[i].is_started = true;
		goes_on = false;
		for (uint32_t i = 0; i < nr_flow_modules; i++) {
			uint32_t n;

			if (!flow_modules[i].is_started || is_done[i])
				continue;
			is_done[i] = goes_on = true;
			n = mark_needed(&flow_modules[i]);
			if (n > last)
				last = n;
		}
	}
}

void flow_modules_find(void)
{
	uint32_t before = nr_flow_modules;
	uint64_t subs = subs_seen;

	for (uint32_t i = 0; i < before; i++)
		flow_modules[i].is_seen = false;
	dl_iterate_phdr(module_one, NULL);
	for (uint32_t i = 0; i < before; i++)
		if (!flow_modules[i].is_seen)
			flow_modules[i].is_gone = true;
	/*
	 * Not all modules are marked: constructors of libraries ran before ldb's own, and may have
	 * called dlopen().
	 */
	if (!before)
		mark_started();
	/*
	 * a module may have been unloaded and loaded again at the same place; then its table is as
	 * the loader made it
	 */
	for (uint32_t i = 0; subs_seen != subs && i < before; i++)
		if (!flow_modules[i].is_started)
			flow_modules[i].is_new = flow_modules[i].is_again = true;
}

static int count_one(struct dl_phdr_info *info, size_t size, void *is_new)
{
	(void)size;
	*(bool *)is_new = info->dlpi_adds != adds_seen || info->dlpi_subs != subs_seen;
	return 1;
}

bool flow_modules_have_changed(void)
{
	bool is_new = false;

	dl_iterate_phdr(count_one, &is_new);
	return is_new;
}
