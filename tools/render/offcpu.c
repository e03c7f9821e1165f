// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes texts for times off the CPU; see offcpu.h. */
#include <inttypes.h>
#include <string.h>

#include "facts/sched.h"
#include "cli/units.h"
#include "render/offcpu.h"
#include "render/segment.h"
#include "render/text.h"

#define RUNNING_SHOWN	3

static bool is_known(const struct context *p)
{
	return p->kind != CONTEXT_NONE;
}

const struct context *offcpu_context(const struct segment *s)
{
	const struct segment_sched *k = s->sched;

	if (!k)
		return NULL;
	if (s->kind == SEGMENT_PREEMPTED && is_known(&k->preempted_by))
		return &k->preempted_by;
	if (s->kind == SEGMENT_RUNNABLE || s->kind == SEGMENT_PREEMPTED)
		return k->nr_running && is_known(&k->running[0].who) ? &k->running[0].who :
		       NULL;
	return is_known(&k->waker) ? &k->waker : NULL;
}

/* Returns the task that ran longest during this time, or, if that is not known, offcpu_context(). */
static const struct context *has_most(const struct segment *s)
{
	const struct segment_sched *k = s->sched;

	return k && k->nr_running && is_known(&k->running[0].who) ? &k->running[0].who :
	       offcpu_context(s);
}

const char *offcpu_label(const struct segment *s, char *buf)
{
	const struct context *p = has_most(s);
	char name[TEXT_ROOM];

	if (s->kind == SEGMENT_FUTEX_WAIT)
		return text_clean(segment_name(s, name), buf);
	if (s->kind == SEGMENT_BLOCKED && s->sched->call.name)
		return text_clean(s->sched->call.name, buf);
	if (s->kind == SEGMENT_BLOCKED)
		return sched_state_name(s->sched->state);
	if (!p || p->kind != CONTEXT_TASK || !p->name || !*p->name)
		return !p ? "" : p->kind == CONTEXT_IDLE ? "idle" : p->kind == CONTEXT_STOLEN ? "stolen" : "";
	return text_clean(p->name, buf);
}

/* Writes ", CPU 1", ", CPU 1 -> 2", or nothing. */
static void cpu_text(const struct segment_sched *k, char *buf)
{
	*buf = '\0';
	if (k->from_cpu != CPU_UNKNOWN && k->to_cpu != CPU_UNKNOWN && k->from_cpu != k->to_cpu)
		snprintf(buf, TEXT_ROOM, ", CPU %" PRIu32 " -> %" PRIu32, k->from_cpu, k->to_cpu);
	else if (k->cpu != CPU_UNKNOWN)
		snprintf(buf, TEXT_ROOM, ", CPU %" PRIu32, k->cpu);
}

void offcpu_waker(const struct model *m, const struct segment_sched *k, char *buf)
{
	char who[TEXT_ROOM];

	*buf = '\0';
	if (k && is_known(&k->waker))
		snprintf(buf, TEXT_ROOM, ", woken by %.200s", text_context(m, &k->waker, who));
}

/*
 * Writes "behind hog (pid 99) 9.1ms, cron (pid 7) 1ms": the tasks that ran for at least a tenth of
 * the time, RUNNING_SHOWN at most, without `but`.
 */
static void running_text(const struct model *m, const struct segment_sched *k,
			   const struct context *but, char *buf)
{
	char who[TEXT_ROOM], ns[UNITS_ROOM];
	size_t len = 0, nr = 0;
	int64_t total = 0;

	*buf = '\0';
	for (size_t i = 0; i < k->nr_running; i++)
		total += k->running[i].ns;
	for (size_t i = 0; i < k->nr_running && nr < RUNNING_SHOWN; i++) {
		const struct segment_running *o = &k->running[i];

		if (o->ns < total / 10 || (but && context_is(&o->who, but)))
			continue;
		len += snprintf(buf + len, TEXT_ROOM - len, "%s%.80s", nr++ ? ", " : "behind ",
				text_context(m, &o->who, who));
		if (k->nr_running > 1)
			len += snprintf(buf + len, TEXT_ROOM - len, " %s", text_ns(o->ns, ns));
	}
}

/* Writes " in read(a pipe)", or nothing. */
static void call_text(const struct segment_sched *k, char *buf)
{
	char call[TEXT_ROOM];

	*buf = '\0';
	if (k->call.name)
		snprintf(buf, TEXT_ROOM, " in %.150s", segment_call(&k->call, call));
}

/* Writes ", of this 3.90 ms in nvme0n1", or nothing. */
static void disk_text(const struct segment_sched *k, char *buf)
{
	char ns[UNITS_ROOM], device[TEXT_ROOM];

	*buf = '\0';
	if (k->disk.device)
		snprintf(buf, TEXT_ROOM, ", of this %s in %.32s", units_duration(k->disk.ns, ns),
			 text_clean(k->disk.device, device));
}

static void preempted_text(const struct model *m, const struct segment_sched *k, char *buf)
{
	char who[TEXT_ROOM], behind[TEXT_ROOM];

	if (k->is_throttled) {
		snprintf(buf, TEXT_ROOM, "preempted by no task (a CPU quota?)");
		return;
	}
	snprintf(buf, TEXT_ROOM, "preempted");
	if (is_known(&k->preempted_by))
		snprintf(buf, TEXT_ROOM, "preempted by %.150s", text_context(m, &k->preempted_by, who));
	running_text(m, k, &k->preempted_by, behind);
	if (*behind)
		snprintf(buf + strlen(buf), TEXT_ROOM - strlen(buf), ", then %.250s", behind);
}

static void runnable_text(const struct model *m, const struct segment_sched *k, char *buf)
{
	char behind[TEXT_ROOM];

	running_text(m, k, NULL, behind);
	if (k->nr_running == 1 && k->running[0].who.kind == CONTEXT_IDLE)
		snprintf(buf, TEXT_ROOM, "runnable, its CPU was idle and had to wake up");
	else
		snprintf(buf, TEXT_ROOM, "runnable%s%.300s", *behind ? " " : "", behind);
}

void offcpu_text(const struct model *m, const struct segment *s, char *buf)
{
	const struct segment_sched *k = s->sched;
	char waker[TEXT_ROOM], cpu[TEXT_ROOM], name[TEXT_ROOM], text[TEXT_ROOM], call[TEXT_ROOM];
	char disk[TEXT_ROOM];

	*buf = '\0';
	if (!k && s->kind != SEGMENT_FUTEX_WAIT)
		return;
	offcpu_waker(m, k, waker);
	switch (s->kind) {
	case SEGMENT_PREEMPTED:
		preempted_text(m, k, text);
		break;
	case SEGMENT_RUNNABLE:
		runnable_text(m, k, text);
		break;
	case SEGMENT_BLOCKED:
		call_text(k, call);
		disk_text(k, disk);
		if (k->state == SCHED_STATE_UNKNOWN)
			snprintf(text, sizeof(text), "off the CPU, not known why%.200s", waker);
		else
			snprintf(text, sizeof(text), "blocked (%s)%.150s%.80s%.150s",
				 sched_state_name(k->state), call, disk, waker);
		break;
	default:
		text_lock(s->lock_kind, s->lock, s->lock_symbol, name);
		snprintf(text, sizeof(text), "sleeps on %.200s%.200s", name, waker);
	}
	*cpu = '\0';
	if (k && s->kind != SEGMENT_BLOCKED && s->kind != SEGMENT_FUTEX_WAIT)
		cpu_text(k, cpu);
	snprintf(buf, TEXT_ROOM, "%.400s%.50s%s", text, cpu,
		 k && k->has_lost ? " (events were lost about then)" : "");
}

void offcpu_cause(const struct model *m, const struct timeline_cause *c, char *buf)
{
	const struct segment_sched *k = c->off->sched;
	char who[TEXT_ROOM], waker[TEXT_ROOM], site[TEXT_ROOM], cpu[TEXT_ROOM];
	char call[TEXT_ROOM];

	cpu_text(k, cpu);
	switch (c->kind) {
	case LEAF_THROTTLED:
		leaf_kind_say(c->kind, "", buf, TEXT_ROOM);
		return;
	case LEAF_PREEMPTED:
		if (c->nr == 1) {
			preempted_text(m, k, buf);
		} else {
			snprintf(buf, TEXT_ROOM, "preempted %" PRIu64 " times by %.200s", c->nr,
				 text_context(m, &c->blocker, who));
			return;
		}
		break;
	case LEAF_RUNNABLE:
		if (c->nr == 1)
			runnable_text(m, k, buf);
		else
			snprintf(buf, TEXT_ROOM, "runnable behind %.200s (%" PRIu64 " times)",
				 text_context(m, &c->blocker, who), c->nr);
		if (c->nr > 1)
			return;
		break;
	default:
		/*
		 * The waker is named only if neither a chain nor a device explains the end of the
		 * sleep.
		 */
		*waker = *site = '\0';
		if ((!c->chain || c->chain->nr < 2) && !c->disk.device)
			offcpu_waker(m, k, waker);
		if (c->off->site)
			text_function(c->off->site, site);
		call_text(k, call);
		snprintf(buf, TEXT_ROOM, "blocked (%s)%s%.120s%s%.120s%.120s", sched_state_name(k->state),
			 *site ? " in " : "", site, *site && *call ? "," : "", call, waker);
		return;
	}
	snprintf(buf + strlen(buf), TEXT_ROOM - strlen(buf), "%.50s", cpu);
}

void offcpu_interruptions(const struct render *r, const struct interruptions *h)
{
	char a[UNITS_ROOM];

	if (h->nr_faults)
		fprintf(r->out, "page faults: %" PRIu64, h->nr_faults);
	if (h->nr_major)
		fprintf(r->out, " (%" PRIu64 " from a disk)", h->nr_major);
	if (h->nr_irqs)
		fprintf(r->out, "%sinterrupts: %" PRIu64 ", %s", h->nr_faults ? "; " : "", h->nr_irqs,
			units_duration(h->irq_ns, a));
	if (h->nr_faults || h->nr_irqs)
		fputc('\n', r->out);
}
