/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names block devices, and tells which tasks are threads of the kernel, as /sys and /proc say it. */
#ifndef RECORD_DISK_NAMES_H
#define RECORD_DISK_NAMES_H

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

/* dev: as the kernel numbers it.  Returns "" if it is not known; the text stays. */
const char *disk_names_get(struct disk_names *d, uint32_t dev);

bool disk_names_is_kernel(struct disk_names *d, pid_t tid);

#endif
