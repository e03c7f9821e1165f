// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Adds a call that has returned to the sums of its thread.
 *
 * When a call returns, its result may be in vector or x87 registers, which are not saved: so this
 * file is compiled to use integer registers only (see the Makefile), and the code that runs when a
 * call returns calls functions that may use vector registers only through flow_event().
 *
 * A signal handler may add to the same cell meanwhile, so each addition is a single instruction.
 */
#include "arch/cpu.h"
#include "flows.h"

#define FAST_TICKS	2500	/* if calls are closer, fewer are timed; 1 us at 2.5 GHz */
#define SLOW_TICKS	10000
#define STRIDE_LOG_MAX	4
#define LAST_OURS	8	/* a bit of ldb_flow_state.last: the function belongs to libldb */
/* the number of a thread's first calls of a function that are all timed */
#define ALL_TIMED	1024
#define PART_BUCKETS	(LDB_FLOW_PART / sizeof(uint32_t))

/* Calls shorter than this, in ticks, are in the cell's part[0], and may use the fast path. */
#define FLOW_SHORT	4096

/* The histogram bucket for each range of 16 durations, of which the first begins at -FLOW_SHORT. */
#define SHORT_WORDS	(FLOW_SHORT / 16)
static uint8_t short_bucket[2 * SHORT_WORDS] __attribute__((aligned(64)));

/*
 * Converts a time to units of 256 ticks, times 16, because the lower bits of a state contain the
 * logarithm of its stride.
 */
static uint32_t tick_word(uint64_t ticks)
{
	return ticks / 16 & ~15U;
}

static char *region_of(const struct flow_slot *s, uint64_t base)
{
	return (char *)base + (uint64_t)s->owner * LDB_FLOW_REGION;
}

static struct ldb_flow_cell *cell_of(char *region, const struct flow_entry *e)
{
	return (struct ldb_flow_cell *)(region + LDB_FLOW_CELLS_OFF) + e->cell;
}

static struct ldb_flow_state *state_of(char *region, const struct flow_entry *e)
{
	return (struct ldb_flow_state *)region + e->cell;
}

static uint32_t weight_of(const struct flow_slot *s)
{
	return s->skipped + 1;
}

/* Returns a bucket, given its number within the part. */
static inline uint32_t *bucket_at(char *region, uint32_t part, unsigned number)
{
	return (uint32_t *)(region + LDB_FLOW_PARTS_OFF + (uint64_t)part * LDB_FLOW_PART) + number;
}

/*
 * Allocates the part of the cell's histogram that has this bucket.  Returns the bucket; NULL if the
 * region has no part left.  The first word of the region's part 0 is the number of its parts in
 * use.
 */
static __attribute__((noinline, cold)) uint32_t *bucket_new(char *region, struct ldb_flow_cell *c,
							    unsigned bucket)
{
	uint32_t part = atomic_fetch_add((_Atomic uint32_t *)(region + LDB_FLOW_PARTS_OFF), 1) + 1;

	if (part >= LDB_FLOW_PARTS)
		return NULL;
	c->part[bucket / PART_BUCKETS] = part;
	return bucket_at(region, part, bucket % PART_BUCKETS);
}

static void add_to_histogram(char *region, struct ldb_flow_cell *c, uint64_t ticks, uint32_t weight)
{
	unsigned bucket = flow_mem_bucket(ticks);
	uint32_t part = c->part[bucket / PART_BUCKETS], *at;

	if (part - 1 < LDB_FLOW_PARTS - 1)
		at = bucket_at(region, part, bucket % PART_BUCKETS);
	else
		at = bucket_new(region, c, bucket);
	if (at)
		cpu_add_32(at, weight);
}

/*
 * If a callback made the call, its time is part of the timed call that ran the callback, but was
 * not spent in the module that this timed call entered: so it is also added to the timed call's
 * `back`.  Returns the entry of that timed call; NULL: no callback made the call.
 */
static inline const struct flow_entry *called_back(const struct flow_slot *s)
{
	const struct flow_slot *up = s->up;

	if (likely(up->entry->to == s->entry->from))
		return NULL;
	/*
	 * a call that ended without a return had a lower stack pointer, or its slot was reused by a
	 * later call
	 */
	return up->sp >= s->sp && up->owner == s->owner ? up->entry : NULL;
}

static inline void charge_back(char *region, const struct flow_slot *s, uint64_t weighted)
{
	const struct flow_entry *e = called_back(s);

	if (unlikely(e))
		cpu_add_64(&cell_of(region, e)->back, weighted);
}

/* Adds a call to the sums of the thread with this region. */
static void account(char *region, const struct flow_slot *s, uint64_t start, uint64_t now)
{
	struct ldb_flow_cell *c = cell_of(region, s->entry);
	uint64_t took = now - start, ticks, weighted;

	ticks = now > start && took > flow_page.cost ? took - flow_page.cost : 0;
	weighted = ticks * weight_of(s);
	if (ticks < c->min || !c->timed)
		c->min = ticks > UINT32_MAX ? UINT32_MAX : ticks;
	if (ticks > c->max)
		c->max = ticks;
	cpu_add_64(&c->timed, 1);
	cpu_add_64(&c->sum, weighted);
	cpu_add_64(&c->shared, (unsigned __int128)weighted * flow_page.share >> 32);
	add_to_histogram(region, c, ticks, weight_of(s));
	if (unlikely(s->up))
		charge_back(region, s, weighted);
}

/* Returns true if a call of this length has an event. */
static inline bool is_long(uint64_t start, uint64_t now)
{
	return now > start && now - start >= flow_page.threshold;
}

void flow_call_prepare(void)
{
	for (unsigned i = 0; i < SHORT_WORDS; i++)
		short_bucket[SHORT_WORDS + i] = flow_mem_bucket(i * 16);
	flow_page.usual = flow_page.threshold < FLOW_SHORT ? flow_page.threshold : FLOW_SHORT;
	/* if reading the clock takes this long, the fast path is not used */
	if (flow_page.cost >= FLOW_SHORT)
		flow_page.usual = 0;
}

/*
 * Copies a slot.  Returns true if its call has not begun before flow_page.begun, and is neither
 * returning nor has ended in another way.  All members of the copy belong to the call that began at
 * copy->start, if the slot has this start afterwards: a call that begins stores sp last, and one
 * that has returned sets it to 0.
 */
static bool copy_open(const struct flow_slot *s, struct flow_slot *copy)
{
	uint64_t start = order_any_load_word(&s->start);

	order_slot_copied();
	*copy = *s;
	order_slot_copied();
	copy->start = start;
	return start && start >= flow_page.begun && copy->sp && !copy->away && copy->owner &&
	       copy->owner < LDB_FLOW_THREADS && copy->next != s;
}

bool flow_is_open(const struct flow_slot *s, struct ldb_flow_open *o)
{
	uint64_t base = order_flow_base(&flow_page.base);
	const struct flow_entry *back;
	struct flow_slot copy;

	if (!base || !copy_open(s, &copy))
		return false;
	back = copy.up ? called_back(&copy) : NULL;
	o->start = copy.start;
	o->region = copy.owner;
	o->timed = cell_of(region_of(&copy, base), copy.entry)->timed;
	o->site = copy.ret;
	o->api = copy.entry->cell;
	o->back = back ? back->cell : 0;
	o->weight = weight_of(&copy);
	order_slot_copied();
	return order_any_load_word(&s->start) == copy.start;
}

/*
 * If the call of slot s is open, it is added to the sums as if it ended now.  The thread that will
 * return from it finds the start 0 then, and does not add it again.
 *
 * A thread that is returning from it may be preempted at any place.  It has first set s->next to s,
 * and then loaded the start: so if s->next is not s after the start was set to 0, the thread will
 * load 0.
 */
void flow_close(struct flow_slot *s, uint64_t base, uint64_t now)
{
	struct flow_slot copy;

	if (!copy_open(s, &copy) || !order_slot_close(&s->start, copy.start) || order_any_load_word(&s->next) == s)
		return;
	account(region_of(&copy, base), &copy, copy.start, now);
	if (is_long(copy.start, now))
		flow_event_c(&copy, now, copy.start, true);
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

/*
 * Corrects the call site of the lock that the thread acquired last: the lock's wrapper has stored
 * its return address there, which may be in the stub of this slot.
 */
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

/*
 * Returns how many of the next calls are not timed: 0 if log is 0, else a random number from 2^log
 * - 1 to 2^(log + 1) - 2.
 */
static uint32_t stride_of(uint32_t log, uint64_t start)
{
	uint32_t random = (uint32_t)start * 2654435761U;

	return log ? (1U << log) - 1 + (random >> (32 - log)) : 0;
}

/* Chooses how many of the following calls are timed, by their rate. */
static void adapt(char *region, const struct flow_slot *s, uint64_t start)
{
	struct ldb_flow_state *t = state_of(region, s->entry);
	uint32_t now = tick_word(start), log = t->last & 7, is_ours = s->entry->flags & FLOW_E_OURS;
	uint64_t ticks = (uint64_t)(now - (t->last & ~15U)) * 16, weight = weight_of(s);

	if (ticks < weight * FAST_TICKS) {
		if (log < STRIDE_LOG_MAX && cell_of(region, s->entry)->timed >= ALL_TIMED)
			log++;
	} else if (log && ticks > weight * SLOW_TICKS) {
		/* if the calls have become much rarer, each is timed again */
		log = ticks > weight * SLOW_TICKS * 8 ? 0 : log - 1;
	}
	/* LAST_OURS makes each timed call of a function of libldb reach adapt() */
	t->last = now | log | (is_ours ? LAST_OURS : 0);
	t->stride = stride_of(log, start);
	if (is_ours)
		correct_site(s);
}

/*
 * Marks a slot whose call returned on another thread.  The owner of the slot will find it later; if
 * the owner has exited, the slot is lost.
 */
void flow_slot_adrift(struct flow_slot *s)
{
	if (s->owner)
		s->away = FLOW_ADRIFT;
}

static inline void slot_free(struct flow_slot *s)
{
	flow_self.top = s->up;
	/*
	 * after this store, no search of slots takes the call for one that ended without a return
	 */
	s->sp = 0;
	s->next = flow_self.free;
	order_signal();
	flow_self.free = s;
}

static void account_with_care(struct flow_slot *s, uint64_t now, uint64_t start)
{
	uint64_t base = order_flow_base(&flow_page.base);
	char *region;

	if (!base || start < flow_page.begun)
		return;
	region = region_of(s, base);
	account(region, s, start, now);
	adapt(region, s, start);
	if (is_long(start, now))
		flow_event(s, now, start);
}

/*
 * Makes the compiler compute x here, and not later together with values that depend on the clock.
 */
#define EARLY(x)	__asm__("" : "+r"(x))

/*
 * The head of three functions that have the same arguments, so that flow_return_c() can jump to the
 * other two, with the start that it has loaded.  y is the low half of `now`, and a and b are the
 * results of the function that was called.
 */
#define RETURN(name)									\
	struct flow_result name(struct flow_slot *s, uint64_t now, uint64_t start,	\
				__attribute__((unused)) uint64_t y, uint64_t a, uint64_t b)

/* Handles the unusual cases, and so checks each condition again. */
static __attribute__((noinline)) RETURN(return_unusual)
{
	s->away = FLOW_IN_PLACE;
	account_with_care(s, now, start);
	s->cfa = FLOW_CFA;
	if (s->owner == flow_self.owner) {
		slot_free(s);
	} else {
		flow_self.top = s->up;
		flow_slot_adrift(s);
		/*
		 * The next store must be the last one, because after it the owner, or another
		 * thread, may take the slot.
		 */
		__asm__ volatile("" : : : "memory");
		s->sp = 0;
	}
	return (struct flow_result){ a, b };
}

/* Adapts how many calls are timed.  The call has been added to the sums already. */
static __attribute__((noinline)) RETURN(return_adapt)
{
	uint64_t base = order_flow_base(&flow_page.base);

	(void)now;
	if (likely(base))
		adapt(region_of(s, base), s, start);
	slot_free(s);
	return (struct flow_result){ a, b };
}

/*
 * The fast path: the call was short, each call is timed, and this stays so.  This function calls no
 * other, and jumps to the unusual cases with the results of the function, so that no register must
 * be saved.
 *
 * While the CPU reads the clock, it executes what does not depend on the clock.  Its only jumps are
 * for rare cases, because a mispredicted jump would cost more than all of this.
 */
RETURN(flow_return_c)
{
	uint64_t base = order_flow_base(&flow_page.base);
	struct ldb_flow_state *state;
	uint32_t since, part, word, *buckets;
	struct ldb_flow_cell *c;
	int32_t ticks;
	char *region;

	/* in this order: see flow_close() */
	s->next = s;
	order_signal();
	start = order_any_load_word(&s->start);
	since = start + flow_page.cost - FLOW_SHORT;
	/* the comparison is also true if the start is 0, or later than now */
	if (unlikely(!base || now - start >= flow_page.usual || s->tag != flow_self.tag || s->skipped))
		return return_unusual(s, now, start, y, a, b);
	region = (char *)base + flow_self.off;
	c = cell_of(region, s->entry);
	part = c->part[0];
	if (unlikely(part - 1 >= LDB_FLOW_PARTS - 1))
		return return_unusual(s, now, start, y, a, b);
	buckets = bucket_at(region, part, 0);
	EARLY(since);
	EARLY(buckets);
	cpu_add_32(buckets + short_bucket[((uint32_t)y - since) / 16], 1);
	ticks = (uint32_t)y - since - FLOW_SHORT;
	ticks = ticks < 0 ? 0 : ticks;
	cpu_add_64(&c->timed, 1);
	cpu_add_64(&c->sum, ticks);
	cpu_add_64(&c->shared, (uint64_t)ticks * flow_page.share >> 32);
	if (unlikely((uint32_t)ticks < c->min))
		c->min = ticks;
	if (unlikely((uint32_t)ticks > c->max))
		c->max = ticks;
	if (unlikely(s->up))
		charge_back(region, s, ticks);
	state = state_of(region, s->entry);
	word = tick_word(start);
	if (unlikely(state->last & 15 || word - state->last < FAST_TICKS / 16))
		return return_adapt(s, now, start, y, a, b);
	state->last = word;
	slot_free(s);
	return (struct flow_result){ a, b };
}
