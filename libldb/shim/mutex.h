/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHIM_MUTEX_H
#define SHIM_MUTEX_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/*
 * Returns true if the shim may acquire and release normal mutexes itself.  tid is that of the
 * calling thread.  The function is async-signal-safe.
 */
bool mutex_is_known(uint32_t tid);

#pragma GCC visibility pop

#endif /* SHIM_MUTEX_H */
