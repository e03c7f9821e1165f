// SPDX-License-Identifier: LGPL-2.1-or-later
/* Gives each thread a region of the memory, until the recorder has read it after its exit. */
#include "flows.h"
#include "runtime/runtime.h"

static struct thread *threads[LDB_FLOW_THREADS];	/* under registry_lock: who has the region */
static uint32_t hint;			/* where to begin to search */

static struct ldb_flow_thread *thread_at(uint32_t region)
{
	return (struct ldb_flow_thread *)(flow_memory + LDB_FLOW_THREADS_OFF) + region;
}

/* Under registry_lock. */
static void assign_region(struct thread *t)
{
	/* it began before the recording, and was not the one that began it */
	if (!t->flow) {
		flow_lose(LDB_FLOW_LOST_THREAD, 1);
		return;
	}
	for (uint32_t i = 0; i < LDB_FLOW_THREADS; i++) {
		uint32_t n = (hint + i) % LDB_FLOW_THREADS;

		if (!n || threads[n] || order_flow_thread(&thread_at(n)->state) != LDB_FLOW_FREE)
			continue;
		hint = n + 1;
		threads[n] = t;
		flow_tids[n] = t->tid;
		thread_at(n)->tid = t->tid;
		thread_at(n)->end = 0;
		order_flow_thread_set(&thread_at(n)->state, LDB_FLOW_LIVE);
		t->flow->cfa = FLOW_CFA;
		t->flow->owner = n;
		t->flow->off = (uint64_t)n * LDB_FLOW_REGION;
		return;
	}
	flow_lose(LDB_FLOW_LOST_THREAD, 1);
}

static void update_share(void)
{
	uint32_t n = order_live_count(&nr_live);

	flow_page.share = (1ULL << 32) / (n ? n : 1);
}

void flow_thread_enter(struct thread *t)
{
	flow_self.owner = UINT16_MAX;
	t->flow = &flow_self;
	if (unlikely(order_flow_base(&flow_page.base))) {
		assign_region(t);
		update_share();
	}
}

void flow_thread_exit(struct thread *t)
{
	uint32_t n = flow_self.owner;

	if (!flow_self.off)
		return;
	flow_slots_return();
	raw_lock(&registry_lock);
	if (order_flow_base(&flow_page.base) && threads[n] == t) {
		thread_at(n)->end = session_clock();
		order_flow_thread_set(&thread_at(n)->state, LDB_FLOW_DONE);
	}
	threads[n] = NULL;
	raw_unlock(&registry_lock);
}

void flow_thread_all(void)
{
	struct thread *t = thread_self();
	uint32_t n;

	raw_lock(&registry_lock);
	if (t)
		t->flow = &flow_self;
	n = order_live_count(&nr_live);
	for (uint32_t i = 0; i < n; i++)
		assign_region(order_live_get(&live[i]));
	update_share();
	raw_unlock(&registry_lock);
}

void flow_thread_fork_child(void)
{
	memset(threads, 0, sizeof(threads));
}
