// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gives requests that are calls the ids that the calls had as arguments.
 *
 * The recorder knows when a function was called, to a fraction of a microsecond, and from where; the
 * scanner knows that a call was running at some time.  The call that it saw is the last one before,
 * from the same place.  Calls that the scanner did not see have an id, and no request.
 *
 * The function's frame is there a little after the probe, and long after it if the thread lost its CPU in
 * between.  So where no id was lost, no bound in time is needed; else one call could get the id of
 * an earlier one.
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

/* Of the clocks, where the trace does not say it. */
#define ERROR_NS	2000

#define DELAY_NS	100000	/* from the probe until the frame is there, where ids were lost */

/* Requests whose ids are not known are counted from here on: no program counts so far. */
#define UNKNOWN_FIRST	(1ULL << 63)

struct hit {
	uint32_t thread, tid;
	int64_t tick;
	uint64_t ret;
	uint64_t id;
	const char *function;	/* as the user wrote it */
	bool may_be_inner;	/* an earlier call from the same place may still run */
	bool is_taken;
};

struct hits {
	struct model *m;
	struct hit *at;
	size_t nr, room;
	int64_t error, delay;
	bool are_complete;	/* no id was lost */
};

static int on_id(void *arg, const struct marked *k)
{
	const char *text = k->name + strlen(REQUEST_ID_EVENT);
	struct hits *h = arg;
	uint64_t ret;
	int n = 0;

	if (sscanf(text, "%" SCNx64 "%n", &ret, &n) != 1)
		return 0;
	text += n;
	return array_push(h->at, h->nr, h->room, {
		.thread = model_thread_number(h->m, k->tid, k->tick), .tid = k->tid, .tick = k->tick, .ret = ret,
		.id = k->value, .may_be_inner = *text == '?', .function = text + strcspn(text, " ") + (strchr(text, ' ') != NULL),
	});
}

COMPARE(by_thread, struct hit, UP(thread) UP(tid) UP(tick))

static bool is_before(const struct hit *h, const struct made_request *r, int64_t tick)
{
	if (h->thread != r->thread)
		return h->thread < r->thread;
	return h->tid != r->tid ? h->tid < r->tid : h->tick <= tick;
}

static bool is_of_thread(const struct hit *h, const struct made_request *r)
{
	return h->thread == r->thread && h->tid == r->tid;
}

static bool matches(const struct hit *h, const struct made_request *r)
{
	return h->ret == model_plain_address(r->site) && request_word_matches(h->function, r->class);
}

/*
 * Returns the last call before the one with number end, or h->nr.  Calls before one that is a request are
 * older than that.
 */
static size_t before(const struct hits *h, const struct made_request *r, size_t end)
{
	while (end-- > 0 && is_of_thread(&h->at[end], r) &&
	       (h->are_complete || h->at[end].tick >= r->start_min - h->error - h->delay))
		if (matches(&h->at[end], r))
			return h->at[end].is_taken ? h->nr : end;
	return h->nr;
}

/* Is there another call that may have been the outer one? */
static bool is_ambiguous(const struct hits *h, size_t i, const struct made_request *r)
{
	return h->at[i].may_be_inner && before(h, r, i) < h->nr;
}

/* Returns the call's number, or h->nr. */
static size_t find(const struct hits *h, const struct made_request *r)
{
	int64_t seen = r->seen_from + max(r->seen_to - r->seen_from, (int64_t)0) / 2;
	size_t after = search(h->nr, i, is_before(&h->at[i], r, seen));
	size_t found = before(h, r, after);

	for (size_t i = after; found == h->nr && i < h->nr && is_of_thread(&h->at[i], r) &&
	     h->at[i].tick <= seen + h->error; i++)
		if (!h->at[i].is_taken && matches(&h->at[i], r))
			found = i;
	return found;
}

static void assign(struct made_requests *made, struct hits *h)
{
	for (size_t i = 0; i < made->nr; i++) {
		struct made_request *r = &made->at[i];
		size_t nr = find(h, r);
		bool is_known = nr < h->nr && !is_ambiguous(h, nr, r);

		if (nr < h->nr)
			h->at[nr].is_taken = true;
		r->id = is_known ? h->at[nr].id : UNKNOWN_FIRST + made->source->nr_without_id++;
	}
}

static int64_t ticks(struct made_requests *made, int64_t ns)
{
	return reader_tick(made->m->reader, ns) - reader_tick(made->m->reader, 0);
}

static bool is_zero(struct made_requests *made, const char *key)
{
	const char *text = reader_meta(made->m->reader, key);

	return text && !strcmp(text, "0");
}

int request_ids(struct made_requests *made)
{
	const char *error = reader_meta(made->m->reader, "ids_err_ns");
	struct hits h = { .m = made->m };
	int ret = ids_each(made->m, on_id, &h);

	h.error = ticks(made, error ? max(atoll(error), 0LL) : ERROR_NS);
	h.delay = ticks(made, DELAY_NS);
	h.are_complete = is_zero(made, "ids_lost") && is_zero(made, "ids_nowhere") && !made->m->nr_pauses;
	if (!ret && h.nr) {
		sort_by(h.at, h.nr, by_thread);
		assign(made, &h);
		made->source->has_ids = true;
	}
	free(h.at);
	return ret;
}
