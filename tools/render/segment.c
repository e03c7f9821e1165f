// SPDX-License-Identifier: GPL-2.0-or-later
/* Names segments, and determines their places in the source. */
#include <inttypes.h>
#include <string.h>

#include "render/segment.h"
#include "render/text.h"

const char *irq_kind_name(unsigned kind)
{
	static const char *const names[] = {
		[LDB_IRQ_HARD] = "hard", [LDB_IRQ_SOFT] = "soft", [LDB_IRQ_LOCAL_TIMER] = "timer",
		[LDB_IRQ_STOLEN] = "stolen",
	};

	return kind < sizeof(names) / sizeof(*names) && names[kind] ? names[kind] : "hard";
}

/*
 * Returns an argument as a signed number: a timeout is negative if there is none, and its register
 * may contain only 32 bits.
 */
static int64_t signed_arg(uint64_t arg)
{
	return arg <= UINT32_MAX ? (int32_t)arg : (int64_t)arg;
}

/* Writes the result of a system call: an address, a number, or the name of an error. */
static void put_result(int64_t result, char *buf, size_t size)
{
	const char *error = result < 0 && result >= -4095 ? strerrorname_np(-result) : NULL;

	if (error)
		snprintf(buf, size, " = %s", error);
	else
		snprintf(buf, size, result > UINT32_MAX ? " = 0x%" PRIx64 : " = %" PRId64, result);
}

const char *segment_call(const struct segment_call *c, char *buf)
{
	char file[TEXT_ROOM], name[TEXT_ROOM], arg[32] = "", result[48] = "";

	if (c->which)
		snprintf(arg, sizeof(arg), "%s%" PRId64, *c->file ? ", " : "", signed_arg(c->arg));
	if (c->has_result)
		put_result(c->result, result, sizeof(result));
	snprintf(buf, TEXT_ROOM, "%.100s(%.200s%s)%s", text_clean(c->name, name), text_clean(c->file, file),
		 arg, result);
	return buf;
}

const char *segment_name(const struct segment *s, char *buf)
{
	if (s->func)
		return s->func->function;
	if (s->kind == SEGMENT_IRQ && *s->irq->name)
		return s->irq->name;
	if (s->kind == SEGMENT_EVENT)
		return s->mark->name;
	if (s->kind == SEGMENT_SYSCALL)
		return s->sched->call.name;
	if (s->lock_symbol && s->lock_symbol->known)
		return s->lock_symbol->function;
	if (s->lock)
		snprintf(buf, TEXT_ROOM, "0x%" PRIx64, s->lock);
	else
		snprintf(buf, TEXT_ROOM, "%s", segment_kinds[s->kind].name);
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

const char *timeline_cause_name(const struct timeline_cause *c, char *buf)
{
	if (c->func)
		return c->func->function;
	if (c->wait && !c->in_queue && (c->kind == LEAF_LOCK || c->kind == LEAF_FUTEX))
		return segment_name(c->wait, buf);
	return c->label;
}

const char *timeline_cause_queue(const struct timeline_cause *c, char *buf)
{
	return c->in_queue && c->wait ? segment_name(c->wait, buf) : NULL;
}

const struct timeline_cause *timeline_top_function(const struct timeline *t)
{
	/* Causes are sorted, so the first one is the biggest. */
	for (size_t i = 0; i < t->nr_causes; i++)
		if (t->causes[i].kind == LEAF_FUNCTION && !t->causes[i].in_queue)
			return &t->causes[i];
	return NULL;
}
