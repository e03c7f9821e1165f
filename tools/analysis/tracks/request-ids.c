// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the ids of requests that are calls of a function with the id as an argument.
 *
 * A probe at the function's first instruction recorded the time of each call, to a fraction of a
 * microsecond, the return address and the id.  A request is a call that the scanner observed at
 * some time: it is the last call from the same place that the probe recorded before that time.
 * Calls that the scanner did not observe have an id, but are not requests.
 *
 * The frame that the scanner observes is made a little after the probe, or long after it if the
 * thread was preempted in between.  So the time between probe and frame has no bound.  If some id
 * was lost, none is certain, because a call could get the id of an earlier one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "facts/interruptions.h"
#include "request-private.h"
#include "trace/request-words.h"

/* The error of the clocks, if the trace does not contain it. */
#define ERROR_NS	2000
#define ERROR_MAX_NS	1000000000LL

/* the greatest time from the probe to the frame, if some calls may have no row */
#define DELAY_NS	100000

#define NEAR_MAX	64	/* calls that are compared if the times are not exact */

/* Requests whose ids are not known get numbers from here on, which programs hardly use as ids. */
#define UNKNOWN_FIRST	(1ULL << 63)

struct hit {
	uint32_t thread, tid;
	int64_t tick;
	uint64_t ret;
	uint64_t id;
	const char *function;	/* as the user wrote it */
	bool may_be_inner;	/* an earlier call from the same place may still run */
	bool is_nowhere;	/* the id could not be read */
	bool is_taken;
};

struct hits {
	struct model *m;
	struct hit *at;
	size_t nr, room;
	int64_t error, delay;
	bool are_all;		/* each call has a row */
};

/* Calls of a function from one place by one thread, in order of time. */
struct group {
	struct hit *at;
	size_t nr;
};

static int on_id(void *arg, const struct marked *k)
{
	const char *text = k->name + strlen(REQUEST_ID_EVENT);
	struct hits *h = arg;
	uint64_t ret;
	size_t marks;
	int n = 0;

	if (sscanf(text, "%" SCNx64 "%n", &ret, &n) != 1)
		return 0;
	text += n;
	marks = strcspn(text, " ");
	return array_push(h->at, h->nr, h->room, {
		.thread = model_thread_number(h->m, k->tid, k->tick), .tid = k->tid, .tick = k->tick, .ret = ret,
		.id = k->value, .may_be_inner = memchr(text, '?', marks), .is_nowhere = memchr(text, '-', marks),
		.function = text + marks + (text[marks] == ' '),
	});
}

COMPARE(by_place, struct hit, UP(thread) UP(tid) UP(ret))
COMPARE(by_tick, struct hit, UP(tick))

static int by_call(const void *pa, const void *pb)
{
	const struct hit *a = pa, *b = pb;

	return by_place(a, b) ?: strcmp(a->function, b->function) ?: by_tick(a, b);
}

/* Finds the calls that may be this request. */
static struct group group_of(const struct hits *h, const struct made_request *r)
{
	const struct hit place = { .thread = r->thread, .tid = r->tid, .ret = model_plain_address(r->site) };
	size_t from = search(h->nr, i, by_place(&h->at[i], &place) < 0);
	size_t end = search_range(from, h->nr, i, by_place(&h->at[i], &place) <= 0);

	/* A place may call several functions, through a pointer. */
	for (unsigned n = 0; from < end && n < REQUEST_NAMES_MAX; n++) {
		const char *function = h->at[from].function;
		size_t next = search_range(from, end, i, strcmp(h->at[i].function, function) <= 0);

		if (request_word_matches(function, r->class))
			return (struct group){ &h->at[from], next - from };
		from = next;
	}
	return (struct group){ 0 };
}

static bool is_recent(const struct hits *h, const struct hit *hit, const struct made_request *r)
{
	return h->are_all || hit->tick >= r->start_min - h->error - h->delay;
}

static bool is_free(const struct hits *h, const struct hit *hit, const struct made_request *r)
{
	return !hit->is_taken && is_recent(h, hit, r);
}

/*
 * Returns the call that the scanner observed as request r, or NULL if that is not certain.  It is
 * the last call before the request was observed, if no other call began at about that time.  A
 * call that was assigned to an earlier request, and calls before that, are out of the question.
 */
static struct hit *find(const struct hits *h, const struct group *g, const struct made_request *r)
{
	int64_t surely = min(r->seen_from, r->seen_to) - h->error, maybe = r->seen_from + h->error;
	size_t from = search(g->nr, i, g->at[i].tick <= surely), to = search(g->nr, i, g->at[i].tick <= maybe);
	struct hit *found = NULL, *last = to ? &g->at[to - 1] : NULL;
	unsigned nr = 0;

	to = max(from, to);
	if (from && is_free(h, &g->at[from - 1], r)) {
		found = &g->at[from - 1];
		nr++;
	}
	for (size_t i = from; i < to && nr < 2; i++) {
		if (i - from == NEAR_MAX)
			nr = 2;
		else if (is_free(h, &g->at[i], r))
			found = nr++ ? NULL : &g->at[i];
	}
	/*
	 * The call ran until it was last observed, so no other call, unless it is nested, can have
	 * begun.
	 */
	if (to < g->nr && !g->at[to].may_be_inner && g->at[to].tick < r->seen_to - h->error)
		nr = 2;
	if (nr && last)
		last->is_taken = true;
	return nr == 1 ? found : NULL;
}

/*
 * Returns true if the call's id is that of the request.  It may not be if the call may have been
 * nested in another call, because then the outer call is the request.
 */
static bool is_known(const struct hits *h, const struct group *g, const struct hit *hit, const struct made_request *r)
{
	if (hit->is_nowhere || (hit->may_be_inner && hit > g->at && is_free(h, hit - 1, r)))
		return false;
	/* A CUT row with the id 0 would end all requests. */
	return !r->is_cut || hit->id;
}

static void assign(struct made_requests *made, struct hits *h)
{
	for (size_t i = 0; i < made->nr; i++) {
		struct made_request *r = &made->at[i];
		struct group g = group_of(h, r);
		const struct hit *hit = find(h, &g, r);

		r->id = hit && is_known(h, &g, hit, r) ? hit->id : UNKNOWN_FIRST + made->source->nr_without_id++;
	}
}

static int64_t ticks(struct made_requests *made, int64_t ns)
{
	return reader_tick(made->m->reader, ns) - reader_tick(made->m->reader, 0);
}

/*
 * Returns why no id is certain, or NULL.  The dump of a flight recorder contains the number of lost
 * ids only if there were some.
 */
static const char *why_none(struct made_requests *made, const char *lost)
{
	if (!lost && reader_meta(made->m->reader, "flight"))
		return NULL;
	if (!lost)
		return "the trace does not say whether some ids were lost";
	if (strcmp(lost, "0"))
		return "some ids were lost";
	return reader_is_damaged(made->m->reader) ? "the trace is damaged" : NULL;
}

int request_ids(struct made_requests *made)
{
	const char *error = reader_meta(made->m->reader, "ids_err_ns"), *lost = reader_meta(made->m->reader, "ids_lost");
	struct hits h = { .m = made->m };
	int ret = ids_each(made->m, on_id, &h);

	h.error = ticks(made, error ? min(max(atoll(error), 0LL), ERROR_MAX_NS) : ERROR_NS);
	h.delay = ticks(made, DELAY_NS);
	/*
	 * Calls in a pause have no rows, and the dump of a flight recorder may lack the number of
	 * lost ids.
	 */
	h.are_all = lost && !made->m->nr_pauses;
	if (!ret && (h.nr || lost))
		made->source->why_no_ids = why_none(made, lost);
	if (!ret && h.nr && !made->source->why_no_ids) {
		sort_by(h.at, h.nr, by_call);
		assign(made, &h);
		made->source->has_ids = true;
	}
	free(h.at);
	return ret;
}
