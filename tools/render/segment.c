// SPDX-License-Identifier: GPL-2.0-or-later
/* How a segment is named and placed. */
#include <inttypes.h>

#include "render/segment.h"
#include "render/text.h"

const char *segment_kind_name(enum segment_kind kind)
{
	static const char *const names[] = {
		[SEGMENT_REQUEST] = "request", [SEGMENT_FUNCTION] = "function",
		[SEGMENT_LOCK_WAIT] = "lock_wait", [SEGMENT_LOCK_HOLD] = "lock_hold",
		[SEGMENT_QUEUE] = "queue", [SEGMENT_RUNNABLE] = "runnable",
		[SEGMENT_PREEMPTED] = "preempted", [SEGMENT_BLOCKED] = "blocked",
		[SEGMENT_FUTEX_WAIT] = "futex_wait", [SEGMENT_IRQ] = "interrupt",
		[SEGMENT_FAULT] = "page_fault",
	};

	return names[kind];
}

const char *segment_name(const struct segment *s, char *buf)
{
	if (s->func)
		return s->func->function;
	if (s->lock_symbol && s->lock_symbol->known)
		return s->lock_symbol->function;
	if (s->lock)
		snprintf(buf, TEXT_ROOM, "0x%" PRIx64, s->lock);
	else
		snprintf(buf, TEXT_ROOM, "%s", segment_kind_name(s->kind));
	return buf;
}

struct place segment_place(const struct segment *s)
{
	if (s->site && *s->site->file)
		return (struct place){ s->site->file, s->site->line };
	if (s->func)
		return (struct place){ s->func->func_file, s->func->func_line };
	return (struct place){ "", 0 };
}

const struct timeline_cause *timeline_top_function(const struct timeline *t)
{
	/* Causes are sorted. */
	for (size_t i = 0; i < t->nr_causes; i++)
		if (t->causes[i].kind == SEGMENT_FUNCTION)
			return &t->causes[i];
	return NULL;
}
