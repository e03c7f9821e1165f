/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the running processes that have a name, or are in a control group. */
#ifndef RECORD_SELECT_H
#define RECORD_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * cgroup is a path as in /proc/PID/cgroup, or that of the group's folder below /sys/fs/cgroup; the
 * groups in it belong to it.  Either may be NULL; both: processes to which both apply.  Returns how
 * many there are, in order of their numbers, and these, to be freed.
 */
size_t select_processes(const char *name, const char *cgroup, pid_t **pids);

/* Do they apply to this process?  Its number may have been another one's when it was selected. */
bool select_has(pid_t pid, const char *name, const char *cgroup);

/* Says what is wrong with them; NULL: nothing. */
const char *select_check(const char *name, const char *cgroup);

#endif
