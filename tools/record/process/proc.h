/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files of /proc about a process and its threads.  The files of a process that has ended
 * cannot be read.
 */
#ifndef RECORD_PROCESS_PROC_H
#define RECORD_PROCESS_PROC_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens /proc/PID/NAME, or /proc/PID/task/TID/NAME if tid is not 0; pid 0: this process. */
FILE *proc_open(pid_t pid, pid_t tid, const char *name);

/*
 * Reads the first line of a file, without the newline.  Returns false and "" if there is no such
 * file.
 */
bool proc_line(pid_t pid, pid_t tid, const char *name, char *line, size_t size);

/* Returns the number of processes, and stores an array of their pids, which the caller frees. */
size_t proc_list(pid_t **pids);

/* Reads a symbolic link.  Returns false on failure. */
bool proc_link(pid_t pid, const char *name, char *path, size_t size);

/*
 * Returns the last component of a path as shown in /proc, after removing " (deleted)" from its end.
 */
const char *proc_file_name(char *path);

/*
 * Calls stat() for a file of the process, such as "ns/net"; name "": the process's directory in
 * /proc, whose owner is the owner of the process.
 */
bool proc_stat(pid_t pid, const char *name, struct stat *st);
bool proc_is_same(const struct stat *a, const struct stat *b);

/* Reads the number in a file such as /proc/sys/...; returns `otherwise` on failure. */
int proc_number(const char *path, int otherwise);

/* Fields that are not known are 0. */
struct proc_status {
	char state;
	bool signal_pending;
	int nr_filters;		/* number of seccomp filters; INT_MAX: seccomp's strict mode */
	pid_t leader;		/* thread group */
	pid_t tracer;
	uid_t uid;		/* effective user id */
	/*
	 * The thread has a number in each pid namespace from that of /proc inward: how many numbers
	 * it has, and its number in the innermost namespace.
	 */
	unsigned depth, inner;
};

/* Returns false if there is no such thread. */
bool proc_status(pid_t pid, pid_t tid, struct proc_status *s);
bool proc_is_alive(const struct proc_status *s);
/* Returns the pid of the parent, or 0. */
pid_t proc_parent(pid_t pid);
/* Returns true if a process with this pid exists and has not ended. */
bool proc_runs(pid_t pid);

/* Calls fn for each thread until it returns true; returns that thread, or 0. */
typedef bool proc_thread_fn(void *arg, pid_t pid, pid_t tid);
pid_t proc_find_thread(pid_t pid, proc_thread_fn *fn, void *arg);

/* Returns a thread that has not ended (the first one may have), or 0. */
pid_t proc_living_thread(pid_t pid);

/*
 * Returns true if the process has ended.  A process that is ending can no longer be read or
 * entered: waits for its end, for some 1 s at most, so that failures are not attributed to another
 * cause.
 */
bool proc_ends(pid_t pid);
/*
 * Returns true if the thread has begun to exit, or will exit when it continues.  Such a thread may
 * still exist, but no longer have memory.
 */
bool proc_thread_ends(pid_t pid, pid_t tid);

/*
 * Returns a path below which the files of a process in a chroot or container are found.  Returns
 * NULL if its root directory is that of this process, or if the process has ended.
 */
const char *proc_root(pid_t pid, char *path, size_t size);

#endif
