// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Handles and answers the runtime's messages.  A message that is not permitted in the current phase
 * ends the recording; in PHASE_DETACH it is ignored.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cli/error.h"
#include "record/flight/flight.h"
#include "record/launch/attach.h"
#include "record/run/recording.h"

/* interval between readings of schedstat, each of which takes the scanner some microseconds */
#define SCHEDSTAT_NS	500000

static bool send_flows(struct recording *r)
{
	union control_message m = { .flows = { .threshold_ns = r->o->flows_threshold_ns } };

	return !control_send(r->sock, &m, LDB_MSG_FLOWS, flow_sums_fd(r->out.flows));
}

static void send_session(struct recording *r)
{
	const struct record_options *o = r->o;
	union control_message m = { .attach = {
		.version = LDB_CONTROL_VERSION, .mutex_level = o->mutex_level,
		.budget_ppm = o->budget_ppm, .scan_interval_ns = o->scan_interval_ns,
		.nr_scanners = o->nr_scanners, .scanner_cpu = o->scanner_cpu,
		.tune = r->tune,
	} };

	memcpy(m.attach.name, r->name, sizeof(m.attach.name));
	if (r->children.on || o->child) {
		memcpy(m.attach.children, o->child ? o->child->first : r->name, sizeof(m.attach.children));
		memcpy(m.attach.secret, o->child ? o->child->secret : r->children.secret, sizeof(m.attach.secret));
	}
	if (!recording_open(r)) {
		recording_give_up(r);
		return;
	}
	command_open(r);
	if (r->out.flows && !send_flows(r)) {
		recording_hung_up(r);
		return;
	}
	if (r->out.kernel.choice == KERNEL_SCHEDSTAT)
		m.attach.schedstat_ns = SCHEDSTAT_NS;
	if (control_send(r->sock, &m, LDB_MSG_ATTACH, r->out.session.fd))
		recording_hung_up(r);
	else
		recording_enter(r, PHASE_ATTACH);
}

/*
 * Adopts the clock of the program's time namespace.  Returns false, after printing why, if the
 * offset of CLOCK_MONOTONIC is needed and not known.
 */
static bool follow_clock(struct recording *r)
{
	if (!clock_offset(r->pid, &r->out.offset_ns)) {
		if (r->out.clock_id != LDB_CLOCK_MONO)
			return true;
		cli_error("process %d has another time namespace for its children than its own, so its clock cannot be converted: use --clock=auto on a machine with a reliable time stamp counter",
			  r->pid);
		return false;
	}
	clock_follow(r->out.offset_ns);
	if (r->out.clock_id == LDB_CLOCK_MONO)
		clock_sample(r->out.clock_id, &r->out.first_clock);
	return true;
}

/* Answers a runtime that has connected again; the session is unchanged. */
static void send_resume(struct recording *r)
{
	union control_message m;

	if (control_send(r->sock, &m, LDB_MSG_RESUME, r->out.session.fd))
		recording_hung_up(r);
	else
		recording_enter(r, PHASE_RESUME);
}

/* ldb's threads in the program end before it changes its credentials: see ldb/control.h. */
static void on_leaving(struct recording *r, const union control_message *message)
{
	const struct ldb_msg_leaving *m = &message->leaving;

	recording_hang_up(r);
	if (m->returns) {
		recording_enter(r, PHASE_AWAY);
		return;
	}
	output_warning(&r->out, m->text);
	recording_set_end(r, "rights");
	recording_close(r);
}

static void on_hello(struct recording *r, const union control_message *m)
{
	const struct ldb_msg_hello *h = &m->hello;

	if (r->phase == PHASE_AWAY) {
		send_resume(r);
		return;
	}
	if (h->version != LDB_CONTROL_VERSION || h->abi != LDB_SESSION_ABI) {
		cli_error("the runtime in process %d is of version %s (protocol %u, session %u), this %s needs protocol %d, session %d: use those of one release",
			  r->pid, h->release, h->version, h->abi, cli_tool_name(),
			  LDB_CONTROL_VERSION, LDB_SESSION_ABI);
		recording_give_up(r);
		return;
	}
	if (!h->nr_instrumented && !r->o->flows && (!r->o->pid || r->o->live)) {
		attach_no_records(r->pid);
		recording_give_up(r);
		return;
	}
	r->recorded = true;
	r->pidfd = syscall(SYS_pidfd_open, r->pid, 0);
	if (!follow_clock(r)) {
		recording_give_up(r);
		return;
	}
	if (r->o->verbose)
		cli_note("ldb-record: recording process %d, runtime %s, clock %s", r->pid,
			 h->release, clock_name(r->out.clock_id));
	send_session(r);
}

static void on_attached(struct recording *r, const union control_message *m)
{
	const struct ldb_msg_attached *a = &m->attached;

	if (a->nr_unobserved && r->o->verbose)
		cli_note("ldb-record: %u threads observed, %u not", a->nr_threads, a->nr_unobserved);
	recording_enter(r, PHASE_READY);
}

#define FLOWS_TRIES	5

static void drain_meanwhile(void *out)
{
	output_drain(out);
}

/*
 * Makes the program follow calls between modules.  A thread of the program must begin this, and may
 * be in a state in which it cannot, so this is tried several times.
 */
static void follow_calls(struct recording *r)
{
	for (int i = 0; i < FLOWS_TRIES; i++)
		if (!attach_flows(r->pid, drain_meanwhile, &r->out) || flow_sums_began(r->out.flows))
			break;
	if (flow_sums_began(r->out.flows) && r->o->verbose)
		cli_note("ldb-record: calls between libraries are followed");
	if (!flow_sums_began(r->out.flows))
		cli_warn("calls between the libraries of process %d are not followed", r->pid);
}

static void on_ready(struct recording *r, const union control_message *m)
{
	if (r->phase == PHASE_READY)
		output_program(&r->out);
	threads_poll(r->out.threads);
	writer_flush(r->out.writer);
	summary_root(r);
	if (r->phase == PHASE_RESUME)
		/* settings may have changed while the runtime was disconnected */
		recording_tune(r);
	r->has_run = true;
	if (r->out.flows && r->phase == PHASE_READY && r->o->pid && !r->o->child)
		follow_calls(r);
	recording_enter(r, PHASE_RUNNING);
}

static void on_module(struct recording *r, const union control_message *m)
{
	modules_loaded(r->out.modules, &m->module);
}

static void on_unloaded(struct recording *r, const union control_message *m)
{
	modules_unloaded(r->out.modules, &m->unloaded);
}

static void on_blocks(struct recording *r, const union control_message *m)
{
	unsigned nr = m->blocks.nr < LDB_BLOCKS_MAX ? m->blocks.nr : LDB_BLOCKS_MAX;

	if (!r->o->kernel_frames || !r->out.kernel.source || !r->out.kernel.source->ops->set_blocks)
		return;
	r->out.kernel.source->ops->set_blocks(r->out.kernel.source, m->blocks.offset, nr);
}

static void on_text(struct recording *r, const union control_message *m)
{
	output_warning(&r->out, m->text.text);
}

/* Handles a request of the program.  A dump without a flight recorder is not an error. */
static void on_command(struct recording *r, const union control_message *m)
{
	const struct ldb_msg_command *c = &m->command;

	switch (c->command) {
	case LDB_COMMAND_START:
	case LDB_COMMAND_STOP:
		recording_pause(r, c->command == LDB_COMMAND_STOP);
		break;
	case LDB_COMMAND_DUMP:
		if (!flight_trigger(r->out.flight, *c->text ? c->text : "the program wanted it") && r->o->verbose)
			cli_note("ldb-record: process %d wants a dump, and there is none", r->pid);
		break;
	}
}

static void on_error(struct recording *r, const union control_message *m)
{
	cli_error("process %d cannot be recorded: %s", r->pid, m->text.text);
	recording_give_up(r);
}

static void on_detached(struct recording *r, const union control_message *m)
{
	recording_close(r);
}

#define IN(phase)	(1U << PHASE_##phase)
#define IN_SESSION	(IN(ATTACH) | IN(READY) | IN(RUNNING) | IN(AWAY) | IN(RESUME) | IN(DETACH))

static const struct handler {
	void (*fn)(struct recording *r, const union control_message *m);
	unsigned phases;	/* phases in which the message is permitted */
} handlers[] = {
	[LDB_MSG_HELLO] = { on_hello, IN(HELLO) | IN(AWAY) },
	[LDB_MSG_ATTACHED] = { on_attached, IN(ATTACH) },
	[LDB_MSG_READY] = { on_ready, IN(READY) | IN(RESUME) },
	[LDB_MSG_LEAVING] = { on_leaving, IN(RUNNING) | IN(READY) },
	[LDB_MSG_MODULE] = { on_module, IN_SESSION },
	[LDB_MSG_UNLOADED] = { on_unloaded, IN_SESSION },
	[LDB_MSG_BLOCKS] = { on_blocks, IN_SESSION },
	[LDB_MSG_COMMAND] = { on_command, IN_SESSION },
	[LDB_MSG_TEXT] = { on_text, -1U },
	[LDB_MSG_ERROR] = { on_error, -1U },
	[LDB_MSG_DETACHED] = { on_detached, IN(DETACH) },
};

void messages_handle(struct recording *r, const union control_message *m)
{
	unsigned type = m->m.type;
	bool is_known = type < sizeof(handlers) / sizeof(handlers[0]);

	if (is_known && handlers[type].phases & 1U << r->phase) {
		handlers[type].fn(r, m);
		return;
	}
	/* The runtime sent the message before it received DETACH. */
	if (r->phase == PHASE_DETACH)
		return;
	cli_error("process %d violates the protocol (message %u): recording stopped",
		  r->pid, type);
	recording_give_up(r);
}

void messages_invalid(struct recording *r)
{
	cli_error("process %d violates the protocol: recording stopped", r->pid);
	recording_give_up(r);
}

void messages_receive(struct recording *r)
{
	union control_message m;
	int rc;

	while (r->sock >= 0 && (rc = control_receive(r->sock, &m)) != 0) {
		if (rc == -ECONNRESET) {
			recording_hung_up(r);
		} else if (rc < 0) {
			messages_invalid(r);
		} else {
			messages_handle(r, &m);
		}
	}
}
