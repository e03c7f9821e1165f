// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program pauses its recording and continues it: ten requests of class "before", ten of class
 * "paused" meanwhile, and ten of class "after".  Then it requests a dump.  It sleeps between these
 * steps, because each takes some time to have an effect.
 */
#define _GNU_SOURCE
#include <ldb/ldb.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned sum;

__attribute__((noinline)) void serve(uint64_t first, const char *class)
{
	for (uint64_t id = first; id < first + 10; id++) {
		ldb_req_start(id, NULL);
		ldb_req_class(id, class);
		for (int i = 0; i < 10000; i++)
			sum++;
		ldb_req_end(id);
	}
}

int main(void)
{
	errno = 4242;
	serve(100, "before");
	ldb_record_stop();
	usleep(500000);
	serve(200, "paused");
	ldb_record_start();
	usleep(500000);
	serve(300, "after");
	ldb_record_dump("all is said");
	printf("record-control: errno %d\n", errno);
	usleep(500000);
	return 0;
}
