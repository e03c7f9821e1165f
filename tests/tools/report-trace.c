// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a trace with known content: report-trace KIND FILE.
 *
 *	figure1		a request waits for a lock that another thread holds
 *	empty		no events at all
 *	plain		functions only: no locks, no requests
 *	hostile		names that try to steer the terminal
 *	big [ROWS]	that many invocations of a few functions
 */
#include <errno.h>
#include "unit/analysis-sample.h"

#define LOCK	((uint64_t)(uintptr_t)&db_lock)

int db_lock[10];

__attribute__((noinline)) void request_handler(void)	{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void lookup(void)		{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void snapshot(void)		{ __asm__ volatile("nop; nop" ::: "memory"); }

static struct made t;

static void func(uint32_t tid, void (*f)(void), void (*from)(void), unsigned gen, unsigned parent,
		 unsigned depth, int64_t start, int64_t end)
{
	made_func(&t, tid, (char *)f + 1, from ? (char *)from + 2 : NULL, gen, parent, depth, start,
		  end, 100);
}

static void figure1(void)
{
	made_thread(&t, 1, "main", 0, 100000000);
	made_thread(&t, 2, "snapshotter", 0, 100000000);
	for (int i = 0; i < 200; i++) {
		int64_t at = i * 100000;

		made_req(&t, LDB_REQ_OP_START, 1, at, i, 0);
		made_class(&t, at, i, i % 2 ? "GET" : "SET");
		func(1, request_handler, lookup, 10 + i, 0, 0, at + 100, at + 1000);
		made_req(&t, LDB_REQ_OP_END, 1, at + 1100, i, 0);
	}
	made_req(&t, LDB_REQ_OP_START, 1, 30000000, 4711, 0);
	func(1, request_handler, lookup, 500, 0, 0, 30000100, 42700000);
	made_wait(&t, 1, LOCK, 2, 30000200, 42500000, 500);
	made_req(&t, LDB_REQ_OP_END, 1, 42750000, 4711, 0);
	func(2, snapshot, NULL, 9, 0, 0, 29900000, 42499000);
	made_hold(&t, 2, LOCK, 29940000, 42499500, 9);
	/* The same id again, shorter. */
	made_req(&t, LDB_REQ_OP_START, 1, 50000000, 4711, 0);
	made_req(&t, LDB_REQ_OP_END, 1, 50000500, 4711, 0);
	writer_add_lost(t.w, &(struct ldb_row_lost){ .count = 3, .what = LDB_LOST_OVERRUN });
	writer_add_gap(t.w, &(struct ldb_row_gap){ .tid = 0, .begin = 10, .end = 2000010 });
	writer_add_meta(t.w, "cmdline", "./figure1 -q");
	writer_add_meta(t.w, "end", "exit:0");
}

static void hostile(void)
{
	made_thread(&t, 1, "\033]0;owned\007", 0, 1000000);
	writer_add_meta(t.w, "cmdline", "\033[2Jcat \"/etc/passwd\"\n\xff\xfe");
	writer_add_module(t.w, &(struct ldb_row_module){
		.start = 0x1000, .end = 0x2000, .path = "/tmp/\033[31m\n,\"evil\"", .build_id = "00",
		.end_tick = INT64_MAX });
	made_func(&t, 1, (void *)0x1010, (void *)0x1020, 1, 0, 0, 100, 200, 0);
	made_req(&t, LDB_REQ_OP_START, 1, 50, UINT64_MAX, 0);
	made_class(&t, 60, UINT64_MAX, "\033[31mclass\n");
	made_wait(&t, 1, 0x1030, 1, 120, 5000, 1);
	made_req(&t, LDB_REQ_OP_END, 1, 10000, UINT64_MAX, 0);
}

static void big(long rows)
{
	for (long i = 0; i < rows; i++)
		func(1 + i % 4, i % 3 ? request_handler : lookup, i % 5 ? snapshot : lookup, i + 2, 1,
		     1, i * 100, i * 100 + 50 + i % 1000);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";

	if (argc < 3) {
		fputs("usage: report-trace KIND FILE [ROWS]\n", stderr);
		return 2;
	}
	made_begin(&t, "trace");
	if (!strcmp(kind, "figure1"))
		figure1();
	else if (!strcmp(kind, "plain"))
		func(1, lookup, snapshot, 1, 0, 0, 100, 200);
	else if (!strcmp(kind, "hostile"))
		hostile();
	else if (!strcmp(kind, "big"))
		big(argc > 3 ? atol(argv[3]) : 1000000);
	if (writer_close(t.w))
		return 1;
	/* Made in a folder of its own, which may be on another file system. */
	char command[1024];

	snprintf(command, sizeof(command), "mv '%s' '%s'", t.path, argv[2]);
	if (system(command))
		return 1;
	sample_cleanup();
	return 0;
}
