// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Gives each thread a region of the shared memory.  After the thread's exit the region is used
 * again when the recorder has read and emptied it.
 */
#include "arch/cpu.h"
#include "flows.h"
#include "runtime/runtime.h"

#define LOCK_TRIES	200
#define LOCK_PAUSE_NS	100000

/* under registry_lock: the thread that has the region */
static struct thread *threads[LDB_FLOW_THREADS];
static uint32_t hint;			/* the region at which the search for a free one begins */
static uint32_t kept;			/* in a child: region of the thread that called fork() */
static bool are_given;			/* under registry_lock: threads get regions */

static struct ldb_flow_thread *thread_at(uint32_t region)
{
	return (struct ldb_flow_thread *)(flow_memory + LDB_FLOW_THREADS_OFF) + region;
}

static void take_region(struct thread *t, uint32_t n)
{
	threads[n] = t;
	flow_tids[n] = t->tid;
	thread_at(n)->tid = t->tid;
	thread_at(n)->end = 0;
	order_flow_thread_set(&thread_at(n)->state, LDB_FLOW_LIVE);
	t->flow->cfa = FLOW_CFA;
	t->flow->owner = n;
	t->flow->off = (uint64_t)n * LDB_FLOW_REGION;
}

/*
 * Under registry_lock.  A thread that had a region in an earlier recording gets the same one again,
 * because its slots contain the region's number.
 */
static void assign_region(struct thread *t)
{
	if (t->flow->is_leaving)
		return;
	if (t->flow->off) {
		take_region(t, t->flow->owner);
		return;
	}
	for (uint32_t i = 0; i < LDB_FLOW_THREADS; i++) {
		uint32_t n = (hint + i) % LDB_FLOW_THREADS;

		if (!n || threads[n] || order_flow_thread(&thread_at(n)->state) != LDB_FLOW_FREE)
			continue;
		hint = n + 1;
		take_region(t, n);
		return;
	}
	t->flow->owner = UINT16_MAX;
	flow_lose(LDB_FLOW_LOST_THREAD, 1);
}

static void update_share(void)
{
	uint32_t n = order_live_count(&nr_live);

	flow_page.share = (1ULL << 32) / (n ? n : 1);
}

void flow_thread_enter(struct thread *t)
{
	if (!flow_self.off)
		flow_self.owner = UINT16_MAX;
	t->flow = &flow_self;
	if (unlikely(are_given)) {
		assign_region(t);
		update_share();
	}
}

void flow_thread_exit(struct thread *t)
{
	uint32_t n;

	/* is_leaving prevents a recording that begins later from giving the thread a region. */
	raw_lock(&registry_lock);
	flow_self.is_leaving = true;
	n = flow_self.owner;
	if (!flow_self.off) {
		raw_unlock(&registry_lock);
		return;
	}
	flow_slots_return();
	if (atomic_load(&flow_page.is_on) && threads[n] == t) {
		thread_at(n)->end = session_clock();
		order_flow_thread_set(&thread_at(n)->state, LDB_FLOW_DONE);
	}
	threads[n] = NULL;
	raw_unlock(&registry_lock);
}

/*
 * Locks the registry.  Gives up after a while and returns false, because the calling thread itself
 * may hold the lock.
 */
static bool lock_registry(void)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		uint32_t unlocked = 0;

		if (atomic_compare_exchange_strong(&registry_lock.word, &unlocked, 1))
			return true;
		raw_sleep_ns(LOCK_PAUSE_NS);
	}
	return false;
}

bool flow_thread_all(void)
{
	intptr_t off = (uintptr_t)&flow_self - cpu_thread_pointer();
	uint32_t n;

	if (!lock_registry())
		return false;
	n = order_live_count(&nr_live);
	for (uint32_t i = 0; i < n; i++) {
		struct thread *t = order_live_get(&live[i]);

		t->flow = (struct flow_self *)(t->tp + off);
		assign_region(t);
	}
	update_share();
	are_given = true;
	raw_unlock(&registry_lock);
	return true;
}

void flow_thread_end(void)
{
	raw_lock(&registry_lock);
	are_given = false;
	raw_unlock(&registry_lock);
}

void flow_thread_fork_child(void)
{
	flow_slots_fork_child(threads);
	kept = flow_self.off ? flow_self.owner : 0;
	memset(threads, 0, sizeof(threads));
	threads[kept] = kept ? thread_self() : NULL;
	are_given = false;
}

uint32_t flow_thread_kept(void)
{
	return kept;
}
