/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of the program's modules.  It is changed only before main(), or under the loader's lock.
 * Entries are never removed, because the entries of stubs contain their numbers.
 */
#ifndef FLOWS_MODULES_H
#define FLOWS_MODULES_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define FLOW_MODULES	512
#define FLOW_CODE_MAX	4		/* executable segments of a module */

struct flow_module {
	uint64_t start, end, bias;
	const ElfW(Dyn) *dynamic;
	struct { uint64_t lo, hi, offset; } code[FLOW_CODE_MAX], relro;
	const char *name;	/* name of the file; only valid while the module is loaded */
	bool is_started;	/* the program started with this module, so it is never unloaded */
	bool is_loader, is_kernel, is_ours;
	bool is_seen, is_gone;
	bool is_new;		/* its tables have not been read; cleared by the caller */
	/*
	 * the module's tables may have been read before, so functions without an entry are not
	 * counted again
	 */
	bool is_again;
};
extern struct flow_module flow_modules[FLOW_MODULES];
extern uint32_t nr_flow_modules;

/* Updates the list.  If it was empty, marks the modules with which the program started. */
void flow_modules_find(void);
/*
 * Returns true if the calls of this module may be counted; those of the loader, the vDSO, libldb,
 * and modules that are gone may not.
 */
static inline bool flow_module_is_followed(const struct flow_module *m)
{
	return m->dynamic && !m->is_ours && !m->is_loader && !m->is_kernel && !m->is_gone;
}

bool flow_modules_have_changed(void);	/* any thread of the program may call it */
/* Returns the module whose code contains the address; NULL: none. */
struct flow_module *flow_module_at(uint64_t addr);
/*
 * Returns the name by which other modules refer to m (DT_SONAME); "": it has none.  m must have a
 * dynamic section.
 */
const char *flow_module_soname(const struct flow_module *m);

#pragma GCC visibility pop
#endif /* FLOWS_MODULES_H */
