// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the tracepoints' format files.  If tracefs is not mounted, it is mounted without a mount
 * point, so that other processes do not see it, until its descriptor is closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "record/perf/private.h"

#define FORMAT_MAX	16384

static int private_mount(void)
{
	int fs = syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), fd = -1;

	if (fs < 0)
		return -1;
	if (!syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
	close(fs);
	return fd;
}

int perf_tracefs_open(const char *name, int flags)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int error = 0, mount, fd;
	char path[128];

	for (unsigned i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s/%s", places[i], name);
		fd = open(path, flags | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (!error || error == ENOENT)
			error = errno;
	}
	mount = private_mount();
	if (mount < 0) {
		errno = error;
		return -1;
	}
	fd = openat(mount, name, flags | O_CLOEXEC);
	error = errno;
	close(mount);
	errno = error;
	return fd;
}

/* Returns the length; 0: failure, with errno. */
static size_t read_format(int events, const char *path, char *text, size_t size)
{
	char name[128];
	ssize_t n, nr = 0;
	int fd;

	snprintf(name, sizeof(name), "%s/format", path);
	fd = openat(events, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	errno = EIO;
	while ((size_t)nr < size && (n = read(fd, text + nr, size - nr)) > 0)
		nr += n;
	close(fd);
	return nr;
}

static void explain(int error, char *why, size_t size)
{
	if (error == EACCES || error == EPERM)
		snprintf(why, size, "tracepoints need CAP_PERFMON and the right to read /sys/kernel/tracing: run ldb-record as root");
	else if (error == ENOENT)
		snprintf(why, size, "no tracefs at /sys/kernel/tracing, and none could be mounted: run ldb-record as root, or mount -t tracefs tracefs /sys/kernel/tracing");
	else
		snprintf(why, size, "/sys/kernel/tracing: %s", strerror(error));
}

bool perf_tracefs_read(struct perf_formats *f, bool calls, char *why, size_t why_size)
{
	char text[FORMAT_MAX];
	int events = perf_tracefs_open("events", O_PATH | O_DIRECTORY);
	bool good = true;

	memset(f, 0, sizeof(*f));
	if (events < 0) {
		explain(errno, why, why_size);
		return false;
	}
	for (int tp = 0; tp < PERF_TP_NR && good; tp++) {
		const char *path = perf_tracepoints[tp].path;
		size_t size;

		if (perf_tracepoints[tp].scope == PERF_OF_CALLS && !calls)
			continue;
		size = read_format(events, path, text, sizeof(text));
		if (size && perf_format_parse(f, tp, text, size))
			continue;
		if (perf_tracepoints[tp].may_be_missing)
			continue;
		good = false;
		if (size || errno == ENOENT)
			snprintf(why, why_size, "this kernel has no tracepoint %s that ldb knows", path);
		else
			explain(errno, why, why_size);
	}
	close(events);
	return good;
}
