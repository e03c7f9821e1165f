// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The segments of a thread: functions on the thread's own track, where they nest;
 * what else happened on tracks below it, because a wait need not lie inside of the
 * estimated time of its function.
 *
 * Segments come by their starts.  Ends wait in a heap until nothing that comes can
 * be before them, so that the packets of a thread are in order of time.
 */
#include <errno.h>

#include "facts/ticks.h"
#include "export/perfetto-private.h"
#include "render/offcpu.h"
#include "render/segment.h"
#include "render/text.h"

/* Ends */

static int put_end(void *arg, const struct export_end *e)
{
	struct perfetto *x = arg;

	perfetto_event(x, e->is_instant ? PB_INSTANT : PB_END, e->track);
	if (e->is_instant) {
		perfetto_name(x, "lock", e->is_last ? "got it" : "gives it");
		perfetto_flow(x, e->flow, e->is_last);
	}
	perfetto_put_event(x, e->at);
	return 0;
}

/* Ends what has ended by then. */
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

/* A lane of its group for the segment; 0: the thread's own track, which is the default. */
static int lane_of(struct perfetto *x, const struct segment *s, int64_t start, int64_t end,
		   uint64_t *track)
{
	unsigned group = export_group(s);
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
				  export_group_name(group));
	return 0;
}

/* What is said of a segment */

static void say_party(struct perfetto *x, const char *name, const struct party *p)
{
	char text[TEXT_ROOM];

	if (p->kind != PARTY_NONE)
		perfetto_say_text(x, name, text_party(x->m, p, text), true);
}

static void say_thread(struct perfetto *x, const char *name, uint32_t tid, int64_t tick)
{
	char text[TEXT_ROOM];
	const char *thread = model_thread_name(model_thread(x->m, tid, tick));

	if (!tid)
		return;
	snprintf(text, sizeof(text), "%s (tid %u)", *thread ? thread : "?", tid);
	perfetto_say_text(x, name, text, true);
}

static void say_place(struct perfetto *x, const struct segment *s)
{
	struct place place = segment_place(s);
	char text[TEXT_ROOM];

	if (s->site && s->kind != SEGMENT_FUNCTION)
		perfetto_say_text(x, "function", s->site->function, true);
	if (!*place.file)
		return;
	snprintf(text, sizeof(text), "%s:%u", place.file, place.line);
	perfetto_say_text(x, s->kind == SEGMENT_FUNCTION ? "called_at" : "at", text, true);
}

static void say_lock(struct perfetto *x, const struct segment *s)
{
	if (s->lock)
		perfetto_say_pointer(x, s->kind == SEGMENT_QUEUE ? "queue" : "lock", s->lock);
	if (s->kind == SEGMENT_QUEUE) {
		say_thread(x, "taken_by", s->to_tid, s->end);
		return;
	}
	perfetto_say_text(x, "kind", lock_kind_name(s->lock_kind), true);
	if (s->kind != SEGMENT_LOCK_HOLD)
		say_thread(x, "held_by", s->owner, s->start);
	if (s->has_failed)
		perfetto_say_bool(x, "failed", true);
}

static void say_sched(struct perfetto *x, const struct segment *s)
{
	const struct segment_sched *k = s->sched;
	char text[TEXT_ROOM];

	if (offcpu_is(s->kind)) {
		offcpu_text(x->m, s, text);
		perfetto_say_text(x, "cause", text, false);
	}
	if (s->kind == SEGMENT_PREEMPTED)
		say_party(x, "preempted_by", &k->preempted_by);
	else
		say_party(x, "woken_by", &k->waker);
	if (s->kind == SEGMENT_BLOCKED)
		perfetto_say_text(x, "state", sched_state_name(k->state), true);
	if (k->nr_occupants)
		say_party(x, "cpu_had", &k->occupants[0].who);
	if (k->asleep_ns)
		perfetto_say_i64(x, "asleep_ns", k->asleep_ns);
	if (k->has_lost)
		perfetto_say_bool(x, "events_lost", true);
}

static void say_all(struct perfetto *x, const struct segment *s)
{
	char name[EXPORT_NAME];

	perfetto_name(x, export_category(s), export_name(x->m, s, name));
	if (s->has_req)
		packet_u64(&x->event, PB_CORRELATION, s->req);
	perfetto_say_i64(x, "duration_ns", s->duration_ns);
	if (s->kind == SEGMENT_FUNCTION || s->kind == SEGMENT_LOCK_HOLD || offcpu_is(s->kind))
		perfetto_say_i64(x, "resolution_ns", s->duration_resolution_ns);
	if (s->is_truncated)
		perfetto_say_bool(x, "open", true);
	if (s->has_req && s->kind != SEGMENT_FUNCTION)
		perfetto_say_u64(x, "request", s->req);
	if (s->kind == SEGMENT_FUNCTION)
		perfetto_location(x, s->func);
	else if (s->kind == SEGMENT_LOCK_WAIT || s->kind == SEGMENT_FUTEX_WAIT ||
		 s->kind == SEGMENT_LOCK_HOLD || s->kind == SEGMENT_QUEUE)
		say_lock(x, s);
	say_place(x, s);
	if (s->sched)
		say_sched(x, s);
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

	/* The arrow has a direction only if its ends are apart. */
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
