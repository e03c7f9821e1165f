// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records interrupts on the CPU of an observed thread: one record at the end of each that is not too
 * short.
 *
 * Interrupts nest, for example a device's in a soft interrupt, so each CPU has a stack of the
 * interrupts that are in progress.  At an exit this stack is searched for the entry, which is missing
 * if the probe was registered in between.
 */
#include <linux/interrupt.h>
#include <linux/kernel_stat.h>
#include <linux/string.h>
#include "event.h"
#include "probes.h"

#define NEST_MAX	8	/* twice the greatest real nesting */
#define NAME_WORDS	3

struct inside {
	const struct ldb_thread *t;	/* is only compared, never dereferenced */
	u64	begin;
	u32	kind, nr;
};

struct nest {
	u32	depth;
	struct inside at[NEST_MAX];
};

static DEFINE_PER_CPU(struct nest, nest);
/* stolen time in ns at the last tick; 0: not known */
static DEFINE_PER_CPU(u64, stolen_before);

/* Called when no probe of interrupts is registered, so that no later exit finds an old entry. */
void ldb_irq_forget(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		WRITE_ONCE(per_cpu_ptr(&nest, cpu)->depth, 0);
		WRITE_ONCE(*per_cpu_ptr(&stolen_before, cpu), 0);
	}
}

/* An interrupt that occurs during this push() pushes and pops its own entry above this one. */
static noinline void push(struct ldb_thread *t, u32 kind, u32 nr)
{
	struct nest *stack = this_cpu_ptr(&nest);
	u32 depth = READ_ONCE(stack->depth);

	/* A full stack means that exits were missed: its entries are obsolete. */
	if (depth >= NEST_MAX)
		depth = 0;
	WRITE_ONCE(stack->depth, depth + 1);
	ldb_order_nested();
	stack->at[depth] = (struct inside){ t, ldb_clock_now(t->s->clock), kind, nr };
}

/* Returns when the interrupt began; 0 if its entry was not recorded. */
static u64 pop(const struct ldb_thread *t, u32 kind, u32 nr)
{
	struct nest *stack = this_cpu_ptr(&nest);
	u32 depth = READ_ONCE(stack->depth);

	while (depth--) {
		const struct inside *in = &stack->at[depth];
		u64 begin = in->begin;

		if (in->t != t || in->kind != kind || in->nr != nr)
			continue;
		ldb_order_nested();
		WRITE_ONCE(stack->depth, depth);
		return begin;
	}
	return 0;
}

static void write_name(struct ldb_session_cpu *sc, u32 irq, const char *text, u64 now)
{
	union { char text[NAME_WORDS * 8 + 1]; u64 words[NAME_WORDS]; } name = {};
	u64 is, idx;
	u64 *seen;

	strscpy(name.text, text, sizeof(name.text));
	is = hash_64(name.words[1] ^ hash_64(name.words[2], 64), 63);
	is = (hash_64(name.words[0], 64) ^ is ^ irq) | 1;
	seen = &sc->seen_irqs[irq & ((1 << LDB_SEEN_IRQ_BITS) - 1)];
	if (likely(READ_ONCE(*seen) == is))
		return;
	WRITE_ONCE(*seen, is);
	idx = ldb_reserve(sc, 2);
	ldb_put(sc, idx, now, irq, LDB_EV_IRQ_NAME, 0, name.words[0], 0);
	ldb_put(sc, idx + 1, name.words[1], 0, LDB_EV_CONT + 1, 0, name.words[2], 0);
	if (ldb_written(sc, 2))
		ldb_ring_quarter(sc);
}

/* Without CAP_PERFMON the device is hidden, because the times of interrupts reveal keystrokes. */
static noinline void record_end(struct ldb_thread *t, u32 kind, u32 nr, const char *name)
{
	struct ldb_session *s = t->s;
	struct ldb_session_cpu *sc = ldb_this_cpu(s);
	u64 begin = pop(t, kind, nr), now = ldb_clock_now(s->clock);
	u32 flags = kind, nr_short;

	if (!begin)
		return;
	/* A nested interrupt may count or write a record at any time. */
	if (now - begin < s->irq_min && local_read(&t->nr_short) < U8_MAX) {
		local_inc(&t->nr_short);
		return;
	}
	nr_short = min_t(long, local_xchg(&t->nr_short, 0), U8_MAX);
	if (kind == LDB_IRQ_HARD && !s->sees_others) {
		flags |= LDB_IRQ_F_HIDDEN;
		nr = 0;
	} else if (name) {
		write_name(sc, nr, name, now);
	}
	ldb_emit(sc, now, t->tid, LDB_EV_IRQ, flags | nr_short << 8, begin, nr);
}

/*
 * Returns the steal time since the last tick, in ns; 0 if it is not known.  The kernel updates its
 * count in the tick; if a tick was due while the hypervisor ran something else, it comes as soon as
 * the CPU runs again.
 */
static u64 stolen_ns(void)
{
	u64 now = kcpustat_this_cpu->cpustat[CPUTIME_STEAL], before = __this_cpu_read(stolen_before);

	__this_cpu_write(stolen_before, now);
	return before && now > before ? now - before : 0;
}

static noinline void record_stolen(struct ldb_thread *t, u64 ns)
{
	const struct nest *stack = this_cpu_ptr(&nest);
	struct ldb_session *s = t->s;
	u32 depth = READ_ONCE(stack->depth);
	const struct inside *in = depth && depth <= NEST_MAX ? &stack->at[depth - 1] : NULL;

	if (in && in->t == t && in->kind == LDB_IRQ_LOCAL_TIMER)
		ldb_emit(ldb_this_cpu(s), ldb_clock_now(s->clock), t->tid, LDB_EV_IRQ,
			 LDB_IRQ_STOLEN, in->begin, min_t(u64, ns, U32_MAX));
}

static __always_inline struct ldb_thread *interrupted_thread(void)
{
	struct ldb_thread *t = ldb_observed_current();

	return unlikely(t) && ldb_wants(t->s, LDB_GROUP_IRQ) ? t : NULL;
}

static __always_inline void irq_entry_probe(u32 kind, u32 nr)
{
	struct ldb_thread *t = interrupted_thread();

	if (t)
		push(t, kind, nr);
}

static __always_inline void irq_exit_probe(u32 kind, u32 nr, const char *name)
{
	struct ldb_thread *t = interrupted_thread();

	if (t)
		record_end(t, kind, nr, name);
}

void ldb_probe_irq_entry(void *unused, int irq, struct irqaction *action)
{
	irq_entry_probe(LDB_IRQ_HARD, irq);
}

void ldb_probe_irq_exit(void *unused, int irq, struct irqaction *action, int ret)
{
	irq_exit_probe(LDB_IRQ_HARD, irq, action->name);
}

void ldb_probe_softirq_entry(void *unused, unsigned int nr)
{
	irq_entry_probe(LDB_IRQ_SOFT, nr);
}

void ldb_probe_softirq_exit(void *unused, unsigned int nr)
{
	irq_exit_probe(LDB_IRQ_SOFT, nr, NULL);
}

void ldb_probe_timer_entry(void *unused, int vector)
{
	irq_entry_probe(LDB_IRQ_LOCAL_TIMER, vector);
}

void ldb_probe_timer_exit(void *unused, int vector)
{
	struct ldb_thread *t = interrupted_thread();
	u64 ns = stolen_ns();

	if (unlikely(ns && t))
		record_stolen(t, ns);
	if (unlikely(t))
		ldb_chain_at_tick(t);
	irq_exit_probe(LDB_IRQ_LOCAL_TIMER, vector, NULL);
}
