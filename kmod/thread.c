// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Manages observed threads: the table by which the probes find them, and their pages.
 *
 * An entry is made when a session is bound, or at fork.  It is removed at the thread's last
 * switch out, after which its task may be freed, or when the session ends.  The program asks for
 * a page, and the thread's exit releases it.
 */
#include <linux/nospec.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include "clock.h"
#include "ldb_internal.h"
#include "stamp.h"

struct hlist_head ldb_threads[1 << LDB_THREAD_BITS];
LIST_HEAD(ldb_bound);
DEFINE_RAW_SPINLOCK(ldb_threads_lock);
struct ldb_hot ldb_hot;
DEFINE_PER_CPU_ALIGNED(struct ldb_cpu, ldb_cpu);

static struct kmem_cache *cache;
static LLIST_HEAD(dead);

static void free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(cache, container_of(rcu, struct ldb_thread, rcu));
}

/* This runs outside of the scheduler's locks, because call_rcu() may have to wake a thread. */
static void reap(struct irq_work *work)
{
	struct ldb_thread *t, *next;

	llist_for_each_entry_safe(t, next, llist_del_all(&dead), dead)
		call_rcu(&t->rcu, free_rcu);
}

static DEFINE_IRQ_WORK(reap_work, reap);

int ldb_threads_init(void)
{
	cache = KMEM_CACHE(ldb_thread, SLAB_ACCOUNT);
	return cache ? 0 : -ENOMEM;
}

/* Called when no session is left and no probe is registered. */
void ldb_threads_exit(void)
{
	irq_work_sync(&reap_work);
	rcu_barrier();
	kmem_cache_destroy(cache);
}

/*
 * Adds a thread to the table.  Returns 0 also if the thread is in the table already, or if the
 * session has ended.  The latter happens if the probe of a fork found the parent before the end of
 * the session; then the child is not added, because it would never be removed.  Probes may call this.
 */
int ldb_thread_add(struct ldb_session *s, struct task_struct *p, u32 seq)
{
	struct ldb_thread *t;
	unsigned long flags;
	bool is_new;

	t = kmem_cache_zalloc(cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!t)
		return -ENOMEM;
	t->task = p;
	t->s = s;
	t->tid = ldb_tid_of(s, p);
	t->seq = seq;
	raw_spin_lock_irqsave(&ldb_threads_lock, flags);
	is_new = !s->over && !ldb_thread_find(p);
	if (is_new) {
		hlist_add_head_rcu(&t->node, &ldb_threads[hash_ptr(p, LDB_THREAD_BITS)]);
		list_add(&t->list, &s->threads);
	}
	raw_spin_unlock_irqrestore(&ldb_threads_lock, flags);
	if (!is_new)
		kmem_cache_free(cache, t);
	return 0;
}

/*
 * Takes the page from a thread.  If the thread is not current, a probe may still be stamping the
 * page: see release_page().
 */
static void detach_page(struct ldb_thread *t)
{
	struct ldb_page *page = t->page;

	lockdep_assert_held(&ldb_threads_lock);
	if (!page)
		return;
	WRITE_ONCE(t->page, NULL);
	t->s->slots[t->page_nr - 1] = NULL;
	WRITE_ONCE(t->page_nr, 0);
	WRITE_ONCE(t->s->nr_registered, t->s->nr_registered - 1);
	ldb_stamp_clear(page);
}

static void unhash(struct ldb_thread *t)
{
	hlist_del_init_rcu(&t->node);
	list_del(&t->list);
	detach_page(t);
}

static void free_later(struct ldb_thread *t)
{
	llist_add(&t->dead, &dead);
	irq_work_queue(&reap_work);
}

/*
 * Removes a thread from the table; called in its last switch out, or by add_threads() after that
 * switch.
 */
void ldb_thread_remove(struct ldb_thread *t)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ldb_threads_lock, flags);
	if (!hlist_unhashed(&t->node)) {
		unhash(t);
		free_later(t);
	}
	raw_spin_unlock_irqrestore(&ldb_threads_lock, flags);
}

/*
 * Called when the session ends.  A probe may still be stamping a switch of one of these threads, so
 * its page is not given to another thread.
 */
void ldb_threads_remove_all(struct ldb_session *s)
{
	struct ldb_thread *t;
	unsigned long flags;
	bool more;

	do {
		int n = 256;

		raw_spin_lock_irqsave(&ldb_threads_lock, flags);
		s->over = true;
		while (n-- && !list_empty(&s->threads)) {
			t = list_first_entry(&s->threads, struct ldb_thread, list);
			unhash(t);
			/*
			 * Until now the thread's CPU may have found t in ldb_cpu; RCU's grace period begins
			 * here.
			 */
			ldb_gen_bump();
			free_later(t);
		}
		more = !list_empty(&s->threads);
		raw_spin_unlock_irqrestore(&ldb_threads_lock, flags);
	} while (more);
}

void ldb_thread_detach_self(struct ldb_thread *t)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ldb_threads_lock, flags);
	detach_page(t);
	raw_spin_unlock_irqrestore(&ldb_threads_lock, flags);
}

/*
 * Finds the observed thread that is running on this CPU, because it may have been running since
 * before it was observed or registered.  Runs with interrupts off, so never between the probe of a
 * switch and the end of that switch.
 */
static void refresh(void *unused)
{
	struct ldb_cpu *c = this_cpu_ptr(&ldb_cpu);
	int gen = ldb_gen();
	struct ldb_thread *t = ldb_observed(current);
	struct ldb_page *page;

	WRITE_ONCE(c->curr, current);
	WRITE_ONCE(c->thread, t);
	WRITE_ONCE(c->gen, gen);
	if (!t)
		return;
	ldb_stamp_cpu(this_cpu_ptr(t->s->cpu), READ_ONCE(t->page_nr), t->tid);
	if (READ_ONCE(t->seq) != LDB_SEQ_UNKNOWN)
		return;
	WRITE_ONCE(t->tsc_in, ldb_clock_now(t->s->clock));
	WRITE_ONCE(t->seq, LDB_SEQ_RUNNING);
	ldb_order_seq_then_page();
	page = READ_ONCE(t->page);
	if (page)
		ldb_stamp_in(t, page, smp_processor_id(), t->tsc_in);
}

/*
 * Interrupts only the CPUs on which threads of the session are running, and no isolated CPUs: the
 * scanner polls threads on isolated CPUs continuously until their next switch.
 */
void ldb_threads_refresh(struct ldb_session *s)
{
	struct task_struct *p;
	cpumask_var_t cpus;

	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL_ACCOUNT))
		return;
	rcu_read_lock();
	for_each_thread(s->task, p) {
		int cpu = task_cpu(p);

		if (ldb_on_cpu(p) && !ldb_cpu_is_isolated(cpu))
			cpumask_set_cpu(cpu, cpus);
	}
	rcu_read_unlock();
	on_each_cpu_mask(cpus, refresh, NULL, true);
	free_cpumask_var(cpus);
}

/*
 * Replaces UNKNOWN in seq if the thread has been asleep since it was added to the table.  A thread
 * that is on no run queue and on no CPU, tested in this order, is in no switch: a switch whose
 * probe did not find the thread in the table is over, and the next one comes after a wake-up, whose
 * run queue's lock makes its probe find the table entry.  That switch may come before or after this
 * change: in the first case seq is no longer UNKNOWN and is not changed here; in the second case
 * the switch finds an even value.
 */
void ldb_thread_settle(struct ldb_thread *t)
{
	ldb_order_table_then_on_rq();
	if (READ_ONCE(t->task->on_rq))
		return;
	ldb_order_on_rq_then_on_cpu();
	if (!ldb_on_cpu(t->task))
		cmpxchg(&t->seq, LDB_SEQ_UNKNOWN, LDB_SEQ_ASLEEP);
}

/*
 * Gives a thread its page while it may be switched on another CPU.  The probe of that switch writes
 * seq, executes a full barrier, and reads page; this function writes page and, after a barrier,
 * reads seq.  So either the probe finds the page and stamps it, or this function reads the new seq.
 * If seq has changed since, k_seq of the page stays 0 until the next switch of the thread.
 */
static void publish(struct ldb_thread *t, struct ldb_page *page)
{
	u32 seq = READ_ONCE(t->seq);

	ldb_stamp_all(t, page);
	ldb_order_page_publish(&t->page, page);
	ldb_order_page_then_seq();
	if (READ_ONCE(t->seq) == seq && seq != LDB_SEQ_UNKNOWN)
		cmpxchg(&page->k_seq, 0, seq);
}

static void attach(struct ldb_thread *t, struct ldb_page *page, const struct ldb_reg *reg)
{
	t->tls = reg->tls;
	t->block = reg->block;
	WRITE_ONCE(t->page_nr, reg->slot + 1);
	t->s->slots[reg->slot] = t;
	WRITE_ONCE(t->s->nr_registered, t->s->nr_registered + 1);
	WRITE_ONCE(page->k_slot_gen, READ_ONCE(page->k_slot_gen) + 1);
	publish(t, page);
	if (t->task == current)
		refresh(NULL);
}

/*
 * Detaches the page of the slot from its thread, and the page of t, if any, from t.  Returns true if
 * a probe may still be stamping one of these pages.
 */
static bool release_page(struct ldb_session *s, struct ldb_thread *t, u32 slot)
{
	struct ldb_thread *old = s->slots[slot];
	bool foreign = false;

	if (old) {
		foreign = old->task != current;
		detach_page(old);
	}
	if (t && t->page) {
		foreign |= t->task != current;
		detach_page(t);
	}
	return foreign;
}

/*
 * Clears a detached page once more after a grace period, when no probe can be stamping it any more.
 * Meanwhile ldb_file.lock prevents others from using the slot.
 */
static void clear_later(struct ldb_session *s, u32 slot)
{
	unsigned long flags;

	synchronize_rcu();
	raw_spin_lock_irqsave(&ldb_threads_lock, flags);
	if (!s->slots[slot])
		ldb_stamp_clear(ldb_memory_thread_page(s, slot));
	raw_spin_unlock_irqrestore(&ldb_threads_lock, flags);
}

static struct task_struct *get_member(struct ldb_session *s, u32 tid)
{
	struct task_struct *p;

	rcu_read_lock();
	p = pid_task(find_vpid(tid), PIDTYPE_PID);
	if (p && p->signal == s->signal)
		get_task_struct(p);
	else
		p = NULL;
	rcu_read_unlock();
	return p;
}

static int register_task(struct ldb_session *s, struct task_struct *p, struct ldb_page *page,
			 const struct ldb_reg *reg)
{
	struct ldb_thread *t;
	unsigned long flags;
	int rc = 0, cpu = -1;
	bool wait;

	raw_spin_lock_irqsave(&ldb_threads_lock, flags);
	t = ldb_thread_find(p);
	wait = release_page(s, t, reg->slot);
	raw_spin_unlock_irqrestore(&ldb_threads_lock, flags);
	if (wait)
		clear_later(s, reg->slot);

	raw_spin_lock_irqsave(&ldb_threads_lock, flags);
	t = ldb_thread_find(p);
	/* The probe that removes the page runs after PF_EXITING is set, and takes the same lock. */
	if (!t || t->s != s || READ_ONCE(p->flags) & PF_EXITING)
		rc = -ESRCH;
	else
		attach(t, page, reg);
	if (!rc && p != current && ldb_on_cpu(p))
		cpu = task_cpu(p);
	raw_spin_unlock_irqrestore(&ldb_threads_lock, flags);
	/*
	 * Interrupts the thread's CPU, because the thread may run for a long time without a switch.
	 */
	if (cpu >= 0 && !ldb_cpu_is_isolated(cpu))
		smp_call_function_single(cpu, refresh, NULL, 1);
	return rc;
}

/* Called with ldb_file.lock held, so a thread can only lose the slot meanwhile, by its exit. */
int ldb_thread_register(struct ldb_session *s, struct ldb_reg *reg)
{
	struct ldb_page *page;
	struct task_struct *p;
	int rc;

	if (reg->pad || reg->slot >= s->info.max_threads || reg->block > U16_MAX)
		return -EINVAL;
	reg->slot = array_index_nospec(reg->slot, s->info.max_threads);
	if (reg->tls && !access_ok((void __user *)reg->tls, sizeof(struct ldb_user_block)))
		return -EINVAL;
	page = ldb_memory_thread_page(s, reg->slot);
	if (!page)
		return -ENOMEM;
	p = get_member(s, reg->tid);
	if (!p)
		return -ESRCH;
	rc = register_task(s, p, page, reg);
	put_task_struct(p);
	return rc;
}

int ldb_thread_unregister(struct ldb_session *s, u32 tid)
{
	struct task_struct *p = get_member(s, tid);
	struct ldb_thread *t;
	unsigned long flags;
	u32 slot = 0;
	bool wait = false;
	int rc = -ESRCH;

	if (!p)
		return -ESRCH;
	raw_spin_lock_irqsave(&ldb_threads_lock, flags);
	t = ldb_thread_find(p);
	if (t && t->s == s && t->page) {
		slot = t->page_nr - 1;
		wait = release_page(s, t, slot);
		rc = 0;
	}
	raw_spin_unlock_irqrestore(&ldb_threads_lock, flags);
	if (wait)
		clear_later(s, slot);
	put_task_struct(p);
	return rc;
}

/*
 * Called when a pause ends: called_at may be that of an earlier system call than the thread is in
 * now.
 */
void ldb_threads_forget_calls(struct ldb_session *s)
{
	struct ldb_thread *t;

	raw_spin_lock_irq(&ldb_threads_lock);
	list_for_each_entry(t, &s->threads, list)
		WRITE_ONCE(t->called_at, 0);
	raw_spin_unlock_irq(&ldb_threads_lock);
}
