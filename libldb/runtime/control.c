// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * This is the control thread.  It exists while a recorder is connected, or, with LDB=listen,
 * from the start, asleep until a recorder connects.  (raw thread)
 *
 * It has a separate file table, so its sockets take no descriptor number from the program and no
 * closefrom() can close them.  For the same reason it polls for new modules while recording:
 * program threads cannot use its socket.
 *
 * It runs with the rights of the thread that started it, and must not outlive them:
 * control_leave() ends it and the scanners before the program changes its credentials,
 * control_return() starts it again after that, and the session continues.
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

#define POLL_MODULES_MS	20	/* interval to check for new modules, and for rings to map */
/* the same where ldb must cost nearly nothing; a scanner wakes the thread when it must leave */
#define POLL_SLOW_MS	100
#define POLL_LEAVE_MS	50	/* interval to check whether to leave, while no scanner wakes it */
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

/* the socket to which to connect; "": wait for a recorder */
static char recorder[64];
static bool listens;
/* a session is active, but ldb's threads have ended */
DORMANT_PAGE static bool paused;
static _Atomic uint32_t leave_owner;	/* tid of the thread that changes something */

static int conn = -1, listener = -1;
static uint64_t identity;
static unsigned identity_wait;
static uint32_t sent_modules;		/* how many of the modules were reported */
static bool sent_unload[MODULES_MAX];
static uint32_t sent_lost;
static uint32_t sent_blocks;

static union {
	struct ldb_msg m;
	struct ldb_msg_attach attach;
	struct ldb_msg_flows flows;
	struct ldb_msg_tune tune;
	struct ldb_msg_module module;
	struct ldb_msg_child child;
	char bytes[sizeof(struct ldb_msg_module)];
} buf;

static void become_ready(void)
{
	atomic_store(&ready, READY_YES);
	raw_futex_wake(&ready);
}

static int msg_send(void *m, uint32_t type, uint32_t size)
{
	struct ldb_msg *h = m;

	h->type = type;
	h->size = size;
	return sys(SYS_sendto, conn, m, size, MSG_NOSIGNAL, 0, 0) == (long)size ? 0 : -1;
}

static void send_text(uint32_t type, const char *text, int err)
{
	struct ldb_msg_text t;
	char *end;

	memset(&t, 0, sizeof(t));
	raw_strcpy(t.text, text, sizeof(t.text) - 32);
	if (err) {
		end = t.text + strlen(t.text);
		raw_strcpy(end, " (error ", 16);
		end = raw_decimal(end + strlen(end), -err);
		raw_strcpy(end, ")", 2);
	}
	msg_send(&t, type, sizeof(t));
}

static void send_blocks(void)
{
	uint32_t n = order_list_count(&nr_blocks);
	struct ldb_msg_blocks b;

	if (n == sent_blocks)
		return;
	memset(&b, 0, sizeof(b));
	b.nr = sent_blocks = n;
	for (uint32_t i = 0; i < n; i++)
		b.offset[i] = block_off[i];
	msg_send(&b, LDB_MSG_BLOCKS, sizeof(b));
}

static void send_modules(void)
{
	uint32_t n = order_list_count(&nr_modules), lost = atomic_load(&nr_modules_lost);

	for (; sent_modules < n; sent_modules++) {
		const struct module *m = module_at(sent_modules);
		struct ldb_msg_module *o = &buf.module;

		memset(o, 0, sizeof(*o));
		o->flags = m->flags;
		o->tsc = m->loaded_tsc;
		o->start = m->start;
		o->end = m->end;
		o->bias = m->bias;
		o->build_id_size = m->build_id_size;
		memcpy(o->build_id, m->build_id, sizeof(o->build_id));
		raw_strcpy(o->path, m->path, sizeof(o->path));
		/* it was unloaded before this recording began */
		if (m->unloaded_tsc && m->unloaded_tsc < session.attach_tsc)
			sent_unload[sent_modules] = true;
		else
			msg_send(o, LDB_MSG_MODULE, sizeof(*o));
		if ((m->flags & LDB_MODULE_F_COMPILED) && !(m->flags & LDB_MODULE_F_INSTRUMENTED))
			send_text(LDB_MSG_TEXT, "a module was compiled with ldb but linked with -flto "
				  "without the plugin: its functions are not seen (use ldb-gcc, "
				  "or give -fplugin=ldb.so at link too)", 0);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct module *m = module_at(i);
		struct ldb_msg_unloaded u = { .tsc = m->unloaded_tsc, .start = m->start };

		if (!u.tsc || sent_unload[i])
			continue;
		sent_unload[i] = true;
		msg_send(&u, LDB_MSG_UNLOADED, sizeof(u));
	}
	if (lost != sent_lost) {
		sent_lost = lost;
		send_text(LDB_MSG_TEXT, "too many modules or thread blocks: some are not watched", 0);
	}
	send_blocks();
}

static void send_commands(void)
{
	struct ldb_msg_command c;

	/*
	 * At most one request to dump and one to change something are sent; later ones follow at
	 * the next wake-up.
	 */
	for (int i = 0; i < 2 && command_next(&c); i++)
		msg_send(&c, LDB_MSG_COMMAND, sizeof(c));
}

static bool count_one(void *total, const char *name, long fd)
{
	(void)name;
	(void)fd;
	++*(uint32_t *)total;
	return true;
}

/* Counts the threads of the process that are not in the registry, except for ldb's own. */
static uint32_t count_unwatched(void)
{
	uint32_t total = 0, known = order_live_count(&nr_live) + 1;

	if (!tune_is_paused())
		known += session.nr_scanners;
	raw_each_entry("/proc/self/task", count_one, &total);
	return total > known ? total - known : 0;
}

static bool peer_allowed(void)
{
	struct ucred cred = { 0, -1, -1 };
	uint32_t len = sizeof(cred);

	if (sys(SYS_getsockopt, conn, SOL_SOCKET, SO_PEERCRED, &cred, &len, 0) < 0)
		return false;
	return identity_may_be_watched(cred.uid);
}

/*
 * Receives a message.  Returns its size, 0 at the end of file, or a negative error; *fd is -1 if no
 * descriptor came with it.  If less than a message was received, a descriptor is closed, because it
 * would not be used.
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
	long n = sys(SYS_recvmsg, conn, &msg, MSG_CMSG_CLOEXEC);
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

static void send_ready(bool has_counters)
{
	send_modules();
	msg_send(&buf, LDB_MSG_READY, sizeof(struct ldb_msg));
	if (!has_counters)
		send_text(LDB_MSG_TEXT, "the program has no /proc of its own: it is not known whether "
			  "its threads compute, wait for a CPU or sleep", 0);
}

/* Maps the session and starts to record.  *fd becomes -1 if the session retains the descriptor. */
static int attach(int *fd)
{
	struct ldb_msg_attached ok = { .nr_threads = 0 };
	const struct ldb_msg_attach *a = &buf.attach;
	bool has_counters;
	const char *why;
	int ret;

	if (a->version != LDB_CONTROL_VERSION) {
		send_text(LDB_MSG_ERROR, "ldb-record and the runtime in the program are of "
			  "different versions", 0);
		return -1;
	}
	why = "there is no memory for the scanner";
	ret = scan_prepare();
	if (!ret)
		ret = session_map(*fd, a, &why);
	if (ret) {
		send_text(LDB_MSG_ERROR, why, ret);
		return -1;
	}
	if (session.device >= 0)
		*fd = -1;
	raw_strcpy(recorder, a->name, sizeof(recorder));
	children_set(a->children, a->secret);
	exec_init_attached();
	tune_begin(a);
	command_forget();
	sent_modules = sent_lost = sent_blocks = 0;
	memset(sent_unload, 0, sizeof(sent_unload));
	unmap_find_gone();
	has_counters = schedstat_init();
	recording_begin();
	ret = scan_start(tune_is_paused());
	if (ret) {
		recording_end();
		session_unmap();
		send_text(LDB_MSG_ERROR, "the scanner thread cannot be started", ret);
		return -1;
	}
	flow_begin_child();
	ok.nr_threads = order_live_count(&nr_live);
	ok.nr_unwatched = count_unwatched();
	ok.tsc = session.attach_tsc;
	session_info()->unwatched_threads += ok.nr_unwatched;
	msg_send(&ok, LDB_MSG_ATTACHED, sizeof(ok));
	send_ready(has_counters);
	return 0;
}

static void detach(void)
{
	children_forget();
	order_session_set(&session_page.a.on, 0);
	scan_stop();
	recording_end();
	flow_end();
	/* by now a thread that was writing a record has finished, or writes into scratch memory */
	raw_sleep_ns(1000000);
	flow_unmap();
}

/*
 * Continues a session that was left: starts the scanners again, with the present rights.  *fd is as
 * for attach().
 */
static int resume(int *fd)
{
	bool has_counters = schedstat_init();
	struct stat st;

	if (sys(SYS_fstat, *fd, &st) == 0 && S_ISCHR(st.st_mode)) {
		session.device = *fd;
		*fd = -1;
	}
	if (!tune_is_paused() && scan_resume())
		return -1;
	send_ready(has_counters);
	return 0;
}

/* Tells a second recorder why it cannot record this program. */
static void refuse_second(void)
{
	int first = conn;

	conn = sys(SYS_accept4, listener, 0, 0, SOCK_CLOEXEC);
	if (conn >= 0) {
		send_text(LDB_MSG_ERROR, "another ldb-record is recording this program", 0);
		sys(SYS_close, conn);
	}
	conn = first;
}

/* Is the program about to change its credentials, or has it changed them unnoticed? */
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
 * Tells the recorder that the thread must leave.  If a session is active, and the recorder's name
 * is known so that the thread can come back, the session stays active.
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
		detach();
	}
	msg_send(&m, LDB_MSG_LEAVING, sizeof(m));
	if (!m.returns)
		session_unmap();
}

/*
 * Announces this process.  This is the first message, unless the recorder has attached to the
 * process or knows it already.
 */
static void send_child(void)
{
	if (!children.how)
		return;
	children_message(&buf.child, children.how);
	msg_send(&buf.child, LDB_MSG_CHILD, sizeof(buf.child));
}

static void send_hello(bool resumes)
{
	struct ldb_msg_hello hello = {
		.version = LDB_CONTROL_VERSION,
		.abi = LDB_SESSION_ABI,
		.pid = sys(SYS_getpid),
		.nr_instrumented = module_nr_instrumented(),
		.resumes = resumes,
	};

	raw_strcpy(hello.release, LDB_RELEASE, sizeof(hello.release));
	msg_send(&hello, LDB_MSG_HELLO, sizeof(hello));
}

/* Handles a message, and the descriptor that came with it or -1.  Returns whether to continue. */
static bool on_message(long n, int fd, bool resumes, bool *attached)
{
	bool begins = !*attached && fd >= 0;
	int ret;

	if (begins && !resumes && buf.m.type == LDB_MSG_FLOWS && n >= (long)sizeof(struct ldb_msg_flows)) {
		ret = flow_map(fd, buf.flows.threshold_ns);
		if (ret)
			send_text(LDB_MSG_TEXT, "calls between libraries are not followed: no memory", ret);
		sys(SYS_close, fd);
		return true;
	}
	if (begins && !resumes && buf.m.type == LDB_MSG_ATTACH &&
	    n >= (long)sizeof(struct ldb_msg_attach))
		ret = attach(&fd);
	else if (begins && resumes && session_on() && buf.m.type == LDB_MSG_RESUME)
		ret = resume(&fd);
	else
		begins = false;
	if (fd >= 0)
		sys(SYS_close, fd);
	if (begins) {
		*attached = !ret;
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
		detach();
		*attached = false;
		msg_send(&buf, LDB_MSG_DETACHED, sizeof(struct ldb_msg));
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
			{ .fd = conn, .events = POLLIN },
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
		 * This thread's priority is lowered only here, while it waits: at the start the
		 * program waits for it, at the end no thread would raise it, and a thread that has
		 * raised it is waiting for a new module to be reported.
		 */
		if (!n && attached && !listens && session.scanner_cpu < 0)
			priority_give_way(&control_thread);
		/*
		 * If the first recorder has just disconnected, this one is no second recorder any
		 * more.
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
		detach();
		session_unmap();
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
	if (conn >= 0)
		sys(SYS_close, conn);
	conn = -1;
}

/* attempts; a recorder that is stopped accepts no connection */
#define CONNECT_TRIES		100
#define CONNECT_PAUSE_NS	20000000

/* Connects to the recorder that records this program, or that lost the connection for a moment. */
static void call_recorder(bool resumes)
{
	struct sockaddr_un sa;
	int len = abstract_name(&sa, recorder);
	long ret = -1;

	conn = sys(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	for (int i = 0; conn >= 0 && i < CONNECT_TRIES && !must_leave(false); i++) {
		ret = sys(SYS_connect, conn, &sa, len);
		if (ret != -EAGAIN)	/* the recorder's queue of connections is full */
			break;
		raw_sleep_ns(CONNECT_PAUSE_NS);
	}
	if (!ret) {
		sys(SYS_fcntl, conn, F_SETFL, 0);
		serve(resumes);
	} else if (children.how && !must_leave(false)) {
		children_forget();	/* the recorder has ended */
	}
	/*
	 * The connection was refused, or served to its end; but if the program makes the thread
	 * leave, it will come back.
	 */
	if (!must_leave(false))
		children.how = 0;
	hang_up();
	if (!paused)
		recorder[0] = 0;
}

/* Ends a session that no recorder has continued: the network or the user may be another one now. */
static void end_paused(void)
{
	detach();
	session_unmap();
}

/* Two containers may share a network: the name distinguishes their processes. */
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
		conn = sys(SYS_accept4, listener, 0, 0, SOCK_CLOEXEC);
		if (conn < 0) {
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
	/* the child of a raw fork knows its parent's threads, which it must leave alone */
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
	listener = conn = session.device = -1;
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
	 * The socket is closed before the kernel reports that the thread is gone, because the next
	 * control thread needs its name.
	 */
	if (listener >= 0)
		sys(SYS_close, listener);
}

static void wait_ready(int tries)
{
	/* the program must not wait for ever for a recorder that hangs */
	for (int i = 0; i < tries && atomic_load(&ready) == READY_NO &&
			atomic_load(&control_thread.tid); i++)
		raw_futex_wait(&ready, READY_NO, READY_WAIT_NS);
}

/* Starts the control thread.  The caller is a thread of the program, or runs in place of one. */
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
	conn = -1;
	recorder[0] = 0;
	paused = false;
	atomic_store(&control_thread.tid, 0);
	atomic_store(&control_leaving, LEAVE_NOT);
	atomic_store(&leave_owner, 0);
	if (listens)
		control_start();
}

/* Leaving, and coming back */

/*
 * Lets the calling thread make a change of rights; only one thread may do so at a time.  A signal
 * handler that makes a change in the middle of one by the same thread need not wait, because none
 * of ldb's threads exists then.
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
 * Must the process announce itself again?  It has done so, but had to leave before a recorder came.
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
	 * The present user may not be allowed more threads.  There is no lock here: see the head
	 * of internal.h.
	 */
	if (resumes && paused && !atomic_load(&control_thread.tid)) {
		order_session_set(&session_page.a.on, 0);
		paused = false;
	}
	atomic_store(&leave_owner, 0);
}
