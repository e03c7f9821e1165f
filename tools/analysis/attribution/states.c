// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "states.h"

const struct state leaf_kinds[NR_LEAF_KINDS] = {
#define STATE(kind, name, colour, rank, anomaly, ...) \
	[LEAF_##kind] = { name, colour, rank, ANOMALY_##anomaly, __VA_ARGS__ },
#include "states.def"
#undef STATE
};

const struct segment_words segment_kinds[NR_SEGMENT_KINDS] = {
#define SEGMENT(kind, name, words, colour, row, off_cpu, state, track, ...) \
	[SEGMENT_##kind] = { name, words, colour, row, off_cpu, LEAF_##state, \
			     SEGMENT_##track, __VA_ARGS__ },
#include "facts/segments.def"
#undef SEGMENT
};

char *leaf_kind_say(enum leaf_kind kind, const char *label, char *buf, size_t size)
{
	const struct state *s = &leaf_kinds[kind];

	snprintf(buf, size, "%s%s%s", s->phrase, *label ? s->joint : "", label);
	return buf;
}

enum leaf_kind leaf_kind_of(const struct segment *s)
{
	switch (s->kind) {
	case SEGMENT_PREEMPTED:
		return s->sched && s->sched->is_throttled ? LEAF_THROTTLED : LEAF_PREEMPTED;
	case SEGMENT_BLOCKED:
		return s->sched && s->sched->state == LDB_STATE_DISK ? LEAF_IO : LEAF_SLEEP;
	case SEGMENT_IRQ:
		return s->irq->kind == LDB_IRQ_STOLEN ? LEAF_STOLEN : LEAF_IRQ;
	default:
		return segment_kinds[s->kind].state;
	}
}
