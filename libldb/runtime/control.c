// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The control thread: asleep in poll() until a recorder comes.  (raw thread)
 *
 * It has a file table of its own, so its sockets take no descriptor number
 * from the program and no closefrom() can hit them.  The same reason makes it
 * poll for new modules while recording: program threads cannot reach its
 * socket.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "runtime.h"

#define POLL_MODULES_MS	20	/* new modules, and rings to map */
#define RETRY_BIND_NS	1000000000ULL
#define NAME_TRIES	3
#define READY_WAIT_NS	1000000000ULL
#define READY_TRIES	10

enum { READY_NO, READY_YES };

static struct raw_thread control_thread;
static bool started;
static const char *connect_to;
static _Atomic uint32_t ready;

static int conn = -1, listener = -1;
static uint32_t sent_modules;		/* how many of modules[] were reported */
static bool sent_unload[MODULES_MAX];
static uint32_t sent_lost;

static union {
	struct ldb_msg m;
	struct ldb_msg_attach attach;
	struct ldb_msg_module module;
	char bytes[sizeof(struct ldb_msg_module)];
} buf;

bool control_running(void)
{
	return started;
}

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

static void send_modules(void)
{
	uint32_t n = atomic_load(&nr_modules), lost = atomic_load(&nr_modules_lost);

	for (; sent_modules < n; sent_modules++) {
		const struct module *m = &modules[sent_modules];
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
		/* gone before this recording began */
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
		struct ldb_msg_unloaded u = { .tsc = modules[i].unloaded_tsc,
					      .start = modules[i].start };

		if (!u.tsc || sent_unload[i])
			continue;
		sent_unload[i] = true;
		msg_send(&u, LDB_MSG_UNLOADED, sizeof(u));
	}
	if (lost != sent_lost) {
		sent_lost = lost;
		send_text(LDB_MSG_TEXT, "too many modules or thread blocks: some are not watched", 0);
	}
}

/* Threads the kernel has and the registry has not; ours are not counted. */
static uint32_t count_unwatched(void)
{
	static char dir[4096] __attribute__((aligned(8)));
	long fd = sys(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	uint32_t total = 0, known = atomic_load(&nr_live) + 1 + session.nr_scanners;
	long n;

	if (fd < 0)
		return 0;
	while ((n = sys(SYS_getdents64, fd, dir, sizeof(dir))) > 0)
		for (long off = 0; off < n;) {
			struct dirent64 *d = (struct dirent64 *)(dir + off);

			total += d->d_name[0] != '.';
			off += d->d_reclen;
		}
	sys(SYS_close, fd);
	return total > known ? total - known : 0;
}

static bool peer_allowed(void)
{
	struct ucred cred = { 0, -1, -1 };
	uint32_t len = sizeof(cred);

	if (sys(SYS_getsockopt, conn, SOL_SOCKET, SO_PEERCRED, &cred, &len, 0) < 0)
		return false;
	return cred.uid == 0 || (long)cred.uid == sys(SYS_geteuid);
}

/* Returns the size, 0 at end of file, < 0 on error; *fd is -1 if none came. */
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
		if (i == 0)
			*fd = got;
		else
			sys(SYS_close, got);
	}
	return n;
}

static int attach(int fd)
{
	struct ldb_msg_attached ok = { .nr_threads = 0 };
	const struct ldb_msg_attach *a = &buf.attach;
	const char *why;
	int ret;

	if (a->version != LDB_CONTROL_VERSION) {
		send_text(LDB_MSG_ERROR, "ldb-record and the runtime in the program are of "
			  "different versions", 0);
		return -1;
	}
	ret = session_map(fd, a, &why);
	if (ret) {
		send_text(LDB_MSG_ERROR, why, ret);
		return -1;
	}
	session_page.a.mutex_level = a->mutex_level;
	session_page.a.lock_threshold = session_ticks(a->lock_threshold_ns);
	session_page.a.func_threshold = session_ticks(a->func_threshold_ns);
	sent_modules = 0;
	sent_lost = 0;
	memset(sent_unload, 0, sizeof(sent_unload));
	session_begin();
	ret = scan_start();
	if (ret) {
		session_end();
		session_unmap();
		send_text(LDB_MSG_ERROR, "the scanner thread cannot be started", ret);
		return -1;
	}
	ok.nr_threads = atomic_load(&nr_live);
	ok.nr_unwatched = count_unwatched();
	ok.tsc = session.attach_tsc;
	session_info()->unwatched_threads += ok.nr_unwatched;
	msg_send(&ok, LDB_MSG_ATTACHED, sizeof(ok));
	send_modules();
	msg_send(&buf, LDB_MSG_READY, sizeof(struct ldb_msg));
	return 0;
}

static void detach(void)
{
	atomic_store(&session_page.a.on, 0);
	scan_stop();
	session_end();
	/* whoever was writing a record has finished, or writes into scratch */
	raw_sleep_ns(1000000);
}

/* A second recorder is told why it cannot have this program. */
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

/* One recorder, from HELLO to the end of the connection. */
static void serve(void)
{
	struct ldb_msg_hello hello = {
		.version = LDB_CONTROL_VERSION,
		.abi = LDB_SESSION_ABI,
		.pid = sys(SYS_getpid),
		.nr_instrumented = module_nr_instrumented(),
	};
	bool attached = false;
	int fd;
	long n;

	raw_strcpy(hello.release, LDB_RELEASE, sizeof(hello.release));
	if (!peer_allowed()) {
		send_text(LDB_MSG_ERROR, "the program belongs to another user", 0);
		return;
	}
	msg_send(&hello, LDB_MSG_HELLO, sizeof(hello));
	for (;;) {
		struct pollfd p[2] = {
			{ .fd = conn, .events = POLLIN },
			{ .fd = listener, .events = POLLIN },
		};

		n = sys(SYS_poll, p, 2, attached ? POLL_MODULES_MS : -1);
		if (attached) {
			send_modules();
			session_populate();
		}
		/* If the first has just hung up, it is not the second any more. */
		if (n > 0 && p[1].revents && !p[0].revents)
			refuse_second();
		if (n <= 0 || !p[0].revents)
			continue;
		n = receive(&fd);
		if (n < (long)sizeof(struct ldb_msg))
			break;
		if (buf.m.type == LDB_MSG_ATTACH && !attached && fd >= 0 &&
		    n >= (long)sizeof(struct ldb_msg_attach)) {
			int ret = attach(fd);

			if (fd != session.device)
				sys(SYS_close, fd);
			if (ret)
				break;
			attached = true;
			become_ready();
			continue;
		}
		if (fd >= 0)
			sys(SYS_close, fd);
		if (buf.m.type == LDB_MSG_DETACH && attached) {
			detach();
			attached = false;
			msg_send(&buf, LDB_MSG_DETACHED, sizeof(struct ldb_msg));
			session_unmap();
		}
	}
	if (attached) {
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

/* Under ldb-record: the recorder of this run. */
static void connect_first(void)
{
	struct sockaddr_un sa;
	int len = abstract_name(&sa, connect_to);

	conn = sys(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (conn >= 0 && sys(SYS_connect, conn, &sa, len) == 0)
		serve();
	if (conn >= 0)
		sys(SYS_close, conn);
	conn = -1;
	connect_to = NULL;
}

static void listener_open(void)
{
	struct sockaddr_un sa;
	char name[32];
	int len, fd;

	raw_strcpy(name, "ldb-control-", sizeof(name));
	raw_decimal(name + strlen(name), sys(SYS_getpid));
	len = abstract_name(&sa, name);
	fd = sys(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sys(SYS_bind, fd, &sa, len) < 0 || sys(SYS_listen, fd, 4) < 0)
		sys(SYS_close, fd);
	else
		listener = fd;
}

static void control_main(void *arg)
{
	(void)arg;
	listener = -1;
	listener_open();
	if (connect_to) {
		connect_first();
		become_ready();
	}
	for (int i = 0; listener < 0; i++) {
		if (i == NAME_TRIES)
			return;		/* no sockets here, or somebody squats the name */
		raw_sleep_ns(RETRY_BIND_NS);
		listener_open();
	}
	for (;;) {
		conn = sys(SYS_accept4, listener, 0, 0, SOCK_CLOEXEC);
		if (conn < 0) {
			raw_sleep_ns(RETRY_BIND_NS);
			continue;
		}
		serve();
		sys(SYS_close, conn);
		conn = -1;
	}
}

static void wait_ready(void)
{
	/* a recorder that hangs must not hang the program */
	for (int i = 0; i < READY_TRIES && atomic_load(&ready) == READY_NO; i++)
		raw_futex_wait(&ready, READY_NO, READY_WAIT_NS);
}

void control_start(const char *recorder)
{
	started = true;
	connect_to = recorder;
	atomic_store(&ready, READY_NO);
	if (raw_thread_start(&control_thread, "ldb-control", control_main, NULL, true))
		become_ready();
	if (recorder)
		wait_ready();
}

void control_fork_child(void)
{
	if (!started)
		return;
	conn = -1;
	atomic_store(&control_thread.tid, 0);
	control_start(NULL);
}
