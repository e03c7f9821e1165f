// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Adds a call that has returned to the sums of its thread.
 *
 * The function's result is in registers that only flows.S knows, and may be in vector or x87
 * registers: this file is compiled for the integer ones alone (see the Makefile), and calls no
 * other but through flow_event().
 *
 * A handler of a signal may add to the same cell meanwhile, so each addition is one instruction.
 */
#include "arch/cpu.h"
#include "flows.h"

#define FAST_TICKS	2500	/* between two calls, on average: a million calls per second */
#define SLOW_TICKS	10000
#define STRIDE_LOG_MAX	4
#define ALL_TIMED	1024	/* calls of a thread, before some are not */
#define PART_BUCKETS	(LDB_FLOW_PART / sizeof(uint32_t))

static char *region_of(const struct flow_slot *s)
{
	return (char *)flow_page.base + (uint64_t)s->owner * LDB_FLOW_REGION;
}

static struct ldb_flow_cell *cell_of(char *region, const struct flow_entry *e)
{
	return (struct ldb_flow_cell *)(region + LDB_FLOW_CELLS_OFF) + e->cell;
}

static uint32_t weight_of(const struct flow_slot *s)
{
	return s->weight ? s->weight : 1;
}

/* The first word of part 0 counts the parts in use. */
static __attribute__((noinline, cold)) uint32_t *bucket_new(char *region, struct ldb_flow_cell *c,
							    unsigned bucket)
{
	uint32_t part = atomic_fetch_add((_Atomic uint32_t *)(region + LDB_FLOW_PARTS_OFF), 1) + 1;

	if (part >= LDB_FLOW_PARTS)
		return NULL;
	c->part[bucket / PART_BUCKETS] = part;
	return (uint32_t *)(region + LDB_FLOW_PARTS_OFF + (uint64_t)part * LDB_FLOW_PART) + bucket % PART_BUCKETS;
}

static void add_to_histogram(char *region, struct ldb_flow_cell *c, uint64_t ticks, uint32_t weight)
{
	unsigned bucket = flow_mem_bucket(ticks);
	unsigned part = c->part[bucket / PART_BUCKETS];
	uint32_t *at;

	if (likely(part && part < LDB_FLOW_PARTS))
		at = (uint32_t *)(region + LDB_FLOW_PARTS_OFF + (uint64_t)part * LDB_FLOW_PART) + bucket % PART_BUCKETS;
	else
		at = bucket_new(region, c, bucket);
	if (at)
		cpu_add_32(at, weight);
}

/* How many of the next calls are not timed: on average 1.5 * 2^log, never in step with a pattern. */
static void adapt(struct ldb_flow_state *t, uint64_t timed, uint64_t start, uint32_t weight)
{
	uint32_t now = start / 16, log = t->last & 15;
	uint64_t ticks = (uint64_t)((now & ~15U) - (t->last & ~15U)) * 16;

	if (ticks < (uint64_t)weight * FAST_TICKS) {
		if (log < STRIDE_LOG_MAX && timed >= ALL_TIMED)
			log++;
	} else if (log && ticks > (uint64_t)weight * SLOW_TICKS) {
		/* much slower than it was: another use of the function, each of whose calls may matter */
		log = ticks > (uint64_t)weight * SLOW_TICKS * 8 ? 0 : log - 1;
	}
	t->last = (now & ~15U) | log;
	if (log) {
		uint32_t random = (uint32_t)start * 2654435761U >> (32 - log);

		t->stride = (1U << log) - 1 + random;
	} else {
		t->stride = 0;
	}
}

/*
 * A function called its caller's module back, which made this call: the caller's own time is not
 * less for it.
 */
static void charge_back(char *region, const struct flow_slot *s, uint64_t weighted)
{
	const struct flow_slot *up = s->up;

	/* what was left behind lies below, or was taken again for a later call */
	if (!up || up->sp < s->sp || up->owner != s->owner || up->entry->to == s->entry->from)
		return;
	cpu_add_64(&cell_of(region, up->entry)->back, weighted);
}

static inline __attribute__((always_inline)) void account(char *region, const struct flow_slot *s,
							  uint64_t now)
{
	struct ldb_flow_cell *c = cell_of(region, s->entry);
	uint64_t took = now - s->start, ticks, weighted;

	ticks = now > s->start && took > flow_page.cost ? took - flow_page.cost : 0;
	weighted = ticks * weight_of(s);
	cpu_add_64(&c->timed, 1);
	cpu_add_64(&c->sum, weighted);
	cpu_add_64(&c->shared, (unsigned __int128)weighted * flow_page.share >> 32);
	if (ticks < c->min || !c->min)
		c->min = ticks > UINT32_MAX ? UINT32_MAX : ticks ? ticks : 1;
	if (ticks > c->max)
		c->max = ticks;
	add_to_histogram(region, c, ticks, weight_of(s));
	charge_back(region, s, weighted);
}

void flow_account(struct flow_slot *s, uint64_t now)
{
	account(region_of(s), s, now);
}

uintptr_t flow_site(uintptr_t ret)
{
	uintptr_t off = ret - (uintptr_t)flow_slot_stubs;

	for (int i = 0; unlikely(off < FLOW_SLOTS * FLOW_STUB) && i < 8; i++) {
		ret = flow_slots[off / FLOW_STUB].ret;
		off = ret - (uintptr_t)flow_slot_stubs;
	}
	return ret;
}

/* A wrapper of a lock has stored where it was called: the newest entry may have the stub. */
static void correct_site(const struct flow_slot *s)
{
	const struct thread *t = thread_self();
	struct held_lock *h;
	uint32_t n;

	if (!t || !t->list)
		return;
	n = t->list->nr_held;
	if (!n || n > HELD_MAX)
		return;
	h = &t->list->held[n - 1];
	if ((h->site_kind << 16 >> 16) - s->stub < FLOW_STUB)
		h->site_kind = (h->site_kind >> 48 << 48) | flow_site(s->ret);
}

/* Its owner finds it; if that has exited it is lost. */
void flow_slot_adrift(struct flow_slot *s)
{
	if (s->owner)
		s->is_adrift = true;
}

void flow_return_c(struct flow_slot *s, uint64_t now)
{
	if (likely(flow_page.base && s->start)) {
		char *region = region_of(s);

		account(region, s, now);
		adapt((struct ldb_flow_state *)region + s->entry->cell, cell_of(region, s->entry)->timed,
		      s->start, weight_of(s));
		if (s->entry->flags & FLOW_E_OURS)
			correct_site(s);
		if (unlikely(now - s->start >= flow_page.threshold && now > s->start))
			flow_event(s, now);
	}
	flow_self.top = s->up;
	/* from here on it must not be taken for one that was left behind */
	s->sp = 0;
	if (unlikely(s->owner != flow_self.owner)) {
		flow_slot_adrift(s);
		return;
	}
	s->next = flow_self.free;
	order_signal();
	flow_self.free = s;
}
