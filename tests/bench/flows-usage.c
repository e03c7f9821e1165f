// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This library is preloaded into each program that flows.sh measures.  At exit it adds a line "NAME
 * CPU_US MEMORY_KB" to the file $FLOWS_USAGE.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

__attribute__((destructor)) static void at_exit(void)
{
	const char *path = getenv("FLOWS_USAGE");
	struct rusage u;
	FILE *f;

	if (!path || getrusage(RUSAGE_SELF, &u))
		return;
	f = fopen(path, "a");
	if (!f)
		return;
	fprintf(f, "%s %ld %ld\n", program_invocation_short_name, u.ru_utime.tv_sec * 1000000 + u.ru_utime.tv_usec +
		u.ru_stime.tv_sec * 1000000 + u.ru_stime.tv_usec, u.ru_maxrss);
	fclose(f);
}
