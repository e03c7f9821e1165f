/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out what block devices did for threads, and how much of a sleep was spent waiting for that.
 */
#ifndef FACTS_DISKS_H
#define FACTS_DISKS_H

#include "model.h"

/* A block device worked for a thread of the program, or of the kernel.  See model.has_disks. */
struct disk_work {
	uint32_t tid;		/* who asked for it */
	bool is_own;		/* a thread of the program */
	bool has_failed;
	unsigned op;		/* enum ldb_disk_op */
	int64_t start, end;	/* ticks: given to the device's queue, done */
	uint64_t bytes;
	const char *device;	/* "nvme0n1", "a disk"; the model's */
};

/* This does what faults_each() of interruptions.h does. */
int disks_each(struct model *m, const struct reader_filter *filter,
	       int (*work)(void *arg, const struct disk_work *w), void *arg);

/* "read", "write", "flush", "other" */
const char *disk_op_name(unsigned op);

/*
 * A thread slept until a device had done what this thread, or the thread that woke it up, had asked
 * for.
 */
struct disk_sleep {
	/* waker: a thread of the kernel; 0: an interrupt woke it up, or it is not known what did */
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
