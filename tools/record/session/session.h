/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the memory shared with the program, and its clock. */
#ifndef RECORD_SESSION_SESSION_H
#define RECORD_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/ldb.h>
#include <ldb/trace-format.h>

#ifndef SESSION_THREADS		/* tests/fuzz defines a smaller number */
#define SESSION_THREADS		4096
#endif
#define SESSION_SCAN_ORDER	20	/* records of a scanner's ring: 2^20, 32 MiB */

struct session {
	int fd;			/* a sealed memfd, or /dev/ldb */
	bool is_device;
	char *base;
	size_t size;
	uint32_t events;	/* LDB_GROUP_* that the source records */
	char *kernel_rings;	/* NULL: kernel events are in the rings of the program */
	size_t kernel_size;
	unsigned kernel_order;
	/* A copy of the info page, made before the program could change the page. */
	struct ldb_info info;
};

/*
 * Creates a session without the kernel module.  ring_bytes is the size of all rings of CPUs
 * together.  Returns 0 or -errno.
 */
int session_open(struct session *s, uint64_t ring_bytes, unsigned nr_scanners, unsigned clock_id,
		 uint64_t clock_hz);
void session_close(struct session *s);

/* Adds rings that the program cannot map, one for each CPU.  session_close() unmaps them. */
void session_add_kernel_rings(struct session *s, void *rings, uint64_t stride, unsigned order);

/*
 * Returns the greatest order of a CPU's ring with which nr_cpus rings take at most ring_bytes, not
 * counting their headers.  session.c has the smallest and the greatest possible order.
 */
unsigned session_order_for(uint64_t ring_bytes, unsigned nr_cpus);
unsigned session_count_cpus(void);

/* Returns the info page itself, which the program may have changed. */
const volatile struct ldb_info *session_info(const struct session *s);

const struct ldb_page *session_page(const struct session *s, unsigned slot);
const struct ldb_stack *session_stack(const struct session *s, unsigned slot);

/* Returns the number of rings: of CPUs, of scanners, and separate ones for kernel events. */
unsigned session_nr_rings(const struct session *s);
const struct ldb_ring_hdr *session_ring(const struct session *s, unsigned ring);
/* Returns the ring that contains a CPU's kernel events. */
const struct ldb_ring_hdr *session_kernel_ring(const struct session *s, unsigned cpu);
unsigned session_ring_order(const struct session *s, unsigned ring);
/* Returns the CPU whose kernel events a ring contains; meaningless for rings of scanners. */
unsigned session_ring_cpu(const struct session *s, unsigned ring);

/* clock.c */

/* Returns LDB_CLOCK_TSC where the kernel itself relies on the TSC, else LDB_CLOCK_MONO. */
unsigned clock_choose(void);
const char *clock_name(unsigned clock_id);
uint64_t clock_now(unsigned clock_id);
/* this process's CLOCK_MONOTONIC, for timeouts and progress */
int64_t clock_mono_ns(void);

/*
 * Finds by how much CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW of a process are ahead of the kernel's:
 * the offset of its time namespace.  Stamps of perf and of the kernel module do not include it.
 * pid 0: this process.  Returns false if it is not known.
 */
bool clock_offset(pid_t pid, int64_t *ns);

/*
 * A program in another time namespace stamps its events with its own CLOCK_MONOTONIC.  After this
 * call clock_now() returns the clock of a process with this offset.
 */
void clock_follow(int64_t offset_ns);

/* Reads the clocks.  row->tick is a clock value: the caller subtracts t0. */
void clock_sample(unsigned clock_id, struct ldb_row_clock *row);

/*
 * Returns the clock's rate in Hz.  That of the TSC is computed from two samples; the function waits
 * if they would be too close together.
 */
uint64_t clock_calibrate(unsigned clock_id, const struct ldb_row_clock *first);

#endif
