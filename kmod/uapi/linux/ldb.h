/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/*
 * This is contract A of ldb: the event buffers shared by the program, the kernel module and the
 * recorder.
 *
 * A session is one memory area, made by the recorder (a memfd) or by the
 * module (/dev/ldb).  Both providers lay it out the same way, and every
 * offset is read from the info page:
 *
 *	info page	one struct ldb_info; written by the provider
 *	thread pages	max_threads x page_stride, one struct ldb_page each
 *	stacks		max_threads x stack_stride, one struct ldb_stack each
 *	rings		nr_rings x ring_stride, one struct ldb_ring_hdr each,
 *			followed at +4096 by 1 << ring_order slots; linux/ldb-records.h
 *			says what they hold
 *
 * All of it is mapped in one piece, at offset 0.
 *
 * Rings 0 .. nr_cpus-1 belong to the CPUs: code that runs on CPU n, of the program or the
 * kernel, writes into ring n.  The rings after them belong to the scanners, so that a storm of
 * function events cannot overwrite a kernel event.
 *
 * Writing a record, the same way for kernel and program:
 *
 *	idx = atomic fetch-and-add of head by n		(reserves n slots)
 *	fill slot[(idx + k) & mask] for k in 0 .. n-1, all but commit
 *	slot[..].commit = (u32)(idx + k + 1) ^ ldb_rec_hash(slot)   (release)
 *
 * A writer reads nothing that the reader writes and never waits.  The mask comes from the
 * writer's private copy of ring_order, never from shared memory, so any value in head is
 * memory-safe.
 *
 * Reading: slot idx is valid if and only if its commit word equals
 * (u32)(idx + 1) ^ hash.  head - pos > size is an exact count of overwritten
 * records.  A slot that is reserved and not yet committed must not stall the
 * reader; a killed writer never commits it.  Records of one ring are nearly,
 * but not exactly, in time order: the reader sorts in a window.
 *
 * Order: commit is stored with release and loaded with acquire before the rest of the slot; a
 * slot that is overwritten meanwhile does not fit to it.  head orders nothing.  On x86-64 both
 * are plain stores and loads (the BPF programs, which have no release, depend on that); other
 * CPUs need the instructions.  In a page or stack the word whose comment says "written last" or
 * "after" is stored and loaded in this way, too, and k_seq as its comment says.  These functions
 * are in libldb/order.h, tools/record/order.h, kmod/order.h, ring.h and stamp.h.
 *
 * Times are in the session's clock (enum ldb_clock), one clock for all.
 */
#ifndef _UAPI_LINUX_LDB_H
#define _UAPI_LINUX_LDB_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/ldb-records.h>

#define LDB_INFO_MAGIC		0x3142444cU	/* "LDB1" */
#define LDB_SESSION_ABI		1

#define LDB_RING_HDR_SIZE	4096
#define LDB_PAGE_SIZE		4096
#define LDB_STACK_MAX		1023	/* known frames of a thread */

enum ldb_clock {
	LDB_CLOCK_TSC	= 1,	/* rdtsc; the kernel trusts it */
	LDB_CLOCK_MONO	= 2,	/* CLOCK_MONOTONIC, nanoseconds */
};

struct ldb_ring_hdr {
	__u64	head;		/* writers: next index to reserve */
	__u64	pad0[7];
	/* kernel module: which thread runs on this CPU */
	__u32	k_slot;		/* page of the watched thread + 1; 0: another, or none */
	__u32	k_tid;
	__u64	pad1[503];
};

/*
 * Each watched thread has a page.  The thread itself (the runtime) writes cache lines 0 and 1, the
 * scanner lines 2 and 3, the kernel module line 4.  The recorder only reads the page, and must
 * expect any value.
 */
struct ldb_page {
	/* runtime, at registration; state last */
	__u32	state;		/* enum ldb_page_state */
	__u32	tid;
	__u64	stack_lo, stack_hi;
	__u64	tp;		/* thread pointer */
	__u64	start_tsc, exit_tsc;
	__u64	start_routine;
	__u64	pad0;
	char	name[16];	/* NUL-terminated */
	__u64	pad1[6];
	/* scanner; at exit the thread itself */
	__u64	made;		/* invocations entered since the recording began */
	__u64	seen;		/* FUNC records written */
	__u64	looks_changed;	/* polls that found a change */
	__u64	scans;		/* valid scans */
	__u64	invalid;	/* scans discarded because the thread moved on */
	__u64	foreign;	/* top outside the registered stack */
	__u64	too_deep;	/* frames not followed for lack of room */
	__u64	disorder;	/* records rejected: canary, order, generation */
	__u64	last_look_tsc;	/* the last poll at which the state was known */
	__u64	gap_tsc;	/* total time in observation gaps, this thread */
	/* observed invocations that are shorter than func_threshold: not written */
	__u64	below_threshold;
	__u64	cost_tsc;	/* what polling it has cost it, estimated: at most its budget */
	/*
	 * The process may die between any two stores.  ending_gen: the invocation being
	 * ended now, 0: none; what is newer in its block has ended, though it still is in
	 * struct ldb_stack.  ending_seen: the number of FUNC records that
	 * is right as soon as its own is in a ring.
	 */
	__u64	ending_gen, ending_seen;
	/* observed invocations that were not written because the thread was in no request */
	__u64	outside_requests;
	__u64	pad2;
	/*
	 * Kernel module.  k_seq counts: odd while the thread is on a CPU, even
	 * while it is not, 0 while that is not known.  Two equal even values mean
	 * that the thread did not run in between, not for one instruction.
	 */
	__u32	k_seq;
	__u32	k_oncpu;
	__u32	k_cpu;
	__u32	k_tid;		/* as the program sees it; 0: no thread is registered */
	__u64	k_tsc_in, k_tsc_out; /* last switches */
	__u64	k_nvcsw, k_nivcsw; /* switches out: of its own will, preempted */
	__u64	k_runtime;	/* on a CPU, up to k_tsc_out */
	__u64	k_slot_gen;	/* how many threads were registered with this page */
	/* the innermost frame at the last switch out: as in ldb_switch_rec */
	__u64	k_gen, k_top, k_pc;
	__u64	pad3[469];
};

enum ldb_page_state {
	LDB_PAGE_FREE	= 0,
	LDB_PAGE_LIVE	= 1,
	/* final values; the slot may be reused after THREAD_EXIT was read */
	LDB_PAGE_EXITED	= 2,
};

/* What the scanner knows of a thread's stack, outermost frame first. */
struct ldb_stack_frame {
	__u64	gen;		/* generation << 16 | block number */
	__u64	addr;		/* address of the frame record */
	__u64	pc, ret;
	__u64	start_min, start_max;
	__u64	last_seen;	/* end_min: it was alive at this time */
	__u32	flags;		/* LDB_FUNC_F_FROM_START, LDB_FUNC_F_RESUMED */
	__u32	in_request;	/* its thread worked on a request when it was first observed */
};

struct ldb_stack {
	__u32	depth;		/* written after the frames it covers */
	__u32	pad[15];
	struct ldb_stack_frame frame[LDB_STACK_MAX];
};

struct ldb_scan_stats {		/* one line pair per scanner, in the info page */
	__u64	rounds, looks, changes, scans, invalid, frames, gaps, gap_tsc;
	__u64	busy_tsc, paused_tsc;
	/* polls that found a change and read no stack */
	__u64	moving;
	__u64	cost_tsc;		/* of ldb_page.cost_tsc, this scanner's part */
	__u64	pages;			/* thread pages and ring headers touched */
	__u64	handed;			/* threads given to another scanner */
	__u64	pad[2];
};

#define LDB_MAX_SCANNERS	4

/* Why what a program read or wrote is part of no request (ldb-record --request=socket). */
enum ldb_socket_left {
	LDB_SOCKET_LEFT_BUSY,	/* another thread, or what a signal had interrupted, used the connection */
	LDB_SOCKET_LEFT_TABLE,	/* too many descriptors, or no memory */
	LDB_SOCKET_LEFT_UNREAD,	/* written to a connection of which nothing had been read */
	LDB_SOCKET_LEFT_NR,
};

struct ldb_info {
	__u32	magic, abi;
	__u32	nr_cpus, nr_rings, nr_scanners, ring_order;
	__u32	scan_ring_order;	/* order of the rings after nr_cpus */
	__u32	max_threads;
	__u32	clock_id;		/* enum ldb_clock */
	__u32	flags;
	__u64	pages_off, page_stride;
	__u64	stacks_off, stack_stride;
	__u64	rings_off, ring_stride;
	__u64	scan_rings_off, scan_ring_stride;
	__u64	total_size;
	__u64	tsc_hz;			/* cycles per second of the clock; 1e9 for MONO */
	/* written by the runtime */
	__u64	attach_tsc;
	__u64	unwatched_threads;	/* no page left, or never registered */
	__u64	unwatched_events;	/* events of threads without a page */
	/* LDB_INFO_F_SPLIT: kernel events of CPU n are in ring n here; not in total_size */
	__u64	kernel_rings_off, kernel_ring_stride;
	__u64	pages_used;		/* by the runtime: no page from here on was; 0: not known */
	/* by the runtime, which makes requests from connections: events left out, LDB_SOCKET_LEFT_* */
	__u64	socket_left[LDB_SOCKET_LEFT_NR];
	__u64	forks;			/* by the runtime: how often the program called fork() */
	/* by the runtime: rings of io_uring that it followed, and what it could not follow in them */
	__u64	urings, uring_left;
	__u64	pad[3];
	struct ldb_scan_stats scan[LDB_MAX_SCANNERS];
};

/* ldb_info.flags */
#define LDB_INFO_F_KERNEL	0x1	/* the module provides the session: expect 0x4xx events */
#define LDB_INFO_F_SPLIT	0x2	/* kernel events have rings of their own */

/*
 * The device, /dev/ldb.  Documentation/ldb.4 is the manual.
 *
 * Each open file can hold one session:
 *
 *	fd = open("/dev/ldb", O_RDWR | O_CLOEXEC)
 *	ioctl(fd, LDB_IOC_CREATE, &create)	makes the memory, zeroed except for the
 *						info page, and chooses the clock
 *	mmap(create.total_size, fd, 0)		the area described at the head
 *
 * Which threads are watched:
 *
 *	create.pid 0	the thread group that calls LDB_IOC_JOIN on the file, which
 *			it got from the recorder over a socket.  No privilege is
 *			needed: the program itself agrees, and is one that the
 *			creator could ptrace.  All its threads are watched.  The
 *			session is dead after the program's exec().
 *	create.pid > 0	that thread group, for good, exec() included; kernel events
 *			alone.  Needs CAP_PERFMON or CAP_SYS_ADMIN.
 *
 * A thread group is in one session at most.  A thread that was registered
 * (LDB_IOC_REG) has a page: its k_ fields are always up to date and its switches
 * carry the innermost frame.  A page has one thread: registering another one
 * with it ends the first registration, as does the thread's exit.
 *
 * The memory can be mapped by the process that created the session and by the one that joined
 * it, MAP_SHARED, not executable; no other.  A fork child that inherits a mapping reads and
 * writes memory that no other process can access.  An access outside the area raises SIGBUS.
 * The module trusts nothing that can be written through a mapping.  With LDB_CREATE_F_SPLIT the
 * kernel's events have rings that can only be mapped read-only and by the process that created
 * the session, nr_cpus x kernel_ring_stride bytes at kernel_rings_off: so a recorder with
 * CAP_PERFMON does not disclose to the program what that may not know.
 *
 * poll() returns POLLIN when a quarter of a ring was filled with kernel events since the last
 * poll() that said so, and POLLHUP when the session is dead: the thread group has ended, or its
 * exec() ended the session.
 *
 * Threads outside the group appear only as far as the group's own scheduling
 * concerns them, and without CAP_PERFMON (of the creator) as tid 0 with
 * LDB_SCHED_F_HIDDEN and no name.
 *
 * The last close of the file, by the recorder and by the program, and the last
 * munmap() end the session.
 *
 * Errors: EINVAL an invalid argument or a size this module does not know; EPERM; EBUSY the file
 * has a session already, or the session has its program; EEXIST the thread group is in another
 * session; ENOMEM, for one over RLIMIT_MEMLOCK, with total_size set; EDQUOT over the module's
 * max_mb or max_sessions; ESRCH no such process or thread; ENXIO no session, or not joined;
 * ENOTTY not an ioctl of this version.
 */
#define LDB_DEVICE		"/dev/ldb"
#define LDB_DEVICE_ABI		1

/* ldb_create.events: what is recorded */
/* switches, wake-ups, migrations, and the names of tasks */
#define LDB_GROUP_SCHED		0x1
#define LDB_GROUP_FUTEX		0x2	/* FUTEX_WAIT, FUTEX_WAKE */
#define LDB_GROUP_PROCESS	0x4	/* FORK, EXEC, EXIT */
#define LDB_GROUP_FAULT		0x8	/* FAULT */
#define LDB_GROUP_IRQ		0x10	/* IRQ, IRQ_NAME */
#define LDB_GROUP_CALL		0x20	/* SYSCALL, SYSCALL_FD of threads that sleep in one */
/* of all others, too, that last long enough; needs CAP_PERFMON, else it is not delivered */
#define LDB_GROUP_CALL_ALL	0x40
#define LDB_GROUP_DISK		0x80	/* DISK */
#define LDB_GROUP_ALL		0xff
#define LDB_GROUP_THIRD		0x7f
#define LDB_GROUP_SECOND	0x1f	/* those that later ones knew */
#define LDB_GROUP_FIRST		0x7	/* those that the first modules of this ABI knew */

#define LDB_CREATE_F_SPLIT	0x1

struct ldb_create {
	__u32	size;		/* sizeof(struct ldb_create) */
	__u32	flags;		/* LDB_CREATE_F_* */
	__s32	pid;
	__u32	events;		/* in: LDB_GROUP_*; out: those that will be delivered */
	__u32	ring_order;	/* 8 .. 20 */
	__u32	scan_ring_order; /* 8 .. 24 */
	__u32	nr_scanners;	/* 0 .. LDB_MAX_SCANNERS */
	__u32	max_threads;	/* 1 .. 4096 */
	__u32	clock_id;	/* in: 0, or what it must be; out: what it is */
	__u32	pad;		/* 0 */
	__u64	total_size;	/* out, also with ENOMEM */
};

struct ldb_reg {
	__u32	tid;		/* as the caller sees it; of the joined thread group */
	__u32	slot;		/* page */
	__u32	block;		/* number put into the low 16 bits of gen */
	__u32	pad;		/* 0 */
	__u64	tls;		/* address of the thread's struct ldb_thread; 0: none */
};

/* What is recorded of system calls; without this ioctl the number and the first argument. */
#define LDB_CALLS_MAX		1024	/* a power of two */
#define LDB_CALL_HAS_FD		0x8	/* its first argument is a descriptor */
struct ldb_calls {
	__u64	min_ns;		/* CALL_ALL: shorter ones are only counted */
	__u8	how[LDB_CALLS_MAX]; /* by number: LDB_SYSCALL_ARG() | LDB_CALL_HAS_FD */
};

/*
 * What is read of threads that leave their CPU or are interrupted by its timer: without this ioctl
 * the innermost frame of those that leave, else their whole chains (LDB_EV_FRAME).  The creator
 * calls it again and again: each call also says that what was in the rings at the last but one was
 * read, and readings stop where a ring has little room left, before events would be lost.
 */
#define LDB_CHAIN_BLOCKS_MAX	8
struct ldb_chains {
	__u32	nr_blocks;	/* of each thread; 0: chains are not read */
	__u32	share;		/* readings may take 1/share of a thread's time; 0: all of it */
	__u64	tick_ns;	/* the least time between two readings by the timer */
	__s64	offset[LDB_CHAIN_BLOCKS_MAX]; /* of block n, from a thread's pointer */
	/*
	 * The module returns these sums over all CPUs since the session was created, in units of
	 * its clock: the time of readings of threads that left their CPU, and of threads that were
	 * interrupted; the number of the latter; and for how long, at most, CPUs were idle between
	 * threads of the session, because it is not known whether other programs ran in between.
	 */
	__u64	switches, samples, nr_samples, idle;
};

struct ldb_clock_sample {	/* all at one moment */
	__u64	clock;		/* of the session */
	__u64	raw_ns, mono_ns, real_ns;
	__u64	err;		/* in units of clock: how far they may be apart */
};

struct ldb_session_stats {
	__u64	events;		/* kernel events written, in slots */
	__u64	hidden;		/* events in which a tid was hidden */
	__u64	unreadable;	/* switches at which the frame could not be read */
	__u32	threads;	/* registered now */
	__u32	dead;		/* 1: see poll() */
};

#define LDB_IOC_ABI	_IO('L', 0)	/* returns LDB_DEVICE_ABI */
#define LDB_IOC_CREATE	_IOWR('L', 1, struct ldb_create)
#define LDB_IOC_JOIN	_IO('L', 2)	/* by the program, any of its threads */
#define LDB_IOC_REG	_IOW('L', 3, struct ldb_reg)
#define LDB_IOC_UNREG	_IOW('L', 4, __u32)	/* tid */
#define LDB_IOC_CLOCK	_IOR('L', 5, struct ldb_clock_sample)
#define LDB_IOC_STATS	_IOR('L', 6, struct ldb_session_stats)
#define LDB_IOC_CALLS	_IOW('L', 7, struct ldb_calls)	/* by the creator */
#define LDB_IOC_CHAINS	_IOWR('L', 8, struct ldb_chains) /* by the creator */
/*
 * By the creator; argument 1: from here on there are no events except those of LDB_GROUP_PROCESS, and
 * nothing is read of threads; 0: all events come again, and the threads that there are are named again.
 * Returns the LDB_GROUP_* that do not come again, because the kernel does not deliver them any more;
 * another resume tries it again.  EPERM also if it would interrupt isolated CPUs.  Modules of earlier
 * releases do not know it.
 */
#define LDB_IOC_PAUSE	_IO('L', 9)

#ifndef __KERNEL__
_Static_assert(sizeof(struct ldb_ring_hdr) == LDB_RING_HDR_SIZE, "one page");
_Static_assert(sizeof(struct ldb_page) == LDB_PAGE_SIZE, "one page");
_Static_assert(sizeof(struct ldb_stack) == 65536 - 0, "64 KiB");
_Static_assert(sizeof(struct ldb_info) <= LDB_PAGE_SIZE, "one page");
#endif

#endif /* _UAPI_LINUX_LDB_H */
