// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Emits page faults, interrupts, events of the program and samples among the segments of their
 * threads.
 */
#include "base/minmax.h"
#include "facts/interruptions.h"
#include "facts/rows.h"
#include "facts/ticks.h"
#include "tracks-private.h"

static int add_event(struct tracks *k, struct spill *to, uint32_t tid,
		     const struct thread *thread, int64_t tick, const void *event, size_t size)
{
	if (!model_thread_matches(k->o->thread, tid, thread))
		return 0;
	return spill_add(to, model_thread_order(k->m, tid, tick), tick, event, size);
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

static int add_mark(void *arg, const struct marked *mark)
{
	struct tracks *k = arg;

	return add_event(k, &k->marks, mark->tid, mark->thread, mark->tick, mark, sizeof(*mark));
}

static int add_sample(void *arg, const struct sample *s)
{
	struct tracks *k = arg;

	if (!tracks_wants(k, s->tid, s->tick, s->tick))
		return 0;
	return add_event(k, &k->samples, s->tid, s->thread, s->tick, s, sizeof(*s));
}

int tracks_read_events(struct tracks *k)
{
	struct reader_filter filter = ROWS_WITHIN(max(k->o->from, k->o->emit_from), min(k->o->to, k->o->emit_to));
	int ret = 0;

	if (k->o->with_faults)
		ret = faults_each(k->m, &filter, add_fault, k);
	if (!ret && k->o->with_irqs)
		ret = irqs_each(k->m, &filter, add_irq, k);
	if (!ret && k->o->with_marks)
		ret = marks_each(k->m, &filter, add_mark, k);
	if (!ret && k->sink->sample && *k->m->samples)
		ret = samples_each(k->m, &filter, add_sample, k);
	return ret;
}

/* Emits the first event of a source; its time is as exact as the clock. */
static int emit_first(struct tracks *k, struct spill *from, struct segment *s, int64_t end)
{
	int64_t start = from->head.minor;
	int ret;

	s->tid = k->tid;
	s->start = s->row_start = start;
	s->end = s->row_end = end;
	s->start_ns = s->full_start_ns = ticks_time_ns(k->m->reader, start);
	s->end_ns = s->full_end_ns = ticks_time_ns(k->m->reader, end);
	s->duration_ns = s->end_ns - s->start_ns;
	ret = tracks_emit(k, s);
	return ret ? ret : spill_next(from);
}

static int emit_fault(struct tracks *k)
{
	const struct fault *f = k->faults.head.data;
	struct segment s = { .kind = SEGMENT_FAULT, .thread = f->thread, .fault = f };

	return emit_first(k, &k->faults, &s, f->tick);
}

static int emit_irq(struct tracks *k)
{
	const struct irq *i = k->irqs.head.data;
	struct segment s = { .kind = SEGMENT_IRQ, .thread = i->thread, .irq = i };

	return emit_first(k, &k->irqs, &s, i->end);
}

static int emit_mark(struct tracks *k)
{
	const struct marked *mark = k->marks.head.data;
	struct segment s = { .kind = SEGMENT_EVENT, .thread = mark->thread, .mark = mark };

	return emit_first(k, &k->marks, &s, mark->tick);
}

static int emit_samples_until(struct tracks *k, int64_t tick)
{
	int ret = 0;

	while (!ret && spill_is_at(&k->samples, k->major) && k->samples.head.minor <= tick) {
		ret = k->sink->sample(k->sink->arg, k->samples.head.data);
		if (!ret)
			ret = spill_next(&k->samples);
	}
	return ret;
}

int tracks_emit_events_until(struct tracks *k, int64_t tick)
{
	const struct {
		struct spill *from;
		int (*emit)(struct tracks *k);
	} sources[] = { { &k->faults, emit_fault }, { &k->irqs, emit_irq }, { &k->marks, emit_mark } };
	int ret = emit_samples_until(k, tick);

	while (!ret) {
		int first = -1;

		for (int i = 0; i < 3; i++) {
			const struct spill *s = sources[i].from;

			if (spill_is_at(s, k->major) && s->head.minor <= tick &&
			    (first < 0 || s->head.minor < sources[first].from->head.minor))
				first = i;
		}
		if (first < 0)
			break;
		ret = sources[first].emit(k);
	}
	return ret;
}
