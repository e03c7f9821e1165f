// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers the probes that sessions need, and unregisters those that no session has needed for some
 * time.
 *
 * Unregistering waits for grace periods, which can take seconds, and must not delay the exit of a
 * killed program, in which release() may run.  So a work item does this.  It holds no reference to
 * the module; the module's exit waits for it.
 */
#include <linux/binfmts.h>
#include <linux/capability.h>
#include <linux/interrupt.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>
#include <trace/events/syscalls.h>
#include <trace/events/task.h>
#include "probes.h"
#if LDB_HAVE_DISKS
#include <trace/events/block.h>
#endif
#if LDB_HAVE_PAGE_FAULTS
#include LDB_PAGE_FAULT_EVENTS
#endif
#ifdef LDB_CPU_TIMER_EVENTS
#include LDB_CPU_TIMER_EVENTS
#endif

#define ALWAYS	0	/* the probes that every session needs */

struct probe {
	const char	*name;
	void		*fn;
	u32		group;		/* one of LDB_GROUP_*, or ALWAYS */
	bool		optional;	/* its group is useful even without this probe */
	struct tracepoint *tp;
	bool		armed;
};

#define PROBE(event, group, fn)		{ #event, fn, group, false }
#define OPTIONAL(event, group, fn)	{ #event, fn, group, true }
static struct probe probes[] = {
	PROBE(sched_switch, ALWAYS, ldb_probe_switch),
	PROBE(sched_process_fork, ALWAYS, ldb_probe_fork),
	PROBE(sched_process_exec, ALWAYS, ldb_probe_exec),
	PROBE(sched_process_exit, ALWAYS, ldb_probe_exit),
	/* always needed, because the counts of threads that wait for a CPU depend on it */
	PROBE(sched_migrate_task, ALWAYS, ldb_probe_migrate),
	PROBE(sched_waking, LDB_GROUP_SCHED, ldb_probe_waking),
	PROBE(sched_wakeup, LDB_GROUP_SCHED, ldb_probe_wakeup),
	PROBE(sched_wakeup_new, LDB_GROUP_SCHED, ldb_probe_wakeup_new),
	PROBE(task_rename, LDB_GROUP_SCHED, ldb_probe_rename),
#if LDB_HAVE_PAGE_FAULTS
	PROBE(page_fault_user, LDB_GROUP_FAULT, ldb_probe_fault_user),
	OPTIONAL(page_fault_kernel, LDB_GROUP_FAULT, ldb_probe_fault_kernel),
#endif
	PROBE(sys_enter, LDB_GROUP_CALL_ALL, ldb_probe_sys_enter),
	PROBE(sys_exit, LDB_GROUP_CALL_ALL, ldb_probe_sys_exit),
#if LDB_HAVE_DISKS
	PROBE(block_bio_queue, LDB_GROUP_DISK, ldb_probe_bio_queue),
	PROBE(block_bio_complete, LDB_GROUP_DISK, ldb_probe_bio_complete),
	PROBE(block_rq_complete, LDB_GROUP_DISK, ldb_probe_rq_complete),
#endif
	PROBE(irq_handler_entry, LDB_GROUP_IRQ, ldb_probe_irq_entry),
	PROBE(irq_handler_exit, LDB_GROUP_IRQ, ldb_probe_irq_exit),
	PROBE(softirq_entry, LDB_GROUP_IRQ, ldb_probe_softirq_entry),
	PROBE(softirq_exit, LDB_GROUP_IRQ, ldb_probe_softirq_exit),
#ifdef LDB_CPU_TIMER_EVENTS
	OPTIONAL(local_timer_entry, LDB_GROUP_IRQ, ldb_probe_timer_entry),
	OPTIONAL(local_timer_exit, LDB_GROUP_IRQ, ldb_probe_timer_exit),
#endif
};

/*
 * The queue for work that may take long: unregistering probes, and freeing sessions.  main.c creates
 * and destroys it.
 */
struct workqueue_struct *ldb_wq;

#define NR_GROUPS	8
DEFINE_MUTEX(ldb_arm_mutex);		/* protects `armed` of each probe, and armed_futex */
static atomic_t nr_sessions, nr_group[NR_GROUPS];
static u32 available = LDB_GROUP_ALL;
static bool armed_futex;

/* Makes the compiler check the types of probes, which tracepoint_probe_register() does not do. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_switch(ldb_probe_switch);
	check_trace_callback_type_sched_process_fork(ldb_probe_fork);
	check_trace_callback_type_sched_process_exec(ldb_probe_exec);
	check_trace_callback_type_sched_process_exit(ldb_probe_exit);
	check_trace_callback_type_sched_waking(ldb_probe_waking);
	check_trace_callback_type_sched_wakeup(ldb_probe_wakeup);
	check_trace_callback_type_sched_wakeup_new(ldb_probe_wakeup_new);
	check_trace_callback_type_sched_migrate_task(ldb_probe_migrate);
	check_trace_callback_type_task_rename(ldb_probe_rename);
	check_trace_callback_type_sys_enter(ldb_probe_sys_enter);
	check_trace_callback_type_sys_exit(ldb_probe_sys_exit);
	check_trace_callback_type_irq_handler_entry(ldb_probe_irq_entry);
	check_trace_callback_type_irq_handler_exit(ldb_probe_irq_exit);
	check_trace_callback_type_softirq_entry(ldb_probe_softirq_entry);
	check_trace_callback_type_softirq_exit(ldb_probe_softirq_exit);
#if LDB_HAVE_DISKS
	check_trace_callback_type_block_bio_queue(ldb_probe_bio_queue);
	check_trace_callback_type_block_bio_complete(ldb_probe_bio_complete);
	check_trace_callback_type_block_rq_complete(ldb_probe_rq_complete);
#endif
#if LDB_HAVE_PAGE_FAULTS
	check_trace_callback_type_page_fault_user(ldb_probe_fault_user);
	check_trace_callback_type_page_fault_kernel(ldb_probe_fault_kernel);
#endif
#ifdef LDB_CPU_TIMER_EVENTS
	check_trace_callback_type_local_timer_entry(ldb_probe_timer_entry);
	check_trace_callback_type_local_timer_exit(ldb_probe_timer_exit);
#endif
}

static atomic_t *nr_of(u32 group)
{
	return group == ALWAYS ? &nr_sessions : &nr_group[ilog2(group)];
}

static bool wanted(const struct probe *p)
{
	return p->tp && atomic_read(nr_of(p->group));
}

/*
 * Patching a tracepoint or function interrupts every CPU several times, also isolated ones.  On a
 * machine with isolated CPUs, only a user who may observe the whole machine may cause this, unless
 * arm_isolated is set.
 */
static bool may_interrupt(void)
{
	unsigned int cpu;

	if (ldb_arm_isolated || perfmon_capable())
		return true;
	for_each_online_cpu(cpu)
		if (ldb_cpu_is_isolated(cpu))
			return false;
	return true;
}

static bool is_complete(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!probes[i].armed && wanted(&probes[i]))
			return false;
	return armed_futex || !atomic_read(nr_of(LDB_GROUP_FUTEX));
}

static int arm(void)
{
	unsigned int i;
	int rc;

	lockdep_assert_held(&ldb_arm_mutex);
	if (is_complete())
		return 0;
	if (!may_interrupt())
		return -EPERM;
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		struct probe *p = &probes[i];

		if (p->armed || !wanted(p))
			continue;
		rc = tracepoint_probe_register(p->tp, p->fn, NULL);
		if (rc)
			return rc;
		p->armed = true;
	}
	/* If this fails, the other groups of events still work. */
	if (!armed_futex && atomic_read(nr_of(LDB_GROUP_FUTEX)))
		armed_futex = !ldb_futex_arm();
	return 0;
}

static void disarm(void)
{
	unsigned int i, cpu;
	bool any = false;

	lockdep_assert_held(&ldb_arm_mutex);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		struct probe *p = &probes[i];

		if (!p->armed || wanted(p))
			continue;
		tracepoint_probe_unregister(p->tp, p->fn, NULL);
		p->armed = false;
		any = true;
	}
	if (any)
		tracepoint_synchronize_unregister();
	if (any && !atomic_read(nr_of(LDB_GROUP_IRQ)))
		ldb_irq_forget();
	/* curr is not updated any more, and would become a dangling pointer. */
	if (!probes[0].armed)
		for_each_possible_cpu(cpu)
			WRITE_ONCE(per_cpu_ptr(&ldb_cpu, cpu)->curr, NULL);
	if (armed_futex && !atomic_read(nr_of(LDB_GROUP_FUTEX))) {
		ldb_futex_disarm();
		armed_futex = false;
	}
}

static void disarm_work_fn(struct work_struct *work)
{
	mutex_lock(&ldb_arm_mutex);
	disarm();
	mutex_unlock(&ldb_arm_mutex);
}

static DECLARE_DELAYED_WORK(disarm_work, disarm_work_fn);

static void count(u32 events, int n)
{
	u32 group;

	atomic_add(n, &nr_sessions);
	for (group = 1; group & LDB_GROUP_ALL; group <<= 1)
		if (events & group)
			atomic_add(n, nr_of(group));
}

/*
 * Registers the probes of the groups *events for a session, and removes groups that will not be
 * delivered from *events: futex events are not delivered while ftrace is switched off.  May wait
 * until other probes have been unregistered.
 */
int ldb_probes_get(u32 *events)
{
	int rc;

	count(*events, 1);
	rc = mutex_lock_killable(&ldb_arm_mutex);
	if (rc)
		goto err_count;
	rc = arm();
	if (!rc && *events & LDB_GROUP_FUTEX && !(armed_futex && ldb_futex_delivers())) {
		atomic_dec(nr_of(LDB_GROUP_FUTEX));
		*events &= ~LDB_GROUP_FUTEX;
	}
	mutex_unlock(&ldb_arm_mutex);
	if (!rc)
		return 0;

err_count:
	ldb_probes_put(*events);
	return rc;
}

void ldb_probes_put(u32 events)
{
	count(events, -1);
	mod_delayed_work(ldb_wq, &disarm_work, msecs_to_jiffies(ldb_disarm_delay_ms));
}

static void find(struct tracepoint *tp, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tp->name, probes[i].name))
			probes[i].tp = tp;
}

/*
 * Returns true if the module can work without this probe's tracepoint.  A group that needs the
 * tracepoint is then not available.
 */
static bool can_miss(const struct probe *p)
{
	if (p->optional)
		return true;
	if (!(p->group & (LDB_GROUP_FAULT | LDB_GROUP_IRQ | LDB_GROUP_CALL_ALL |
			  LDB_GROUP_DISK)))
		return false;
	available &= ~p->group;
	return true;
}

int ldb_probes_init(void)
{
	unsigned int i;

	BUILD_BUG_ON(LDB_GROUP_ALL != (1 << NR_GROUPS) - 1);
	for_each_kernel_tracepoint(find, NULL);
	if (!LDB_HAVE_PAGE_FAULTS)
		available &= ~LDB_GROUP_FAULT;
	if (!LDB_HAVE_DISKS)
		available &= ~LDB_GROUP_DISK;
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		if (probes[i].tp || can_miss(&probes[i]))
			continue;
		pr_err("ldb: this kernel has no tracepoint %s\n", probes[i].name);
		return -ENODEV;
	}
	return 0;
}

/* Returns the LDB_GROUP_* that this kernel can deliver. */
u32 ldb_probes_available(void)
{
	return ldb_futex_usable() ? available : available & ~LDB_GROUP_FUTEX;
}

/* Called when no session is left. */
void ldb_probes_exit(void)
{
	cancel_delayed_work_sync(&disarm_work);
	mutex_lock(&ldb_arm_mutex);
	disarm();
	mutex_unlock(&ldb_arm_mutex);
}
