/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/*
 * Describes the slots of the rings of linux/ldb.h.  The slots contain events of the program, of
 * ldb's runtime in the program, and of the kernel.  An event has one slot, or several consecutive
 * ones.
 */
#ifndef _UAPI_LINUX_LDB_RECORDS_H
#define _UAPI_LINUX_LDB_RECORDS_H

#include <linux/types.h>

/*
 * Event types.  Numbers are never reused.  The comment of each type says what arg and arg2 mean.  A
 * "site" is a code address: the return address of the call that caused the event.
 *
 * Events of more than one slot: the following slots have type LDB_EV_CONT + k
 * (k = 1, 2, ...), and their other fields, except commit, are payload.
 */
enum ldb_event {
	/* 0x1xx: threads and functions */
	LDB_EV_THREAD_START	= 0x101, /* arg: start routine, arg2: tid of the creator */
	LDB_EV_THREAD_EXIT	= 0x102, /* arg: page slot, arg2: 0 */
	LDB_EV_FUNC		= 0x110, /* 3 slots, see struct ldb_func_rec */
	/* an observation gap; tid 0: a gap of all threads of this scanner; tsc: end, arg: begin */
	LDB_EV_GAP		= 0x111,
	LDB_EV_SCHEDSTAT	= 0x112, /* 2 slots, see struct ldb_schedstat_rec */
	/* a long call of a function in another module; 2 slots, see struct ldb_flow_rec */
	LDB_EV_FLOW_CALL	= 0x113,
	/* 0x2xx: locks and other waits, recorded by libldb's wrappers; see struct ldb_lock_rec */
	LDB_EV_LOCK_WAIT	= 0x201, /* 2 slots; tsc: end of the wait */
	LDB_EV_LOCK_HOLD	= 0x202, /* 2 slots; tsc: the unlock */
	/* 0x3xx: requests; 2 slots, see struct ldb_req_rec */
	LDB_EV_REQ_START	= 0x301,
	LDB_EV_REQ_BLOCK	= 0x302,
	LDB_EV_REQ_END		= 0x303,
	LDB_EV_REQ_END_ALL	= 0x304,
	LDB_EV_REQ_CLASS	= 0x305, /* arg: id; name in the payload, see struct ldb_req_rec */
	LDB_EV_REQ_LINK		= 0x306, /* arg: id; W3C ids in the payload */
	/* arg: id; the request had been waiting in a queue before tsc; its START event follows */
	LDB_EV_REQ_ARRIVED	= 0x307,
	/*
	 * arg: id; payload: a key, then a text (3 slots), or a number of 8 bytes (2 slots).  See
	 * LDB_PAYLOAD().
	 */
	LDB_EV_REQ_NOTE		= 0x308,
	LDB_EV_REQ_NUMBER	= 0x309,
	LDB_EV_MARK		= 0x30a, /* 2 slots; arg: a number; payload: 28 bytes of name */
	/*
	 * 3 slots; tsc: when the message began to be sent, or was received; arg: id; flags:
	 * LDB_MESSAGE_F_*; payload: struct ldb_message
	 */
	LDB_EV_REQ_MESSAGE	= 0x30b,
	/*
	 * 0x4xx: kernel events, written by the module or by the recorder's BPF programs.  Ring n
	 * holds those of CPU n, each stamped on that CPU.  tids are as the program sees them; 0:
	 * the idle task, or a hidden task (LDB_SCHED_F_HIDDEN).
	 */
	/*
	 * tid: task that left the CPU, arg2: task that runs next; at least one of them is observed.
	 * arg: ns of steal time of this CPU while the next task waited for it; 0: none, or not
	 * known (the module does not know it)
	 */
	LDB_EV_SWITCH		= 0x401,
	/* 2 slots, see struct ldb_switch_rec; tid is observed: has a page, or its chain was read */
	LDB_EV_SWITCH_OUT	= 0x402,
	/* as SWITCH, but neither task is observed, and an observed thread waits for this CPU */
	LDB_EV_RUNNING		= 0x403,
	LDB_EV_WAKING		= 0x404, /* tid: waker, arg2: woken; on the waker's CPU */
	/* tid: woken and runnable, arg2: the task that runs on its CPU, arg: that CPU */
	LDB_EV_WAKEUP		= 0x405,
	LDB_EV_MIGRATE		= 0x406, /* tid, arg: from CPU, arg2: to CPU */
	/*
	 * 3 slots, see struct ldb_frame_rec; written before the SWITCH_OUT, or the FRAME with
	 * LDB_FRAME_F_DONE, that has the same tsc and tid
	 */
	LDB_EV_FRAME		= 0x407,
	LDB_EV_FUTEX_WAIT	= 0x410, /* 2 slots, see struct ldb_futex_rec */
	/* tid, arg: address, arg2: how many threads are woken at most; flags: LDB_FUTEX_* */
	LDB_EV_FUTEX_WAKE	= 0x411,
	/* tid: parent, arg2: child, arg: thread group of the child */
	LDB_EV_FORK		= 0x420,
	LDB_EV_EXEC		= 0x421, /* tid, arg2: the thread's tid before the exec() */
	LDB_EV_EXIT		= 0x422, /* tid, arg: 1: the last of its thread group */
	LDB_EV_TASK		= 0x423, /* 2 slots, see struct ldb_task_rec: names a tid */
	LDB_EV_FAULT		= 0x430, /* 2 slots, see struct ldb_fault_rec */
	/* tid: the interrupted thread, arg: begin, arg2: see enum ldb_irq_kind; flags: LDB_IRQ_* */
	LDB_EV_IRQ		= 0x431,
	LDB_EV_IRQ_NAME		= 0x432, /* 2 slots, see struct ldb_irq_name_rec: names a line */
	/*
	 * 2 slots, see struct ldb_syscall_rec; SYSCALL_FD has a third slot with the descriptor's
	 * name
	 */
	LDB_EV_SYSCALL		= 0x433,
	LDB_EV_SYSCALL_FD	= 0x434,
	LDB_EV_DISK		= 0x435, /* 2 slots, see struct ldb_disk_rec */
	/* 0xExx: continuation slots */
	LDB_EV_CONT		= 0xe00,
	/* 0xFxx: the trace itself */
	LDB_EV_LOST		= 0xf01, /* arg: number of records lost, arg2: ring */
};

/* What kind of lock or wait a lock event is about: bits 0-7 of its flags. */
enum ldb_lock_kind {
	LDB_LOCK_MUTEX		= 1,
	LDB_LOCK_RWLOCK_RD	= 2,
	LDB_LOCK_RWLOCK_WR	= 3,
	LDB_LOCK_SPIN		= 4,
	LDB_LOCK_COND		= 5,	/* wait only */
	LDB_LOCK_SEM		= 6,	/* wait only */
	LDB_LOCK_BARRIER	= 7,	/* wait only */
	LDB_LOCK_JOIN		= 8,	/* wait only; owner: the joined thread */
	LDB_LOCK_OWN		= 9,	/* of the program's own kind: ldb_lock_wait(3) */
};

#define LDB_LOCK_KIND(flags)	((flags) & 0xff)
#define LDB_LOCK_F_FAILED	0x0100	/* the wait ended without the lock (timeout, error) */
/* hold: begin is a time stamp; without this flag only gen says when the hold began */
#define LDB_LOCK_F_BEGIN_EXACT	0x0200

/* One slot: 32 bytes, aligned. */
struct ldb_rec {
	__u64	tsc;
	__u32	tid;	/* as the program sees it (gettid) */
	__u16	type;	/* enum ldb_event */
	__u16	flags;	/* by type */
	__u64	arg;
	__u32	arg2;
	__u32	commit;	/* written last */
};

/*
 * LDB_EV_FUNC: one invocation that has ended or, with LDB_FUNC_F_OPEN, was still running when the
 * recording ended.  The true start is in [start_max - start_unc, start_max], the true end in
 * [end_max - end_unc, end_max].  An uncertainty of 0xffffffff means that no lower bound is known.
 */
struct ldb_func_rec {
	/* slot 0 */
	__u64	end_max;
	__u32	tid;
	__u16	type;
	__u16	flags;		/* LDB_FUNC_F_* */
	__u64	pc;		/* an address in the function */
	__u32	end_unc;
	__u32	commit0;
	/* slot 1 */
	__u64	start_max;
	__u32	start_unc;
	__u16	cont1;
	__u16	depth;		/* 0: outermost instrumented frame */
	__u64	gen;		/* generation << 16 | number of the thread block */
	__u32	pad1;
	__u32	commit1;
	/* slot 2 */
	__u64	ret;		/* return address: the call site */
	__u32	pad2;
	__u16	cont2;
	__u16	pad3;
	__u64	parent_gen;	/* the gen of the calling instrumented frame; 0: none */
	__u32	pad4;
	__u32	commit2;
};

/* the invocation was still running: end_max is the time at which it was last observed */
#define LDB_FUNC_F_OPEN		0x0001
/* the invocation was running when the recording began: its start is not known */
#define LDB_FUNC_F_FROM_START	0x0002
/* with FROM_START: the function was resumed after a switch of stacks */
#define LDB_FUNC_F_RESUMED	0x0004

/*
 * LDB_EV_LOCK_WAIT and LDB_EV_LOCK_HOLD.  The wait or hold is the interval [begin, end].
 * A hold whose start has no time stamp (no LDB_LOCK_F_BEGIN_EXACT) has begin 0, and gen
 * bounds the start: the lock was taken after the function of that generation was entered
 * and before the next function was.
 */
struct ldb_lock_rec {
	/* slot 0 */
	__u64	end;
	__u32	tid;
	__u16	type;
	__u16	flags;		/* enum ldb_lock_kind | LDB_LOCK_F_* */
	__u64	lock;		/* address of the object */
	/*
	 * wait for a lock: tid of its holder at begin; for a condition, semaphore or barrier: tid
	 * of the last thread that ended such a wait (by a signal, a post, an arrival); 0: not known
	 */
	__u32	owner;
	__u32	commit0;
	/* slot 1 */
	__u64	begin;
	/*
	 * wait: gen - g + 1, where g is the generation of the innermost frame of the same thread
	 * block that had not returned at begin, or 0 if all had returned.  0: not known.
	 */
	__u32	nr_later;
	__u16	cont1;
	__u16	site_hi;	/* site: bits 32-47 */
	/* generation of the last frame entered before begin, as in ldb_func_rec; 0: not known */
	__u64	gen;
	__u32	site_lo;	/* site: bits 0-31 */
	__u32	commit1;
};

/* flags: the call had not returned when the recording ended */
#define LDB_FLOW_OPEN		0x0001

/* LDB_EV_FLOW_CALL: a call of a function in another module. */
struct ldb_flow_rec {
	/* slot 0 */
	__u64	end;
	__u32	tid;
	__u16	type;
	__u16	flags;
	__u64	start;
	__u32	api;		/* number in the dictionary of ldb/flows.h */
	__u32	commit0;
	/* slot 1 */
	__u64	site;		/* the return address */
	/* nr_later and gen are as in ldb_lock_rec, but at the end; 0: not known */
	__u32	nr_later;
	__u16	cont1;
	__u16	pad1;
	__u64	gen;
	__u32	pad2;
	__u32	commit1;
};

/* LDB_EV_REQ_*: arg is the request id. */
/* START: the first one of a request that was derived from a connection */
#define LDB_REQ_F_SOCKET	1

/* Queues of requests that are derived from connections; trace-format.h has the same numbers. */
#define LDB_QUEUE_UPSTREAM	1	/* the request waits for the answer of another server */
#define LDB_QUEUE_LOOP		2	/* the thread polls, or works on other requests */
#define LDB_QUEUE_UNREAD	3	/* the request is in the socket and has not been read */

struct ldb_req_rec {
	/* slot 0 */
	__u64	tsc;
	__u32	tid;
	__u16	type;
	__u16	flags;
	__u64	id;
	/*
	 * START, BLOCK, END, END_ALL: gen as in ldb_lock_rec, low half;
	 * CLASS: name bytes 0-3;  LINK: span id, low half
	 */
	__u32	payload0;
	__u32	commit0;
	/* slot 1 */
	/*
	 * START, BLOCK, ARRIVED: queue address or 0; CLASS: name bytes 4-11; LINK: trace
	 * id, high half
	 */
	__u64	queue;
	/*
	 * START, BLOCK, END, END_ALL: gen, high half;
	 * CLASS: name bytes 12-15;  LINK: span id, high half
	 */
	__u32	payload1;
	__u16	cont1;
	__u16	pad1;
	/*
	 * START, BLOCK: site; CLASS: name bytes 16-23; LINK: trace id, low half;
	 * ARRIVED: how long the request had been waiting, ns
	 */
	__u64	payload2;
	__u32	nr_later;	/* START, BLOCK, END, END_ALL: as in ldb_lock_rec */
	__u32	commit1;
};

/*
 * Number of payload bytes of REQ_NOTE, REQ_NUMBER, REQ_MESSAGE and MARK.  The bytes have the same
 * order as in memory; longer texts are cut, shorter ones padded with NUL.  The payload is in arg2
 * of the first slot, then in tsc, tid, arg and arg2 of each following slot.
 */
#define LDB_PAYLOAD(nr_slots)	(4 + 24 * ((nr_slots) - 1))
/*
 * Flags of LDB_EV_REQ_MESSAGE, which is about bytes that a TCP connection has transferred for a
 * request.  With F_SENT the request sent the bytes.  Without it the process received them: they
 * started the request or, with F_CLIENT, they answer it.
 */
#define LDB_MESSAGE_F_SENT	1
#define LDB_MESSAGE_F_CLIENT	2	/* this process opened the connection */
/*
 * An event with one of these two flags does not describe a message.  It says whether the runtime
 * has counted all bytes that this connection has sent (with F_SENT) or received (without F_SENT)
 * until now: its count agrees with the kernel's (RIGHT), or differs (WRONG).
 */
#define LDB_MESSAGE_F_RIGHT	4
#define LDB_MESSAGE_F_WRONG	8

/* The payload of MESSAGE. */
struct ldb_message {
	__u8	own[16], peer[16];	/* IPv6 addresses, or IPv4 addresses as ::ffff:a.b.c.d */
	/* position of the first byte in this direction of the connection */
	__u64	offset;
	__u16	own_port, peer_port;
	__u32	serial;			/* number of the connection, unique in the process */
	__u32	bytes;			/* length of the message */
} __attribute__((packed));

#define LDB_NOTE_KEY_BYTES	16
#define LDB_NOTE_TEXT_BYTES	36

/*
 * Flags of the events of LDB_GROUP_SCHED.  Bits 0-3 of a switch are the state in which
 * the task left its CPU.
 */
#define LDB_SCHED_STATE(flags)	((flags) & 0xf)
enum ldb_sched_state {
	LDB_STATE_RUNNING	= 0,	/* runnable: it was preempted, or yielded */
	LDB_STATE_SLEEPING	= 1,	/* S */
	LDB_STATE_DISK		= 2,	/* D */
	LDB_STATE_STOPPED	= 3,	/* T */
	LDB_STATE_TRACED	= 4,	/* t */
	LDB_STATE_DEAD		= 5,	/* X, Z */
	LDB_STATE_IDLE		= 6,	/* I, P */
	LDB_STATE_UNKNOWN	= 15,	/* only in SCHEDSTAT */
};

#define LDB_SCHED_F_PREEMPT	0x0010	/* SWITCH*, RUNNING: the kernel preempted the task */
#define LDB_SCHED_F_TID		0x0020	/* tid is an observed thread */
#define LDB_SCHED_F_OTHER	0x0040	/* arg2 is an observed thread */
/*
 * a tid is 0 because the task is hidden, not because it is the idle task: the creator lacks
 * CAP_PERFMON, or the task is outside of the program's PID namespace
 */
#define LDB_SCHED_F_HIDDEN	0x0080
/* WAKING: an interrupt woke the task, and tid is only the thread that the interrupt interrupted */
#define LDB_SCHED_F_HARDIRQ	0x0100
#define LDB_SCHED_F_SOFTIRQ	0x0200
#define LDB_SCHED_F_NEW		0x0400	/* WAKEUP: the first wake-up of a new task */
/*
 * SWITCH_OUT: the thread's chain was read just before; the FRAME events of this reading and of
 * earlier ones contain all of its frames
 */
#define LDB_SCHED_F_CHAIN	0x0800

/* LDB_EV_SWITCH_OUT: the innermost instrumented frame of the thread that left. */
struct ldb_switch_rec {
	/* slot 0: as LDB_EV_SWITCH */
	__u64	tsc;
	__u32	tid;
	__u16	type;
	__u16	flags;
	__u64	gen;		/* as in ldb_func_rec; 0: none, or it could not be read */
	__u32	next;
	__u32	commit0;
	/* slot 1 */
	__u64	top;		/* address of the frame's record */
	__u32	pad0;
	__u16	cont1;
	__u16	pad1;
	__u64	pc;		/* an address in the function */
	__u32	pad2;
	__u32	commit1;
};

/*
 * LDB_EV_FRAME: the kernel read the chain of frames of a thread that left its CPU, or that the
 * CPU's timer interrupted.  For each thread block that has changed, there is one event for each
 * frame that was entered since the last reading, the innermost first, and then one, with
 * LDB_FRAME_F_KNOWN, for the frame that called them.  All frames of the last reading that this
 * frame called, directly or indirectly, have returned.
 */
struct ldb_frame_rec {
	/* slot 0 */
	__u64	tsc;
	__u32	tid;
	__u16	type;
	__u16	flags;		/* LDB_FRAME_F_* */
	__u64	pc;		/* an address in the function */
	__u32	pad0;
	__u32	commit0;
	/* slot 1 */
	__u64	addr;		/* address of the frame's record */
	__u32	pad1;
	__u16	cont1;
	__u16	pad2;
	__u64	gen;		/* as in ldb_func_rec; KNOWN: generation 0 if there is no caller */
	__u32	pad3;
	__u32	commit1;
	/* slot 2 */
	__u64	ret;		/* return address: the call site */
	__u32	pad4;
	__u16	cont2;
	__u16	pad5;
	__u64	pad6;
	__u32	pad7;
	__u32	commit2;
};

#define LDB_FRAME_F_KNOWN	0x0001
/* an event with one of these flags describes no frame: */
/* all thread blocks were read, and the thread continues to run */
#define LDB_FRAME_F_DONE	0x0002
/* all frames of all thread blocks follow, not only new ones */
#define LDB_FRAME_F_ALL		0x0004

/* LDB_EV_FUTEX_WAIT: the thread is about to wait, if the word still has the expected value. */
struct ldb_futex_rec {
	/* slot 0 */
	__u64	tsc;
	__u32	tid;
	__u16	type;
	__u16	flags;		/* LDB_FUTEX_* */
	__u64	uaddr;
	__u32	value;		/* the value that the thread expects at uaddr; PI: 0 */
	__u32	commit0;
	/* slot 1 */
	__u64	pad0;
	__u32	word;		/* the value at uaddr; valid with LDB_FUTEX_F_WORDS */
	__u16	cont1;
	__u16	pad1;
	__u64	pad2;
	__u32	owner;		/* the value at uaddr + 8: the owner, if this is a glibc mutex */
	__u32	commit1;
};

#define LDB_FUTEX_OP(flags)	((flags) & 0xf)
enum ldb_futex_op {
	LDB_FUTEX_PLAIN		= 1,	/* wait, wake, and their bitset forms */
	LDB_FUTEX_PI		= 2,	/* lock_pi, unlock_pi: word holds the owner's tid */
	LDB_FUTEX_WAITV		= 3,	/* one record for each of the first 8 addresses */
	LDB_FUTEX_REQUEUE	= 4,	/* requeue, wait_requeue_pi: the first address */
	LDB_FUTEX_WAKE_OP	= 5,	/* the first address */
};

#define LDB_FUTEX_F_WORDS	0x0010	/* the members word and owner are valid */

/* LDB_EV_TASK: the name of a task, written before or soon after the first event with its tid. */
struct ldb_task_rec {
	/* slot 0 */
	__u64	tsc;
	__u32	tid;
	__u16	type;
	__u16	flags;		/* LDB_SCHED_F_TID: an observed thread */
	__u64	name0;		/* bytes 0-7 of the name, as in memory */
	__u32	tgid;
	__u32	commit0;
	/* slot 1 */
	__u64	pad0;
	__u32	pad1;
	__u16	cont1;
	__u16	pad2;
	__u64	name1;		/* bytes 8-15 */
	__u32	pad3;
	__u32	commit1;
};

/*
 * LDB_EV_FAULT: the thread accessed user memory that was not mapped, or not for this kind of
 * access.
 */
struct ldb_fault_rec {
	/* slot 0 */
	__u64	tsc;		/* time of the exception */
	__u32	tid;
	__u16	type;
	__u16	flags;		/* LDB_FAULT_F_* */
	__u64	addr;
	__u32	pad0;
	__u32	commit0;
	/* slot 1 */
	__u64	pc;		/* an address in the program's code, also with LDB_FAULT_F_KERNEL */
	__u32	pad1;
	__u16	cont1;
	__u16	pad2;
	__u64	pad3;
	__u32	pad4;
	__u32	commit1;
};

#define LDB_FAULT_F_WRITE	0x0001
#define LDB_FAULT_F_EXEC	0x0002	/* an instruction fetch */
#define LDB_FAULT_F_PRESENT	0x0004	/* the page was mapped, but not for this access */
#define LDB_FAULT_F_KERNEL	0x0008	/* the kernel made the access, usually in a system call */

/*
 * LDB_EV_SCHEDSTAT: the kernel's counters of a thread, which a scanner has read because there are
 * no kernel events.  They were read in [tsc - unc, tsc].
 */
struct ldb_schedstat_rec {
	/* slot 0 */
	__u64	tsc;
	__u32	tid;
	__u16	type;
	__u16	flags;		/* LDB_SCHEDSTAT_F_*, and the thread's state: LDB_SCHED_STATE() */
	__u64	run_ns;		/* the thread's CPU time */
	__u32	unc;		/* how long reading took; 0xffffffff: at least that long */
	__u32	commit0;
	/* slot 1 */
	__u64	ran;		/* the thread ran after this time; 0: not known */
	__u32	nr_runs;	/* how often the thread was switched to a CPU */
	__u16	cont1;
	__u16	pad1;
	__u64	wait_ns;	/* total time runnable without a CPU, until the last switch in */
	__u32	nr_sleeps;	/* how often the thread left a CPU to sleep; valid with F_SLEEPS */
	__u32	commit1;
};

/* the thread was running: its CPU time grew during the reading */
#define LDB_SCHEDSTAT_F_ON_CPU	0x0010
/*
 * the scanner did not poll the thread for long after `ran`, and its first poll after that, which
 * found a change, led to this reading
 */
#define LDB_SCHEDSTAT_F_UNSEEN	0x0020
#define LDB_SCHEDSTAT_F_SLEEPS	0x0040	/* nr_sleeps is valid; it was read just after the rest */

/*
 * LDB_EV_IRQ: an interrupt that ended at tsc, on a CPU on which an observed thread was running.
 * Interrupts may nest.  An interrupt shorter than the module's irq_min_ns has no record of its
 * own; the thread's next record counts such interrupts.  After 255 of them a record is written in
 * any case.
 */
#define LDB_IRQ_KIND(flags)	((flags) & 0xf)
/* number of short interrupts since the thread's last record */
#define LDB_IRQ_NR_SHORT(flags)	((flags) >> 8)
enum ldb_irq_kind {
	LDB_IRQ_HARD		= 1,	/* a device's handler; arg2: the interrupt's line */
	LDB_IRQ_SOFT		= 2,	/* arg2: 0 HI, 1 TIMER, 2 NET_TX, 3 NET_RX, ... */
	LDB_IRQ_LOCAL_TIMER	= 3,	/* arg2: the CPU's vector */
	/*
	 * Steal time: the hypervisor ran something else on the physical CPU.  The kernel learns of
	 * it in the local timer's interrupt.  The record begins with this interrupt, and arg2 says
	 * how many ns before it were stolen.
	 */
	LDB_IRQ_STOLEN		= 4,
};

#define LDB_IRQ_F_HIDDEN	0x0010	/* HARD: arg2 is 0 because CAP_PERFMON is missing */

/*
 * LDB_EV_IRQ_NAME: the name of an interrupt line, written in a CPU's ring before the first LDB_EV_IRQ
 * with this line.
 */
struct ldb_irq_name_rec {
	/* slot 0 */
	__u64	tsc;
	__u32	irq;
	__u16	type;
	__u16	flags;
	__u64	name0;		/* bytes 0-7 of the name, as in memory, cut or padded with NUL */
	__u32	pad0;
	__u32	commit0;
	/* slot 1 */
	__u64	name1;		/* bytes 8-15 */
	__u32	pad1;
	__u16	cont1;
	__u16	pad2;
	__u64	name2;		/* bytes 16-23 */
	__u32	pad3;
	__u32	commit1;
};

/*
 * LDB_EV_SYSCALL and LDB_EV_SYSCALL_FD: a system call of an observed thread.  Without
 * LDB_SYSCALL_F_SLEEP it returned at `end`.
 */
struct ldb_syscall_rec {
	/* slot 0 */
	__u64	end;
	__u32	tid;
	__u16	type;
	__u16	flags;		/* LDB_SYSCALL_F_* */
	__u64	begin;
	__u32	nr;		/* number of the system call */
	__u32	commit0;
	/* slot 1 */
	__s64	result;
	__u32	arg_lo;		/* the argument that LDB_SYSCALL_ARG() names, bits 0-31 */
	__u16	cont1;
	/* without F_SLEEP: number of calls since the last such record that were too short */
	__u16	nr_short;
	__u64	arg0;
	__u32	arg_hi;
	__u32	commit1;
	/* slot 2, of SYSCALL_FD: what the descriptor arg0 is */
	/* bytes of the name as in memory, cut or padded with NUL; or an address: see `kind` */
	__u64	name0;
	__u32	name2;
	__u16	cont2;
	__u16	kind;		/* enum ldb_fd_kind */
	__u64	name1;
	__u32	name3;
	__u32	commit2;
};

/* index of the recorded argument, 1: the second; 0: none */
#define LDB_SYSCALL_ARG(flags)	((flags) & 0x7)
/* The thread began to sleep in the call: begin and end are when it left its CPU. */
#define LDB_SYSCALL_F_SLEEP	0x0010
/* A value of nr, with F_SLEEP: the thread slept in a page fault at address arg0 (0: not known). */
#define LDB_SYSCALL_NR_FAULT	0xffffffffU
/*
 * A value of nr, written by the runtime: the thread waited in io_uring_enter() until an operation
 * (IORING_OP_*) completed.  arg0 is the operation's descriptor, -1: not known; result is the
 * operation's result.
 */
#define LDB_SYSCALL_NR_RING(opcode)	(0xffffff00U | (opcode))
#define LDB_SYSCALL_IS_RING(nr)		((nr) >= 0xffffff00U && (nr) < 0xffffffc0U)

enum ldb_fd_kind {
	LDB_FD_FILE	= 1,	/* name: the last component of its path */
	LDB_FD_PIPE	= 2,
	LDB_FD_ANON	= 3,	/* name: "[eventfd]" and the like */
	LDB_FD_SOCKET	= 4,	/* another family of sockets than the following, or no peer */
	LDB_FD_UNIX	= 5,	/* name: the path to which either end is bound, or empty */
	LDB_FD_INET	= 6,	/* peer: address in name0, port in name1, in network byte order */
	LDB_FD_INET6	= 7,	/* peer: address in name0 and name1, port in name2 */
};

/*
 * LDB_EV_DISK: a block device has completed an operation for an observed thread, or for a kernel
 * thread, which may write the data of other tasks.  Kernel threads only appear with CAP_PERFMON.
 */
struct ldb_disk_rec {
	/* slot 0 */
	__u64	end;
	__u32	tid;
	__u16	type;
	__u16	flags;		/* enum ldb_disk_op, LDB_DISK_F_* */
	__u64	begin;		/* when the operation was put into the device's queue */
	__u32	bytes;
	__u32	commit0;
	/* slot 1 */
	__u64	name0;		/* name of the device: bytes as in memory, cut or padded with NUL */
	__u32	pad1;
	__u16	cont1;
	__u16	pad2;
	__u64	name1;
	__u32	pad3;
	__u32	commit1;
};

#define LDB_DISK_OP(flags)	((flags) & 0xf)
enum ldb_disk_op {
	LDB_DISK_READ	= 1,
	LDB_DISK_WRITE	= 2,
	LDB_DISK_FLUSH	= 3,	/* a flush of the device's cache */
	LDB_DISK_OTHER	= 4,
};

#define LDB_DISK_F_OWN		0x0010	/* tid is an observed thread */
#define LDB_DISK_F_FAILED	0x0020

/* Mixes the payload of a slot into 32 bits; `word` contains its tid, type and flags. */
static inline __u32 ldb_words_hash(__u64 tsc, __u64 word, __u64 arg, __u32 arg2)
{
	__u64 h = tsc;

	h ^= word * 0x9e3779b97f4a7c15ULL;
	h = (h << 29 | h >> 35) + arg * 0xff51afd7ed558ccdULL;
	h ^= (__u64)arg2 * 0xc4ceb9fe1a85ec53ULL;
	h *= 0x9e3779b97f4a7c15ULL;
	return (__u32)(h >> 32);
}

static inline __u32 ldb_rec_hash(const struct ldb_rec *r)
{
	return ldb_words_hash(r->tsc, (__u64)r->flags << 48 | (__u64)r->type << 32 | r->tid,
			      r->arg, r->arg2);
}

#ifndef __KERNEL__
_Static_assert(sizeof(struct ldb_rec) == 32, "one slot");
_Static_assert(sizeof(struct ldb_func_rec) == 96, "three slots");
_Static_assert(sizeof(struct ldb_lock_rec) == 64, "two slots");
_Static_assert(sizeof(struct ldb_req_rec) == 64, "two slots");
_Static_assert(sizeof(struct ldb_flow_rec) == 64, "two slots");
_Static_assert(sizeof(struct ldb_switch_rec) == 64, "two slots");
_Static_assert(sizeof(struct ldb_futex_rec) == 64, "two slots");
_Static_assert(sizeof(struct ldb_task_rec) == 64, "two slots");
_Static_assert(sizeof(struct ldb_fault_rec) == 64, "two slots");
_Static_assert(sizeof(struct ldb_irq_name_rec) == 64, "two slots");
_Static_assert(sizeof(struct ldb_syscall_rec) == 96, "three slots");
#endif

#endif /* _UAPI_LINUX_LDB_RECORDS_H */
