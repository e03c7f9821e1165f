/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes traces for other tools: there is one function for each format, all with the same
 * interface.
 *
 *	int export_FORMAT(struct model *m, const struct export_options *o, FILE *out,
 *			  char *err, size_t err_size)
 *
 * Formats of more than one file (ctf), or of a file that is not written from start to end (sqlite),
 * take const char *path in the place of out: the path of a new or empty directory, or of a file
 * that is new or is replaced.
 *
 * Returns 0; or -errno; or -1, with one line in err, without the tool's name.  The functions need
 * not check whether writing to out has failed; the caller does so.
 *
 * The interval [from, to] (ticks) is exported, or, with has_instances, the given requests, which
 * [from, to] encloses.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdio.h>

#include "facts/model.h"
#include "analysis/tracks/tracks.h"

/* An interval, in ticks, during which at least one of the selected requests was open. */
struct export_window {
	int64_t start, end;
};

struct export_options {
	int64_t from, to;		/* ticks; INT64_MIN, INT64_MAX: all */
	const char *thread;		/* tid or glob of the name; NULL: all */
	bool has_instances;			/* --req, --slowest or --class was given */
	const struct instance *instances;	/* in that case the selected requests, by start */
	size_t nr_instances;
	struct export_window *windows;	/* their times, see export_find_windows() */
	size_t nr_windows;
	uint64_t max_functions;		/* only the longest functions are exported; 0: all */
	int64_t min_ns;			/* shorter functions are left out */
	bool with_causes;		/* in formats of stacks: waits and interrupts are frames */
	/* in otlp: all requests are exported, not only the slow ones */
	bool all_requests;
	uint64_t limit_bytes;		/* in chrome: greatest size of the file; 0: the default */
	struct export_result *result;	/* the export fills it in; never NULL */
	void (*progress)(void *arg, const char *what, double done); /* may be NULL */
	void *progress_arg;
};

/* Counts for the summary of an export.  Things that a format does not have are 0. */
struct export_result {
	uint64_t nr[NR_SEGMENT_KINDS];	/* segments */
	/* sums of duration_ns; of functions: complete ones only */
	int64_t total_ns[NR_SEGMENT_KINDS];
	/* included in nr, but not in the sum: begin or end was not observed */
	uint64_t nr_open_functions;
	uint64_t nr_threads, nr_requests, nr_samples;
	uint64_t nr_flows;		/* arrows: out of queues, from lock holders to waiters */
	uint64_t nr_left_out;		/* functions shorter than min_ns */
	int64_t min_ns;			/* 0: nothing was left out */
	uint64_t nr_not_kept;		/* sleeps on futexes beyond FUTEXES_MAX, left out */
	/* calls that were added to their callers, because there were too many stacks */
	uint64_t nr_merged;
	/* how often a context switch to or from a thread was missing */
	uint64_t nr_broken;
};

/* Returns options for tracks.h that have from, to, thread and the limits of o. */
struct tracks_options export_tracks(const struct export_options *o, bool with_irqs,
				    bool with_faults);	/* also with system calls and events */

/* Copies the counts of what was left out. */
void export_take(const struct export_options *o, const struct tracks_result *tracks);

/* Adds an exported segment to the counts and sums. */
void export_count(const struct export_options *o, const struct segment *s);

/*
 * Finds the windows of the selected requests.  Returns 0 or -ENOMEM; the caller frees
 * o->windows.
 */
int export_find_windows(struct export_options *o);

/*
 * For formats that export intervals of time: returns true if [start, end] (ticks) overlaps a
 * selected request, or no requests are selected.
 */
bool export_wants_time(const struct export_options *o, int64_t start, int64_t end);

/* Returns true if the request is selected, or no requests are selected. */
bool export_wants_instance(const struct export_options *o, const struct instance *instance);

/*
 * Returns the number of the arrow from a request's span in a queue to its span on the thread that
 * took it out; 0: the segment is at no end of such an arrow.  Both ends compute the number
 * independently, and get the same result.
 */
uint64_t export_queue_flow(const struct export_options *o, const struct segment *s);

/*
 * Returns the name of the class of the request instance with this id and end (ticks), such as
 * "GET", or "request" if there is none.
 */
const char *export_class_name(const struct model *m, uint64_t req, int64_t end);

/*
 * Returns the name of a segment's bar: of the function, "waits for db_lock", ...; buf has
 * EXPORT_NAME bytes.
 */
#define EXPORT_NAME	1024
const char *export_name(const struct model *m, const struct segment *s, char *buf);

/* Lanes in which overlapping segments are placed. */
struct export_lanes {
	int64_t *ends;
	size_t nr, room;
};

/*
 * Returns the first lane that is free from start on, and occupies it until end; or -ENOMEM.
 * *is_new: the lane is used for the first time.
 */
int export_lane(struct export_lanes *l, int64_t start, int64_t end, bool *is_new);

struct export_format {
	const char *name;
	const char *what;		/* description for the list of formats */
	bool is_binary;			/* must not be written to a terminal */
	/* one of the following two is set */
	int (*to_stream)(struct model *m, const struct export_options *o, FILE *out, char *err,
			 size_t err_size);
	int (*to_path)(struct model *m, const struct export_options *o, const char *path,
		       char *err, size_t err_size);
};

/* The last entry has the name NULL. */
extern const struct export_format export_formats[];

#define EXPORT_TO_STREAM(name)							\
	int export_##name(struct model *m, const struct export_options *o, FILE *out, char *err, \
			  size_t err_size)
#define EXPORT_TO_PATH(name)							\
	int export_##name(struct model *m, const struct export_options *o, const char *path, \
			  char *err, size_t err_size)

EXPORT_TO_STREAM(perfetto);
EXPORT_TO_STREAM(chrome);
EXPORT_TO_PATH(ctf);
EXPORT_TO_STREAM(speedscope);
EXPORT_TO_STREAM(folded);
EXPORT_TO_STREAM(pprof);
EXPORT_TO_STREAM(otlp);
EXPORT_TO_PATH(sqlite);

#endif
