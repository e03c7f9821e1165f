// SPDX-License-Identifier: GPL-2.0-or-later
/* Iterates over the segments that the options select; see walk.h. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/report/stats.h"
#include "analysis/tracks/tracks.h"
#include "base/array.h"
#include "base/sort.h"
#include "export/table.h"
#include "export/walk.h"
#include "facts/interruptions.h"
#include "facts/rows.h"

static int on_thread(void *arg, const struct thread *t)
{
	const struct walk_sink *sink = arg;

	return sink->thread(sink->arg, t, NULL);
}

static int on_segment(void *arg, const struct segment *s)
{
	const struct walk_sink *sink = arg;

	return sink->segment(sink->arg, s);
}

static int walk_time(struct model *m, const struct export_options *o, const struct walk_sink *sink)
{
	struct tracks_options options = export_tracks(o, sink->with_irqs, false);
	struct tracks_sink tracks = {
		.thread = on_thread, .segment = on_segment, .arg = (void *)sink,
	};
	struct tracks_result result;
	int ret = tracks_each(m, &options, &tracks, &result);

	export_take(o, &result);
	return ret;
}

static int compare(const void *pa, const void *pb)
{
	const struct segment *a = *(struct segment *const *)pa, *b = *(struct segment *const *)pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->kind < b->kind ? -1 : a->kind > b->kind;
}

/*
 * The segments of a request: those of its timeline, and the interrupts of its threads, cut to the
 * times that the partition attributes to each thread.
 */
struct shown {
	struct model *m;
	const struct instance *instance;
	const struct timeline *timeline;
	struct piece {
		struct segment segment;
		struct irq irq;
	} **pieces;
	struct segment **segments;	/* the segments of the pieces, in order */
	size_t nr, room;
};

static int add_piece(struct shown *t, const struct segment *s, int64_t start, int64_t end)
{
	struct piece *piece;

	if (!array_room(&t->pieces, &t->room, t->nr, sizeof(struct piece *)))
		return -ENOMEM;
	piece = malloc(sizeof(*piece));
	if (!piece)
		return -ENOMEM;
	t->pieces[t->nr++] = piece;
	piece->segment = *s;
	piece->segment.start = start;
	piece->segment.end = end;
	piece->segment.req = t->instance->id;
	piece->segment.has_req = true;
	if (s->kind != SEGMENT_IRQ)
		return 0;
	piece->irq = *s->irq;
	piece->segment.irq = &piece->irq;
	return 0;
}

static int add_segment(struct shown *t, const struct segment *s)
{
	const struct intervals *in = &t->timeline->pieces;
	size_t i = intervals_first(in, s->tid, s->start - 1);
	int ret = 0;

	for (; i < in->nr && !ret; i++) {
		const struct thread_interval *p = &in->at[i];
		int64_t start = s->start > p->start ? s->start : p->start;
		int64_t end = s->end < p->end ? s->end : p->end;

		if (p->tid != s->tid || p->start > s->end)
			break;
		if (start < end || (s->start == s->end && start == end))
			ret = add_piece(t, s, start, end);
	}
	return ret;
}

static int add_irq(void *arg, const struct irq *i)
{
	return add_segment(arg, &(struct segment){
		.kind = SEGMENT_IRQ, .tid = i->tid, .thread = i->thread, .irq = i,
		.start = i->start, .end = i->end,
	});
}

static int read_irqs(struct shown *t)
{
	struct reader_filter filter = ROWS_WITHIN(t->instance->start, t->instance->end);

	return irqs_each(t->m, &filter, add_irq, t);
}

static int sort_pieces(struct shown *t)
{
	t->segments = calloc(t->nr + 1, sizeof(struct segment *));
	if (!t->segments)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr; i++)
		t->segments[i] = &t->pieces[i]->segment;
	qsort(t->segments, t->nr, sizeof(struct segment *), compare);
	return 0;
}

static int walk_segments(const struct shown *t, const struct export_options *o,
			 const struct walk_sink *sink)
{
	int ret = 0;

	for (size_t i = 0; i < t->nr && !ret;) {
		const struct segment *first = t->segments[i];
		struct thread stranger = { .tid = first->tid, .name = "" };
		const struct thread *thread = first->thread ? first->thread : &stranger;
		bool is_wanted = model_thread_matches(o->thread, thread->tid, thread);

		if (is_wanted)
			ret = sink->thread(sink->arg, thread, t->instance);
		for (; i < t->nr && t->segments[i]->tid == first->tid && !ret; i++)
			if (is_wanted)
				ret = sink->segment(sink->arg, t->segments[i]);
	}
	return ret;
}

/*
 * If an invocation is in several pieces, marks the later ones as truncated, so that it is counted
 * as complete only once.
 */
static int mark_repeated(struct shown *t)
{
	struct table seen = { 0 };
	bool is_new = true;
	int ret = 0;

	for (size_t i = 0; i < t->nr && !ret; i++) {
		struct segment *s = t->segments[i];

		if (s->kind != SEGMENT_FUNCTION)
			continue;
		if (!table_get(&seen, s->tid, s->gen, (uint64_t)s->full_start_ns, &is_new))
			ret = -ENOMEM;
		s->is_truncated |= !is_new;
	}
	table_free(&seen);
	return ret;
}

static void free_shown(struct shown *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->pieces[i]);
	free(t->pieces);
	free(t->segments);
}

static int walk_instance(struct model *m, const struct export_options *o, const struct instance *instance,
		     const struct walk_sink *sink)
{
	struct timeline t;
	struct shown shown = { .m = m, .instance = instance, .timeline = &t };
	int ret = timeline_build(m, instance, &t);

	if (ret)
		return ret;
	/* Threads that only blocked the request are left out. */
	for (size_t i = 0; i < t.nr_segments && !ret; i++)
		if (!t.segments[i].blocks_req && t.segments[i].kind != SEGMENT_QUEUE)
			ret = add_segment(&shown, &t.segments[i]);
	if (!ret && sink->with_irqs)
		ret = read_irqs(&shown);
	if (!ret)
		ret = sort_pieces(&shown);
	if (!ret)
		ret = mark_repeated(&shown);
	if (!ret)
		ret = walk_segments(&shown, o, sink);
	free_shown(&shown);
	timeline_free(&t);
	return ret;
}

int walk(struct model *m, const struct export_options *o, const struct walk_sink *sink)
{
	int ret = 0;

	if (!o->has_instances)
		return walk_time(m, o, sink);
	for (size_t i = 0; i < o->nr_instances && !ret; i++)
		ret = walk_instance(m, o, &o->instances[i], sink);
	return ret;
}

/* Time by stack */

struct selection {
	struct stacks *s;
	const struct export_options *o;
};

static int on_stacks_thread(void *arg, const struct thread *t, const struct instance *instance)
{
	const struct selection *x = arg;

	x->o->result->nr_threads++;
	return stacks_thread(x->s, t);
}

static int on_stacks_segment(void *arg, const struct segment *s)
{
	const struct selection *x = arg;

	if (stacks_wants(x->s, s))
		export_count(x->o, s);
	return stacks_segment(x->s, s);
}

int stacks_walk(struct stacks *s, struct model *m, const struct export_options *o)
{
	struct selection selection = { s, o };
	struct walk_sink sink = {
		.thread = on_stacks_thread, .segment = on_stacks_segment,
		.with_irqs = s->options.with_causes,
		.arg = &selection,
	};
	int ret = walk(m, o, &sink);

	if (!ret)
		ret = stacks_finish(s);
	o->result->nr_merged = s->nr_cut;
	return ret;
}
