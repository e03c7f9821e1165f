// SPDX-License-Identifier: GPL-2.0-or-later
#include "interruptions.h"
#include "ticks.h"

struct sink {
	struct model *m;
	int (*fault)(void *arg, const struct fault *f);
	int (*irq)(void *arg, const struct irq *i);
	void *arg;
};

static int on_faults(void *arg, const struct reader_rows *rows)
{
	const struct sink *sink = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		const struct ldb_row_fault *row = &rows->fault[i];
		int64_t tick = ticks_sane(row->tick);
		struct fault f = {
			.tick = tick, .tid = row->tid, .thread = model_thread(sink->m, row->tid, tick),
			.addr = row->addr, .pc = row->pc,
			.is_kernel = row->flags & LDB_FAULT_F_KERNEL,
			.is_major = row->flags & LDB_FAULT_ROW_MAJOR,
			.has_major = row->flags & (LDB_FAULT_ROW_MINOR | LDB_FAULT_ROW_MAJOR),
		};

		ret = sink->fault(sink->arg, &f);
	}
	return ret;
}

static int on_irqs(void *arg, const struct reader_rows *rows)
{
	const struct sink *sink = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		const struct ldb_row_irq *row = &rows->irq[i];
		int64_t start = ticks_sane(row->start), end = ticks_sane(row->end);
		struct irq q = {
			.tid = row->tid, .thread = model_thread(sink->m, row->tid, start),
			.cpu = row->cpu, .start = start, .end = end > start ? end : start,
			.kind = row->kind, .nr = row->nr,
			.name = model_keep_string(sink->m, row->name), .nr_short = row->nr_short,
		};

		ret = sink->irq(sink->arg, &q);
	}
	return ret;
}

int faults_each(struct model *m, const struct reader_filter *filter,
		int (*fault)(void *arg, const struct fault *f), void *arg)
{
	struct sink sink = { .m = m, .fault = fault, .arg = arg };

	return reader_each(m->reader, LDB_BLK_FAULT, filter, on_faults, &sink);
}

int irqs_each(struct model *m, const struct reader_filter *filter,
	      int (*irq)(void *arg, const struct irq *i), void *arg)
{
	struct sink sink = { .m = m, .irq = irq, .arg = arg };

	return reader_each(m->reader, LDB_BLK_IRQ, filter, on_irqs, &sink);
}
