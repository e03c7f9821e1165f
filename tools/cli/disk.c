// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks how much of a disk is free; see disk.h. */
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include "cli/disk.h"

#define DISK_FREE_BYTES	(16ULL << 30)	/* this much free space suffices on any disk */

void disk_folder(const char *path, char *folder, size_t size)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	snprintf(folder, size, "%s", dirname(copy));
}

bool disk_has_room(const char *path, uint64_t bytes)
{
	char folder[PATH_MAX];
	struct statvfs v;
	uint64_t free_bytes;

	disk_folder(path, folder, sizeof(folder));
	if (statvfs(folder, &v) || !v.f_blocks || !v.f_frsize)
		return true;
	free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
	if (bytes > free_bytes)
		return false;
	free_bytes -= bytes;
	return free_bytes / v.f_frsize * 100 >= v.f_blocks * DISK_FREE_PCT || free_bytes >= DISK_FREE_BYTES;
}

bool disk_is_full(const char *path)
{
	return !disk_has_room(path, 0);
}
