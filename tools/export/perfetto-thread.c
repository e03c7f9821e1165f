// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the segments of a thread.  Functions are on the thread's own track, where they nest.
 * Other segments are on tracks below it, because a wait may extend beyond the estimated time of its
 * function.
 *
 * Segments come in order of their starts.  Ends are stored in a heap until no segment can begin
 * before them, so that the packets of a thread are in order of time.
 */

#include "facts/ticks.h"
#include "export/perfetto-private.h"

/* Ends */

static int put_end(void *arg, const struct export_end *e)
{
	struct perfetto *x = arg;

	perfetto_event(x, e->is_instant ? PB_INSTANT : PB_END, e->track);
	if (e->is_instant) {
		perfetto_name(x, "lock", e->is_last ? "gets the lock" : "releases the lock", true);
		perfetto_flow(x, e->flow, e->is_last);
	}
	perfetto_put_event(x, e->at);
	return 0;
}

void perfetto_until(struct perfetto *x, int64_t at)
{
	ends_until(&x->ends, at, put_end, x);
	x->now = at;
}

int perfetto_begin(struct perfetto *x, uint64_t track, int64_t start, int64_t end)
{
	perfetto_put_event(x, start);
	return ends_push(&x->ends, &(struct export_end){
		.at = end > start ? end : start, .track = track,
	});
}

/* Threads */

int perfetto_end_thread(struct perfetto *x)
{
	perfetto_until(x, INT64_MAX);
	for (int i = 0; i < NR_SEGMENT_KINDS; i++) {
		free(x->lanes[i].ends);
		x->lanes[i] = (struct export_lanes){ 0 };
	}
	return perfetto_error(x);
}

int perfetto_on_thread(void *arg, const struct thread *t)
{
	struct perfetto *x = arg;
	uint64_t track = perfetto_track(TRACK_THREAD, ++x->nr_thread, 0);
	size_t descriptor, thread;

	perfetto_end_thread(x);
	x->o->result->nr_threads++;
	perfetto_sequence(x, track);
	packet_u64(&x->p, PB_SEQUENCE, x->sequence);
	descriptor = packet_begin(&x->p, PB_TRACK_DESCRIPTOR);
	packet_u64(&x->p, PB_UUID, track);
	packet_u64(&x->p, PB_PARENT, perfetto_track(TRACK_PROCESS, 1, 0));
	thread = packet_begin(&x->p, PB_THREAD);
	packet_u64(&x->p, 1, x->pid);
	packet_u64(&x->p, 2, t->tid);
	if (*t->name)
		packet_text(&x->p, 5, t->name);
	packet_end(&x->p, thread);
	packet_end(&x->p, descriptor);
	perfetto_put(x);
	return perfetto_error(x);
}

/* Sets the segment's track: a lane, or 0 for the thread's own track, which is the default. */
static int lane_of(struct perfetto *x, const struct segment *s, int64_t start, int64_t end,
		   uint64_t *track)
{
	unsigned group = segment_kinds[s->kind].track;
	bool is_new;
	int lane;

	*track = 0;
	if (s->kind == SEGMENT_FUNCTION)
		return 0;
	lane = export_lane(&x->lanes[group], start, end, &is_new);
	if (lane < 0)
		return lane;
	*track = perfetto_track(TRACK_LANE, x->nr_thread << 8 | group, lane);
	if (is_new)
		perfetto_describe(x, *track, perfetto_track(TRACK_THREAD, x->nr_thread, 0),
				  segment_kinds[group].track_words);
	return 0;
}

static void say_all(struct perfetto *x, const struct segment *s)
{
	char buf[EXPORT_NAME];
	const char *name = export_name(x->m, s, buf);
	struct attrs attrs;

	perfetto_name(x, segment_kinds[s->kind].category, name, name != buf);
	if (s->has_req)
		packet_u64(&x->event, PB_CORRELATION, s->req);
	if (s->kind == SEGMENT_FUNCTION)
		perfetto_location(x, s->func);
	attrs_of_segment(&attrs, x->m, s, false);
	perfetto_say(x, &attrs, s->kind == SEGMENT_FUNCTION);
}

/* Arrows */

struct lock_end {
	struct perfetto *x;
	uint64_t track;
};

static int on_handover(void *arg, const struct handover_end *e)
{
	const struct lock_end *l = arg;
	struct perfetto *x = l->x;
	int64_t at = perfetto_ns(x, ticks_time_ns(x->m->reader, e->at));

	/* The arrow has a direction only if its two ends differ in time. */
	if (!e->is_wait)
		at--;
	else
		x->nr_flows++;
	return ends_push(&x->ends, &(struct export_end){
		.at = at > x->now ? at : x->now, .track = l->track,
		.is_instant = true, .is_last = e->is_wait, .flow = e->nr,
	});
}

int perfetto_on_segment(void *arg, const struct segment *s)
{
	struct perfetto *x = arg;
	int64_t start = perfetto_ns(x, s->start_ns), end = perfetto_ns(x, s->end_ns);
	struct lock_end lock = { .x = x };
	uint64_t track, flow;
	int ret;

	if (!export_wants_time(x->o, s->start, s->end))
		return 0;
	perfetto_until(x, start);
	ret = lane_of(x, s, start, end, &track);
	if (ret)
		return ret;
	perfetto_event(x, PB_BEGIN, track);
	say_all(x, s);
	flow = export_queue_flow(x->o, s);
	if (flow) {
		perfetto_flow(x, flow, s->kind == SEGMENT_REQUEST);
		x->nr_flows += s->kind == SEGMENT_REQUEST;
	}
	ret = perfetto_begin(x, track, start, end);
	lock.track = track;
	if (!ret)
		ret = handover_each(&x->handover, x->m, s, on_handover, &lock);
	if (!ret)
		ret = perfetto_count(x, s);
	export_count(x->o, s);
	return ret ? ret : perfetto_error(x);
}
