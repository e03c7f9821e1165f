// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the phases of a recording, and its end; see enum phase. */
#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/error.h"
#include "cli/progress.h"
#include "record/run/recording.h"

/* timeout for a program to end after it has closed its socket */
#define GONE_NS		1000000000LL

static void rest(void *recording)
{
	const struct recording *r = recording;

	giveway_rest(r->giveway);
}

bool recording_open(struct recording *r)
{
	struct output *out = &r->out;
	const struct record_options *o = r->o;

	out->o = o;
	out->pid = r->pid;
	out->end = r->end;
	out->is_launched = r->launch.pid;
	out->is_scanned_in_requests = r->tune.flags & LDB_TUNE_IN_REQUESTS;
	out->has_records = r->target.has_records;
	out->without_kernel = o->child && o->child->without_kernel;
	out->rest = rest;
	out->rest_arg = r;
	if (!output_open(out))
		return false;
	r->next_second_ns = out->total.begin_ns + (o->live ? (int64_t)o->live->period_ns : 1000000000);
	return true;
}

/* Closes the trace; sets r->failed if that fails. */
static void close_output(struct recording *r)
{
	r->out.has_failed = r->failed;
	output_close(&r->out);
	r->failed = r->out.has_failed;
}

void recording_hang_up(struct recording *r)
{
	if (r->sock >= 0)
		close(r->sock);
	r->sock = -1;
}

void recording_set_end(struct recording *r, const char *end)
{
	if (!r->end[0])
		snprintf(r->end, sizeof(r->end), "%s", end);
}

/*
 * Returns true if names must be looked up at the end, because children may connect, and would have
 * to wait for their recorders meanwhile.
 */
static bool must_wait(struct recording *r)
{
	return r->children.on && (r->children.nr || (r->launch.pid && !r->launch.ended) || children_go_on(r));
}

void recording_close(struct recording *r)
{
	bool was_open = recording_is_open(r);

	giveway_hurry(r->giveway);
	children_serve_all(r);
	if (was_open)
		close_output(r);
	r->has_trace |= was_open;
	command_close(r);
	recording_hang_up(r);
	if (r->pidfd >= 0)
		close(r->pidfd);
	r->pidfd = -1;
	if (was_open && r->o->store_names && !r->out.total.disk_lost && !r->o->flight.ns && must_wait(r)) {
		r->children.must_name = true;
	} else if (was_open && r->o->store_names && !r->out.total.disk_lost && !r->o->flight.ns) {
		giveway_turn(r->giveway, -1, true);
		r->out.total.bytes += r->o->store_names(r->o->output, r->o->output, r->pid);
		giveway_hurry(r->giveway);
	}
	progress_clear();
	if (was_open)
		summary_print(r);
	recording_enter(r, PHASE_CLOSED);
}

void recording_give_up(struct recording *r)
{
	r->failed = true;
	recording_set_end(r, "detached");
	recording_close(r);
}

void recording_detach(struct recording *r, const char *end)
{
	union control_message m;

	if (r->phase == PHASE_DETACH || !recording_is_open(r))
		return;
	recording_set_end(r, end);
	giveway_raise_runtime(r->giveway, r->pid);
	if (recording_is_kernel_only(r) || control_send(r->sock, &m, LDB_MSG_DETACH, -1))
		recording_close(r);
	else
		recording_enter(r, PHASE_DETACH);
}

bool recording_is_gone(const struct recording *r)
{
	struct pollfd p = { .fd = r->pidfd, .events = POLLIN };

	return r->pidfd >= 0 && poll(&p, 1, 0) > 0;
}

/*
 * Waits for up to GONE_NS until the process has ended, so that it writes nothing more, and its
 * status is available.
 */
static void wait_gone(struct recording *r)
{
	int64_t until = clock_mono_ns() + GONE_NS;
	bool is_child = r->launch.pid && r->pid == r->launch.pid;

	while (clock_mono_ns() < until) {
		launch_reap(&r->launch);
		if (is_child ? r->launch.ended : recording_is_gone(r))
			return;
		/* The process may have executed another program, which waits for a recorder. */
		children_serve(r);
		if (children_has_new(r, r->pid))
			return;
		output_drain(&r->out);
		poll(NULL, 0, 1);
	}
}

void recording_hung_up(struct recording *r)
{
	char end[32] = "ended";

	if (!recording_is_open(r)) {
		recording_hang_up(r);
		if (r->launch.pid) {
			recording_enter(r, PHASE_PROGRAM);
			return;
		}
		if (!r->o->child)
			cli_error("process %d closed the connection: nothing was recorded", r->pid);
		r->failed |= !r->o->child;
		recording_set_end(r, "detached");
		recording_close(r);
		return;
	}
	giveway_hurry(r->giveway);
	wait_gone(r);
	if (r->launch.ended && r->pid == r->launch.pid)
		snprintf(end, sizeof(end), WIFSIGNALED(r->launch.status) ? "signal:%d" : "exit:%d",
			 WIFSIGNALED(r->launch.status) ? WTERMSIG(r->launch.status) :
							 WEXITSTATUS(r->launch.status));
	else if (!recording_is_gone(r))
		snprintf(end, sizeof(end), "exec");
	recording_set_end(r, end);
	recording_close(r);
}
