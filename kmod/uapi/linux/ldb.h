/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/*
 * This is contract A of ldb: the event buffers shared by the program, the kernel module and the
 * recorder.
 *
 * A session is one recording of one program.  Its events are in one memory area, which the recorder
 * (a memfd) or the module (/dev/ldb) provides.  Both lay it out in the same way, and a reader takes
 * every offset from the info page:
 *
 *	info page	one struct ldb_info; written by the provider and, where this is said,
 *			by the runtime
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
 * A writer never waits.  It reads nothing that the reader writes.  The mask comes from the writer's
 * private copy of ring_order, never from shared memory, so a writer stays inside the ring whatever
 * value head has.
 *
 * Reading: slot idx is valid if and only if its commit word equals (u32)(idx + 1) ^ hash.  If head
 * - pos (pos: the next slot to read) exceeds the ring's size, the excess is the exact number of
 * overwritten slots.  The reader must not wait for a slot that is reserved and not yet committed,
 * because a killed writer never commits it.  Records of one ring are nearly, but not exactly, in
 * time order.  So the reader holds back the latest records and sorts them.
 *
 * Memory order: commit is stored with release, and loaded with acquire before the rest of the slot;
 * if the slot is overwritten in between, its hash does not match commit.  head needs no order.  On
 * x86-64 plain stores and loads suffice (the BPF programs, which have no release, depend on this);
 * other CPUs need the instructions.  In struct ldb_page and struct ldb_stack, the word whose
 * comment says "last" or "after" is stored and loaded in the same way.  k_seq is a sequence
 * counter; its comment describes it.  The functions for all these accesses are in libldb/order.h,
 * tools/record/session/order.h, kmod/order.h, ring.h and stamp.h.
 *
 * All times are in the session's clock (enum ldb_clock).
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
	LDB_CLOCK_TSC	= 1,	/* rdtsc, where the kernel considers the TSC reliable */
	LDB_CLOCK_MONO	= 2,	/* CLOCK_MONOTONIC, nanoseconds */
};

struct ldb_ring_hdr {
	__u64	head;		/* writers: next index to reserve */
	__u64	pad0[7];
	/* kernel module: which thread runs on this CPU */
	/* number of that thread's page + 1; 0: it has no page, or no observed thread runs */
	__u32	k_slot;
	__u32	k_tid;
	__u64	pad1[503];
};

/*
 * Each registered thread has a page.  The thread itself (the runtime) writes cache lines 0 and 1,
 * the scanner lines 2 and 3, the kernel module lines 4 and 5.  The recorder only reads the page,
 * and must expect any value.
 */
struct ldb_page {
	/* written by the runtime when the thread registers; state is written last */
	__u32	state;		/* enum ldb_page_state */
	__u32	tid;
	__u64	stack_lo, stack_hi;
	__u64	tp;		/* thread pointer */
	__u64	start_tsc, exit_tsc;
	__u64	start_routine;
	__u64	pad0;
	char	name[16];	/* NUL-terminated */
	__u64	pad1[6];
	/* written by the scanner; when the thread exits, by the thread */
	__u64	made;		/* functions entered since the recording began */
	__u64	seen;		/* FUNC records written for this thread */
	__u64	looks_changed;	/* polls that found a change */
	__u64	scans;		/* complete, consistent readings of the chain of frame records */
	/* readings that were discarded because the thread changed the chain meanwhile */
	__u64	invalid;
	/* readings in which the innermost record was in no registered stack */
	__u64	foreign;
	__u64	too_deep;	/* frames ignored because the stack had more than LDB_STACK_MAX */
	__u64	disorder;	/* frame records rejected for their canary, order or generation */
	__u64	last_look_tsc;	/* the last poll at which the chain was known */
	__u64	gap_tsc;	/* total time in observation gaps of this thread */
	/* observed invocations that were not written because they are too short (func_threshold) */
	__u64	below_threshold;
	__u64	cost_tsc;	/* estimated time that polling has cost the thread */
	/*
	 * These let the recorder count correctly if the process dies between two stores.
	 * ending_gen: the invocation whose end is being written, 0: none; newer invocations of
	 * its block have ended, although they are still in struct ldb_stack.  ending_seen: the
	 * count of FUNC records that is right as soon as the record of this invocation is in a
	 * ring.
	 */
	__u64	ending_gen, ending_seen;
	/* observed invocations that were not written because the thread was in no request */
	__u64	outside_requests;
	__u64	pad2;
	/*
	 * Kernel module.  k_seq counts: odd while the thread is on a CPU, even while it is not, 0
	 * while that is not known.  If two reads give the same even value other than 0, the thread
	 * did not execute a single instruction in between.
	 */
	__u32	k_seq;
	__u32	k_oncpu;
	__u32	k_cpu;
	__u32	k_tid;		/* as the program sees it; 0: no thread is registered */
	__u64	k_tsc_in, k_tsc_out; /* when the thread was last switched in, and out */
	__u64	k_nvcsw, k_nivcsw; /* voluntary and involuntary context switches */
	__u64	k_runtime;	/* total time on a CPU, up to k_tsc_out */
	__u64	k_slot_gen;	/* how many threads have been registered with this page */
	/* the innermost frame when the thread last left a CPU, as in ldb_switch_rec */
	__u64	k_gen, k_top, k_pc;
	__u64	pad3[469];
};

enum ldb_page_state {
	LDB_PAGE_FREE	= 0,
	LDB_PAGE_LIVE	= 1,
	/* the values are final; the page may be reused after THREAD_EXIT was read */
	LDB_PAGE_EXITED	= 2,
};

/* A frame of a thread's stack that the scanner knows.  The outermost frame comes first. */
struct ldb_stack_frame {
	__u64	gen;		/* generation << 16 | block number */
	__u64	addr;		/* address of the frame record */
	__u64	pc, ret;
	__u64	start_min, start_max;
	__u64	last_seen;	/* the invocation was still running at this time */
	__u32	flags;		/* LDB_FUNC_F_FROM_START, LDB_FUNC_F_RESUMED */
	__u32	in_request;	/* when first observed, the thread worked on a request */
};

struct ldb_stack {
	__u32	depth;		/* written after the frames it covers */
	__u32	pad[15];
	struct ldb_stack_frame frame[LDB_STACK_MAX];
};

struct ldb_scan_stats {		/* two cache lines of the info page for each scanner */
	/*
	 * rounds over the threads; polls; polls that found a change; scans and invalid as in struct
	 * ldb_page; new frame records read; observation gaps that concern all threads of the
	 * scanner, and their total time
	 */
	__u64	rounds, looks, changes, scans, invalid, frames, gaps, gap_tsc;
	__u64	busy_tsc, paused_tsc;
	/* polls that found a change, after which the chain was not read */
	__u64	moving;
	__u64	cost_tsc;		/* this scanner's part of the cost_tsc of all threads */
	__u64	pages;			/* thread pages and ring headers touched */
	__u64	handed;			/* threads handed over to another scanner */
	__u64	pad[2];
};

#define LDB_MAX_SCANNERS	4

/* Why a read or write on a connection was assigned to no request (ldb-record --request=socket). */
enum ldb_socket_left {
	/* another thread, or code that a signal handler interrupted, was using the connection */
	LDB_SOCKET_LEFT_BUSY,
	LDB_SOCKET_LEFT_TABLE,	/* too many descriptors, or no memory */
	LDB_SOCKET_LEFT_UNREAD,	/* written to a connection before anything was read from it */
	LDB_SOCKET_LEFT_NR,
};

struct ldb_info {
	__u32	magic, abi;
	__u32	nr_cpus, nr_rings, nr_scanners, ring_order;
	__u32	scan_ring_order;	/* ring_order of the scanners' rings */
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
	/* threads for which no page was left, or that never registered */
	__u64	unobserved_threads;
	__u64	unobserved_events;	/* events of threads without a page */
	/*
	 * LDB_INFO_F_SPLIT: where the rings of the kernel's events begin, one for each CPU;
	 * total_size does not include them
	 */
	__u64	kernel_rings_off, kernel_ring_stride;
	/* written by the runtime: */
	/* pages with this number or a higher one were never used; 0: not known */
	__u64	pages_used;
	/*
	 * numbers of reads and writes on connections that belong to no request, by
	 * LDB_SOCKET_LEFT_*
	 */
	__u64	socket_left[LDB_SOCKET_LEFT_NR];
	__u64	forks;			/* how often the program called fork() */
	/*
	 * how many io_uring instances were followed; how often an instance or an operation could
	 * not be followed
	 */
	__u64	urings, uring_left;
	__u64	pad[3];
	struct ldb_scan_stats scan[LDB_MAX_SCANNERS];
};

/* ldb_info.flags */
/* the module provides the session, and writes 0x4xx events */
#define LDB_INFO_F_KERNEL	0x1
#define LDB_INFO_F_SPLIT	0x2	/* kernel events have rings of their own */

/*
 * The device, /dev/ldb.  Documentation/ldb.4 is the manual.
 *
 * Each open file can hold one session:
 *
 *	fd = open("/dev/ldb", O_RDWR | O_CLOEXEC)
 *	ioctl(fd, LDB_IOC_CREATE, &create)	makes the memory, zeroed except for the
 *						info page, and chooses the clock
 *	mmap(create.total_size, fd, 0)		the area described above
 *
 * Which threads are observed:
 *
 *	create.pid 0	the thread group that calls LDB_IOC_JOIN on the file, which
 *			it got from the recorder over a socket.  No privilege is
 *			needed, because the program joins by its own call, and the
 *			creator must be permitted to ptrace it, or have CAP_PERFMON.
 *			All its threads are observed.  The program's exec() ends the
 *			session.
 *	create.pid > 0	that thread group, also after its exec(); kernel events
 *			alone.  Needs CAP_PERFMON or CAP_SYS_ADMIN.
 *
 * A thread group is in one session at most.  A thread that was registered (LDB_IOC_REG) has a page.
 * The module keeps the page's k_ fields up to date, and the thread's switch events contain its
 * innermost frame.  A page has at most one thread.  The registration ends by LDB_IOC_UNREG, when the
 * thread exits or is registered with another page, when another thread is registered with the same
 * page, or when the session is dead.
 *
 * Only the process that created the session and the process that joined it can map the memory, with
 * MAP_SHARED and not executable.  In a fork child that inherits a mapping, the mapping shows other
 * memory that no other process can access.  An access outside the area raises SIGBUS.  The module
 * trusts nothing that can be written through a mapping.  With LDB_CREATE_F_SPLIT the kernel's
 * events have rings of their own (nr_cpus x kernel_ring_stride bytes at kernel_rings_off), which
 * only the process that created the session can map, read-only: so the program cannot read events
 * that only a recorder with CAP_PERFMON may read.
 *
 * poll() returns POLLIN when kernel events have filled another quarter of a ring since the last
 * poll() that returned POLLIN, POLLHUP when the session is dead (the thread group has ended, or its
 * exec() ended the session), and POLLERR if the file has no session.
 *
 * A thread outside the group appears only in events about the group's scheduling, for example
 * because it ran before or after one of the group's threads, as the child in LDB_EV_FORK, or, if it
 * is a kernel thread, in LDB_EV_DISK.  If the creator lacks CAP_PERFMON, such a thread has tid 0,
 * LDB_SCHED_F_HIDDEN and no name, and has no LDB_EV_DISK.
 *
 * The session ends when both the recorder and the program have closed the file and
 * unmapped the memory.
 *
 * Errors: EINVAL an invalid argument or a size this module does not know; EPERM a missing
 * permission; EBUSY the file has a session already, or a program has already joined it; EEXIST the
 * thread group is in another session; ENOMEM there is no memory, or RLIMIT_MEMLOCK is exceeded
 * (LDB_IOC_CREATE then sets total_size); EDQUOT the module's max_mb, max_sessions or
 * max_user_sessions is exceeded; ESRCH no such process or thread; ENXIO no session, or not joined,
 * or dead; ENOTTY not an ioctl of this version.
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
/* SYSCALL, SYSCALL_FD of system calls and page faults in which a thread sleeps */
#define LDB_GROUP_CALL		0x20
/*
 * SYSCALL events of all calls that take at least ldb_calls.min_ns; delivered only with CAP_PERFMON
 */
#define LDB_GROUP_CALL_ALL	0x40
#define LDB_GROUP_DISK		0x80	/* DISK */
#define LDB_GROUP_ALL		0xff
/* the groups that older modules of this ABI support: the third, the second and the first version */
#define LDB_GROUP_THIRD		0x7f
#define LDB_GROUP_SECOND	0x1f
#define LDB_GROUP_FIRST		0x7

#define LDB_CREATE_F_SPLIT	0x1

struct ldb_create {
	__u32	size;		/* sizeof(struct ldb_create) */
	__u32	flags;		/* LDB_CREATE_F_* */
	__s32	pid;
	/* in: LDB_GROUP_*; out: the groups that will be delivered */
	__u32	events;
	__u32	ring_order;	/* 8 .. 20 */
	__u32	scan_ring_order; /* 8 .. 24 */
	__u32	nr_scanners;	/* 0 .. LDB_MAX_SCANNERS */
	__u32	max_threads;	/* 1 .. 4096 */
	/* in: enum ldb_clock, 0: the module chooses; out: the session's clock */
	__u32	clock_id;
	__u32	pad;		/* 0 */
	/*
	 * out: number of bytes to map; with ENOMEM: size of the memory that the session would have
	 * needed, including all rings
	 */
	__u64	total_size;
};

struct ldb_reg {
	/* a thread of the joined thread group, as the caller's pid namespace numbers it */
	__u32	tid;
	__u32	slot;		/* number of the page */
	__u32	block;		/* number that events have in the low 16 bits of gen */
	__u32	pad;		/* 0 */
	__u64	tls;		/* address of the thread's struct ldb_thread; 0: none */
};

/*
 * Says what is recorded about system calls.  Without this ioctl, their numbers and first arguments
 * are recorded.
 */
#define LDB_CALLS_MAX		1024	/* a power of two */
#define LDB_CALL_HAS_FD		0x8	/* its first argument is a descriptor */
struct ldb_calls {
	__u64	min_ns;		/* LDB_GROUP_CALL_ALL: shorter calls are only counted */
	__u8	how[LDB_CALLS_MAX]; /* by number: LDB_SYSCALL_ARG() | LDB_CALL_HAS_FD */
};

/*
 * Makes the module read the chain of frame records (LDB_EV_FRAME) of a thread that leaves its CPU
 * or is interrupted by the CPU's timer, down to the first frame that was emitted before, and the
 * whole chain about once a second.  Without this ioctl only the innermost frame of a thread that
 * leaves its CPU is read.  The creator must repeat the call: a call also confirms that the events
 * that were in the rings at the previous call have been read.  On a CPU whose ring is half full of
 * unconfirmed events, the module stops reading chains in the timer's interrupts, and at three
 * quarters also at switches.
 */
#define LDB_CHAIN_BLOCKS_MAX	8
struct ldb_chains {
	__u32	nr_blocks;	/* thread blocks of each thread; 0: chains are not read */
	/*
	 * readings at switches may take 1/share of a thread's time, and those in the timer's
	 * interrupts as much; 0: no limit
	 */
	__u32	share;
	__u64	tick_ns;	/* least time between two readings of a thread in interrupts */
	__s64	offset[LDB_CHAIN_BLOCKS_MAX]; /* offset of block n from the thread pointer */
	/*
	 * The module returns these sums over all CPUs since the session was created.  Times are in
	 * units of the session's clock.  switches: the time that reading chains took at switches;
	 * samples: the same in interrupts of the timer; nr_samples: the number of these readings;
	 * idle: an upper bound of the time in which CPUs were idle between threads of the session
	 * (other programs may have run, too).
	 */
	__u64	switches, samples, nr_samples, idle;
};

struct ldb_clock_sample {	/* the values of several clocks at the same time */
	__u64	clock;		/* the session's clock */
	__u64	raw_ns, mono_ns, real_ns;
	/* time between the first and the last of these readings, in units of clock */
	__u64	err;
};

struct ldb_session_stats {
	__u64	events;		/* slots that kernel events took */
	__u64	hidden;		/* events in which a tid was hidden */
	__u64	unreadable;	/* failed readings of a thread's frames */
	__u32	threads;	/* how many are registered now */
	__u32	dead;		/* 1: the session is dead, as described at poll() */
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
 * The creator calls this.  Argument 1 pauses: only events of LDB_GROUP_PROCESS are written, and no
 * chains are read.  Argument 0 resumes: all events are written again, and LDB_EV_TASK names each
 * existing thread again.  The call returns the LDB_GROUP_* that could not be resumed, because the
 * kernel no longer delivers them; the creator can call it again to try again.  EPERM is also
 * returned if resuming would interrupt isolated CPUs.  Modules of earlier releases do not have this
 * ioctl.
 */
#define LDB_IOC_PAUSE	_IO('L', 9)

#ifndef __KERNEL__
_Static_assert(sizeof(struct ldb_ring_hdr) == LDB_RING_HDR_SIZE, "one page");
_Static_assert(sizeof(struct ldb_page) == LDB_PAGE_SIZE, "one page");
_Static_assert(sizeof(struct ldb_stack) == 65536 - 0, "64 KiB");
_Static_assert(sizeof(struct ldb_info) <= LDB_PAGE_SIZE, "one page");
#endif

#endif /* _UAPI_LINUX_LDB_H */
