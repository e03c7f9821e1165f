// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decides whether the scanner has a core to itself.  (raw thread)
 *
 * A scanner without a core to itself would take CPU time from the program.  So a scanner that was
 * preempted sleeps between polls, long enough that its wake-ups stay within the budget, until there
 * are no more runnable threads than CPUs, and for 200 ms at most.
 *
 * A scanner that was not preempted can delay the program as well.  When two threads share a CPU, a
 * CPU that has nothing to run takes one of them over.  The scanner's CPU is never idle, so the
 * kernel moves a thread to it only when it next balances the load, up to 64 ms later.  So the
 * scanner counts the runnable threads now and then.  If there are more than CPUs, it lends its
 * core: it sleeps between polls until a thread has been moved, and for 30 ms at most.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <time.h>
#include "scan.h"

#define WAKE_COST_NS	5000		/* CPU time of one sleep and wake-up, on all CPUs */
#define TURNS_MEASURED	32		/* turns between two readings of the scanner's CPU time */
#define SLEEP_MAX_NS	3600000000000ULL
#define ROOM_CHECK_NS	1000000		/* time between two searches for a free core */
/* time after which the scanner tries to run without sleeps */
#define ROOM_RETRY_NS	200000000
#define SOON_NS		50000		/* time from another task on the scanner's CPU to a check */
/* within three ticks (of 10 ms or less) an idle CPU takes a thread over */
#define LEND_NS		30000000

static int nr_allowed;		/* CPUs the scanners may use */
/* these are all CPUs, so the machine's runnable threads may use them, too */
static bool can_lend;

static int count_allowed(void)
{
	uint64_t mask[16] = { 0 };
	int n = 0;

	/* a core to which the user has pinned the scanner counts as its own */
	if (session.scanner_cpu >= 0)
		return INT32_MAX;
	if (sys(SYS_sched_getaffinity, 0, sizeof(mask), mask) < 0)
		return 1;
	for (int i = 0; i < 16; i++)
		n += __builtin_popcountll(mask[i]);
	return n;
}

void share_init(void)
{
	nr_allowed = count_allowed();
	/* a seccomp filter may kill the program for a system call that it does not expect */
	can_lend = session.scanner_cpu < 0 && nr_allowed > 1 && identity_has_every_cpu() && !priority_any_filter();
}

void share_begin(struct scanner *s)
{
	s->sharing = session.is_slow;
	s->was_off = s->was_away = s->lends = false;
	s->check_at = s->soonest_check = 0;
	s->loadavg_fd = -1;
	s->nr_turns = 0;
	s->turn_ns = 0;
}

/*
 * Returns the cost of a turn: a wake-up, the polls and the sleep after them.  If the scanner always
 * sleeps, most of this is the kernel's work and cache misses, so it is measured from time to time.
 */
static uint64_t turn_ns(struct scanner *s, uint64_t ticks)
{
	uint64_t ns = WAKE_COST_NS + (unsigned __int128)ticks * 1000000000 / session.hz;
	struct timespec t;
	uint64_t now;

	if (!session.is_slow)
		return ns;
	if (!(s->nr_turns++ % TURNS_MEASURED) && !sys(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t)) {
		now = (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
		s->turn_ns = s->nr_turns > 1 ? (now - s->cpu_ns) / TURNS_MEASURED : 0;
		s->cpu_ns = now;
	}
	return ns > s->turn_ns ? ns : s->turn_ns;
}

/*
 * Sleeps between two rounds.  The sleep is intended, so it is not an observation gap unless it
 * lasts far longer.  With the smallest budgets it may last for seconds; scan_stop() interrupts it.
 */
static void share_sleep(struct scanner *s, uint64_t ticks)
{
	unsigned __int128 wanted = (unsigned __int128)turn_ns(s, ticks) * 1000000 / session.budget_ppm;
	uint64_t ns = wanted < SLEEP_MAX_NS ? wanted : SLEEP_MAX_NS;
	uint64_t before = s->stamp, now;

	raw_futex_wait(&s->stop, 0, ns);
	now = scan_stamp();
	s->stats->paused_tsc += now - before;
	if (now - before > 4 * session_ticks(ns))
		pace_stamp(s, now);
	s->stamp = now;
}

/*
 * Returns the number of runnable threads of the whole machine, the scanner included; 0 if it is not
 * known.  The file is opened in the control thread's file table, where the program does not find
 * it.
 */
static int nr_runnable(struct scanner *s)
{
	char buf[64];
	int field = 0, nr = 0;
	long n;

	if (s->loadavg_fd < 0)
		s->loadavg_fd = sys(SYS_openat, AT_FDCWD, "/proc/loadavg", O_RDONLY | O_CLOEXEC, 0);
	if (s->loadavg_fd < 0)
		return 0;
	n = sys(SYS_pread64, s->loadavg_fd, buf, sizeof(buf), 0);
	/* "0.20 0.18 0.12 3/80 11206" */
	for (long i = 0; i < n && buf[i] != '/'; i++) {
		if (buf[i] == ' ')
			field++;
		else if (field == 3)
			nr = nr * 10 + buf[i] - '0';
	}
	return nr;
}

/*
 * Sleeps between rounds from now on.  `lends`: no task took the scanner's CPU, but a thread waits
 * for another CPU.
 */
static void share_from_now(struct scanner *s, bool lends)
{
	s->sharing = true;
	s->lends = lends;
	s->check_at = s->stamp + session_ticks(ROOM_CHECK_NS);
	s->retry_at = s->stamp + session_ticks(lends ? LEND_NS : ROOM_RETRY_NS);
}

/*
 * Returns true if any thread waits for a CPU while the scanner occupies one.  If that is not known,
 * returns s->sharing, so that nothing changes.
 */
static bool does_any_wait(struct scanner *s)
{
	uint64_t before = scan_stamp();
	int nr = nr_runnable(s);
	uint64_t now = scan_stamp();

	s->soonest_check = now + (unsigned __int128)(now - before) * 1000000 / session.budget_ppm;
	s->check_at = now + session_ticks(ROOM_CHECK_NS);
	return nr ? nr > nr_allowed : s->sharing;
}

/*
 * Makes the next check come soon, because another task may have run on the scanner's CPU, and may
 * have left a thread waiting for another CPU.
 */
static void check_soon(struct scanner *s)
{
	uint64_t soon = s->stamp + session_ticks(SOON_NS);

	if (soon < s->soonest_check)
		soon = s->soonest_check;
	if (soon < s->check_at)
		s->check_at = soon;
}

static void share_until_free(struct scanner *s)
{
	bool is_late = s->stamp >= s->retry_at, lends = s->lends;

	if (!is_late && (s->stamp < (lends ? s->soonest_check : s->check_at) || does_any_wait(s)))
		return;
	s->sharing = s->was_away = s->lends = false;
	/*
	 * perhaps the waiting thread must not use the scanner's CPU, or the kernel does not move it
	 */
	if (is_late && lends)
		s->check_at = s->soonest_check = s->stamp + session_ticks(ROOM_RETRY_NS);
}

/* Decides whether this scanner has a core to itself. */
static void share_judge(struct scanner *s)
{
	bool was_off = s->was_off;

	s->was_off = false;
	if (session.is_slow || session.budget_ppm >= 1000000 || (nr_allowed == 1 && s->sharing))
		return;
	if (was_off && can_lend && !s->sharing)
		check_soon(s);
	if (s->sharing)
		share_until_free(s);
	else if (s->was_away || nr_allowed == 1)
		share_from_now(s, false);
	else if (can_lend && s->stamp >= s->check_at && does_any_wait(s))
		share_from_now(s, true);
}

void share_core(struct scanner *s, uint64_t stint_ticks)
{
	if (unlikely(s->sharing))
		share_sleep(s, stint_ticks);
	share_judge(s);
}

void share_end(struct scanner *s)
{
	if (s->loadavg_fd >= 0)
		sys(SYS_close, s->loadavg_fd);
}
