// SPDX-License-Identifier: GPL-2.0-or-later
/* What the threads did: spans, locks, times off the CPU, and which tasks ran on the CPUs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "facts/lockset.h"
#include "facts/sched.h"
#include "facts/ticks.h"
#include "export/sqlite-private.h"
#include "render/segment.h"

static int64_t request_of(struct sqlite_export *e, const struct segment *s)
{
	return s->has_req ? sqlite_request(e, s->req, s->start_ns, s->end_ns) : 0;
}

/* The time of the request at hand that was added up. */
static int flush_times(struct sqlite_export *e)
{
	int ret = 0;

	for (size_t i = 0; i < e->nr_times && !ret; i++)
		ret = sqlite_put(e, INSERT_REQUEST_TIME, "iii", (int64_t)e->at_work,
				 (int64_t)e->times[i].function, e->times[i].ns);
	e->nr_times = 0;
	return ret;
}

static int add_time(struct sqlite_export *e, uint64_t function, int64_t ns)
{
	/* The one that is wanted is mostly one of the last. */
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
 * Functions alone are played: what they waited for is in other tables.  Of a function nr is
 * the id of its row, ns the self time; of a request nr is the id of its row.
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

	return sqlite_put(e, INSERT_SPAN, "iniinniiiiiib", (int64_t)item->nr, (int64_t)parent, e->thread,
			  sqlite_function(e, s->func), sqlite_site(e, s->site), request_of(e, s),
			  (int64_t)s->depth, s->start_ns, s->end_ns, item->ns, s->duration_ns,
			  s->duration_resolution_ns, s->is_truncated);
}

static int begin(void *arg, const struct attribution_begin *what, struct attribution_item *item)
{
	struct sqlite_export *e = arg;

	if (item->kind != LEAF_FUNCTION) {
		item->nr = request_of(e, what->segment);
		return 0;
	}
	if (!array_room(&e->spans, &e->room_spans, item->place, sizeof(*e->spans)))
		return -ENOMEM;
	e->spans[item->place] = *what->segment;
	item->nr = ++e->nr_spans;
	return 0;
}

static int end(void *arg, struct attribution_item *item)
{
	return item->kind == LEAF_FUNCTION ? put_span(arg, item) : 0;
}

/* The id of the span that s began in; 0. */
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

	return sqlite_put(e, INSERT_LOCK_EVENT, "titinnnniiiibbb",
			  s->kind == SEGMENT_LOCK_WAIT ? "wait" : is_hold ? "hold" : "futex_wait",
			  sqlite_lock(e, s), lock_kind_name(s->lock_kind), e->thread,
			  is_hold ? (int64_t)0 : sqlite_thread(e, s->owner, s->start),
			  sqlite_site(e, s->site), span_of(e, s), request_of(e, s), s->start_ns,
			  s->end_ns, s->duration_ns, s->duration_resolution_ns, s->has_failed,
			  s->is_inferred, s->is_truncated);
}

static const char *party_name(const struct party *p)
{
	static const char *const names[] = {
		[PARTY_IDLE] = "[idle]", [PARTY_HIDDEN] = "[hidden]", [PARTY_HARDIRQ] = "[interrupt]",
		[PARTY_SOFTIRQ] = "[softirq]",
	};

	if (!p || p->kind == PARTY_NONE)
		return NULL;
	return p->kind == PARTY_TASK ? p->name : names[p->kind];
}

static int64_t party_pid(const struct party *p)
{
	return p && p->kind == PARTY_TASK ? p->pid : 0;
}

/* A CPU that is not known is NULL, and the first one is 0: not for 'n'. */
static const char *cpu_type(uint32_t cpu)
{
	return cpu == CPU_UNKNOWN ? "-" : "i";
}

static int put_off_cpu(struct sqlite_export *e, const struct segment *s)
{
	const struct segment_sched *k = s->sched;
	const struct segment_occupant *longest = k->nr_occupants ? &k->occupants[0] : NULL;
	const struct party *by = longest ? &longest->who :
				 s->kind == SEGMENT_PREEMPTED ? &k->preempted_by : NULL;
	const struct party *waker = s->kind == SEGMENT_PREEMPTED ? NULL : &k->waker;
	char types[24];

	snprintf(types, sizeof(types), "ttinniiii%s%s%stnntnb", cpu_type(k->cpu), cpu_type(k->from_cpu),
		 cpu_type(k->to_cpu));
	return sqlite_put(e, INSERT_OFF_CPU, types, segment_kinds[s->kind].name,
			  sched_state_name(k->state), e->thread, span_of(e, s), request_of(e, s),
			  s->start_ns, s->end_ns, s->duration_ns, s->duration_resolution_ns,
			  (int64_t)k->cpu, (int64_t)k->from_cpu, (int64_t)k->to_cpu, party_name(by),
			  party_pid(by), longest ? longest->ns : (int64_t)0, party_name(waker),
			  party_pid(waker), k->is_throttled);
}

static int put_interrupt(struct sqlite_export *e, const struct segment *s)
{
	const struct irq *i = s->irq;

	return sqlite_put(e, INSERT_INTERRUPT, "ttiiinniiii", irq_kind_name(i->kind), i->name, (int64_t)i->nr,
			  (int64_t)i->cpu, e->thread, span_of(e, s), request_of(e, s), s->start_ns,
			  s->end_ns, s->duration_ns, (int64_t)i->nr_short);
}

static int put_fault(struct sqlite_export *e, const struct segment *s)
{
	const struct fault *f = s->fault;

	return sqlite_put(e, INSERT_FAULT, f->has_major ? "xxbiinni" : "xxb-inni", f->addr, f->pc, f->is_kernel,
			  (int64_t)f->is_major, e->thread, span_of(e, s), request_of(e, s), s->start_ns);
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

	/* When requests were chosen, nothing else is wanted. */
	if (e->o->has_lives && !request_of(e, s))
		return 0;
	export_count(e->o, s);
	switch (s->kind) {
	case SEGMENT_FUNCTION: case SEGMENT_REQUEST:
		return attribution_segment(&e->attribution, s);
	case SEGMENT_LOCK_WAIT: case SEGMENT_LOCK_HOLD: case SEGMENT_FUTEX_WAIT:
		return put_lock_event(e, s);
	case SEGMENT_RUNNABLE: case SEGMENT_PREEMPTED: case SEGMENT_BLOCKED:
		return s->sched ? put_off_cpu(e, s) : 0;
	case SEGMENT_IRQ:
		return put_interrupt(e, s);
	case SEGMENT_FAULT:
		return put_fault(e, s);
	default:	/* QUEUE: a part of the request */
		return 0;
	}
}

static int on_migration(void *arg, const struct sched_migration *m)
{
	struct sqlite_export *e = arg;

	return sqlite_put(e, INSERT_MIGRATION, "niii", sqlite_thread(e, m->tid, m->tick),
			  ticks_time_ns(e->m->reader, m->tick), (int64_t)m->from, (int64_t)m->to);
}

static int on_wakeup(void *arg, const struct tracks_wakeup *w)
{
	struct sqlite_export *e = arg;
	char types[8];

	snprintf(types, sizeof(types), "ni%stnn", cpu_type(w->cpu));
	return sqlite_put(e, INSERT_WAKEUP, types, sqlite_thread(e, w->tid, w->tick),
			  ticks_time_ns(e->m->reader, w->tick), (int64_t)w->cpu, party_name(&w->waker),
			  (int64_t)w->waker.tid, (int64_t)w->waker.pid);
}

static int on_run(void *arg, const struct tracks_run *r)
{
	struct sqlite_export *e = arg;

	return sqlite_put(e, INSERT_RUN, "itnnii", (int64_t)r->cpu, party_name(&r->who),
			  (int64_t)r->who.tid, (int64_t)r->who.pid,
			  ticks_time_ns(e->m->reader, r->start), ticks_time_ns(e->m->reader, r->end));
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
	if (e->o->has_lives && !e->o->nr_lives)
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
