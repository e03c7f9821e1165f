/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For a program that was started without the runtime: the loader has bound its calls by then, so
 * the wrappers are put into the linkage tables of its modules.
 */
#ifndef RUNTIME_LATE_H
#define RUNTIME_LATE_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/*
 * From now on the program's calls reach the wrappers.  Only a thread of the program that holds no
 * lock of the loader's may call it; it can be called again.
 */
void late_begin(void);
/* The same for modules that have come since; under the loader's lock.  Nothing if it never began. */
void late_patch(void);

#pragma GCC visibility pop
#endif
