// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding the runtime in a running process, or saying why it cannot be found.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
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
#include "cli/foreign.h"
#include "record/record.h"

struct process {
	char state;
	pid_t leader;		/* thread group */
	pid_t inner;		/* pid as the process itself sees it */
	uid_t uid;		/* effective */
};

static bool read_status(pid_t pid, struct process *p)
{
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	memset(p, 0, sizeof(*p));
	p->leader = p->inner = pid;
	while (fgets(line, sizeof(line), f)) {
		char *last;

		sscanf(line, "State: %c", &p->state);
		sscanf(line, "Tgid: %d", &p->leader);
		sscanf(line, "Uid: %*u %u", &p->uid);
		if (!strncmp(line, "NSpid:", 6) && (last = strrchr(line, '\t')))
			p->inner = atoi(last + 1);
	}
	fclose(f);
	return true;
}

struct mapped {
	bool readable, runtime, records;
};

/* Which of the two halves the process has: the library, and programs with records. */
static void read_maps(pid_t pid, struct mapped *m)
{
	char path[64], before[PATH_MAX] = "", *line = NULL;
	uint64_t start, end;
	size_t room = 0;
	FILE *f;

	memset(m, 0, sizeof(*m));
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	while (f && getline(&line, &room, f) > 0) {
		char *name = strchr(line, '/');

		m->readable = true;
		if (!name || sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
			continue;
		name[strcspn(name, "\n")] = '\0';
		if (!strcmp(name, before))
			continue;
		snprintf(before, sizeof(before), "%s", name);
		m->runtime |= !!strstr(name, "/libldbtrace.so");
		m->records |= !m->records && target_file_has_records(
				foreign_open_mapped(pid, start, end, name));
	}
	free(line);
	if (f)
		fclose(f);
}

static bool other_network(pid_t pid)
{
	char path[64];
	struct stat self, other;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	return !stat("/proc/self/ns/net", &self) && !stat(path, &other) &&
	       (self.st_ino != other.st_ino || self.st_dev != other.st_dev);
}

/* Nobody listens. */
static void explain(pid_t pid)
{
	struct mapped m;

	read_maps(pid, &m);
	if (other_network(pid))
		cli_error("process %d lives in another network namespace: run %s there (nsenter -t %d -n)",
			  pid, cli_tool_name(), pid);
	else if (!m.readable)
		cli_error("process %d cannot be examined, and no ldb runtime listens in it: start it with ldb-record -- CMD",
			  pid);
	else if (!m.records)
		cli_error("process %d has no ldb records: compile it with gcc -fplugin=ldb.so", pid);
	else if (!m.runtime)
		cli_error("the ldb runtime is not loaded in process %d: start it with ldb-record -- CMD, with LD_PRELOAD=libldbtrace.so.0, or link it (pkg-config ldbtrace)",
			  pid);
	else
		cli_error("the ldb runtime in process %d does not listen: it may not have started yet, or be forbidden to open sockets",
			  pid);
}

/* Filters a thread is under; tid 0: this process.  -1: not known. */
static int seccomp_filters(pid_t pid, const char *tid)
{
	char path[320], line[512];
	int nr = -1;
	FILE *f;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid, tid);
	else
		snprintf(path, sizeof(path), "/proc/self/status");
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		sscanf(line, "Seccomp_filters: %d", &nr);
	fclose(f);
	return nr;
}

static bool is_control_thread(pid_t pid, const char *tid)
{
	char path[320], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", pid, tid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = 0;
	fclose(f);
	return !strcmp(name, "ldb-control\n");
}

/*
 * A filter that came after the runtime's control thread, and was put on all
 * threads, was written without ldb in mind: the first system call of an attach
 * could kill the program.  Filters we share came with the container.
 */
static bool seccomp_allows(pid_t pid)
{
	char path[64];
	struct dirent *d;
	bool allows = true;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		if (is_control_thread(pid, d->d_name) &&
		    seccomp_filters(pid, d->d_name) > seccomp_filters(pid, NULL))
			allows = false;
	if (dir)
		closedir(dir);
	if (!allows)
		cli_error("process %d has put its own seccomp filter on all its threads, which could kill it if ldb attached: record it without the filter",
			  pid);
	return allows;
}

static bool check_process(pid_t pid, struct process *p)
{
	if (!read_status(pid, p)) {
		cli_error("there is no process %d", pid);
		return false;
	}
	if (p->state == 'Z' || p->state == 'X') {
		cli_error("process %d has ended", pid);
		return false;
	}
	if (p->leader != pid) {
		cli_error("%d is a thread of process %d: give that number", pid, p->leader);
		return false;
	}
	if (geteuid() && geteuid() != p->uid) {
		cli_error("no permission: process %d belongs to user %u: run %s as that user or as root",
			  pid, p->uid, cli_tool_name());
		return false;
	}
	return true;
}

bool attach_check(pid_t pid)
{
	struct process p;

	return check_process(pid, &p);
}

int attach_connect(pid_t pid)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct process p;
	pid_t peer;
	uid_t uid;
	int fd, n;

	if (!check_process(pid, &p) || !seccomp_allows(pid))
		return -1;
	n = snprintf(sa.sun_path + 1, sizeof(sa.sun_path) - 1, LDB_CONTROL_NAME, p.inner);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		cli_error("cannot open a socket: %s", strerror(errno));
		return -1;
	}
	if (connect(fd, (struct sockaddr *)&sa, offsetof(struct sockaddr_un, sun_path) + 1 + n)) {
		if (errno == EAGAIN)
			cli_error("the ldb runtime in process %d does not answer: is the process stopped?",
				  pid);
		else
			explain(pid);
		goto err_close;
	}
	/* Names of abstract sockets can be taken by anybody. */
	if (!control_peer(fd, &peer, &uid) || peer != pid) {
		cli_error("the control name of process %d is held by process %d: not connecting",
			  pid, peer);
		goto err_close;
	}
	return fd;

err_close:
	close(fd);
	return -1;
}
