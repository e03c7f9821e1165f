// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes ldb's own threads yield to the program's: at SCHED_IDLE they get hardly any CPU time while
 * other tasks need their CPU, and a task that wakes up preempts them at once.  (raw thread)
 *
 * Sometimes a thread of the program waits for a thread of ldb: for a scanner that reads a stack
 * which is about to be unmapped, for the end of all of ldb's threads before the program changes its
 * credentials or privileges, or for a lock.  On a machine without an idle CPU, ldb's threads might
 * not run for seconds.  So the thread that waits raises their priority, and they lower it again
 * when no thread can wait for them any more.  Raising a priority needs CAP_SYS_NICE or RLIMIT_NICE.
 * ldb's threads have no capabilities, so the program's threads must have one of these.  If they do
 * not, or if a seccomp filter might kill the program for one more system call, the priority is
 * never lowered.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include "runtime.h"

#define NICE_BASE	20	/* the system call getpriority() and RLIMIT_NICE use 20 - nice */
#define SLICE_NS	100000	/* the shortest slice that the kernel allows */

DORMANT_PAGE static bool may_lower;

/*
 * Returns true if the nice value may be lowered.  If RLIMIT_NICE does not permit it, this is tested
 * by lowering the value by one and restoring it.
 */
static bool may_be_nicer(void)
{
	long now = sys(SYS_getpriority, PRIO_PROCESS, 0);
	struct rlimit limit = { 0, 0 };

	if (now < 0)
		return false;
	if (!sys(SYS_prlimit64, 0, RLIMIT_NICE, 0, &limit) && limit.rlim_cur >= (unsigned long)now)
		return true;
	/*
	 * Tests by an attempt whether the thread's capability suffices, because CAP_SYS_NICE in a
	 * user namespace does not.
	 */
	if (now >= 2 * NICE_BASE || sys(SYS_setpriority, PRIO_PROCESS, 0, NICE_BASE - now - 1))
		return false;
	sys(SYS_setpriority, PRIO_PROCESS, 0, NICE_BASE - now);
	return true;
}

/*
 * Returns the number in the line of this key ("\nKEY:\t") of a thread's status; 0: it has no such
 * line; -errno, which is -ENOENT if the thread has ended.  The line before it may be longer than
 * any buffer.
 */
static long status_number(uint32_t tid, const char *key)
{
	long fd = raw_task_open(tid, "status"), n, number = 0;
	bool is_over = false;
	char part[512];
	size_t found = 0;

	if (fd < 0)
		return fd;
	while (!is_over && (n = sys(SYS_read, fd, part, sizeof(part))) > 0)
		for (long i = 0; i < n && !is_over; i++) {
			if (key[found])
				found = part[i] == key[found] ? found + 1 : part[i] == key[0];
			else if (part[i] >= '0' && part[i] <= '9')
				number = number * 10 + (part[i] - '0');
			else
				is_over = true;
		}
	sys(SYS_close, fd);
	return number;
}

struct filters {
	const char *key;
	long wanted;
	bool differ;
};

/*
 * Returns false, which ends the search, if the thread has another number, or if its number is not
 * known.
 */
static bool has_number(void *arg, const char *tid, long dir)
{
	struct filters *f = arg;
	long nr = status_number(raw_number(tid), f->key);

	(void)dir;
	f->differ = nr != f->wanted && nr != -ENOENT;
	return !f->differ;
}

static bool any_differs(const char *key, long wanted)
{
	struct filters f = { key, wanted, false };

	return raw_each_entry("/proc/self/task", has_number, &f) || f.differ;
}

/*
 * Returns true if any thread of the program may be under a seccomp filter.  Any thread may be the
 * one that waits for ldb's threads, and one more system call may kill it.  A filter that is
 * installed later ends the session (privilege.c); a thread that is created later has its creator's
 * filter.
 */
bool priority_any_filter(void)
{
	return any_differs("\nSeccomp:\t", 0);
}

bool priority_filters_differ(void)
{
	static const char key[] = "\nSeccomp_filters:\t";
	long own = status_number(sys(SYS_gettid), key);

	return own < 0 || any_differs(key, own);
}

bool priority_find(void)
{
	may_lower = may_be_nicer() && !priority_any_filter();
	return may_lower;
}

/* The first version of struct sched_attr, which not every libc declares. */
struct policy {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/*
 * A thread at SCHED_IDLE has a weight of 3, where a normal thread has 1,024, and sched_yield()
 * gives up the rest of its slice.  If many threads run, it may then wait for seconds with a slice
 * of the usual length, but for at most a quarter of a second with one of SLICE_NS.  Kernels before
 * 6.12 ignore this setting; it remains when the policy is changed.
 */
static void ask_short_slice(void)
{
	struct policy p = { .size = sizeof(p) };

	if (sys(SYS_sched_getattr, 0, &p, sizeof(p), 0) || p.policy != SCHED_OTHER)
		return;
	p.runtime = SLICE_NS;
	sys(SYS_sched_setattr, 0, &p, 0);
}

void priority_give_way(struct raw_thread *t)
{
	struct sched_param none = { 0 };

	if (!order_any_load(&t->is_raised))
		return;
	atomic_store(&t->is_raised, 0);
	if (!may_lower)
		return;
	ask_short_slice();
	sys(SYS_sched_setscheduler, 0, SCHED_IDLE, &none);
}

/*
 * A task that wakes preempts a thread at SCHED_IDLE at once, but a task that is already waiting in
 * the run queue does not: the thread would stay on the CPU until the next tick.  So it yields.
 */
void priority_rest(const struct raw_thread *t)
{
	if (may_lower && !order_any_load(&t->is_raised))
		sys(SYS_sched_yield);
}

void priority_raise(struct raw_thread *t)
{
	uint32_t tid = atomic_load(&t->tid);
	struct sched_param none = { 0 };

	if (!may_lower || !tid)
		return;
	/* is_raised is set last, so that the thread lowers its priority again after this change. */
	sys(SYS_sched_setscheduler, tid, SCHED_OTHER, &none);
	atomic_store(&t->is_raised, 1);
}
