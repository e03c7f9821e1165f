// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests from invocations of functions: each invocation that is not nested in another one
 * on the same thread is a request.  These invocations are the segments that a timeline shows, so a
 * request begins and ends together with its function.
 *
 * A request that is open when the recording is paused ends there, incomplete, like requests with
 * tags.  An invocation that may have begun in the pause is not a request.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/keyed.h"
#include "base/minmax.h"
#include "facts/pauses.h"
#include "request-private.h"
#include "trace/request-words.h"
#include "tracks.h"

struct answer {			/* whether the name of a function matches one of the globs */
	const struct symbol *func;
	bool is_wanted;
};

struct calls {
	struct made_requests *made;
	const char *const *globs;
	size_t nr_globs;
	struct keyed answers;	/* struct answer by symbol */
	int64_t busy_until;	/* the last request of the thread is open until then */
	bool has_requests;	/* the thread has had requests */
};

static bool matches(const struct calls *c, const struct symbol *func)
{
	for (size_t i = 0; i < c->nr_globs; i++)
		if (request_word_matches(c->globs[i], func->function))
			return true;
	return false;
}

/* Returns whether the function's name matches one of the globs; NULL if there is no memory. */
static const struct answer *answer_of(struct calls *c, const struct symbol *func)
{
	uint64_t hash = hash_mix(0, (uintptr_t)func);
	struct answer *a;

	keyed_each(&c->answers, hash, a)
		if (a->func == func)
			return a;
	a = keyed_add(&c->answers, hash, sizeof(*a));
	if (a)
		*a = (struct answer){ func, matches(c, func) };
	return a;
}

static int on_thread(void *arg, const struct thread *t)
{
	struct calls *c = arg;

	c->busy_until = INT64_MIN;
	c->has_requests = false;
	return 0;
}

/* Counts all calls of the thread, which has a request; each thread is counted once. */
static void count_calls(struct calls *c, const struct thread *t)
{
	if (c->has_requests || !t)
		return;
	c->has_requests = true;
	c->made->source->made += t->made;
	c->made->source->seen += t->seen;
}

static int on_segment(void *arg, const struct segment *s)
{
	struct calls *c = arg;
	const struct answer *a = s->kind == SEGMENT_FUNCTION ? answer_of(c, s->func) : NULL;
	struct reader *r = c->made->m->reader;
	const struct thread_interval *pause;
	int64_t resolution = max(reader_tick(r, s->resolution_ns) - reader_tick(r, 0), (int64_t)0);

	if (s->kind != SEGMENT_FUNCTION)
		return 0;
	if (!a)
		return -ENOMEM;
	if (!a->is_wanted)
		return 0;
	count_calls(c, s->thread);
	if (s->start < c->busy_until) {
		c->made->source->nr_inner++;
		return 0;
	}
	c->busy_until = s->end;
	pause = pauses_between(c->made->m, pauses_process(c->made->m, s->tid, s->start), s->row_start, s->row_end);
	if ((s->is_truncated && !s->is_open) || (pause && s->row_start > pause->start)) {
		c->made->source->nr_begun++;
		return 0;
	}
	return array_push(c->made->at, c->made->nr, c->made->room, {
		.tid = s->tid, .thread = model_thread_number(c->made->m, s->tid, s->start),
		.start = pause ? min(s->start, pause->start) : s->start, .end = pause ? pause->start : s->end,
		.is_open = s->is_open, .is_cut = pause, .resolution = pause ? 0 : resolution,
		.site = s->ret, .class = s->func->function,
		.start_min = s->start_min, .seen_from = s->seen_from, .seen_to = s->seen_to,
	});
}

int request_calls(struct made_requests *made, const char *const *globs, size_t nr)
{
	struct calls c = { .made = made, .globs = globs, .nr_globs = nr };
	struct tracks_options options = TRACKS_OPTIONS_ALL;
	struct tracks_sink sink = { .thread = on_thread, .segment = on_segment, .arg = &c };
	struct tracks_result result;
	int ret;

	options.no_requests = true;
	ret = tracks_each(made->m, &options, &sink, &result);
	keyed_free(&c.answers);
	return ret;
}
