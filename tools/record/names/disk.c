// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads /sys and /proc; see disk.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "record/names/disk.h"
#include "record/process/proc.h"

/* number of bits of the minor number in the kernel's device number */
#define MINOR_BITS	20
#define KTHREAD_FLAG	0x00200000U	/* PF_KTHREAD, which does not change */

static void read_name(uint32_t dev, char *name, size_t size)
{
	char path[64], to[512];
	ssize_t n;

	*name = '\0';
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", dev >> MINOR_BITS,
		 dev & ((1U << MINOR_BITS) - 1));
	n = readlink(path, to, sizeof(to) - 1);
	if (n <= 0)
		return;
	to[n] = '\0';
	snprintf(name, size, "%.31s", basename(to));
}

const char *disk_names_get(struct disk_names *d, uint32_t dev)
{
	for (unsigned i = 0; i < d->nr; i++)
		if (d->at[i].dev == dev)
			return d->at[i].name;
	if (d->nr == DISK_NAMES_MAX)
		return "";
	d->at[d->nr].dev = dev;
	read_name(dev, d->at[d->nr].name, sizeof(d->at[0].name));
	return d->at[d->nr++].name;
}

static bool is_kernel(pid_t tid)
{
	char line[512], *rest;
	unsigned flags = 0;

	if (!proc_line(tid, 0, "stat", line, sizeof(line)))
		return false;
	/* The name may contain blanks and parentheses. */
	rest = strrchr(line, ')');
	return rest && sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       flags & KTHREAD_FLAG;
}

bool disk_names_is_kernel(struct disk_names *d, pid_t tid)
{
	unsigned at = tid & (KTHREADS_MAX - 1);

	if (tid <= 0)
		return false;
	if (d->threads[at].tid != tid) {
		d->threads[at].tid = tid;
		d->threads[at].is_kernel = is_kernel(tid);
	}
	return d->threads[at].is_kernel;
}
