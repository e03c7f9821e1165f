// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This library is preloaded into a recorder: it makes the time of day run 3 ms ahead, as on another
 * machine.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	static int (*next)(clockid_t, struct timespec *);

	if (!next)
		next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	if (next(clock, ts))
		return -1;
	if (clock == CLOCK_REALTIME) {
		ts->tv_nsec += 3000000;
		ts->tv_sec += ts->tv_nsec / 1000000000;
		ts->tv_nsec %= 1000000000;
	}
	return 0;
}
