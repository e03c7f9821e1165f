// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Everything, thread by thread; see tracks.h.  The passes over the trace are in
 * tracks-read.c; here each thread is put together again, window by window.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "facts/tasks.h"
#include "facts/ticks.h"
#include "tracks-private.h"

/* Segments that are no functions, of one window */

COMPARE(segment_compare, struct segment, UP(start) UP(depth) DOWN(end) UP(kind))

static void free_sched(struct segment *s)
{
	if (!s->sched)
		return;
	free(s->sched->occupants);
	free(s->sched);
	s->sched = NULL;
}

/* Interrupts and faults are. */
static bool is_among_segments(const struct tracks *k)
{
	return k->o->with_irqs || k->o->with_faults;
}

int tracks_tell(struct tracks *k, struct segment *s)
{
	int ret = tracks_set_request(k, s);

	k->result->nr[s->kind]++;
	if (!ret && k->sink->segment)
		ret = k->sink->segment(k->sink->arg, s);
	free_sched(s);
	return ret;
}

/* Both lists are in order; what starts behind the border waits for the next window. */
static int tell_window(struct tracks *k)
{
	struct timeline *t = &k->t;
	size_t f = 0, o = 0;
	int ret = 0;

	if (t->nr_segments)
		qsort(t->segments, t->nr_segments, sizeof(*t->segments), segment_compare);
	while (!ret) {
		struct segment *func = f < k->nr_functions ? &k->functions[f] : NULL;
		struct segment *other = o < t->nr_segments ? &t->segments[o] : NULL;

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
		if (is_among_segments(k))
			ret = tracks_tell_events_until(k, (func ? func : other)->start);
		if (!ret)
			ret = tracks_tell(k, func ? func : other);
	}
	if (f)
		memmove(k->functions, k->functions + f,
			(k->nr_functions - f) * sizeof(*k->functions));
	k->nr_functions -= f;
	if (o)
		memmove(t->segments, t->segments + o, (t->nr_segments - o) * sizeof(*t->segments));
	t->nr_segments -= o;
	return ret;
}

/* Times off the CPU as frames.c and offcpu.c know them. */
static int lend_offs(struct tracks *k)
{
	struct timeline_build *b = &k->b;

	if (k->nr_off_at > b->room_offs) {
		struct offcpu *offs = reallocarray(b->offs, k->nr_off_at, sizeof(*offs));

		if (!offs)
			return -ENOMEM;
		b->offs = offs;
		b->room_offs = k->nr_off_at;
	}
	b->nr_offs = k->nr_off_at;
	for (size_t i = 0; i < b->nr_offs; i++)
		b->offs[i] = k->off_at[i].o;
	return 0;
}

/* By what was sorted: what is told stands for itself. */
static void tell_progress(const struct tracks *k)
{
	uint64_t all = k->funcs.spill.nr + k->locks.spill.nr + k->offs.spill.nr +
		       k->parts.spill.nr + k->queues.spill.nr, done = 0;

	for (int i = 0; i < NR_SEGMENT_KINDS; i++)
		done += k->result->nr[i];
	if (k->o->progress && all)
		k->o->progress(k->o->progress_arg, "threads",
			       0.5 + 0.5 * (done < all ? (double)done / all : 1));
}

static int do_window(struct tracks *k)
{
	struct timeline_build *b = &k->b;
	int64_t ahead;
	int ret = tracks_read_frames(k);

	/* What lies behind the border still says when a frame of the margin began. */
	ahead = k->is_last ? INT64_MAX : k->funcs.head.minor;
	if (!ret)
		ret = tracks_read_locks(k, ahead);
	if (!ret)
		ret = tracks_read_offs(k, ahead);
	/* All that may lower the border comes before what is given because of it. */
	if (!ret)
		ret = tracks_add_requests(k);
	if (!ret)
		ret = lend_offs(k);
	if (!ret)
		ret = frames_sort(b);
	if (ret)
		return ret;
	frames_tighten(b);
	offcpu_tighten(b);
	b->nr_offs = 0;
	frames_nest(b);
	ret = tracks_add_functions(k);
	if (!ret)
		ret = tracks_add_others(k);
	if (!ret)
		ret = tell_window(k);
	tell_progress(k);
	tracks_keep_frames(k);
	return ret;
}

static void start_thread(struct tracks *k, uint64_t major, uint32_t tid)
{
	k->major = major;
	k->tid = tid;
	k->b.nr_frames = 0;
	k->b.locks.nr = 0;
	tracks_free_offs(k, k->nr_off_at);
	k->nr_open = 0;
	k->last_start = INT64_MIN;
	k->nr_part_at = 0;
	k->nr_parts_told = 0;
	k->first_part = 0;
}

static int do_thread(struct tracks *k, uint64_t major, const struct thread *thread)
{
	int ret = 0;

	start_thread(k, major, thread->tid);
	k->result->nr_threads++;
	if (k->sink->thread)
		ret = k->sink->thread(k->sink->arg, thread);
	if (!ret && !is_among_segments(k))
		ret = tracks_tell_events(k);
	do {
		if (!ret)
			ret = do_window(k);
	} while (!ret && !k->is_last);
	if (!ret && is_among_segments(k))
		ret = tracks_tell_events_until(k, INT64_MAX);
	return ret;
}

/* The first of all that is left; false: nothing is. */
static bool next_major(const struct tracks *k, uint64_t *major)
{
	const struct tracks_source *all[] = { &k->funcs, &k->locks, &k->offs, &k->parts, &k->queues,
					      &k->faults, &k->irqs };
	bool found = false;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i]->has_head || (found && all[i]->head.major >= *major))
			continue;
		*major = all[i]->head.major;
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
		struct party who = { .kind = PARTY_TASK, .tid = major };
		struct thread stranger = { .tid = major };

		/* ldb's own threads are among them. */
		party_identify(m, &who, 0);
		stranger.name = who.name ? who.name : "";
		ret = do_thread(k, major, &stranger);
	}
	return ret;
}

static int do_requests(struct tracks *k)
{
	int ret = 0;

	while (k->lives.has_head && !ret) {
		const char *data = k->lives.head.data;
		struct life life;

		memcpy(&life, data, sizeof(life));
		life.parts = (struct life_part *)(data + sizeof(life));
		ret = k->sink->request(k->sink->arg, &life);
		if (!ret)
			ret = source_next(&k->lives);
	}
	return ret;
}

static void free_all(struct tracks *k)
{
	spill_close(&k->funcs.spill);
	spill_close(&k->locks.spill);
	spill_close(&k->offs.spill);
	spill_close(&k->parts.spill);
	spill_close(&k->queues.spill);
	spill_close(&k->faults.spill);
	spill_close(&k->irqs.spill);
	spill_close(&k->lives.spill);
	tracks_free_offs(k, k->nr_off_at);
	for (size_t i = 0; i < k->t.nr_segments; i++)
		free_sched(&k->t.segments[i]);
	free(k->t.segments);
	free(k->functions);
	free(k->open);
	free(k->off_at);
	free(k->part_at);
	lockset_free(&k->b.locks);
	futexes_free(&k->futexes);
	free(k->b.frames);
	free(k->b.offs);
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
	k->b.m = m;
	k->b.t = &k->t;
	lockset_init(&k->b.locks, m);
	ret = tracks_read(k);
	if (!ret)
		ret = do_threads(k);
	if (!ret)
		ret = do_requests(k);
	free_all(k);
	return ret;
}
