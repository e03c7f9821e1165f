// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Manages sessions: the recorder creates them, they are bound to a thread group, and they end with
 * the file's last descriptor and mapping.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/math64.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "event.h"

static void wake_reader(struct irq_work *work)
{
	wake_up_interruptible(&container_of(work, struct ldb_session, wake)->wait);
}

static int check(const struct ldb_create *c)
{
	if (c->size != sizeof(*c) || c->flags & ~LDB_CREATE_F_SPLIT || c->pad || c->pid < 0 ||
	    c->events & ~LDB_GROUP_ALL)
		return -EINVAL;
	if (c->ring_order < 8 || c->ring_order > 20 || c->nr_scanners > LDB_MAX_SCANNERS ||
	    c->max_threads < 1 || c->max_threads > 4096)
		return -EINVAL;
	if (c->nr_scanners && (c->scan_ring_order < 8 || c->scan_ring_order > 24))
		return -EINVAL;
	if (c->clock_id > LDB_CLOCK_MONO || !ldb_clock_choose(c->clock_id))
		return -EINVAL;
	if (c->pid && !perfmon_capable())
		return -EPERM;
	return 0;
}

/*
 * Subtracts the session's threads from each CPU's `arrived` count, because no probe does this after
 * the end of the session.
 */
static void forget_arrived(struct ldb_session *s)
{
	unsigned int cpu;

	if (!s->cpu)
		return;
	for_each_possible_cpu(cpu)
		atomic_sub(atomic_read(&per_cpu_ptr(s->cpu, cpu)->arrived),
			   &per_cpu(ldb_cpu, cpu).arrived);
}

static void free_session(struct ldb_session *s)
{
	forget_arrived(s);
	irq_work_sync(&s->wake);
	ldb_memory_free(s);
	ldb_limits_leave(s);
	if (s->task)
		put_task_struct(s->task);
	if (s->ns)
		put_pid_ns(s->ns);
	if (s->mm)
		mmdrop(s->mm);
	if (s->creator)
		mmdrop(s->creator);
	put_cred(s->cred);
	kvfree(s);
}

static void free_work(struct work_struct *work)
{
	free_session(container_of(to_rcu_work(work), struct ldb_session, free));
}

/*
 * Sets the filter's bits of all observed thread groups.  Other groups may share a bit, so if it is
 * set, the table of threads must be searched.
 */
static void filter_update(void)
{
	struct ldb_session *s;
	u64 filter = 0;

	lockdep_assert_held(&ldb_sessions_mutex);
	list_for_each_entry(s, &ldb_bound, bound)
		filter |= BIT_ULL(s->tgid & 63);
	WRITE_ONCE(ldb_hot.filter, filter);
}

/* Observes the thread group of p, from the next event of each of its threads. */
static int add_threads(struct ldb_session *s, struct task_struct *p)
{
	struct task_struct *t;
	int rc = 0;

	rcu_read_lock();
	for_each_thread(p, t) {
		struct ldb_thread *gone;

		rc = ldb_thread_add(s, t, LDB_SEQ_UNKNOWN);
		if (rc)
			break;
		/*
		 * From the thread's next event on, its CPU finds it in the table.  The same holds
		 * for the thread's children, which may have been added to the list after this loop
		 * passed its end.  If the thread has made its last switch already, no probe will
		 * remove it from the table, and its task will be freed.  Its state is then
		 * TASK_DEAD, and it is removed here.
		 */
		ldb_gen_bump();
		ldb_order_gen_then_state();
		if (READ_ONCE(t->__state) != TASK_DEAD)
			continue;
		preempt_disable();
		gone = ldb_thread_find(t);
		if (gone)
			ldb_thread_remove(gone);
		preempt_enable();
	}
	rcu_read_unlock();
	return rc;
}

/*
 * Writes the names of all threads, and finds out which of them are asleep; does so without
 * ldb_threads_lock, which would block the scheduler.
 */
static void introduce_threads(struct ldb_session *s)
{
	struct task_struct *p;
	struct ldb_thread *t;

	rcu_read_lock();
	for_each_thread(s->task, p) {
		preempt_disable();
		t = ldb_thread_find(p);
		if (t && t->s == s) {
			ldb_thread_settle(t);
			ldb_introduce_thread(t, ldb_clock_now(s->clock));
		}
		preempt_enable();
	}
	rcu_read_unlock();
}

/*
 * Threads are removed first, so that a new task at the address of a dead one is not mistaken for
 * it.
 */
static void unbind(struct ldb_session *s)
{
	ldb_threads_remove_all(s);
	mutex_lock(&ldb_sessions_mutex);
	list_del_rcu(&s->bound);
	filter_update();
	mutex_unlock(&ldb_sessions_mutex);
}

static int list_bound(struct ldb_session *s)
{
	struct ldb_session *other;
	int rc = 0;

	mutex_lock(&ldb_sessions_mutex);
	list_for_each_entry(other, &ldb_bound, bound)
		if (other->signal == s->signal && !READ_ONCE(other->dead))
			rc = -EEXIST;
	if (!rc) {
		list_add_rcu(&s->bound, &ldb_bound);
		filter_update();
	}
	mutex_unlock(&ldb_sessions_mutex);
	return rc;
}

/* Binds a session to the thread group of p, which may be any thread of the group. */
static int bind(struct ldb_session *s, struct task_struct *p)
{
	struct pid_namespace *ns;
	int rc;

	s->task = get_task_struct(p);
	s->signal = p->signal;
	s->tgid = p->tgid;
	s->over = false;	/* it may have been set by a failed attempt */
	rcu_read_lock();
	ns = task_active_pid_ns(p);
	if (ns && ns != &init_pid_ns)
		s->ns = get_pid_ns(ns);
	rcu_read_unlock();
	rc = list_bound(s);
	if (rc)
		goto err_task;
	rc = add_threads(s, p);
	/* The last thread may have exited before the probe could find it in the table. */
	ldb_order_threads_then_live();
	if (!rc && !atomic_read(&s->signal->live))
		rc = -ESRCH;
	if (rc)
		goto err_unbind;
	ldb_threads_refresh(s);
	introduce_threads(s);
	return 0;

err_unbind:
	unbind(s);
	/*
	 * Waits for probes before the list entry is reused: otherwise a probe that is at this entry
	 * might follow the wrong list for ever.
	 */
	synchronize_rcu();
	INIT_LIST_HEAD(&s->bound);
err_task:
	if (s->ns)
		put_pid_ns(s->ns);
	s->ns = NULL;
	put_task_struct(s->task);
	s->task = NULL;
	return rc;
}

static int bind_pid(struct ldb_session *s, pid_t nr)
{
	struct pid *pid = find_get_pid(nr);
	struct task_struct *p = get_pid_task(pid, PIDTYPE_TGID);
	int rc;

	put_pid(pid);
	if (!p)
		return -ESRCH;
	rc = p->flags & PF_KTHREAD ? -EINVAL : bind(s, p);
	put_task_struct(p);
	return rc;
}

/* Removes a group that not every user may record: its tracepoints slow down every program. */
static u32 permitted(u32 events)
{
	return perfmon_capable() ? events : events & ~LDB_GROUP_CALL_ALL;
}

static struct ldb_session *new_session(struct ldb_create *c)
{
	struct ldb_session *s = kvzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT | __GFP_NORETRY);
	int rc;

	if (!s)
		return ERR_PTR(-ENOMEM);
	s->events = permitted(c->events) & ldb_probes_available();
	s->clock = ldb_clock_choose(c->clock_id);
	s->irq_min = mul_u64_u32_div(ldb_clock_hz(s->clock), ldb_irq_min_ns, NSEC_PER_SEC);
	s->fast = s->clock == LDB_CLOCK_TSC && s->events & LDB_GROUP_SCHED;
	s->sees_others = perfmon_capable();
	s->cred = get_current_cred();
	s->creator = current->mm;
	mmgrab(s->creator);
	mutex_init(&s->settings);
	INIT_LIST_HEAD(&s->threads);
	INIT_LIST_HEAD(&s->bound);
	init_waitqueue_head(&s->wait);
	init_irq_work(&s->wake, wake_reader);
	INIT_RCU_WORK(&s->free, free_work);
	s->info.clock_id = s->clock;
	s->info.tsc_hz = ldb_clock_hz(s->clock);
	rc = ldb_limits_enter(s);
	if (!rc)
		rc = ldb_memory_create(s, c);
	if (rc) {
		c->total_size = (u64)s->nr_pages << PAGE_SHIFT;
		free_session(s);
		return ERR_PTR(rc);
	}
	return s;
}

int ldb_session_create(struct ldb_file *f, struct ldb_create __user *arg)
{
	struct ldb_create c;
	struct ldb_session *s;
	int rc;

	lockdep_assert_held(&f->lock);
	if (f->s)
		return -EBUSY;
	if (copy_from_user(&c, arg, sizeof(c)))
		return -EFAULT;
	rc = check(&c);
	if (rc)
		return rc;
	s = new_session(&c);
	/* With ENOMEM, total_size includes the rings of kernel events even if they are separate. */
	if (PTR_ERR_OR_ZERO(s) == -ENOMEM && put_user(c.total_size, &arg->total_size))
		return -EFAULT;
	if (IS_ERR(s))
		return PTR_ERR(s);
	rc = ldb_probes_get(&s->events);
	if (rc)
		goto err_free;
	s->all_events = s->events;
	c.clock_id = s->clock;
	c.events = s->events;
	c.total_size = s->info.total_size;
	rc = c.pid ? bind_pid(s, c.pid) : 0;
	if (rc)
		goto err_put;
	if (copy_to_user(arg, &c, sizeof(c))) {
		ldb_session_release(s);
		return -EFAULT;
	}
	ldb_order_session_publish(&f->s, s);
	return 0;

err_put:
	ldb_probes_put(s->events);
err_free:
	free_session(s);
	return rc;
}

static bool may_ptrace(const struct ldb_session *s, struct user_namespace *ns)
{
	const struct cred *mine = override_creds(s->cred);
	bool may = ns_capable_noaudit(ns, CAP_SYS_PTRACE);

	revert_creds(mine);
	return may;
}

/*
 * Returns true if the session's creator has CAP_PERFMON, is the caller, or may ptrace the caller.
 * The caller has called JOIN itself, but may have been tricked into this.  The checks are those of
 * __ptrace_may_access(), which modules cannot call.
 */
static bool may_be_observed(const struct ldb_session *s)
{
	const struct cred *by = s->cred, *me = current_cred();

	if (s->sees_others || s->creator == current->mm)
		return true;
	if ((!uid_eq(by->uid, me->uid) || !uid_eq(by->uid, me->euid) ||
	     !uid_eq(by->uid, me->suid) || !gid_eq(by->gid, me->gid) ||
	     !gid_eq(by->gid, me->egid) || !gid_eq(by->gid, me->sgid)) &&
	    !may_ptrace(s, me->user_ns))
		return false;
	return get_dumpable(current->mm) == SUID_DUMP_USER ||
	       may_ptrace(s, current->mm->user_ns);
}

/* Called with ldb_file.lock held. */
int ldb_session_join(struct ldb_session *s)
{
	int rc;

	if (s->task)
		return -EBUSY;
	if (!may_be_observed(s))
		return -EPERM;
	/* s->mm must be set before bind(), because it makes exec() end the session. */
	mmgrab(current->mm);
	WRITE_ONCE(s->mm, current->mm);
	rc = bind(s, current);
	if (rc) {
		WRITE_ONCE(s->mm, NULL);
		mmdrop(current->mm);
	}
	return rc;
}

/* Called without the locks of struct ldb_file, so several calls may run at the same time. */
int ldb_session_calls(struct ldb_session *s, const struct ldb_calls __user *arg)
{
	struct ldb_calls *c;

	if (current->mm != s->creator)
		return -EPERM;
	c = memdup_user(arg, sizeof(*c));
	if (IS_ERR(c))
		return PTR_ERR(c);
	data_race(memcpy(s->calls, c->how, sizeof(s->calls)));	/* each value is valid */
	WRITE_ONCE(s->call_min, mul_u64_u64_div_u64(min_t(u64, c->min_ns, LDB_DURATION_MAX),
						    ldb_clock_hz(s->clock), NSEC_PER_SEC));
	kfree(c);
	return 0;
}

/*
 * Pauses the session or resumes it.  Called with ldb_file.pausing held.  Returns the groups that
 * cannot be delivered any more (LDB_GROUP_*), usually 0, or -errno.
 *
 * A paused session still follows which threads exist and which of them run, so the probes of
 * switches, migrations, forks, execs and exits stay registered.  All others are unregistered after
 * disarm_delay_ms if no other session needs them; until then they find that the session wants no
 * events.
 */
long ldb_session_pause(struct ldb_session *s, bool pause)
{
	u32 less = s->all_events & LDB_GROUP_PROCESS, had = READ_ONCE(s->events);
	u32 wanted = pause ? less : s->all_events;
	int rc;

	if (current->mm != s->creator)
		return -EPERM;
	if (wanted == had)
		return 0;
	rc = ldb_probes_get(&wanted);
	if (rc)
		return rc;
	if (!pause)
		ldb_threads_forget_calls(s);
	WRITE_ONCE(s->events, wanted);
	ldb_chain_choose_probe(s);
	ldb_probes_put(had);
	return pause ? 0 : s->all_events & ~wanted;
}

/*
 * Records the names of all threads, as when the session was bound.  Called with ldb_file.lock held.
 */
void ldb_session_introduce(struct ldb_session *s)
{
	if (s->task)
		introduce_threads(s);
}

/*
 * Called when no mapping and no open file is left, or when the creation failed at its end.  Does
 * not wait for long.
 */
void ldb_session_release(struct ldb_session *s)
{
	if (!list_empty(&s->bound))
		unbind(s);
	ldb_probes_put(s->events);
	ldb_limits_leaving(s);
	queue_rcu_work(ldb_wq, &s->free);
}

void ldb_session_stats(struct ldb_session *s, struct ldb_session_stats *out)
{
	unsigned int cpu;

	memset(out, 0, sizeof(*out));
	for_each_possible_cpu(cpu) {
		struct ldb_session_cpu *c = per_cpu_ptr(s->cpu, cpu);

		out->events += (local_read(&c->quarters) + 1) * ldb_quarter(c);
		out->events -= local_read(&c->left);
		out->hidden += local_read(&c->hidden);
		out->unreadable += local_read(&c->unreadable);
	}
	out->threads = READ_ONCE(s->nr_registered);
	out->dead = READ_ONCE(s->dead);
}
