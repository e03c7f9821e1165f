// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens events by perf_event_open(), and maps the rings.  There is one ring for each online CPU;
 * all events of the CPU share it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "arch/cpu.h"
#include "base/array.h"
#include "record/perf/private.h"
#include "record/process/proc.h"
#include "record/session/cpulist.h"

/* size of the ring of each CPU; smaller if there are many CPUs */
#define RING_DEFAULT	(8UL << 20)
#define RINGS_DEFAULT	(128UL << 20)
#define RING_MIN	(16UL << 10)
#define RING_MAX	(256UL << 20)
/* The threads are listed until there are no new ones, but at most this often. */
#define LISTINGS_MAX	16

struct opening {
	struct perf_fds *s;
	const struct perf_options *o;
	const struct perf_formats *formats;
	struct perf_asked asked;
	int *cpus;
	unsigned nr_cpus;
	int error;		/* errno of the call that failed */
	/* for open_threads(): opens the events of one thread */
	bool (*open_of)(struct opening *op, pid_t tid);
	enum perf_scope scope;	/* for open_tracepoints_of() */
	const int *probes;	/* for open_probes_of() */
	size_t nr_probes;
	pid_t *tids;		/* threads that have been opened so far */
	size_t nr_tids, room_tids;
};

static int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * Kernels return EINVAL for features that they do not have: inheriting threads only (5.13), and
 * reading the number of lost events (6.0).
 */
static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = perf_event_open(attr, pid, cpu);

	if (fd >= 0 || errno != EINVAL)
		return fd;
	attr->read_format = 0;
	fd = perf_event_open(attr, pid, cpu);
	if (fd >= 0 || errno != EINVAL)
		return fd;
	attr->inherit_thread = 0;
	return perf_event_open(attr, pid, cpu);
}

static bool keep_fd(struct perf_fds *s, int fd)
{
	if (!array_room(&s->fds, &s->room_fds, s->nr_fds, sizeof(*s->fds))) {
		close(fd);
		errno = ENOMEM;
		return false;
	}
	s->fds[s->nr_fds++] = fd;
	return true;
}

/* Maps the ring of a CPU with the CPU's first event; later events share it. */
static bool into_ring(struct opening *op, unsigned ring, int fd)
{
	struct perf_ring *r = &op->s->rings[ring];
	int error;

	if (r->page)
		return !ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, op->s->fds[ring]);
	while ((error = perf_ring_map(r, fd, op->cpus[ring], op->asked.ring_size)) &&
	       (error == -EPERM || error == -ENOMEM) && op->asked.ring_size > RING_MIN)
		op->asked.ring_size /= 2;	/* the memory that a user may lock is limited */
	errno = -error;
	return !error;
}

static bool open_on(struct opening *op, struct perf_event_attr *attr, pid_t pid, unsigned ring)
{
	int fd = open_event(attr, pid, op->cpus[ring]);

	if (fd < 0 || !keep_fd(op->s, fd) || !into_ring(op, ring, fd)) {
		op->error = errno;
		return false;
	}
	return true;
}

static bool open_on_all(struct opening *op, struct perf_event_attr *attr, pid_t pid)
{
	for (unsigned i = 0; i < op->nr_cpus; i++)
		if (!open_on(op, attr, pid, i))
			return false;
	return true;
}

/* Opens tracepoints for all threads of the machine (tid -1), or for one and those it creates. */
static bool open_tracepoints(struct opening *op, enum perf_scope scope, pid_t tid)
{
	struct perf_event_attr attr;

	for (int tp = 0; tp < PERF_TP_NR; tp++) {
		int id = op->formats->tp[tp].id;

		if (!id || perf_tracepoints[tp].scope != scope)
			continue;
		perf_attr_tracepoint(&attr, &op->asked, id);
		if (tid >= 0)
			perf_attr_thread(&attr);
		if (!open_on_all(op, &attr, tid))
			return false;
	}
	return true;
}

static bool open_tracepoints_of(struct opening *op, pid_t tid)
{
	return open_tracepoints(op, op->scope, tid);
}

static bool open_switches_of(struct opening *op, pid_t tid)
{
	struct perf_event_attr attr;

	perf_attr_switches(&attr, &op->asked);
	return open_on_all(op, &attr, tid);
}

static bool open_faults_of(struct opening *op, pid_t tid)
{
	struct perf_event_attr attr;

	for (int major = 0; major < 2; major++) {
		perf_attr_faults(&attr, &op->asked, major);
		if (!open_on_all(op, &attr, tid))
			return false;
	}
	return true;
}

static bool open_calls_of(struct opening *op, pid_t tid)
{
	struct perf_event_attr attr;

	perf_attr_calls(&attr, &op->asked);
	return open_on_all(op, &attr, tid);
}

static bool open_samples_of(struct opening *op, pid_t tid)
{
	struct perf_event_attr attr;

	perf_attr_samples(&attr, &op->asked);
	return open_on_all(op, &attr, tid);
}

/* Returns true to end the search: if one thread cannot be opened, the others are not tried. */
static bool open_thread(void *opening, pid_t pid, pid_t tid)
{
	struct opening *op = opening;

	for (size_t i = 0; i < op->nr_tids; i++)
		if (op->tids[i] == tid)
			return false;
	if (!array_room(&op->tids, &op->room_tids, op->nr_tids, sizeof(*op->tids))) {
		op->error = ENOMEM;
		return true;
	}
	op->tids[op->nr_tids++] = tid;
	if (!op->open_of(op, tid) && op->error == ESRCH)
		op->error = 0;	/* the thread has just ended */
	return op->error;
}

/* Opens the events of all threads, including those that are created meanwhile. */
static bool open_threads(struct opening *op, bool (*open_of)(struct opening *op, pid_t tid))
{
	size_t before;

	op->open_of = open_of;
	op->nr_tids = 0;
	op->error = 0;
	for (int i = 0; i < LISTINGS_MAX; i++) {
		before = op->nr_tids;
		if (proc_find_thread(op->o->pid, open_thread, op))
			return false;
		if (op->nr_tids == before)
			break;
	}
	if (!op->nr_tids)
		op->error = ESRCH;
	return op->nr_tids;
}

/* Returns an array of the online CPUs; NULL: no memory. */
static int *online_cpus(unsigned *nr)
{
	uint8_t is_online[CPULIST_MAX] = { 0 };
	unsigned end = cpulist_read("/sys/devices/system/cpu/online", is_online);
	int *cpus = calloc(end + 1, sizeof(*cpus));

	*nr = 0;
	for (unsigned cpu = 0; cpus && cpu < end; cpu++)
		if (is_online[cpu])
			cpus[(*nr)++] = cpu;
	return cpus;
}

static size_t ring_size(size_t total, unsigned nr_cpus)
{
	size_t each = (total ? total : RINGS_DEFAULT) / nr_cpus, size = RING_MIN;

	if (!total && each > RING_DEFAULT)
		each = RING_DEFAULT;
	while (size < RING_MAX && 2 * size <= each)
		size *= 2;
	return size;
}

/* Raises the limit of descriptors, because each thread needs one for each event and CPU. */
static void raise_fd_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void explain(const struct opening *op, char *why, size_t size)
{
	static const char *const needs[] = {
		[PERF_TRACEPOINTS] = "tracepoints", [PERF_SWITCHES_ALL] = "the other threads' switches",
		[PERF_SWITCHES_OWN] = "the program's switches",
	};
	static const int limit[] = { [PERF_TRACEPOINTS] = -1, [PERF_SWITCHES_ALL] = 0,
				     [PERF_SWITCHES_OWN] = 2 };
	int paranoid = proc_number("/proc/sys/kernel/perf_event_paranoid", 2);
	enum perf_mode mode = op->s->mode;

	/* EACCES although the settings permit it: ldb-record may not trace this process. */
	if (op->error == EACCES && mode == PERF_SWITCHES_OWN && paranoid <= limit[mode]) {
		snprintf(why, size, "process %d may not be traced: it belongs to another user, or has rights that ldb-record lacks; run ldb-record as root",
			 op->o->pid);
		return;
	}
	switch (op->error) {
	case EPERM:
	case EACCES:
		if (paranoid > limit[mode])
			snprintf(why, size, "kernel.perf_event_paranoid is %d: %s need CAP_PERFMON, or sysctl kernel.perf_event_paranoid=%d",
				 paranoid, needs[mode], limit[mode]);
		else
			snprintf(why, size, "perf_event_open is not permitted here, for %s: a container's seccomp filter, or lockdown",
				 needs[mode]);
		break;
	case ENOSYS:
	case ENOENT:
	case EOPNOTSUPP:
		snprintf(why, size, "this kernel was built without perf events");
		break;
	case ESRCH:
		snprintf(why, size, "process %d has ended", op->o->pid);
		break;
	case EMFILE:
	case ENFILE:
		snprintf(why, size, "too many threads for perf: %zu on %u CPUs, raise ulimit -n",
			 op->nr_tids, op->nr_cpus);
		break;
	default:
		snprintf(why, size, "perf_event_open for %s: %s", needs[mode], strerror(op->error));
	}
}

static bool open_mode(struct opening *op)
{
	switch (op->s->mode) {
	case PERF_TRACEPOINTS: return open_tracepoints(op, PERF_OF_ALL, -1);
	case PERF_SWITCHES_ALL: return open_switches_of(op, -1);
	case PERF_SWITCHES_OWN: return open_threads(op, open_switches_of);
	}
	return false;
}

static bool prepare(struct opening *op)
{
	struct perf_fds *s = op->s;

	op->cpus = online_cpus(&op->nr_cpus);
	s->rings = op->nr_cpus ? calloc(op->nr_cpus, sizeof(*s->rings)) : NULL;
	if (!s->rings) {
		op->error = ENOMEM;
		return false;
	}
	s->nr_rings = op->nr_cpus;
	op->asked.ring_size = ring_size(op->o->ring_bytes, op->nr_cpus);
	raise_fd_limit();
	return true;
}

static void drop_fds(struct perf_fds *s, unsigned from)
{
	while (s->nr_fds > from)
		close(s->fds[--s->nr_fds]);
}

/* Opens the events of all threads, or of none: a part of the events would be misleading. */
static bool add_threads(struct opening *op, bool (*open_of)(struct opening *op, pid_t tid))
{
	unsigned before = op->s->nr_fds;

	if (open_threads(op, open_of))
		return true;
	drop_fds(op->s, before);
	return false;
}

static bool add_tracepoints(struct opening *op, enum perf_scope scope)
{
	op->scope = scope;
	return add_threads(op, open_tracepoints_of);
}

/* Appends a reason why something is missing. */
static void add_why(char *why, size_t size, const char *what)
{
	size_t n = strlen(why);

	snprintf(why + n, size - n, "%s%s", n ? "; " : "", what);
}

static void add_why_none(const struct opening *op, const char *what, char *why, size_t size)
{
	bool too_many = op->error == EMFILE || op->error == ENFILE;
	char text[128];

	snprintf(text, sizeof(text), "no %s: %s", what,
		 too_many ? "too many threads for perf, raise ulimit -n" :
			    "perf_event_open does not provide them");
	add_why(why, size, text);
}

static void add_faults(struct opening *op, char *why, size_t why_size)
{
	bool has_faults;

	if (!perf_tids_are_keys(op->s->mode)) {
		add_why(why, why_size, "no page faults: in a pid namespace perf cannot tell whose they are");
		return;
	}
	has_faults = add_threads(op, open_faults_of);
	if (!has_faults && (op->error == EACCES || op->error == EPERM)) {
		op->asked.user_only = true;
		has_faults = add_threads(op, open_faults_of);
	}
	if (has_faults)
		op->s->events |= LDB_GROUP_FAULT;
	else
		add_why_none(op, "page faults", why, why_size);
}

static void add_calls(struct opening *op, char *why, size_t why_size)
{
	struct perf_fds *s = op->s;

	if (!op->o->has_calls)
		return;
	if (!perf_tids_are_keys(s->mode)) {
		add_why(why, why_size, "no system calls: in a pid namespace perf cannot tell whose they are");
		return;
	}
	if (!CPU_CALL_REGS || !add_threads(op, open_calls_of)) {
		add_why_none(op, "system calls", why, why_size);
		return;
	}
	s->events |= LDB_GROUP_CALL;
	if (!op->o->has_all_calls)
		return;
	if (s->mode == PERF_TRACEPOINTS && op->formats->tp[PERF_TP_CALL_ENTER].id &&
	    op->formats->tp[PERF_TP_CALL_LEAVE].id && add_tracepoints(op, PERF_OF_CALLS))
		s->events |= LDB_GROUP_CALL_ALL;
	else
		add_why(why, why_size, "no system calls but those that a thread sleeps in: they need the tracepoints raw_syscalls");
}

/*
 * Opens tracepoints of disks for all threads on the machine, because other threads may make
 * requests for a thread that waits.
 */
static void add_disks(struct opening *op, char *why, size_t why_size)
{
	struct perf_fds *s = op->s;
	unsigned before = s->nr_fds;

	if (!op->o->has_calls)
		return;
	for (int tp = PERF_TP_DISK_INSERT; tp <= PERF_TP_DISK_END; tp++) {
		if (op->formats->tp[tp].id)
			continue;
		add_why(why, why_size, "no block devices: this kernel has no tracepoints of them that ldb knows");
		return;
	}
	if (open_tracepoints(op, PERF_OF_DISKS, -1)) {
		s->events |= LDB_GROUP_DISK;
	} else {
		drop_fds(s, before);
		add_why_none(op, "block devices", why, why_size);
	}
}

static void add_irqs(struct opening *op, char *why, size_t why_size)
{
	struct perf_fds *s = op->s;

	for (int tp = PERF_TP_IRQ_ENTRY; tp <= PERF_TP_SOFTIRQ_EXIT; tp++) {
		if (op->formats->tp[tp].id)
			continue;
		add_why(why, why_size, "no interrupts: this kernel has no tracepoints of them that ldb knows");
		return;
	}
	s->irqs_from = s->nr_fds;
	if (add_tracepoints(op, PERF_OF_IRQS))
		s->events |= LDB_GROUP_IRQ;
	else
		add_why_none(op, "interrupts", why, why_size);
	s->irqs_end = s->nr_fds;
}

bool perf_fds_open(struct perf_fds *s, enum perf_mode mode, const struct perf_options *o,
		   struct perf_formats *formats, int clock, char *why, size_t why_size)
{
	struct opening op = { .s = s, .o = o, .formats = formats,
			      .asked = { .mode = mode, .clock = clock } };
	bool good;

	memset(s, 0, sizeof(*s));
	s->mode = mode;
	if (mode == PERF_TRACEPOINTS && !perf_tracefs_read(formats, o->has_all_calls, why, why_size))
		return false;
	good = prepare(&op) && open_mode(&op);
	if (good) {
		*why = '\0';
		add_calls(&op, why, why_size);
		add_faults(&op, why, why_size);
		if (mode == PERF_TRACEPOINTS) {
			add_irqs(&op, why, why_size);
			add_disks(&op, why, why_size);
		}
		for (unsigned i = 0; i < s->nr_fds; i++)
			ioctl(s->fds[i], PERF_EVENT_IOC_ENABLE, 0);
	} else {
		explain(&op, why, why_size);
		perf_fds_close(s);
	}
	free(op.cpus);
	free(op.tids);
	return good;
}

static void unmap_rings(struct perf_fds *s)
{
	for (unsigned i = 0; i < s->nr_rings; i++)
		perf_ring_unmap(&s->rings[i]);
}

static bool open_samples_as(struct opening *op, const struct perf_sampling *how)
{
	bool good;

	op->asked.user_only = how->is_user_only;
	good = how->is_of_threads ? add_threads(op, open_samples_of) : open_samples_of(op, -1);
	if (!good) {
		unmap_rings(op->s);
		drop_fds(op->s, 0);
	}
	return good;
}

/*
 * Tries the best kind of counter first.  A CPU's counter continues when threads switch; a thread's
 * counter makes each switch slower.
 */
static bool open_best_samples(struct opening *op, struct perf_sampling *how, bool may_slow)
{
	static const struct { bool is_of_threads, is_user_only, is_cycles; } ways[] = {
		{ false, false, true }, { false, false, false },
		{ true, false, true }, { true, false, false }, { true, true, true }, { true, true, false },
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways) && (may_slow || !ways[i].is_of_threads); i++) {
		how->is_of_threads = ways[i].is_of_threads;
		how->is_user_only = ways[i].is_user_only;
		how->is_cycles = ways[i].is_cycles;
		if (open_samples_as(op, how))
			return true;
	}
	return false;
}

bool perf_fds_open_samples(struct perf_fds *s, const struct perf_options *o, struct perf_sampling *how,
			   bool may_slow, int clock, char *why, size_t why_size)
{
	struct opening op = { .s = s, .o = o,
			      .asked = { .mode = PERF_SWITCHES_OWN, .clock = clock, .sampling = how } };
	bool good;

	memset(s, 0, sizeof(*s));
	s->mode = PERF_SWITCHES_OWN;
	good = prepare(&op) && open_best_samples(&op, how, may_slow);
	if (!good) {
		if (op.error == EACCES || op.error == EPERM)
			snprintf(why, why_size, "%s", may_slow ? "perf_event_open is not permitted" :
				 "they need CAP_PERFMON; --samples=HZ takes them without, but makes each switch of threads slower");
		else
			snprintf(why, why_size, "perf_event_open: %s", strerror(op.error));
		perf_fds_close(s);
	}
	for (unsigned i = 0; i < s->nr_fds && !how->is_of_threads; i++)
		ioctl(s->fds[i], PERF_EVENT_IOC_ENABLE, 0);
	free(op.cpus);
	free(op.tids);
	return good;
}

static bool open_probes_of(struct opening *op, pid_t tid)
{
	struct perf_event_attr attr;

	for (size_t i = 0; i < op->nr_probes; i++) {
		perf_attr_tracepoint(&attr, &op->asked, op->probes[i]);
		perf_attr_thread(&attr);
		if (!open_on_all(op, &attr, tid))
			return false;
	}
	return true;
}

bool perf_fds_open_probes(struct perf_fds *s, const struct perf_options *o, const int *probes, size_t nr_probes,
			  int clock, char *why, size_t why_size)
{
	struct opening op = { .s = s, .o = o, .probes = probes, .nr_probes = nr_probes,
			      .asked = { .mode = PERF_SWITCHES_OWN, .clock = clock } };
	bool good;

	memset(s, 0, sizeof(*s));
	s->mode = PERF_TRACEPOINTS;
	good = prepare(&op) && add_threads(&op, open_probes_of);
	if (!good) {
		explain(&op, why, why_size);
		perf_fds_close(s);
	}
	free(op.cpus);
	free(op.tids);
	return good;
}

bool perf_fds_add_switches(struct perf_fds *s, unsigned ring, int clock)
{
	struct opening op = { .s = s, .asked = { s->mode, clock, s->rings[ring].size } };
	struct perf_event_attr attr;
	int cpus[ring + 1];

	cpus[ring] = s->rings[ring].cpu;
	op.cpus = cpus;
	perf_attr_switches(&attr, &op.asked);
	attr.comm = attr.comm_exec = attr.task = 0;
	attr.disabled = 0;
	return open_on(&op, &attr, -1, ring);
}

void perf_fds_disable(struct perf_fds *s, unsigned from, unsigned end)
{
	for (unsigned i = from; i < end; i++)
		ioctl(s->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

void perf_fds_enable(struct perf_fds *s)
{
	for (unsigned i = 0; i < s->nr_fds; i++)
		if (!(s->are_irqs_left_out && i >= s->irqs_from && i < s->irqs_end))
			ioctl(s->fds[i], PERF_EVENT_IOC_ENABLE, 0);
}

uint64_t perf_fds_lost(const struct perf_fds *s)
{
	uint64_t value[2], lost = 0;	/* count, and value of PERF_FORMAT_LOST */

	for (unsigned i = 0; i < s->nr_fds; i++)
		if (read(s->fds[i], value, sizeof(value)) == sizeof(value))
			lost += value[1];
	return lost;
}

void perf_fds_close(struct perf_fds *s)
{
	unmap_rings(s);
	drop_fds(s, 0);
	free(s->rings);
	free(s->fds);
	memset(s, 0, sizeof(*s));
}
