// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One recording: a loop that serves the user's signals, the runtime's messages,
 * the rings and the clock, until the program has ended (launched) or the
 * recording has (attached).
 *
 * Nothing here waits for the program without a limit in time, and nothing that
 * goes wrong here ends the program.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cli/error.h"
#include "cli/progress.h"
#include "record/recording.h"

#define ANSWER_NS	10000000000LL	/* the runtime must answer within */
#define GONE_NS		1000000000LL	/* a program that hung up must be gone within */
#define PROGRESS_NS	200000000LL
#define SECOND_NS	1000000000LL
#define IDLE_MS		200
#define DRAIN_MS_MAX	10

const char *const record_mutex_levels[] = { "off", "wait", "hold", NULL };

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void enter(struct recording *r, enum phase phase)
{
	r->phase = phase;
	r->phase_since_ns = now_ns();
}

/* Is there a session the program may write into? */
static bool is_open(const struct recording *r)
{
	return r->writer;
}

static void hang_up(struct recording *r)
{
	if (r->sock >= 0)
		close(r->sock);
	r->sock = -1;
}

/* The end of a recording */

static void set_end(struct recording *r, const char *end)
{
	if (!r->end[0])
		snprintf(r->end, sizeof(r->end), "%s", end);
}

static void close_recording(struct recording *r)
{
	if (is_open(r)) {
		output_close(r);
		progress_clear();
		summary_print(r);
	}
	hang_up(r);
	if (r->pidfd >= 0)
		close(r->pidfd);
	r->pidfd = -1;
	enter(r, PHASE_CLOSED);
}

/* Kernel events alone: there is no runtime to ask. */
static bool is_kernel_only(const struct recording *r)
{
	return r->o->kernel_only;
}

/* No recording takes place; why was printed. */
static void give_up(struct recording *r)
{
	r->failed = true;
	set_end(r, "detached");
	close_recording(r);
}

/* Asks the runtime to stop writing. */
static void detach(struct recording *r, const char *end)
{
	union control_message m;

	if (r->phase == PHASE_DETACH || !is_open(r))
		return;
	set_end(r, end);
	if (is_kernel_only(r) || control_send(r->sock, &m, LDB_MSG_DETACH, -1))
		close_recording(r);
	else
		enter(r, PHASE_DETACH);
}

static bool is_gone(const struct recording *r)
{
	struct pollfd p = { .fd = r->pidfd, .events = POLLIN };

	return r->pidfd >= 0 && poll(&p, 1, 0) > 0;
}

/* Until its last thread has stopped writing, and its status can be had. */
static void wait_gone(struct recording *r)
{
	int64_t until = now_ns() + GONE_NS;
	bool is_child = r->launch.pid && r->pid == r->launch.pid;

	while (now_ns() < until) {
		launch_reap(&r->launch);
		if (is_child ? r->launch.ended : is_gone(r))
			return;
		output_drain(r);
		poll(NULL, 0, 1);
	}
}

/* The runtime has closed its end: the program has ended, or runs another one. */
static void hung_up(struct recording *r)
{
	char end[32] = "ended";

	if (!is_open(r)) {
		hang_up(r);
		if (r->launch.pid) {
			enter(r, PHASE_PROGRAM);
			return;
		}
		cli_error("process %d closed the connection: nothing was recorded", r->pid);
		give_up(r);
		return;
	}
	wait_gone(r);
	if (r->launch.ended && r->pid == r->launch.pid)
		snprintf(end, sizeof(end), WIFSIGNALED(r->launch.status) ? "signal:%d" : "exit:%d",
			 WIFSIGNALED(r->launch.status) ? WTERMSIG(r->launch.status) :
							 WEXITSTATUS(r->launch.status));
	else if (!is_gone(r))
		snprintf(end, sizeof(end), "exec");
	set_end(r, end);
	close_recording(r);
}

/* Messages of the runtime */

static void send_session(struct recording *r)
{
	const struct record_options *o = r->o;
	union control_message m = { .attach = {
		.version = LDB_CONTROL_VERSION, .mutex_level = o->mutex_level,
		.budget_ppm = o->budget_ppm, .scan_interval_ns = o->scan_interval_ns,
		.nr_scanners = o->nr_scanners, .scanner_cpu = o->scanner_cpu,
		.lock_threshold_ns = o->lock_threshold_ns,
		.func_threshold_ns = o->func_threshold_ns,
	} };

	memcpy(m.attach.name, r->name, sizeof(m.attach.name));
	if (!output_open(r)) {
		give_up(r);
		return;
	}
	if (control_send(r->sock, &m, LDB_MSG_ATTACH, r->session.fd))
		hung_up(r);
	else
		enter(r, PHASE_ATTACH);
}

/* Events of the program are stamped with the clock it sees. */
static bool follow_clock(struct recording *r)
{
	if (!clock_offset(r->pid, &r->offset_ns)) {
		if (r->clock_id != LDB_CLOCK_MONO)
			return true;
		cli_error("process %d has another time namespace for its children than its own, so its clock cannot be told: use --clock=auto on a machine with a reliable time stamp counter",
			  r->pid);
		return false;
	}
	clock_follow(r->offset_ns);
	if (r->clock_id == LDB_CLOCK_MONO)
		clock_sample(r->clock_id, &r->first_clock);
	return true;
}

/* It is back, and the session is where it was. */
static void send_resume(struct recording *r)
{
	union control_message m;

	if (control_send(r->sock, &m, LDB_MSG_RESUME, r->session.fd))
		hung_up(r);
	else
		enter(r, PHASE_RESUME);
}

/* ldb's threads do not outlive the program's rights: see ldb/control.h. */
static void on_leaving(struct recording *r, const struct ldb_msg_leaving *m)
{
	hang_up(r);
	if (m->returns) {
		enter(r, PHASE_AWAY);
		return;
	}
	output_warning(r, m->text);
	set_end(r, "rights");
	close_recording(r);
}

static void on_hello(struct recording *r, const struct ldb_msg_hello *h)
{
	if (r->phase == PHASE_AWAY) {
		send_resume(r);
		return;
	}
	if (h->version != LDB_CONTROL_VERSION || h->abi != LDB_SESSION_ABI) {
		cli_error("the runtime in process %d is of version %s (protocol %u, session %u), this %s needs protocol %d, session %d: use those of one release",
			  r->pid, h->release, h->version, h->abi, cli_tool_name(),
			  LDB_CONTROL_VERSION, LDB_SESSION_ABI);
		give_up(r);
		return;
	}
	if (!h->nr_instrumented) {
		cli_error("process %d has no ldb records: compile it with gcc -fplugin=ldb.so",
			  r->pid);
		give_up(r);
		return;
	}
	r->recorded = true;
	r->pidfd = syscall(SYS_pidfd_open, r->pid, 0);
	if (!follow_clock(r)) {
		give_up(r);
		return;
	}
	if (r->o->verbose)
		cli_note("ldb-record: recording process %d, runtime %s, clock %s", r->pid,
			 h->release, clock_name(r->clock_id));
	send_session(r);
}

static void on_attached(struct recording *r, const struct ldb_msg_attached *a)
{
	if (a->nr_unwatched && r->o->verbose)
		cli_note("ldb-record: %u threads watched, %u not", a->nr_threads, a->nr_unwatched);
	enter(r, PHASE_READY);
}

static void on_ready(struct recording *r)
{
	if (r->phase == PHASE_READY)
		output_program(r);
	threads_look(r->threads);
	writer_flush(r->writer);
	summary_root(r);
	enter(r, PHASE_RUNNING);
}

static bool is_expected(const struct recording *r, unsigned type)
{
	switch (type) {
	case LDB_MSG_HELLO:
		return r->phase == PHASE_HELLO || r->phase == PHASE_AWAY;
	case LDB_MSG_LEAVING:
		return r->phase == PHASE_RUNNING || r->phase == PHASE_READY;
	case LDB_MSG_ATTACHED:
		return r->phase == PHASE_ATTACH;
	case LDB_MSG_READY:
		return r->phase == PHASE_READY || r->phase == PHASE_RESUME;
	case LDB_MSG_DETACHED:
		return r->phase == PHASE_DETACH;
	case LDB_MSG_MODULE:
	case LDB_MSG_UNLOADED:
		return is_open(r);
	case LDB_MSG_ERROR:
	case LDB_MSG_TEXT:
		return true;
	default:
		return false;
	}
}

static void on_message(struct recording *r, const union control_message *m)
{
	if (!is_expected(r, m->m.type)) {
		/* An answer that crossed our DETACH. */
		if (r->phase == PHASE_DETACH)
			return;
		cli_error("process %d does not keep to the protocol (message %u): recording stopped",
			  r->pid, m->m.type);
		give_up(r);
		return;
	}
	switch (m->m.type) {
	case LDB_MSG_HELLO:
		on_hello(r, &m->hello);
		break;
	case LDB_MSG_ATTACHED:
		on_attached(r, &m->attached);
		break;
	case LDB_MSG_READY:
		on_ready(r);
		break;
	case LDB_MSG_LEAVING:
		on_leaving(r, &m->leaving);
		break;
	case LDB_MSG_MODULE:
		modules_loaded(r->modules, &m->module);
		break;
	case LDB_MSG_UNLOADED:
		modules_unloaded(r->modules, &m->unloaded);
		break;
	case LDB_MSG_TEXT:
		output_warning(r, m->text.text);
		break;
	case LDB_MSG_ERROR:
		cli_error("process %d cannot be recorded: %s", r->pid, m->text.text);
		give_up(r);
		break;
	case LDB_MSG_DETACHED:
		close_recording(r);
		break;
	}
}

static void receive(struct recording *r)
{
	union control_message m;
	int rc;

	while (r->sock >= 0 && (rc = control_receive(r->sock, &m)) != 0) {
		if (rc == -ECONNRESET) {
			hung_up(r);
		} else if (rc < 0) {
			cli_error("process %d does not keep to the protocol: recording stopped",
				  r->pid);
			give_up(r);
		} else {
			on_message(r, &m);
		}
	}
}

/*
 * The first instrumented program of the launched ones, or the one that left.  That one
 * may have become another user's; it knows the name, and it is the process we know.
 */
static void accept_program(struct recording *r)
{
	int sock = accept4(r->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	pid_t pid;
	uid_t uid;

	if (sock < 0)
		return;
	if (!control_peer(sock, &pid, &uid) ||
	    (r->phase == PHASE_AWAY ? pid != r->pid : uid != geteuid() && uid != getuid())) {
		close(sock);
		return;
	}
	r->sock = sock;
	if (r->phase == PHASE_AWAY)
		return;
	r->pid = pid;
	enter(r, PHASE_HELLO);
}

/* Signals and time */

/* Whoever looked has seen enough.  A program that was started for it has nobody left. */
static void stop_live(struct recording *r)
{
	/* Asked twice: whatever we still wait for, it does not come. */
	if (r->is_stopping) {
		close_recording(r);
		r->is_left = true;
		return;
	}
	r->is_stopping = true;
	if (r->launch.pid && !r->launch.ended)
		kill(r->launch.pid, SIGTERM);
	if (is_open(r))
		detach(r, "detached");
	else
		enter(r, PHASE_CLOSED);
}

static void on_signal(struct recording *r, int signal)
{
	bool is_running = r->launch.pid && !r->launch.ended;

	if (r->o->live && signal != SIGCHLD) {
		stop_live(r);
		return;
	}
	switch (signal) {
	case SIGCHLD:
		launch_reap(&r->launch);
		break;
	case SIGTERM:
		if (is_running)
			kill(r->launch.pid, SIGTERM);
		detach(r, "detached");
		break;
	default:
		/* The program gets the terminal's signals too, and decides itself. */
		if (is_running)
			break;
		if (r->phase == PHASE_DETACH) {
			cli_warn("the program does not answer: its last events may be missing");
			close_recording(r);
		} else if (is_open(r)) {
			detach(r, "detached");
		} else {
			give_up(r);
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
		output_warning(r, "the program changed its user, root or namespace, and ldb could not follow: recording ended");
		set_end(r, "rights");
		close_recording(r);
		break;
	case PHASE_HELLO:
	case PHASE_ATTACH:
	case PHASE_READY:
		cli_error("the ldb runtime in process %d does not answer: is the process stopped?",
			  r->pid);
		give_up(r);
		break;
	case PHASE_DETACH:
		output_warning(r, "the program does not answer: its last events may be missing");
		close_recording(r);
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
	if (r->o->duration_ns && now - r->phase_since_ns >= (int64_t)r->o->duration_ns) {
		detach(r, "timeout");
		return;
	}
	why = output_must_stop(r, &end);
	if (why) {
		cli_error("%s", why);
		r->failed = true;
		detach(r, end);
	}
}

/* Often while rings fill quickly, seldom while little happens. */
static void drain(struct recording *r)
{
	unsigned fill = output_drain(r);

	if (fill > 250)
		r->drain_ms = 0;
	else if (fill > 60)
		r->drain_ms = r->drain_ms > 2 ? r->drain_ms / 2 : 1;
	else if (fill < 20 && r->drain_ms < DRAIN_MS_MAX)
		r->drain_ms++;
}

static void tick(struct recording *r)
{
	int64_t now = now_ns();

	if (is_open(r)) {
		drain(r);
		check_limits(r, now);
	}
	if (is_open(r) && now >= r->next_second_ns) {
		if (r->o->live && r->phase == PHASE_RUNNING)
			output_live(r);
		else
			output_second(r);
		r->next_second_ns = now + (r->o->live ? (int64_t)r->o->live->period_ns : SECOND_NS);
	}
	if (is_open(r) && progress_is_on() && now >= r->next_progress_ns) {
		summary_progress(r, now);
		r->next_progress_ns = now + PROGRESS_NS;
	}
	if (is_open(r) && (is_kernel_only(r) || r->phase == PHASE_AWAY) && is_gone(r))
		hung_up(r);
	check_answer(r, now);
	/* Nobody will call any more. */
	if (r->phase == PHASE_PROGRAM && r->launch.ended)
		enter(r, PHASE_CLOSED);
}

static int poll_timeout(const struct recording *r)
{
	if (!is_open(r))
		return r->phase == PHASE_CLOSED ? -1 : IDLE_MS;
	return r->drain_ms;
}

static void loop(struct recording *r)
{
	while (!r->is_left && (r->phase != PHASE_CLOSED || (r->launch.pid && !r->launch.ended))) {
		struct pollfd p[4] = {
			{ .fd = r->signal_fd, .events = POLLIN },
			{ .fd = r->sock, .events = POLLIN },
			{ .fd = r->phase == PHASE_PROGRAM ||
				(r->phase == PHASE_AWAY && r->sock < 0) ? r->listen_fd : -1,
			  .events = POLLIN },
			{ .fd = r->o->live && !r->is_stopping ? r->o->live->stop_fd : -1,
			  .events = POLLIN },
		};
		int signal;

		poll(p, 4, poll_timeout(r));
		while ((signal = signals_next(r->signal_fd)))
			on_signal(r, signal);
		if (p[2].revents)
			accept_program(r);
		if (p[1].revents)
			receive(r);
		if (p[3].revents)
			stop_live(r);
		tick(r);
	}
}

/* The recording runs before the program does. */
static bool start_kernel_only(struct recording *r)
{
	if (r->o->argv) {
		if (!launch_start(&r->launch, &r->target, r->o->argv, NULL, NULL))
			return false;
		r->pid = r->launch.pid;
	} else {
		r->pid = r->o->pid;
		if (!attach_check(r->pid))
			return false;
	}
	r->pidfd = syscall(SYS_pidfd_open, r->pid, 0);
	if (!output_open(r))
		return false;
	r->recorded = true;
	enter(r, PHASE_RUNNING);
	if (!r->o->argv || launch_go(&r->launch, r->o->argv[0])) {
		output_program(r);
		summary_root(r);
		return true;
	}
	give_up(r);
	return false;
}

static bool start(struct recording *r)
{
	char runtime[4096];

	if (is_kernel_only(r))
		return start_kernel_only(r);
	r->pid = r->o->pid;
	if (r->pid && !attach_check(r->pid))
		return false;
	r->listen_fd = listen_open(r->pid, r->name, sizeof(r->name));
	if (r->listen_fd < 0)
		return false;
	if (r->o->argv) {
		enter(r, PHASE_PROGRAM);
		return launch_find_runtime(r->o->libldb, runtime, sizeof(runtime)) &&
		       launch_start(&r->launch, &r->target, r->o->argv, runtime, r->name) &&
		       launch_go(&r->launch, r->o->argv[0]);
	}
	r->sock = attach_connect(r->pid, r->listen_fd, r->name);
	enter(r, PHASE_HELLO);
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
			cli_error("%s was compiled with the plugin and -flto, but linked without the plugin, so it has no records: give -fplugin=ldb.so at link too, or use ldb-gcc",
				  r->o->argv[0]);
		else if (r->target.kind == TARGET_SCRIPT)
			cli_error("no program that %s started has ldb records: compile it with gcc -fplugin=ldb.so",
				  r->o->argv[0]);
		else
			cli_error("%s has no ldb records: compile it with gcc -fplugin=ldb.so",
				  r->o->argv[0]);
	}
	status = launch_exit_status(&r->launch);
	return status ? status : failed ? CLI_FAILURE : CLI_OK;
}

int record_run(const struct record_options *o)
{
	struct recording r = {
		.o = o, .sock = -1, .pidfd = -1, .drain_ms = 1, .listen_fd = -1,
	};

	if (o->argv && !target_examine(o->argv[0], o->kernel_only, &r.target))
		return CLI_FAILURE;
	if (!o->live && !output_check(o->output))
		return CLI_FAILURE;
	r.clock_id = o->monotonic ? LDB_CLOCK_MONO : clock_choose();
	clock_offset(0, &r.offset_ns);
	clock_sample(r.clock_id, &r.first_clock);
	r.signal_fd = signals_open();
	if (r.signal_fd < 0) {
		cli_error("cannot open a signal descriptor: %s", strerror(errno));
		return CLI_FAILURE;
	}
	progress_init(!o->quiet);
	if (!start(&r)) {
		/* a child that waits for launch_go() ends when its pipe is closed */
		return CLI_FAILURE;
	}
	loop(&r);
	progress_clear();
	return exit_status(&r);
}
