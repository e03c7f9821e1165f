/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes traces by hand, for the tests of the analysis.  One tick is 1 ns.  The test program is
 * itself the module of the trace, so that its functions have names and lines.
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

/*
 * Rows are written by the names of their fields: made_func(t, .tid = 1, .pc = f, .end = 9).  A
 * field that is not given is 0: no caller, no parent, no owner, the first CPU, the idle task.
 */

/*
 * Makes a call whose ends are known to within unc ticks; the estimates are exactly start and end.
 */
struct made_func {
	uint32_t tid;
	const void *pc, *ret;
	unsigned gen, parent, depth, flags;
	int64_t start, end;
	uint64_t unc;
};

#define made_func(t, ...)	made_func_row(t, &(struct made_func){ __VA_ARGS__ })

TAP_FN void made_func_row(struct made *t, const struct made_func *f)
{
	struct ldb_row_func row = {
		.tid = f->tid, .pc = (uintptr_t)f->pc, .ret = (uintptr_t)f->ret, .gen = GEN(f->gen),
		.parent_gen = GEN(f->parent), .depth = f->depth, .flags = f->flags,
		.start_max = f->start + (int64_t)(f->unc / 2), .start_unc = f->unc,
		.end_max = f->end + (int64_t)(f->unc / 2), .end_unc = f->unc,
	};

	writer_add_func(t->w, &row);
}

struct made_lock {
	unsigned op, flags, gen;
	uint32_t tid, owner, nr_later;
	uint64_t lock, site;
	int64_t begin, end;
};

#define made_lock(t, ...)	made_lock_row(t, &(struct made_lock){ __VA_ARGS__ })

TAP_FN void made_lock_row(struct made *t, const struct made_lock *l)
{
	struct ldb_row_lock row = {
		.op = l->op, .flags = l->flags, .tid = l->tid, .lock = l->lock, .owner = l->owner,
		.begin = l->begin, .end = l->end, .gen = GEN(l->gen), .site = l->site,
		.nr_later = l->nr_later,
	};

	writer_add_lock(t->w, &row);
}

#define made_wait(t, ...)	\
	made_lock(t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_MUTEX, __VA_ARGS__)
#define made_hold(t, ...)	\
	made_lock(t, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_MUTEX | LDB_LOCK_F_BEGIN_EXACT, \
		  __VA_ARGS__)

/* Makes a hold that was not stamped at its start. */
#define made_bounded_hold(t, ...)	made_bounded_hold_row(t, (struct made_lock){ __VA_ARGS__ })

TAP_FN void made_bounded_hold_row(struct made *t, struct made_lock l)
{
	l.op = LDB_LOCK_OP_HOLD;
	l.flags = LDB_LOCK_MUTEX;
	l.begin = l.end;
	made_lock_row(t, &l);
}

#define made_req(t, ...)	writer_add_req((t)->w, &(struct ldb_row_req){ __VA_ARGS__ })

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

/* Kernel events: the program is process 1, all of whose threads are observed. */

TAP_FN void made_task(struct made *t, uint32_t tid, uint32_t pid, const char *name)
{
	struct ldb_row_task row = { .tid = tid, .pid = pid, .name = name };

	writer_add_task(t->w, &row);
}

/* Tids below 100 belong to the program. */
TAP_FN unsigned made_observed(uint32_t tid, uint32_t other)
{
	return (tid && tid < 100 ? LDB_SCHED_F_TID : 0) |
	       (other && other < 100 ? LDB_SCHED_F_OTHER : 0);
}

TAP_FN void made_sched(struct made *t, const struct ldb_row_sched *row)
{
	struct ldb_row_sched copy = *row;

	copy.flags |= made_observed(row->tid, row->other);
	writer_add_sched(t->w, &copy);
}

/* prev leaves the CPU and next comes; state: of prev, with LDB_SCHED_F_PREEMPT and others. */
struct made_switch {
	int64_t tick;
	uint32_t cpu, prev, next;
	unsigned state, gen;
	uint32_t stolen;	/* ns */
};

#define made_switch(t, ...)	made_switch_row(t, &(struct made_switch){ __VA_ARGS__ })

TAP_FN void made_switch_row(struct made *t, const struct made_switch *s)
{
	made_sched(t, &(struct ldb_row_sched){
		.op = made_observed(s->prev, s->next) ? LDB_SCHED_OP_SWITCH : LDB_SCHED_OP_RUNNING,
		.flags = s->state, .cpu = s->cpu, .tick = s->tick, .tid = s->prev, .other = s->next,
		.gen = GEN(s->gen), .value = s->stolen,
	});
}

struct made_waking {
	int64_t tick;
	uint32_t cpu, waker, woken;
	unsigned flags;
};

#define made_waking(t, ...)	made_waking_row(t, &(struct made_waking){ __VA_ARGS__ })

TAP_FN void made_waking_row(struct made *t, const struct made_waking *k)
{
	made_sched(t, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_WAKING, .flags = k->flags, .cpu = k->cpu, .tick = k->tick,
		.tid = k->waker, .other = k->woken,
	});
}

/* woken is runnable on cpu, where another task is running. */
struct made_wakeup {
	int64_t tick;
	uint32_t cpu, woken, running;
};

#define made_wakeup(t, ...)	made_wakeup_row(t, &(struct made_wakeup){ __VA_ARGS__ })

TAP_FN void made_wakeup_row(struct made *t, const struct made_wakeup *k)
{
	made_sched(t, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_WAKEUP, .cpu = k->cpu, .value = k->cpu, .tick = k->tick,
		.tid = k->woken, .other = k->running,
	});
}

struct made_migrate {
	int64_t tick;
	uint32_t tid, from, to;
};

#define made_migrate(t, ...)	made_migrate_row(t, &(struct made_migrate){ __VA_ARGS__ })

TAP_FN void made_migrate_row(struct made *t, const struct made_migrate *m)
{
	made_sched(t, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_MIGRATE, .cpu = m->to, .tick = m->tick, .tid = m->tid,
		.addr = m->from, .value = m->to,
	});
}

struct made_futex {
	int64_t tick;
	uint32_t cpu, tid, owner;	/* owner: the owner that a wait names */
	uint64_t addr;
};

#define made_futex_wait(t, ...)	made_futex_wait_row(t, &(struct made_futex){ __VA_ARGS__ })
#define made_futex_wake(t, ...)	made_futex_wake_row(t, &(struct made_futex){ __VA_ARGS__ })

TAP_FN void made_futex_wait_row(struct made *t, const struct made_futex *f)
{
	writer_add_sched(t->w, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_FUTEX_WAIT, .flags = LDB_FUTEX_PLAIN | LDB_FUTEX_F_WORDS,
		.cpu = f->cpu, .tick = f->tick, .tid = f->tid, .other = f->owner, .addr = f->addr,
		.value = 2,
	});
}

TAP_FN void made_futex_wake_row(struct made *t, const struct made_futex *f)
{
	writer_add_sched(t->w, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_FUTEX_WAKE, .flags = LDB_FUTEX_PLAIN, .cpu = f->cpu,
		.tick = f->tick, .tid = f->tid, .addr = f->addr, .value = 1,
	});
}

#define made_irq(t, ...)	\
	writer_add_irq((t)->w, &(struct ldb_row_irq){ .nr = 3, .cpu = 1, __VA_ARGS__ })

/* Without a length the row is a sleep, and start is when the thread left its CPU. */
#define made_call(t, ...)	made_call_row(t, (struct ldb_row_syscall){ __VA_ARGS__ })

TAP_FN void made_call_row(struct made *t, struct ldb_row_syscall row)
{
	if (!row.end)
		row.flags |= LDB_SYSCALL_F_SLEEP;
	if (!row.end)
		row.end = row.start;
	writer_add_syscall(t->w, &row);
}

/*
 * Components are modules of one page each; MADE_COMPONENT(0) is the program.  Calls between
 * components are recorded with this threshold.
 */
#define MADE_COMPONENT(n)	(0x100000000ULL + (uint64_t)(n) * 0x10000)

TAP_FN void made_flows(struct made *t, int64_t threshold_ns, unsigned nr_components)
{
	char text[64];

	snprintf(text, sizeof(text), "%lld", (long long)threshold_ns);
	writer_add_meta(t->w, "flows_threshold_ns", text);
	writer_add_meta(t->w, "exe", "/usr/bin/app");
	for (unsigned i = 0; i < nr_components; i++) {
		snprintf(text, sizeof(text), i ? "/usr/lib/lib%u.so.%u" : "/usr/bin/app", i, i);
		writer_add_module(t->w, &(struct ldb_row_module){
			.end_tick = INT64_MAX, .start = MADE_COMPONENT(i), .end = MADE_COMPONENT(i + 1),
			.bias = MADE_COMPONENT(i), .build_id = "", .path = text,
		});
	}
}

#define made_flow_api(t, ...)	\
	writer_add_flow_api((t)->w, &(struct ldb_row_flow_api){ __VA_ARGS__ })
#define made_flow(t, ...)	writer_add_flow((t)->w, &(struct ldb_row_flow){ __VA_ARGS__ })
#define made_flow_hist(t, ...)	\
	writer_add_flow_hist((t)->w, &(struct ldb_row_flow_hist){ __VA_ARGS__ })
#define made_flow_call(t, ...)	\
	writer_add_flow_call((t)->w, &(struct ldb_row_flow_call){ __VA_ARGS__ })

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
