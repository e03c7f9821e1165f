/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the name of the file that a process has mapped at an address, from /proc. */
#ifndef RECORD_NAMES_MAP_H
#define RECORD_NAMES_MAP_H

#include <stdint.h>
#include <sys/types.h>

struct map_names;

/* Returns NULL if there is no memory. */
struct map_names *map_names_alloc(pid_t pid);
void map_names_free(struct map_names *m);

/*
 * Returns the file's name without its directory; "": memory of no file, or not known.  The string
 * is valid until map_names_free().
 */
const char *map_names_get(struct map_names *m, uint64_t address);

/*
 * Returns the value of the trace's META row "shared_memory" for an address that other processes may
 * share.  Returns NULL if it was returned before for this mapping, or if the memory is private.
 */
const char *map_names_shared(struct map_names *m, uint64_t address);

#endif
