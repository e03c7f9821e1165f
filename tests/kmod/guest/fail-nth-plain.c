// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the N-th allocation of the kernel fail, for every N, while a session is created, mapped and
 * joined and a thread is registered: each call must succeed, or fail with ENOMEM.  It needs a kernel
 * with fault injection (the debug kernel), and prints TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/ldb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tap.h"

static int nth_fd;

static void fail_nth(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	if (pwrite(nth_fd, text, len, 0) != len)
		bail_out("cannot set fail-nth");
}

/* Returns the remaining count; 0: the allocation was reached, and failed. */
static int left(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) < 0)
		bail_out("cannot read fail-nth");
	return atoi(text);
}

/*
 * Returns the errno of the first call that failed, or 0; *rest: how many allocations were left of
 * n.
 */
static int use_session(int n, int *rest)
{
	struct ldb_create create = {
		.size = sizeof(create), .events = LDB_GROUP_ALL, .ring_order = 8, .scan_ring_order = 8,
		.nr_scanners = 1, .max_threads = 4,
	};
	struct ldb_reg reg = { .tid = gettid() };
	void *area = MAP_FAILED;
	int err = 0, fd;

	fail_nth(n);
	fd = open(LDB_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, LDB_IOC_CREATE, &create))
		err = errno;
	if (!err) {
		area = mmap(NULL, create.total_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (area == MAP_FAILED)
			err = errno;
	}
	if (!err && (ioctl(fd, LDB_IOC_JOIN) || ioctl(fd, LDB_IOC_REG, &reg)))
		err = errno;
	*rest = left();
	/* munmap() allocates as well, and a mapping that remains holds the session. */
	fail_nth(0);
	if (area != MAP_FAILED)
		munmap(area, create.total_size);
	if (fd >= 0)
		close(fd);
	return err;
}

int main(void)
{
	int n, rest, err = 0, nr_failed = 0, nr_odd = 0;

	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		skip_all("a kernel without fault injection");
	fail_nth(0);
	ok(use_session(0, &rest) == 0, "without failures it works");
	for (n = 1; n < 5000; n++) {
		err = use_session(n, &rest);
		if (rest > 0)
			break;
		nr_failed += err != 0;
		if (err && err != ENOMEM) {
			diag("allocation %d: %s", n, strerror(err));
			nr_odd++;
		}
	}
	diag("%d allocations, %d of them made a call fail", n - 1, nr_failed);
	ok(n > 10 && n < 5000, "every allocation had its turn");
	ok(nr_failed > 0, "some made a call fail");
	is_int(nr_odd, 0, "all of these with ENOMEM");
	ok(use_session(0, &rest) == 0, "afterwards it works as before");
	return done();
}
