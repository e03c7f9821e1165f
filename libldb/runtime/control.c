// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * This is the control thread.  It exists while a recorder is connected, or, with LDB=listen,
 * from the start, asleep until a recorder connects.  (raw thread)
 *
 * It has a separate file table, so its sockets take no descriptor number from the program and no
 * closefrom() can close them.  For the same reason it polls for new modules during a recording:
 * program threads cannot use its socket.
 *
 * It runs with the credentials of the thread that started it, and must not retain them when the
 * program gives them up.  So control_leave() ends it and the scanners before the program changes
 * its credentials, control_return() starts it again after the change, and the session continues.
 *
 * send.c sends its messages; attach.c begins and ends recordings.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "runtime.h"

/* interval of checks for new modules, and for parts of rings to map */
#define POLL_MODULES_MS	20
/* this interval with LDB_TUNE_SLOW; the control thread is woken early when it must leave */
#define POLL_SLOW_MS	100
#define POLL_LEAVE_MS	50	/* interval of checks whether to leave, while no scanner runs */
#define IDENTITY_TICKS	20	/* polls between two readings of the program's credentials */
#define LEAVE_WAIT_NS	20000000ULL
#define LEAVE_TRIES	500
#define OWN_WAIT_NS	10000000ULL
#define OWN_TRIES	100
#define RETRY_BIND_NS	100000000ULL
#define NAME_TRIES	30
#define READY_WAIT_NS	1000000000ULL
#define READY_TRIES	10
#define READY_TRIES_CHILD 2

enum { READY_NO, READY_YES };

static _Atomic uint32_t ready;

/* name of the socket to which to connect; "": none */
static char recorder[64];
static bool listens;
/* a session is active, but ldb's threads have ended */
DORMANT_PAGE static bool paused;
static _Atomic uint32_t leave_owner;	/* tid of the thread that changes credentials; 0: none */

static int listener = -1;
static uint64_t identity;
static unsigned identity_wait;

static union {
	struct ldb_msg m;
	struct ldb_msg_attach attach;
	struct ldb_msg_flows flows;
	struct ldb_msg_tune tune;
} buf;

static void become_ready(void)
{
	atomic_store(&ready, READY_YES);
	raw_futex_wake(&ready);
}

static bool peer_allowed(void)
{
	struct ucred cred = { 0, -1, -1 };
	uint32_t len = sizeof(cred);

	if (sys(SYS_getsockopt, send_conn, SOL_SOCKET, SO_PEERCRED, &cred, &len, 0) < 0)
		return false;
	return identity_may_be_observed(cred.uid);
}

/*
 * Receives a message.  Returns its size, 0 at the end of file, or a negative error; *fd is the
 * descriptor that came with it, or -1.  Descriptors that came with less than a message, and further
 * ones, are closed.
 */
static long receive(int *fd)
{
	union {
		struct cmsghdr h;
		char space[CMSG_SPACE(4 * sizeof(int))];
	} c;
	struct iovec iov = { &buf, sizeof(buf) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &c, .msg_controllen = sizeof(c),
	};
	long n = sys(SYS_recvmsg, send_conn, &msg, MSG_CMSG_CLOEXEC);
	size_t nr;

	*fd = -1;
	if (n < 0 || msg.msg_controllen < sizeof(struct cmsghdr) ||
	    c.h.cmsg_level != SOL_SOCKET || c.h.cmsg_type != SCM_RIGHTS)
		return n;
	nr = (c.h.cmsg_len - CMSG_LEN(0)) / sizeof(int);
	for (size_t i = 0; i < nr; i++) {
		int got;

		memcpy(&got, CMSG_DATA(&c.h) + i * sizeof(int), sizeof(int));
		if (i == 0 && n >= (long)sizeof(struct ldb_msg))
			*fd = got;
		else
			sys(SYS_close, got);
	}
	return n;
}

/* Sends a second recorder the reason why it cannot record this program. */
static void refuse_second(void)
{
	int first = send_conn;

	send_conn = sys(SYS_accept4, listener, 0, 0, SOCK_CLOEXEC);
	if (send_conn >= 0) {
		send_text(LDB_MSG_ERROR, "another ldb-record is recording this program", 0);
		sys(SYS_close, send_conn);
	}
	send_conn = first;
}

/* Returns true if the program is about to change its credentials, or has changed them unnoticed. */
static bool must_leave(bool attached)
{
	uint64_t now;

	if (atomic_load(&control_leaving) != LEAVE_NOT)
		return true;
	if (!attached || ++identity_wait < IDENTITY_TICKS)
		return false;
	identity_wait = 0;
	now = identity_now();
	return now && identity && now != identity;
}

/*
 * Reports to the recorder that the control thread must end.  The session stays active if the
 * control thread is to be started again and the name of the recorder's socket is known.
 */
static void leave(bool attached)
{
	struct ldb_msg_leaving m = {
		.returns = attached && recorder[0] && atomic_load(&control_leaving) == LEAVE_AND_RETURN,
	};

	if (!attached)
		return;
	if (m.returns) {
		scan_stop();
		if (session.device >= 0)
			sys(SYS_close, session.device);
		session.device = -1;
		paused = true;
	} else {
		raw_strcpy(m.text, atomic_load(&control_leaving) == LEAVE_NOT ?
			   "the program changed its credentials by a raw system call, and ldb's threads must not keep the old ones: recording ended" :
			   "the program takes rights from itself that ldb's threads would keep (seccomp, or no longer dumpable): recording ended",
			   sizeof(m.text));
		attach_end();
	}
	send_message(&m, LDB_MSG_LEAVING, sizeof(m));
	if (!m.returns)
		session_unmap();
}

/*
 * Handles a message, and the descriptor that came with it, or -1.  Returns false if the connection
 * must be closed.
 */
static bool on_message(long n, int fd, bool resumes, bool *attached)
{
	bool begins = !*attached && fd >= 0;
	int ret;

	if (begins && !resumes && buf.m.type == LDB_MSG_FLOWS && n >= (long)sizeof(struct ldb_msg_flows)) {
		ret = flow_map(fd, buf.flows.threshold_ns);
		if (ret)
			send_text(LDB_MSG_TEXT, "calls between libraries are not followed: their memory cannot be mapped", ret);
		sys(SYS_close, fd);
		return true;
	}
	if (begins && !resumes && buf.m.type == LDB_MSG_ATTACH &&
	    n >= (long)sizeof(struct ldb_msg_attach))
		ret = attach_begin(&buf.attach, &fd);
	else if (begins && resumes && session_on() && buf.m.type == LDB_MSG_RESUME)
		ret = attach_resume(&fd);
	else
		begins = false;
	if (fd >= 0)
		sys(SYS_close, fd);
	if (begins) {
		*attached = !ret;
		if (!ret && !resumes)
			raw_strcpy(recorder, buf.attach.name, sizeof(recorder));
		children.how = 0;
		if (!ret)
			become_ready();
		return !ret;
	}
	if (buf.m.type == LDB_MSG_TUNE && *attached && n >= (long)sizeof(struct ldb_msg_tune)) {
		ret = tune(&buf.tune.tune);
		if (ret)
			send_text(LDB_MSG_TEXT, "the recording stays paused: the scanner thread cannot be started", ret);
	}
	if (buf.m.type == LDB_MSG_DETACH && *attached) {
		attach_end();
		*attached = false;
		send_message(&buf, LDB_MSG_DETACHED, sizeof(struct ldb_msg));
		session_unmap();
	}
	return true;
}

static int poll_ms(bool attached)
{
	if (!attached || tune_is_paused())
		return POLL_LEAVE_MS;
	return session.is_slow ? POLL_SLOW_MS : POLL_MODULES_MS;
}

/* Serves one recorder, from HELLO to the end of the connection. */
static void serve(bool resumes)
{
	bool attached = false, leaves;
	int fd;
	long n;

	if (!peer_allowed()) {
		send_text(LDB_MSG_ERROR, "the program belongs to another user, or is not dumpable", 0);
		return;
	}
	if (!resumes)
		send_child();
	send_hello(resumes);
	for (;;) {
		struct pollfd p[3] = {
			{ .fd = send_conn, .events = POLLIN },
			{ .fd = listener, .events = POLLIN },
			{ .fd = control_kick, .events = POLLIN },
		};

		n = sys(SYS_poll, p, 3, poll_ms(attached));
		leaves = must_leave(attached);
		if (leaves)
			break;
		if (attached) {
			send_modules();
			send_commands();
			tune_again();
			session_populate();
			flow_poll();
		}
		/*
		 * The control thread's priority is lowered only at this place, after poll() timed
		 * out: at the start the program waits for the control thread, at the end no thread
		 * would raise the priority again, and it may have been raised so that a module is
		 * reported soon.
		 */
		if (!n && attached && !listens && session.scanner_cpu < 0)
			priority_give_way(&control_thread);
		/*
		 * A recorder that connects is refused, unless the first one has just disconnected.
		 */
		if (n > 0 && p[1].revents && !p[0].revents)
			refuse_second();
		if (n <= 0 || !p[0].revents)
			continue;
		n = receive(&fd);
		if (n < (long)sizeof(struct ldb_msg) || !on_message(n, fd, resumes, &attached))
			break;
	}
	if (leaves) {
		leave(attached);
	} else if (attached) {
		attach_end();
		session_unmap();
	} else if (!resumes) {
		flow_unmap();	/* the recorder may have sent FLOWS, but has not sent ATTACH */
	}
}

static int abstract_name(struct sockaddr_un *sa, const char *name)
{
	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	raw_strcpy(sa->sun_path + 1, name, sizeof(sa->sun_path) - 1);
	return offsetof(struct sockaddr_un, sun_path) + 1 + strlen(sa->sun_path + 1);
}

static void hang_up(void)
{
	if (send_conn >= 0)
		sys(SYS_close, send_conn);
	send_conn = -1;
}

/* number of attempts to connect; a recorder that is stopped accepts no connection */
#define CONNECT_TRIES		100
#define CONNECT_PAUSE_NS	20000000

/* Connects to the recorder, to begin a recording or, if it `resumes`, to continue one. */
static void call_recorder(bool resumes)
{
	struct sockaddr_un sa;
	int len = abstract_name(&sa, recorder);
	long ret = -1;

	send_conn = sys(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	for (int i = 0; send_conn >= 0 && i < CONNECT_TRIES && !must_leave(false); i++) {
		ret = sys(SYS_connect, send_conn, &sa, len);
		if (ret != -EAGAIN)	/* -EAGAIN: the recorder's queue of connections is full */
			break;
		raw_sleep_ns(CONNECT_PAUSE_NS);
	}
	if (!ret) {
		sys(SYS_fcntl, send_conn, F_SETFL, 0);
		serve(resumes);
	} else if (children.how && !must_leave(false)) {
		children_forget();	/* the recorder has ended, or accepts no connection */
	}
	/*
	 * The announcement is over, because the connection was refused or has ended; but not if the
	 * program makes the control thread leave, because the next one must make it again.
	 */
	if (!must_leave(false))
		children.how = 0;
	hang_up();
	if (!paused)
		recorder[0] = 0;
}

/*
 * Ends a paused session that no recorder has continued, perhaps because the namespace or user
 * changed.
 */
static void end_paused(void)
{
	attach_end();
	session_unmap();
}

/*
 * Opens the socket of LDB=listen.  Containers may share a network namespace, so the name contains
 * the inode of the pid namespace.
 */
static void listener_open(void)
{
	struct sockaddr_un sa;
	struct stat st = { .st_ino = 0 };
	char name[48], *end;
	int len, fd;

	sys(SYS_stat, "/proc/self/ns/pid", &st);
	raw_strcpy(name, "ldb-control-", sizeof(name));
	end = raw_decimal(name + strlen(name), st.st_ino);
	*end++ = '-';
	raw_decimal(end, sys(SYS_getpid));
	len = abstract_name(&sa, name);
	fd = sys(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sys(SYS_bind, fd, &sa, len) < 0 || sys(SYS_listen, fd, 4) < 0)
		sys(SYS_close, fd);
	else
		listener = fd;
}

static void listen_forever(void)
{
	for (int i = 0; listener < 0; i++) {
		if (i == NAME_TRIES || atomic_load(&control_leaving) != LEAVE_NOT)
			/* sockets are not allowed here, or another process has taken the name */
			return;
		raw_sleep_ns(RETRY_BIND_NS);
		listener_open();
	}
	while (!must_leave(true)) {
		struct pollfd p = { .fd = listener, .events = POLLIN };

		if (sys(SYS_poll, &p, 1, POLL_LEAVE_MS) <= 0)
			continue;
		send_conn = sys(SYS_accept4, listener, 0, 0, SOCK_CLOEXEC);
		if (send_conn < 0) {
			raw_sleep_ns(POLL_LEAVE_MS * 1000000ULL);
			continue;
		}
		serve(false);
		hang_up();
	}
}

/* Raises the priority of ldb's threads; called by a thread that waits for one of them. */
static void raise_ours(void)
{
	/* in the child of a raw fork, these variables describe the parent's threads */
	if (!control_is_ours())
		return;
	priority_raise(&control_thread);
	scan_raise();
}

static void control_main(void *arg)
{
	bool resumes = paused;

	(void)arg;
	atomic_store(&raw_on_wait, priority_find() ? raise_ours : NULL);
	identity_drop();
	identity_cpus();
	identity = identity_now();
	identity_wait = 0;
	listener = send_conn = session.device = -1;
	control_kick = sys(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (listens)
		listener_open();
	paused = false;
	if (recorder[0])
		call_recorder(resumes);
	if (resumes && session_on() && !paused)
		end_paused();
	become_ready();
	if (listens && !paused)
		listen_forever();
	/*
	 * The socket is closed before the kernel reports the end of this thread, because the next
	 * control thread needs the socket's name.
	 */
	if (listener >= 0)
		sys(SYS_close, listener);
}

static void wait_ready(int tries)
{
	/* the number of tries is limited, because the recorder may hang */
	for (int i = 0; i < tries && atomic_load(&ready) == READY_NO &&
			atomic_load(&control_thread.tid); i++)
		raw_futex_wait(&ready, READY_NO, READY_WAIT_NS);
}

/*
 * Starts the control thread.  The caller is a thread of the program, or code that a recorder makes
 * a stopped thread of the program execute (door.c).
 */
static int control_start(void)
{
	int ret;

	control_pid = sys(SYS_getpid);
	thread_renumber();
	atomic_store(&ready, READY_NO);
	ret = raw_thread_start(&control_thread, "ldb-control", control_main, NULL, true);
	if (ret)
		become_ready();
	return ret;
}

bool control_runs(void)
{
	return unlikely(order_any_load(&control_thread.tid) || paused);
}

void control_launched(const char *name)
{
	raw_strcpy(recorder, name, sizeof(recorder));
	children.how = children_wanted() ? LDB_CHILD_STARTED : 0;
	control_start();
	wait_ready(children.how && !children.waits ? READY_TRIES_CHILD : READY_TRIES);
}

void control_announce(void)
{
	if (!control_ever_ran() || !children_wanted() || atomic_load(&control_thread.tid))
		return;
	raw_strcpy(recorder, children.recorder, sizeof(recorder));
	children.how = LDB_CHILD_FORKED;
	control_start();
}

int control_called(const char *name)
{
	if (control_is_ours() && (atomic_load(&control_thread.tid) || paused))
		return -EBUSY;
	atomic_store(&control_thread.tid, 0);
	raw_strcpy(recorder, name, sizeof(recorder));
	return control_start();
}

void control_listen(void)
{
	listens = true;
	if (!control_is_ours() || !atomic_load(&control_thread.tid))
		control_start();
}

void control_fork_child(void)
{
	if (!control_ever_ran())
		return;
	send_conn = -1;
	recorder[0] = 0;
	paused = false;
	atomic_store(&control_thread.tid, 0);
	atomic_store(&control_leaving, LEAVE_NOT);
	atomic_store(&leave_owner, 0);
	if (listens)
		control_start();
}

/* The end of ldb's threads before a change of credentials, and their new start */

/*
 * Reserves the right to change credentials for the calling thread; only one thread may do so at a
 * time.  Returns false if another thread retains it for too long, or if the calling thread has it
 * already, because a signal handler has interrupted a change: then none of ldb's threads exists.
 */
static bool own_leave(void)
{
	uint32_t self = sys(SYS_gettid), none;

	for (int i = 0; i < OWN_TRIES; i++) {
		none = 0;
		if (atomic_compare_exchange_strong(&leave_owner, &none, self))
			return true;
		if (none == self)
			return false;
		raw_sleep_ns(OWN_WAIT_NS);
	}
	return false;
}

/*
 * Returns true if the process must announce itself again, because its control thread had to leave
 * before a recorder answered.
 */
static bool children_told_too_early(void)
{
	return children.how && children_wanted();
}

bool control_leave(enum control_leave how)
{
	if (!control_is_ours() || !own_leave())
		return false;
	atomic_store(&control_leaving, how);
	/* If the control thread gets no CPU for ten seconds, it ends as soon as it gets one. */
	if (raw_thread_join(&control_thread, LEAVE_TRIES, LEAVE_WAIT_NS))
		atomic_store(&control_leaving, LEAVE_NOT);
	if ((!paused && !listens && !children_told_too_early()) || how == LEAVE_FOR_GOOD) {
		atomic_store(&leave_owner, 0);
		return false;
	}
	return true;
}

void control_return(void)
{
	bool resumes = paused;

	if (!atomic_load(&control_thread.tid) && !resumes && children_told_too_early())
		raw_strcpy(recorder, children.recorder, sizeof(recorder));
	if (!atomic_load(&control_thread.tid) && !control_start() && resumes)
		wait_ready(READY_TRIES);
	/*
	 * The control thread may not have started, for example because of the new user's limits.
	 * This takes no lock, because the caller may be a signal handler: see the head of
	 * internal.h.
	 */
	if (resumes && paused && !atomic_load(&control_thread.tid)) {
		order_session_set(&session_page.a.on, 0);
		flow_stop();
		paused = false;
	}
	atomic_store(&leave_owner, 0);
}
