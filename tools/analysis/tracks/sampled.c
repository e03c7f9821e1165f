// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/attribution/attribution.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/sort.h"
#include "sampled.h"
#include "tracks.h"

struct taken {
	uint32_t entry, place;
};

struct building {
	const struct sampled_options *o;
	struct sampled *s;
	struct attribution attribution;
	struct places places;
	struct sample *samples;		/* the thread's samples that are not attributed yet */
	size_t nr_samples, room_samples, next;
	struct taken *taken;
	size_t nr_taken, room_taken, room_entries;
	struct hash by_name;		/* entries */
};

static const char *name_of(const struct symbol *func)
{
	return func ? func->function : "";
}

static int64_t entry_of(struct building *b, const struct symbol *func)
{
	uint64_t hash = hash_text(name_of(func));
	struct sampled *s = b->s;
	uint32_t n;

	hash_each(&b->by_name, hash, n) {
		const struct symbol *at = s->entries[n].func;

		if (!at == !func && !strcmp(name_of(at), name_of(func)) && (!at || !strcmp(at->path, func->path)))
			return n;
	}
	if (hash_add(&b->by_name, hash, s->nr) ||
	    array_push(s->entries, s->nr, b->room_entries, { .func = func }))
		return -ENOMEM;
	return s->nr - 1;
}

/*
 * Sets *func to the innermost function (NULL: none) for samples in this item; returns false if they
 * are not of running code.  A sample is taken by an interrupt, which may be in the trace; then the
 * sample belongs to the interrupted function.
 */
static bool is_in_function(const struct attribution *a, const struct attribution_item *item,
			   const struct symbol **func)
{
	const struct attribution_item *in = item && item->kind != LEAF_FUNCTION && item->place <= a->depth ?
					    attribution_function(a, item->place) : NULL;

	*func = item && item->kind == LEAF_FUNCTION ? item->func : in ? in->func : NULL;
	return !item || item->kind == LEAF_FUNCTION || item->kind == LEAF_LIBCALL || item->kind == LEAF_IRQ;
}

static int take(struct building *b, const struct sample *sample, const struct symbol *func)
{
	int64_t entry = entry_of(b, func), place = places_find(&b->places, sample, func);

	return entry < 0 || place < 0 ? -ENOMEM :
	       array_push(b->taken, b->nr_taken, b->room_taken, { entry, place });
}

static int on_spend(void *arg, int64_t start, int64_t end, struct attribution_item *item)
{
	struct building *b = arg;
	const struct symbol *func;
	int ret = 0;

	for (; b->next < b->nr_samples && b->samples[b->next].tick < end && !ret; b->next++) {
		if (is_in_function(&b->attribution, item, &func))
			ret = take(b, &b->samples[b->next], func);
		else
			b->s->nr_others++;
	}
	return ret;
}

static int on_sample(void *arg, const struct sample *sample)
{
	struct building *b = arg;

	return array_push(b->samples, b->nr_samples, b->room_samples, *sample);
}

static int on_segment(void *arg, const struct segment *s)
{
	struct building *b = arg;

	return s->end > s->start || s->kind == SEGMENT_IRQ ? attribution_segment(&b->attribution, s) : 0;
}

static int end_thread(struct building *b)
{
	int ret = attribution_finish(&b->attribution);

	b->nr_samples = b->next = 0;
	return ret;
}

static int on_thread(void *arg, const struct thread *t)
{
	return end_thread(arg);
}

COMPARE(taken_compare, struct taken, UP(entry))
COMPARE(entry_compare, struct sampled_entry, DOWN(split.nr_samples))

static bool is_wanted(const struct building *b, const struct sampled_entry *e)
{
	return !b->o->function || (e->func && !fnmatch(b->o->function, e->func->function, 0));
}

static int split_entries(struct building *b)
{
	uint32_t *places = calloc(b->nr_taken + 1, sizeof(*places));
	struct sampled *s = b->s;
	size_t at = 0, nr = 0;

	if (!places)
		return -ENOMEM;
	sort_by(b->taken, b->nr_taken, taken_compare);
	s->nr_samples = b->nr_taken;
	for (size_t i = 0; i < s->nr; i++) {
		struct sampled_entry *e = &s->entries[i];
		size_t n = 0;

		for (; at < b->nr_taken && b->taken[at].entry == i; at++)
			places[n++] = b->taken[at].place;
		places_split(&b->places, places, n, &e->split);
		e->share = (double)n / (double)s->nr_samples;
		split_interval(n, s->nr_samples, &e->low, &e->high);
		if (is_wanted(b, e))
			s->entries[nr++] = *e;
	}
	s->nr = nr;
	sort_by(s->entries, s->nr, entry_compare);
	free(places);
	return 0;
}

int sampled_build(struct model *m, const struct sampled_options *o, struct sampled *s)
{
	struct building b = { .o = o, .s = s, .places = { .m = m } };
	struct tracks_options options = TRACKS_OPTIONS_ALL;
	struct tracks_sink sink = {
		.thread = on_thread, .segment = on_segment, .sample = on_sample, .arg = &b,
	};
	struct tracks_result result;
	int ret;

	*s = (struct sampled){ 0 };
	options.from = o->from;
	options.to = o->to;
	options.thread = o->thread;
	options.no_requests = options.with_irqs = true;
	b.attribution = (struct attribution){ .spend = on_spend, .arg = &b };
	attribution_start(&b.attribution);
	ret = tracks_each(m, &options, &sink, &result);
	if (!ret)
		ret = end_thread(&b);
	if (!ret)
		ret = split_entries(&b);
	attribution_free(&b.attribution);
	places_free(&b.places);
	hash_free(&b.by_name);
	free(b.samples);
	free(b.taken);
	if (ret)
		sampled_free(s);
	return ret;
}

void sampled_free(struct sampled *s)
{
	free(s->entries);
	*s = (struct sampled){ 0 };
}
