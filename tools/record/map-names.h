/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names the files that a process has mapped, as /proc says it, by an address in them. */
#ifndef RECORD_MAP_NAMES_H
#define RECORD_MAP_NAMES_H

#include <stdint.h>
#include <sys/types.h>

struct map_names;

/* Returns NULL if there is no memory. */
struct map_names *map_names_alloc(pid_t pid);
void map_names_free(struct map_names *m);

/* Returns the file's name without its folder; "": memory of no file, or not known.  It stays. */
const char *map_names_get(struct map_names *m, uint64_t address);

/*
 * Returns what META shared_memory says of an address that other processes may share, once for each
 * mapping; NULL: it was said, or the memory is private.
 */
const char *map_names_shared(struct map_names *m, uint64_t address);

#endif
