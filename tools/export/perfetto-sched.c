// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes which tasks ran on the CPUs, as the kernel's own events sched_switch and sched_waking,
 * from which the viewer derives CPU tracks and states of threads.
 *
 * The recording contains only events that concern the program.  If it is not known which task ran
 * on a CPU, a task named "[not recorded]" is written, because an idle CPU, or the last known task,
 * would be wrong.
 */

#include "facts/ticks.h"
#include "export/perfetto-private.h"

/* No real task has one of these pids. */
#define PID_NOT_RECORDED	0x7ffffffe
#define PID_HIDDEN		0x7ffffffd

#define BUNDLE_EVENTS	512

/* FtraceEventBundle, FtraceEvent, SchedSwitchFtraceEvent, SchedWakingFtraceEvent */
enum {
	PB_BUNDLE_CPU = 1, PB_BUNDLE_EVENT = 2,
	PB_F_TIMESTAMP = 1, PB_F_PID = 2, PB_F_SWITCH = 4, PB_F_WAKING = 20,
	PB_PREV_COMM = 1, PB_PREV_PID, PB_PREV_PRIO, PB_PREV_STATE, PB_NEXT_COMM, PB_NEXT_PID,
	PB_NEXT_PRIO,
	PB_W_COMM = 1, PB_W_PID, PB_W_PRIO, PB_W_SUCCESS, PB_W_CPU,
};

#define PRIO_NORMAL	120

enum change { CPU_START, CPU_END, CPU_WAKING };

struct task {
	int32_t pid;
	const char *comm;	/* valid as long as the model */
};

struct cpu_change {
	enum change change;
	struct task task;	/* WAKING: the woken task */
	int32_t waker;
	unsigned state;		/* END */
	uint32_t cpu;		/* WAKING: CPU on which the task will run */
};

static const struct task not_recorded = { PID_NOT_RECORDED, "[not recorded]" };

static struct task task_of(const struct context *p)
{
	if (p->kind == CONTEXT_IDLE)
		return (struct task){ 0, "swapper" };
	if (p->kind == CONTEXT_HIDDEN)
		return (struct task){ PID_HIDDEN, "[hidden]" };
	if (p->kind != CONTEXT_TASK)
		return not_recorded;
	return (struct task){ p->tid, p->name ? p->name : "" };
}

static int add(struct perfetto *x, uint32_t cpu, int64_t tick, const struct cpu_change *c)
{
	return spill_add(&x->sched, cpu, perfetto_ns(x, ticks_time_ns(x->m->reader, tick)), c,
			 sizeof(*c));
}

int perfetto_on_run(void *arg, const struct tracks_run *r)
{
	struct perfetto *x = arg;
	struct cpu_change c = { .change = CPU_START, .task = task_of(&r->who) };
	int ret;

	if (!export_wants_time(x->o, r->start, r->end))
		return 0;
	ret = add(x, r->cpu, r->start, &c);
	c.change = CPU_END;
	/*
	 * If the end of a run was not recorded, it is not known whether the task went to sleep;
	 * then it counts as runnable.
	 */
	c.state = r->has_end ? r->state : LDB_STATE_RUNNING;
	return ret ? ret : add(x, r->cpu, r->end, &c);
}

int perfetto_on_wakeup(void *arg, const struct tracks_wakeup *w)
{
	struct perfetto *x = arg;
	struct cpu_change c = {
		.change = CPU_WAKING, .task = { w->tid, model_thread_name(w->thread) },
		.waker = w->waker.kind == CONTEXT_TASK ? w->waker.tid : 0, .cpu = w->cpu,
	};

	if (!export_wants_time(x->o, w->tick, w->tick) || w->waker_cpu == CPU_UNKNOWN)
		return 0;
	return add(x, w->waker_cpu, w->tick, &c);
}

/* Returns the state as the kernel's prev_state: TASK_INTERRUPTIBLE, ... */
static int64_t prev_state(unsigned state)
{
	switch (state) {
	case LDB_STATE_RUNNING:
		return 0;
	case LDB_STATE_DISK:
		return 2;
	case LDB_STATE_STOPPED:
		return 4;
	case LDB_STATE_TRACED:
		return 8;
	case LDB_STATE_DEAD:
		return 0x10;
	case LDB_STATE_IDLE:
		return 0x80;
	default:
		return 1;
	}
}

/* The bundle of events of a CPU that is being encoded in x->p */
struct bundle {
	struct perfetto *x;
	size_t begin, nr;
	uint32_t cpu;
	struct task has;
	bool has_left;		/* a task has left the CPU, and its successor is not known yet */
	int64_t at;
	unsigned state;
};

static void open_bundle(struct bundle *b)
{
	struct perfetto *x = b->x;

	if (b->nr)
		return;
	packet_u64(&x->p, PB_SEQUENCE, x->sequence);
	b->begin = packet_begin(&x->p, PB_FTRACE_EVENTS);
	packet_u64(&x->p, PB_BUNDLE_CPU, b->cpu);
}

static void close_bundle(struct bundle *b)
{
	if (!b->nr)
		return;
	packet_end(&b->x->p, b->begin);
	perfetto_put(b->x);
	b->nr = 0;
}

static void put_switch(struct bundle *b, int64_t at, const struct task *next)
{
	struct packet *p = &b->x->p;
	size_t event, body;

	open_bundle(b);
	event = packet_begin(p, PB_BUNDLE_EVENT);
	packet_u64(p, PB_F_TIMESTAMP, at);
	packet_u64(p, PB_F_PID, b->has.pid);
	body = packet_begin(p, PB_F_SWITCH);
	packet_text(p, PB_PREV_COMM, b->has.comm);
	packet_u64(p, PB_PREV_PID, b->has.pid);
	packet_u64(p, PB_PREV_PRIO, PRIO_NORMAL);
	packet_i64(p, PB_PREV_STATE, prev_state(b->state));
	packet_text(p, PB_NEXT_COMM, next->comm);
	packet_u64(p, PB_NEXT_PID, next->pid);
	packet_u64(p, PB_NEXT_PRIO, PRIO_NORMAL);
	packet_end(p, body);
	packet_end(p, event);
	b->has = *next;
	b->has_left = false;
	b->state = LDB_STATE_RUNNING;
	if (++b->nr == BUNDLE_EVENTS)
		close_bundle(b);
}

static void put_waking(struct bundle *b, int64_t at, const struct cpu_change *c)
{
	struct packet *p = &b->x->p;
	size_t event, body;

	open_bundle(b);
	event = packet_begin(p, PB_BUNDLE_EVENT);
	packet_u64(p, PB_F_TIMESTAMP, at);
	packet_u64(p, PB_F_PID, c->waker);
	body = packet_begin(p, PB_F_WAKING);
	packet_text(p, PB_W_COMM, c->task.comm);
	packet_u64(p, PB_W_PID, c->task.pid);
	packet_u64(p, PB_W_PRIO, PRIO_NORMAL);
	packet_u64(p, PB_W_SUCCESS, 1);
	packet_u64(p, PB_W_CPU, c->cpu == CPU_UNKNOWN ? b->cpu : c->cpu);
	packet_end(p, body);
	packet_end(p, event);
	if (++b->nr == BUNDLE_EVENTS)
		close_bundle(b);
}

static void on_change(struct bundle *b, int64_t at, const struct cpu_change *c)
{
	/* The successor of the last task is not known. */
	if (b->has_left && at > b->at)
		put_switch(b, b->at, &not_recorded);
	switch (c->change) {
	case CPU_START:
		if (b->has_left || b->has.pid != c->task.pid)
			put_switch(b, at, &c->task);
		break;
	case CPU_END:
		b->has_left = true;
		b->at = at;
		b->state = c->state;
		break;
	case CPU_WAKING:
		put_waking(b, at, c);
		break;
	}
}

static void end_cpu(struct bundle *b)
{
	if (b->has_left)
		put_switch(b, b->at, &not_recorded);
	close_bundle(b);
}

int perfetto_end_sched(struct perfetto *x)
{
	struct bundle b = { .x = x, .has = not_recorded };
	const struct spill_item *item = &x->sched.head;
	bool has_cpu = false;
	int ret = spill_sort(&x->sched);

	perfetto_sequence(x, 0);
	while (!ret && x->sched.has_head) {
		if (!has_cpu || item->major != b.cpu) {
			end_cpu(&b);
			b = (struct bundle){ .x = x, .cpu = item->major, .has = not_recorded };
			has_cpu = true;
		}
		on_change(&b, item->minor, item->data);
		ret = perfetto_error(x);
		if (!ret)
			ret = spill_next(&x->sched);
	}
	end_cpu(&b);
	return ret;
}
