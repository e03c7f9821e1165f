// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds processes by a name or a control group: see select.h. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/sort.h"
#include "record/process/proc.h"
#include "record/process/select.h"

#define CGROUP_FS	"/sys/fs/cgroup"
#define COMM_MAX	15	/* the kernel stores no more characters of a name */

static bool has_name(pid_t pid, const char *name)
{
	char comm[64];

	return proc_line(pid, 0, "comm", comm, sizeof(comm)) && !strncmp(comm, name, COMM_MAX) &&
	       (strlen(name) > COMM_MAX ? strlen(comm) == COMM_MAX : !strcmp(comm, name));
}

/* Returns true if this is the path of the group, or of a group inside of it. */
static bool is_within(const char *path, const char *group, size_t length)
{
	return !strncmp(path, group, length) && (!path[length] || path[length] == '/');
}

/*
 * Returns true if a line of /proc/PID/cgroup, "NUMBER:CONTROLLERS:PATH", is of the group.  In the
 * file system a group's directory is below the root, or, in version 1, below a directory that is
 * named after the controllers.
 */
static bool is_of_group(char *line, const char *group, size_t length)
{
	char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
	char folder[4096];
	int n;

	if (!path)
		return false;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	if (is_within(path, group, length))
		return true;
	controllers++;
	n = snprintf(folder, sizeof(folder), CGROUP_FS "%s%s%s", *controllers ? "/" : "", controllers, path);
	return n < (int)sizeof(folder) && is_within(folder, group, length);
}

static bool is_in_group(pid_t pid, const char *group)
{
	size_t length = strlen(group), size = 0;
	FILE *f = proc_open(pid, 0, "cgroup");
	char *line = NULL;
	bool found = false;

	while (length > 1 && group[length - 1] == '/')
		length--;
	while (f && !found && getline(&line, &size, f) > 0)
		found = is_of_group(line, group, length);
	free(line);
	if (f)
		fclose(f);
	return found;
}

bool select_has(pid_t pid, const char *name, const char *cgroup)
{
	return (!name || has_name(pid, name)) && (!cgroup || is_in_group(pid, cgroup));
}

const char *select_check(const char *name, const char *cgroup)
{
	size_t length = cgroup ? strlen(cgroup) : 0;

	if (name && !*name)
		return "--name: the name is empty";
	if (cgroup && !length)
		return "--cgroup: the path is empty";
	while (length && cgroup[length - 1] == '/')
		length--;
	if (cgroup && (!length || (length == strlen(CGROUP_FS) && !strncmp(cgroup, CGROUP_FS, length))))
		return "--cgroup: every process is in the root group: give one in it";
	return NULL;
}

COMPARE_NUMBERS(compare_pids, pid_t)

size_t select_processes(const char *name, const char *cgroup, pid_t **pids)
{
	size_t nr = proc_list(pids), n = 0;
	char exe[4096];

	for (size_t i = 0; i < nr; i++) {
		pid_t pid = (*pids)[i];

		if (pid != getpid() && select_has(pid, name, cgroup) && proc_runs(pid) &&
		    proc_link(pid, "exe", exe, sizeof(exe)))	/* kernel threads have no exe */
			(*pids)[n++] = pid;
	}
	sort_by(*pids, n, compare_pids);
	return n;
}
