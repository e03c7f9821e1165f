/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Installs the wrappers in a program that was started without the runtime.  The loader has bound
 * the program's calls already, so the wrappers are put into the linkage tables of its modules.
 */
#ifndef RUNTIME_LATE_H
#define RUNTIME_LATE_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/*
 * Makes the program's calls reach the wrappers.  Only a thread of the program that does not hold
 * the loader's lock may call this; it can be called again.
 */
void late_begin(void);
/*
 * Makes calls of modules that have been loaded since late_begin() reach the wrappers, too.  The
 * caller holds the loader's lock.  Does nothing if late_begin() was never called.
 */
void late_patch(void);

#pragma GCC visibility pop
#endif
