// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes segments of the events on a thread.  There is a function for each kind of event: an
 * invocation, a wait for a lock or a hold of it, a time off the CPU, a span of a request, a system
 * call, a call of a library.
 *
 * A sleep during a wait has no segment; its kernel events are added to the segment of the wait.
 * The time for which the thread then waits for a CPU is a segment inside of the wait.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "facts/tasks.h"
#include "facts/ticks.h"
#include "tracks-private.h"

#define IDLE_NS_MIN	50000	/* shorter idle times may be errors of the clocks */

static struct segment *add(struct tracks *k, enum segment_kind kind, uint32_t tid, int64_t start,
			   int64_t end)
{
	struct segment *s;

	if (!array_room(&k->others, &k->room_others, k->nr_others, sizeof(*k->others)))
		return NULL;
	s = &k->others[k->nr_others++];
	*s = (struct segment){
		.kind = kind, .tid = tid, .thread = model_thread(k->m, tid, start),
		.start = start, .end = end,
		.start_ns = ticks_time_ns(k->m->reader, start),
		.end_ns = ticks_time_ns(k->m->reader, end),
	};
	s->full_start_ns = s->start_ns;
	s->full_end_ns = s->end_ns;
	return s;
}

/* Functions */

void segment_of_frame(struct tracks *k, struct segment *s, const struct frame *f, int64_t start,
		      int64_t end)
{
	struct reader *r = k->m->reader;

	*s = (struct segment){
		.kind = SEGMENT_FUNCTION, .tid = f->tid, .thread = model_thread(k->m, f->tid, start),
		.start = start, .end = end,
		.start_ns = ticks_time_ns(r, start), .end_ns = ticks_time_ns(r, end),
		.full_start_ns = ticks_time_ns(r, f->full_start),
		.full_end_ns = ticks_time_ns(r, f->full_end),
		.resolution_ns = ticks_ns(r, f->resolution), .duration_ns = ticks_ns(r, f->length),
		.duration_resolution_ns = ticks_ns(r, f->length_resolution),
		.row_start = f->row_start, .row_end = f->row_end, .depth = f->depth,
		.func = symtab_lookup(k->m->symtab, f->pc, f->full_start),
		.site = k->o->no_call_sites ? NULL : symtab_lookup_call(k->m->symtab, f->ret, f->full_start),
		.start_min = f->start_min, .seen_from = f->start_max, .seen_to = f->end_min,
		.gen = f->gen, .ret = f->ret, .is_truncated = f->is_truncated, .is_open = f->is_open,
	};
	/* A difference within the error of the estimate is not clipping. */
	s->is_clipped = s->start_ns - s->full_start_ns > s->resolution_ns ||
			s->full_end_ns - s->end_ns > s->resolution_ns;
}

/* Requests */

struct segment *segment_of_part(struct tracks *k, const struct tracks_part *part)
{
	const struct instance_part *p = &part->part;
	struct symtab *st = k->m->symtab;
	struct segment *s = add(k, p->is_queue ? SEGMENT_QUEUE : SEGMENT_REQUEST, p->tid, p->start,
				p->end);

	if (!s)
		return NULL;
	s->site = p->site ? symtab_lookup_call(st, p->site, p->start) : NULL;
	s->is_truncated = p->is_open;
	s->duration_ns = s->end_ns - s->start_ns;
	s->req = part->req;
	s->has_req = true;
	if (p->is_queue) {
		s->lock = p->queue;
		s->lock_symbol = p->queue ? symtab_lookup_data(st, p->queue, p->start) : NULL;
	}
	if (p->is_queue || p->was_queued)
		s->to_tid = p->to_tid;
	return s;
}

/* Locks */

struct segment *segment_of_lock(struct tracks *k, const struct lock_event *e)
{
	unsigned lock_kind = LDB_LOCK_KIND(e->flags);
	enum segment_kind kind = e->op == LDB_LOCK_OP_HOLD ? SEGMENT_LOCK_HOLD :
				 lock_kind == LOCK_KIND_FUTEX ? SEGMENT_FUTEX_WAIT : SEGMENT_LOCK_WAIT;
	struct segment *s = add(k, kind, e->tid, e->begin, e->end);
	const struct frame *f = frames_at(&k->frames, e->tid, e->gen, e->begin);

	if (!s)
		return NULL;
	if (!f && !e->gen && k->m->has_sched)
		f = frames_by_time(&k->frames, e->tid, e->begin);
	s->depth = f ? f->depth + 1 : 0;
	s->lock = e->lock;
	s->lock_symbol = e->lock ? symtab_lookup_data(k->m->symtab, e->lock, e->end) : NULL;
	s->lock_kind = lock_kind;
	s->site = e->where;
	s->gen = e->gen;
	s->duration_ns = ticks_ns(k->m->reader, e->end - e->begin);
	s->duration_resolution_ns = ticks_ns(k->m->reader, e->resolution);
	if (kind == SEGMENT_LOCK_HOLD) {
		s->resolution_ns = s->duration_resolution_ns;
		return s;
	}
	s->owner = e->owner;
	s->waker = e->waker;
	s->has_failed = e->flags & LDB_LOCK_F_FAILED;
	return s;
}

/* Off the CPU */

/*
 * If the thread waited although no task followed it on the CPU, or although the CPU was idle later,
 * its group has used up its quota: otherwise a CPU is not idle while a thread waits for it.
 */
static bool is_throttled(const struct model *m, const struct sched_off *off)
{
	int64_t idle = 0;

	if (off->nr_migrations)
		return false;
	for (unsigned i = 0; i < off->nr_spans; i++)
		if (off->spans[i].kind == CONTEXT_IDLE)
			idle += off->spans[i].end - off->spans[i].start;
	return off->next.kind == CONTEXT_IDLE || ticks_ns(m->reader, idle) > IDLE_NS_MIN;
}

static int describe(const struct model *m, struct segment *s, const struct sched_off *off)
{
	struct segment_sched *k = s->sched;

	if (!k)
		k = s->sched = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->state = off->state;
	k->waker = off->waker;
	context_identify(m, &k->waker, off->woken);
	if (off->is_preempted) {
		k->preempted_by = off->next;
		context_identify(m, &k->preempted_by, off->out);
		k->is_throttled = is_throttled(m, off);
	}
	k->cpu = off->cpu_wait;
	k->from_cpu = off->cpu_out;
	k->to_cpu = off->cpu_in;
	k->has_lost |= off->has_lost;
	k->has_woken = off->has_woken && !off->is_preempted && !off->is_counted;
	if (off->nr_futexes) {
		k->has_futex = true;
		k->futex = off->futex;
		k->is_futex_woken = off->is_futex_woken;
	}
	return 0;
}

COMPARE(running_compare, struct segment_running, DOWN(ns))

/* Allocates room for the tasks that ran meanwhile, followed by the spans that they are sums of. */
static struct segment_running *room_for(size_t nr_spans)
{
	return calloc(1, (nr_spans + 1) * (sizeof(struct segment_running) + sizeof(struct sched_span)));
}

static struct sched_span *spans_in(struct segment_running *running, size_t nr_spans)
{
	return (struct sched_span *)(running + nr_spans + 1);
}

void segment_cut(const struct model *m, struct segment *s)
{
	struct segment_sched *k = s->sched;

	if (!k || !k->running)
		return;
	k->nr_running = 0;
	for (size_t i = 0; i < k->nr_spans; i++) {
		const struct sched_span *span = &k->spans[i];
		int64_t from = span->start > s->start ? span->start : s->start;
		int64_t to = span->end < s->end ? span->end : s->end;
		struct context who = { .kind = span->kind, .tid = span->tid };
		size_t n = 0;

		if (from >= to)
			continue;
		while (n < k->nr_running && !context_is(&k->running[n].who, &who))
			n++;
		if (n == k->nr_running) {
			context_identify(m, &who, span->start);
			k->running[k->nr_running++] = (struct segment_running){ .who = who };
		}
		ticks_add(&k->running[n].ns, ticks_ns(m->reader, to - from));
	}
	qsort(k->running, k->nr_running, sizeof(*k->running), running_compare);
}

static int add_running(const struct model *m, struct segment *s, const struct sched_off *off)
{
	struct segment_sched *k = s->sched;

	k->running = room_for(off->nr_spans);
	if (!k->running)
		return -ENOMEM;
	k->nr_spans = off->nr_spans;
	k->spans = spans_in(k->running, k->nr_spans);
	memcpy(k->spans, off->spans, k->nr_spans * sizeof(*k->spans));
	segment_cut(m, s);
	return 0;
}

int segment_copy_sched(struct segment *s)
{
	const struct segment_sched *from = s->sched;
	struct segment_sched *k;

	if (!from)
		return 0;
	s->sched = NULL;
	k = malloc(sizeof(*k));
	if (!k)
		return -ENOMEM;
	*k = *from;
	k->running = from->running ? room_for(from->nr_spans) : NULL;
	if (from->running && !k->running) {
		free(k);
		return -ENOMEM;
	}
	if (k->running) {
		k->spans = spans_in(k->running, k->nr_spans);
		memcpy(k->running, from->running, k->nr_running * sizeof(*k->running));
		memcpy(k->spans, from->spans, k->nr_spans * sizeof(*k->spans));
	}
	s->sched = k;
	return 0;
}

void segment_free_sched(struct segment *s)
{
	if (s->sched)
		free(s->sched->running);
	free(s->sched);
	s->sched = NULL;
}

/*
 * Sets the function that the thread was executing: the one in the kernel event or, if there is
 * none, the estimated one.
 */
static const struct frame *set_place(struct tracks *k, struct segment *s, const struct sched_off *off)
{
	const struct frame *f = off->gen ? frames_at(&k->frames, off->tid, off->gen, off->out) :
				frames_through(&k->frames, off->tid, off->out, off->in);

	if (off->pc)
		s->site = symtab_lookup(k->m->symtab, off->pc, off->out);
	else if (f)
		s->site = symtab_lookup(k->m->symtab, f->pc, f->full_start);
	s->gen = off->gen;
	return f;
}

struct segment *segment_of_off(struct tracks *k, const struct tracks_off *at, bool asleep)
{
	const struct sched_off *off = &at->off;
	int64_t start = asleep ? off->out : off->woken, end = asleep ? off->woken : off->in;
	enum segment_kind kind = !asleep ? (off->is_preempted ? SEGMENT_PREEMPTED : SEGMENT_RUNNABLE) :
				 off->nr_futexes ? SEGMENT_FUTEX_WAIT : SEGMENT_BLOCKED;
	struct segment *s = add(k, kind, off->tid, start, end);
	const struct frame *f;

	if (!s || describe(k->m, s, off) || (!asleep && add_running(k->m, s, off)))
		return NULL;
	if (kind == SEGMENT_BLOCKED)
		s->sched->call = at->call;
	f = set_place(k, s, off);
	s->depth = at->depth ? at->depth : f ? f->depth + 1 : 0;
	s->is_truncated = (!off->has_out && start == off->out) || (!off->has_in && end == off->in);
	s->resolution_ns = k->off_resolution_ns + ticks_ns(k->m->reader, off->resolution);
	s->duration_ns = ticks_ns(k->m->reader, end - start);
	s->duration_resolution_ns = s->resolution_ns;
	if (kind == SEGMENT_FUTEX_WAIT) {
		s->lock = off->futex;
		s->lock_symbol = symtab_lookup_data(k->m->symtab, off->futex, off->out);
		s->lock_kind = LOCK_KIND_FUTEX;
	}
	return s;
}

/* The function of a system call is the innermost one that lasted for all of the call. */
struct segment *segment_of_call(struct tracks *k, const struct syscall *c)
{
	struct segment *s = add(k, SEGMENT_SYSCALL, c->tid, c->start, c->end);
	const struct frame *f = frames_through(&k->frames, c->tid, c->start, c->end);

	if (!s)
		return NULL;
	s->sched = calloc(1, sizeof(*s->sched));
	if (!s->sched)
		return NULL;
	*s->sched = (struct segment_sched){
		.state = SCHED_STATE_UNKNOWN, .cpu = CPU_UNKNOWN, .from_cpu = CPU_UNKNOWN,
		.to_cpu = CPU_UNKNOWN, .call = c->call,
	};
	s->depth = f ? f->depth + 1 : 0;
	s->site = f ? symtab_lookup(k->m->symtab, f->pc, f->full_start) : NULL;
	s->resolution_ns = s->duration_resolution_ns = k->off_resolution_ns;
	s->duration_ns = ticks_ns(k->m->reader, c->end - c->start);
	return s;
}

struct segment *segment_of_flow(struct tracks *k, const struct flow_call *c)
{
	const struct frame *f = c->gen ? frames_at(&k->frames, c->tid, c->gen, c->start) :
			  frames_by_time(&k->frames, c->tid, c->start);
	struct segment *s = add(k, SEGMENT_LIBCALL, c->tid, c->start, c->end);

	if (!s)
		return NULL;
	s->depth = f ? f->depth + 1 : 0;
	s->func = &c->api->symbol;
	s->site = c->site ? symtab_lookup_call(k->m->symtab, c->site, c->start) : NULL;
	s->gen = c->gen;
	s->is_truncated = c->is_open;
	s->was_left = c->was_left;
	s->duration_ns = ticks_ns(k->m->reader, c->end - c->start);
	return s;
}

/*
 * Returns true if the sleep is part of this wait for a lock.  A sleep for another lock, or for a
 * disk, has a segment of its own.
 */
bool segment_has_sleep(const struct segment *wait, const struct tracks_off *at)
{
	const struct sched_off *off = &at->off;

	if (off->out >= off->woken || off->woken <= wait->start || off->state == LDB_STATE_DISK)
		return false;
	if (at->is_event || !off->nr_futexes)
		return true;
	return futex_is_inside(off->futex, wait->lock, wait->lock_kind);
}

int segment_add_sleep(struct tracks *k, struct segment *wait, const struct tracks_off *at)
{
	const struct sched_off *off = &at->off;
	int64_t start = off->out > wait->start ? off->out : wait->start;
	int64_t end = off->woken < wait->end ? off->woken : wait->end;

	if (describe(k->m, wait, off))
		return -ENOMEM;
	ticks_add(&wait->sched->asleep_ns, ticks_ns(k->m->reader, end - start));
	if (wait->kind == SEGMENT_FUTEX_WAIT) {
		set_place(k, wait, off);
		wait->resolution_ns = k->off_resolution_ns;
	}
	return 0;
}
