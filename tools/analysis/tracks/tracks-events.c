// SPDX-License-Identifier: GPL-2.0-or-later
/* Emits page faults and interrupts, thread by thread: before its segments, or among them. */
#include "facts/interruptions.h"
#include "facts/rows.h"
#include "facts/ticks.h"
#include "tracks-private.h"

static int add_event(struct tracks *k, struct tracks_source *to, uint32_t tid,
		     const struct thread *thread, int64_t tick, const void *event, size_t size)
{
	if (!model_thread_matches(k->o->thread, tid, thread))
		return 0;
	return spill_add(&to->spill, tracks_major_of(k->m, tid, thread), tick, event, size);
}

static int add_fault(void *arg, const struct fault *f)
{
	struct tracks *k = arg;

	return add_event(k, &k->faults, f->tid, f->thread, f->tick, f, sizeof(*f));
}

static int add_irq(void *arg, const struct irq *i)
{
	struct tracks *k = arg;

	return add_event(k, &k->irqs, i->tid, i->thread, i->start, i, sizeof(*i));
}

int tracks_read_events(struct tracks *k)
{
	struct reader_filter filter = ROWS_WITHIN(k->o->from, k->o->to);
	int ret = 0;

	if (k->sink->fault || k->o->with_faults)
		ret = faults_each(k->m, &filter, add_fault, k);
	if (!ret && (k->sink->irq || k->o->with_irqs))
		ret = irqs_each(k->m, &filter, add_irq, k);
	return ret;
}

int tracks_emit_events(struct tracks *k)
{
	int ret = 0;

	while (!ret && source_is_at(&k->faults, k->major)) {
		k->result->nr_faults++;
		ret = k->sink->fault(k->sink->arg, k->faults.head.data);
		if (!ret)
			ret = source_next(&k->faults);
	}
	while (!ret && source_is_at(&k->irqs, k->major)) {
		k->result->nr_irqs++;
		ret = k->sink->irq(k->sink->arg, k->irqs.head.data);
		if (!ret)
			ret = source_next(&k->irqs);
	}
	return ret;
}

/* Emits a segment for one of the two, which are as exact as the clock. */
static int emit_segment(struct tracks *k, struct segment *s, int64_t start, int64_t end)
{
	s->tid = k->tid;
	s->start = s->row_start = start;
	s->end = s->row_end = end;
	s->start_ns = s->full_start_ns = ticks_time_ns(k->m->reader, start);
	s->end_ns = s->full_end_ns = ticks_time_ns(k->m->reader, end);
	s->duration_ns = s->end_ns - s->start_ns;
	return tracks_emit(k, s);
}

static int emit_fault_segment(struct tracks *k)
{
	const struct fault *f = k->faults.head.data;
	struct segment s = { .kind = SEGMENT_FAULT, .thread = f->thread, .fault = f };
	int ret;

	k->result->nr_faults++;
	ret = emit_segment(k, &s, f->tick, f->tick);
	return ret ? ret : source_next(&k->faults);
}

static int emit_irq_segment(struct tracks *k)
{
	const struct irq *i = k->irqs.head.data;
	struct segment s = { .kind = SEGMENT_IRQ, .thread = i->thread, .irq = i };
	int ret;

	k->result->nr_irqs++;
	ret = emit_segment(k, &s, i->start, i->end);
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
