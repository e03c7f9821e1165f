// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/run/giveway.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/process/proc.h"
#include "record/session/cpulist.h"

/* if the recorder has not run for this long, it runs once at normal priority */
#define STARVED_MS	100
/* if the recorder does not react within this time, the watcher raises it again */
#define ANSWER_NS	5000000
#define ANSWER_TRIES	40	/* how often at most */
#define SLICE_NS	100000	/* the shortest slice that the kernel allows */

struct giveway {
	pid_t tid;		/* the thread that records */
	int epoll_fd, stop_fd, sock;
	pthread_t watcher;
	bool is_low;
	_Atomic bool is_raised;	/* the watcher has raised the recorder since it was last lowered */
	_Atomic bool stop;
	_Atomic unsigned nr_turns;
};

static void set_policy(pid_t tid, int policy)
{
	struct sched_param none = { 0 };

	sched_setscheduler(tid, policy, &none);
}

/*
 * Asks the kernel for a short time slice, because a yield gives up the rest of the slice: see
 * libldb/runtime/priority.c.  The setting survives a change of policy; kernels before 6.12 ignore
 * it.
 */
static void ask_short_slice(void)
{
	struct policy {		/* struct sched_attr in its first version */
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} p = { .size = sizeof(p) };

	if (syscall(SYS_sched_getattr, 0, &p, sizeof(p), 0))
		return;
	p.runtime = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &p, 0);
}

/* Returns true if the priority can be raised again after it was lowered. */
static bool may_return(void)
{
	struct rlimit limit;
	int nice, ret;

	errno = 0;
	nice = getpriority(PRIO_PROCESS, 0);
	if (nice == -1 && errno)
		return false;
	if (!getrlimit(RLIMIT_NICE, &limit) && limit.rlim_cur >= (rlim_t)(20 - nice))
		return true;
	/*
	 * The process may have CAP_SYS_NICE only in a user namespace, where it does not suffice.
	 * So this lowers the nice value by one, and restores it.
	 */
	ret = nice > -20 ? setpriority(PRIO_PROCESS, 0, nice - 1) : -1;
	if (!ret)
		setpriority(PRIO_PROCESS, 0, nice);
	return !ret;
}

/* Excludes isolated and nohz_full CPUs, on which the user wants no interruptions. */
static void leave_isolated(void)
{
	uint8_t is_isolated[CPULIST_MAX] = { 0 };
	cpu_set_t *set = CPU_ALLOC(CPULIST_MAX);
	size_t size = CPU_ALLOC_SIZE(CPULIST_MAX);

	if (!set)
		return;
	cpulist_read("/sys/devices/system/cpu/isolated", is_isolated);
	cpulist_read("/sys/devices/system/cpu/nohz_full", is_isolated);
	if (!sched_getaffinity(0, size, set)) {
		for (unsigned cpu = 0; cpu < CPULIST_MAX; cpu++)
			if (is_isolated[cpu])
				CPU_CLR_S(cpu, size, set);
		if (CPU_COUNT_S(size, set))
			sched_setaffinity(0, size, set);
	}
	CPU_FREE(set);
}

/* The watcher */

/*
 * is_raised is set last: otherwise the recorder might clear it, lower its priority, and not notice
 * that the priority was then raised.
 */
static void raise_recorder(struct giveway *g)
{
	set_policy(g->tid, SCHED_OTHER);
	atomic_store(&g->is_raised, true);
}

/*
 * Raises the recorder until it has read the events.  It may be about to lower itself, so this is
 * repeated.
 */
static void raise_until_seen(struct giveway *g)
{
	const struct timespec pause = { 0, ANSWER_NS };
	unsigned before = atomic_load(&g->nr_turns);

	for (int i = 0; i < ANSWER_TRIES && atomic_load(&g->nr_turns) - before < 2 &&
			!atomic_load(&g->stop); i++) {
		raise_recorder(g);
		nanosleep(&pause, NULL);
	}
}

static void *watch(void *arg)
{
	struct giveway *g = arg;
	struct epoll_event event;
	unsigned last = atomic_load(&g->nr_turns), now;

	while (!atomic_load(&g->stop)) {
		int n = epoll_wait(g->epoll_fd, &event, 1, STARVED_MS);

		now = atomic_load(&g->nr_turns);
		if (n > 0)
			raise_until_seen(g);
		else if (now == last)
			raise_recorder(g);
		last = now;
	}
	return NULL;
}

/* Edge-triggered: the watcher wakes up once for each event, which the recorder reads. */
static void watch_fd(struct giveway *g, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	if (fd >= 0)
		epoll_ctl(g->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static bool start_watcher(struct giveway *g)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	ret = pthread_create(&g->watcher, NULL, watch, g);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !ret;
}

/* The recorder */

struct giveway *giveway_begin(const int *fds, unsigned nr)
{
	struct giveway *g;

	if (sched_getscheduler(0) != SCHED_OTHER || !may_return())
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	leave_isolated();
	ask_short_slice();
	*g = (struct giveway){ .tid = gettid(), .sock = -1, .is_raised = true };
	g->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	g->stop_fd = eventfd(0, EFD_CLOEXEC);
	watch_fd(g, g->stop_fd);
	for (unsigned i = 0; i < nr; i++)
		watch_fd(g, fds[i]);
	if (g->epoll_fd >= 0 && g->stop_fd >= 0 && start_watcher(g))
		return g;
	if (g->epoll_fd >= 0)
		close(g->epoll_fd);
	if (g->stop_fd >= 0)
		close(g->stop_fd);
	free(g);
	return NULL;
}

void giveway_end(struct giveway *g)
{
	uint64_t one = 1;

	if (!g)
		return;
	giveway_hurry(g);
	atomic_store(&g->stop, true);
	if (write(g->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(g->watcher, NULL);
	close(g->epoll_fd);
	close(g->stop_fd);
	free(g);
}

void giveway_hurry(struct giveway *g)
{
	if (!g || !g->is_low)
		return;
	set_policy(g->tid, SCHED_OTHER);
	g->is_low = false;
}

/*
 * Gives up the CPU: even a thread at SCHED_IDLE would otherwise keep running until the next tick.
 */
void giveway_rest(const struct giveway *g)
{
	if (g && g->is_low && !atomic_load(&g->is_raised))
		sched_yield();
}

void giveway_turn(struct giveway *g, int sock, bool is_low)
{
	if (!g)
		return;
	atomic_fetch_add(&g->nr_turns, 1);
	if (!is_low) {
		giveway_hurry(g);
		return;
	}
	/*
	 * epoll removes closed descriptors by itself, so a new one is added even if it has the same
	 * number.
	 */
	if (sock != g->sock || !g->is_low)
		watch_fd(g, sock);
	g->sock = sock;
	if (g->is_low && !atomic_load(&g->is_raised))
		return;
	atomic_store(&g->is_raised, false);
	g->is_low = true;
	set_policy(g->tid, SCHED_IDLE);
}

static bool raise_runtime(void *arg, pid_t pid, pid_t tid)
{
	char name[32];

	if (proc_line(pid, tid, "comm", name, sizeof(name)) &&
	    (!strcmp(name, "ldb-control") || !strcmp(name, "ldb-scan")) &&
	    sched_getscheduler(tid) == SCHED_IDLE)
		set_policy(tid, SCHED_OTHER);
	return false;
}

void giveway_raise_runtime(const struct giveway *g, pid_t pid)
{
	if (g)
		proc_find_thread(pid, raise_runtime, NULL);
}
