/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples the code addresses of running threads by perf_event_open(), so that time in
 * uninstrumented code, and in parts of a function, can be attributed.  Samples are taken by the
 * CPU's cycle counter; if it has none, as in most virtual machines, by the kernel's cpu-clock.
 * There is one counter for each CPU, or, if that is not permitted and may_slow is set, one for each
 * thread and CPU.  A thread's counter is programmed again at each switch, which costs a program
 * that switches often many times as much as the samples do.
 *
 * A sample in a library also contains the place where the program called the library: the first
 * word on the stack that is a return address in instrumented code.  That word may be left from an
 * earlier call, so a reader compares it with the function that was running.
 */
#ifndef RECORD_PERF_SAMPLES_H
#define RECORD_PERF_SAMPLES_H

#include <sys/types.h>
#include "record/names/modules.h"

struct ksyms;
struct samples;

struct samples_options {
	pid_t pid;
	unsigned hz;		/* samples per second of CPU time */
	/* take samples without privileges, too, with a counter for each thread */
	bool may_slow;
	uint64_t cycles_hz;	/* approximate number of CPU cycles in a second */
	unsigned clock_id;	/* enum ldb_clock: rows are stamped in it */
	uint64_t t0;		/* clock value that is tick 0 */
	int64_t offset_ns;	/* clock_offset() of the program */
	const struct modules *modules;
	void (*row)(void *arg, unsigned kind, const void *row);
	void *arg;
};

/*
 * Starts to take samples.  Returns NULL on failure, and writes the reason into `why` as one line.
 */
struct samples *samples_open(const struct samples_options *o, char *why, size_t size);
void samples_close(struct samples *s);

/* Returns "cpu-clock" or "cycles". */
const char *samples_clock(const struct samples *s);
/* Returns true if no samples can be taken in the kernel. */
bool samples_are_user_only(const struct samples *s);

/*
 * Delivers the rows of new samples, except those of the last 20 ms, before which others may arrive.
 */
void samples_poll(struct samples *s);

/* Stops or resumes sampling; while it is stopped, it costs the program nothing. */
void samples_pause(struct samples *s, bool pause);

/* Ends sampling; delivers the remaining rows, and the names of functions in the kernel. */
void samples_finish(struct samples *s);

/*
 * Returns a copy of the numbered addresses in the kernel, which any thread may use; NULL: no
 * memory.
 */
struct ksyms *samples_kernel_places(const struct samples *s);

uint64_t samples_nr(const struct samples *s);
/* number of lost samples; complete after samples_finish() */
uint64_t samples_lost(const struct samples *s);

#endif
