// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include "record/session/cpulist.h"

unsigned cpulist_read(const char *path, uint8_t *is_in)
{
	FILE *f = fopen(path, "r");
	unsigned from, to, nr = 0;
	char sep = ',';

	while (f && sep == ',' && fscanf(f, "%u", &from) == 1) {
		to = from;
		if (fscanf(f, "%c", &sep) != 1)
			sep = '\n';
		if (sep == '-' && (fscanf(f, "%u", &to) != 1 || fscanf(f, "%c", &sep) != 1))
			sep = '\n';
		if (to >= CPULIST_MAX)
			to = CPULIST_MAX - 1;
		for (unsigned cpu = from; is_in && cpu <= to; cpu++)
			is_in[cpu] = 1;
		if (to >= nr)
			nr = to + 1;
	}
	if (f)
		fclose(f);
	return nr;
}
