// SPDX-License-Identifier: GPL-2.0-or-later
/* Emits page faults and interrupts, thread by thread: before its segments, or among them. */
#include <errno.h>
#include <string.h>

#include "facts/ticks.h"
#include "tracks-private.h"

/* An interrupt, as it is stored until its thread is processed. */
struct stored_irq {
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
		struct stored_irq stored = { .row = *row };

		if (!is_selected(k, row->tid, row->start))
			continue;
		if (stored.row.end < stored.row.start)
			stored.row.end = stored.row.start;
		stored.name = model_keep_string(k->m, row->name);
		ret = spill_add(&k->irqs.spill, tracks_major(k->m, row->tid, row->start),
				row->start, &stored, sizeof(stored));
	}
	return ret;
}

int tracks_read_events(struct tracks *k)
{
	struct reader_filter filter = READER_FILTER_ALL;
	int ret = 0;

	filter.t_min = k->o->from;
	filter.t_max = k->o->to;
	if (k->sink->fault || k->o->with_faults)
		ret = reader_each(k->m->reader, LDB_BLK_FAULT, &filter, add_faults, k);
	if (!ret && (k->sink->irq || k->o->with_irqs))
		ret = reader_each(k->m->reader, LDB_BLK_IRQ, &filter, add_irqs, k);
	return ret;
}

static struct tracks_fault fault_of(const struct tracks *k, const struct ldb_row_fault *row)
{
	return (struct tracks_fault){
		.tick = row->tick, .tid = row->tid,
		.thread = model_thread(k->m, row->tid, row->tick),
		.addr = row->addr, .pc = row->pc,
		.is_kernel = row->flags & LDB_FAULT_F_KERNEL,
		.is_major = row->flags & LDB_FAULT_ROW_MAJOR,
		.has_major = row->flags & (LDB_FAULT_ROW_MINOR | LDB_FAULT_ROW_MAJOR),
	};
}

static struct tracks_irq irq_of(const struct tracks *k, const struct stored_irq *stored)
{
	const struct ldb_row_irq *row = &stored->row;

	return (struct tracks_irq){
		.tid = row->tid, .thread = model_thread(k->m, row->tid, row->start),
		.cpu = row->cpu, .start = row->start, .end = row->end,
		.kind = row->kind, .nr = row->nr, .name = stored->name,
		.nr_short = row->nr_short,
	};
}

int tracks_emit_events(struct tracks *k)
{
	int ret = 0;

	while (!ret && source_is_at(&k->faults, k->major)) {
		struct tracks_fault f = fault_of(k, k->faults.head.data);

		k->result->nr_faults++;
		ret = k->sink->fault(k->sink->arg, &f);
		if (!ret)
			ret = source_next(&k->faults);
	}
	while (!ret && source_is_at(&k->irqs, k->major)) {
		struct tracks_irq i = irq_of(k, k->irqs.head.data);

		k->result->nr_irqs++;
		ret = k->sink->irq(k->sink->arg, &i);
		if (!ret)
			ret = source_next(&k->irqs);
	}
	return ret;
}

/* Emits a segment for one of the two, which are as exact as the clock. */
static int emit_segment(struct tracks *k, struct segment *s, int64_t start, int64_t end)
{
	s->tid = k->tid;
	s->start = s->row_start = ticks_sane(start);
	s->end = s->row_end = ticks_sane(end);
	s->start_ns = s->full_start_ns = ticks_time_ns(k->m->reader, s->start);
	s->end_ns = s->full_end_ns = ticks_time_ns(k->m->reader, s->end);
	s->duration_ns = s->end_ns - s->start_ns;
	return tracks_emit(k, s);
}

static int emit_fault_segment(struct tracks *k)
{
	struct tracks_fault f = fault_of(k, k->faults.head.data);
	struct segment s = { .kind = SEGMENT_FAULT, .thread = f.thread, .fault = &f };
	int ret;

	k->result->nr_faults++;
	ret = emit_segment(k, &s, f.tick, f.tick);
	return ret ? ret : source_next(&k->faults);
}

static int emit_irq_segment(struct tracks *k)
{
	struct tracks_irq i = irq_of(k, k->irqs.head.data);
	struct segment s = { .kind = SEGMENT_IRQ, .thread = i.thread, .irq = &i };
	int ret;

	k->result->nr_irqs++;
	ret = emit_segment(k, &s, i.start, i.end);
	return ret ? ret : source_next(&k->irqs);
}

int tracks_emit_events_until(struct tracks *k, int64_t tick)
{
	int ret = 0;

	while (!ret) {
		bool has_fault = source_is_at(&k->faults, k->major) && k->faults.head.minor <= tick;
		bool has_irq = source_is_at(&k->irqs, k->major) && k->irqs.head.minor <= tick;

		if (has_fault && (!has_irq || k->faults.head.minor <= k->irqs.head.minor))
			ret = emit_fault_segment(k);
		else if (has_irq)
			ret = emit_irq_segment(k);
		else
			break;
	}
	return ret;
}
