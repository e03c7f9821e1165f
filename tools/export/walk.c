// SPDX-License-Identifier: GPL-2.0-or-later
/* The segments that the options select; see walk.h. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/report/stats.h"
#include "analysis/timeline/tracks.h"
#include "base/array.h"
#include "base/sort.h"
#include "export/table.h"
#include "export/walk.h"

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

static int on_irq(void *arg, const struct tracks_irq *i)
{
	const struct walk_sink *sink = arg;

	return sink->irq(sink->arg, i->start, i->end, i->name);
}

static int walk_time(struct model *m, const struct export_options *o, const struct walk_sink *sink)
{
	struct tracks_options options = export_tracks(o, false);
	struct tracks_sink tracks = {
		.thread = on_thread, .irq = sink->irq ? on_irq : NULL, .segment = on_segment,
		.arg = (void *)sink,
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

/* What hit the threads while they worked on a request. */
struct life_irqs {
	struct model *m;
	const struct life *life;
	struct life_irq {
		uint32_t tid;
		int64_t start, end;
		const char *name;
	} *at;
	size_t nr, room;
};

static int add_irq(struct life_irqs *irqs, const struct ldb_row_irq *row, const struct life_part *part)
{
	int64_t start = row->start > part->start ? row->start : part->start;
	int64_t end = row->end < part->end ? row->end : part->end;

	if (part->is_queue || part->tid != row->tid || start >= end)
		return 0;
	if (!array_room(&irqs->at, &irqs->room, irqs->nr, sizeof(*irqs->at)))
		return -ENOMEM;
	irqs->at[irqs->nr++] = (struct life_irq){
		row->tid, start, end, model_keep_string(irqs->m, row->name),
	};
	return 0;
}

static int add_irqs(void *arg, const struct reader_rows *rows)
{
	struct life_irqs *irqs = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr; i++)
		for (size_t p = 0; p < irqs->life->nr_parts && !ret; p++)
			ret = add_irq(irqs, &rows->irq[i], &irqs->life->parts[p]);
	return ret;
}

COMPARE(by_thread_start, struct life_irq, UP(tid) UP(start))

static int read_irqs(struct life_irqs *irqs)
{
	struct reader_filter filter = READER_FILTER_ALL;
	int ret;

	filter.t_min = irqs->life->start;
	filter.t_max = irqs->life->end;
	ret = reader_each(irqs->m->reader, LDB_BLK_IRQ, &filter, add_irqs, irqs);
	if (irqs->nr)
		qsort(irqs->at, irqs->nr, sizeof(*irqs->at), by_thread_start);
	return ret;
}

static int walk_irqs(const struct life_irqs *irqs, uint32_t tid, const struct walk_sink *sink)
{
	int ret = 0;

	for (size_t i = 0; i < irqs->nr && !ret; i++)
		if (irqs->at[i].tid == tid)
			ret = sink->irq(sink->arg, irqs->at[i].start, irqs->at[i].end, irqs->at[i].name);
	return ret;
}

static int walk_segments(const struct export_options *o, const struct life_irqs *irqs,
			 struct segment **segments, size_t nr, const struct walk_sink *sink)
{
	int ret = 0;

	for (size_t i = 0; i < nr && !ret;) {
		struct thread stranger = { .tid = segments[i]->tid, .name = "" };
		const struct thread *t = segments[i]->thread ? segments[i]->thread : &stranger;
		bool is_wanted = model_thread_matches(o->thread, t->tid, t);
		size_t first = i;

		if (is_wanted)
			ret = sink->thread(sink->arg, t, irqs->life);
		if (is_wanted && !ret)
			ret = walk_irqs(irqs, t->tid, sink);
		for (; i < nr && segments[i]->tid == segments[first]->tid && !ret; i++)
			if (is_wanted)
				ret = sink->segment(sink->arg, segments[i]);
	}
	return ret;
}

/* An invocation during which its thread did something else, too, is still one. */
static int tell_apart(struct segment **segments, size_t nr)
{
	struct table seen = { 0 };
	bool is_new = true;
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		struct segment *s = segments[i];

		if (s->kind != SEGMENT_FUNCTION)
			continue;
		if (!table_get(&seen, s->tid, s->gen, (uint64_t)s->full_start_ns, &is_new))
			ret = -ENOMEM;
		s->is_truncated |= !is_new;
	}
	table_free(&seen);
	return ret;
}

static int walk_life(struct model *m, const struct export_options *o, const struct life *life,
		     const struct walk_sink *sink)
{
	struct life_irqs irqs = { .m = m, .life = life };
	struct segment **segments;
	struct timeline t;
	size_t nr = 0;
	int ret = timeline_build(m, life, &t);

	if (ret)
		return ret;
	segments = calloc(t.nr_segments + 1, sizeof(struct segment *));
	if (!segments) {
		timeline_free(&t);
		return -ENOMEM;
	}
	for (size_t i = 0; i < t.nr_segments; i++) {
		struct segment *s = &t.segments[i];

		/* What others did is not what the request's time went into. */
		if (s->blocks_req)
			continue;
		s->req = life->id;
		s->has_req = true;
		segments[nr++] = s;
	}
	qsort(segments, nr, sizeof(struct segment *), compare);
	ret = tell_apart(segments, nr);
	if (!ret && sink->irq)
		ret = read_irqs(&irqs);
	if (!ret)
		ret = walk_segments(o, &irqs, segments, nr, sink);
	free(irqs.at);
	free(segments);
	timeline_free(&t);
	return ret;
}

int walk(struct model *m, const struct export_options *o, const struct walk_sink *sink)
{
	int ret = 0;

	if (!o->has_lives)
		return walk_time(m, o, sink);
	for (size_t i = 0; i < o->nr_lives && !ret; i++)
		ret = walk_life(m, o, &o->lives[i], sink);
	return ret;
}
