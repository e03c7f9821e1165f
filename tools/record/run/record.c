// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes one recording, in a loop that serves the user's signals, the runtime's messages, the rings
 * and the clock, until the program (if launched) or the recording (if attached) has ended.
 *
 * Each wait for an answer of the program has a timeout, and no failure of the recorder ends the
 * program.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cli/error.h"
#include "cli/progress.h"
#include "record/flight/triggers.h"
#include "record/launch/attach.h"
#include "record/launch/listen.h"
#include "record/output/rings.h"
#include "record/process/select.h"
#include "record/process/signals.h"
#include "record/run/record.h"
#include "record/run/recording.h"

#define ANSWER_NS	10000000000LL	/* timeout for answers of the runtime */
#define PROGRESS_NS	200000000LL
#define SECOND_NS	1000000000LL
#define IDLE_MS		200
/* longest pause between polls: each poll wakes a thread, on a CPU that the program may need */
#define DRAIN_MS_MAX	40
/* the same if the scanner is slow, because then the rings stay nearly empty */
#define DRAIN_MS_SLOW	500
/* the same if rings are small, because then they fill quickly */
#define DRAIN_MS_SMALL	10
#define SMALL_BYTES	(16 << 20)

/*
 * Called when the user of a live recording wants to stop.  A program that was launched for the
 * recording is ended, too.
 */
static void stop_live(struct recording *r)
{
	/* The user has asked twice, so nothing is waited for. */
	if (r->is_stopping) {
		recording_close(r);
		r->is_left = true;
		return;
	}
	r->is_stopping = true;
	if (r->launch.pid && !r->launch.ended)
		kill(r->launch.pid, SIGTERM);
	if (recording_is_open(r))
		recording_detach(r, "detached");
	else
		recording_enter(r, PHASE_CLOSED);
}

static void on_signal(struct recording *r, int signal)
{
	bool is_running = r->launch.pid && !r->launch.ended;

	/* In a live recording, each request to stop also ends the program. */
	if (r->o->live && r->o->live->stop_fd >= 0 && signal != SIGCHLD) {
		stop_live(r);
		return;
	}
	switch (signal) {
	case SIGCHLD:
		launch_reap(&r->launch);
		children_reap(r);
		break;
	case SIGUSR1:
	case SIGUSR2:
		flight_signal(r->out.flight, signal);
		break;
	case SIGTERM:
		if (is_running)
			kill(r->launch.pid, SIGTERM);
		recording_detach(r, "detached");
		children_stop(r);
		if (r->o->child && !recording_is_open(r))
			recording_enter(r, PHASE_CLOSED);
		break;
	default:
		/* The program receives signals of the terminal as well, and may ignore them. */
		if (is_running)
			break;
		children_stop(r);
		if (r->phase == PHASE_DETACH) {
			cli_warn("the program does not answer: its last events may be missing");
			recording_close(r);
		} else if (recording_is_open(r)) {
			recording_detach(r, "detached");
		} else if (r->phase != PHASE_CLOSED) {
			recording_give_up(r);
		}
	}
}

static void check_answer(struct recording *r, int64_t now)
{
	if (now - r->phase_since_ns < ANSWER_NS)
		return;
	switch (r->phase) {
	case PHASE_AWAY:
	case PHASE_RESUME:
		output_warning(&r->out, "the program changed its user, root or namespace, and ldb could not follow: recording ended");
		recording_set_end(r, "rights");
		recording_close(r);
		break;
	case PHASE_HELLO:
	case PHASE_ATTACH:
	case PHASE_READY:
		cli_error("the ldb runtime in process %d does not answer: is the process stopped?",
			  r->pid);
		recording_give_up(r);
		break;
	case PHASE_DETACH:
		output_warning(&r->out, "the program does not answer: its last events may be missing");
		recording_close(r);
		break;
	default:
		break;
	}
}

static void check_limits(struct recording *r, int64_t now)
{
	const char *end, *why;

	if (r->phase != PHASE_RUNNING)
		return;
	if (r->o->duration_ns && now - r->run_since_ns >= (int64_t)r->o->duration_ns) {
		recording_detach(r, "timeout");
		return;
	}
	why = output_must_stop(&r->out, &end);
	if (why) {
		cli_error("%s", why);
		r->failed = true;
		recording_detach(r, end);
	}
}

/* Reads the rings: often if they fill quickly, rarely if there are few events. */
static void drain(struct recording *r)
{
	unsigned most = r->out.ring_bytes < SMALL_BYTES ? DRAIN_MS_SMALL : DRAIN_MS_MAX;
	unsigned fill = output_drain(&r->out);

	if (r->o->slow_scanner)
		most = DRAIN_MS_SLOW;

	if (fill > 250)
		r->drain_ms = 0;
	else if (fill > 60)
		r->drain_ms = r->drain_ms > 2 ? r->drain_ms / 2 : 1;
	else if (fill < 20 && r->drain_ms < most)
		r->drain_ms++;
}

static void tick(struct recording *r)
{
	int64_t now = clock_mono_ns();

	if (recording_is_open(r)) {
		drain(r);
		flight_poll(r->out.flight, r->out.released_tick);
		check_limits(r, now);
	}
	if (recording_is_open(r)) {
		kernel_hold_budget(&r->out, now);
		rings_poll(&r->out, now);
	}
	if (recording_is_open(r) && now >= r->next_second_ns) {
		if (r->o->live && r->phase == PHASE_RUNNING)
			output_live(&r->out);
		else
			output_second(&r->out);
		recording_tune_again(r);
		r->next_second_ns = now + (r->o->live ? (int64_t)r->o->live->period_ns : SECOND_NS);
	}
	/* Requests are explained from complete blocks, so blocks are ended once a second. */
	if (recording_is_open(r) && r->o->explain && now >= r->next_flush_ns) {
		writer_flush(r->out.writer);
		r->next_flush_ns = now + SECOND_NS;
	}
	if (recording_is_open(r) && progress_is_on() && now >= r->next_progress_ns) {
		summary_progress(r, now);
		r->next_progress_ns = now + PROGRESS_NS;
	}
	if (recording_is_open(r) && (recording_is_kernel_only(r) || r->phase == PHASE_AWAY) && recording_is_gone(r))
		recording_hung_up(r);
	check_answer(r, now);
	/*
	 * If the launched program has ended without a runtime, no message will arrive that ends the
	 * recording.
	 */
	if (r->phase == PHASE_PROGRAM && r->launch.ended && !children_go_on(r))
		recording_enter(r, PHASE_CLOSED);
}

/*
 * Lowers the priority before a wait, if nothing waits for the recorder and the rings are far from
 * full.
 */
static void give_way(struct recording *r)
{
	const int fds[] = { r->signal_fd, r->listen_fd, r->o->live ? r->o->live->stop_fd : -1,
			    r->command.listen_fd, scrape_fd(r->scrape) };
	bool is_low = r->phase == PHASE_RUNNING && r->drain_ms;

	if (is_low && !r->giveway && !r->has_tried_giveway && r->o->scanner_cpu < 0) {
		r->has_tried_giveway = true;
		r->giveway = giveway_begin(fds, sizeof(fds) / sizeof(*fds));
	}
	giveway_turn(r->giveway, r->sock, is_low);
}

static int poll_timeout(const struct recording *r)
{
	int ms = r->drain_ms, children = children_timeout(r);

	if (!recording_is_open(r))
		ms = r->phase == PHASE_CLOSED ? -1 : IDLE_MS;
	return children >= 0 && (ms < 0 || children < ms) ? children : ms;
}

static bool goes_on(struct recording *r)
{
	return !r->is_left && (r->phase != PHASE_CLOSED || (r->launch.pid && !r->launch.ended) || children_go_on(r));
}

static void loop(struct recording *r)
{
	while (goes_on(r)) {
		struct pollfd p[4 + COMMAND_FDS + SCRAPE_FDS] = {
			{ .fd = r->signal_fd, .events = POLLIN },
			{ .fd = r->sock, .events = POLLIN },
			{ .fd = r->children.epoll, .events = POLLIN },
			{ .fd = r->o->live && !r->is_stopping ? r->o->live->stop_fd : -1,
			  .events = POLLIN },
		};
		struct pollfd *commands = p + 4, *fetching = commands + COMMAND_FDS;
		int signal, timeout = poll_timeout(r);

		command_poll(r, commands);
		scrape_poll(r->scrape, fetching, clock_mono_ns(), &timeout);
		give_way(r);
		if (poll(p, sizeof(p) / sizeof(*p), timeout) > 0)
			giveway_hurry(r->giveway);
		while ((signal = signals_next(r->signal_fd)))
			on_signal(r, signal);
		if (p[2].revents || r->children.nr_pending || r->children.on)
			children_serve(r);
		if (p[1].revents)
			messages_receive(r);
		if (p[3].revents)
			stop_live(r);
		if (command_serve(r, commands))
			recording_detach(r, "detached");
		scrape_serve(r->scrape, fetching, clock_mono_ns());
		tick(r);
	}
}

/* Begins a recording of kernel events only.  If the program is launched, it starts after that. */
static bool start_kernel_only(struct recording *r)
{
	if (r->o->argv) {
		if (!launch_start(&r->launch, &r->target, r->o->argv, NULL, NULL, "", false))
			return false;
		r->pid = r->launch.pid;
	} else {
		r->pid = r->o->pid;
		if (!attach_check(r->pid))
			return false;
	}
	r->pidfd = syscall(SYS_pidfd_open, r->pid, 0);
	if (!recording_open(r))
		return false;
	r->recorded = true;
	command_open(r);
	recording_enter(r, PHASE_RUNNING);
	if (!r->o->argv || launch_go(&r->launch, r->o->argv[0])) {
		output_program(&r->out);
		summary_root(r);
		return true;
	}
	recording_give_up(r);
	return false;
}

static bool may_attach(const struct recording *r)
{
	if (!attach_check(r->pid))
		return false;
	if (select_has(r->pid, r->o->of_name, r->o->of_cgroup))
		return true;
	cli_error("process %d is not what it was when it was selected: try again", r->pid);
	return false;
}

static int connect_program(struct recording *r)
{
	const struct attach_options o = {
		.libldb = r->o->libldb, .must_have_records = r->o->live,
		.must_adopt = r->o->socket_requests || r->o->loop_turns,
	};

	return attach_connect(r->pid, r->listen_fd, r->name, &o);
}

static bool start(struct recording *r)
{
	char runtime[4096];

	if (recording_is_kernel_only(r))
		return start_kernel_only(r);
	r->pid = r->o->pid;
	if (r->pid && !(r->o->child && r->o->child->sock >= 0) && !may_attach(r))
		return false;
	r->listen_fd = listen_open(r->pid, r->name, sizeof(r->name));
	if (r->listen_fd < 0)
		return false;
	children_begin(r);
	if (r->o->child && r->o->child->sock >= 0) {
		r->sock = r->o->child->sock;
		recording_enter(r, PHASE_HELLO);
		return true;
	}
	if (r->o->argv) {
		recording_enter(r, PHASE_PROGRAM);
		return launch_find_runtime(r->o->libldb, runtime, sizeof(runtime)) &&
		       launch_start(&r->launch, &r->target, r->o->argv, runtime, r->name, r->children.secret,
				    r->o->flows) &&
		       launch_go(&r->launch, r->o->argv[0]);
	}
	r->sock = connect_program(r);
	recording_enter(r, PHASE_HELLO);
	if (r->sock >= 0)
		children_attach(r);
	return r->sock >= 0;
}

static int exit_status(const struct recording *r)
{
	bool failed = r->failed;
	int status;

	if (!r->launch.pid || r->is_stopping)
		return failed ? CLI_FAILURE : CLI_OK;
	if (!r->recorded && !failed) {
		failed = true;
		if (r->target.has_records)
			cli_error("the ldb runtime did not start in %s: nothing was recorded",
				  r->o->argv[0]);
		else if (r->target.lost_records)
			cli_error("%s was compiled with the plugin and -flto, but linked without the plugin, so it is not instrumented: give -fplugin=ldb.so at link too, or use ldb-gcc",
				  r->o->argv[0]);
		else if (r->target.kind == TARGET_SCRIPT)
			cli_error("no program that %s started is instrumented: compile it with gcc -fplugin=ldb.so",
				  r->o->argv[0]);
		else
			cli_error("%s is not instrumented: compile it with gcc -fplugin=ldb.so",
				  r->o->argv[0]);
	}
	status = launch_exit_status(&r->launch);
	return status ? status : failed ? CLI_FAILURE : CLI_OK;
}

static bool listen_for_scrapes(struct recording *r)
{
	char err[256];

	if (!r->o->metrics_listen)
		return true;
	r->scrape = scrape_open(r->o->metrics_listen, output_metrics_render, &r->out, err, sizeof(err));
	if (!r->scrape)
		cli_error("%s", err);
	return r->scrape;
}

int record_run(const struct record_options *o)
{
	struct recording r = {
		.o = o, .sock = -1, .pidfd = -1, .drain_ms = 1, .listen_fd = -1, .children = { .epoll = -1 },
		.out.ring_bytes = o->ring_bytes,
	};

	if (o->argv && !target_examine(o->argv[0], o->kernel_only, &r.target))
		return CLI_FAILURE;
	if (!o->live && !output_check(o->output))
		return CLI_FAILURE;
	r.tune = (struct ldb_tune){
		.flags = (o->slow_scanner ? LDB_TUNE_SLOW : 0) | (o->paused ? LDB_TUNE_PAUSED : 0) | (o->only_requests ? LDB_TUNE_IN_REQUESTS : 0) |
			 (o->socket_requests ? LDB_TUNE_SOCKETS : 0) | (o->loop_turns ? LDB_TUNE_LOOPS : 0),
		.lock_threshold_ns = o->lock_threshold_ns, .func_threshold_ns = o->func_threshold_ns,
	};
	r.out.clock_id = o->monotonic ? LDB_CLOCK_MONO : clock_choose();
	clock_offset(0, &r.out.offset_ns);
	clock_sample(r.out.clock_id, &r.out.first_clock);
	r.lock_threshold_ns = o->lock_threshold_ns;
	r.command.listen_fd = -1;
	for (int i = SIGUSR1; i <= SIGUSR2; i += SIGUSR2 - SIGUSR1)
		if (o->flight.ns && flight_triggers_has_signal(o->flight.triggers, o->flight.nr_triggers, i))
			signals_add(i);
	r.signal_fd = signals_open();
	if (r.signal_fd < 0) {
		cli_error("cannot open a signal descriptor: %s", strerror(errno));
		return CLI_FAILURE;
	}
	progress_init(!o->quiet);
	if (!listen_for_scrapes(&r))
		return CLI_FAILURE;
	if (!start(&r)) {
		/* a child that waits for launch_go() ends when its pipe is closed */
		scrape_close(r.scrape);
		return CLI_FAILURE;
	}
	loop(&r);
	scrape_close(r.scrape);
	giveway_end(r.giveway);
	children_end(&r);
	progress_clear();
	if (o->child && !r.has_run) {
		unlink(o->output);	/* without the runtime's READY the trace is useless */
		return r.failed ? CLI_FAILURE : CLI_OK;
	}
	return exit_status(&r);
}
