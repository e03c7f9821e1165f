/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the memory shared with the program, and its clock. */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/ldb.h>
#include <ldb/trace-format.h>

#ifndef SESSION_THREADS		/* fewer: tests/fuzz */
#define SESSION_THREADS		4096
#endif
#define SESSION_SCAN_ORDER	20	/* records of a scanner's ring: 32 MiB */

struct session {
	int fd;			/* sealed memfd, or /dev/ldb */
	bool is_device;
	char *base;
	size_t size;
	uint32_t events;	/* LDB_GROUP_* that the source records */
	char *kernel_rings;	/* NULL: kernel events are in the rings of the CPUs */
	size_t kernel_size;
	unsigned kernel_order;
	/*
	 * The contents of the info page; the program may change those in the page, but not this
	 * copy.
	 */
	struct ldb_info info;
};

/*
 * Creates the session without the module.  ring_bytes is for all rings of CPUs together.  Returns 0
 * or -errno.
 */
int session_open(struct session *s, uint64_t ring_bytes, unsigned nr_scanners, unsigned clock_id,
		 uint64_t clock_hz);
void session_close(struct session *s);

/* Adds rings that the program cannot map, one for each CPU; they are unmapped with the session. */
void session_add_kernel_rings(struct session *s, void *rings, uint64_t stride, unsigned order);

/* Returns the order of a CPU's ring, so that those of all nr_cpus together take ring_bytes. */
unsigned session_order_for(uint64_t ring_bytes, unsigned nr_cpus);
unsigned session_count_cpus(void);

/* device.c: a session of the module, which chooses the clock. */
struct device_options {
	uint64_t ring_bytes;
	unsigned nr_scanners;
	unsigned clock_id;	/* 0: the module's choice */
	/* 0: the program will join; else only kernel events of this process are recorded */
	int pid;
	bool split;		/* the program may not write into the kernel's rings */
	uint32_t events;	/* LDB_GROUP_* that are wanted; session.events are those that come */
	uint64_t call_min_ns;	/* LDB_GROUP_CALL_ALL: shorter system calls are only counted */
};

/*
 * Ends the module's events, or begins them again.  A module of an earlier release goes on.  Returns the
 * groups that do not come again (LDB_GROUP_*), or -errno.
 */
int device_pause(const struct session *s, bool pause);

/* Returns 0, or -errno with the reason for the user in why. */
int device_open(struct session *s, const struct device_options *o, char *why, size_t size);

/*
 * Does the same as clock_sample(), but the kernel reads all clocks at once.  Returns false if this
 * is no device.
 */
bool device_clock(const struct session *s, struct ldb_row_clock *row);

/* Returns the info page as the program left it. */
const volatile struct ldb_info *session_info(const struct session *s);

const struct ldb_page *session_page(const struct session *s, unsigned slot);
const struct ldb_stack *session_stack(const struct session *s, unsigned slot);

/* Counts rings of CPUs, of scanners, and the kernel's own of CPUs if it has any. */
unsigned session_nr_rings(const struct session *s);
const struct ldb_ring_hdr *session_ring(const struct session *s, unsigned ring);
/* Returns the ring with a CPU's kernel events. */
const struct ldb_ring_hdr *session_kernel_ring(const struct session *s, unsigned cpu);
unsigned session_ring_order(const struct session *s, unsigned ring);
/* Returns the CPU whose kernel events a ring holds; this is meaningless for those of scanners. */
unsigned session_ring_cpu(const struct session *s, unsigned ring);

/* clock.c */

/* Returns LDB_CLOCK_TSC only where the kernel itself relies on it. */
unsigned clock_choose(void);
const char *clock_name(unsigned clock_id);
uint64_t clock_now(unsigned clock_id);
int64_t clock_mono_ns(void);		/* our own CLOCK_MONOTONIC, for waits and progress */

/*
 * Finds by how much a process's CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW are ahead of the
 * kernel's: its time namespace's offset.  perf and the kernel module stamp without it.  pid 0:
 * this process.  Returns false if it is not known.
 */
bool clock_offset(pid_t pid, int64_t *ns);

/*
 * A program in another time namespace stamps its events with its own CLOCK_MONOTONIC:
 * clock_now() returns that of a process with this offset from now on.
 */
void clock_follow(int64_t offset_ns);

/* tick is absolute here: subtract t0. */
void clock_sample(unsigned clock_id, struct ldb_row_clock *row);

/* Computes the rate from two samples; waits if they would be too close. */
uint64_t clock_calibrate(unsigned clock_id, const struct ldb_row_clock *first);

#endif
