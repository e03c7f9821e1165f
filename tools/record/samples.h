/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples the code addresses of running threads by perf_event_open(), so that time in
 * uninstrumented code, and the parts of a function, can be named.  The clock is the CPU's count of
 * cycles; where there is none, as in most virtual machines, it is the kernel's cpu-clock.  There is
 * one clock for each CPU.  The kernel would program a clock of each thread again at each switch;
 * for a program that switches often, that costs many times as much as its samples do.
 *
 * A sample in a library also has the place where the program called it: the first word on the stack
 * that is an address in code with records, behind a call.  It may be left from an earlier call, so
 * a reader compares it with the function that was running.
 */
#ifndef RECORD_SAMPLES_H
#define RECORD_SAMPLES_H

#include "record/modules.h"

struct ksyms;
struct samples;

struct samples_options {
	pid_t pid;
	unsigned hz;		/* of each CPU's time */
	bool may_slow;		/* without privileges, too: with a clock of each thread */
	uint64_t cycles_hz;	/* how many cycles of the CPU a second has, nearly */
	unsigned clock_id;	/* enum ldb_clock: rows are stamped in it */
	uint64_t t0;		/* clock value that is tick 0 */
	int64_t offset_ns;	/* clock_offset() of the program */
	const struct modules *modules;
	void (*row)(void *arg, unsigned kind, const void *row);
	void *arg;
};

/* From here on samples are taken.  If it returns NULL, why is one line. */
struct samples *samples_open(const struct samples_options *o, char *why, size_t size);
void samples_close(struct samples *s);

/* "cpu-clock" or "cycles". */
const char *samples_clock(const struct samples *s);
/* Are no samples taken in the kernel? */
bool samples_are_user_only(const struct samples *s);

/* Delivers rows. */
void samples_poll(struct samples *s);

/* Ends the samples, so that they cost the program nothing, or begins them again. */
void samples_pause(struct samples *s, bool pause);

/* Ends the samples; delivers the remaining rows, and the names of the kernel's functions. */
void samples_finish(struct samples *s);

/* Returns a copy of the places in the kernel, whose names any thread may look up; NULL: no memory. */
struct ksyms *samples_kernel_places(const struct samples *s);

uint64_t samples_nr(const struct samples *s);
uint64_t samples_lost(const struct samples *s);	/* after samples_finish() */

#endif
