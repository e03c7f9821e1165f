// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Emits all segments, thread by thread; see tracks.h.  The passes over the trace are in
 * tracks-read.c; here each thread is assembled, window by window.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "facts/tasks.h"
#include "facts/ticks.h"
#include "tracks-private.h"

/* The segments of a window that are not functions */

COMPARE(segment_compare, struct segment, UP(start) UP(depth) DOWN(end) UP(kind))

bool tracks_emits(const struct tracks *k, int64_t start, int64_t end)
{
	return end >= k->o->emit_from && start <= k->o->emit_to;
}

/* Returns true if the segment is in the emitted range, or may be in it because of its error. */
static bool is_emitted(const struct tracks *k, const struct segment *s)
{
	return tracks_emits(k, s->start, s->end) ||
	       (s->resolution_ns > 0 && s->end_ns + s->resolution_ns >= k->emit_from_ns &&
		s->start_ns - s->resolution_ns <= k->emit_to_ns);
}

int tracks_emit(struct tracks *k, struct segment *s)
{
	int ret = 0;

	if (!is_emitted(k, s)) {
		segment_free_sched(s);
		return 0;
	}
	ret = tracks_set_request(k, s);
	k->result->nr[s->kind]++;
	if (!ret && k->sink->segment)
		ret = k->sink->segment(k->sink->arg, s);
	segment_free_sched(s);
	return ret;
}

/*
 * Merges both lists in order; segments that start at the border or later are for the next window.
 */
static int emit_window(struct tracks *k)
{
	size_t f = 0, o = 0;
	int ret = 0;

	sort_by(k->others, k->nr_others, segment_compare);
	while (!ret) {
		struct segment *func = f < k->nr_functions ? &k->functions[f] : NULL;
		struct segment *other = o < k->nr_others ? &k->others[o] : NULL;

		if (func && !k->is_last && func->start >= k->border)
			func = NULL;
		if (other && !k->is_last && other->start >= k->border)
			other = NULL;
		if (!func && !other)
			break;
		if (func && other && (other->start < func->start ||
				      (other->start == func->start && other->depth <= func->depth)))
			func = NULL;
		if (func)
			f++;
		else
			o++;
		ret = tracks_emit_events_until(k, (func ? func : other)->start);
		if (!ret)
			ret = tracks_emit(k, func ? func : other);
	}
	if (f)
		memmove(k->functions, k->functions + f,
			(k->nr_functions - f) * sizeof(*k->functions));
	k->nr_functions -= f;
	if (o)
		memmove(k->others, k->others + o, (k->nr_others - o) * sizeof(*k->others));
	k->nr_others -= o;
	return ret;
}

/*
 * The kernel event of a switch contains the innermost frame, which had begun then and lasted until
 * the thread ran again.  If the recorder has used this already, the bounds do not change.
 */
static void tighten_by_offs(struct tracks *k)
{
	for (size_t i = 0; i < k->nr_off_at; i++) {
		const struct sched_off *off = &k->off_at[i].off;
		int64_t from = off->out + LDB_KERNEL_SLACK, to = off->in - LDB_KERNEL_SLACK;
		const struct frame *f;

		if (!off->gen || !off->has_out)
			continue;
		f = frames_at(&k->frames, off->tid, off->gen, off->out);
		frames_began_by(&k->frames, f, from);
		/* If the time is shorter than its stamps' error, functions may have begun since. */
		if (f && f->gen == off->gen && off->has_in && from <= to)
			frames_seen(&k->frames, &(struct moment){ off->tid, 0, off->gen, from, to });
	}
}

static int read_moment(struct tracks *k)
{
	const struct req_moment *at = k->moments.head.data;
	struct moment m = { k->tid, at->last, at->innermost, k->moments.head.minor, k->moments.head.minor };

	if (k->moments.head.major == k->major) {
		if (k->nr_moment_at == TRACKS_EVENTS) {
			k->nr_moment_at /= 2;
			memmove(k->moment_at, k->moment_at + k->nr_moment_at,
				k->nr_moment_at * sizeof(m));
		}
		if (array_push(k->moment_at, k->nr_moment_at, k->room_moment_at, m))
			return -ENOMEM;
		frames_seen(&k->frames, &m);
	}
	return spill_next(&k->moments);
}

/*
 * When a request began or ended, the thread itself reported its innermost frame.  Moments of
 * earlier windows bound frames of this window that began before their estimated start.
 */
static int tighten_by_requests(struct tracks *k, int64_t before)
{
	int ret = 0;

	for (size_t i = k->nr_moment_at; i && k->moment_at[i - 1].from >= k->first_start; i--)
		frames_seen(&k->frames, &k->moment_at[i - 1]);
	while (!ret && k->moments.has_head && k->moments.head.major <= k->major &&
	       (k->moments.head.major < k->major || k->moments.head.minor < before))
		ret = read_moment(k);
	return ret;
}

/* Reports the share of the sorted rows that have become segments. */
static void report_progress(const struct tracks *k)
{
	uint64_t all = k->funcs.nr + k->locks.nr + k->offs.nr +
		       k->parts.nr + k->queues.nr + k->flows.nr, done = 0;

	for (int i = 0; i < NR_SEGMENT_KINDS; i++)
		done += k->result->nr[i];
	if (k->o->progress && all)
		k->o->progress(k->o->progress_arg, "threads",
			       0.5 + 0.5 * (done < all ? (double)done / all : 1));
}

static int do_window(struct tracks *k)
{
	int64_t ahead;
	int ret = tracks_read_frames(k);

	/*
	 * Events after the border are read, too: they bound frames that are only needed for
	 * estimates.
	 */
	ahead = k->is_last ? INT64_MAX : k->funcs.head.minor;
	if (!ret)
		ret = tracks_read_locks(k, ahead);
	if (!ret)
		ret = tracks_read_offs(k, ahead);
	if (!ret)
		ret = tracks_read_calls(k, ahead);
	if (!ret)
		ret = tracks_read_flows(k, ahead);
	/* Everything that may lower the border comes before segments are emitted. */
	if (!ret)
		ret = tracks_add_requests(k);
	if (!ret)
		ret = frames_sort(&k->frames);
	if (ret)
		return ret;
	frames_tighten(&k->frames, &k->set);
	tighten_by_offs(k);
	tracks_tighten_by_flows(k);
	ret = tighten_by_requests(k, ahead);
	if (ret)
		return ret;
	frames_nest(&k->frames);
	ret = tracks_add_functions(k);
	if (!ret)
		ret = tracks_add_others(k);
	if (!ret)
		ret = emit_window(k);
	report_progress(k);
	tracks_retain_frames(k);
	return ret;
}

static void start_thread(struct tracks *k, uint64_t major, uint32_t tid)
{
	k->major = major;
	k->tid = tid;
	k->call.tid = k->call_sleep.tid = k->call_ring.tid = 0;
	k->frames.nr = 0;
	k->set.nr = 0;
	tracks_free_offs(k, k->nr_off_at);
	k->nr_call_at = k->nr_flow_at = k->nr_moment_at = 0;
	k->nr_open = 0;
	k->last_start = INT64_MIN;
	k->nr_part_at = 0;
	k->nr_parts_done = 0;
	k->first_part = 0;
}

static int do_thread(struct tracks *k, uint64_t major, const struct thread *thread)
{
	int ret = 0;

	start_thread(k, major, thread->tid);
	k->result->nr_threads++;
	if (k->sink->thread)
		ret = k->sink->thread(k->sink->arg, thread);
	do {
		if (!ret)
			ret = do_window(k);
	} while (!ret && !k->is_last);
	return ret ? ret : tracks_emit_events_until(k, INT64_MAX);
}

/* Finds the next thread: the smallest key of all sources; returns false if all are read. */
static bool next_major(const struct tracks *k, uint64_t *major)
{
	bool found = false;

	for (const struct spill *s = k->sources; s < &k->instances; s++) {
		if (!s->has_head || (found && s->head.major >= *major))
			continue;
		*major = s->head.major;
		found = true;
	}
	return found;
}

static int do_threads(struct tracks *k)
{
	struct model *m = k->m;
	uint64_t major = 0;
	int ret = 0;

	for (size_t i = 0; i < m->nr_threads && !ret; i++) {
		const struct thread *t = &m->threads[i];

		if (!model_thread_matches(k->o->thread, t->tid, t))
			continue;
		ret = do_thread(k, i, t);
	}
	while (!ret && next_major(k, &major)) {
		struct context who = { .kind = CONTEXT_TASK, .tid = major };
		struct thread stranger = { .tid = major };

		/* The model does not have this thread; it may be one of ldb's own. */
		context_identify(m, &who, 0);
		stranger.name = who.name ? who.name : "";
		ret = do_thread(k, major, &stranger);
	}
	return ret;
}

static int do_requests(struct tracks *k)
{
	int ret = 0;

	while (k->instances.has_head && !ret) {
		const char *data = k->instances.head.data;
		struct instance instance;

		memcpy(&instance, data, sizeof(instance));
		instance.parts = (struct instance_part *)(data + sizeof(instance));
		ret = k->sink->request(k->sink->arg, &instance);
		if (!ret)
			ret = spill_next(&k->instances);
	}
	return ret;
}

static void free_all(struct tracks *k)
{
	for (size_t i = 0; i < NR_TRACKS_SOURCES; i++)
		spill_close(&k->sources[i]);
	tracks_free_offs(k, k->nr_off_at);
	for (size_t i = 0; i < k->nr_others; i++)
		segment_free_sched(&k->others[i]);
	free(k->others);
	free(k->functions);
	free(k->open);
	free(k->off_at);
	free(k->call_at);
	free(k->flow_at);
	free(k->part_at);
	free(k->moment_at);
	lockset_free(&k->set);
	futexes_free(&k->futexes);
	free(k->frames.at);
	free(k->frames.spare);
	free(k);
}

int tracks_each(struct model *m, const struct tracks_options *o, const struct tracks_sink *sink,
		struct tracks_result *result)
{
	struct tracks *k = calloc(1, sizeof(*k));
	int ret;

	*result = (struct tracks_result){ 0 };
	if (!k)
		return -ENOMEM;
	k->m = m;
	k->o = o;
	k->sink = sink;
	k->result = result;
	k->frames.m = m;
	k->emit_from_ns = ticks_time_ns(m->reader, o->emit_from);
	k->emit_to_ns = ticks_time_ns(m->reader, o->emit_to);
	lockset_init(&k->set, m);
	ret = tracks_read(k);
	if (!ret)
		ret = do_threads(k);
	if (!ret)
		ret = do_requests(k);
	free_all(k);
	return ret;
}
