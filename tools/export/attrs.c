// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects the attributes of segments and requests; see attrs.h. */
#include "export/attrs.h"
#include "facts/lockset.h"
#include "facts/sched.h"
#include "facts/ticks.h"
#include "render/offcpu.h"
#include "render/segment.h"

static void add(struct attrs *a, const char *name, enum attr_type type, bool is_said,
		uint64_t number)
{
	if (is_said || a->is_fixed)
		a->at[a->nr++] = (struct attr){ name, "", number, type, is_said };
}

/* Adds a text; NULL: the attribute has no value. */
static void add_text(struct attrs *a, const char *name, enum attr_type type, const char *text,
		     uint64_t number)
{
	if (text || a->is_fixed)
		a->at[a->nr++] = (struct attr){ name, text ? text : "", number, type, text };
}

static void add_flag(struct attrs *a, const char *name, bool is_set)
{
	add(a, name, ATTR_BOOL, is_set, is_set);
}

static void add_thread(struct attrs *a, const struct model *m, const char *name, uint32_t tid,
		       int64_t tick)
{
	const char *thread = tid ? model_thread_name(model_thread(m, tid, tick)) : "";
	char *text = a->texts[a->nr_texts];

	if (tid)
		snprintf(a->texts[a->nr_texts++], TEXT_ROOM, "%.480s (tid %u)", *thread ? thread : "?",
			 tid);
	add_text(a, name, ATTR_THREAD, tid ? text : NULL, tid);
}

static void add_context(struct attrs *a, const struct model *m, const char *name,
		      const struct context *p)
{
	bool is_known = p && p->kind != CONTEXT_NONE;

	add_text(a, name, ATTR_TEXT, is_known ? text_context(m, p, a->texts[a->nr_texts]) : NULL, 0);
	a->nr_texts += is_known;
}

static void add_cpu(struct attrs *a, uint32_t cpu)
{
	add(a, "cpu", ATTR_U64, cpu != CPU_UNKNOWN, cpu);
}

static void add_lock(struct attrs *a, const struct model *m, const struct segment *s)
{
	bool is_hold = s->kind == SEGMENT_LOCK_HOLD;

	add(a, "lock", ATTR_HEX, s->lock, s->lock);
	add_text(a, "kind", ATTR_NAME, lock_kind_name(s->lock_kind), 0);
	/* The owner of a hold is its thread, so only a fixed list has this attribute for holds. */
	if (!is_hold || a->is_fixed)
		add_thread(a, m, "held_by", is_hold ? s->tid : s->owner, s->start);
	add_flag(a, "failed", s->has_failed);
}

static void add_sched(struct attrs *a, const struct model *m, const struct segment *s)
{
	static const struct segment_sched none = { .state = SCHED_STATE_UNKNOWN };
	const struct segment_sched *k = s->sched ? s->sched : &none;
	char *text = a->texts[a->nr_texts];

	if (segment_kinds[s->kind].off_cpu) {
		offcpu_text(m, s, text);
		a->nr_texts++;
		add_text(a, "cause", ATTR_ONCE, s->sched ? text : NULL, 0);
	}
	if (s->kind == SEGMENT_PREEMPTED)
		add_context(a, m, "preempted_by", &k->preempted_by);
	else
		add_context(a, m, "woken_by", &k->waker);
	if (s->kind == SEGMENT_BLOCKED)
		add_text(a, "state", ATTR_NAME, s->sched ? sched_state_name(k->state) : NULL, 0);
	if (s->kind == SEGMENT_RUNNABLE || s->kind == SEGMENT_PREEMPTED)
		add_context(a, m, "cpu_had", k->nr_running ? &k->running[0].who : NULL);
	if (s->kind == SEGMENT_PREEMPTED)
		add_flag(a, "throttled", k->is_throttled);
	add(a, "asleep_ns", ATTR_I64, k->asleep_ns, k->asleep_ns);
	add_flag(a, "events_lost", k->has_lost);
}

static void add_irq(struct attrs *a, const struct irq *i)
{
	add_text(a, "kind", ATTR_NAME, i ? irq_kind_name(i->kind) : NULL, 0);
	add_cpu(a, i ? i->cpu : CPU_UNKNOWN);
	add(a, "number", ATTR_U64, i, i ? i->nr : 0);
	add(a, "short_ones_before", ATTR_U64, i && i->nr_short, i ? i->nr_short : 0);
}

static void add_fault(struct attrs *a, const struct fault *f)
{
	add(a, "address", ATTR_HEX, f, f ? f->addr : 0);
	add(a, "pc", ATTR_HEX, f && f->pc, f ? f->pc : 0);
	add(a, "in_kernel", ATTR_BOOL, f && f->is_kernel, f && f->is_kernel);
	add(a, "from_disk", ATTR_BOOL, f && f->has_major, f && f->is_major);
}

/* Adds the attributes of a system call; if c is NULL, they have no values. */
static void add_call(struct attrs *a, const struct segment_call *c)
{
	char *text = a->texts[a->nr_texts++];

	add_text(a, "call", ATTR_ONCE, c ? segment_call(c, text) : NULL, 0);
	add_text(a, "descriptor", ATTR_NAME, c && *c->file ? c->file : NULL, 0);
	add(a, "result", ATTR_I64, c && c->has_result, c ? c->result : 0);
}

static void add_common(struct attrs *a, const struct segment *s)
{
	bool is_function = s->kind == SEGMENT_FUNCTION;

	add(a, "duration_ns", ATTR_I64, true, s->duration_ns);
	add(a, "resolution_ns", ATTR_I64,
	    is_function || s->kind == SEGMENT_LOCK_HOLD || segment_kinds[s->kind].off_cpu,
	    s->duration_resolution_ns);
	add_flag(a, "open", s->is_truncated);
	add(a, "request", ATTR_REQUEST, s->has_req, s->req);
}

static void add_place(struct attrs *a, const struct segment *s)
{
	struct place place = segment_place(s);

	if (s->kind != SEGMENT_FUNCTION && s->kind != SEGMENT_LIBCALL)
		add_text(a, "function", ATTR_NAME, s->site ? s->site->function : NULL, 0);
	add_text(a, s->kind == SEGMENT_FUNCTION || s->kind == SEGMENT_LIBCALL ? "called_at" : "at", ATTR_PLACE,
		 *place.file ? place.file : NULL, place.line);
}

void attrs_of_segment(struct attrs *a, const struct model *m, const struct segment *s,
		      bool is_fixed)
{
	a->is_fixed = is_fixed;
	a->nr = a->nr_texts = 0;
	add_common(a, s);
	switch (s->kind) {
	case SEGMENT_LOCK_WAIT:
	case SEGMENT_LOCK_HOLD:
	case SEGMENT_FUTEX_WAIT:
		add_lock(a, m, s);
		break;
	case SEGMENT_QUEUE:
		add(a, "queue", ATTR_HEX, s->lock, s->lock);
		add_thread(a, m, "taken_by", s->to_tid, s->end);
		break;
	case SEGMENT_IRQ:
		add_irq(a, s->irq);
		break;
	case SEGMENT_FAULT:
		add_fault(a, s->fault);
		break;
	case SEGMENT_EVENT:
		add(a, "value", ATTR_I64, s->mark, s->mark ? (uint64_t)s->mark->value : 0);
		break;
	case SEGMENT_LIBCALL:
		add_text(a, "library", ATTR_NAME, s->func ? s->func->module : NULL, 0);
		break;
	case SEGMENT_SYSCALL:
		add_call(a, s->sched ? &s->sched->call : NULL);
		break;
	default:
		break;
	}
	add_place(a, s);
	if (segment_kinds[s->kind].off_cpu || s->kind == SEGMENT_LOCK_WAIT)
		add_sched(a, m, s);
}

/* Returns how long the request was in queues. */
static int64_t queue_ns(const struct model *m, const struct instance *instance, bool *has_queue)
{
	int64_t ns = 0;

	*has_queue = false;
	for (size_t i = 0; i < instance->nr_parts; i++) {
		const struct instance_part *p = &instance->parts[i];

		if (!p->is_queue)
			continue;
		*has_queue = true;
		ticks_add(&ns, ticks_time_ns(m->reader, p->end) -
			  ticks_time_ns(m->reader, p->start));
	}
	return ns;
}

/* Adds the notes that the program attached, texts and numbers, by their keys. */
static void add_notes(struct attrs *a, const struct model *m, const struct instance *instance)
{
	const struct note *found[NOTES_KEYS_MAX];
	size_t nr = notes_of(m, instance->id, instance->start, instance->end, found);

	for (size_t i = 0; i < nr && a->nr < ATTRS_MAX; i++) {
		char *name = a->notes[i];

		snprintf(name, sizeof(a->notes[i]), "note.%s", found[i]->key);
		if (found[i]->text)
			add_text(a, name, ATTR_NAME, found[i]->text, 0);
		else
			add(a, name, ATTR_U64, true, found[i]->number);
	}
}

void attrs_of_instance(struct attrs *a, const struct model *m, const struct instance *instance)
{
	bool has_queue;
	int64_t in_queue_ns = queue_ns(m, instance, &has_queue);

	a->is_fixed = false;
	a->nr = a->nr_texts = 0;
	add(a, "request", ATTR_U64, true, instance->id);
	add(a, "latency_ns", ATTR_I64, true, ticks_time_ns(m->reader, instance->end) -
	    ticks_time_ns(m->reader, instance->start));
	add(a, "latency_resolution_ns", ATTR_I64, instance->resolution, ticks_ns(m->reader, instance->resolution));
	add(a, "queue_ns", ATTR_I64, has_queue, in_queue_ns);
	add_flag(a, "open", !instance->is_complete);
	add_flag(a, "lost_handoff", instance->has_lost_handoff);
	add_notes(a, m, instance);
}
