// SPDX-License-Identifier: GPL-2.0-or-later
#include "states.h"

static const struct state {
	const char *name, *colour;
	unsigned rank;
} states[NR_LEAF_KINDS] = {
#define STATE(name, json, colour, rank) [LEAF_##name] = { json, colour, rank },
#include "states.def"
#undef STATE
};

const char *leaf_kind_name(enum leaf_kind kind)
{
	return states[kind].name;
}

const char *leaf_kind_colour(enum leaf_kind kind)
{
	return states[kind].colour;
}

unsigned leaf_kind_rank(enum leaf_kind kind)
{
	return states[kind].rank;
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
	default:
		return LEAF_UNKNOWN;
	}
}
