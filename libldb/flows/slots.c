// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Manages the slots for return addresses.
 *
 * A thread takes some slots when it has none, and retains them until it exits.  If an exception or
 * a longjmp() ends a call, the call never returns, and its slot stays in use.  The functions that
 * cause this are interposed (shim/unwind.c), and flow_leave() marks such slots.  Another longjmp()
 * may continue a call that a longjmp() has ended.  So a marked slot is freed only when the thread
 * needs slots, and only if the stub's address on the stack has been overwritten.  The slots of
 * calls that ended so on stacks that the program has allocated are never used again.
 *
 * A later call with a higher stack pointer does not prove that a call has ended: the program may
 * have copied a part of the stack to other memory, and may copy it back and continue there, as
 * coroutines in Python do.  If the slots of these calls had been reused, the calls would return to
 * the wrong place.  So if calls have ended without any of the interposed functions, the thread's
 * slots whose calls have not returned are not freed any more.
 *
 * A longjmp() may end a signal handler that has interrupted functions of this file.  Then a slot
 * may be lost, or be in the list twice; but a slot in use is never taken, because its sp is not 0.
 *
 * A thread's free slots are in its own list, except those whose calls returned on another thread,
 * because a coroutine has moved: these are FLOW_ADRIFT until their owner needs a slot (call.c).
 */
#include "flows.h"
#include "runtime/runtime.h"

#define TAKE	8
#define STRANGE_MAX 512	/* a thread with this many slots gets no more if some of them may be lost */
#define SKIP	64	/* if there is no slot for a call, this many calls are not timed */

/*
 * The list of slots that threads gave back when they exited: number (index + 1) of the first slot,
 * 0 if there is none, and a count of changes in the upper half.  A slot's `start` is the number of
 * the next.
 */
static _Atomic uint64_t returned;
static _Atomic uint32_t nr_taken;	/* the slots from this index on have never been used */

/* The lists of the slots that each thread owns: for each slot's number, that of the next slot. */
static uint16_t next_of[FLOW_SLOTS + 1];

static struct flow_slot *slot_at(uint32_t number)
{
	return number ? &flow_slots[number - 1] : NULL;
}

static uint32_t number_of(const struct flow_slot *s)
{
	return s - flow_slots + 1;
}

static struct flow_slot *take_returned(void)
{
	uint64_t head = atomic_load(&returned);
	struct flow_slot *s;

	do {
		s = slot_at((uint32_t)head);
		if (!s)
			return NULL;
		/* another thread may have taken it: then the head has changed */
	} while (!atomic_compare_exchange_weak(&returned, &head,
					       ((head >> 32) + 1) << 32 | (uint32_t)s->start));
	return s;
}

static void give_back(struct flow_slot *s)
{
	uint64_t head = atomic_load(&returned);

	s->sp = 0;
	s->cfa = FLOW_CFA;
	s->away = FLOW_IN_PLACE;
	s->owner = 0;
	do
		s->start = (uint32_t)head;
	while (!atomic_compare_exchange_weak(&returned, &head,
					     ((head >> 32) + 1) << 32 | number_of(s)));
}

static struct flow_slot *take(void)
{
	struct flow_slot *s = take_returned();
	uint32_t n;

	if (s)
		return s;
	n = atomic_load(&nr_taken);
	do {
		if (n == FLOW_SLOTS)
			return NULL;
	} while (!atomic_compare_exchange_weak(&nr_taken, &n, n + 1));
	s = &flow_slots[n];
	s->cfa = FLOW_CFA;
	s->stub = (uintptr_t)flow_slot_stubs + (uint64_t)n * FLOW_STUB;
	return s;
}

static void put_into_list(struct flow_slot *s)
{
	s->next = flow_self.free;
	order_signal();
	flow_self.free = s;
}

/*
 * Returns true if the function of slot s, which was called at stack pointer sp, has jumped to the
 * function that is called now.  Then the call of s has not ended, and the return address on the
 * stack leads to s.
 */
static bool is_jumped_from(const struct flow_slot *s, uint64_t sp)
{
	uint64_t ret = ((const uint64_t *)sp)[-1];

	for (int i = 0; i < 8; i++) {
		uint64_t off = ret - (uintptr_t)flow_slot_stubs;

		if (off >= FLOW_SLOTS * FLOW_STUB)
			return false;
		if (&flow_slots[off / FLOW_STUB] == s)
			return true;
		ret = flow_slots[off / FLOW_STUB].ret;
	}
	return false;
}

static bool is_on_own_stack(const struct thread *t, uint64_t sp)
{
	return sp > t->stack_lo && sp <= t->stack_hi;
}

/*
 * Returns true if the address of the slot's stub is still on the stack, where the call has put it.
 */
static bool is_on_stack(const struct flow_slot *s)
{
	return is_jumped_from(s, s->sp);
}

/*
 * Returns true if the call of slot s has ended, given that a call is being made at sp on the
 * thread's own stack.
 */
static bool is_left(const struct thread *t, const struct flow_slot *s, uint64_t sp)
{
	uint64_t its = s->sp;

	return its && is_on_own_stack(t, its) && (its < sp || (its == sp && !is_jumped_from(s, sp)));
}

/* Reclaims a slot; a signal handler may do the same meanwhile. */
static void reclaim(struct flow_slot *s)
{
	if (order_slot_claim(&s->sp)) {
		s->cfa = FLOW_CFA;
		put_into_list(s);
	}
}

struct flow_slot *flow_left_c(uint64_t sp)
{
	const struct thread *t = thread_self();
	struct flow_slot *s = flow_self.top;

	if (!t || !is_on_own_stack(t, sp))
		return s;
	for (unsigned n = 0; s && n <= flow_self.nr_all && s->owner == flow_self.owner && is_left(t, s, sp); n++) {
		flow_self.is_strange = true;
		s = s->up;
	}
	/* if the slot is free, its other members are not valid */
	if (s && !s->sp)
		s = NULL;
	flow_self.top = s;
	return s;
}

/*
 * Returns true if the call of slot s is between the stack pointers `here` and sp, so that a jump to
 * sp ends it.
 */
static bool is_in_between(const struct thread *t, const struct flow_slot *s, uintptr_t sp, uintptr_t here)
{
	uint64_t its = s->sp;

	return its && its <= sp && is_on_own_stack(t, its) && (its > here || !is_on_own_stack(t, here)) &&
	       is_on_stack(s);
}

void flow_leave(uintptr_t sp, uintptr_t here)
{
	const struct thread *t = thread_self();
	struct flow_slot *s = flow_self.top;

	if (!t || !flow_self.all || flow_self.is_strange || !is_on_own_stack(t, sp))
		return;
	/* reused slots may make the list circular, so the number of steps is limited */
	for (unsigned n = 0; s && n <= flow_self.nr_all && s->owner == flow_self.owner && is_in_between(t, s, sp, here); n++) {
		s->away = FLOW_LEFT;
		s = s->up;
	}
	flow_self.top = s;
	for (s = slot_at(flow_self.all); s; s = slot_at(next_of[number_of(s)])) {
		if (is_in_between(t, s, sp, here))
			s->away = FLOW_LEFT;
		/*
		 * this call continues, but its stub's address is not on the stack: the program has
		 * changed the stack
		 */
		else if (!s->away && s->sp > sp && is_on_own_stack(t, s->sp) && !is_on_stack(s))
			flow_self.is_strange = true;
	}
}

/*
 * Returns true if a call that was FLOW_LEFT will certainly not be continued.  If the function is
 * just returning, and a signal handler has interrupted it and makes the call at sp, the call's true
 * return address is on the stack.
 */
static bool is_over(const struct flow_slot *s, uint64_t sp)
{
	return s->sp && !flow_self.is_strange && !is_on_stack(s) &&
	       (s->sp == sp || ((const uint64_t *)s->sp)[-1] != s->ret);
}

/*
 * Frees slots whose call returned on another thread, and slots of calls that have ended and cannot
 * be continued.  Returns true if there were any.
 */
static bool find_away(uint64_t sp)
{
	bool found = false;

	flow_self.nr_left = 0;

	for (struct flow_slot *s = slot_at(flow_self.all); s; s = slot_at(next_of[number_of(s)])) {
		if (s->away == FLOW_ADRIFT && !s->sp) {
			s->away = FLOW_IN_PLACE;
			put_into_list(s);
			found = true;
		} else if (s->away == FLOW_LEFT && is_over(s, sp)) {
			s->away = FLOW_IN_PLACE;
			reclaim(s);
			found = true;
		} else if (s->away == FLOW_LEFT) {
			flow_self.nr_left++;
		}
	}
	return found;
}

int flow_refill_c(uint64_t sp, struct ldb_flow_state *state)
{
	const struct thread *t = thread_self();
	struct flow_slot *s;
	unsigned nr;

	/*
	 * registers the thread; this call is counted in region 0, and the next one in the thread's
	 * own region, if the thread could be registered
	 */
	if (!t && thread_on_unknown) {
		thread_on_unknown();
		state->left = 0;
		return false;
	}
	/* a longjmp() out of a signal handler may have damaged the list, so it is dropped */
	if (flow_self.free && flow_self.free->sp)
		flow_self.free = NULL;
	/* the thread is not registered yet, is exiting, or got no region */
	if (!t || !flow_self.off) {
		state->left = INT32_MAX;
		return false;
	}
	if (flow_self.rest)
		flow_self.rest--;
	else if (find_away(sp))
		return true;
	nr = TAKE + flow_self.nr_all / 8;
	if ((flow_self.is_strange || flow_self.nr_left) && flow_self.nr_all >= STRANGE_MAX)
		nr = 0;
	for (unsigned i = 0; i < nr && (s = take()); i++) {
		s->owner = flow_self.owner;
		next_of[number_of(s)] = flow_self.all;
		flow_self.all = number_of(s);
		flow_self.nr_all++;
		put_into_list(s);
	}
	if (flow_self.free)
		return true;
	flow_self.rest = flow_self.nr_all / SKIP;
	state->left = SKIP - 1;
	state->skipped += SKIP;
	flow_lose(LDB_FLOW_LOST_SLOT, SKIP);
	return false;
}

void flow_slots_return(void)
{
	const struct thread *t = thread_self();
	struct flow_slot *s = slot_at(flow_self.all), *next;

	flow_self.off = 0;
	order_signal();
	flow_self.free = NULL;
	flow_self.all = 0;
	flow_self.nr_all = 0;
	flow_self.owner = UINT16_MAX;
	flow_self.top = NULL;
	flow_self.is_strange = false;
	for (; s; s = next) {
		next = slot_at(next_of[number_of(s)]);
		/* a coroutine of this thread may continue on another thread */
		if (s->sp && !(s->sp > t->stack_lo && s->sp <= t->stack_hi))
			s->owner = 0;
		else
			give_back(s);
	}
}

void flow_slots_note(void)
{
	struct ldb_flow_info *info = flow_info();
	uint64_t table = !info->open_table, n = 0;
	struct ldb_flow_open *to = (struct ldb_flow_open *)(flow_memory + LDB_FLOW_OPENS_OFF) + table * LDB_FLOW_OPENS;
	uint32_t nr = atomic_load(&nr_taken);

	for (uint32_t i = 0; i < nr; i++)
		n += flow_is_open(&flow_slots[i], &to[n]);
	info->nr_open[table] = n;
	order_flow_table_set(&info->open_table, table);
}

void flow_slots_close(uint64_t base, uint64_t now)
{
	uint32_t nr = atomic_load(&nr_taken);

	/* the table of open calls becomes empty, because these calls are added to the sums now */
	flow_info()->nr_open[0] = flow_info()->nr_open[1] = 0;
	for (uint32_t i = 0; i < nr; i++)
		flow_close(&flow_slots[i], base, now);
}

void flow_slots_fork_child(struct thread *const *threads)
{
	uint32_t nr = atomic_load(&nr_taken);

	for (uint32_t i = 0; i < nr; i++) {
		struct flow_slot *s = &flow_slots[i];
		const struct thread *t = s->owner < LDB_FLOW_THREADS ? threads[s->owner] : NULL;

		if (t && s->owner != flow_self.owner && s->sp && is_on_own_stack(t, s->sp))
			give_back(s);
	}
}

void flow_slots_reclaim(uint32_t own)
{
	uint32_t nr = atomic_load(&nr_taken);

	for (uint32_t i = 0; i < nr; i++) {
		if (!flow_slots[i].owner || flow_slots[i].owner == own)
			continue;
		/*
		 * a coroutine of a thread that the child lacks may be continued by its only thread
		 */
		if (flow_slots[i].sp)
			flow_slots[i].owner = 0;
		else
			give_back(&flow_slots[i]);
	}
}
