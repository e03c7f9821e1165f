/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the real functions of the wrappers. */
#ifndef SHIM_SYMBOL_H
#define SHIM_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>
#include "order.h"

#pragma GCC visibility push(hidden)

/*
 * Does what dlsym(RTLD_NEXT) does, with the default version of the symbol, which must be given
 * if that is not its oldest; NULL: there is none.  In a program that started with this library
 * it takes no lock and is async-signal-safe; symbol_lockless() says whether it did.
 */
void *symbol_next(const char *name, const char *version);
/* The same, but NULL if only the loader could find it, whose lock is not taken in any case. */
void *symbol_next_known(const char *name);
/* Returns a module's own function; dynamic is the module's table. */
void *symbol_in(const void *dynamic, uint64_t bias, const char *name);
bool symbol_lockless(void);
/* From now on symbol_next() returns fn for that name, whose memory must stay. */
void symbol_remember(const char *name, void *fn);
/*
 * Returns libc's own function, whichever library hides it; or NULL.  Use it only if
 * symbol_lockless().
 */
void *symbol_of_libc(const char *name);

/*
 * Is fn the function of this name of a module, and not data between code?  dynamic is the
 * module's table.
 */
bool symbol_is_function(const void *dynamic, uint64_t bias, const char *name, const void *fn);

/*
 * Finds a variable of each thread that the module defines: its offset in the module's part of a
 * thread's memory.  Returns false if there is none.  Raw threads may call it, too.
 */
bool symbol_thread_variable(const void *dynamic, uint64_t bias, const char *name, uint64_t *offset);

/*
 * Returns the function in *slot, which is searched on the first call; NULL: not found, and searched
 * again next time.
 */
static inline void *symbol_cached(void **slot, const char *name)
{
	void *fn = order_any_load_word(slot);

	if (__builtin_expect(!fn, 0)) {
		fn = symbol_next(name, NULL);
		order_any_store_word(slot, fn);
	}
	return fn;
}

/*
 * Searches the kernel's image (AT_SYSINFO_EHDR), which may be NULL.  Raw threads may call it,
 * too.
 */
void *symbol_vdso(const void *image, const char *name);

#pragma GCC visibility pop
#endif /* SHIM_SYMBOL_H */
