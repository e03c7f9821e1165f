// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses the session's clock: the time stamp counter where the kernel relies on it, else
 * CLOCK_MONOTONIC.  A trace uses one clock for everything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "arch/cpu.h"
#include "record/process/proc.h"
#include "record/session/session.h"

#define SAMPLES			5
#define CALIBRATE_NS		10000000	/* least time between two samples */

/*
 * Returns true if the first line that begins with `name` (NULL: the first line) contains this word.
 */
static bool file_has_word(const char *path, const char *name, const char *word)
{
	FILE *f = fopen(path, "r");
	char *line = NULL, *save, *token;
	bool found = false;
	size_t room = 0;

	while (f && !found && getline(&line, &room, f) > 0) {
		if (name && strncmp(line, name, strlen(name)))
			continue;
		for (token = strtok_r(line, " \t\n:", &save); token && !found;
		     token = strtok_r(NULL, " \t\n:", &save))
			found = !strcmp(token, word);
		break;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

static bool cpu_has(const char *flag)
{
	return file_has_word("/proc/cpuinfo", "flags", flag);
}

unsigned clock_choose(void)
{
	/*
	 * The kernel removes the TSC from this list when its watchdog has found that the TSC
	 * drifts.
	 */
	if (cpu_stamp_is_steady(cpu_has) &&
	    file_has_word("/sys/devices/system/clocksource/clocksource0/available_clocksource",
			  NULL, CPU_CLOCKSOURCE))
		return LDB_CLOCK_TSC;
	return LDB_CLOCK_MONO;
}

const char *clock_name(unsigned clock_id)
{
	return clock_id == LDB_CLOCK_TSC ? "tsc" : "monotonic";
}

static int64_t read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

int64_t clock_mono_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

static int64_t shift_ns;	/* the program's CLOCK_MONOTONIC minus this process's */

uint64_t clock_now(unsigned clock_id)
{
	return clock_id == LDB_CLOCK_TSC ? cpu_stamp() :
	       (uint64_t)(read_ns(CLOCK_MONOTONIC) + shift_ns);
}

/* Time namespaces */

/* Reads timens_offsets, which is for the namespace of the process's future children. */
static bool read_offset(pid_t pid, int64_t *ns)
{
	FILE *f = proc_open(pid, 0, "timens_offsets");
	long long seconds, rest;
	bool found = false;
	char line[128];

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "monotonic %lld %lld", &seconds, &rest) == 2;
	if (f)
		fclose(f);
	if (found)
		*ns = seconds * 1000000000 + rest;
	return found;
}

bool clock_offset(pid_t pid, int64_t *ns)
{
	struct stat own, its, children;

	*ns = 0;
	/* Without this file, the kernel has no time namespaces. */
	if (!proc_stat(0, "ns/time", &own))
		return true;
	/*
	 * If main() has ended with pthread_exit(), the first thread's files are empty, but other
	 * threads' are not.
	 */
	if (pid && !proc_stat(pid, "ns/time", &its))
		pid = proc_living_thread(pid) ?: pid;
	/*
	 * If the namespace may not be read, the process is most probably in the same one as its
	 * future children.
	 */
	if (!proc_stat(pid, "ns/time", &its) ||
	    !proc_stat(pid, "ns/time_for_children", &children) || proc_is_same(&its, &children))
		return read_offset(pid, ns);
	/* The process has created a namespace for its future children, but is not in it itself. */
	return pid && proc_is_same(&its, &own) && clock_offset(0, ns);
}

void clock_follow(int64_t offset_ns)
{
	int64_t own;

	shift_ns = clock_offset(0, &own) ? offset_ns - own : 0;
}

void clock_sample(unsigned clock_id, struct ldb_row_clock *row)
{
	row->err = UINT64_MAX;
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t before = clock_now(clock_id), after;
		struct ldb_row_clock c;

		c.raw_ns = read_ns(CLOCK_MONOTONIC_RAW);
		c.mono_ns = read_ns(CLOCK_MONOTONIC);
		c.real_ns = read_ns(CLOCK_REALTIME);
		after = clock_now(clock_id);
		c.tick = before + (after - before) / 2;
		c.err = (after - before + 1) / 2;
		if (c.err < row->err)
			*row = c;
	}
}

uint64_t clock_calibrate(unsigned clock_id, const struct ldb_row_clock *first)
{
	struct ldb_row_clock last;
	int64_t wait;

	if (clock_id != LDB_CLOCK_TSC)
		return 1000000000;
	wait = first->raw_ns + CALIBRATE_NS - read_ns(CLOCK_MONOTONIC_RAW);
	if (wait > 0)
		nanosleep(&(struct timespec){ .tv_nsec = wait }, NULL);
	clock_sample(clock_id, &last);
	return (unsigned __int128)(last.tick - first->tick) * 1000000000 /
	       (last.raw_ns - first->raw_ns);
}
