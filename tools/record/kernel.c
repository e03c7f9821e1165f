// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a recording's kernel events come from: the module, whose session is then
 * the recording's; BPF programs; perf_event_open(2); or nowhere.  Whatever was not used is
 * told, with the reason.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cli/error.h"
#include "record/ebpf.h"
#include "record/perf.h"
#include "record/proc.h"
#include "record/recording.h"

static const char *const names[] = { "auto", "module", "bpf", "perf", "none" };

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

/* A program of another user must not be able to forge kernel events. */
static bool is_foreign(pid_t pid)
{
	struct stat st;

	return proc_stat(pid, "", &st) && st.st_uid != geteuid();
}

/* A kernel without some tracepoints, or a module of a release before. */
static void explain_groups(struct recording *r)
{
	uint32_t missing = LDB_GROUP_ALL & ~r->session.events;

	if (missing & LDB_GROUP_FAULT && missing & LDB_GROUP_IRQ)
		add_why(r, "module", "it is of an older release: no page faults, no interrupts");
	else if (missing & LDB_GROUP_FAULT)
		add_why(r, "module", "this kernel has no tracepoint for page faults");
	else if (missing & LDB_GROUP_IRQ)
		add_why(r, "module", "this kernel has no tracepoints for interrupts");
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

static bool open_module(struct recording *r)
{
	struct device_options o = {
		.ring_bytes = r->o->ring_bytes, .nr_scanners = r->o->nr_scanners,
		.clock_id = r->o->monotonic ? LDB_CLOCK_MONO : 0,
		.pid = r->o->kernel_only ? r->pid : 0,
		.split = r->o->kernel_only || is_foreign(r->pid),
	};
	char why[256];

	/* It stamps with the kernel's own clock, in the program's session. */
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
	explain_groups(r);
	explain_threads(r);
	if (r->session.info.clock_id != r->clock_id) {
		r->clock_id = r->session.info.clock_id;
		clock_sample(r->clock_id, &r->first_clock);
	}
	return true;
}

static bool open_ebpf(struct recording *r)
{
	struct ebpf_options o = {
		.pid = r->pid, .clock_id = r->clock_id, .t0 = r->t0, .offset_ns = r->offset_ns,
		.ring_bytes = r->o->ring_bytes, .verbose = r->o->verbose,
	};
	char why[256];

	r->ebpf = ebpf_open(&r->session, &o, why, sizeof(why));
	if (!r->ebpf) {
		add_why(r, "bpf", why);
		return false;
	}
	if (ebpf_why_not_better(r->ebpf)[0])
		add_why(r, "bpf", ebpf_why_not_better(r->ebpf));
	r->kernel = KERNEL_BPF;
	r->session.events = ebpf_events(r->ebpf);
	return true;
}

static void take_row(void *arg, unsigned kind, const void *row)
{
	struct recording *r = arg;

	if (kind == LDB_BLK_LOST)
		r->nr_lost += ((const struct ldb_row_lost *)row)->count;
	pack_row(r->pack, kind, row);
}

static bool open_perf(struct recording *r)
{
	struct perf_options o = {
		.pid = r->pid, .clock_id = r->clock_id, .t0 = r->t0, .offset_ns = r->offset_ns,
	};
	struct perf_sink sink = { take_row, r };
	char why[256];

	r->perf = perf_open(&o, &sink, why, sizeof(why));
	if (!r->perf) {
		add_why(r, "perf", why);
		return false;
	}
	if (perf_why_not_better(r->perf)[0])
		add_why(r, "perf", perf_why_not_better(r->perf));
	r->kernel = KERNEL_PERF;
	return true;
}

static bool wants(const struct recording *r, enum kernel_choice source)
{
	return r->o->kernel == (int)source || r->o->kernel == KERNEL_AUTO;
}

/* The user named one: nothing else will do. */
static bool is_demanded(const struct recording *r)
{
	return r->o->kernel != KERNEL_AUTO && r->o->kernel != KERNEL_NONE;
}

static bool open_memfd(struct recording *r, uint64_t hz)
{
	int rc = session_open(&r->session, r->o->ring_bytes, r->o->nr_scanners, r->clock_id, hz);

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
}

bool kernel_open(struct recording *r, uint64_t *hz)
{
	bool module;

	r->kernel = KERNEL_NONE;
	r->kernel_why[0] = '\0';
	module = wants(r, KERNEL_MODULE) && open_module(r);
	*hz = clock_calibrate(r->clock_id, &r->first_clock);
	if (!module && !open_memfd(r, *hz))
		return false;
	begin(r);
	if (!module && wants(r, KERNEL_BPF))
		open_ebpf(r);
	if (r->kernel == KERNEL_NONE && wants(r, KERNEL_PERF))
		open_perf(r);
	if (r->kernel == KERNEL_NONE && (r->o->kernel_only || is_demanded(r))) {
		cli_error("no kernel events can be had: %s", r->kernel_why);
		return false;
	}
	return true;
}

void kernel_tell(struct recording *r, const char *why)
{
	add_why(r, names[r->kernel], why);
	writer_add_meta(r->writer, "kernel_why", r->kernel_why);
}

void kernel_close(struct recording *r)
{
	ebpf_close(r->ebpf);
	perf_close(r->perf);
	r->ebpf = NULL;
	r->perf = NULL;
}

static bool has_faults(const struct recording *r)
{
	if (r->kernel == KERNEL_PERF)
		return perf_has_faults(r->perf);
	return r->kernel != KERNEL_NONE && r->session.events & LDB_GROUP_FAULT;
}

bool kernel_has_irqs(const struct recording *r)
{
	if (r->kernel == KERNEL_PERF)
		return perf_has_irqs(r->perf);
	return r->kernel != KERNEL_NONE && r->session.events & LDB_GROUP_IRQ;
}

void kernel_metas(struct recording *r)
{
	writer_add_meta(r->writer, "kernel_events", kernel_name(r));
	if (r->kernel_why[0])
		writer_add_meta(r->writer, "kernel_why", r->kernel_why);
	if (has_faults(r))
		writer_add_meta(r->writer, "kernel_faults", "1");
	if (kernel_has_irqs(r))
		writer_add_meta(r->writer, "kernel_irqs", "1");
}

unsigned kernel_drain(struct recording *r)
{
	return r->perf ? perf_drain(r->perf) : 0;
}

static void write_error(struct recording *r, uint64_t err_ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, err_ns);
	writer_add_meta(r->writer, "kernel_err_ns", text);
}

void kernel_look(struct recording *r)
{
	if (r->ebpf)
		ebpf_look(r->ebpf);
}

void kernel_stop(struct recording *r)
{
	if (r->ebpf)
		ebpf_stop(r->ebpf);
}

/* It may show late, so that what was written at the begin is not all. */
static void write_deaf(struct recording *r, const char *cpus, bool is_told)
{
	char text[600];

	if (!*cpus)
		return;
	writer_add_meta(r->writer, "kernel_deaf", cpus);
	if (is_told)
		return;
	snprintf(text, sizeof(text), "this kernel dropped events of some tasks on CPU %s", cpus);
	kernel_tell(r, text);
}

static void finish_perf(struct recording *r)
{
	char cpus[512];

	perf_finish(r->perf);
	perf_deaf_cpus(r->perf, cpus, sizeof(cpus));
	write_deaf(r, cpus, strstr(r->kernel_why, perf_why_not_better(r->perf)));
	write_error(r, perf_err_ns(r->perf));
}

static void finish_ebpf(struct recording *r)
{
	struct ldb_row_lost row = {
		.tick = recording_tick(r, clock_now(r->clock_id)), .count = ebpf_lost(r->ebpf),
		.what = LDB_LOST_KERNEL,
	};
	char cpus[512];

	if (row.count)
		take_row(r, LDB_BLK_LOST, &row);
	ebpf_deaf_cpus(r->ebpf, cpus, sizeof(cpus));
	write_deaf(r, cpus, false);
	write_error(r, ebpf_err_ns(r->ebpf));
}

void kernel_finish(struct recording *r)
{
	if (r->ebpf)
		finish_ebpf(r);
	if (r->perf)
		finish_perf(r);
}
