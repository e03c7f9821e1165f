// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the segments of threads, such as spans, waits for locks and times off the CPU; migrations
 * and wake-ups; which tasks ran on the CPUs; and I/O requests of block devices.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "facts/disks.h"
#include "facts/lockset.h"
#include "facts/rows.h"
#include "facts/sched.h"
#include "facts/ticks.h"
#include "export/sqlite-private.h"
#include "render/columns.h"
#include "render/segment.h"

static int64_t request_of(struct sqlite_export *e, const struct segment *s)
{
	return s->has_req ? sqlite_request(e, s->req, s->start_ns, s->end_ns) : 0;
}

/* Writes the sums of the current request. */
static int flush_times(struct sqlite_export *e)
{
	int ret = 0;

	for (size_t i = 0; i < e->nr_times && !ret; i++)
		ret = sqlite_put(e, TABLE_REQUEST_TIME, V(e->at_work), V(e->times[i].function),
				 V(e->times[i].ns));
	e->nr_times = 0;
	return ret;
}

static int add_time(struct sqlite_export *e, uint64_t function, int64_t ns)
{
	/* Usually the function is among those that were used last. */
	for (size_t i = e->nr_times; i-- > 0;) {
		if (e->times[i].function != function)
			continue;
		ticks_add(&e->times[i].ns, ns);
		return 0;
	}
	if (!array_room(&e->times, &e->room_times, e->nr_times, sizeof(*e->times)))
		return -ENOMEM;
	e->times[e->nr_times++] = (struct sqlite_time){ function, ns };
	return 0;
}

/*
 * Adds the time to the self time (ns) of the item, which is a function or a library call:
 * on_segment() passes nothing else to the attribution but requests.  nr of an item is the row of
 * the function, of the function that contains the library call, or of the request.
 */
static int spend(void *arg, int64_t start, int64_t end, struct attribution_item *item)
{
	struct sqlite_export *e = arg;
	int64_t ns;

	if (!item)
		return 0;
	ns = -ticks_last_ns(&e->last, e->m->reader, start);
	ns += ticks_last_ns(&e->last, e->m->reader, end);
	if (!ns)
		return 0;
	ticks_add(&item->ns, ns);
	return e->at_work ? add_time(e, sqlite_function(e, item->func), ns) : 0;
}

static int set_work(void *arg)
{
	struct sqlite_export *e = arg;
	uint64_t id = e->attribution.nr_works == 1 ? e->attribution.works[0].nr : 0;
	int ret;

	if (id == e->at_work)
		return 0;
	ret = flush_times(e);
	e->at_work = id;
	return ret;
}

static int put_span(struct sqlite_export *e, const struct attribution_item *item)
{
	uint64_t parent = item->place ? e->attribution.functions[item->place - 1].nr : 0;
	const struct segment *s = &e->spans[item->place];

	return sqlite_put(e, TABLE_SPAN, V(item->nr), ID(parent), V(e->thread),
			  V(sqlite_function(e, s->func)), ID(sqlite_site(e, s->site)), ID(request_of(e, s)),
			  V(s->depth), V(s->start_ns), V(s->end_ns), V(item->ns), V(s->duration_ns),
			  V(s->duration_resolution_ns), V(s->is_truncated));
}

static int put_library_call(struct sqlite_export *e, const struct attribution_item *item)
{
	const struct segment *s = &e->spans[item->place];

	return sqlite_put(e, TABLE_LIBRARY_CALL, NEW_ID, V(sqlite_function(e, s->func)), V(e->thread),
			  ID(item->nr), ID(sqlite_site(e, s->site)), ID(request_of(e, s)), V(s->start_ns),
			  V(s->end_ns), V(item->ns), V(s->duration_ns), V(s->is_truncated));
}

static int begin(void *arg, const struct attribution_begin *what, struct attribution_item *item)
{
	struct sqlite_export *e = arg;

	if (item->kind != LEAF_FUNCTION && item->kind != LEAF_LIBCALL) {
		item->nr = request_of(e, what->segment);
		return 0;
	}
	if (!array_room(&e->spans, &e->room_spans, item->place, sizeof(*e->spans)))
		return -ENOMEM;
	e->spans[item->place] = *what->segment;
	/* A library call gets the id of the function that contains it. */
	item->nr = item->kind == LEAF_FUNCTION ? ++e->nr_spans : what->around ? what->around->nr : 0;
	return 0;
}

static int end(void *arg, struct attribution_item *item)
{
	return item->kind == LEAF_FUNCTION ? put_span(arg, item) :
	       item->kind == LEAF_LIBCALL ? put_library_call(arg, item) : 0;
}

/* Returns the id of the span in which s began; 0: none. */
static int64_t span_of(const struct sqlite_export *e, const struct segment *s)
{
	for (size_t i = e->attribution.depth; i-- > 0;)
		if (e->attribution.functions[i].end > s->start)
			return e->attribution.functions[i].nr;
	return 0;
}

static int put_lock_event(struct sqlite_export *e, const struct segment *s)
{
	bool is_hold = s->kind == SEGMENT_LOCK_HOLD;

	return sqlite_put(e, TABLE_LOCK_EVENT, NEW_ID,
			  V(s->kind == SEGMENT_LOCK_WAIT ? "wait" : is_hold ? "hold" : "futex_wait"),
			  V(sqlite_lock(e, s)), V(lock_kind_name(s->lock_kind)), V(e->thread),
			  ID(is_hold ? 0 : sqlite_thread(e, s->owner, s->start)),
			  ID(sqlite_site(e, s->site)), ID(span_of(e, s)), ID(request_of(e, s)),
			  V(s->start_ns), V(s->end_ns), V(s->duration_ns), V(s->duration_resolution_ns),
			  V(s->has_failed), V(s->is_inferred), V(s->is_truncated));
}

static const char *context_name(const struct context *p)
{
	return !p ? NULL : p->kind == CONTEXT_TASK ? p->name : context_kinds[p->kind].task;
}

static int64_t context_pid(const struct context *p)
{
	return p && p->kind == CONTEXT_TASK ? p->pid : 0;
}

static int put_off_cpu(struct sqlite_export *e, const struct segment *s)
{
	const struct segment_sched *k = s->sched;
	const struct segment_running *longest = k->nr_running ? &k->running[0] : NULL;
	const struct context *by = longest ? &longest->who :
				 s->kind == SEGMENT_PREEMPTED ? &k->preempted_by : NULL;
	const struct context *waker = s->kind == SEGMENT_PREEMPTED ? NULL : &k->waker;

	return sqlite_put(e, TABLE_OFF_CPU, NEW_ID, V(segment_kinds[s->kind].name),
			  V(sched_state_name(k->state)), V(e->thread), ID(span_of(e, s)),
			  ID(request_of(e, s)), V(s->start_ns), V(s->end_ns), V(s->duration_ns),
			  V(s->duration_resolution_ns), value_cpu(k->cpu), value_cpu(k->from_cpu),
			  value_cpu(k->to_cpu), V(context_name(by)), ID(context_pid(by)),
			  ID(longest ? longest->ns : 0), V(context_name(waker)), ID(context_pid(waker)),
			  V(k->is_throttled), V(k->call.name), V(k->call.file));
}

static int put_interrupt(struct sqlite_export *e, const struct segment *s)
{
	const struct irq *i = s->irq;

	return sqlite_put(e, TABLE_INTERRUPT, NEW_ID, V(irq_kind_name(i->kind)), V(i->name), V(i->nr),
			  V(i->cpu), V(e->thread), ID(span_of(e, s)), ID(request_of(e, s)),
			  V(s->start_ns), V(s->end_ns), V(s->duration_ns), V(i->nr_short));
}

static int put_fault(struct sqlite_export *e, const struct segment *s)
{
	const struct fault *f = s->fault;

	return sqlite_put(e, TABLE_FAULT, NEW_ID, value_hex(f->addr), value_hex(f->pc), V(f->is_kernel),
			  value_if(f->has_major, V(f->is_major)), V(e->thread), ID(span_of(e, s)),
			  ID(request_of(e, s)), V(s->start_ns));
}

static int put_syscall(struct sqlite_export *e, const struct segment *s)
{
	const struct segment_call *c = &s->sched->call;

	return sqlite_put(e, TABLE_SYSCALL, NEW_ID, V(c->name), V(c->file), value_hex(c->arg0), V(c->result),
			  V(e->thread), ID(span_of(e, s)), ID(request_of(e, s)), V(s->start_ns), V(s->end_ns),
			  V(s->duration_ns), V(c->nr_short));
}

static int put_mark(struct sqlite_export *e, const struct segment *s)
{
	return sqlite_put(e, TABLE_EVENT, NEW_ID, V(s->mark->name), V(s->mark->value), V(e->thread),
			  ID(span_of(e, s)), ID(request_of(e, s)), V(s->start_ns));
}

static int on_thread(void *arg, const struct thread *t)
{
	struct sqlite_export *e = arg;
	int ret = attribution_finish(&e->attribution);

	e->thread = sqlite_thread_of(e, t);
	e->o->result->nr_threads++;
	return ret;
}

static int on_segment(void *arg, const struct segment *s)
{
	struct sqlite_export *e = arg;

	/* If requests are selected, only their segments are written. */
	if (e->o->has_instances && !request_of(e, s))
		return 0;
	export_count(e->o, s);
	switch (s->kind) {
	case SEGMENT_FUNCTION: case SEGMENT_REQUEST: case SEGMENT_LIBCALL:
		return attribution_segment(&e->attribution, s);
	case SEGMENT_LOCK_WAIT: case SEGMENT_LOCK_HOLD: case SEGMENT_FUTEX_WAIT:
		return put_lock_event(e, s);
	case SEGMENT_RUNNABLE: case SEGMENT_PREEMPTED: case SEGMENT_BLOCKED:
		return s->sched ? put_off_cpu(e, s) : 0;
	case SEGMENT_IRQ:
		return put_interrupt(e, s);
	case SEGMENT_FAULT:
		return put_fault(e, s);
	case SEGMENT_EVENT:
		return put_mark(e, s);
	case SEGMENT_SYSCALL:
		return put_syscall(e, s);
	default:	/* QUEUE: is in the table part */
		return 0;
	}
}

static int on_migration(void *arg, const struct sched_migration *m)
{
	struct sqlite_export *e = arg;

	return sqlite_put(e, TABLE_MIGRATION, ID(sqlite_thread(e, m->tid, m->tick)),
			  V(ticks_time_ns(e->m->reader, m->tick)), V(m->from), V(m->to));
}

static int on_wakeup(void *arg, const struct tracks_wakeup *w)
{
	struct sqlite_export *e = arg;

	return sqlite_put(e, TABLE_WAKEUP, ID(sqlite_thread(e, w->tid, w->tick)),
			  V(ticks_time_ns(e->m->reader, w->tick)), value_cpu(w->cpu),
			  V(context_name(&w->waker)), ID(w->waker.tid), ID(w->waker.pid));
}

static int on_run(void *arg, const struct tracks_run *r)
{
	struct sqlite_export *e = arg;

	return sqlite_put(e, TABLE_RUN, V(r->cpu), V(context_name(&r->who)), ID(r->who.tid),
			  ID(r->who.pid), V(ticks_time_ns(e->m->reader, r->start)),
			  V(ticks_time_ns(e->m->reader, r->end)));
}

static int put_disk(void *arg, const struct disk_work *w)
{
	struct sqlite_export *e = arg;
	int64_t start_ns = ticks_time_ns(e->m->reader, w->start), end_ns = ticks_time_ns(e->m->reader, w->end);

	if (!export_wants_time(e->o, w->start, w->end))
		return 0;
	return sqlite_put(e, TABLE_DISK, NEW_ID, V(w->device), V(disk_op_name(w->op)),
			  ID(w->is_own ? sqlite_thread(e, w->tid, w->start) : 0), V(w->tid), V(start_ns),
			  V(end_ns), V(end_ns - start_ns), V(w->bytes), V(w->has_failed));
}

int sqlite_put_disks(struct sqlite_export *e)
{
	struct reader_filter filter = ROWS_WITHIN(e->o->from, e->o->to);

	return disks_each(e->m, &filter, put_disk, e);
}

int sqlite_put_tracks(struct sqlite_export *e, struct tracks_result *result)
{
	struct tracks_options options = export_tracks(e->o, true, true);
	struct tracks_sink sink = {
		.thread = on_thread, .segment = on_segment, .migration = on_migration,
		.wakeup = on_wakeup, .run = on_run, .arg = e,
	};
	int ret;

	*result = (struct tracks_result){ 0 };
	if (e->o->has_instances && !e->o->nr_instances)
		return 0;
	e->attribution = (struct attribution){
		.begin = begin, .end = end, .spend = spend, .work = set_work, .arg = e,
	};
	attribution_start(&e->attribution);
	ret = tracks_each(e->m, &options, &sink, result);
	if (!ret)
		ret = attribution_finish(&e->attribution);
	if (!ret)
		ret = flush_times(e);
	export_take(e->o, result);
	attribution_free(&e->attribution);
	free(e->spans);
	free(e->times);
	return ret;
}
