// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "states.h"

static const struct state {
	const char *name, *colour, *noun, *words, *phrase, *joint;
	unsigned rank;
	enum anomaly anomaly;
} states[NR_LEAF_KINDS] = {
#define STATE(name, json, colour, rank, anomaly, noun, words, phrase, joint) \
	[LEAF_##name] = { json, colour, noun, words, phrase, joint, rank, ANOMALY_##anomaly },
#include "states.def"
#undef STATE
};

const char *leaf_kind_name(enum leaf_kind kind)
{
	return states[kind].name;
}

const char *leaf_kind_noun(enum leaf_kind kind)
{
	return states[kind].noun;
}

const char *leaf_kind_words(enum leaf_kind kind)
{
	return states[kind].words;
}

char *leaf_kind_say(enum leaf_kind kind, const char *label, char *buf, size_t size)
{
	const struct state *s = &states[kind];

	snprintf(buf, size, "%s%s%s", s->phrase, *label ? s->joint : "", label);
	return buf;
}

const char *leaf_kind_colour(enum leaf_kind kind)
{
	return states[kind].colour;
}

unsigned leaf_kind_rank(enum leaf_kind kind)
{
	return states[kind].rank;
}

enum anomaly leaf_kind_anomaly(enum leaf_kind kind)
{
	return states[kind].anomaly;
}

enum leaf_kind leaf_kind_of(const struct segment *s)
{
	switch (s->kind) {
	case SEGMENT_FUNCTION:
		return LEAF_FUNCTION;
	case SEGMENT_LOCK_WAIT:
		return LEAF_LOCK;
	case SEGMENT_FUTEX_WAIT:
		return LEAF_FUTEX;
	case SEGMENT_RUNNABLE:
		return LEAF_RUNNABLE;
	case SEGMENT_PREEMPTED:
		return s->sched && s->sched->is_throttled ? LEAF_THROTTLED : LEAF_PREEMPTED;
	case SEGMENT_BLOCKED:
		return s->sched && s->sched->state == LDB_STATE_DISK ? LEAF_IO : LEAF_SLEEP;
	case SEGMENT_QUEUE:
		return LEAF_QUEUE;
	case SEGMENT_IRQ:
		return s->irq->kind == LDB_IRQ_STOLEN ? LEAF_STOLEN : LEAF_IRQ;
	default:
		return LEAF_UNKNOWN;
	}
}
