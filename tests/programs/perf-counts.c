// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the number of a process's perf events, and the sum of their counts.  If the sum does not
 * change, the events are switched off, and slow nothing down.
 *
 *	perf-counts PID
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int nr;
static uint64_t sum;

static void add(int fd)
{
	uint64_t values[8];

	if (read(fd, values, sizeof(values)) < (ssize_t)sizeof(*values))
		return;
	nr++;
	sum += values[0];
}

int main(int argc, char **argv)
{
	int pidfd = argc > 1 ? syscall(SYS_pidfd_open, atoi(argv[1]), 0) : -1;
	char path[64], link[512], target[64];
	struct dirent *e;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%s/fd", argc > 1 ? argv[1] : "");
	fds = opendir(path);
	if (pidfd < 0 || !fds)
		return 1;
	while ((e = readdir(fds))) {
		ssize_t n;
		int fd;

		snprintf(link, sizeof(link), "%s/%s", path, e->d_name);
		n = readlink(link, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		if (strcmp(target, "anon_inode:[perf_event]"))
			continue;
		fd = syscall(SYS_pidfd_getfd, pidfd, atoi(e->d_name), 0);
		if (fd < 0)
			return 1;
		add(fd);
		close(fd);
	}
	printf("%d %" PRIu64 "\n", nr, sum);
	return 0;
}
