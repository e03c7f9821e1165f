// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A kernel was seen (6.18, in a virtual machine) in which perf did not deliver,
 * to any user of it, the events that happened while certain tasks ran: the idle
 * task of one CPU, threads of a daemon.  Neither their switches nor the wakeups
 * by interrupts that came meanwhile, and nothing said that they were lost.  (perf
 * keeps in each task in which contexts it is inside perf, to tell recursion from
 * a new event; where those marks are stale, everything looks like recursion.)
 *
 * perf-watch.c notices: an event's thread is not the one that came to the CPU
 * last.  PERF_RECORD_SWITCH_CPU_WIDE takes another way and is not concerned; it
 * is then asked for as well, on that CPU, so that no switch is missed.  Wakeups
 * stay missing.
 */
#include <sched.h>
#include <time.h>
#include "record/perf-private.h"

#define SLEEP_NS	100000

bool perf_deaf_pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu < CPU_SETSIZE)
		CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

void perf_deaf_provoke(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
}
