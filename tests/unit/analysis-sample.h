/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces made by hand, for the tests of the analysis.  One tick is 1 ns.  The
 * test program is itself the module of the trace, so that its functions have
 * names and lines.
 */
#ifndef UNIT_ANALYSIS_SAMPLE_H
#define UNIT_ANALYSIS_SAMPLE_H

#include <link.h>
#include <linux/ldb.h>
#include <ldb/control.h>
#include "facts/model.h"
#include "trace-sample.h"

#define GEN(n)	((uint64_t)(n) << 16)

struct made {			/* a trace being written, then read */
	char path[256];
	struct writer *w;
	struct reader *reader;
	struct symtab *symtab;
	struct model *model;
};

static struct ldb_row_module made_self;

static int made_find_self(struct dl_phdr_info *info, size_t size, void *arg)
{
	static char exe[4096];
	uint64_t end = 0;
	ssize_t n;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			end = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n <= 0)
		bail_out("/proc/self/exe");
	made_self = (struct ldb_row_module){
		.flags = LDB_MODULE_F_INSTRUMENTED, .end_tick = INT64_MAX,
		.start = info->dlpi_addr ? info->dlpi_addr : 0x400000,
		.end = info->dlpi_addr + end, .bias = info->dlpi_addr, .build_id = "", .path = exe,
	};
	return 1;	/* the first one is the program */
}

TAP_FN void made_begin(struct made *t, const char *name)
{
	char err[256];

	*t = (struct made){ 0 };
	snprintf(t->path, sizeof(t->path), "%s", sample_path(name));
	t->w = writer_open(t->path, &sample_header, err, sizeof(err));
	if (!t->w)
		bail_out(err);
	dl_iterate_phdr(made_find_self, NULL);
	writer_add_module(t->w, &made_self);
}

TAP_FN void made_thread(struct made *t, uint32_t tid, const char *name, int64_t start, int64_t end)
{
	struct ldb_row_thread row = {
		.tid = tid, .start = start, .end = end, .name = name, .made = 1000, .seen = 10,
		.flags = LDB_THREAD_F_EXITED,
	};

	writer_add_thread(t->w, &row);
}

/* An invocation known to unc ticks at both ends: the estimates are exactly start and end. */
TAP_FN void made_func(struct made *t, uint32_t tid, const void *pc, const void *ret, unsigned gen,
		      unsigned parent, unsigned depth, int64_t start, int64_t end, uint64_t unc)
{
	struct ldb_row_func row = {
		.tid = tid, .pc = (uintptr_t)pc, .ret = (uintptr_t)ret, .gen = GEN(gen),
		.parent_gen = GEN(parent), .depth = depth, .start_max = start + (int64_t)(unc / 2),
		.end_max = end + (int64_t)(unc / 2), .start_unc = unc, .end_unc = unc,
	};

	writer_add_func(t->w, &row);
}

TAP_FN void made_lock(struct made *t, unsigned op, unsigned flags, uint32_t tid, uint64_t lock,
		      uint32_t owner, int64_t begin, int64_t end, unsigned gen)
{
	struct ldb_row_lock row = {
		.op = op, .flags = flags, .tid = tid, .lock = lock, .owner = owner,
		.begin = begin, .end = end, .gen = GEN(gen), .site = 0,
	};

	writer_add_lock(t->w, &row);
}

TAP_FN void made_wait(struct made *t, uint32_t tid, uint64_t lock, uint32_t owner, int64_t begin,
		      int64_t end, unsigned gen)
{
	made_lock(t, LDB_LOCK_OP_WAIT, LDB_LOCK_MUTEX, tid, lock, owner, begin, end, gen);
}

TAP_FN void made_hold(struct made *t, uint32_t tid, uint64_t lock, int64_t begin, int64_t end,
		      unsigned gen)
{
	made_lock(t, LDB_LOCK_OP_HOLD, LDB_LOCK_MUTEX | LDB_LOCK_F_BEGIN_EXACT, tid, lock, 0, begin,
		  end, gen);
}

/* A hold that was not stamped at its begin. */
TAP_FN void made_bounded_hold(struct made *t, uint32_t tid, uint64_t lock, int64_t end,
			      unsigned gen)
{
	made_lock(t, LDB_LOCK_OP_HOLD, LDB_LOCK_MUTEX, tid, lock, 0, end, end, gen);
}

TAP_FN void made_req(struct made *t, unsigned op, uint32_t tid, int64_t tick, uint64_t id,
		     uint64_t queue)
{
	struct ldb_row_req row = { .op = op, .tid = tid, .tick = tick, .id = id, .queue = queue };

	writer_add_req(t->w, &row);
}

/* tid 0: all threads. */
TAP_FN void made_gap(struct made *t, uint32_t tid, int64_t begin, int64_t end)
{
	struct ldb_row_gap row = { .tid = tid, .begin = begin, .end = end };

	writer_add_gap(t->w, &row);
}

TAP_FN void made_class(struct made *t, int64_t tick, uint64_t id, const char *name)
{
	struct ldb_row_reqname row = { .tick = tick, .id = id, .name = name };

	writer_add_reqname(t->w, &row);
}

/* Kernel events: the program is process 1, all of whose threads are watched. */

TAP_FN void made_task(struct made *t, uint32_t tid, uint32_t pid, const char *name)
{
	struct ldb_row_task row = { .tid = tid, .pid = pid, .name = name };

	writer_add_task(t->w, &row);
}

/* Tids below 100 are of the program. */
TAP_FN unsigned made_watched(uint32_t tid, uint32_t other)
{
	return (tid && tid < 100 ? LDB_SCHED_F_TID : 0) |
	       (other && other < 100 ? LDB_SCHED_F_OTHER : 0);
}

TAP_FN void made_sched(struct made *t, const struct ldb_row_sched *row)
{
	struct ldb_row_sched copy = *row;

	copy.flags |= made_watched(row->tid, row->other);
	writer_add_sched(t->w, &copy);
}

/* left gives the CPU to came; state: with LDB_SCHED_F_PREEMPT and others. */
TAP_FN void made_switch(struct made *t, int64_t tick, uint32_t cpu, uint32_t left, unsigned state,
			uint32_t came, unsigned gen)
{
	made_sched(t, &(struct ldb_row_sched){
		.op = made_watched(left, came) ? LDB_SCHED_OP_SWITCH : LDB_SCHED_OP_OCCUPANT,
		.flags = state, .cpu = cpu, .tick = tick, .tid = left, .other = came,
		.gen = GEN(gen),
	});
}

TAP_FN void made_waking(struct made *t, int64_t tick, uint32_t cpu, uint32_t waker, unsigned flags,
			uint32_t woken)
{
	made_sched(t, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_WAKING, .flags = flags, .cpu = cpu, .tick = tick, .tid = waker,
		.other = woken,
	});
}

TAP_FN void made_wakeup(struct made *t, int64_t tick, uint32_t cpu, uint32_t woken, uint32_t has)
{
	made_sched(t, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_WAKEUP, .cpu = cpu, .value = cpu, .tick = tick, .tid = woken,
		.other = has,
	});
}

TAP_FN void made_migrate(struct made *t, int64_t tick, uint32_t tid, uint32_t from, uint32_t to)
{
	made_sched(t, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_MIGRATE, .cpu = to, .tick = tick, .tid = tid, .addr = from,
		.value = to,
	});
}

TAP_FN void made_futex_wait(struct made *t, int64_t tick, uint32_t cpu, uint32_t tid, uint64_t addr,
			    uint32_t owner)
{
	writer_add_sched(t->w, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_FUTEX_WAIT, .flags = LDB_FUTEX_PLAIN | LDB_FUTEX_F_WORDS,
		.cpu = cpu, .tick = tick, .tid = tid, .other = owner, .addr = addr, .value = 2,
	});
}

TAP_FN void made_futex_wake(struct made *t, int64_t tick, uint32_t cpu, uint32_t tid, uint64_t addr)
{
	writer_add_sched(t->w, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_FUTEX_WAKE, .flags = LDB_FUTEX_PLAIN, .cpu = cpu, .tick = tick,
		.tid = tid, .addr = addr, .value = 1,
	});
}

TAP_FN void made_irq(struct made *t, uint32_t tid, int64_t start, int64_t end, unsigned kind,
		     uint32_t nr_short, const char *name)
{
	writer_add_irq(t->w, &(struct ldb_row_irq){
		.kind = kind, .nr = 3, .cpu = 1, .tid = tid, .start = start, .end = end,
		.nr_short = nr_short, .name = name,
	});
}

/* Closes the file and opens it for reading. */
TAP_FN void made_open(struct made *t)
{
	char err[256];

	if (t->w && writer_close(t->w))
		bail_out("writer_close");
	t->w = NULL;
	t->reader = reader_open(t->path, err, sizeof(err));
	if (!t->reader)
		bail_out(err);
	t->symtab = symtab_open(NULL);
	t->model = t->symtab ? model_open(t->reader, t->symtab, err, sizeof(err)) : NULL;
	if (!t->model)
		bail_out("model_open");
}

TAP_FN void made_close(struct made *t)
{
	model_close(t->model);
	symtab_close(t->symtab);
	reader_close(t->reader);
}

#endif
