// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creates the socket to which the runtimes of the program and of its children connect.  After the
 * program has changed its credentials, its runtime connects to the same socket again.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "cli/error.h"
#include "record/launch/listen.h"
#include "record/process/proc.h"

#define BACKLOG	8

/* Listens on a random name, which cannot be guessed. */
static int listen_somewhere(char *name, size_t size)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	uint64_t random[2];
	int fd, n;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -1;
	n = snprintf(name, size, "ldb-record-%016lx%016lx", random[0], random[1]);
	memcpy(sa.sun_path + 1, name, n);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&sa, offsetof(struct sockaddr_un, sun_path) + 1 + n) ||
	    listen(fd, BACKLOG)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool other_network(pid_t pid)
{
	struct stat self, other;

	return proc_stat(0, "ns/net", &self) && proc_stat(pid, "ns/net", &other) &&
	       !proc_is_same(&self, &other);
}

/*
 * Creates the socket in the program's network namespace, so that its abstract name belongs to that
 * namespace.
 */
static int listen_there(pid_t pid, char *name, size_t size)
{
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), there, fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	there = open(path, O_RDONLY | O_CLOEXEC);
	if (here >= 0 && there >= 0 && !setns(there, CLONE_NEWNET)) {
		fd = listen_somewhere(name, size);
		if (setns(here, CLONE_NEWNET)) {
			cli_error("cannot come back from the network namespace of process %d: %s",
				  pid, strerror(errno));
			close(fd);
			fd = -1;
		}
	}
	if (here >= 0)
		close(here);
	if (there >= 0)
		close(there);
	return fd;
}

int listen_open(pid_t pid, char *name, size_t size)
{
	bool other = pid && other_network(pid);
	int fd = other ? listen_there(pid, name, size) : listen_somewhere(name, size);

	if (fd < 0 && other)
		cli_error("process %d lives in another network namespace: run %s as root, or there (nsenter -t %d -n)",
			  pid, cli_tool_name(), pid);
	else if (fd < 0)
		cli_error("cannot open a socket for the program: %s", strerror(errno));
	return fd;
}
