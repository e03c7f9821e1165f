// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses the source of a recording's kernel events: the kernel module, whose session then becomes
 * the recording's; BPF programs; perf_event_open(2); or none.  Without events, the runtime may read
 * counters of the kernel.  Reports which better sources were not used, and why.
 */
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
#include "record/output/output.h"
#include "record/perf/perf.h"
#include "record/process/proc.h"

/* a child's rings of BPF programs are smaller by this factor */
#define CHILD_PART	4
/* The bytes of the ring of each CPU, if only long calls are recorded as events. */
#define FLOWS_RING	(256 << 10)

static const char *const names[] = { "auto", "module", "bpf", "perf", "schedstat", "none" };

const char *kernel_name(const struct output *out)
{
	return names[out->kernel.choice];
}

static void add_why(struct output *out, const char *source, const char *why)
{
	size_t n = strlen(out->kernel.why);

	snprintf(out->kernel.why + n, sizeof(out->kernel.why) - n, "%s%s: %s", n ? "; " : "", source,
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

/* Explains which groups of events are missing, and why. */
static void explain_groups(struct output *out, uint32_t wanted)
{
	uint32_t missing = wanted & ~out->session.events;

	if (missing & LDB_GROUP_FAULT && missing & LDB_GROUP_IRQ)
		add_why(out, "module", "it is of an older release: no page faults, no interrupts");
	else if (missing & LDB_GROUP_FAULT)
		add_why(out, "module", "this kernel has no tracepoint for page faults");
	else if (missing & LDB_GROUP_IRQ)
		add_why(out, "module", "this kernel has no tracepoints for interrupts");
	if (missing & LDB_GROUP_CALL)
		add_why(out, "module", "it is of an older release: no system calls");
	else if (missing & LDB_GROUP_CALL_ALL)
		add_why(out, "module", "system calls without a sleep need CAP_PERFMON (run it as root)");
	if (missing & LDB_GROUP_DISK)
		add_why(out, "module", "it is of an older release, or this kernel has no tracepoints: no block devices");
	if (missing & LDB_GROUP_FUTEX)
		add_why(out, "module", "ftrace delivers no futex calls: sysctl kernel.ftrace_enabled=1");
}

static void explain_threads(struct output *out)
{
	char why[128];

	if (out->session.info.max_threads == SESSION_THREADS)
		return;
	snprintf(why, sizeof(why), "locked memory is scarce: at most %u threads are observed (ulimit -l)",
		 out->session.info.max_threads);
	add_why(out, "module", why);
}

static uint32_t wanted_groups(const struct output *out)
{
	switch (out->o->calls) {
	case CALLS_OFF: return LDB_GROUP_ALL & ~(LDB_GROUP_CALL | LDB_GROUP_CALL_ALL | LDB_GROUP_DISK);
	case CALLS_SLEEP: return LDB_GROUP_ALL & ~LDB_GROUP_CALL_ALL;
	default: return LDB_GROUP_ALL;
	}
}

static bool open_module(struct output *out)
{
	struct device_options o = {
		.events = wanted_groups(out), .call_min_ns = out->o->call_threshold_ns,
		.ring_bytes = out->o->ring_bytes, .nr_scanners = out->o->nr_scanners,
		.clock_id = out->o->monotonic ? LDB_CLOCK_MONO : 0,
		.pid = out->o->kernel_only ? out->pid : 0,
		.split = out->o->kernel_only || is_foreign(out->pid),
	};
	char why[256];

	/* The module stamps with the kernel's own clock, without the offset of a time namespace. */
	if (out->clock_id == LDB_CLOCK_MONO && out->offset_ns) {
		add_why(out, "module", "the program is in another time namespace");
		return false;
	}
	if (device_open(&out->session, &o, why, sizeof(why))) {
		add_why(out, "module", why);
		return false;
	}
	if (out->session.info.clock_id == LDB_CLOCK_MONO && out->offset_ns) {
		add_why(out, "module", "the program is in another time namespace");
		session_close(&out->session);
		return false;
	}
	out->kernel.choice = KERNEL_MODULE;
	explain_groups(out, o.events);
	explain_threads(out);
	if (out->session.info.clock_id != out->clock_id) {
		out->clock_id = out->session.info.clock_id;
		clock_sample(out->clock_id, &out->first_clock);
	}
	return true;
}

static void open_readings(struct output *out)
{
	if (out->kernel.choice != KERNEL_MODULE || !out->o->kernel_frames || out->o->kernel_only)
		return;
	out->kernel.source = device_chains_open(&out->session, readings_budget_ppm(out->o->budget_ppm),
				       out->o->kernel_frames == FRAMES_ON);
	if (!out->kernel.source)
		add_why(out, names[KERNEL_MODULE], "it is of an older release: no readings of functions");
}

static void store_row(void *arg, unsigned kind, const void *row)
{
	struct output *out = arg;

	if (kind == LDB_BLK_LOST)
		out->total.nr_lost += ((const struct ldb_row_lost *)row)->count;
	pack_row(out->pack, kind, row);
}

static struct kernel_source *open_ebpf(struct output *out, char *why, size_t size)
{
	struct ebpf_options o = {
		.pid = out->pid, .clock_id = out->clock_id, .t0 = out->t0, .offset_ns = out->offset_ns,
		/*
		 * The rings are allocated completely at the start, and there may be many children.
		 */
		.ring_bytes = out->o->child && !out->o->ring_given ? out->o->ring_bytes / CHILD_PART : out->o->ring_bytes,
		.has_frames = out->o->kernel_frames && !out->o->kernel_only,
		.has_samples = out->o->kernel_frames == FRAMES_ON,
		.budget_ppm = readings_budget_ppm(out->o->budget_ppm),
		.has_calls = out->o->calls != CALLS_OFF,
		.has_all_calls = out->o->calls == CALLS_ALL, .call_min_ns = out->o->call_threshold_ns,
		.verbose = out->o->verbose,
	};
	struct kernel_source *s = ebpf_open(&out->session, &o, why, size);

	/*
	 * Some older kernels reject programs with the loops that read chains, so try again without
	 * reading chains.
	 */
	if (!s && out->o->kernel_frames == FRAMES_AUTO && o.has_frames) {
		o.has_frames = false;
		s = ebpf_open(&out->session, &o, why, size);
		if (s && !s->why_not_better[0])
			snprintf(s->why_not_better, sizeof(s->why_not_better), "it cannot read functions on this kernel");
	}
	return s;
}

static struct kernel_source *open_perf(struct output *out, char *why, size_t size)
{
	struct perf_options o = {
		.pid = out->pid, .clock_id = out->clock_id, .t0 = out->t0, .offset_ns = out->offset_ns,
		.has_calls = out->o->calls != CALLS_OFF, .has_all_calls = out->o->calls == CALLS_ALL,
		.call_min_ns = out->o->call_threshold_ns,
	};
	struct perf_sink sink = { store_row, out };

	return perf_open(&o, &sink, why, size);
}

/*
 * Returns true if this recording does without kernel events because enough others record them:
 * each recorder of kernel events makes each switch of any thread slower.
 */
static bool leaves_events_out(const struct output *out)
{
	return out->without_kernel && out->o->kernel == KERNEL_AUTO;
}

static bool wants(const struct output *out, enum kernel_choice source)
{
	if (leaves_events_out(out) && source < KERNEL_SCHEDSTAT)
		return false;
	return out->o->kernel == (int)source || out->o->kernel == KERNEL_AUTO;
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

static void open_source(struct output *out, enum kernel_choice which,
			struct kernel_source *(*open)(struct output *out, char *why, size_t size))
{
	char why[256], cpus[512];

	if (out->kernel.choice != KERNEL_NONE || !wants(out, which))
		return;
	out->kernel.source = open(out, why, sizeof(why));
	if (!out->kernel.source) {
		add_why(out, names[which], why);
		return;
	}
	out->kernel.choice = which;
	out->session.events = out->kernel.source->events;
	out->kernel.nr_deaf = list_deaf(out->kernel.source, cpus, sizeof(cpus));
	if (out->kernel.source->why_not_better[0])
		add_why(out, names[which], out->kernel.source->why_not_better);
}

/*
 * Uses the kernel's scheduling statistics of threads, which any user may read if the kernel has
 * them.
 */
static void open_schedstat(struct output *out)
{
	unsigned long long ran, waited, nr_runs = 0;
	char line[128];

	if (out->kernel.choice != KERNEL_NONE || !wants(out, KERNEL_SCHEDSTAT) || out->o->kernel_only)
		return;
	if (!proc_line(out->pid, out->pid, "schedstat", line, sizeof(line)) ||
	    sscanf(line, "%llu %llu %llu", &ran, &waited, &nr_runs) != 3 || !nr_runs)
		add_why(out, names[KERNEL_SCHEDSTAT], "this kernel does not count how long threads wait for a CPU (CONFIG_SCHEDSTATS)");
	else
		out->kernel.choice = KERNEL_SCHEDSTAT;
}

/* Returns true if the user has chosen a source: no other one is tried. */
static bool is_demanded(const struct output *out)
{
	return out->o->kernel != KERNEL_AUTO && out->o->kernel != KERNEL_NONE;
}

/*
 * Returns the size of the rings.  A ring that was filled once counts as memory of the program, so
 * rings are small if functions are not recorded and there are few events.
 */
static uint64_t ring_bytes(const struct output *out)
{
	uint64_t small = (uint64_t)FLOWS_RING * session_count_cpus();

	return out->o->flows && !out->o->ring_given && !out->has_records && small < out->o->ring_bytes ?
		       small : out->o->ring_bytes;
}

static bool open_memfd(struct output *out, uint64_t hz)
{
	int rc;

	out->ring_bytes = ring_bytes(out);
	rc = session_open(&out->session, out->ring_bytes, out->o->nr_scanners, out->clock_id, hz);
	if (rc)
		cli_error("cannot make the session memory: %s", strerror(-rc));
	return !rc;
}

static void begin(struct output *out)
{
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	out->t0 = clock_now(out->clock_id);
	out->realtime_ns = real.tv_sec * 1000000000LL + real.tv_nsec;
	out->kernel.costs.held_ns = clock_mono_ns();
}

bool kernel_open(struct output *out, uint64_t *hz)
{
	out->kernel.choice = KERNEL_NONE;
	out->kernel.why[0] = '\0';
	if (leaves_events_out(out))
		add_why(out, "events", "left out, enough other processes are recorded with them");
	if (wants(out, KERNEL_MODULE))
		open_module(out);
	*hz = clock_calibrate(out->clock_id, &out->first_clock);
	if (out->kernel.choice == KERNEL_NONE && !open_memfd(out, *hz))
		return false;
	begin(out);
	open_readings(out);
	open_source(out, KERNEL_BPF, open_ebpf);
	open_source(out, KERNEL_PERF, open_perf);
	open_schedstat(out);
	if (out->kernel.choice == KERNEL_NONE && (out->o->kernel_only || is_demanded(out))) {
		cli_error("kernel events are not available: %s", out->kernel.why);
		return false;
	}
	return true;
}

/* Writes which events are missing, or are recorded again; reports show this with the source. */
static void write_why(struct output *out, const char *why)
{
	add_why(out, names[out->kernel.choice], why);
	writer_add_meta(out->writer, "kernel_why", out->kernel.why);
}

/* Called if kernel events do not resume after a pause; they are missing from then on. */
static void resume_failed(struct output *out, int error)
{
	struct ldb_row_lost lost = { .tick = output_now(out), .what = LDB_LOST_KERNEL, .count = 1 };
	char text[128];

	snprintf(text, sizeof(text), "no kernel events from %.1f s on, they could not be resumed after a pause: %s",
		 lost.tick / (double)out->session.info.tsc_hz, strerror(error));
	cli_warn("%s", text);
	write_why(out, text);
	store_row(out, LDB_BLK_LOST, &lost);
}

/*
 * Called after a pause: reports which groups of events the module can no longer deliver, or that it
 * delivers all of them again.
 */
static void resumed_without(struct output *out, uint32_t missing)
{
	double since = output_now(out) / (double)out->session.info.tsc_hz;
	char text[160];

	if (missing == out->kernel.costs.missing)
		return;
	out->kernel.costs.missing = missing;
	if (!missing)
		snprintf(text, sizeof(text), "all kernel events are recorded again from %.1f s on", since);
	else
		snprintf(text, sizeof(text), "after a pause there are no %s from %.1f s on%s",
			 missing == LDB_GROUP_FUTEX ? "futex calls" : "kernel events of some kinds", since,
			 missing & LDB_GROUP_FUTEX ? ", ftrace does not deliver them: sysctl kernel.ftrace_enabled=1" : "");
	if (missing)
		cli_warn("%s", text);
	write_why(out, text);
}

void kernel_pause(struct output *out, bool pause)
{
	int missing = device_pause(&out->session, pause), ret = missing < 0 ? missing : 0;

	/* Rows from before the pause are delivered before the events resume. */
	if (!pause)
		kernel_poll(out);
	if (!ret && out->kernel.source && out->kernel.source->ops->pause)
		ret = out->kernel.source->ops->pause(out->kernel.source, pause);
	if (pause)
		return;
	if (ret)
		resume_failed(out, -ret);
	else
		resumed_without(out, missing);
}

void kernel_close(struct output *out)
{
	if (out->kernel.source)
		out->kernel.source->ops->close(out->kernel.source);
	out->kernel.source = NULL;
}

static void write_calls(struct output *out)
{
	char text[32];

	if (!(out->session.events & LDB_GROUP_CALL))
		return;
	writer_add_meta(out->writer, "kernel_syscalls",
			out->session.events & LDB_GROUP_CALL_ALL ? "all" : "sleep");
	if (!(out->session.events & LDB_GROUP_CALL_ALL))
		return;
	snprintf(text, sizeof(text), "%" PRIu64, out->o->call_threshold_ns);
	writer_add_meta(out->writer, "kernel_syscalls_ns", text);
}

void kernel_metas(struct output *out)
{
	writer_add_meta(out->writer, "kernel_events", kernel_name(out));
	if (out->kernel.why[0])
		writer_add_meta(out->writer, "kernel_why", out->kernel.why);
	if (out->session.events & LDB_GROUP_FAULT)
		writer_add_meta(out->writer, "kernel_faults", "1");
	if (out->session.events & LDB_GROUP_IRQ)
		writer_add_meta(out->writer, "kernel_irqs", "1");
	if (out->session.events & LDB_GROUP_DISK)
		writer_add_meta(out->writer, "kernel_disk", "1");
	write_calls(out);
}

unsigned kernel_poll(struct output *out)
{
	return out->kernel.source ? out->kernel.source->ops->poll(out->kernel.source) : 0;
}

/*
 * Writes the list of CPUs whose events were not delivered; some may have been found during the
 * recording.
 */
static void write_deaf(struct output *out)
{
	char text[600], cpus[512];
	unsigned nr = list_deaf(out->kernel.source, cpus, sizeof(cpus));

	if (!nr)
		return;
	writer_add_meta(out->writer, "kernel_deaf", cpus);
	if (nr == out->kernel.nr_deaf)
		return;
	snprintf(text, sizeof(text), "this kernel dropped events of some tasks on CPU %s", cpus);
	write_why(out, text);
}

static void meta_number(struct output *out, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	writer_add_meta(out->writer, key, text);
}

void kernel_finish(struct output *out)
{
	struct ldb_row_lost lost = { .what = LDB_LOST_KERNEL };
	struct kernel_source *s = out->kernel.source;

	if (!s)
		return;
	s->ops->finish(s);
	lost.tick = output_now(out);
	lost.count = s->nr_lost;
	if (lost.count)
		store_row(out, LDB_BLK_LOST, &lost);
	write_deaf(out);
	if (s->clock)
		meta_number(out, "kernel_err_ns", kernel_clock_err_ns(s->clock));
	if (!s->sample_ns)
		return;
	meta_number(out, "kernel_frames_ns", s->sample_ns);
	meta_number(out, "kernel_frames_price_ns", s->interrupt_ns);
}

/*
 * --kernel-budget limits what recording interrupts may cost, and --budget what readings of frames
 * may cost.
 *
 * Each interrupt is observed at its beginning and at its end, which is expensive if there are many
 * interrupts.  For example, if a program sends messages to another one on the same machine, each
 * message is handled in a soft interrupt of its own.  Switches and wake-ups are never left out,
 * because causes are derived from them.  Page faults are not left out, either: a fault takes much
 * longer than recording it.
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

static void leave_out(struct output *out, double percent)
{
	double since = output_now(out) / (double)out->session.info.tsc_hz;
	char text[200];

	out->kernel.costs.are_irqs_left_out = true;
	snprintf(text, sizeof(text),
		 "%s are left out from %.1f s on, they cost %.1f %% of the program's CPU time (--kernel-budget %g%%)",
		 out->kernel.source->ops->leave_out_irqs(out->kernel.source), since, percent,
		 out->o->kernel_budget_ppm / 10000.0);
	cli_warn("%s", text);
	write_why(out, text);
}

static void hold_irqs(struct output *out, uint64_t cpu_ns)
{
	uint64_t nr = pack_nr_irqs(out->pack);
	double percent = 100.0 * (nr - out->kernel.costs.nr_irqs) * out->kernel.source->ops->irq_ns / cpu_ns;

	out->kernel.costs.nr_irqs = nr;
	if (!out->kernel.costs.are_irqs_left_out && out->kernel.source->events & LDB_GROUP_IRQ &&
	    percent * 10000 > out->o->kernel_budget_ppm)
		leave_out(out, percent);
}

static int64_t ticks_ns(const struct output *out, int64_t ticks)
{
	return (__int128)ticks * 1000000000 / (int64_t)out->session.info.tsc_hz;
}

/* Sums what the scanners' polls have cost the program's threads, and how long the scanners ran. */
static void count_scanners(const struct output *out, uint64_t *polls, uint64_t *ran)
{
	*polls = *ran = 0;

	for (unsigned i = 0; i < out->session.info.nr_scanners; i++) {
		const volatile struct ldb_scan_stats *s = &session_info(&out->session)->scan[i];

		*polls += s->cost_tsc;
		*ran += s->busy_tsc - s->gap_tsc;
	}
}

static void hold_readings(struct output *out, uint64_t cpu_ns, uint64_t wall_ns)
{
	uint64_t polls, ran;
	struct kernel_costs costs = { .cpu_ns = cpu_ns, .wall_ns = wall_ns };

	count_scanners(out, &polls, &ran);
	costs.polls_ns = ticks_ns(out, polls - out->kernel.costs.polls);
	wall_ns *= out->session.info.nr_scanners;
	/*
	 * An observation gap is counted only when it ends, so the running time may seem to
	 * decrease.
	 */
	costs.is_scanner_away = ticks_ns(out, ran - out->kernel.costs.ran) < (int64_t)(wall_ns / AWAY_PART);
	out->kernel.costs.polls = polls;
	out->kernel.costs.ran = ran;
	if (out->kernel.source->ops->hold_budget)
		out->kernel.source->ops->hold_budget(out->kernel.source, &costs);
}

void kernel_hold_budget(struct output *out, int64_t now_ns)
{
	uint64_t cpu;

	if (!out->kernel.source || now_ns < out->kernel.costs.next_ns)
		return;
	out->kernel.costs.next_ns = now_ns + LOOK_NS;
	cpu = cpu_time(out->pid);
	if (cpu < out->kernel.costs.cpu_ns + CPU_MIN_NS)
		return;
	hold_readings(out, cpu - out->kernel.costs.cpu_ns, now_ns - out->kernel.costs.held_ns);
	hold_irqs(out, cpu - out->kernel.costs.cpu_ns);
	out->kernel.costs.cpu_ns = cpu;
	out->kernel.costs.held_ns = now_ns;
}
