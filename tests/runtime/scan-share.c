// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests when the scanner leaves its core to others: scan/share.c alone, with a clock that the test
 * sets, and a file of its own in place of /proc/loadavg.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "scan/scan.h"
#include "tap.h"

#define MS	1000000ULL
#define US	1000ULL

struct session session;

static struct scanner scanner;
static struct ldb_scan_stats stats;
static uint64_t now, slept_ns;
static unsigned nr_sleeps, nr_cpus;
static bool has_every_cpu, has_filter;

uint64_t session_clock(void)
{
	return now += 100;
}

uint64_t session_ticks(uint64_t ns)
{
	return ns;
}

bool identity_has_every_cpu(void)
{
	return has_every_cpu;
}

bool priority_any_filter(void)
{
	return has_filter;
}

void pace_stamp(struct scanner *s, uint64_t stamp)
{
	s->stamp = stamp;
}

void raw_futex_wait(_Atomic uint32_t *word, uint32_t val, uint64_t timeout_ns)
{
	(void)word;
	(void)val;
	nr_sleeps++;
	slept_ns += timeout_ns;
	now += timeout_ns;
}

static void nr_runnable_is(unsigned nr)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "0.20 0.18 0.12 %u/80 11206\n", nr);

	if (ftruncate(scanner.loadavg_fd, 0) || pwrite(scanner.loadavg_fd, line, n, 0) != n)
		bail_out("the file in place of /proc/loadavg cannot be written");
}

static void begin(bool every_cpu, int32_t scanner_cpu)
{
	memset(&session, 0, sizeof(session));
	session.clock_id = LDB_CLOCK_MONO;
	session.budget_ppm = 50000;
	session.hz = 1000000000;
	session.scanner_cpu = scanner_cpu;
	has_every_cpu = every_cpu;
	memset(&scanner, 0, sizeof(scanner));
	memset(&stats, 0, sizeof(stats));
	scanner.stats = &stats;
	scanner.stamp = now = 1000 * MS;
	share_init();
	share_begin(&scanner);
	scanner.loadavg_fd = memfd_create("loadavg", MFD_CLOEXEC);
	if (scanner.loadavg_fd < 0)
		bail_out("memfd_create() failed");
	nr_runnable_is(nr_cpus);
	nr_sleeps = slept_ns = 0;
}

/* Runs stints of 2 us for `ns`, as scanner.c does. */
static void runs(uint64_t ns)
{
	uint64_t end = now + ns;

	while (now < end) {
		now += 2 * US;
		scanner.stamp = now;
		share_core(&scanner, 2 * US);
	}
}

/*
 * From now on there is a CPU for each thread; the scanner must notice this within the given time.
 */
static void stops_sleeping(uint64_t within, const char *what)
{
	nr_runnable_is(nr_cpus);
	runs(within);
	nr_sleeps = 0;
	runs(20 * MS);
	is_int(nr_sleeps, 0, what);
}

static void lends(void)
{
	begin(true, -1);
	runs(20 * MS);
	is_int(nr_sleeps, 0, "as many runnable threads as CPUs: the scanner does not sleep");
	nr_runnable_is(nr_cpus + 1);
	runs(2 * MS);
	ok(nr_sleeps > 0, "one runnable thread more: the scanner sleeps within two milliseconds");
	ok(slept_ns / nr_sleeps < 200 * US, "its sleeps take less than 200 us on average");
	ok(stats.paused_tsc >= slept_ns, "the time of its sleep is counted");
	stops_sleeping(200 * US, "a thread was moved: it sleeps no longer");
	share_end(&scanner);
}

static void gives_up(void)
{
	begin(true, -1);
	nr_runnable_is(nr_cpus + 1);
	runs(40 * MS);
	ok(slept_ns > 20 * MS,
	   "no task uses its core: the scanner sleeps for tens of milliseconds");
	nr_sleeps = 0;
	runs(150 * MS);
	is_int(nr_sleeps, 0, "after that the scanner does not sleep");
	runs(60 * MS);
	ok(nr_sleeps > 0, "the scanner tries again after 200 ms");
	share_end(&scanner);
}

static void checks_soon(void)
{
	begin(true, -1);
	runs(1500 * US);	/* a check was made half a millisecond ago */
	nr_runnable_is(nr_cpus + 1);
	scanner.was_off = true;
	runs(100 * US);
	ok(nr_sleeps > 0, "another task has just run on its CPU: it checks within 100 us");
	share_end(&scanner);
}

static void keeps(void)
{
	begin(false, -1);
	nr_runnable_is(nr_cpus + 5);
	scanner.was_off = true;
	runs(300 * MS);
	is_int(nr_sleeps, 0,
	       "some CPUs are not for this program: the number of runnable threads is not used");
	share_end(&scanner);
	has_filter = true;
	begin(true, -1);
	has_filter = false;
	nr_runnable_is(nr_cpus + 5);
	runs(300 * MS);
	is_int(nr_sleeps, 0, "a thread is under a filter of system calls: no file is read");
	share_end(&scanner);
	begin(true, 0);
	nr_runnable_is(nr_cpus + 5);
	scanner.was_off = true;
	runs(300 * MS);
	is_int(nr_sleeps, 0, "the user has pinned it: it keeps its core");
	share_end(&scanner);
}

static void was_preempted(void)
{
	begin(true, -1);
	scanner.was_away = true;
	nr_runnable_is(nr_cpus + 1);
	runs(150 * MS);
	ok(nr_sleeps > 500, "preempted for long: it sleeps between polls");
	stops_sleeping(2 * MS, "until there is a free core");
	share_end(&scanner);
}

int main(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		bail_out("sched_getaffinity() failed");
	nr_cpus = CPU_COUNT(&cpus);
	if (nr_cpus < 2)
		skip_all("only one CPU: a scanner always shares it");
	lends();
	gives_up();
	checks_soon();
	keeps();
	was_preempted();
	return done();
}
