/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the probes that a program has in its own code (USDT), as <sys/sdt.h> writes them: a nop at
 * the place, and a note of type 3 in section .note.stapsdt that describes it.
 */
#ifndef SYMBOL_USDT_H
#define SYMBOL_USDT_H

#include <stdint.h>

/*
 * Called for a place.  offset and semaphore are offsets in the file; semaphore 0: the probe has
 * none.  args has the size and the place of each argument, as the compiler wrote them: "8@%rdi
 * -4@-20(%rbp)".
 */
typedef void usdt_fn(void *arg, uint64_t offset, uint64_t semaphore, const char *args);

/*
 * Calls fn for each place of the probe.  Returns the number of places; -1: the file's notes of
 * probes are damaged.  A file that cannot be read, or is for another machine, has none.
 */
int usdt_find(const char *path, const char *provider, const char *name, usdt_fn *fn, void *arg);

#endif
