// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the runtime in a running process and makes it connect, or says why it cannot. */
#include <errno.h>
#include <poll.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "cli/error.h"
#include "record/image.h"
#include "record/inject.h"
#include "record/proc.h"
#include "record/record.h"

#define CALL_MS	3000	/* for a thread that was started to connect */

/* The process has no door. */
static void explain(pid_t pid, const struct image *image)
{
	if (!image->readable)
		cli_error("no permission to read process %d, it has rights that you have not, or is not dumpable: run %s as root",
			  pid, cli_tool_name());
	else if (!image->records)
		cli_error("process %d has no ldb records: compile it with gcc -fplugin=ldb.so", pid);
	else if (!image->door && image->runtime)
		cli_error("the ldb runtime in process %d is of an older release than this %s: use those of one release",
			  pid, cli_tool_name());
	else if (!image->door)
		cli_error("the ldb runtime is not loaded in process %d: start it with ldb-record -- CMD, with LD_PRELOAD=libldbtrace.so.0, or link it (pkg-config ldbtrace)",
			  pid);
	else if (image->copy.magic != LDB_DOOR_MAGIC)
		cli_error("the ldb runtime in process %d has not started yet, or the program is set-user-ID: try again, or run the program as its owner",
			  pid);
	else
		cli_error("the runtime in process %d is of version %.16s (protocol %u), this %s needs protocol %d: use those of one release",
			  pid, image->copy.release, image->copy.version, cli_tool_name(),
			  LDB_CONTROL_VERSION);
}

static bool check_process(pid_t pid, struct proc_status *s)
{
	if (!proc_status(pid, 0, s)) {
		cli_error("there is no process %d", pid);
		return false;
	}
	/*
	 * main() may have left by pthread_exit(): then its thread is a zombie, and others
	 * continue.
	 */
	if (!proc_is_alive(s) && !proc_living_thread(pid)) {
		cli_error("process %d has ended", pid);
		return false;
	}
	if (s->leader != pid) {
		cli_error("%d is a thread of process %d: give that number", pid, s->leader);
		return false;
	}
	if (geteuid() && geteuid() != s->uid) {
		cli_error("no permission: process %d belongs to user %u: run %s as that user or as root",
			  pid, s->uid, cli_tool_name());
		return false;
	}
	return true;
}

bool attach_check(pid_t pid)
{
	struct proc_status s;

	return check_process(pid, &s);
}

/* Connects to a program that was started with LDB=listen; -1: none listens. */
static int connect_listener(pid_t pid, const struct proc_status *s)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct stat st = { .st_ino = 0 };
	pid_t peer;
	uid_t uid;
	int fd, n;

	if (!proc_stat(pid, "ns/pid", &st) && !proc_stat(0, "ns/pid", &st))
		return -1;
	n = snprintf(sa.sun_path + 1, sizeof(sa.sun_path) - 1, LDB_CONTROL_NAME,
		     (unsigned long long)st.st_ino, s->depth ? (int)s->inner : pid);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	/* Any process can use a name of an abstract socket: so the peer is checked. */
	if (!connect(fd, (struct sockaddr *)&sa, offsetof(struct sockaddr_un, sun_path) + 1 + n) &&
	    control_peer(fd, &peer, &uid) && peer == pid)
		return fd;
	close(fd);
	return -1;
}

/* Accepts the runtime that was called. */
static int accept_runtime(pid_t pid, int listen_fd)
{
	struct pollfd p = { .fd = listen_fd, .events = POLLIN };

	while (poll(&p, 1, CALL_MS) > 0) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		pid_t peer;
		uid_t uid;

		if (fd < 0)
			continue;
		if (control_peer(fd, &peer, &uid) && peer == pid)
			return fd;
		close(fd);
	}
	cli_error("the ldb runtime in process %d does not answer: it may be forbidden to open sockets",
		  pid);
	return -1;
}

int attach_connect(pid_t pid, int listen_fd, const char *name)
{
	struct image image;
	struct proc_status s;
	pid_t tid;
	int fd;

	if (!check_process(pid, &s))
		return -1;
	fd = connect_listener(pid, &s);
	if (fd >= 0)
		return fd;
	tid = proc_living_thread(pid);
	image_read(tid ? tid : pid, &image);
	if (!image.records || image.copy.magic != LDB_DOOR_MAGIC ||
	    image.copy.version != LDB_CONTROL_VERSION) {
		explain(pid, &image);
		return -1;
	}
	if (inject_is_filtered(pid)) {
		cli_error("process %d has put its own seccomp filter on all its threads, which could kill it if ldb attached: record it without the filter",
			  pid);
		return -1;
	}
	if (!inject_enter(pid, &image, name))
		return -1;
	return accept_runtime(pid, listen_fd);
}
