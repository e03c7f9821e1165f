/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the real functions of the wrappers. */
#ifndef SHIM_SYMBOL_H
#define SHIM_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>
#include "order.h"

#pragma GCC visibility push(hidden)

/*
 * Does what dlsym(RTLD_NEXT) does, with the default version of the symbol, which must be given if
 * it is not the oldest version.  Returns NULL if there is no such function.  In a program that was
 * started with this library, which symbol_lockless() tests, a function that exists and is not an
 * ifunc is found without a lock, and async-signal-safely.
 */
void *symbol_next(const char *name, const char *version);
/* Like symbol_next(), but without the loader's lock; also NULL if only the loader could find it. */
void *symbol_next_known(const char *name);
/*
 * Returns the function that the module itself defines; NULL: none.  `dynamic` is its dynamic
 * section.
 */
void *symbol_in(const void *dynamic, uint64_t bias, const char *name);
/* Returns true if this library is in the loader's list before libc, so it was not loaded later. */
bool symbol_lockless(void);
/* Makes symbol_next() return fn for this name; the string must stay valid. */
void symbol_remember(const char *name, void *fn);
/*
 * Returns libc's own function, whichever library hides it; or NULL.  Use it only if
 * symbol_lockless().
 */
void *symbol_of_libc(const char *name);

/*
 * Returns true if fn is the module's function of this name, and not data in its code segment, or if
 * the name is that of an ifunc.  `dynamic` is the module's dynamic section.
 */
bool symbol_is_function(const void *dynamic, uint64_t bias, const char *name, const void *fn);

/*
 * Finds a thread-local variable that the module defines: its offset in the module's part of a
 * thread's TLS memory.  Returns false if there is no such variable.  Raw threads may call it, too.
 */
bool symbol_thread_variable(const void *dynamic, uint64_t bias, const char *name, uint64_t *offset);

/*
 * Returns the function in *slot, which is searched on the first call.  Returns NULL if it was not
 * found; then it is searched again next time.
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
 * Returns a function of the vDSO, whose image (AT_SYSINFO_EHDR) may be NULL.  Raw threads may call
 * it, too.
 */
void *symbol_vdso(const void *image, const char *name);

#pragma GCC visibility pop
#endif /* SHIM_SYMBOL_H */
