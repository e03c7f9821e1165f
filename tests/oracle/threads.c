// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This automaton checks the states of threads by the kernel's events: created, woken, on a CPU, off
 * it, ended.
 *
 * Each CPU has a running thread, and each observed thread has a state:
 *
 *	FORK -> new -WAKEUP(NEW)-> runnable -SWITCH came-> runs -SWITCH left->
 *		runnable (preempted) | asleep -WAKING-> woken -WAKEUP-> runnable | dead
 *
 * An observed thread leaves the CPU it came to, and comes to a CPU on which no observed thread
 * runs; it is runnable when it comes; it is asleep when it is woken; MIGRATE moves it when it is
 * not on a CPU, and it comes to the CPU where it was put.  A thread is on a CPU when it does
 * something: waking others, futexes, forking, exiting, touching pages, being interrupted, and
 * what the program itself recorded (its requests).
 *
 * Legal exceptions:
 * - Nothing is known of a thread or a CPU before its first event.
 * - A thread that has announced that it will sleep, and still runs, may be woken: then its
 *   next sleep, if it does sleep, needs no further WAKING.  The same holds for one that was
 *   preempted in that state; and it may be preempted, and come back, between its WAKING and
 *   its WAKEUP.
 * - Tasks that are not observed come and go without an event, so another of them may run.
 * - Where the source has no wake-ups (a perf that shows switches alone) no wake-up is expected.
 * - Times of the kernel and of the program differ by what the trace says (perf), and so
 *   may those of two CPUs: a thread may seem to be on two CPUs for that time.
 * - Some kernels do not deliver events while certain tasks, of others or idle, are on a CPU; the
 *   trace says which CPUs those are (kernel_deaf).  A thread may come there without an event when a
 *   task that is not observed was there last, and wake-ups may be missing, from those CPUs to any.
 *   The event that an observed thread leaves is delivered while that thread is still running, so it
 *   is never missing.  The list of these CPUs, and the error of perf's times, are written last:
 *   where the recorder was killed all CPUs may be deaf, and the program's stamps are not compared
 *   with the kernel's events.
 * - If records were lost, some may be missing on that CPU and in that thread: see oracle_excused().
 */
#include <inttypes.h>
#include "map.h"
#include "sorted.h"

enum state { UNKNOWN, NEW, RUNNABLE, RUNS, ASLEEP, WOKEN, DEAD };
static const char *const state_names[] = {
	"not known", "new", "runnable", "on a CPU", "asleep", "woken", "dead",
};

struct task {
	enum state state;
	bool early_waking;	/* the thread was woken while it ran, or before it slept */
	/* the thread was woken, and nothing was known before that, so it may have run as well */
	bool may_run;
	bool has_cpu, exiting;
	uint32_t cpu;		/* the CPU on which it is, or to which it will come */
	int64_t out;		/* when it left a CPU last */
	bool double_here;	/* the thread seems to be on two CPUs: */
	uint32_t double_cpu;
	int64_t double_tick;
};

struct cpu {
	bool known, observed, deaf;
	uint32_t tid;
	int64_t since;
};

struct threads {
	struct oracle *o;
	struct map tasks, cpus;
	bool has_wakeups, any_deaf;
	uint64_t nr_of[64], nr_faults, nr_irqs, nr_stamps, nr_unknown, nr_early, nr_deaf;
	const struct ldb_row_sched *row;
};

static void bad(struct threads *t, const char *rule, const char *fmt, uint64_t with, const char *state)
{
	const struct ldb_row_sched *s = t->row;

	if (oracle_excused(t->o))
		return;
	oracle_violation(t->o, ORACLE_THREADS, rule, "op %x flags %x cpu %u tid %u other %u tick %" PRId64
			 " value %u: %s %" PRIu64 " %s", s->op, s->flags, s->cpu, s->tid, s->other, s->tick,
			 s->value, fmt, with, state);
}

/*
 * Reports a wrong wake-up, or a wrong move that it causes; if any CPU is deaf, counts it instead,
 * because an event that would explain it may be missing there.
 */
static void bad_wakeup(struct threads *t, const char *rule, const char *fmt, uint64_t with,
		       const char *state)
{
	if (t->any_deaf)
		t->nr_deaf++;
	else
		bad(t, rule, fmt, with, state);
}

static bool may_come_unseen(const struct cpu *c)
{
	return c->deaf && !c->observed;	/* !observed also if nothing is known of the CPU yet */
}

static struct cpu *cpu_of(struct threads *t, uint32_t cpu)
{
	return map_get(&t->cpus, cpu);
}

static struct task *task_of(struct threads *t, uint32_t tid)
{
	struct task *task = map_find(&t->tasks, tid);

	if (task)
		return task;
	task = map_get(&t->tasks, tid);
	task->out = TICK_UNKNOWN;
	return task;
}

/*
 * Reports a thread that came to a CPU before it had left another one, and did not leave that one
 * within the error of the clocks.
 */
static void check_double(struct threads *t, struct task *task, uint32_t tid)
{
	if (!task->double_here)
		return;
	task->double_here = false;
	bad(t, "on two CPUs", "also on CPU", task->double_cpu, "");
}

static void leaves(struct threads *t, uint32_t tid, uint32_t cpu, unsigned state)
{
	const struct ldb_row_sched *s = t->row;
	struct task *task = task_of(t, tid);

	if (task->double_here && task->double_cpu == cpu && s->tick <= task->double_tick + t->o->kernel_err) {
		task->double_here = false;
		return;
	}
	check_double(t, task, tid);
	if (task->state != RUNS && task->state != UNKNOWN && !task->may_run)
		bad(t, "leaves and was not there", "tid", tid, state_names[task->state]);
	else if (task->state == RUNS && task->cpu != cpu)
		bad(t, "leaves another CPU", "came to CPU", task->cpu, "");
	task->cpu = cpu;
	task->has_cpu = true;
	task->out = s->tick;
	task->may_run = false;
	switch (state) {
	case LDB_STATE_RUNNING:
		task->state = RUNNABLE;
		return;
	case LDB_STATE_DEAD:
		task->state = DEAD;
		return;
	default:
		if (task->exiting && state == LDB_STATE_IDLE)
			bad(t, "state", "tid", tid, "idle");
		task->state = task->early_waking ? WOKEN : ASLEEP;
		t->nr_early += task->early_waking;
		task->early_waking = false;
	}
}

static void comes(struct threads *t, uint32_t tid, uint32_t cpu)
{
	struct task *task = task_of(t, tid);

	check_double(t, task, tid);
	switch (task->state) {
	case RUNS:
		if (task->cpu == cpu) {
			bad(t, "comes twice", "tid", tid, "");
		} else if (t->o->kernel_err) {
			task->double_here = true;
			task->double_cpu = task->cpu;
			task->double_tick = t->row->tick;
		} else {
			bad(t, "on two CPUs", "also on CPU", task->cpu, "");
		}
		break;
	case NEW:
	case ASLEEP:
	case WOKEN:
		if (t->has_wakeups)
			bad_wakeup(t, "runs and was not woken", "tid", tid, state_names[task->state]);
		break;
	case DEAD:
		bad(t, "runs and is dead", "tid", tid, "");
		break;
	default:
		if (task->has_cpu && task->cpu != cpu && t->has_wakeups)
			bad_wakeup(t, "comes where it is not", "was on CPU", task->cpu, "");
	}
	/* A preempted thread may still be woken from the sleep that it had announced. */
	task->early_waking &= task->state == RUNNABLE;
	task->may_run = false;
	task->state = RUNS;
	task->cpu = cpu;
	task->has_cpu = true;
}

/*
 * Sets the state as if an event, which the kernel did not deliver, had brought the row's thread to
 * the CPU.
 */
static void came_unseen(struct threads *t)
{
	const struct ldb_row_sched *s = t->row;
	struct task *task = task_of(t, s->tid);
	struct cpu *c = cpu_of(t, s->cpu);

	t->nr_deaf++;
	if (task->state == RUNS || task->state == DEAD)
		bad(t, "came unseen and was there", "tid", s->tid, state_names[task->state]);
	task->state = RUNS;
	task->cpu = s->cpu;
	task->has_cpu = true;
	task->early_waking = false;
	/* The thread came at some time since the last event. */
	if (!c->known)
		c->since = TICK_UNKNOWN;
	c->known = true;
	c->observed = true;
	c->tid = s->tid;
}

/*
 * Checks which thread is on the CPU of the row: the thread tid, if that is observed; otherwise no
 * observed thread.
 */
static void check_here(struct threads *t, bool observed)
{
	const struct ldb_row_sched *s = t->row;
	const struct cpu *c = cpu_of(t, s->cpu);

	t->nr_unknown += !c->known;
	if (!c->known) {
		if (observed && c->deaf)
			came_unseen(t);
		return;
	}
	if (c->observed && (!observed || c->tid != s->tid))
		bad(t, "not who came", "the CPU has tid", c->tid, "");
	else if (!c->observed && observed && !may_come_unseen(c))
		bad(t, "came unseen", "the CPU has tid", c->tid, "");
	else if (!c->observed && observed)
		came_unseen(t);
}

static void on_switch(struct threads *t)
{
	const struct ldb_row_sched *s = t->row;
	struct cpu *c = cpu_of(t, s->cpu);
	bool left = s->flags & LDB_SCHED_F_TID, came = s->flags & LDB_SCHED_F_OTHER;

	check_here(t, left);
	/*
	 * If neither is observed, an observed thread waits for the CPU, and the row says which
	 * task runs there now.
	 */
	if (s->op == LDB_SCHED_OP_RUNNING ? left || came : !left && !came)
		bad(t, "of the wrong kind", "op", s->op, "");
	if (s->tid && s->tid == s->other)
		bad(t, "to itself", "tid", s->tid, "");
	if (c->known && s->tick < c->since)
		bad(t, "CPU goes back in time", "from", c->since, "");
	if (left)
		leaves(t, s->tid, s->cpu, LDB_SCHED_STATE(s->flags));
	if (came)
		comes(t, s->other, s->cpu);
	*c = (struct cpu){
		.known = true, .observed = came, .deaf = c->deaf, .tid = s->other, .since = s->tick,
	};
}

static void on_waking(struct threads *t)
{
	const struct ldb_row_sched *s = t->row;
	struct task *task;

	check_here(t, s->flags & LDB_SCHED_F_TID);
	if (!(s->flags & LDB_SCHED_F_OTHER))
		return;
	task = task_of(t, s->other);
	check_double(t, task, s->other);
	switch (task->state) {
	case ASLEEP:
		task->state = WOKEN;
		break;
	case RUNS:
	case RUNNABLE:
		task->early_waking = true;
		break;
	case WOKEN:
		/*
		 * This is legal if the thread came to a CPU without an event, and was about to
		 * sleep there.
		 */
		bad_wakeup(t, "woken twice", "tid", s->other, "");
		break;
	case NEW:
	case DEAD:
		bad(t, "wakes nobody", "tid", s->other, state_names[task->state]);
		break;
	case UNKNOWN:
		task->state = WOKEN;
		task->may_run = true;
	}
}

static void on_wakeup(struct threads *t)
{
	const struct ldb_row_sched *s = t->row;
	struct task *task = task_of(t, s->tid);
	bool is_new = s->flags & LDB_SCHED_F_NEW;

	check_double(t, task, s->tid);
	switch (task->state) {
	case NEW:
		if (!is_new)
			bad_wakeup(t, "first wake-up", "tid", s->tid, "is new");
		task->state = RUNNABLE;
		break;
	case UNKNOWN:
		task->may_run = true;
		/* fall through */
	case WOKEN:
		task->state = RUNNABLE;
		break;
	case RUNS:
	case RUNNABLE:
		/* The thread had set its state to asleep, and not switched yet. */
		if (!task->early_waking)
			bad_wakeup(t, "woken and was awake", "tid", s->tid, state_names[task->state]);
		task->early_waking = false;
		break;
	case ASLEEP:
	case DEAD:
		bad_wakeup(t, "wake-up without waking", "tid", s->tid, state_names[task->state]);
		task->state = RUNNABLE;
	}
	if (task->state == RUNNABLE) {
		if (task->has_cpu && !is_new && task->cpu != s->value)
			bad_wakeup(t, "woken elsewhere", "was on CPU", task->cpu, "");
		task->cpu = s->value;
		task->has_cpu = true;
	}
}

static void on_migrate(struct threads *t)
{
	const struct ldb_row_sched *s = t->row;
	struct task *task = task_of(t, s->tid);

	check_double(t, task, s->tid);
	if (task->state == RUNS || task->state == DEAD)
		bad(t, "moved", "tid", s->tid, state_names[task->state]);
	if (task->has_cpu && task->cpu != s->addr)
		bad_wakeup(t, "moved from elsewhere", "was on CPU", task->cpu, "");
	task->cpu = s->value;
	task->has_cpu = true;
}

static void on_fork(struct threads *t)
{
	const struct ldb_row_sched *s = t->row;
	const struct instance *instance;
	struct task *child;

	check_here(t, true);
	if (!(s->flags & LDB_SCHED_F_OTHER))
		return;
	child = task_of(t, s->other);
	if (child->state != UNKNOWN && child->state != DEAD)
		bad(t, "born and was there", "tid", s->other, state_names[child->state]);
	*child = (struct task){ .state = NEW, .out = TICK_UNKNOWN };
	/*
	 * A new thread registers after its creation, so an instance with this tid that already
	 * exists is another thread.
	 */
	instance = oracle_instance(t->o, s->other, s->tick);
	if (instance && instance->start < s->tick && (!instance->exited || instance->end > s->tick + t->o->kernel_err))
		bad(t, "born and registered before", "until", instance->end, "");
}

/*
 * Handles an exec: if a thread that is not the first one calls it, the thread takes over the first
 * one's tid.
 */
static void on_exec(struct threads *t)
{
	const struct ldb_row_sched *s = t->row;
	struct task *from;
	struct cpu *c = cpu_of(t, s->cpu);

	if (!s->other || s->other == s->tid) {
		check_here(t, true);
		return;
	}
	from = map_find(&t->tasks, s->other);
	*task_of(t, s->tid) = from ? *from : (struct task){ .out = TICK_UNKNOWN };
	map_remove(&t->tasks, s->other);
	if (c->known && c->tid == s->other)
		c->tid = s->tid;
}

static void on_exit_of(struct threads *t)
{
	const struct ldb_row_sched *s = t->row;
	struct task *task = task_of(t, s->tid);
	const struct instance *l = oracle_instance(t->o, s->tid, s->tick);

	check_here(t, true);
	if (task->exiting || task->state == DEAD)
		bad(t, "exits twice", "tid", s->tid, "");
	task->exiting = true;
	/* A thread unregisters before it exits. */
	if (l && l->exited && l->start <= s->tick && l->end > s->tick + t->o->kernel_err)
		bad(t, "registered after its exit", "until", l->end, "");
}

static void check_event(struct threads *t, const struct ldb_row_sched *s)
{
	t->row = s;
	if (s->op < 64)
		t->nr_of[s->op]++;
	if (s->tick > t->o->end + t->o->kernel_err)
		bad(t, "outside of the recording", "end", t->o->end, "");
	if (t->o->nr_cpus && s->cpu >= t->o->nr_cpus)
		bad(t, "no such CPU", "of", t->o->nr_cpus, "");
	switch (s->op) {
	case LDB_SCHED_OP_SWITCH:
	case LDB_SCHED_OP_RUNNING:
		on_switch(t);
		break;
	case LDB_SCHED_OP_WAKING:
		on_waking(t);
		break;
	case LDB_SCHED_OP_WAKEUP:
		on_wakeup(t);
		break;
	case LDB_SCHED_OP_MIGRATE:
		on_migrate(t);
		break;
	case LDB_SCHED_OP_FUTEX_WAIT:
	case LDB_SCHED_OP_FUTEX_WAKE:
		check_here(t, true);
		break;
	case LDB_SCHED_OP_FORK:
		on_fork(t);
		break;
	case LDB_SCHED_OP_EXEC:
		on_exec(t);
		break;
	case LDB_SCHED_OP_EXIT:
		on_exit_of(t);
		break;
	default:
		bad(t, "row", "op", s->op, "");
	}
}

/*
 * Checks that the thread is on a CPU at tick, when it does something; tick may be wrong by
 * kernel_err.
 */
static void check_runs(struct threads *t, const char *what, uint32_t tid, int64_t tick)
{
	const struct task *task = map_find(&t->tasks, tid);
	const struct cpu *c;
	uint64_t key;

	if (!task || task->state == UNKNOWN || task->state == RUNS || task->double_here ||
	    (task->out != TICK_UNKNOWN && task->out + t->o->kernel_err >= tick)) {
		t->nr_unknown += !task || task->state == UNKNOWN;
		return;
	}
	for (size_t i = 0; (c = map_next(&t->cpus, &i, &key));) {
		if (!may_come_unseen(c))
			continue;
		t->nr_deaf++;
		return;
	}
	if (!oracle_excused(t->o))
		oracle_violation(t->o, ORACLE_THREADS, "does something off the CPU", "tid %u %s at %" PRId64
				 ": %s since %" PRId64, tid, what, tick, state_names[task->state], task->out);
}

static void check_irq(struct threads *t, const struct ldb_row_irq *q)
{
	const struct cpu *c = map_find(&t->cpus, q->cpu);
	/* Stolen time may have begun before the thread came, so only its end is checked. */
	int64_t since = q->kind == LDB_IRQ_STOLEN ? q->end : q->start;

	t->nr_irqs++;
	if (q->start > q->end || !q->kind || q->kind > LDB_IRQ_STOLEN)
		oracle_violation(t->o, ORACLE_THREADS, "interrupt", "kind %u %" PRId64 " .. %" PRId64, q->kind,
				 q->start, q->end);
	if (!c || !c->known || (c->observed && c->tid == q->tid && c->since <= since + t->o->kernel_err) ||
	    may_come_unseen(c) || oracle_excused(t->o))
		return;
	/* The switch that followed may have the same stamp. */
	if (c->since + t->o->kernel_err >= q->end)
		return;
	oracle_violation(t->o, ORACLE_THREADS, "interrupts somebody else", "kind %u cpu %u tid %u %" PRId64
			 " .. %" PRId64 ": the CPU has tid %u since %" PRId64, q->kind, q->cpu, q->tid,
			 q->start, q->end, c->tid, c->since);
}

static void sched_key(const void *row, struct sorted_key *key)
{
	*key = (struct sorted_key){ ((const struct ldb_row_sched *)row)->tick, 0 };
}

static void fault_key(const void *row, struct sorted_key *key)
{
	*key = (struct sorted_key){ ((const struct ldb_row_fault *)row)->tick, 0 };
}

static void irq_key(const void *row, struct sorted_key *key)
{
	*key = (struct sorted_key){ ((const struct ldb_row_irq *)row)->end, 0 };
}

static void req_key(const void *row, struct sorted_key *key)
{
	*key = (struct sorted_key){ ((const struct ldb_row_req *)row)->tick, 0 };
}

/* Reads the other rows up to tick, after all kernel events that may be earlier were read. */
static void others_until(struct threads *t, struct sorted *faults, struct sorted *irqs,
			 struct sorted *reqs, int64_t tick)
{
	const struct ldb_row_fault *f;
	const struct ldb_row_irq *q;
	const struct ldb_row_req *r;

	while ((f = sorted_peek(faults)) && f->tick < tick) {
		t->nr_faults++;
		check_runs(t, "touches a page", f->tid, f->tick);
		sorted_next(faults);
	}
	while ((q = sorted_peek(irqs)) && q->end < tick) {
		check_irq(t, q);
		sorted_next(irqs);
	}
	while ((r = sorted_peek(reqs)) && r->tick < tick) {
		t->nr_stamps++;
		if (t->o->knows_err)
			check_runs(t, "records a request", r->tid, r->tick);
		sorted_next(reqs);
	}
}

static void find_deaf(struct threads *t)
{
	const char *text = reader_meta(t->o->r, "kernel_deaf");
	unsigned cpu;
	int n;

	for (cpu = 0; !t->o->knows_err && cpu < t->o->nr_cpus; cpu++) {
		cpu_of(t, cpu)->deaf = true;
		t->any_deaf = true;
	}
	for (; text && sscanf(text, "%u%n", &cpu, &n) == 1; text += n) {
		cpu_of(t, cpu)->deaf = true;
		t->any_deaf = true;
	}
}

static bool any_wakeup(struct oracle *o)
{
	struct cursor *c = reader_cursor(o->r, LDB_BLK_SCHED, NULL);
	struct reader_rows in;
	bool any = false;

	while (c && !any && cursor_next(c, &in) > 0)
		for (size_t i = 0; i < in.nr; i++)
			any |= in.sched[i].op == LDB_SCHED_OP_WAKEUP;
	cursor_close(c);
	return any;
}

static void count_late(struct oracle *o, const struct sorted *s, const char *what)
{
	if (s->nr_late)
		oracle_violation(o, ORACLE_THREADS, "not in order", "%s: %" PRIu64 " rows come more than %u too late",
				 what, s->nr_late, SORTED_WINDOW);
}

static void counts(struct threads *t, uint64_t nr)
{
	oracle_counts(t->o, ORACLE_THREADS, "%" PRIu64 " kernel events: %" PRIu64 " switches, %" PRIu64
		      " of others, %" PRIu64 " wakings, %" PRIu64 " wake-ups, %" PRIu64 " moves, %" PRIu64
		      " futex waits, %" PRIu64 " wakes, %" PRIu64 " forks, %" PRIu64 " execs, %" PRIu64
		      " exits", nr, t->nr_of[LDB_SCHED_OP_SWITCH], t->nr_of[LDB_SCHED_OP_RUNNING],
		      t->nr_of[LDB_SCHED_OP_WAKING], t->nr_of[LDB_SCHED_OP_WAKEUP],
		      t->nr_of[LDB_SCHED_OP_MIGRATE], t->nr_of[LDB_SCHED_OP_FUTEX_WAIT],
		      t->nr_of[LDB_SCHED_OP_FUTEX_WAKE], t->nr_of[LDB_SCHED_OP_FORK],
		      t->nr_of[LDB_SCHED_OP_EXEC], t->nr_of[LDB_SCHED_OP_EXIT]);
	oracle_counts(t->o, ORACLE_THREADS, "%zu tasks, %zu CPUs, %" PRIu64 " faults, %" PRIu64
		      " interrupts, %" PRIu64 " stamps of the program; %" PRIu64 " sleeps ended before they "
		      "began, %" PRIu64 " times nothing was known, %" PRIu64 " times the kernel was deaf, "
		      "error %" PRId64, t->tasks.nr, t->cpus.nr, t->nr_faults, t->nr_irqs, t->nr_stamps,
		      t->nr_early, t->nr_unknown, t->nr_deaf, t->o->kernel_err);
}

void check_threads(struct oracle *o)
{
	struct threads t = { .o = o, .tasks = MAP_OF(struct task), .cpus = MAP_OF(struct cpu) };
	struct sorted scheds, faults, irqs, reqs;
	const struct ldb_row_sched *s;
	struct ldb_row_sched row;

	sorted_open(&scheds, o, LDB_BLK_SCHED, sizeof(*s), sched_key);
	sorted_open(&faults, o, LDB_BLK_FAULT, sizeof(struct ldb_row_fault), fault_key);
	sorted_open(&irqs, o, LDB_BLK_IRQ, sizeof(struct ldb_row_irq), irq_key);
	sorted_open(&reqs, o, LDB_BLK_REQ, sizeof(struct ldb_row_req), req_key);
	t.has_wakeups = any_wakeup(o);
	find_deaf(&t);
	while ((s = sorted_next(&scheds))) {
		row = *s;
		others_until(&t, &faults, &irqs, &reqs, row.tick - o->kernel_err);
		check_event(&t, &row);
	}
	others_until(&t, &faults, &irqs, &reqs, INT64_MAX);
	count_late(o, &scheds, "the scheduler's");
	count_late(o, &faults, "page faults");
	count_late(o, &irqs, "interrupts");
	counts(&t, scheds.nr_rows);
	sorted_close(&scheds);
	sorted_close(&faults);
	sorted_close(&irqs);
	sorted_close(&reqs);
	map_exit(&t.tasks);
	map_exit(&t.cpus);
}
