/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files that make tracks, grouped by file. */
#ifndef TRACKS_TRACKS_PRIVATE_H
#define TRACKS_TRACKS_PRIVATE_H

#include "base/spill.h"
#include "facts/flows.h"
#include "facts/futexes.h"
#include "facts/lockset.h"
#include "tracks.h"

#define TRACKS_WINDOW	32768	/* approximate number of functions in a window */
#define TRACKS_EVENTS	8192	/* segments of each other kind; segments are larger than frames */

/* An invocation.  Times are ticks. */
struct frame {
	uint32_t tid;
	uint32_t nr_thread;	/* from model_thread_number() */
	uint32_t depth;
	bool is_truncated, is_open;	/* is_open: it was running at the end of the recording */
	/* a later part of an invocation, after a switch to another stack and back */
	bool is_resumed;
	uint64_t pc, ret, gen, parent_gen;
	int64_t start, end;		/* estimated; after frames_nest() inside of the parent */
	int64_t full_start, full_end;	/* estimated; not clipped to the parent and siblings */
	int64_t length;			/* estimated from its row alone, and the error of that: */
	uint64_t length_resolution;
	int64_t start_min, start_max, end_min, end_max;
	/*
	 * the latest of the starts of this frame and of earlier ones, estimated from their rows
	 * alone
	 */
	int64_t begun;
	int64_t row_start, row_end;	/* the times of its row that filters compare */
	uint64_t resolution;
	bool is_emitted;		/* it has been emitted: start and end are fixed */
	uint32_t parent, last_child; /* index + 1 in frames.at; 0: none */
};

struct frames {
	struct model *m;
	struct frame *at;	/* sorted by thread and gen */
	size_t nr, room;
	struct frame *spare;	/* used to sort them */
	size_t room_spare;	/* bytes */
	bool has_resumed;	/* some invocations have several parts */
};

#define NR_TRACKS_SOURCES	13

/* A time off the CPU of the current window. */
struct tracks_off {
	struct sched_off off;
	struct sched_span *spans;	/* off.spans points to this copy, which is freed with it */
	struct segment_call call;	/* the system call in which the thread slept */
	bool is_event;			/* its sleep is one of the lock events */
	bool is_sleep_shown;		/* its sleep is shown by the segment of a wait */
	unsigned depth;			/* in a wait for a lock: its depth + 1; else 0 */
};

/* A span of a request. */
struct tracks_part {
	struct instance_part part;
	uint64_t req;
};

struct tracks {
	struct model *m;
	const struct tracks_options *o;
	const struct tracks_sink *sink;
	struct tracks_result *result;
	int64_t min_ticks;
	int64_t emit_from_ns, emit_to_ns;
	struct futexes futexes;		/* used until the locks are read */
	union {
		struct {
			/* sorted by thread and time */
			struct spill funcs, locks, offs, parts, queues, faults, irqs, marks, samples, calls,
				     flows;
			struct spill instances;	/* these and the following are for all threads */
			struct spill moments;	/* start and end of requests: they bound frames */
		};
		struct spill sources[NR_TRACKS_SOURCES];
	};
	int64_t off_resolution_ns;
	uint64_t nr_read;		/* FUNC rows */

	/* State of the current thread, across windows. */
	uint64_t major;
	struct syscall call, call_sleep, call_ring; /* the last ones that were read; tid 0: none */
	/* ticks: by how much the time stamps of a call's row and of its switch may differ */
	int64_t calls_apart;
	struct syscall *call_at; /* calls that become segments, in order */
	size_t nr_call_at, room_call_at;
	struct flow_call *flow_at;	/* library calls that have no segments yet, in order */
	size_t nr_flow_at, room_flow_at;
	uint32_t tid;
	/* the earliest possible start of the functions that were read for this window */
	int64_t first_start;
	struct moment *moment_at;	/* moments that were read last, in order */
	size_t nr_moment_at, room_moment_at;
	int64_t border;			/* segments before it are emitted in this window */
	bool is_last;			/* it is the last window: everything is emitted */
	/* the window has no room for more frames: all are emitted */
	bool is_full;
	struct frames frames;
	struct lockset set;		/* lock events */
	struct segment *others;		/* segments other than functions */
	size_t nr_others, room_others;
	struct tracks_off *off_at;	/* in order of out */
	size_t nr_off_at, room_off_at;
	struct segment *functions;	/* not emitted yet, in order */
	size_t nr_functions, room_functions;
	/* emitted and open, nested; later segments must fit into these */
	struct segment *open;
	size_t nr_open, room_open;
	int64_t last_start;
	struct tracks_part *part_at;	/* spans that may overlap later segments, by start */
	size_t nr_part_at, room_part_at, nr_parts_done, first_part;
};

/*
 * A thread reported the innermost frame of one of its blocks (struct ldb_thread) at some time in
 * [from, to], in which it entered and left no function of that block.
 */
struct moment {
	uint32_t tid;
	uint64_t last;		/* generation of the last frame entered; 0: not known */
	uint64_t innermost;	/* gen of the innermost frame; generation 0: there was none */
	int64_t from, to;
};

/*
 * The part of a moment from a REQ row that is stored until the rows are sorted; thread and time are
 * the keys of the spill's item.  There may be two for each request, so it is small.
 */
struct req_moment {
	uint64_t last, innermost;
};

/* frames.c */
int frames_add(struct frames *fs, const struct ldb_row_func *row);
int frames_sort(struct frames *fs);
void frames_tighten(struct frames *fs, const struct lockset *locks);
void frames_nest(struct frames *fs);
/*
 * Narrow the bounds of a frame and its callers, because they had begun by the tick, or had not
 * ended before it.
 */
void frames_began_by(struct frames *fs, const struct frame *found, int64_t tick);
void frames_lasted_to(struct frames *fs, const struct frame *found, int64_t tick);
/* Narrows the bounds of frames that began or ended before the moment, or began after it. */
void frames_seen(struct frames *fs, const struct moment *m);
/*
 * Returns the innermost frame that had begun at `from` and lasted until `to`; NULL: none.  The
 * thread was off the CPU in between, so a frame that ended before `to` is not the one that slept.
 */
const struct frame *frames_through(const struct frames *fs, uint32_t tid, int64_t from, int64_t to);
/* Returns the innermost frame at the tick, or NULL. Must be called after frames_nest(). */
const struct frame *frames_by_time(const struct frames *fs, uint32_t tid, int64_t tick);
const struct frame *frames_at(const struct frames *fs, uint32_t tid, uint64_t gen, int64_t tick);

/* tracks-read.c: all passes over the trace */
int tracks_read(struct tracks *k);
/* Returns true if the caller of tracks_each() needs events of that thread in [start, end]. */
bool tracks_wants(const struct tracks *k, uint32_t tid, int64_t start, int64_t end);

/* tracks-events.c: page faults, interrupts, events of the program and samples */
int tracks_read_events(struct tracks *k);
/* Emits the events that begin at the tick or before. */
int tracks_emit_events_until(struct tracks *k, int64_t tick);

/* tracks-calls.c: system calls */
int tracks_sort_calls(struct tracks *k);
/* Finds the call in which the thread slept.  Times off the CPU must come in order. */
int tracks_call_of(struct tracks *k, const struct sched_off *off, struct segment_call *call);
int tracks_read_calls(struct tracks *k, int64_t before);
/* Makes segments of system calls. */
int tracks_add_calls(struct tracks *k);

/* tracks-flows.c: calls of libraries' functions */
int tracks_sort_flows(struct tracks *k);
int tracks_read_flows(struct tracks *k, int64_t before);
/* Bounds functions by the library calls that they made. */
void tracks_tighten_by_flows(struct tracks *k);
int tracks_add_flows(struct tracks *k);

/* tracks-frames.c */
int tracks_read_frames(struct tracks *k);
int tracks_add_functions(struct tracks *k);
void tracks_retain_frames(struct tracks *k);

/* tracks-emit.c: all except functions */
/*
 * Returns true if there are enough segments for a window.  Segments that begin at the same time are
 * in one window, so that each window makes progress.
 */
bool tracks_is_enough(struct tracks *k, size_t nr, int64_t first, const struct spill *s);
int tracks_read_offs(struct tracks *k, int64_t before);
int tracks_read_locks(struct tracks *k, int64_t before);
int tracks_add_requests(struct tracks *k);
int tracks_add_others(struct tracks *k);
/* Lowers the border: segments that start there or later are not emitted in this window. */
void tracks_lower_border(struct tracks *k, int64_t border);
/* tracks.c: returns true if segments that overlap [start, end] are emitted. */
bool tracks_emits(const struct tracks *k, int64_t start, int64_t end);
/* Emits a segment if it is in the emitted range, and frees its sched. */
int tracks_emit(struct tracks *k, struct segment *s);
/* Finds the request that the thread worked on during the segment. */
int tracks_set_request(struct tracks *k, struct segment *s);
void tracks_free_offs(struct tracks *k, size_t nr);

/*
 * segments.c: there is one function for each kind of event.  All but segment_of_frame() append the
 * segment to k->others, and return it; NULL: out of memory.
 */
struct segment *segment_of_part(struct tracks *k, const struct tracks_part *part);
struct segment *segment_of_lock(struct tracks *k, const struct lock_event *e);
/* asleep: the segment is the time until the wake-up; else the time after it. */
struct segment *segment_of_off(struct tracks *k, const struct tracks_off *at, bool asleep);
struct segment *segment_of_call(struct tracks *k, const struct syscall *c);
struct segment *segment_of_flow(struct tracks *k, const struct flow_call *c);
void segment_of_frame(struct tracks *k, struct segment *s, const struct frame *f, int64_t start,
		      int64_t end);
/*
 * Returns true if the sleep is a part of the wait; the caller then adds it to the segment of the
 * wait with segment_add_sleep().
 */
bool segment_has_sleep(const struct segment *wait, const struct tracks_off *at);
int segment_add_sleep(struct tracks *k, struct segment *wait, const struct tracks_off *at);

#endif
