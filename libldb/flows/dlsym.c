// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The stub of dlsym() jumps to flow_dlsym(), whose return address is therefore in the program.
 *
 * If the recorder has attached to a running program, dlsym() must return the functions themselves,
 * because the program may compare them with functions that dlsym() returned earlier.
 *
 * For RTLD_NEXT and RTLD_DEFAULT the real dlsym() reads its return address, to know its caller: so
 * flow_dlsym() jumps to it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include "flows.h"
#include "runtime/runtime.h"
#include "shim/symbol.h"

bool flow_dlsym_follows;

static __attribute__((noinline)) void *follow(void *handle, const char *name, uintptr_t site)
{
	void *fn;
	uint32_t from, to;
	struct flow_entry *e;
	int saved = errno;

	flow_patch_later();
	errno = saved;
	fn = dlsym(handle, name);
	if (!flow_dlsym_follows)
		return fn;
	from = fn ? flow_module_of(site) : 0;
	to = from ? flow_module_of((uintptr_t)fn) : 0;
	if (!to || to == from || flow_special_of(name) != FLOW_USUAL || !flow_is_function(to, fn, name))
		return fn;
	e = flow_entry_find(from, to, (uintptr_t)fn, name, FLOW_E_DLSYM);
	return e ? (void *)(uintptr_t)flow_stub_of(e) : fn;
}

void *flow_dlsym(void *handle, const char *name)
{
	if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || !atomic_load(&flow_page.is_on))
		return dlsym(handle, name);
	return follow(handle, name, (uintptr_t)__builtin_return_address(0));
}
