// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Defines kernel probes; see uprobes.h.  The name of a probe's group contains the recorder's pid
 * namespace and pid, because recorders in other namespaces cannot determine whether the recorder
 * still runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "record/perf/private.h"
#include "record/probes/uprobes.h"
#include "record/process/proc.h"

#define LINE_MAX_BYTES	1024
#define FORMAT_MAX	8192
#define TIDY_MAX	64	/* probes that are removed at a time */

static unsigned long namespace_now(void)
{
	struct stat st;

	return proc_stat(0, "ns/pid", &st) ? st.st_ino : 0;
}

/* Writes the whole line at once: the kernel takes each write as a complete line. */
static bool write_line(const char *line)
{
	int fd = perf_tracefs_open("uprobe_events", O_WRONLY | O_APPEND);
	ssize_t n = fd < 0 ? -1 : write(fd, line, strlen(line));
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return n == (ssize_t)strlen(line);
}

/* Reads a file of the probe's tracepoint.  Returns false with errno if there is none. */
static bool read_file(const struct uprobe *p, const char *file, char *text, size_t size)
{
	char path[128];
	ssize_t n = 0, got = 0;
	int fd;

	snprintf(path, sizeof(path), "events/%s/%s", p->name, file);
	fd = perf_tracefs_open(path, O_RDONLY);
	if (fd < 0)
		return false;
	while ((size_t)n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0)
		n += got;
	close(fd);
	text[n] = '\0';
	return n > 0;
}

static void explain(int error, char *why, size_t size)
{
	if (error == EACCES || error == EPERM)
		snprintf(why, size, "that needs the right to write /sys/kernel/tracing/uprobe_events: run ldb-record as root");
	else if (error == ENOENT)
		snprintf(why, size, "no tracefs at /sys/kernel/tracing, or a kernel without uprobe_events");
	else
		snprintf(why, size, "/sys/kernel/tracing/uprobe_events: %s", strerror(error));
}

bool uprobe_add(struct uprobe *p, const char *file, uint64_t offset, uint64_t semaphore, const char *args,
		char *why, size_t why_size)
{
	static unsigned nr;
	char line[LINE_MAX_BYTES], text[32], counter[32] = "";

	*p = (struct uprobe){ 0 };
	snprintf(p->name, sizeof(p->name), "ldb_%lu_%d/id%u", namespace_now(), getpid(), nr++);
	if (semaphore)
		snprintf(counter, sizeof(counter), "(0x%" PRIx64 ")", semaphore);
	if ((size_t)snprintf(line, sizeof(line), "p:%s %s:0x%" PRIx64 "%s %s\n", p->name, file, offset, counter,
			     args) >= sizeof(line))
		errno = E2BIG;
	else if (write_line(line) && read_file(p, "id", text, sizeof(text)) && (p->id = atoi(text)) > 0)
		return true;
	explain(errno, why, why_size);
	uprobe_remove(p);
	return false;
}

void uprobe_remove(struct uprobe *p)
{
	char line[LINE_MAX_BYTES];

	if (!*p->name)
		return;
	snprintf(line, sizeof(line), "-:%s\n", p->name);
	write_line(line);
	*p->name = '\0';
}

bool uprobe_field(const struct uprobe *p, const char *arg, unsigned *offset, unsigned *size)
{
	char text[FORMAT_MAX], name[64];
	const char *at;

	snprintf(name, sizeof(name), " %s;\toffset:", arg);
	at = read_file(p, "format", text, sizeof(text)) ? strstr(text, name) : NULL;
	return at && sscanf(at + strlen(name), "%u;\tsize:%u;", offset, size) == 2;
}

/*
 * Returns true if the probe was left by a recorder that has ended.  A line is "p:GROUP/EVENT
 * FILE:OFFSET ARGS".
 */
static bool is_left_behind(const char *line, unsigned long namespace, struct uprobe *p)
{
	unsigned long its;
	int pid;

	return sscanf(line, "p:%63[^ ]", p->name) == 1 && sscanf(p->name, "ldb_%lu_%d/", &its, &pid) == 2 &&
	       its == namespace && !proc_runs(pid);
}

void uprobes_tidy(void)
{
	int fd = perf_tracefs_open("uprobe_events", O_RDONLY);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	unsigned long namespace = namespace_now();
	struct uprobe found[TIDY_MAX];
	char line[LINE_MAX_BYTES];
	size_t nr = 0;

	while (file && nr < TIDY_MAX && fgets(line, sizeof(line), file))
		nr += is_left_behind(line, namespace, &found[nr]);
	if (file)
		fclose(file);
	while (nr)
		uprobe_remove(&found[--nr]);
}
