// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a recording's kernel events come from: the module, whose session is then
 * the recording's; perf_event_open(2); or nowhere.  Whatever was not used is
 * told, with the reason.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/error.h"
#include "record/recording.h"

static const char *const names[] = { "auto", "module", "perf", "none" };

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
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !stat(path, &st) && st.st_uid != geteuid();
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

	if (device_open(&r->session, &o, why, sizeof(why))) {
		add_why(r, "module", why);
		return false;
	}
	r->kernel = KERNEL_MODULE;
	if (r->session.info.clock_id != r->clock_id) {
		r->clock_id = r->session.info.clock_id;
		clock_sample(r->clock_id, &r->first_clock);
	}
	return true;
}

static bool open_perf(struct recording *r)
{
	add_why(r, "perf", "not built in");
	return false;
}

static bool wants(const struct recording *r, enum kernel_choice source)
{
	return r->o->kernel == (int)source || r->o->kernel == KERNEL_AUTO;
}

static bool open_memfd(struct recording *r, uint64_t hz)
{
	int rc = session_open(&r->session, r->o->ring_bytes, r->o->nr_scanners, r->clock_id, hz);

	if (rc)
		cli_error("cannot make the session memory: %s", strerror(-rc));
	return !rc;
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
	if (!module && wants(r, KERNEL_PERF) && open_perf(r))
		r->kernel = KERNEL_PERF;
	if (r->kernel == KERNEL_NONE && (r->o->kernel_only || r->o->kernel == KERNEL_MODULE ||
					 r->o->kernel == KERNEL_PERF)) {
		cli_error("no kernel events can be had: %s", r->kernel_why);
		return false;
	}
	return true;
}

void kernel_close(struct recording *r)
{
}

void kernel_metas(struct recording *r)
{
	writer_add_meta(r->writer, "kernel_events", kernel_name(r));
	if (r->kernel_why[0])
		writer_add_meta(r->writer, "kernel_why", r->kernel_why);
}

void kernel_drain(struct recording *r, bool last)
{
}

uint64_t kernel_take_lost(struct recording *r)
{
	return 0;
}
