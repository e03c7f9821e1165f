// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Limits the use of the machine by one user: the number of sessions at a time, the rate of new
 * sessions, and the memory that is never swapped.  The sessions of all users have a limit, too.
 *
 * Each user has an account.  Because a user namespace can map any number of users, all its users
 * share one account: that of the owner of the outermost such namespace; or, if root owns it, a
 * separate account for the namespace.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include "ldb_internal.h"

struct ldb_account {
	struct list_head list;		/* entry in accounts; protected by ldb_sessions_mutex */
	kuid_t		uid;
	/* only compared, never dereferenced */
	const struct user_namespace *ns;
	unsigned int	nr;		/* sessions */
	unsigned long	due;		/* jiffies: when a whole burst is allowed again */
};

DEFINE_MUTEX(ldb_sessions_mutex);	/* protects the accounts, and the list ldb_bound */
static LIST_HEAD(accounts);
static unsigned int nr_sessions;	/* protected by ldb_sessions_mutex */
static atomic_t nr_ending;		/* sessions that are released, but not freed yet */
static unsigned int nr_ended;
static DECLARE_WAIT_QUEUE_HEAD(ended);

static void key_of(const struct cred *cred, struct ldb_account *key)
{
	const struct user_namespace *ns = cred->user_ns;

	key->uid = cred->uid;
	key->ns = NULL;
	if (ns == &init_user_ns)
		return;
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	key->uid = ns->owner;
	if (uid_eq(ns->owner, GLOBAL_ROOT_UID))
		key->ns = ns;
}

/*
 * Finds or creates the account of a user, and frees accounts that are not needed.  Returns NULL if
 * there is no memory.
 */
static struct ldb_account *find_account(const struct ldb_account *key)
{
	struct ldb_account *a, *next, *found = NULL;

	lockdep_assert_held(&ldb_sessions_mutex);
	list_for_each_entry_safe(a, next, &accounts, list) {
		if (uid_eq(a->uid, key->uid) && a->ns == key->ns) {
			found = a;
		} else if (!a->nr && time_after_eq(jiffies, a->due)) {
			list_del(&a->list);
			kfree(a);
		}
	}
	if (found)
		return found;
	a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT | __GFP_NORETRY);
	if (!a)
		return NULL;
	a->uid = key->uid;
	a->ns = key->ns;
	a->due = jiffies;
	list_add(&a->list, &accounts);
	return a;
}

static int try_enter(struct ldb_session *s)
{
	struct ldb_account key, *a;
	int rc = -EDQUOT;

	key_of(s->cred, &key);
	mutex_lock(&ldb_sessions_mutex);
	a = find_account(&key);
	if (!a) {
		rc = -ENOMEM;
	} else if (nr_sessions < ldb_max_sessions &&
		   (a->nr < ldb_max_user_sessions || capable(CAP_SYS_RESOURCE))) {
		nr_sessions++;
		a->nr++;
		s->account = a;
		rc = 0;
	}
	mutex_unlock(&ldb_sessions_mutex);
	return rc;
}

/*
 * Counts a session.  If there are too many, waits while others are ending, because a session counts
 * until its memory is freed.
 */
static int enter(struct ldb_session *s)
{
	unsigned int seen;
	int rc;

	do {
		seen = READ_ONCE(nr_ended);
		rc = try_enter(s);
		if (rc != -EDQUOT || !atomic_read(&nr_ending))
			return rc;
	} while (wait_event_killable_timeout(ended, READ_ONCE(nr_ended) != seen, HZ) > 0);
	return fatal_signal_pending(current) ? -EINTR : rc;
}

/*
 * Creating and ending sessions slows down other programs, because TLBs are flushed.  So after a burst
 * of max_user_sessions, a user without CAP_SYS_RESOURCE can create at most max_user_rate sessions in
 * a second, and has to wait for more.
 */
static int wait_for_rate(struct ldb_account *a)
{
	unsigned long interval, burst, ahead;

	if (!ldb_max_user_rate || capable(CAP_SYS_RESOURCE))
		return 0;
	interval = max(HZ / ldb_max_user_rate, 1U);
	burst = (unsigned long)ldb_max_user_sessions * interval;
	mutex_lock(&ldb_sessions_mutex);
	if (time_before(a->due, jiffies))
		a->due = jiffies;
	a->due += interval;
	ahead = a->due - jiffies;
	mutex_unlock(&ldb_sessions_mutex);
	if (ahead > burst && schedule_timeout_killable(ahead - burst))
		return -EINTR;
	return 0;
}

/*
 * Called by the session's creator.  ldb_limits_leave() must be called later, also after a failure.
 */
int ldb_limits_enter(struct ldb_session *s)
{
	int rc = enter(s);

	return rc ? rc : wait_for_rate(s->account);
}

/*
 * Charges memory by the rule of perf_event_open(2)'s buffers: each user has some memory for each CPU,
 * and the rest is charged to RLIMIT_MEMLOCK.
 */
int ldb_limits_charge(struct ldb_session *s, unsigned long nr)
{
	unsigned long for_free = (ldb_mlock_kb >> (PAGE_SHIFT - 10)) * num_online_cpus();
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT, locked, extra = 0;

	s->user = get_uid(current_user());
	locked = atomic_long_add_return(nr, &s->user->locked_vm);
	if (locked > for_free)
		extra = min(locked - for_free, nr);
	atomic_long_sub(extra, &s->user->locked_vm);
	s->nr_locked = nr - extra;
	s->nr_pinned = extra;
	if (atomic64_add_return(extra, &s->creator->pinned_vm) > limit && extra &&
	    !capable(CAP_IPC_LOCK))
		return -ENOMEM;
	return 0;
}

/* Notes that the end of a session has begun, because creators of other sessions may wait for it. */
void ldb_limits_leaving(struct ldb_session *s)
{
	atomic_inc(&nr_ending);
	s->leaving = true;
}

/*
 * Called after the session's memory was freed: no longer charges it to the user, and wakes creators
 * that wait for the end of a session.
 */
void ldb_limits_leave(struct ldb_session *s)
{
	if (s->user) {
		atomic_long_sub(s->nr_locked, &s->user->locked_vm);
		atomic64_sub(s->nr_pinned, &s->creator->pinned_vm);
		free_uid(s->user);
	}
	if (s->account) {
		mutex_lock(&ldb_sessions_mutex);
		s->account->nr--;
		nr_sessions--;
		mutex_unlock(&ldb_sessions_mutex);
	}
	if (s->leaving)
		atomic_dec(&nr_ending);
	WRITE_ONCE(nr_ended, nr_ended + 1);
	wake_up_all(&ended);
}

void ldb_limits_exit(void)
{
	struct ldb_account *a, *next;

	list_for_each_entry_safe(a, next, &accounts, list)
		kfree(a);
}
