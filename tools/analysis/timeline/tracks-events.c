// SPDX-License-Identifier: GPL-2.0-or-later
/* Page faults and interrupts, thread by thread: told as they are, before its segments. */
#include <errno.h>
#include <string.h>

#include "tracks-private.h"

/* How an interrupt waits for its thread's turn. */
struct kept_irq {
	struct ldb_row_irq row;
	const char *name;		/* the model's */
};

static bool is_selected(const struct tracks *k, uint32_t tid, int64_t tick)
{
	return !k->o->thread ||
	       model_thread_matches(k->o->thread, tid, model_thread(k->m, tid, tick));
}

static int add_faults(void *arg, const struct reader_rows *rows)
{
	struct tracks *k = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		const struct ldb_row_fault *row = &rows->fault[i];

		if (is_selected(k, row->tid, row->tick))
			ret = spill_add(&k->faults.spill, tracks_major(k->m, row->tid, row->tick),
					row->tick, row, sizeof(*row));
	}
	return ret;
}

static int add_irqs(void *arg, const struct reader_rows *rows)
{
	struct tracks *k = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		const struct ldb_row_irq *row = &rows->irq[i];
		struct kept_irq kept = { .row = *row };

		if (!is_selected(k, row->tid, row->start))
			continue;
		if (kept.row.end < kept.row.start)
			kept.row.end = kept.row.start;
		kept.name = model_keep_string(k->m, row->name);
		ret = spill_add(&k->irqs.spill, tracks_major(k->m, row->tid, row->start),
				row->start, &kept, sizeof(kept));
	}
	return ret;
}

int tracks_read_events(struct tracks *k)
{
	struct reader_filter filter = READER_FILTER_ALL;
	int ret = 0;

	filter.t_min = k->o->from;
	filter.t_max = k->o->to;
	if (k->sink->fault)
		ret = reader_each(k->m->reader, LDB_BLK_FAULT, &filter, add_faults, k);
	if (!ret && k->sink->irq)
		ret = reader_each(k->m->reader, LDB_BLK_IRQ, &filter, add_irqs, k);
	return ret;
}

static int tell_fault(struct tracks *k, const struct ldb_row_fault *row)
{
	struct tracks_fault f = {
		.tick = row->tick, .tid = row->tid,
		.thread = model_thread(k->m, row->tid, row->tick),
		.addr = row->addr, .pc = row->pc,
		.is_kernel = row->flags & LDB_FAULT_F_KERNEL,
		.is_major = row->flags & LDB_FAULT_ROW_MAJOR,
		.has_major = row->flags & (LDB_FAULT_ROW_MINOR | LDB_FAULT_ROW_MAJOR),
	};

	k->result->nr_faults++;
	return k->sink->fault(k->sink->arg, &f);
}

static enum irq_kind kind_of(unsigned kind)
{
	return kind == LDB_IRQ_SOFT ? IRQ_SOFT : kind == LDB_IRQ_LOCAL_TIMER ? IRQ_TIMER : IRQ_HARD;
}

static int tell_irq(struct tracks *k, const struct kept_irq *kept)
{
	const struct ldb_row_irq *row = &kept->row;
	struct tracks_irq q = {
		.tid = row->tid, .thread = model_thread(k->m, row->tid, row->start),
		.cpu = row->cpu, .start = row->start, .end = row->end,
		.kind = kind_of(row->kind), .nr = row->nr, .name = kept->name,
		.nr_short = row->nr_short,
	};

	k->result->nr_irqs++;
	return k->sink->irq(k->sink->arg, &q);
}

int tracks_tell_events(struct tracks *k)
{
	int ret = 0;

	while (!ret && source_is_at(&k->faults, k->major)) {
		ret = tell_fault(k, k->faults.head.data);
		if (!ret)
			ret = source_next(&k->faults);
	}
	while (!ret && source_is_at(&k->irqs, k->major)) {
		ret = tell_irq(k, k->irqs.head.data);
		if (!ret)
			ret = source_next(&k->irqs);
	}
	return ret;
}
