/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the running processes with a certain name, or in a control group. */
#ifndef RECORD_PROCESS_SELECT_H
#define RECORD_PROCESS_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Returns the number of processes that match, without this one and kernel threads, and stores an
 * array of their pids in ascending order, which the caller frees.  `cgroup` is a path as in
 * /proc/PID/cgroup, or the path of the group's directory below /sys/fs/cgroup; subgroups are
 * included.  `name` or `cgroup` may be NULL; if both are set, both must match.  The kernel stores
 * only 15 characters of a name, so the rest of a longer `name` is ignored.
 */
size_t select_processes(const char *name, const char *cgroup, pid_t **pids);

/*
 * Returns true if this process matches: the pid may belong to another process than when it was
 * selected.
 */
bool select_has(pid_t pid, const char *name, const char *cgroup);

/* Returns what is wrong with the selectors; NULL: nothing. */
const char *select_check(const char *name, const char *cgroup);

#endif
