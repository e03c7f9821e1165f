/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the requests that block devices processed for threads, and how much of a sleep was spent
 * waiting for these.
 */
#ifndef FACTS_DISKS_H
#define FACTS_DISKS_H

#include "model.h"

/* A block device worked for a thread of the program, or of the kernel.  See model.has_disks. */
struct disk_work {
	uint32_t tid;		/* the thread that made the request */
	bool is_own;		/* a thread of the program */
	bool has_failed;
	unsigned op;		/* enum ldb_disk_op */
	/* ticks: the request was put into the device's queue, and completed */
	int64_t start, end;
	uint64_t bytes;
	const char *device;	/* "nvme0n1", "a disk"; owned by the model */
};

/* Does for requests to devices what faults_each() of interruptions.h does for faults. */
int disks_each(struct model *m, const struct reader_filter *filter,
	       int (*work)(void *arg, const struct disk_work *w), void *arg);

/* "read", "write", "flush", "other" */
const char *disk_op_name(unsigned op);

/*
 * A sleep, in which a device may have processed a request of the sleeping thread, or of its waker.
 */
struct disk_sleep {
	/* waker: the thread of the kernel that woke it up; 0: another waker, or not known */
	uint32_t tid, waker;
	int64_t start, end;	/* ticks */
	struct segment_disk *to;
};

/*
 * Stores for each sleep what devices did in it for the sleeping thread or its waker.  Of several
 * devices, the one that took the most time is stored.  Where a device did several things at the
 * same time, that time counts once.  Returns 0 or -ENOMEM.
 */
int disks_join(struct model *m, const struct disk_sleep *sleeps, size_t nr);

#endif
