/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the structs that all analyses use: threads, requests, segments.  Members ending in _ns
 * are nanoseconds: durations, or times since the start of the recording.  Other times are ticks of
 * the trace.
 */
#ifndef FACTS_MODEL_H
#define FACTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/ldb.h>
#include "base/intern.h"
#include "base/minmax.h"
#include "symbol/symbol.h"
#include "trace/reader.h"
#include "gaps.h"

/* A process.  A trace that was joined from traces of several processes has several. */
struct process {
	uint32_t pid, ppid;
	const char *name, *host;	/* owned by the model */
	/* the trace's ids of its requests are the program's ids plus this number */
	uint64_t id_base;
	/* its clock is not that of the first process: its times may be wrong by clock_err_ns */
	bool has_own_clock;
	int64_t clock_err_ns;		/* -1: not known by how much */
};

/* A thread of the program.  If a tid was used twice, these are two threads. */
struct thread {
	uint32_t tid, creator;
	uint32_t pid;		/* pid of the thread's process; 0: there is only one process */
	const struct process *process;	/* the thread's process, or NULL */
	int64_t start, end;	/* ticks */
	bool has_exited, is_unobserved;
	uint64_t made, seen;	/* number of calls; number of observed calls */
	/* observed calls below the threshold of the recording, which have no row */
	uint64_t below_threshold;
	uint64_t scans, invalid, foreign, too_deep, disorder;
	int64_t gap_ns;		/* observation gaps while the scanner ran */
	int64_t cost_ns;	/* what sampling has cost the thread, estimated */
	uint64_t start_routine;	/* address; 0: not known, or the first thread */
	const char *name;
};

/* A scanner thread in the program.  All counts are those of the whole recording. */
struct scanner {
	uint64_t rounds, looks, changes, scans, invalid, frames, gaps;
	/* samples that found a changed stack, and left reading it to a later sample */
	uint64_t moving;
	/* pages that it reads: pages of threads, and pages with the headers of the CPUs' rings */
	uint64_t pages;
	uint64_t handed;	/* threads handed over to another scanner */
	int64_t cost_ns;	/* its share of what sampling cost the threads */
	int64_t gap_ns;		/* total time of observation gaps that concern all its threads */
	int64_t busy_ns;	/* how long it was at work */
	/* total time for which it slept between rounds, if it has no core of its own */
	int64_t paused_ns;
};

/* What was running on a CPU, or woke up a thread. */
enum context_kind {
	CONTEXT_NONE,		/* not known */
	CONTEXT_TASK,
	CONTEXT_IDLE,		/* the CPU was idle */
	CONTEXT_HIDDEN,		/* a task that the recorder was not permitted to identify */
	CONTEXT_HARDIRQ, CONTEXT_SOFTIRQ,
	CONTEXT_STOLEN,		/* the hypervisor ran something else */
};

struct context {
	enum context_kind kind;
	uint32_t tid, pid;	/* if it is a task; 0: not known */
	const char *name;	/* "": not known; NULL before context_identify() */
};

#define MODEL_NR_LOST	8	/* kinds of losses; the index is LDB_LOST_* */
#define MODEL_NR_LEFT	8	/* kinds of omitted data; index: LDB_LEFT_* - LDB_LEFT_PAUSE */

/*
 * Where the requests come from, if the program has not tagged them itself: see
 * analysis/tracks/request-source.h.
 */
struct request_source {
	/* names that the user gave, with commas; the text belongs to the model */
	const char *what;
	bool is_loop;		/* they are turns of an event loop; else calls of functions */
	uint64_t nr;		/* requests */
	/* invocations that are not requests, because they are nested in other invocations */
	uint64_t nr_inner;
	/* invocations that are not requests: they had begun before the recording */
	uint64_t nr_begun;
	/* the requests have the ids that their functions had as arguments */
	bool has_ids;
	uint64_t nr_without_id;	/* requests whose id is not known, if has_ids */
	const char *why_no_ids;	/* why none of the recorded ids is certain; or NULL */
	/* in the threads of requests: calls of all functions; observed calls */
	uint64_t made, seen;
	int64_t resolution_ns;	/* by how much a latency may be off: median */
	int64_t resolution_max_ns;
};

/* A recording as a whole, with what a report must say about its quality. */
struct model {
	struct reader *reader;
	struct symtab *symtab;
	struct thread *threads;		/* sorted by tid and start */
	size_t nr_threads, room_threads;
	struct process *processes;	/* sorted by pid; empty if there is only one process */
	size_t nr_processes, room_processes;
	uint64_t made, seen;		/* the sums of all threads */
	uint64_t below_threshold;
	struct scanner scanners[LDB_MAX_SCANNERS];
	size_t nr_scanners;		/* 0: the trace has no SCAN rows */
	int64_t paused_ns;		/* the greatest paused_ns of all scanners */
	uint64_t nr_unobserved;		/* threads that were never sampled */
	/* lost records, by kind; [0] counts kinds that this version does not know */
	uint64_t lost[MODEL_NR_LOST];
	uint64_t nr_lost;		/* lost records of all kinds */
	/* data that was not recorded because the user asked for less */
	uint64_t left[MODEL_NR_LEFT];
	uint64_t nr_left;		/* sum of left[], without pauses */
	uint64_t nr_pauses;
	int64_t pauses_ns;		/* how long recording was paused */
	/*
	 * the pauses, merged (pauses.h); tid is the pid of the process, or 0 if there is only one
	 */
	struct intervals pauses;
	/*
	 * observation gaps that concern all threads, because the scanner did not run, and gaps of
	 * single threads
	 */
	uint64_t nr_gaps, nr_thread_gaps;
	int64_t gap_ns, thread_gap_ns;
	struct intervals gaps;		/* the times of these gaps, merged */
	int64_t from_ns;		/* a dump of a flight recorder is complete from then on */
	int64_t duration_ns;		/* duration of the recording */
	uint64_t nr_bad_modules;	/* invalid MODULE rows */
	/* "module", "bpf", "perf", "schedstat", "none"; "": an older trace */
	const char *kernel_events;
	const char *kernel_why;		/* why no better source was used; "" */
	uint32_t pid;			/* pid of the program; 0: not known */
	int64_t kernel_err_ns;		/* perf, bpf: by how much times of events may be off */
	bool is_kernel_only;		/* no functions, locks, requests were recorded */
	bool has_sched;			/* the trace has SCHED or SCHEDSTAT rows */
	/* read from SCHEDSTAT rows, in place of kernel events; else NULL */
	struct counters *counters;
	/* time off the CPU, by the counters, of which it is not known when it was spent */
	int64_t unplaced_ns;
	/* page faults, interrupts were recorded: without a row there was none */
	bool has_faults, has_irqs;
	bool has_calls;			/* system calls in which threads slept were recorded */
	/* also all other system calls that took at least call_min_ns */
	bool has_call_lengths;
	int64_t call_min_ns;
	bool has_disks;			/* requests to block devices were recorded */
	bool has_flows;			/* calls between components were recorded */
	struct flows *flows;		/* NULL: not read yet; see flows_of() */
	/* clock and rate of the samples: "cpu-clock 199"; "": none were taken */
	const char *samples;
	bool has_user_samples;		/* samples were taken only outside of the kernel */
	uint64_t nr_lost_samples;
	struct tasks *tasks;		/* tasks of the kernel events */
	struct sched_log *sched_log;	/* of sched-log.c; NULL: none */
	/* ticks of the LOST rows about kernel events, and both ends of pauses, sorted */
	int64_t *losses;
	size_t nr_losses, room_losses;
	struct intern strings;		/* names of functions, files and the like */
	struct classes *classes;	/* classes of requests; NULL: not read yet */
	struct notes *notes;		/* notes of requests; NULL: not read yet */
	/* where the requests come from; NULL: the program's tags */
	struct request_source *requests_of;
};

/* A span of a request instance: on a thread, or in a queue. */
struct instance_part {
	/* in a queue: the thread that put the request there; if unknown, the same as to_tid */
	uint32_t tid;
	/*
	 * in a queue: the thread that took the request out; 0: none; on a thread: not 0 if it is
	 * known from which queue the request came
	 */
	uint32_t to_tid;
	bool is_queue, is_open;	/* is_open: its end is not in the trace */
	bool was_queued;	/* on a thread: a span in a queue ended when this span began */
	uint64_t queue;		/* address or 0 */
	int64_t start, end;	/* ticks */
	/*
	 * on a thread: call site of the tag that ended the span or, if it is open, of the one that
	 * began it; in a queue: of the tag that began it or, if there is none, that ended it
	 */
	uint64_t site;
};

/*
 * A request instance lasts from its arrival, or the first START (or BLOCK) of its id, to its last
 * END.
 */
struct instance {
	uint64_t id;
	int64_t start, end;	/* ticks */
	/* ticks: by how much its length may be off; 0 if the program tagged it */
	uint64_t resolution;
	bool is_complete;	/* there was an END, and no span on a thread is open */
	bool has_lost_handoff;	/* put into a queue and never taken out */
	const char *class;	/* "" */
	struct instance_part *parts; /* spans, in order of start */
	size_t nr_parts, room;
};

#define SEGMENT(name, ...) SEGMENT_##name,
enum segment_kind {
#include "facts/segments.def"
	NR_SEGMENT_KINDS
};
#undef SEGMENT

#define CPU_UNKNOWN	UINT32_MAX

struct segment_running {
	struct context who;		/* CONTEXT_NONE: not known */
	int64_t ns;			/* for how much of the segment the task ran */
};

/* Describes a system call.  The texts belong to the model. */
struct segment_call {
	const char *name;		/* "fdatasync"; NULL: none, or not known */
	/* what its file descriptor refers to; "": it has none, or that is not known */
	const char *file;
	bool has_result;		/* the segment is a SYSCALL, and not a sleep in one */
	int64_t result;			/* an error is -errno */
	uint64_t arg0, arg;
	unsigned which;			/* which of the arguments arg is, counted from 1; 0: none */
	/* how many other calls came before this one that were too short for a row */
	uint32_t nr_short;
};

/* A thread made a system call, or slept in one.  See model.has_calls. */
struct syscall {
	uint32_t tid;
	const struct thread *thread;	/* NULL: not in the trace */
	int64_t start, end;		/* ticks; a sleep's: when the thread left its CPU */
	bool is_sleep;
	bool is_ring;			/* an operation of io_uring for which the thread waited */
	struct segment_call call;
};

/*
 * Requests to a block device during a sleep, by the sleeping thread or by the one that woke it: see
 * disks.h.
 */
struct segment_disk {
	const char *device;		/* NULL: none, or not known */
	int64_t ns;			/* how long the device worked during the sleep */
	uint64_t bytes;
	uint32_t nr;			/* number of requests to the device */
};

/* What kernel events add to a segment. */
struct segment_sched {
	unsigned state;			/* enum ldb_sched_state, or SCHED_STATE_UNKNOWN */
	struct context preempted_by;	/* PREEMPTED */
	struct context waker;		/* the task or interrupt that ended the sleep */
	/* the CPU that the thread left to sleep, or for which it waited last */
	uint32_t cpu;
	uint32_t from_cpu, to_cpu;	/* where it ran before and after */
	/* it slept on a futex; the waker called FUTEX_WAKE for it */
	bool has_futex, is_futex_woken;
	uint64_t futex;
	/* events were lost in this time, so more may have happened */
	bool has_lost;
	bool has_woken;			/* it is known who ended a sleep: the waker */
	bool is_throttled;		/* PREEMPTED while the CPU was idle */
	int64_t asleep_ns;		/* LOCK_WAIT: how long it was asleep in the wait */
	struct segment_call call;	/* SYSCALL; BLOCKED: the call in which it slept */
	/* BLOCKED in a timeline: what a device did during this sleep */
	struct segment_disk disk;
	/* RUNNABLE, PREEMPTED: the tasks that ran meanwhile, the longest first */
	struct segment_running *running;
	size_t nr_running;
	/* the intervals from which the sums were made: see segment_cut() */
	struct sched_span *spans;
	size_t nr_spans;
};

/* A page fault: a thread accessed memory that was not mapped yet.  See model.has_faults. */
struct fault {
	int64_t tick;
	uint32_t tid;
	const struct thread *thread; /* NULL: not in the trace */
	uint64_t addr;		/* the address that was accessed */
	uint64_t pc;		/* where the thread's own code was; 0: not known */
	bool is_kernel;		/* the kernel accessed it, in a system call of the thread */
	bool is_major;		/* the page had to be read from a disk */
	bool has_major;		/* it is known whether it had to be read from a disk */
};

/* An event that the program marked. */
struct marked {
	int64_t tick;
	uint32_t tid;
	const struct thread *thread; /* NULL: not in the trace */
	const char *name;	/* owned by the model */
	int64_t value;
};

/*
 * An interrupt on a CPU while a thread of the program was the running task.  A hard interrupt may
 * be nested in a soft one.  See model.has_irqs.
 */
struct irq {
	uint32_t tid;		/* the interrupted thread */
	const struct thread *thread; /* NULL: not in the trace */
	uint32_t cpu;
	int64_t start, end;	/* ticks; end >= start */
	unsigned kind;		/* enum ldb_irq_kind */
	uint32_t nr;		/* number of the interrupt line, or of the vector */
	/* "eth0", "NET_RX", "local_timer"; "": not known; owned by the model */
	const char *name;
	/* how many other interrupts since the last row were too short for a row */
	uint32_t nr_short;
};

/* An interval that is drawn as a bar of a timeline; also an event, of no length. */
struct segment {
	enum segment_kind kind;
	uint32_t tid;
	const struct thread *thread;	/* NULL: not in the trace */
	int64_t start_ns, end_ns;	/* clipped to the time that concerns the request */
	/* start and end of the whole invocation, wait or hold */
	int64_t full_start_ns, full_end_ns;
	int64_t resolution_ns;
	int64_t duration_ns;		/* duration of the whole, as in ldb-report */
	int64_t duration_resolution_ns;
	unsigned depth;			/* nesting on its thread */
	const struct symbol *func;	/* FUNCTION: the function; LIBCALL: that of the library */
	const struct symbol *site;	/* where it was called, locked, queued; NULL: not known */
	uint64_t lock;			/* address: LOCK_*; QUEUE: the queue */
	const struct symbol *lock_symbol; /* NULL: no address */
	unsigned lock_kind;		/* enum ldb_lock_kind */
	/* LOCK_WAIT: tid of the lock's holder when the wait began; 0: unknown */
	uint32_t owner;
	/* LOCK_WAIT: the thread that ended it, as the runtime recorded it; 0: not known */
	uint32_t waker;
	/*
	 * QUEUE: the thread that took the request out; REQUEST: its own thread, if the request came
	 * from a queue
	 */
	uint32_t to_tid;
	bool is_truncated;		/* it was running when the recording began or ended */
	/* FUNCTION: it was still running when the recording ended */
	bool is_open;
	bool is_clipped;		/* the whole is longer than the bar */
	/* LOCK_HOLD: the hold was not recorded, but follows from the wait of another thread */
	bool is_inferred;
	bool has_failed;		/* LOCK_WAIT: ended without the lock */
	/* the segment is not part of the request: its thread blocked the request at this time */
	bool blocks_req;
	/*
	 * LOCK_*: 1: the segment blocks the request, 2: it blocks what blocks the request, and so
	 * on
	 */
	unsigned level;
	/* LOCK_WAIT: generation of the frame in which it happened */
	uint64_t gen;
	uint64_t ret;			/* FUNCTION: the address to which it returns */
	/*
	 * FUNCTION: ticks: it began in [start_min, seen_from], and was running from seen_from until
	 * seen_to
	 */
	int64_t start_min, seen_from, seen_to;
	int64_t start, end;		/* ticks */
	int64_t row_start, row_end;	/* FUNCTION: the times that --from and --to select by */
	uint64_t req;			/* id of the request on which its thread worked */
	bool has_req;			/* the thread worked on exactly one request */
	/* LIBCALL: the call was left by a longjmp() or an exception */
	bool was_left;
	/* what kernel events add to times off the CPU, SYSCALL and LOCK_WAIT; NULL: not known */
	struct segment_sched *sched;
	union {
		const struct irq *irq;		/* IRQ */
		const struct fault *fault;	/* FAULT */
		const struct marked *mark;	/* EVENT */
	};
};

/* Returns how long both segments last at the same time. */
static inline int64_t segment_overlap_ns(const struct segment *a, const struct segment *b)
{
	int64_t ns = min(a->end_ns, b->end_ns) - max(a->start_ns, b->start_ns);

	return ns > 0 ? ns : 0;
}

/* Reads what all reports need, and fills the symtab.  If it returns NULL, err has one line. */
struct model *model_open(struct reader *reader, struct symtab *symtab, char *err, size_t err_size);
void model_close(struct model *m);

/*
 * Returns the thread that had this tid at that time, or else the last one that had it before, or
 * else the first one that had it later; NULL if none had it.
 */
const struct thread *model_thread(const struct model *m, uint32_t tid, int64_t tick);

/*
 * Returns the kernel's number of a thread or process.  In a trace that was joined from several,
 * tids also contain the number of the machine.
 */
static inline uint32_t model_kernel_tid(uint32_t tid)
{
	return tid & ((1U << LDB_TID_BITS) - 1);
}

/*
 * Returns the address in the program.  In a trace that was joined from several, addresses also
 * contain the number of the process.
 */
static inline uint64_t model_plain_address(uint64_t addr)
{
	return addr >> 63 ? addr : addr & ((1ULL << LDB_ADDRESS_BITS) - 1);
}

/* Returns the index in m->threads of the thread that model_thread() returns; UINT32_MAX: none. */
uint32_t model_thread_number(const struct model *m, uint32_t tid, int64_t tick);

/*
 * Returns a number for sorting by thread.  Threads that are not in the trace come after all others,
 * by tid.
 */
uint64_t model_thread_order(const struct model *m, uint32_t tid, int64_t tick);

/* Returns a copy of the text that is valid as long as the model; "" if there is no room for it. */
const char *model_keep_string(struct model *m, const char *text);

/* Returns the number that a META row has for the key, or `otherwise` if there is no such row. */
int64_t model_number(const struct model *m, const char *key, int64_t otherwise);

/* Returns the name of the thread; "" if thread is NULL. */
const char *model_thread_name(const struct thread *thread);

/* Returns true if `thread` (tid or glob of the name) matches t; NULL matches all. */
bool model_thread_matches(const char *thread, uint32_t tid, const struct thread *t);

#endif
