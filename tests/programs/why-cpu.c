// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The planted causes of this program take the CPU from a request.  See why-load.h; both are
 * meant for one CPU.
 *
 *	hog		another process, "hog" of real-time priority, takes the CPU away;
 *			needs the privilege to set priorities
 *	throttled	FILE is the folder of a cgroup of threads: the thread that serves goes
 *			there, and its quota (cpu.max) ends in the middle of requests
 *
 * With "clean" the hog works between two requests, and the test must lift the quota.
 */
#include "why-load.h"
#include "hog.h"
#include <fcntl.h>
#include <sys/syscall.h>

/* a thread that was off its CPU for this long was throttled, and not off by chance */
#define THROTTLED_US	2000
/*
 * The program goes on until THROTTLED_HITS requests were affected, but makes at most MORE_REQUESTS
 * times the number of requests that the user gave.
 */
#define THROTTLED_HITS	12
#define MORE_REQUESTS	6

NAMED void lookup(bool is_disturbed)
{
	burn(20);
	if (is_disturbed)
		hog_post();
	burn(20);
}

NAMED void serve(bool is_disturbed)
{
	parse();
	lookup(is_disturbed);
	reply();
}

/*
 * Returns how many us the request took.  Both readings of the clock, which may be system calls, are
 * between the tags: so what delays them delays the request for ldb, too.
 */
static double request(long id, bool is_disturbed)
{
	double start, wall;

	ldb_req_start(id, NULL);
	ldb_req_class(id, "get");
	start = now_us();
	serve(is_disturbed);
	wall = now_us() - start;
	ldb_req_end(id);
	return wall;
}

/* hog */

NAMED void crunch(void)
{
	burn(PLANT_US);
}

static void begin_hog(void)
{
	prctl(PR_SET_NAME, "hog");
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ 20 }))
		die("sched_setscheduler");
}

static void run_hog(void)
{
	if (hog_start(begin_hog, crunch) < 0)
		die("the hog");
	pause_us(10000);
	for (long id = 1; id <= nr_requests; id++) {
		if (is_due(id) && !planted)
			hog_post();
		request(id, planted && is_due(id));
		if (is_due(id) && planted)
			hit(id);
		pause_us(20);
	}
}

/* throttled */

/* Returns the name of the file with a cgroup's threads: version 1 and 2 have different names. */
static const char *tasks_file(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/cgroup.threads", file_arg ? file_arg : ".");
	return access(path, F_OK) ? "tasks" : "cgroup.threads";
}

static int in_cgroup(const char *name, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", file_arg ? file_arg : ".", name);
	fd = open(path, flags);
	if (fd < 0)
		die(path);
	return fd;
}

/*
 * Returns for how many us the group was throttled, according to cpu.stat, which has us in version 2
 * of control groups, and ns in version 1.
 */
static double throttled_us(int fd)
{
	char text[1024], *at;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	if ((at = strstr(text, "throttled_usec ")))
		return atof(at + strlen("throttled_usec "));
	at = strstr(text, "throttled_time ");
	return at ? atof(at + strlen("throttled_time ")) / 1e3 : 0;
}

static void run_throttled(void)
{
	int stat = in_cgroup("cpu.stat", O_RDONLY), threads = in_cgroup(tasks_file(), O_WRONLY);
	char tid[16];

	snprintf(tid, sizeof(tid), "%d", (int)gettid());
	if (write(threads, tid, strlen(tid)) < 0)
		die(tasks_file());
	/* Kernel and machine decide how often the quota ends within a request, and in which. */
	for (long id = 1; id <= nr_requests ||
	     (planted && nr_hits < THROTTLED_HITS && id <= MORE_REQUESTS * nr_requests); id++) {
		/* The quota may also end between two requests, or only for a moment. */
		double before = throttled_us(stat), cpu = own_cpu_us();
		double wall = request(id, false), off = wall - (own_cpu_us() - cpu);
		double throttled = throttled_us(stat) - before;

		/*
		 * Other tasks may run meanwhile, and the whole machine may stand still; neither
		 * is due to the quota.
		 */
		if (throttled > off)
			throttled = off;
		if (throttled > THROTTLED_US && 2 * throttled > wall)
			hit(id);
	}
}

static const struct cause causes[] = {
	{ "hog", run_hog },
	{ "throttled", run_throttled },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return why_main(argc, argv, causes);
}
