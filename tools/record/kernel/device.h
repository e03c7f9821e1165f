/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens and pauses sessions of the kernel module. */
#ifndef RECORD_KERNEL_DEVICE_H
#define RECORD_KERNEL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "record/session/session.h"

struct device_options {
	uint64_t ring_bytes;
	unsigned nr_scanners;
	unsigned clock_id;	/* 0: the module chooses */
	/* 0: the program will join; else a pid: only kernel events of this process are recorded */
	int pid;
	/* rings of kernel events are separate, and the program cannot read or write them */
	bool split;
	/* requested LDB_GROUP_*; session.events are those that are recorded */
	uint32_t events;
	uint64_t call_min_ns;	/* LDB_GROUP_CALL_ALL: shorter system calls are only counted */
};

/*
 * Pauses or resumes the module's events.  Returns the groups that did not resume (LDB_GROUP_*), or
 * -errno.  Does nothing, and returns 0, if the session is not the module's, or if the module is too
 * old to pause.
 */
int device_pause(const struct session *s, bool pause);

/* Returns 0, or -errno with an explanation for the user in `why`. */
int device_open(struct session *s, const struct device_options *o, char *why, size_t size);

/*
 * Like clock_sample(), but the kernel reads all clocks at once.  Returns false if the session is
 * not the module's, or if the module cannot do so.
 */
bool device_clock(const struct session *s, struct ldb_row_clock *row);

#endif
