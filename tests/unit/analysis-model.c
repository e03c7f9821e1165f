// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests what a trace says about the recording and its recorder. */
#include "analysis-sample.h"

static struct made t;

static void test_kernel_only(const char *value, bool is_only)
{
	made_begin(&t, "kernel-only.data");
	if (value)
		writer_add_meta(t.w, "kernel_only", value);
	made_open(&t);
	ok(t.model->is_kernel_only == is_only, "kernel_only %s", value ? value : "is not said");
	made_close(&t);
}

/* There are three scanners; one has a second row, and one has a number that is impossible. */
static void test_scanners(void)
{
	static const uint32_t numbers[] = { 0, 2, 1, LDB_MAX_SCANNERS, 2 };

	made_begin(&t, "scanners.data");
	for (uint32_t i = 0; i < 5; i++)
		writer_add_scan(t.w, &(struct ldb_row_scan){ .scanner = numbers[i], .rounds = 10 + i,
							     .paused = i == 1 ? 900 : 100 });
	made_open(&t);
	is_int(t.model->nr_scanners, 3, "all scanners");
	ok(t.model->scanners[0].rounds == 10 && t.model->scanners[1].rounds == 12 &&
	   t.model->scanners[2].rounds == 14, "the last row of each");
	is_int(t.model->paused_ns, 900, "the longest pause");
	made_close(&t);
}

int main(void)
{
	test_kernel_only("1", true);
	test_kernel_only("0", false);
	test_kernel_only(NULL, false);
	test_scanners();
	return done();
}
