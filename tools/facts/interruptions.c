// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include <ldb/control.h>
#include "interruptions.h"
#include "rows.h"
#include "ticks.h"
#include "trace/request-words.h"

enum whose { OF_PROGRAM, OF_TURN, OF_ID };

struct sink {
	struct model *m;
	int (*fault)(void *arg, const struct fault *f);
	int (*irq)(void *arg, const struct irq *i);
	int (*mark)(void *arg, const struct marked *k);
	enum whose whose;	/* which kind of event rows is wanted */
	void *arg;
};

static int on_fault_row(void *arg, const void *at)
{
	const struct ldb_row_fault *row = at;
	const struct sink *sink = arg;
	int64_t tick = ticks_sane(row->tick);

	return sink->fault(sink->arg, &(struct fault){
		.tick = tick, .tid = row->tid, .thread = model_thread(sink->m, row->tid, tick),
		.addr = row->addr, .pc = row->pc,
		.is_kernel = row->flags & LDB_FAULT_F_KERNEL,
		.is_major = row->flags & LDB_FAULT_ROW_MAJOR,
		.has_major = row->flags & (LDB_FAULT_ROW_MINOR | LDB_FAULT_ROW_MAJOR),
	});
}

static int on_irq_row(void *arg, const void *at)
{
	const struct ldb_row_irq *row = at;
	const struct sink *sink = arg;
	int64_t start = ticks_sane(row->start), end = ticks_sane(row->end);

	return sink->irq(sink->arg, &(struct irq){
		.tid = row->tid, .thread = model_thread(sink->m, row->tid, start),
		.cpu = row->cpu, .start = start, .end = end > start ? end : start,
		.kind = row->kind, .nr = row->nr,
		.name = model_keep_string(sink->m, row->name), .nr_short = row->nr_short,
	});
}

static enum whose whose_is(const char *name)
{
	return !strcmp(name, LDB_EVENT_TURN) ? OF_TURN :
	       !strncmp(name, REQUEST_ID_EVENT, sizeof(REQUEST_ID_EVENT) - 1) ? OF_ID : OF_PROGRAM;
}

static int on_event_row(void *arg, const void *at)
{
	const struct ldb_row_event *row = at;
	const struct sink *sink = arg;
	int64_t tick = ticks_sane(row->tick);

	if (whose_is(row->name) != sink->whose)
		return 0;
	return sink->mark(sink->arg, &(struct marked){
		.tick = tick, .tid = row->tid, .thread = model_thread(sink->m, row->tid, tick),
		.name = model_keep_string(sink->m, row->name), .value = row->value,
	});
}

int faults_each(struct model *m, const struct reader_filter *filter,
		int (*fault)(void *arg, const struct fault *f), void *arg)
{
	struct sink sink = { .m = m, .fault = fault, .arg = arg };

	return rows_each(m->reader, LDB_BLK_FAULT, filter, on_fault_row, &sink);
}

int irqs_each(struct model *m, const struct reader_filter *filter,
	      int (*irq)(void *arg, const struct irq *i), void *arg)
{
	struct sink sink = { .m = m, .irq = irq, .arg = arg };

	return rows_each(m->reader, LDB_BLK_IRQ, filter, on_irq_row, &sink);
}

int marks_each(struct model *m, const struct reader_filter *filter,
	       int (*mark)(void *arg, const struct marked *k), void *arg)
{
	struct sink sink = { .m = m, .mark = mark, .arg = arg };

	return rows_each(m->reader, LDB_BLK_EVENT, filter, on_event_row, &sink);
}

int turns_each(struct model *m, int (*turn)(void *arg, const struct marked *k), void *arg)
{
	struct sink sink = { .m = m, .mark = turn, .whose = OF_TURN, .arg = arg };

	return rows_each(m->reader, LDB_BLK_EVENT, NULL, on_event_row, &sink);
}

int ids_each(struct model *m, int (*id)(void *arg, const struct marked *k), void *arg)
{
	struct sink sink = { .m = m, .mark = id, .whose = OF_ID, .arg = arg };

	return rows_each(m->reader, LDB_BLK_EVENT, NULL, on_event_row, &sink);
}
