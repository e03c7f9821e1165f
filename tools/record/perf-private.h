/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares what the files tools/record/perf*.c share, grouped by defining file, in the order in
 * which an event passes them:
 *
 *	ring -> decode -> backlog.c -> watch, rows
 *
 * perf-attr.c describes the events that perf-open.c opens.  Only perf.c, perf-open.c,
 * perf-tracefs.c, perf-ring.c (mmap), perf-tids.c (/proc) and kernel-clock.c make system calls; the
 * results of the other files depend only on their input.
 */
#ifndef RECORD_PERF_PRIVATE_H
#define RECORD_PERF_PRIVATE_H

#include <linux/ldb.h>
#include <linux/perf_event.h>
#include "base/hash.h"
#include "record/kernel-calls.h"
#include "record/perf.h"

/*
 * A thread is identified here by its "key": the pid that tracepoints write, which is that of the
 * first pid namespace.  All other numbers of perf are in the recorder's namespace ("tid", "tgid").
 * Where there are no tracepoints, the key is the tid.
 */
enum perf_event_kind {
	PERF_EVENT_SWITCH	= 1,	/* a left in state flags, b came */
	PERF_EVENT_SWITCH_TOO,		/* the same from another source, see perf.c */
	PERF_EVENT_OUT,			/* a left; who came is not known */
	PERF_EVENT_IN,			/* b came; who left is not known */
	PERF_EVENT_WAKING,		/* by wakes a */
	PERF_EVENT_WAKEUP,		/* a is runnable on CPU value */
	PERF_EVENT_MIGRATE,		/* a from CPU addr to CPU value */
	PERF_EVENT_NEW,			/* as FORK, a little earlier, with what FORK lacks */
	PERF_EVENT_FORK,		/* by made a; value: 1 a thread of its group, 0 a process, 2 see NEW */
	PERF_EVENT_NAME,		/* a is called name_a */
	PERF_EVENT_EXEC,		/* a, was b before */
	PERF_EVENT_EXIT,		/* a; value: 1 last of its group, 0 not, 2 not known */
	PERF_EVENT_IN_CALL,		/* by, as it leaves its CPU: see struct perf_event.file */
	PERF_EVENT_CALL_ENTER,		/* by; the same */
	PERF_EVENT_CALL_LEAVE,		/* by; addr: its result */
	PERF_EVENT_LOST,		/* value: how many */
	PERF_EVENT_FAULT,		/* by; addr, pc; flags: of the row */
	PERF_EVENT_IRQ_ENTER,		/* by: whom; flags: enum ldb_irq_kind, value: number, */
	PERF_EVENT_IRQ_LEAVE,		/* name_a and name_b: its name, if names is not 0 */
	PERF_EVENT_DISK_INSERT,		/* by; b: device, addr: sector, value: bytes, flags: enum ldb_disk_op, */
	PERF_EVENT_DISK_ISSUE,		/* and PERF_BY_KERNEL; file: the device's name */
	PERF_EVENT_DISK_END,		/* b, addr; a: it failed */
};

#define PERF_BY_KERNEL	0x8000	/* of DISK_*: a thread of the kernel */

struct perf_event {
	uint64_t time;		/* ns of the clock asked for */
	uint16_t cpu;
	uint8_t kind;
	uint8_t names;		/* bit 0: name_a is known, bit 1: name_b */
	uint32_t flags;		/* LDB_SCHED_F_* | enum ldb_sched_state */
	int32_t by;		/* key of the thread that was running; -1 not known */
	int32_t by_tgid, by_tid; /* the same; 0: idle or not in our namespace, -1: not known */
	int32_t a, b;		/* keys */
	uint32_t value;
	uint64_t addr, pc;
	char name_a[16], name_b[16];	/* maybe without a NUL */
	/*
	 * Of IN_CALL: what its descriptor is, or NULL.  Of this and CALL_ENTER, value is its
	 * number, addr and pc arguments as in ldb_row_syscall, flags as in bpf_config.calls.
	 */
	const char *file;
};

/* perf-format.c: the layout of this kernel's tracepoints. */

enum perf_tp {
	PERF_TP_SWITCH,
	PERF_TP_WAKING,
	PERF_TP_WAKEUP,
	PERF_TP_WAKEUP_NEW,
	PERF_TP_MIGRATE,
	PERF_TP_NEWTASK,	/* which clone() it was */
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
	PERF_TP_TIMER_ENTRY,	/* x86 */
	PERF_TP_TIMER_EXIT,
	PERF_TP_DISK_INSERT,
	PERF_TP_DISK_ISSUE,
	PERF_TP_DISK_END,
	PERF_TP_NR,
};
#define PERF_FIELDS		6

/*
 * This is a tracepoint, and the event it becomes: one more tracepoint is a line in
 * perf_tracepoints[].
 */
struct perf_tracepoint {
	const char *path;	/* "sched/sched_switch" */
	enum perf_event_kind kind;
	uint32_t flags, value;	/* of the event, if no field has it */
	/* Which threads it is opened for, and by which option. */
	enum perf_scope { PERF_OF_ALL, PERF_OF_CALLS, PERF_OF_IRQS, PERF_OF_DISKS } scope;
	bool may_be_missing;
	struct {
		const char *name;	/* a leading '?': may be missing */
		enum perf_into {	/* the member of struct perf_event */
			INTO_A, INTO_B, INTO_VALUE, INTO_ADDR,
			INTO_STATE, INTO_CLONE,	/* flags, value */
			INTO_CALL, INTO_ARGS,	/* value and flags, then addr and pc */
			INTO_NAME_A, INTO_NAME_B, INTO_IRQ_NAME, INTO_DISK_OP,
		} into;
	} fields[PERF_FIELDS];
};

extern const struct perf_tracepoint perf_tracepoints[PERF_TP_NR];

struct perf_field {
	unsigned offset, size;	/* size 0: this kernel does not have it */
};

struct perf_format {
	int id;			/* 0: there is no such tracepoint */
	struct perf_field common_flags, common_pid;
	struct perf_field fields[PERF_FIELDS];	/* in the order of perf_tracepoints[] */
};

struct perf_formats {
	struct perf_format tp[PERF_TP_NR];
	uint8_t state_of_bit[16];	/* of prev_state -> enum ldb_sched_state */
	uint32_t preempt_bit;		/* of prev_state: "R+" */
};

/*
 * text is that of the format file.  Returns false if it is not understood, or a field is
 * missing.
 */
bool perf_format_parse(struct perf_formats *f, enum perf_tp tp, const char *text,
		       size_t size);

/* Returns the value, sign extended for sizes below 8; 0 if it is not there or outside the data. */
int64_t perf_field_read(const struct perf_field *field, const void *data, size_t size);

/* perf-decode.c */

struct perf_decoder {
	const struct perf_formats *formats;
	enum perf_mode mode;
	const struct kernel_calls *calls;
	const uint8_t *how;	/* what is recorded of each call: see bpf_config.calls */
	uint64_t nr_bad;	/* records that made no sense */
};

/* Returns false if the record does not concern the program, or is invalid. */
bool perf_decode(struct perf_decoder *d, unsigned cpu, const struct perf_event_header *record,
		 struct perf_event *e);

/* perf-ring.c */

struct perf_ring {
	struct perf_event_mmap_page *page;	/* followed by the data */
	size_t size;				/* of the data: a power of two */
	unsigned cpu;
};

/* record is whole, aligned, and valid during the call. */
typedef void perf_record_fn(void *arg, unsigned cpu, const struct perf_event_header *record);

/* 0 or -errno. */
int perf_ring_map(struct perf_ring *r, int fd, unsigned cpu, size_t size);
void perf_ring_unmap(struct perf_ring *r);

/*
 * Delivers the records of the ring and frees the room.  Returns how full it was, in 1/1000.  An
 * invalid ring is emptied and counted in *bad.
 */
unsigned perf_ring_read(struct perf_ring *r, perf_record_fn *fn, void *arg, uint64_t *bad);

/* The same for several rings; some may have no memory yet.  Returns the fullest. */
unsigned perf_rings_read(struct perf_ring *rings, unsigned nr, perf_record_fn *fn, void *arg,
			 uint64_t *bad);

/*
 * Records wait for earlier ones for this long: a stamp is taken a little before its record can be
 * read, or, if the host takes a virtual CPU away in between, long before.
 */
#define PERF_WINDOW_NS	20000000

/* perf-tids.c: pid namespaces. */

struct perf_tids {
	pid_t tgid;		/* watched, in the recorder's namespace */
	bool keys_are_tids;	/* the recorder is in the first namespace, or has no tracepoints */
	bool same_namespace;	/* the program is in the recorder's */
	uint32_t shown_tgid;	/* as the program sees it */
	unsigned depth;		/* of the program's, as its entry in NSpid */
	uint64_t ns_inode;	/* of the program's */
};

/* Are keys tids?  They are without tracepoints, and in the first namespace. */
bool perf_tids_are_keys(enum perf_mode mode);

void perf_tids_init(struct perf_tids *t, pid_t tgid, enum perf_mode mode);

/* Returns the tid as the program sees it; 0: it does not see it, or that is not known. */
uint32_t perf_tids_shown(const struct perf_tids *t, pid_t tid);

/* perf-irqs.c: the interrupts that a CPU is in. */

#define PERF_NEST_MAX	8	/* real nesting is at most half of it */

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

/* Returns NULL if its entry was not recorded.  Else it is valid until the next one enters. */
const struct perf_inside *perf_nest_leave(struct perf_nest *n, const struct perf_event *e);

/* perf-disks.c: requests to block devices in progress. */

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
	struct hash by_place;		/* of those that are used */
};

void perf_disks_free(struct perf_disks *d);
/* tid: the thread that makes the request; 0: a thread without rows. */
void perf_disks_begin(struct perf_disks *d, const struct perf_event *e, uint32_t tid, int64_t tick);
/* Returns false if there is no row. */
bool perf_disks_end(struct perf_disks *d, const struct perf_event *e, int64_t tick,
		    struct ldb_row_disk *row);

/*
 * perf-calls.c: the system calls of a thread.  If one of these returns true, *row is complete
 * but for its tid; its texts are those of the event.
 */

struct task;

/* Called when the thread leaves its CPU to sleep. */
bool perf_calls_sleep(struct task *t, int64_t tick, struct ldb_row_syscall *row);
/* IN_CALL, CALL_ENTER, CALL_LEAVE; calls that are shorter than min_ns are only counted. */
bool perf_calls_in(struct task *t, const struct perf_event *e, int64_t tick,
		   struct ldb_row_syscall *row);
void perf_calls_enter(struct task *t, const struct perf_event *e, int64_t tick);
bool perf_calls_leave(struct task *t, const struct perf_event *e, int64_t tick, uint64_t min_ns,
		      struct ldb_row_syscall *row);
/* Called when the thread is on a CPU again. */
void perf_calls_back(struct task *t);

/* perf-watch.c: which threads and CPUs concern the watched thread group. */

struct perf_watch;

struct perf_watch *perf_watch_alloc(const struct perf_tids *tids, enum perf_mode mode,
				    unsigned nr_cpus, const struct perf_sink *sink);

/* Shorter system calls are only counted. */
void perf_watch_set_call_min(struct perf_watch *w, uint64_t ns);
void perf_watch_free(struct perf_watch *w);

/* Adds a thread of the group that exists from the beginning. */
void perf_watch_member(struct perf_watch *w, pid_t tid, const char *name);

/* Call it as soon as an event is read: it learns which thread is running. */
void perf_watch_learn(struct perf_watch *w, const struct perf_event *e);

/* Copies which task runs where, and which CPUs deliver, from another one with as many CPUs. */
void perf_watch_take_cpus(struct perf_watch *w, const struct perf_watch *from);
/* Others may have run since the last event. */
void perf_watch_forget_current(struct perf_watch *w);

/* Did threads come to this CPU, or leave it, without events?  See perf.c. */
bool perf_watch_is_deaf(struct perf_watch *w, unsigned cpu);

/* Was there an event of a switch from its idle task? */
bool perf_watch_heard_idle(struct perf_watch *w, unsigned cpu);

/* perf-rows.c: rows of these events. */

/* Events must come in order of time. */
void perf_rows_event(struct perf_watch *w, const struct perf_event *e, int64_t tick);

/* Call it when no more events come: emits the names that are left. */
void perf_rows_finish(struct perf_watch *w);

/*
 * perf-tracefs.c: the files.  calls: of the tracepoints of system calls too.  If it returns false,
 * why is one line.
 */
bool perf_tracefs_read(struct perf_formats *f, bool calls, char *why, size_t why_size);
/* Opens a file or folder of tracefs, or returns -1 with errno as for the first place. */
int perf_tracefs_open(const char *name, int flags);

/* perf-open.c: the system calls. */

struct perf_fds {
	enum perf_mode mode;
	int *fds;
	size_t nr_fds, room_fds;
	struct perf_ring *rings;
	unsigned nr_rings;
	uint32_t events;		/* of LDB_GROUP_FAULT, _IRQ, _CALL, _CALL_ALL and _DISK */
	unsigned irqs_from, irqs_end;	/* in fds */
	bool are_irqs_left_out;
};

/*
 * If it returns false, why is one line; if true, "", or why there are no system calls, faults or
 * interrupts.
 */
bool perf_fds_open(struct perf_fds *s, enum perf_mode mode, const struct perf_options *o,
		   struct perf_formats *formats, int clock, char *why, size_t why_size);
void perf_fds_disable(struct perf_fds *s, unsigned from, unsigned end);
/* Enables all but those of interrupts that are left out. */
void perf_fds_enable(struct perf_fds *s);

/*
 * Returns how many were lost so far, whether a record of it was written or not; 0 on older
 * kernels.
 */
uint64_t perf_fds_lost(const struct perf_fds *s);
void perf_fds_close(struct perf_fds *s);

/* Adds PERF_RECORD_SWITCH_CPU_WIDE of one ring's CPU, besides tracepoints. */
bool perf_fds_add_switches(struct perf_fds *s, unsigned ring, int clock);

/* Samples of the program's threads; samples.c makes rows of them. */
#define PERF_SAMPLE_STACK	2048	/* bytes of the stack in each */

struct perf_sampling {
	unsigned hz;		/* of a CPU's time */
	uint64_t cycles_hz;	/* how many cycles a second has, nearly */
	bool is_of_threads;	/* set: those of the program alone; else all tasks' are taken */
	bool is_cycles;		/* set: the clock is the CPU's; else the kernel's */
	bool is_user_only;	/* set: none is taken in the kernel */
};

/* Of o only pid and ring_bytes count.  may_slow: without privileges, too, with clocks of threads. */
bool perf_fds_open_samples(struct perf_fds *s, const struct perf_options *o, struct perf_sampling *how,
			   bool may_slow, int clock, char *why, size_t why_size);

/* Tracepoints of these numbers, of the program's threads.  Of o only pid and ring_bytes count. */
bool perf_fds_open_probes(struct perf_fds *s, const struct perf_options *o, const int *probes, size_t nr_probes,
			  int clock, char *why, size_t why_size);

/* perf-attr.c: attributes of events. */

struct perf_asked {
	enum perf_mode mode;
	int clock;
	size_t ring_size;	/* in bytes: a quarter of them wakes the recorder */
	bool user_only;		/* faults and samples in the kernel are not permitted */
	const struct perf_sampling *sampling;
};

void perf_attr_tracepoint(struct perf_event_attr *attr, const struct perf_asked *asked, int id);
/* An event that never happens, for the records of switches, names and forks that come with it. */
void perf_attr_switches(struct perf_event_attr *attr, const struct perf_asked *asked);
void perf_attr_faults(struct perf_event_attr *attr, const struct perf_asked *asked, bool major);
/* Samples each switch of a thread: the stack says in which system call it is. */
void perf_attr_calls(struct perf_event_attr *attr, const struct perf_asked *asked);
/* The clock of a CPU, or of a thread, which takes a sample at each overflow. */
void perf_attr_samples(struct perf_event_attr *attr, const struct perf_asked *asked);

/* Follows one thread and those it creates; it counts at once, so that no event is missed. */
void perf_attr_thread(struct perf_event_attr *attr);

#endif
