// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions for all formats; see export.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "facts/classes.h"
#include "facts/ticks.h"
#include "export/export.h"
#include "render/segment.h"

const struct export_format export_formats[] = {
	{ .name = "perfetto", .what = "Perfetto's UI and trace_processor: threads, CPUs, requests, arrows",
	  .is_binary = true, .to_stream = export_perfetto },
	{ .name = "chrome", .what = "chrome://tracing, JSON; small traces only",
	  .to_stream = export_chrome },
	{ .name = "ctf", .what = "Trace Compass, babeltrace2: a directory", .is_binary = true,
	  .to_path = export_ctf },
	{ .name = "speedscope", .what = "speedscope: flame graphs over time",
	  .to_stream = export_speedscope },
	{ .name = "folded", .what = "folded stacks for flame graphs", .to_stream = export_folded },
	{ .name = "pprof", .what = "go tool pprof, Parca, Pyroscope", .is_binary = true,
	  .to_stream = export_pprof },
	{ .name = "otlp", .what = "OpenTelemetry traces of requests, JSON lines",
	  .to_stream = export_otlp },
	{ .name = "sqlite", .what = "a database with tables, indexes and views", .is_binary = true,
	  .to_path = export_sqlite },
	{ .name = NULL }
};

struct tracks_options export_tracks(const struct export_options *o, bool with_irqs,
				    bool with_faults)
{
	return (struct tracks_options){
		.from = o->from, .to = o->to, .emit_from = INT64_MIN, .emit_to = INT64_MAX,
		.thread = o->thread,
		.max_functions = o->max_functions, .min_ns = o->min_ns,
		.with_irqs = with_irqs, .with_faults = with_faults, .with_calls = with_faults,
		.with_marks = with_faults,
		.progress = o->progress, .progress_arg = o->progress_arg,
	};
}

void export_take(const struct export_options *o, const struct tracks_result *tracks)
{
	struct export_result *result = o->result;

	result->nr_left_out = tracks->nr_left_out;
	result->min_ns = tracks->min_ns;
	result->nr_not_kept = tracks->nr_not_kept;
	result->nr_broken = tracks->nr_broken;
}

void export_count(const struct export_options *o, const struct segment *s)
{
	struct export_result *result = o->result;

	result->nr[s->kind]++;
	/*
	 * The duration of a truncated invocation is only a lower bound; as in the report, sums do
	 * not include it.
	 */
	if (s->kind == SEGMENT_FUNCTION && s->is_truncated)
		result->nr_open_functions++;
	else
		ticks_add(&result->total_ns[s->kind], s->duration_ns);
}

/*
 * Merges the times of the selected request instances into windows that do not overlap.  The instances
 * are sorted by their starts, so the windows are in order.
 */
int export_find_windows(struct export_options *o)
{
	o->windows = calloc(o->nr_instances + 1, sizeof(*o->windows));
	if (!o->windows)
		return -ENOMEM;
	for (size_t i = 0; i < o->nr_instances; i++) {
		const struct instance *l = &o->instances[i];
		struct export_window *last = o->nr_windows ? &o->windows[o->nr_windows - 1] : NULL;

		if (!last || l->start > last->end)
			o->windows[o->nr_windows++] = (struct export_window){ l->start, l->end };
		else if (l->end > last->end)
			last->end = l->end;
	}
	return 0;
}

bool export_wants_time(const struct export_options *o, int64_t start, int64_t end)
{
	size_t lo;

	if (!o->has_instances)
		return true;
	/* Finds the first window that ends at start or later. */
	lo = search(o->nr_windows, i, o->windows[i].end < start);
	return lo < o->nr_windows && o->windows[lo].start <= end;
}

bool export_wants_instance(const struct export_options *o, const struct instance *instance)
{
	size_t lo;

	if (!o->has_instances)
		return true;
	lo = search(o->nr_instances, i, o->instances[i].start < instance->start);
	for (; lo < o->nr_instances && o->instances[lo].start == instance->start; lo++)
		if (o->instances[lo].id == instance->id)
			return true;
	return false;
}

/* The number of an arrow is computed at both of its ends, from the same values. */
uint64_t export_queue_flow(const struct export_options *o, const struct segment *s)
{
	int64_t at = s->kind == SEGMENT_QUEUE ? s->end : s->start;
	uint64_t h = (s->req ^ (uint64_t)at * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;

	if ((s->kind != SEGMENT_QUEUE && s->kind != SEGMENT_REQUEST) || !s->to_tid || o->thread ||
	    at < o->from || at > o->to || !export_wants_time(o, at, at))
		return 0;
	/* Bit 63 distinguishes these numbers from those of other arrows. */
	return (h ^ h >> 32) | 1ULL << 63;
}

const char *export_class_name(const struct model *m, uint64_t req, int64_t end)
{
	const char *class = m->classes ? classes_find(m->classes, req, end) : "";

	return *class ? class : "request";
}

const char *export_name(const struct model *m, const struct segment *s, char *buf)
{
	char name[EXPORT_NAME - 16];

	switch (s->kind) {
	case SEGMENT_FUNCTION:
	case SEGMENT_LIBCALL:
		return s->func->function;
	case SEGMENT_REQUEST:
		return export_class_name(m, s->req, s->end);
	case SEGMENT_LOCK_WAIT:
	case SEGMENT_FUTEX_WAIT:
	case SEGMENT_LOCK_HOLD:
	case SEGMENT_QUEUE:
		snprintf(buf, EXPORT_NAME, "%s%s", s->kind == SEGMENT_LOCK_HOLD ? "holds " :
			 s->kind == SEGMENT_QUEUE ? "in " : "waits for ", segment_name(s, name));
		return buf;
	case SEGMENT_IRQ:
		return *s->irq->name ? s->irq->name : "interrupt";
	case SEGMENT_EVENT:
		return s->mark->name;
	case SEGMENT_SYSCALL:
		return s->sched->call.name;
	case SEGMENT_FAULT:
		return s->fault->is_major ? "page fault, from a disk" : "page fault";
	default:
		return segment_kinds[s->kind].name;
	}
}

int export_lane(struct export_lanes *l, int64_t start, int64_t end, bool *is_new)
{
	size_t i = 0;

	while (i < l->nr && l->ends[i] > start)
		i++;
	*is_new = i == l->nr;
	if (!array_room(&l->ends, &l->room, i, sizeof(*l->ends)))
		return -ENOMEM;
	if (i == l->nr)
		l->nr++;
	l->ends[i] = end;
	return i;
}
