/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names block devices, and determines which tasks are kernel threads, from /sys and /proc. */
#ifndef RECORD_NAMES_DISK_H
#define RECORD_NAMES_DISK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DISK_NAMES_MAX	64
#define KTHREADS_MAX	512	/* a power of two */

/* A struct of zeros is an empty one. */
struct disk_names {
	struct {
		uint32_t dev;
		char name[32];
	} at[DISK_NAMES_MAX];
	unsigned nr;
	struct {
		pid_t tid;
		bool is_kernel;
	} threads[KTHREADS_MAX];
};

/*
 * dev is the kernel's number of the device.  Returns "" if the name is not known, or if there are
 * too many devices; the string is valid as long as *d.
 */
const char *disk_names_get(struct disk_names *d, uint32_t dev);

bool disk_names_is_kernel(struct disk_names *d, pid_t tid);

#endif
