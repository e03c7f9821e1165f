// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the system call in which a thread slept, and makes segments of calls whose duration is
 * known.
 *
 * Both are found while rows and times off the CPU are read side by side, each in order of time.  Of
 * calls, sleeps and operations of io_uring only the last row is stored, besides calls of which
 * segments will be made.  The calls of a thread do not nest, but a wait for an operation of
 * io_uring is in a call, too.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "facts/rows.h"
#include "facts/syscalls.h"
#include "facts/ticks.h"
#include "tracks-private.h"

#define APART_NS	1000	/* a thread does not sleep twice within this time */

static int add_call(void *arg, const struct syscall *c)
{
	struct tracks *k = arg;

	if (!tracks_wants(k, c->tid, c->start, c->end))
		return 0;
	return spill_add(&k->calls, model_thread_order(k->m, c->tid, c->start), c->start, c,
			 sizeof(*c));
}

int tracks_sort_calls(struct tracks *k)
{
	struct reader_filter filter = ROWS_WITHIN(ticks_sane(k->o->from) - k->o->before, k->o->to);

	k->calls_apart = ticks_sane(reader_tick(k->m->reader, APART_NS) - reader_tick(k->m->reader, 0));
	return syscalls_each(k->m, &filter, add_call, k);
}

static bool has_call_before(const struct tracks *k, int64_t tick)
{
	return spill_is_at(&k->calls, k->major) && k->calls.head.minor < tick;
}

/* Reads a call.  If it becomes a segment, it is stored until the functions around it are known. */
static int read_call(struct tracks *k)
{
	struct syscall c;

	memcpy(&c, k->calls.head.data, sizeof(c));
	*(c.is_ring ? &k->call_ring : c.is_sleep ? &k->call_sleep : &k->call) = c;
	if (k->o->with_calls && !c.is_sleep && !c.is_ring && array_push(k->call_at, k->nr_call_at, k->room_call_at, c))
		return -ENOMEM;
	return spill_next(&k->calls);
}

int tracks_read_calls(struct tracks *k, int64_t before)
{
	int ret = 0;

	/* A row after the next time off the CPU may belong to that time, so it is not read yet. */
	if (spill_is_at(&k->offs, k->major) && k->offs.head.minor < before)
		before = k->offs.head.minor;
	while (!ret && has_call_before(k, before) &&
	       !(k->nr_call_at && tracks_is_enough(k, k->nr_call_at, k->call_at[0].start, &k->calls)))
		ret = read_call(k);
	return ret;
}

int tracks_add_calls(struct tracks *k)
{
	size_t nr = 0;

	for (; nr < k->nr_call_at && (k->is_last || k->call_at[nr].start < k->border); nr++)
		if (!segment_of_call(k, &k->call_at[nr]))
			return -ENOMEM;
	if (nr)
		memmove(k->call_at, k->call_at + nr, (k->nr_call_at - nr) * sizeof(*k->call_at));
	k->nr_call_at -= nr;
	return 0;
}

/*
 * Returns true if the last system call row and `off` are about the same context switch.  Their time
 * stamps may differ a little, because ticks were converted by different pieces of the clock.
 */
static bool is_of(const struct tracks *k, const struct sched_off *off)
{
	return k->call_sleep.tid && k->call_sleep.start <= off->out + k->calls_apart &&
	       k->call_sleep.start >= off->out - k->calls_apart;
}

/* Returns true if `off` is a sleep in io_uring_enter() that a known operation has ended. */
static bool is_of_ring(const struct tracks *k, const struct sched_off *off, const struct segment_call *call)
{
	return k->call_ring.tid && off->out >= k->call_ring.start && off->out < k->call_ring.end &&
	       (!call->name || !strcmp(call->name, "io_uring_enter"));
}

int tracks_call_of(struct tracks *k, const struct sched_off *off, struct segment_call *call)
{
	int ret = 0;

	while (!ret && has_call_before(k, off->out + k->calls_apart))
		ret = read_call(k);
	*call = (struct segment_call){ .name = NULL };
	if (is_of(k, off))
		*call = k->call_sleep.call;
	else if (k->call.tid && off->out >= k->call.start && off->out < k->call.end)
		*call = k->call.call;
	if (is_of_ring(k, off, call))
		*call = k->call_ring.call;
	call->has_result = false;
	return ret;
}
