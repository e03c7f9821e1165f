// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses the source of a recording's kernel events: the kernel module, whose session then becomes
 * the recording's; BPF programs; perf_event_open(2); or none.  Without events, the runtime may read
 * counters of the kernel.  Reports which better sources were not used, and why.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cli/error.h"
#include "record/kernel/device-chains.h"
#include "record/kernel/device.h"
#include "record/kernel/ebpf.h"
#include "record/perf/perf.h"
#include "record/process/proc.h"
#include "record/run/recording.h"

/* a child's rings of BPF programs are smaller by this factor */
#define CHILD_PART	4
/* The bytes of the ring of each CPU, if only long calls are recorded as events. */
#define FLOWS_RING	(256 << 10)

static const char *const names[] = { "auto", "module", "bpf", "perf", "schedstat", "none" };

const char *kernel_name(const struct recording *r)
{
	return names[r->kernel];
}

static void add_why(struct recording *r, const char *source, const char *why)
{
	size_t n = strlen(r->kernel_why);

	snprintf(r->kernel_why + n, sizeof(r->kernel_why) - n, "%s%s: %s", n ? "; " : "", source,
		 why);
}

/*
 * Returns true if the program belongs to another user: it must not be able to forge kernel events.
 */
static bool is_foreign(pid_t pid)
{
	struct stat st;

	return proc_stat(pid, "", &st) && st.st_uid != geteuid();
}

/*
 * Explains missing groups of events: the kernel lacks some tracepoints, or the module is of an
 * earlier release.
 */
static void explain_groups(struct recording *r, uint32_t wanted)
{
	uint32_t missing = wanted & ~r->session.events;

	if (missing & LDB_GROUP_FAULT && missing & LDB_GROUP_IRQ)
		add_why(r, "module", "it is of an older release: no page faults, no interrupts");
	else if (missing & LDB_GROUP_FAULT)
		add_why(r, "module", "this kernel has no tracepoint for page faults");
	else if (missing & LDB_GROUP_IRQ)
		add_why(r, "module", "this kernel has no tracepoints for interrupts");
	if (missing & LDB_GROUP_CALL)
		add_why(r, "module", "it is of an older release: no system calls");
	else if (missing & LDB_GROUP_CALL_ALL)
		add_why(r, "module", "system calls that do not sleep need CAP_PERFMON (run it as root)");
	if (missing & LDB_GROUP_DISK)
		add_why(r, "module", "it is of an older release, or this kernel has no tracepoints: no block devices");
	if (missing & LDB_GROUP_FUTEX)
		add_why(r, "module", "ftrace delivers no futex calls: sysctl kernel.ftrace_enabled=1");
}

static void explain_threads(struct recording *r)
{
	char why[128];

	if (r->session.info.max_threads == SESSION_THREADS)
		return;
	snprintf(why, sizeof(why), "locked memory is scarce: %u threads are watched at most (ulimit -l)",
		 r->session.info.max_threads);
	add_why(r, "module", why);
}

static uint32_t wanted_groups(const struct recording *r)
{
	switch (r->o->calls) {
	case CALLS_OFF: return LDB_GROUP_ALL & ~(LDB_GROUP_CALL | LDB_GROUP_CALL_ALL | LDB_GROUP_DISK);
	case CALLS_SLEEP: return LDB_GROUP_ALL & ~LDB_GROUP_CALL_ALL;
	default: return LDB_GROUP_ALL;
	}
}

static bool open_module(struct recording *r)
{
	struct device_options o = {
		.events = wanted_groups(r), .call_min_ns = r->o->call_threshold_ns,
		.ring_bytes = r->o->ring_bytes, .nr_scanners = r->o->nr_scanners,
		.clock_id = r->o->monotonic ? LDB_CLOCK_MONO : 0,
		.pid = r->o->kernel_only ? r->pid : 0,
		.split = r->o->kernel_only || is_foreign(r->pid),
	};
	char why[256];

	/* The module stamps with the kernel's own clock, and writes into the program's session. */
	if (r->clock_id == LDB_CLOCK_MONO && r->offset_ns) {
		add_why(r, "module", "the program is in another time namespace");
		return false;
	}
	if (device_open(&r->session, &o, why, sizeof(why))) {
		add_why(r, "module", why);
		return false;
	}
	if (r->session.info.clock_id == LDB_CLOCK_MONO && r->offset_ns) {
		add_why(r, "module", "the program is in another time namespace");
		session_close(&r->session);
		return false;
	}
	r->kernel = KERNEL_MODULE;
	explain_groups(r, o.events);
	explain_threads(r);
	if (r->session.info.clock_id != r->clock_id) {
		r->clock_id = r->session.info.clock_id;
		clock_sample(r->clock_id, &r->first_clock);
	}
	return true;
}

static void open_readings(struct recording *r)
{
	if (r->kernel != KERNEL_MODULE || !r->o->kernel_frames || r->o->kernel_only)
		return;
	r->source = device_chains_open(&r->session, readings_budget_ppm(r->o->budget_ppm),
				       r->o->kernel_frames == FRAMES_ON);
	if (!r->source)
		add_why(r, names[KERNEL_MODULE], "it is of an older release: no readings of functions");
}

static void store_row(void *arg, unsigned kind, const void *row)
{
	struct recording *r = arg;

	if (kind == LDB_BLK_LOST)
		r->nr_lost += ((const struct ldb_row_lost *)row)->count;
	pack_row(r->pack, kind, row);
}

static struct kernel_source *open_ebpf(struct recording *r, char *why, size_t size)
{
	struct ebpf_options o = {
		.pid = r->pid, .clock_id = r->clock_id, .t0 = r->t0, .offset_ns = r->offset_ns,
		/*
		 * The rings are allocated completely at the start, and there may be many children.
		 */
		.ring_bytes = r->o->child && !r->o->ring_given ? r->o->ring_bytes / CHILD_PART : r->o->ring_bytes,
		.has_frames = r->o->kernel_frames && !r->o->kernel_only,
		.has_samples = r->o->kernel_frames == FRAMES_ON,
		.budget_ppm = readings_budget_ppm(r->o->budget_ppm),
		.has_calls = r->o->calls != CALLS_OFF,
		.has_all_calls = r->o->calls == CALLS_ALL, .call_min_ns = r->o->call_threshold_ns,
		.verbose = r->o->verbose,
	};
	struct kernel_source *s = ebpf_open(&r->session, &o, why, size);

	/*
	 * Some older kernels reject programs with the loops that read chains, so try again without
	 * reading chains.
	 */
	if (!s && r->o->kernel_frames == FRAMES_AUTO && o.has_frames) {
		o.has_frames = false;
		s = ebpf_open(&r->session, &o, why, size);
		if (s && !s->why_not_better[0])
			snprintf(s->why_not_better, sizeof(s->why_not_better), "no readings of functions here");
	}
	return s;
}

static struct kernel_source *open_perf(struct recording *r, char *why, size_t size)
{
	struct perf_options o = {
		.pid = r->pid, .clock_id = r->clock_id, .t0 = r->t0, .offset_ns = r->offset_ns,
		.has_calls = r->o->calls != CALLS_OFF, .has_all_calls = r->o->calls == CALLS_ALL,
		.call_min_ns = r->o->call_threshold_ns,
	};
	struct perf_sink sink = { store_row, r };

	return perf_open(&o, &sink, why, size);
}

/*
 * Returns true if another recorder of kernel events is not wanted: each one makes each switch of
 * any thread slower.
 */
static bool leaves_events_out(const struct recording *r)
{
	return r->o->child && r->o->child->without_kernel && r->o->kernel == KERNEL_AUTO;
}

static bool wants(const struct recording *r, enum kernel_choice source)
{
	if (leaves_events_out(r) && source < KERNEL_SCHEDSTAT)
		return false;
	return r->o->kernel == (int)source || r->o->kernel == KERNEL_AUTO;
}

/*
 * Lists the numbers of CPUs whose events were not delivered, separated by blanks; returns their
 * count.
 */
static unsigned list_deaf(const struct kernel_source *s, char *list, size_t size)
{
	unsigned nr = 0;
	size_t n = 0;

	*list = '\0';
	for (unsigned cpu = 0; cpu < CPULIST_MAX && n < size; cpu++) {
		if (!s->is_deaf[cpu])
			continue;
		n += snprintf(list + n, size - n, "%s%u", nr ? " " : "", cpu);
		nr++;
	}
	return nr;
}

static void open_source(struct recording *r, enum kernel_choice which,
			struct kernel_source *(*open)(struct recording *r, char *why, size_t size))
{
	char why[256], cpus[512];

	if (r->kernel != KERNEL_NONE || !wants(r, which))
		return;
	r->source = open(r, why, sizeof(why));
	if (!r->source) {
		add_why(r, names[which], why);
		return;
	}
	r->kernel = which;
	r->session.events = r->source->events;
	r->nr_deaf = list_deaf(r->source, cpus, sizeof(cpus));
	if (r->source->why_not_better[0])
		add_why(r, names[which], r->source->why_not_better);
}

/*
 * Uses the kernel's scheduling statistics of threads, which any user may read if the kernel has
 * them.
 */
static void open_schedstat(struct recording *r)
{
	unsigned long long ran, waited, nr_runs = 0;
	char line[128];

	if (r->kernel != KERNEL_NONE || !wants(r, KERNEL_SCHEDSTAT) || r->o->kernel_only)
		return;
	if (!proc_line(r->pid, r->pid, "schedstat", line, sizeof(line)) ||
	    sscanf(line, "%llu %llu %llu", &ran, &waited, &nr_runs) != 3 || !nr_runs)
		add_why(r, names[KERNEL_SCHEDSTAT], "this kernel does not count how long threads wait for a CPU (CONFIG_SCHEDSTATS)");
	else
		r->kernel = KERNEL_SCHEDSTAT;
}

/* Returns true if the user has chosen a source: no other one is tried. */
static bool is_demanded(const struct recording *r)
{
	return r->o->kernel != KERNEL_AUTO && r->o->kernel != KERNEL_NONE;
}

/*
 * Returns the size of the rings.  A ring that was filled once counts as memory of the program, so
 * rings are small if functions are not recorded and there are few events.
 */
static uint64_t ring_bytes(const struct recording *r)
{
	uint64_t small = (uint64_t)FLOWS_RING * session_count_cpus();

	return r->o->flows && !r->o->ring_given && !r->target.has_records && small < r->o->ring_bytes ?
		       small : r->o->ring_bytes;
}

static bool open_memfd(struct recording *r, uint64_t hz)
{
	int rc;

	r->ring_bytes = ring_bytes(r);
	rc = session_open(&r->session, r->ring_bytes, r->o->nr_scanners, r->clock_id, hz);
	if (rc)
		cli_error("cannot make the session memory: %s", strerror(-rc));
	return !rc;
}

static void begin(struct recording *r)
{
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	r->t0 = clock_now(r->clock_id);
	r->realtime_ns = real.tv_sec * 1000000000LL + real.tv_nsec;
	r->costs.held_ns = clock_mono_ns();
}

bool kernel_open(struct recording *r, uint64_t *hz)
{
	r->kernel = KERNEL_NONE;
	r->kernel_why[0] = '\0';
	if (leaves_events_out(r))
		add_why(r, "events", "left out, enough other processes are recorded with them");
	if (wants(r, KERNEL_MODULE))
		open_module(r);
	*hz = clock_calibrate(r->clock_id, &r->first_clock);
	if (r->kernel == KERNEL_NONE && !open_memfd(r, *hz))
		return false;
	begin(r);
	open_readings(r);
	open_source(r, KERNEL_BPF, open_ebpf);
	open_source(r, KERNEL_PERF, open_perf);
	open_schedstat(r);
	if (r->kernel == KERNEL_NONE && (r->o->kernel_only || is_demanded(r))) {
		cli_error("no kernel events can be had: %s", r->kernel_why);
		return false;
	}
	return true;
}

/* Writes why something is not recorded; reports show this with the source. */
static void write_why(struct recording *r, const char *why)
{
	add_why(r, names[r->kernel], why);
	writer_add_meta(r->writer, "kernel_why", r->kernel_why);
}

/* Called if kernel events do not resume after a pause; they are missing from then on. */
static void resume_failed(struct recording *r, int error)
{
	struct ldb_row_lost lost = { .tick = recording_tick(r, clock_now(r->clock_id)), .what = LDB_LOST_KERNEL, .count = 1 };
	char text[128];

	snprintf(text, sizeof(text), "no kernel events from %.1f s on, they could not be resumed after a pause: %s",
		 lost.tick / (double)r->session.info.tsc_hz, strerror(error));
	cli_warn("%s", text);
	write_why(r, text);
	store_row(r, LDB_BLK_LOST, &lost);
}

/*
 * Called after a pause: reports which groups of events the module can no longer deliver, or that it
 * delivers all of them again.
 */
static void resumed_without(struct recording *r, uint32_t missing)
{
	double since = recording_tick(r, clock_now(r->clock_id)) / (double)r->session.info.tsc_hz;
	char text[160];

	if (missing == r->costs.missing)
		return;
	r->costs.missing = missing;
	if (!missing)
		snprintf(text, sizeof(text), "all kernel events come again from %.1f s on", since);
	else
		snprintf(text, sizeof(text), "after a pause there are no %s from %.1f s on%s",
			 missing == LDB_GROUP_FUTEX ? "futex calls" : "kernel events of some kinds", since,
			 missing & LDB_GROUP_FUTEX ? ", ftrace does not deliver them: sysctl kernel.ftrace_enabled=1" : "");
	if (missing)
		cli_warn("%s", text);
	write_why(r, text);
}

void kernel_pause(struct recording *r, bool pause)
{
	int missing = device_pause(&r->session, pause), ret = missing < 0 ? missing : 0;

	/* Rows from before the pause are delivered first. */
	if (!pause)
		kernel_poll(r);
	if (!ret && r->source && r->source->ops->pause)
		ret = r->source->ops->pause(r->source, pause);
	if (pause)
		return;
	if (ret)
		resume_failed(r, -ret);
	else
		resumed_without(r, missing);
}

void kernel_close(struct recording *r)
{
	if (r->source)
		r->source->ops->close(r->source);
	r->source = NULL;
}

static void write_calls(struct recording *r)
{
	char text[32];

	if (!(r->session.events & LDB_GROUP_CALL))
		return;
	writer_add_meta(r->writer, "kernel_syscalls",
			r->session.events & LDB_GROUP_CALL_ALL ? "all" : "sleep");
	if (!(r->session.events & LDB_GROUP_CALL_ALL))
		return;
	snprintf(text, sizeof(text), "%" PRIu64, r->o->call_threshold_ns);
	writer_add_meta(r->writer, "kernel_syscalls_ns", text);
}

void kernel_metas(struct recording *r)
{
	writer_add_meta(r->writer, "kernel_events", kernel_name(r));
	if (r->kernel_why[0])
		writer_add_meta(r->writer, "kernel_why", r->kernel_why);
	if (r->session.events & LDB_GROUP_FAULT)
		writer_add_meta(r->writer, "kernel_faults", "1");
	if (r->session.events & LDB_GROUP_IRQ)
		writer_add_meta(r->writer, "kernel_irqs", "1");
	if (r->session.events & LDB_GROUP_DISK)
		writer_add_meta(r->writer, "kernel_disk", "1");
	write_calls(r);
}

unsigned kernel_poll(struct recording *r)
{
	return r->source ? r->source->ops->poll(r->source) : 0;
}

/* Writes the list of deaf CPUs; some may have been found during the recording. */
static void write_deaf(struct recording *r)
{
	char text[600], cpus[512];
	unsigned nr = list_deaf(r->source, cpus, sizeof(cpus));

	if (!nr)
		return;
	writer_add_meta(r->writer, "kernel_deaf", cpus);
	if (nr == r->nr_deaf)
		return;
	snprintf(text, sizeof(text), "this kernel dropped events of some tasks on CPU %s", cpus);
	write_why(r, text);
}

static void meta_number(struct recording *r, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	writer_add_meta(r->writer, key, text);
}

void kernel_finish(struct recording *r)
{
	struct ldb_row_lost lost = { .what = LDB_LOST_KERNEL };
	struct kernel_source *s = r->source;

	if (!s)
		return;
	s->ops->finish(s);
	lost.tick = recording_tick(r, clock_now(r->clock_id));
	lost.count = s->nr_lost;
	if (lost.count)
		store_row(r, LDB_BLK_LOST, &lost);
	write_deaf(r);
	if (s->clock)
		meta_number(r, "kernel_err_ns", kernel_clock_err_ns(s->clock));
	if (!s->sample_ns)
		return;
	meta_number(r, "kernel_frames_ns", s->sample_ns);
	meta_number(r, "kernel_frames_price_ns", s->interrupt_ns);
}

/*
 * --kernel-budget limits what recording interrupts may cost, and --budget what readings of frames
 * may cost.
 *
 * Each interrupt needs two events, which is expensive if there are many interrupts.  For example,
 * if a program sends messages to another one on the same machine, each of them is handled in a soft
 * interrupt of its own.  Switches and wake-ups are never left out, because causes are derived from
 * them.  Page faults are not left out, either: a fault takes ten times as long as recording it.
 */

#define LOOK_NS		100000000	/* interval of the checks */
#define CPU_MIN_NS	100000000	/* CPU time after which the cost is checked */
/* A scanner that runs for less than 1/4 of the time observes little. */
#define AWAY_PART	4

/*
 * Returns the CPU time of all threads of the process, including those that have ended; 0: the
 * process has ended.
 */
static uint64_t cpu_time(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void leave_out(struct recording *r, double percent)
{
	double since = recording_tick(r, clock_now(r->clock_id)) / (double)r->session.info.tsc_hz;
	char text[200];

	r->costs.are_irqs_left_out = true;
	snprintf(text, sizeof(text),
		 "%s are left out from %.1f s on, they cost %.1f %% of the program's CPU time (--kernel-budget %g%%)",
		 r->source->ops->leave_out_irqs(r->source), since, percent,
		 r->o->kernel_budget_ppm / 10000.0);
	cli_warn("%s", text);
	write_why(r, text);
}

static void hold_irqs(struct recording *r, uint64_t cpu_ns)
{
	uint64_t nr = pack_nr_irqs(r->pack);
	double percent = 100.0 * (nr - r->costs.nr_irqs) * r->source->ops->irq_ns / cpu_ns;

	r->costs.nr_irqs = nr;
	if (!r->costs.are_irqs_left_out && r->source->events & LDB_GROUP_IRQ &&
	    percent * 10000 > r->o->kernel_budget_ppm)
		leave_out(r, percent);
}

static int64_t ticks_ns(const struct recording *r, int64_t ticks)
{
	return (__int128)ticks * 1000000000 / (int64_t)r->session.info.tsc_hz;
}

/* Sums what the scanners' polls have cost the program's threads, and how long the scanners ran. */
static void count_scanners(const struct recording *r, uint64_t *polls, uint64_t *ran)
{
	*polls = *ran = 0;

	for (unsigned i = 0; i < r->session.info.nr_scanners; i++) {
		const volatile struct ldb_scan_stats *s = &session_info(&r->session)->scan[i];

		*polls += s->cost_tsc;
		*ran += s->busy_tsc - s->gap_tsc;
	}
}

static void hold_readings(struct recording *r, uint64_t cpu_ns, uint64_t wall_ns)
{
	uint64_t polls, ran;
	struct kernel_costs costs = { .cpu_ns = cpu_ns, .wall_ns = wall_ns };

	count_scanners(r, &polls, &ran);
	costs.polls_ns = ticks_ns(r, polls - r->costs.polls);
	wall_ns *= r->session.info.nr_scanners;
	/*
	 * An observation gap is counted only when it ends, so the running time may seem to
	 * decrease.
	 */
	costs.is_scanner_away = ticks_ns(r, ran - r->costs.ran) < (int64_t)(wall_ns / AWAY_PART);
	r->costs.polls = polls;
	r->costs.ran = ran;
	if (r->source->ops->hold_budget)
		r->source->ops->hold_budget(r->source, &costs);
}

void kernel_hold_budget(struct recording *r, int64_t now_ns)
{
	uint64_t cpu;

	if (!r->source || now_ns < r->costs.next_ns)
		return;
	r->costs.next_ns = now_ns + LOOK_NS;
	cpu = cpu_time(r->pid);
	if (cpu < r->costs.cpu_ns + CPU_MIN_NS)
		return;
	hold_readings(r, cpu - r->costs.cpu_ns, now_ns - r->costs.held_ns);
	hold_irqs(r, cpu - r->costs.cpu_ns);
	r->costs.cpu_ns = cpu;
	r->costs.held_ns = now_ns;
}
