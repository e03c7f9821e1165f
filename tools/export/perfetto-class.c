// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes requests as slices in lanes of their class.  Lanes are reused, because a separate track
 * for each request would be too much for the viewer.  Also writes counters: how many requests were
 * in each queue, and how many threads waited for each lock.
 */
#include <errno.h>

#include "export/perfetto-private.h"
#include "render/segment.h"
#include "render/text.h"

/* at most this many locks and queues have a counter: the first ones that are written */
#define COUNTERS_MAX	1024

static int class_number(struct perfetto *x, const char *name)
{
	struct perfetto_class *classes;

	for (size_t i = 0; i < x->nr_classes; i++)
		if (!strcmp(x->classes[i].name, name))
			return i;
	classes = reallocarray(x->classes, x->nr_classes + 1, sizeof(*classes));
	if (!classes)
		return -ENOMEM;
	x->classes = classes;
	classes[x->nr_classes] = (struct perfetto_class){ .name = name };
	return x->nr_classes++;
}

int perfetto_on_request(void *arg, const struct instance *instance)
{
	struct perfetto *x = arg;
	int64_t start = perfetto_ns(x, ticks_time_ns(x->m->reader, instance->start));
	int64_t end = perfetto_ns(x, ticks_time_ns(x->m->reader, instance->end));
	const char *name = export_class_name(x->m, instance->id, instance->end);
	int class = class_number(x, name), lane;
	struct attrs attrs;
	uint64_t track;
	bool is_new;

	if (!export_wants_instance(x->o, instance))
		return 0;
	if (class < 0)
		return class;
	if (!x->has_requests) {
		perfetto_end_thread(x);
		perfetto_sequence(x, 0);
		x->has_requests = true;
	}
	lane = export_lane(&x->classes[class].lanes, start, end, &is_new);
	if (lane < 0)
		return lane;
	track = perfetto_track(TRACK_CLASS, class, lane);
	if (is_new)
		perfetto_describe(x, track, perfetto_track(TRACK_PROCESS, 1, 0), name);
	perfetto_until(x, start);
	perfetto_event(x, PB_BEGIN, track);
	perfetto_name(x, "request", name, true);
	packet_u64(&x->event, PB_CORRELATION, instance->id);
	attrs_of_instance(&attrs, x->m, instance);
	perfetto_say(x, &attrs, false);
	x->o->result->nr_requests++;
	return perfetto_begin(x, track, start, end);
}

int perfetto_end_requests(struct perfetto *x)
{
	perfetto_until(x, INT64_MAX);
	for (size_t i = 0; i < x->nr_classes; i++)
		free(x->classes[i].lanes.ends);
	free(x->classes);
	x->classes = NULL;
	x->nr_classes = 0;
	return perfetto_error(x);
}

/* Counters */

struct count {
	int change;
	uint64_t object;
	const struct symbol *symbol;
	bool is_queue;
};

int perfetto_count(struct perfetto *x, const struct segment *s)
{
	bool is_queue = s->kind == SEGMENT_QUEUE, is_new;
	struct count c = {
		.change = 1, .object = s->lock, .symbol = s->lock_symbol, .is_queue = is_queue,
	};
	uint64_t number;
	int ret;

	if (!is_queue && s->kind != SEGMENT_LOCK_WAIT && s->kind != SEGMENT_FUTEX_WAIT)
		return 0;
	if (x->counted.nr == COUNTERS_MAX && !table_find(&x->counted, s->lock, is_queue, 0))
		return 0;
	number = table_get(&x->counted, s->lock, is_queue, 0, &is_new);
	if (!number)
		return -ENOMEM;
	ret = spill_add(&x->counts, number, perfetto_ns(x, s->start_ns), &c, sizeof(c));
	c.change = -1;
	return ret ? ret : spill_add(&x->counts, number, perfetto_ns(x, s->end_ns), &c, sizeof(c));
}

static void describe_count(struct perfetto *x, uint64_t track, const struct count *c)
{
	struct segment s = { .lock = c->object, .lock_symbol = c->symbol, .kind = SEGMENT_QUEUE };
	char name[TEXT_ROOM], text[2 * TEXT_ROOM];
	size_t descriptor, counter;

	snprintf(text, sizeof(text), c->is_queue ? "requests in %s" : "threads waiting for %s",
		 segment_name(&s, name));
	packet_u64(&x->p, PB_SEQUENCE, x->sequence);
	descriptor = packet_begin(&x->p, PB_TRACK_DESCRIPTOR);
	packet_u64(&x->p, PB_UUID, track);
	packet_u64(&x->p, PB_PARENT, perfetto_track(TRACK_PROCESS, 1, 0));
	packet_text(&x->p, PB_TRACK_NAME, text);
	counter = packet_begin(&x->p, PB_COUNTER);
	packet_u64(&x->p, 3, 2);	/* unit: UNIT_COUNT */
	packet_end(&x->p, counter);
	packet_end(&x->p, descriptor);
	perfetto_put(x);
}

static void put_count(struct perfetto *x, int64_t at, int64_t value)
{
	perfetto_event(x, PB_COUNT, 0);
	packet_i64(&x->event, PB_COUNTER_VALUE, value);
	perfetto_put_event(x, at);
}

int perfetto_end_counts(struct perfetto *x)
{
	const struct spill_item *item = &x->counts.head;
	uint64_t major = 0;
	int64_t value = 0, at = 0;
	int ret = spill_sort(&x->counts);

	while (!ret && x->counts.has_head) {
		const struct count *c = item->data;

		/*
		 * If a counter changes several times at one time, only the last value is written.
		 */
		if (major && (item->major != major || item->minor != at))
			put_count(x, at, value);
		if (item->major != major) {
			uint64_t track = perfetto_track(c->is_queue ? TRACK_QUEUE : TRACK_LOCK,
							item->major, 0);

			perfetto_sequence(x, track);
			describe_count(x, track, c);
			major = item->major;
			value = 0;
		}
		at = item->minor;
		value += c->change;
		ret = perfetto_error(x);
		if (!ret)
			ret = spill_next(&x->counts);
	}
	if (!ret && major)
		put_count(x, at, value);
	return ret;
}
