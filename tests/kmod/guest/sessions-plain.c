// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creates sessions, one after the other: joins each, registers a thread, and closes it.
 *
 *	sessions-plain NUMBER UID	prints how many there were, or why there were no more
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/ldb.h>

static int one(void)
{
	struct ldb_create c = {
		.size = sizeof(c), .events = LDB_GROUP_ALL, .ring_order = 8, .scan_ring_order = 8,
		.max_threads = 1,
	};
	struct ldb_reg reg = { .tid = syscall(SYS_gettid) };
	int fd = open(LDB_DEVICE, O_RDWR), rc;

	rc = fd < 0 || ioctl(fd, LDB_IOC_CREATE, &c) || ioctl(fd, LDB_IOC_JOIN) || ioctl(fd, LDB_IOC_REG, &reg) ?
	     errno : 0;
	close(fd);
	return rc;
}

int main(int argc, char **argv)
{
	unsigned nr = argc > 2 ? atoi(argv[1]) : 1, uid = argc > 2 ? atoi(argv[2]) : 0;

	if (setuid(uid))
		return 1;
	for (unsigned i = 0; i < nr; i++) {
		int error = one();

		if (error) {
			puts(strerror(error));
			return 1;
		}
	}
	printf("%u sessions\n", nr);
	return 0;
}
