// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Implements inject_run(): chooses a thread of a process, stops it, and does a task with it.  A
 * separate process does this, so that the end of that process releases the thread without another
 * stop.  A thread is chosen that does not notice the stop: it sleeps in a system call that can be
 * restarted, or it runs.  The first living thread of the process, called the gate, is seized during
 * all of this, though not stopped, so that two recorders cannot do this at the same time.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/sort.h"
#include "cli/error.h"
#include "record/inject/inject.h"
#include "record/inject/private.h"
#include "record/process/proc.h"
#include "record/session/session.h"

/* attempts to find a thread that can be stopped; they take some seconds at most */
#define TRIES		40
#define ONLY_TRIES	4		/* attempts if the thread is given */
#define BUSY_TRIES	20		/* attempts while the previous recorder detaches */
#define BUSY_PAUSE_NS	50000000
#define TRY_PAUSE_NS	5000000
#define STOP_NS		50000000LL	/* timeout for a thread to stop */
#define POLL_NS		20000
#define LOST_MS		1000	/* timeout for a process that is ending or executing a program */
#define MEANWHILE_NS	2000000
#define THREADS_MAX	64		/* threads that are tried in one round */
#define SYSCALL_STOP	(SIGTRAP | 0x80)

struct candidate {
	pid_t tid;
	int rank;
};

static void pause_ns(long ns)
{
	struct timespec ts = { 0, ns };

	nanosleep(&ts, NULL);
}

static bool is_unfiltered(void *arg, pid_t pid, pid_t tid)
{
	const struct proc_status *own = arg;
	struct proc_status status;

	return proc_status(pid, tid, &status) && proc_is_alive(&status) &&
	       status.nr_filters <= own->nr_filters;
}

bool inject_is_filtered(pid_t pid)
{
	struct proc_status own;

	proc_status(getpid(), 0, &own);
	return !proc_find_thread(pid, is_unfiltered, &own);
}

/* Choosing a thread */

struct choice {
	struct candidate c[THREADS_MAX];
	unsigned nr;
	/* number of seccomp filters of this process, which a container has set for all processes */
	int nr_filters;
	const struct inject_task *task;
};

/* Rates what the thread is doing, from /proc: "running", or the number of a system call. */
int inject_rank(pid_t pid, pid_t tid)
{
	char text[32];
	long number;

	if (!proc_line(pid, tid, "syscall", text, sizeof(text)))
		return 1;	/* the kernel does not have this file */
	if (!strncmp(text, "running", 7))
		return 1;
	/* -1: in the kernel, but not in a system call */
	return sscanf(text, "%ld", &number) == 1 && number >= 0 ? inject_call_rank(number) :
								  INJECT_NEVER;
}

static bool add_candidate(void *arg, pid_t pid, pid_t tid)
{
	struct choice *all = arg;
	struct proc_status status;

	if (all->task->only && all->task->only != tid)
		return false;
	proc_status(pid, tid, &status);
	if ((status.state == 'R' || status.state == 'S') && status.nr_filters <= all->nr_filters) {
		const struct inject_task *t = all->task;
		struct candidate c = { tid, t->rank ? t->rank(t, pid, tid) : inject_rank(pid, tid) };

		if (c.rank < INJECT_NEVER)
			all->c[all->nr++] = c;
	}
	return all->nr == THREADS_MAX;
}

COMPARE(by_rank, struct candidate, UP(rank))

static void choose(pid_t pid, const struct inject_task *t, struct choice *all)
{
	struct proc_status own;

	proc_status(getpid(), 0, &own);
	all->nr = 0;
	all->task = t;
	all->nr_filters = own.nr_filters;
	proc_find_thread(pid, add_candidate, all);
	qsort(all->c, all->nr, sizeof(all->c[0]), by_rank);
}

/* Stopping a thread */

int inject_next_stop(pid_t tid, int64_t timeout_ns)
{
	int64_t until = clock_mono_ns() + timeout_ns;
	int status;

	for (;;) {
		pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

		if (got < 0 || (got == tid && !WIFSTOPPED(status)))
			return -1;
		if (got == tid)
			return status;
		if (clock_mono_ns() > until)
			return 0;
		pause_ns(POLL_NS);
	}
}

bool inject_is_call_stop(int status)
{
	return WSTOPSIG(status) == SYSCALL_STOP;
}

bool inject_is_event_stop(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP;
}

static bool is_our_stop(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP;
}

bool inject_stop(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return false;
	while ((status = inject_next_stop(tid, STOP_NS)) > 0) {
		bool signal = !(status >> 16) && !inject_is_call_stop(status);

		if (is_our_stop(status))
			return true;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return false;	/* stopped by SIGSTOP or a similar signal */
		if (ptrace(PTRACE_CONT, tid, NULL, signal ? (long)WSTOPSIG(status) : 0))
			return false;
	}
	return false;
}

bool inject_next_call(pid_t tid, int64_t timeout_ns)
{
	int64_t until = clock_mono_ns() + timeout_ns;

	while (clock_mono_ns() < until) {
		int status;

		if (ptrace(PTRACE_SYSCALL, tid, NULL, NULL))
			return false;
		status = inject_next_stop(tid, timeout_ns);
		if (status <= 0)
			return false;
		if (inject_is_call_stop(status))
			return true;
		if (!inject_is_event_stop(status))
			return false;	/* a fault: all other signals are blocked */
	}
	return false;
}

bool inject_take(pid_t pid, pid_t tid, struct inject_regs *r)
{
	struct proc_status status;
	enum inject_place place;

	proc_status(pid, tid, &status);
	if (!inject_regs_get(tid, r))
		return false;
	place = inject_regs_place(tid, r, status.signal_pending);
	if (place == PLACE_REDO && inject_call_rank(inject_regs_number(r)) < INJECT_NEVER)
		inject_regs_redo(r);
	else if (place != PLACE_SAFE)
		return false;
	return true;
}

bool inject_stop_for_return(pid_t tid)
{
	int status;

	if (!inject_regs_skip(tid) || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return false;
	do {
		if (ptrace(PTRACE_CONT, tid, NULL, NULL))
			return false;
		status = inject_next_stop(tid, INJECT_PASS_NS);
	} while (status > 0 && !inject_is_event_stop(status));
	return status > 0;
}

/*
 * Waits.  Threads that stop meanwhile are released: those that were asked to stop and took too
 * long, and the gate when it receives a signal.
 */
static void idle(pid_t gate, long ns)
{
	int64_t until = clock_mono_ns() + ns;
	int status;
	pid_t tid;

	do {
		while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
			bool signal = WIFSTOPPED(status) && !(status >> 16);

			if (WIFSTOPPED(status))
				ptrace(tid == gate ? PTRACE_CONT : PTRACE_DETACH, tid, NULL,
				       signal ? (long)WSTOPSIG(status) : 0);
		}
		pause_ns(POLL_NS);
	} while (clock_mono_ns() < until);
}

static bool seize(pid_t tid)
{
	return !ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACESYSGOOD);
}

static enum inject_outcome try_threads(pid_t pid, const struct inject_task *t, pid_t gate)
{
	static struct choice all;

	choose(pid, t, &all);
	for (unsigned i = 0; i < all.nr; i++) {
		pid_t tid = all.c[i].tid;
		enum inject_outcome outcome;

		if ((tid != gate && !seize(tid)) || !inject_stop(tid))
			continue;
		/* While this thread is stopped, only another one can execute another program. */
		if (!image_is(tid, t->id))
			return inject_lost(pid, t, tid) == INJECT_REFUSED ? INJECT_REFUSED : INJECT_REPLACED;
		outcome = t->visit(t, pid, tid);
		if (outcome != INJECT_MOVED)
			return outcome;
		if (tid == gate && !seize(tid))
			return INJECT_MOVED;
	}
	return INJECT_MOVED;
}

/* Explanations of failures */

/*
 * Returns true if the thread has ended, or is about to.  Its tracer is informed before other
 * threads can execute a program.
 */
static bool is_gone(pid_t pid, pid_t tid)
{
	int status;
	pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

	return got < 0 || (got == tid && !WIFSTOPPED(status)) || proc_thread_ends(pid, tid);
}

static bool is_same(pid_t pid, const struct inject_task *t)
{
	pid_t tid = proc_living_thread(pid);

	return tid && image_is(tid, t->id);
}

bool inject_say_ended(pid_t pid)
{
	if (!proc_ends(pid))
		return false;
	cli_error("process %d has ended", pid);
	return true;
}

enum inject_outcome inject_lost(pid_t pid, const struct inject_task *t, pid_t tid)
{
	/*
	 * A thread that is gone means that the process ends, or that another thread executes a
	 * program: waits until it is known which.
	 */
	for (int ms = 0; ms < LOST_MS && tid && is_gone(pid, tid) && is_same(pid, t); ms++)
		pause_ns(1000000);
	if (is_same(pid, t) && !proc_ends(pid))
		return INJECT_DONE;
	return inject_say_ended(pid) ? INJECT_REFUSED : INJECT_REPLACED;
}

static void explain(pid_t pid, pid_t tid, int error)
{
	int scope = proc_number("/proc/sys/kernel/yama/ptrace_scope", 0);
	struct proc_status status;

	proc_status(pid, tid, &status);
	if (!proc_is_alive(&status) || proc_ends(pid))
		cli_error("process %d has ended", pid);
	else if (status.tracer && status.tracer != getpid())
		cli_error("process %d is traced by process %d: end that first", pid, status.tracer);
	else if (error == EPERM && scope && geteuid())
		cli_error("no permission to attach to process %d, kernel.yama.ptrace_scope is %d: run %s as root, or start the program with LDB=listen in its environment",
			  pid, scope, cli_tool_name());
	else if (error == EPERM)
		cli_error("no permission to attach to process %d, it has privileges that you do not have, or is not dumpable: run %s as root",
			  pid, cli_tool_name());
	else
		cli_error("no thread of process %d could be stopped without harm: try again, or start the program with LDB=listen in its environment",
			  pid);
}

/*
 * Returns true, after printing so, if the process is stopped by SIGSTOP or a terminal: tracing it
 * would hide that.
 */
static bool is_stopped(pid_t pid)
{
	struct proc_status status;

	proc_status(pid, proc_living_thread(pid), &status);
	if (status.state == 'T')
		cli_error("process %d is stopped: let it go on first (kill -CONT %d)", pid, pid);
	return status.state == 'T';
}

static pid_t tracer_of(pid_t pid, pid_t tid)
{
	struct proc_status status;

	return proc_status(pid, tid, &status) ? status.tracer : 0;
}

/* Makes one attempt, while the thread `gate` is seized. */
static enum inject_outcome attempt(pid_t pid, const struct inject_task *t, pid_t gate)
{
	enum inject_outcome outcome;

	if (t->prepare && !t->prepare(t, gate)) {
		outcome = inject_lost(pid, t, 0);
		return outcome == INJECT_DONE ? INJECT_MOVED : outcome;
	}
	outcome = try_threads(pid, t, gate);
	return outcome == INJECT_DONE && t->answer ? t->answer(t, pid, gate) : outcome;
}

/* Runs in the separate process. */
static enum inject_outcome enter(pid_t pid, const struct inject_task *t)
{
	bool busy = false, seized = false;
	enum inject_outcome lost;
	pid_t gate = 0;
	int error = 0;

	if (is_stopped(pid))
		return INJECT_REFUSED;
	for (int i = 0; i < (t->only ? ONLY_TRIES : TRIES); i++) {
		enum inject_outcome outcome;

		if (i)
			idle(gate, busy ? BUSY_PAUSE_NS : TRY_PAUSE_NS << (i > TRIES / 2 ? 4 : 0));
		if (!seized) {
			gate = proc_living_thread(pid);
			seized = gate && seize(gate);
			error = errno;
		}
		/*
		 * If nothing traces the thread, the permission is missing, and it is useless to try
		 * again.
		 */
		if (!seized && error == EPERM && !tracer_of(pid, gate))
			break;
		if (!seized)
			continue;
		outcome = attempt(pid, t, gate);
		/* Perhaps the process's previous recorder is just detaching. */
		busy = outcome == INJECT_BUSY;
		if (busy && i >= BUSY_TRIES)
			break;
		if (outcome != INJECT_MOVED && outcome != INJECT_BUSY)
			return outcome;
		seized = tracer_of(pid, gate) == getpid();
		error = 0;
	}
	if (t->only)
		return INJECT_REFUSED;
	/* without permission it is not known whether the process has ended */
	lost = error == EPERM ? INJECT_DONE : inject_lost(pid, t, 0);
	if (lost != INJECT_DONE)
		return lost;
	if (busy)
		cli_error("another ldb-record is recording process %d", pid);
	else
		explain(pid, gate ? gate : pid, error);
	return INJECT_REFUSED;
}

static enum inject_end end_of(enum inject_outcome outcome)
{
	switch (outcome) {
	case INJECT_DONE:
		return INJECT_OK;
	case INJECT_REPLACED:
		return INJECT_ANOTHER;
	default:
		return INJECT_FAILED;
	}
}

enum inject_end inject_run(pid_t pid, const struct inject_task *t)
{
	int status = 0;
	pid_t child = fork();

	if (child < 0) {
		cli_error("cannot start a process: %s", strerror(errno));
		return INJECT_FAILED;
	}
	if (!child) {
		/*
		 * In a group of its own, this process can finish if a key or kill(-pgid) ends
		 * ldb-record.
		 */
		setpgid(0, 0);
		_exit(end_of(enter(pid, t)));
	}
	while (waitpid(child, &status, t->meanwhile ? WNOHANG : 0) != child) {
		if (!t->meanwhile)
			continue;	/* interrupted by a signal */
		t->meanwhile(t->arg);
		pause_ns(MEANWHILE_NS);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : INJECT_FAILED;
}
