/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of each disk to which the tools write must remain free. */
#ifndef CLI_DISK_H
#define CLI_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_FREE_PCT	5

/* Writes to `folder` the path of the directory that contains the file. */
void disk_folder(const char *path, char *folder, size_t size);

/*
 * Returns true if enough of the disk remains free after this many bytes are written to the file, or
 * if that is not known.
 */
bool disk_has_room(const char *path, uint64_t bytes);
bool disk_is_full(const char *path);

#endif
