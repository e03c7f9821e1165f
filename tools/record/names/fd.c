// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A link in /proc/PID/fd contains the path of a file, or the number of a socket, which must be
 * looked up in tables in /proc/PID/net.  These tables can be long, so they are read only for new
 * numbers, and at most once in TABLES_NS.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/intern.h"
#include "record/names/calls.h"
#include "record/names/fd.h"
#include "record/process/proc.h"
#include "record/session/session.h"

#define FDS		1024	/* cached descriptors: a power of two */
#define SOCKETS		4096	/* cached sockets: a power of two */
#define NAMES_MAX	65536
#define LINES_MAX	20000	/* lines of a table that are read, which takes some 10 ms */
#define TABLES_NS	200000000	/* between two readings of the tables */

struct fd_names {
	pid_t pid;
	unsigned round;
	uint64_t read_ns;
	struct intern texts;
	struct fd_name {
		int fd;
		unsigned round;
		const char *text;
	} fds[FDS];
	struct socket_name {
		uint64_t inode;
		const char *text;
	} sockets[SOCKETS];
};

struct fd_names *fd_names_alloc(pid_t pid)
{
	struct fd_names *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->pid = pid;
	f->round = 1;
	f->texts.max = NAMES_MAX;
	return f;
}

void fd_names_free(struct fd_names *f)
{
	if (!f)
		return;
	intern_free(&f->texts);
	free(f);
}

static const char *keep(struct fd_names *f, const char *text)
{
	const char *kept = intern_text(&f->texts, text);

	return kept ? kept : "";
}

static void set_socket(struct fd_names *f, uint64_t inode, const char *text)
{
	f->sockets[inode & (SOCKETS - 1)] = (struct socket_name){ inode, keep(f, text) };
}

/* line: "0000: 00000002 00000000 00010000 0001 01 1234 /run/db.sock" */
static void on_unix(struct fd_names *f, const char *line)
{
	char path[120] = "", text[160];
	uint64_t inode;

	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %" SCNu64 " %119s", &inode, path) < 1)
		return;
	snprintf(text, sizeof(text), "socket %s", path);
	set_socket(f, inode, *path ? text : "a socket");
}

/* line: "0: 0100007F:0016 0100007F:9C40 01 ... 1234 ...", with addresses of 8 or 32 digits */
static void on_inet(struct fd_names *f, const char *line)
{
	uint32_t a[4] = { 0 };
	char peer[40], text[80];
	unsigned port;
	uint64_t inode;
	int family;

	if (sscanf(line, "%*s %*s %39[0-9A-F]:%x %*s %*s %*s %*s %*s %*s %" SCNu64, peer, &port,
		   &inode) != 3)
		return;
	family = strlen(peer) == 32 ? AF_INET6 : AF_INET;
	for (unsigned i = 0; i < (family == AF_INET6 ? 4 : 1); i++)
		sscanf(peer + 8 * i, "%8" SCNx32, &a[i]);
	calls_address(family, a, htons(port), text, sizeof(text));
	set_socket(f, inode, port ? text : "a socket");
}

static void read_table(struct fd_names *f, const char *name,
		       void (*on_line)(struct fd_names *f, const char *line))
{
	FILE *table = proc_open(f->pid, 0, name);
	char line[512];

	for (int i = 0; table && i < LINES_MAX && fgets(line, sizeof(line), table); i++)
		on_line(f, line);
	if (table)
		fclose(table);
}

static const char *socket_name(struct fd_names *f, uint64_t inode)
{
	const struct socket_name *s = &f->sockets[inode & (SOCKETS - 1)];

	if (s->inode != inode && clock_mono_ns() - f->read_ns > TABLES_NS) {
		static const char *const inet[] = { "net/tcp", "net/tcp6", "net/udp", "net/udp6" };

		read_table(f, "net/unix", on_unix);
		for (unsigned i = 0; i < sizeof(inet) / sizeof(*inet); i++)
			read_table(f, inet[i], on_inet);
		f->read_ns = clock_mono_ns();
	}
	return s->inode == inode ? s->text : "a socket";
}

/* link: "/var/lib/svc.dat (deleted)", "pipe:[1]", "socket:[2]", "anon_inode:[eventfd]" */
static const char *name_of(struct fd_names *f, char *link)
{
	char name[64];
	uint64_t inode;

	if (!strncmp(link, "pipe:", 5))
		return "a pipe";
	if (sscanf(link, "socket:[%" SCNu64, &inode) == 1)
		return socket_name(f, inode);
	if (sscanf(link, "anon_inode:%*1[[]%63[^]]", name) == 1 ||
	    sscanf(link, "anon_inode:%63s", name) == 1)
		return keep(f, name);
	snprintf(name, sizeof(name), "%.63s", proc_file_name(link));
	return keep(f, name);
}

const char *fd_names_get(struct fd_names *f, int fd)
{
	struct fd_name *known = &f->fds[fd & (FDS - 1)];
	char name[32], link[512];

	if (known->round == f->round && known->fd == fd)
		return known->text;
	snprintf(name, sizeof(name), "fd/%d", fd);
	*known = (struct fd_name){ fd, f->round, "" };
	if (fd >= 0 && proc_link(f->pid, name, link, sizeof(link)))
		known->text = name_of(f, link);
	return known->text;
}

void fd_names_forget(struct fd_names *f)
{
	f->round++;
}
