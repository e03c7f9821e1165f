// SPDX-License-Identifier: GPL-2.0-or-later
#include "rows.h"
#include "syscalls.h"
#include "ticks.h"

struct sink {
	struct model *m;
	int (*call)(void *arg, const struct syscall *c);
	void *arg;
};

static int on_row(void *arg, const void *at)
{
	const struct ldb_row_syscall *row = at;
	const struct sink *sink = arg;
	int64_t start = ticks_sane(row->start), end = ticks_sane(row->end);
	const char *name = model_keep_string(sink->m, row->name);
	bool is_sleep = row->flags & LDB_SYSCALL_F_SLEEP;

	return sink->call(sink->arg, &(struct syscall){
		.tid = row->tid, .thread = model_thread(sink->m, row->tid, start),
		.start = start, .end = end > start ? end : start, .is_sleep = is_sleep,
		.is_ring = LDB_SYSCALL_IS_RING(row->nr),
		.call = {
			.name = *name ? name : "a system call", .file = model_keep_string(sink->m, row->file),
			.has_result = !is_sleep, .result = row->result, .arg0 = row->arg0, .arg = row->arg,
			.which = LDB_SYSCALL_ARG(row->flags), .nr_short = row->nr_short,
		},
	});
}

int syscalls_each(struct model *m, const struct reader_filter *filter,
		  int (*call)(void *arg, const struct syscall *c), void *arg)
{
	struct sink sink = { .m = m, .call = call, .arg = arg };

	return rows_each(m->reader, LDB_BLK_SYSCALL, filter, on_row, &sink);
}
