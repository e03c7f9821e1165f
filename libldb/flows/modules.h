/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The modules of the program, whose calls are followed.  The list is made and read before main(),
 * or under the loader's lock; entries stay, because a stub may have their numbers.
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
	const char *name;	/* of the file; only valid while the module is loaded */
	bool is_started;	/* it was there when the program started, and stays */
	bool is_loader, is_kernel, is_ours;
	bool is_seen, is_gone;
	bool is_new;		/* its tables have not been read; cleared by the caller */
	bool is_again;		/* its tables may have been read before, so losses are not counted again */
};
extern struct flow_module flow_modules[FLOW_MODULES];
extern uint32_t nr_flow_modules;

/* Brings the list up to date.  If it was empty, those with which the program started are marked. */
void flow_modules_find(void);
/* Those whose calls may be followed: not the loader, the kernel's, or this library. */
static inline bool flow_module_is_followed(const struct flow_module *m)
{
	return m->dynamic && !m->is_ours && !m->is_loader && !m->is_kernel && !m->is_gone;
}

bool flow_modules_have_changed(void);	/* any thread */
/* Returns the module whose code has the address; NULL: none. */
struct flow_module *flow_module_at(uint64_t addr);
/* Returns the name by which others need it (DT_SONAME); "": it has none.  It has a dynamic section. */
const char *flow_module_soname(const struct flow_module *m);

#pragma GCC visibility pop
#endif /* FLOWS_MODULES_H */
