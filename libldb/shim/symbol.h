/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the functions are that ours hide.
 */
#ifndef SHIM_SYMBOL_H
#define SHIM_SYMBOL_H

#include <stdbool.h>
#include "order.h"

#pragma GCC visibility push(hidden)

/*
 * As dlsym(RTLD_NEXT), with the default version of the symbol, which may be given for
 * where that is not its oldest; NULL: there is none.  In a program that started with
 * our library it takes no lock and is async-signal-safe; symbol_lockless(): it did.
 */
void *symbol_next(const char *name, const char *version);
bool symbol_lockless(void);
/* libc's own, whoever hides it; or NULL.  Only where symbol_lockless(). */
void *symbol_of_libc(const char *name);

/* What *slot holds, looked up the first time; NULL: there is none, and it is looked up again. */
static inline void *symbol_cached(void **slot, const char *name)
{
	void *fn = order_any_load_word(slot);

	if (__builtin_expect(!fn, 0)) {
		fn = symbol_next(name, NULL);
		order_any_store_word(slot, fn);
	}
	return fn;
}

/* In the kernel's image (AT_SYSINFO_EHDR), which may be NULL.  For raw threads, too. */
void *symbol_vdso(const void *image, const char *name);

#pragma GCC visibility pop
#endif /* SHIM_SYMBOL_H */
