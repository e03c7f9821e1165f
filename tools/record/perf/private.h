/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares what the files of this directory share, grouped by the file that defines it, in the
 * order in which an event passes through them:
 *
 *	ring -> decode -> base/backlog.c -> watch, rows
 *
 * attr.c describes the events that open.c opens.  Only perf.c, open.c, tracefs.c, ring.c (mmap),
 * samples.c (the program's code), tids.c (/proc) and kernel/clock.c make system calls; the results
 * of the other files depend only on their input.
 */
#ifndef RECORD_PERF_PRIVATE_H
#define RECORD_PERF_PRIVATE_H

#include <linux/ldb.h>
#include <linux/perf_event.h>
#include "base/hash.h"
#include "record/names/kernel-calls.h"
#include "record/perf/perf.h"

/*
 * A thread is identified here by its "key": the pid in tracepoints, which is its number in the
 * first pid namespace.  All other numbers of perf ("tid", "tgid") are in the recorder's namespace.
 * Where there are no tracepoints, the key is the tid.
 */
enum perf_event_kind {
	/* thread `a` left its CPU in the state that `flags` contains; thread `b` runs there now */
	PERF_EVENT_SWITCH	= 1,
	PERF_EVENT_SWITCH_TOO,		/* the same, reported by another source, see perf.c */
	PERF_EVENT_OUT,			/* `a` left its CPU; which task runs now is not known */
	PERF_EVENT_IN,			/* `b` runs now; which task left the CPU is not known */
	PERF_EVENT_WAKING,		/* thread `by` wakes `a` */
	PERF_EVENT_WAKEUP,		/* `a` is runnable on CPU `value` */
	PERF_EVENT_MIGRATE,		/* `a` moved from CPU `addr` to CPU `value` */
	/* comes shortly before FORK, and contains what FORK lacks */
	PERF_EVENT_NEW,
	/* thread `by` created `a`; `value`: 1 a thread of its group, 0 a process, 2 see NEW */
	PERF_EVENT_FORK,
	PERF_EVENT_NAME,		/* the name of `a` is now name_a */
	PERF_EVENT_EXEC,		/* `a` called exec; its key was `b` before */
	/* `a` exits; `value`: 1 it was the last thread of its group, 0 it was not, 2 not known */
	PERF_EVENT_EXIT,
	/* thread `by` leaves its CPU in a system call: see struct perf_event.file */
	PERF_EVENT_IN_CALL,
	/* thread `by` enters a system call: see struct perf_event.file */
	PERF_EVENT_CALL_ENTER,
	PERF_EVENT_CALL_LEAVE,		/* thread `by` leaves a system call; addr: its result */
	PERF_EVENT_LOST,		/* value: number of lost events */
	/* thread `by` had a page fault; addr, pc and flags as in the row */
	PERF_EVENT_FAULT,
	/*
	 * thread `by` was interrupted; flags: enum ldb_irq_kind, value: number; name_a and name_b:
	 * the interrupt's name, if names is not 0
	 */
	PERF_EVENT_IRQ_ENTER,
	PERF_EVENT_IRQ_LEAVE,		/* `by`, flags and value as above */
	/*
	 * thread `by` inserts a request to a block device into its queue, or passes it to the
	 * device; b: device, addr: sector, value: bytes, flags: enum ldb_disk_op and
	 * PERF_BY_KERNEL, file: the device's name
	 */
	PERF_EVENT_DISK_INSERT,
	PERF_EVENT_DISK_ISSUE,
	PERF_EVENT_DISK_END,		/* b, addr: as above; a is not 0: the request failed */
};

#define PERF_BY_KERNEL	0x8000	/* flag of DISK_*: the thread is a kernel thread */

struct perf_event {
	uint64_t time;		/* ns, of the clock that was requested */
	uint16_t cpu;
	uint8_t kind;
	uint8_t names;		/* bit 0: name_a is known, bit 1: name_b */
	/* LDB_SCHED_F_* | enum ldb_sched_state, unless the kind says otherwise */
	uint32_t flags;
	int32_t by;		/* key of the running thread; -1: not known */
	/* the running thread; 0: idle, or in another namespace, -1: not known */
	int32_t by_tgid, by_tid;
	int32_t a, b;		/* keys */
	uint32_t value;
	uint64_t addr, pc;
	char name_a[16], name_b[16];	/* maybe without a NUL */
	/*
	 * Of IN_CALL: what its descriptor refers to, or NULL.  In IN_CALL and CALL_ENTER, value is
	 * the number of the system call, addr and pc are arguments as in ldb_row_syscall, and flags
	 * are as in bpf_config.calls.
	 */
	const char *file;
};

/* format.c: reads the layout of this kernel's tracepoints. */

enum perf_tp {
	PERF_TP_SWITCH,
	PERF_TP_WAKING,
	PERF_TP_WAKEUP,
	PERF_TP_WAKEUP_NEW,
	PERF_TP_MIGRATE,
	PERF_TP_NEWTASK,	/* says which kind of clone() it was */
	PERF_TP_FORK,
	PERF_TP_EXEC,
	PERF_TP_EXIT,
	PERF_TP_RENAME,
	PERF_TP_CALL_ENTER,
	PERF_TP_CALL_LEAVE,
	PERF_TP_IRQ_ENTRY,
	PERF_TP_IRQ_EXIT,
	PERF_TP_SOFTIRQ_ENTRY,
	PERF_TP_SOFTIRQ_EXIT,
	PERF_TP_TIMER_ENTRY,	/* on x86 only */
	PERF_TP_TIMER_EXIT,
	PERF_TP_DISK_INSERT,
	PERF_TP_DISK_ISSUE,
	PERF_TP_DISK_END,
	PERF_TP_NR,
};
#define PERF_FIELDS		6

/* Says which event a tracepoint becomes.  A new tracepoint is a line in perf_tracepoints[]. */
struct perf_tracepoint {
	const char *path;	/* "sched/sched_switch" */
	enum perf_event_kind kind;
	uint32_t flags, value;	/* flags of the event, unless a field has them */
	/* When the tracepoint is opened: always, or if calls, interrupts or disks are recorded. */
	enum perf_scope { PERF_OF_ALL, PERF_OF_CALLS, PERF_OF_IRQS, PERF_OF_DISKS } scope;
	bool may_be_missing;
	struct {
		const char *name;	/* a leading '?': the field may be missing */
		enum perf_into {	/* the field's destination in struct perf_event */
			INTO_A, INTO_B, INTO_VALUE, INTO_ADDR,
			INTO_STATE,	/* into flags */
			INTO_CLONE,	/* into value */
			INTO_CALL,	/* into value and flags */
			INTO_ARGS,	/* into addr and pc */
			INTO_NAME_A, INTO_NAME_B, INTO_IRQ_NAME, INTO_DISK_OP,
		} into;
	} fields[PERF_FIELDS];
};

extern const struct perf_tracepoint perf_tracepoints[PERF_TP_NR];

struct perf_field {
	unsigned offset, size;	/* size 0: this kernel does not have the field */
};

struct perf_format {
	int id;			/* 0: this kernel does not have the tracepoint */
	struct perf_field common_flags, common_pid;
	struct perf_field fields[PERF_FIELDS];	/* in the order of perf_tracepoints[] */
};

struct perf_formats {
	struct perf_format tp[PERF_TP_NR];
	uint8_t state_of_bit[16];	/* by bit of prev_state: enum ldb_sched_state */
	uint32_t preempt_bit;		/* bit of prev_state that means "preempted" ("R+") */
};

/*
 * `text` is the contents of the tracepoint's format file.  Returns false if its syntax is not
 * known, if a field is missing, or if sched_switch does not show how the kernel encodes the states.
 */
bool perf_format_parse(struct perf_formats *f, enum perf_tp tp, const char *text,
		       size_t size);

/*
 * Returns the field's value, sign-extended if it has 2 or 4 bytes; 0 if it is missing, outside the
 * data, or not of 1, 2, 4 or 8 bytes.
 */
int64_t perf_field_read(const struct perf_field *field, const void *data, size_t size);

/* Returns the field's value, which has a sign if is_signed is set. */
static inline int64_t perf_field_number(const struct perf_field *field, bool is_signed, const void *data, size_t size)
{
	int64_t value = perf_field_read(field, data, size);
	unsigned shift = field->size && field->size < 8 ? 64 - 8 * field->size : 0;

	return is_signed ? (int64_t)((uint64_t)value << shift) >> shift : (int64_t)((uint64_t)value << shift >> shift);
}

/* decode.c: makes events from records. */

struct perf_decoder {
	const struct perf_formats *formats;
	enum perf_mode mode;
	const struct kernel_calls *calls;
	const uint8_t *how;	/* what is recorded of each system call: see bpf_config.calls */
	uint64_t nr_bad;	/* invalid records */
};

/* Returns false if the record does not become an event, or is invalid. */
bool perf_decode(struct perf_decoder *d, unsigned cpu, const struct perf_event_header *record,
		 struct perf_event *e);

/* ring.c: reads perf's rings. */

struct perf_ring {
	struct perf_event_mmap_page *page;	/* the data follow */
	size_t size;				/* size of the data: a power of two */
	unsigned cpu;
};

/* record is complete and aligned, and valid during the call. */
typedef void perf_record_fn(void *arg, unsigned cpu, const struct perf_event_header *record);

/* Returns 0 or -errno. */
int perf_ring_map(struct perf_ring *r, int fd, unsigned cpu, size_t size);
void perf_ring_unmap(struct perf_ring *r);

/*
 * Delivers the records of the ring and frees their space.  Returns how full the ring was, in
 * 1/1000.  If the ring's contents are invalid, empties it and counts that in *bad.
 */
unsigned perf_ring_read(struct perf_ring *r, perf_record_fn *fn, void *arg, uint64_t *bad);

/*
 * Like perf_ring_read(), for several rings, some of which may not be mapped.  Returns how full the
 * fullest ring was.
 */
unsigned perf_rings_read(struct perf_ring *rings, unsigned nr, perf_record_fn *fn, void *arg,
			 uint64_t *bad);

/*
 * Records are retained for this long, because earlier ones may still arrive: a record is stamped a
 * little before it can be read, or long before, if the host takes the virtual CPU away in between.
 */
#define PERF_WINDOW_NS	20000000

/* tids.c: translates tids between pid namespaces. */

struct perf_tids {
	pid_t tgid;		/* thread group to record, in the recorder's namespace */
	bool keys_are_tids;	/* the recorder is in the first namespace, or has no tracepoints */
	bool same_namespace;	/* program and recorder are in the same namespace */
	uint32_t shown_tgid;	/* pid of the program, as the program sees it */
	unsigned depth;		/* level of the program's namespace: index in NSpid */
	uint64_t ns_inode;	/* inode of the program's namespace */
};

/*
 * Returns true if keys are tids: the recorder is in the first namespace, or there are no
 * tracepoints.
 */
bool perf_tids_are_keys(enum perf_mode mode);

void perf_tids_init(struct perf_tids *t, pid_t tgid, enum perf_mode mode);

/*
 * Returns the tid as the program sees it; 0: the thread is not in its namespace, or that is not
 * known.
 */
uint32_t perf_tids_shown(const struct perf_tids *t, pid_t tid);

/* irqs.c: the stack of nested interrupts on a CPU. */

#define PERF_NEST_MAX	8	/* twice the greatest nesting in practice */

struct perf_nest {
	struct perf_inside {
		int64_t start;
		int32_t by;
		uint32_t kind, nr;
		char name[33];	/* "": not known */
	} at[PERF_NEST_MAX];
	unsigned depth;
};

void perf_nest_enter(struct perf_nest *n, const struct perf_event *e, int64_t tick);

/*
 * Returns NULL if the beginning of the interrupt was not recorded.  The result is valid until the
 * next call of perf_nest_enter().
 */
const struct perf_inside *perf_nest_leave(struct perf_nest *n, const struct perf_event *e);

/* disks.c: requests to block devices in progress. */

#define PERF_FLIGHTS_MAX	4096

struct perf_disks {
	struct perf_flight {
		bool is_used;
		int32_t dev;
		uint32_t tid, flags, bytes;
		uint64_t sector;
		int64_t start;
		const char *device;
	} at[PERF_FLIGHTS_MAX];
	unsigned next;
	struct hash by_place;		/* used entries, by device and sector */
};

void perf_disks_free(struct perf_disks *d);
/* tid: the thread that makes the request; 0: requests of this thread get no rows. */
void perf_disks_begin(struct perf_disks *d, const struct perf_event *e, uint32_t tid, int64_t tick);
/* Returns false if the request gets no row. */
bool perf_disks_end(struct perf_disks *d, const struct perf_event *e, int64_t tick,
		    struct ldb_row_disk *row);

/*
 * calls.c: the system calls of a thread.  If a function returns true, *row is complete except
 * for its tid; its texts are those of the event.
 */

struct task;

/* Called when the thread leaves its CPU to sleep. */
bool perf_calls_sleep(struct task *t, int64_t tick, struct ldb_row_syscall *row);
/*
 * Process IN_CALL, CALL_ENTER, and CALL_LEAVE.  System calls shorter than min_ns are only counted.
 */
bool perf_calls_in(struct task *t, const struct perf_event *e, int64_t tick,
		   struct ldb_row_syscall *row);
void perf_calls_enter(struct task *t, const struct perf_event *e, int64_t tick);
bool perf_calls_leave(struct task *t, const struct perf_event *e, int64_t tick, uint64_t min_ns,
		      struct ldb_row_syscall *row);
/* Called when the thread is on a CPU again. */
void perf_calls_back(struct task *t);

/* watch.c: determines which threads and CPUs concern the recorded thread group. */

struct perf_watch;

struct perf_watch *perf_watch_alloc(const struct perf_tids *tids, enum perf_mode mode,
				    unsigned nr_cpus, const struct perf_sink *sink);

/* Sets the duration below which system calls are only counted. */
void perf_watch_set_call_min(struct perf_watch *w, uint64_t ns);
void perf_watch_free(struct perf_watch *w);

/* Adds a thread of the group that existed before the recording. */
void perf_watch_member(struct perf_watch *w, pid_t tid, const char *name);

/* Must be called as soon as an event is read: finds the tids of its threads before they end. */
void perf_watch_learn(struct perf_watch *w, const struct perf_event *e);

/*
 * Copies from another object, which has the same number of CPUs, which task runs on each CPU, and
 * which CPUs deliver all events.
 */
void perf_watch_take_cpus(struct perf_watch *w, const struct perf_watch *from);
/* Forgets which tasks are running: others may have run since the last event. */
void perf_watch_forget_current(struct perf_watch *w);

/* Returns true if a thread came to this CPU without an event; see perf.c. */
bool perf_watch_is_deaf(struct perf_watch *w, unsigned cpu);

/* Returns true if there was a switch event from this CPU's idle task. */
bool perf_watch_heard_idle(struct perf_watch *w, unsigned cpu);

/* rows.c: makes rows from events. */

/* Events must be passed in order of time. */
void perf_rows_event(struct perf_watch *w, const struct perf_event *e, int64_t tick);

/* Must be called after the last event: emits the remaining names. */
void perf_rows_finish(struct perf_watch *w);

/*
 * tracefs.c: reads files of tracefs.  `calls`: also reads those of the tracepoints of system calls.
 * Returns false on failure, and writes the reason into `why` as one line.
 */
bool perf_tracefs_read(struct perf_formats *f, bool calls, char *why, size_t why_size);
/*
 * Opens a file or directory of tracefs at one of its mount points, or in a private mount.  Returns
 * -1 on failure, with errno.
 */
int perf_tracefs_open(const char *name, int flags);

/* open.c: opens the events. */

struct perf_fds {
	enum perf_mode mode;
	int *fds;
	size_t nr_fds, room_fds;
	struct perf_ring *rings;
	unsigned nr_rings;
	/* those of LDB_GROUP_FAULT, _IRQ, _CALL, _CALL_ALL and _DISK that work */
	uint32_t events;
	unsigned irqs_from, irqs_end;	/* range of indices in fds */
	bool are_irqs_left_out;
};

/*
 * Returns false on failure, and writes the reason into `why` as one line.  On success, `why` is "",
 * or says why system calls, faults, interrupts or block devices are not recorded.
 */
bool perf_fds_open(struct perf_fds *s, enum perf_mode mode, const struct perf_options *o,
		   struct perf_formats *formats, int clock, char *why, size_t why_size);
void perf_fds_disable(struct perf_fds *s, unsigned from, unsigned end);
/* Enables all events except interrupts that are left out. */
void perf_fds_enable(struct perf_fds *s);

/*
 * Returns the number of events lost so far, including those without a LOST record; 0 on older
 * kernels.
 */
uint64_t perf_fds_lost(const struct perf_fds *s);
void perf_fds_close(struct perf_fds *s);

/* Adds PERF_RECORD_SWITCH_CPU_WIDE records of one ring's CPU to the tracepoints. */
bool perf_fds_add_switches(struct perf_fds *s, unsigned ring, int clock);

/* Samples of the program's threads, from which samples.c makes rows. */
#define PERF_SAMPLE_STACK	2048	/* bytes of the stack in each sample */

struct perf_sampling {
	unsigned hz;		/* number of samples per second of CPU time */
	uint64_t cycles_hz;	/* approximate number of cycles in a second */
	bool is_of_threads;	/* sample only the program's threads; else all tasks */
	bool is_cycles;		/* by the CPU's cycle counter; else by the kernel's cpu-clock */
	bool is_user_only;	/* take no samples in the kernel */
};

/*
 * Uses only pid and ring_bytes of o.  may_slow: works without privileges, too, with a counter for
 * each thread.
 */
bool perf_fds_open_samples(struct perf_fds *s, const struct perf_options *o, struct perf_sampling *how,
			   bool may_slow, int clock, char *why, size_t why_size);

/*
 * Opens the tracepoints with these ids for the program's threads.  Uses only pid and ring_bytes of
 * o.
 */
bool perf_fds_open_probes(struct perf_fds *s, const struct perf_options *o, const int *probes, size_t nr_probes,
			  int clock, char *why, size_t why_size);

/* attr.c: fills in attributes of events. */

struct perf_asked {
	enum perf_mode mode;
	int clock;
	/* size of the ring in bytes; who polls the event is woken when a quarter of it is full */
	size_t ring_size;
	bool user_only;		/* faults and samples in the kernel are not permitted */
	const struct perf_sampling *sampling;
};

void perf_attr_tracepoint(struct perf_event_attr *attr, const struct perf_asked *asked, int id);
/* A dummy event, which delivers the records of switches, names and forks. */
void perf_attr_switches(struct perf_event_attr *attr, const struct perf_asked *asked);
void perf_attr_faults(struct perf_event_attr *attr, const struct perf_asked *asked, bool major);
/* Samples the stack at each switch of a thread, which shows in which system call the thread is. */
void perf_attr_calls(struct perf_event_attr *attr, const struct perf_asked *asked);
/* A counter of a CPU's, or of a thread's, time, which takes a sample at each overflow. */
void perf_attr_samples(struct perf_event_attr *attr, const struct perf_asked *asked);

/*
 * Makes the event follow one thread and those it creates.  It is enabled at once, so that nothing
 * is missed.
 */
void perf_attr_thread(struct perf_event_attr *attr);

#endif
