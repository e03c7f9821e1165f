// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints a progress line while a recording runs, and the summary at its end. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/error.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "record/process/proc.h"
#include "record/run/recording.h"

static uint64_t lost(const struct recording *r)
{
	return r->out.total.nr_lost + r->out.total.disk_lost;
}

void summary_progress(const struct recording *r, int64_t now_ns)
{
	char events[UNITS_ROOM], bytes[UNITS_ROOM];

	progress_line("ldb-record: %.1f s, %s events, %" PRIu64 " lost, %s%s",
		      (now_ns - r->out.total.begin_ns) / 1e9,
		      units_count(output_events(&r->out), events), lost(r),
		      units_bytes(writer_bytes(r->out.writer), bytes),
		      r->o->pid ? " (Ctrl-C ends the recording)" : "");
}

/* Prints the source of kernel events, and why no better one was used. */
static void print_kernel(const struct recording *r)
{
	const char *why = r->out.kernel.why;

	cli_note("  kernel events: %s%s%s%s", r->out.kernel.choice == KERNEL_SCHEDSTAT ?
		 "none, counters from schedstat instead: which other tasks ran is not known" : kernel_name(&r->out),
		 why[0] ? " (" : "", why, why[0] ? ")" : "");
}

static void print_ids(const struct recording *r)
{
	if (r->out.total.has_ids)
		cli_note("  ids of calls: %" PRIu64 ", %" PRIu64 " lost%s", r->out.total.nr_ids, r->out.total.nr_ids_lost,
			 r->out.total.nr_ids_nowhere ? ", some without a valid address" : "");
}

static void print_queues(const struct recording *r)
{
	const struct queues_total *t = &r->out.total.queues;

	if (r->out.total.has_queues)
		cli_note("  items of queues: %" PRIu64 " put, %" PRIu64 " taken, %" PRIu64 " lost", t->put, t->taken,
			 r->out.total.nr_queues_lost);
}

static void print_samples(const struct recording *r)
{
	if (r->out.total.samples_clock)
		cli_note("  samples: %" PRIu64 " of %s, %" PRIu64 " lost", r->out.total.nr_samples, r->out.total.samples_clock,
			 r->out.total.nr_samples_lost);
	else if (r->out.total.samples_why[0])
		cli_note("  samples: none (%s)", r->out.total.samples_why);
}

/*
 * Prints how many requests were made from connections, and how many reads and writes were left out.
 */
static void print_sockets(const struct recording *r)
{
	const uint64_t *left = r->out.total.socket_left;
	char text[192] = "", ring[96] = "";

	if (!r->o->socket_requests)
		return;
	if (left[LDB_SOCKET_LEFT_UNREAD] || left[LDB_SOCKET_LEFT_BUSY] || left[LDB_SOCKET_LEFT_TABLE])
		snprintf(text, sizeof(text), "; left out: %" PRIu64 " writes before anything was read, %" PRIu64
			 " reads or writes in the middle of another, %" PRIu64 " of too many descriptors",
			 left[LDB_SOCKET_LEFT_UNREAD], left[LDB_SOCKET_LEFT_BUSY], left[LDB_SOCKET_LEFT_TABLE]);
	if (r->out.total.nr_rings_left)
		snprintf(ring, sizeof(ring), "; %" PRIu64 " completions of io_uring belong to no known operation", r->out.total.nr_rings_left);
	cli_note("  requests from connections: %" PRIu64 "%s%s%s", r->out.total.nr_socket, text, ring,
		 r->out.total.nr_socket || r->children.nr ? "" : " (no connection that the program has accepted was read by read(), recv() and the like)");
}

static void print_threads(const struct threads_total *t)
{
	char made[UNITS_ROOM], seen[UNITS_ROOM];
	double pct = t->made ? 100.0 * t->seen / t->made : 0;

	cli_note("  %" PRIu64 " thread%s, %s of %s calls observed (%.3g %%), %" PRIu64
		 " still running at the end",
		 t->nr_threads, t->nr_threads == 1 ? "" : "s", units_count(t->seen, seen),
		 units_count(t->made, made), pct > 100 ? 100 : pct, t->nr_open);
}

void summary_root(const struct recording *r)
{
	struct stat st;

	if (r->o->quiet || geteuid() || !proc_stat(r->pid, "", &st))
		return;
	if (st.st_uid)
		cli_note("ldb-record: recording process %d of user %u as root", r->pid, st.st_uid);
	else if (r->o->argv)
		cli_note("ldb-record: process %d, %s, runs as root, as ldb-record does", r->pid,
			 r->o->argv[0]);
}

/* A flight recorder has no file of its own, only dumps. */
static void print_flight(const struct recording *r)
{
	const struct flight_total *t = &r->out.total.flight;
	char events[UNITS_ROOM], text[256], failed[48] = "";

	cli_note("ldb-record: flight: %.1f s, %s events, %" PRIu64 " lost, %" PRIu64 " dump%s",
		 (r->out.total.end_ns - r->out.total.begin_ns) / 1e9, units_count(r->out.total.nr_events, events), lost(r), t->nr_dumps,
		 t->nr_dumps == 1 ? "" : "s");
	if (t->nr_failed)
		snprintf(failed, sizeof(failed), "; %" PRIu64 " failed", t->nr_failed);
	cli_note("  %" PRIu64 " trigger%s: %" PRIu64 " in the dump of an earlier one%s%s%s", t->nr_triggers,
		 t->nr_triggers == 1 ? "" : "s", t->nr_joined,
		 *flight_suppressed(t, text, sizeof(text)) ? ", suppressed " : "", text,
		 failed);
	if (!r->o->kernel_only)
		print_threads(&r->out.total.threads);
	print_sockets(r);
	print_kernel(r);
	print_samples(r);
	print_ids(r);
	print_queues(r);
}

void summary_print(const struct recording *r)
{
	const char *file = r->o->output;
	char events[UNITS_ROOM], bytes[UNITS_ROOM], input[4200] = "";
	struct stat st;

	if (r->o->quiet)
		return;
	if (r->o->flight.ns) {
		print_flight(r);
		return;
	}
	cli_note("ldb-record: %s: %.1f s, %s events, %" PRIu64 " lost, %s", file,
		 (r->out.total.end_ns - r->out.total.begin_ns) / 1e9, units_count(r->out.total.nr_events, events), lost(r),
		 units_bytes(stat(file, &st) ? r->out.total.bytes : (uint64_t)st.st_size, bytes));
	if (!r->o->kernel_only)
		print_threads(&r->out.total.threads);
	print_sockets(r);
	print_kernel(r);
	print_samples(r);
	print_ids(r);
	print_queues(r);
	if (strcmp(file, "ldb.data"))
		snprintf(input, sizeof(input), " -i %s", file);
	if (r->o->kernel_only)
		cli_note("  open it with: ldb-report%s --sched", input);
	else
		cli_note("  open it with: ldb-report%s    ldb-timeline%s --slowest 3", input, input);
}
