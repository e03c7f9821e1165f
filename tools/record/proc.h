/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files of /proc about a process and its threads.  If a process has ended, its files cannot
 * be read.
 */
#ifndef RECORD_PROC_H
#define RECORD_PROC_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens /proc/PID/NAME, or /proc/PID/task/TID/NAME where there is a tid; pid 0: this process. */
FILE *proc_open(pid_t pid, pid_t tid, const char *name);

/*
 * Reads the first line of a file, without the newline.  Returns false and "" if there is no such
 * file.
 */
bool proc_line(pid_t pid, pid_t tid, const char *name, char *line, size_t size);

/* Returns how many processes there are, and their numbers, to be freed. */
size_t proc_list(pid_t **pids);

/* Reads a link.  Returns false if it is not known. */
bool proc_link(pid_t pid, const char *name, char *path, size_t size);

/* Returns the file's name in a path that /proc shows, and cuts " (deleted)" off its end. */
const char *proc_file_name(char *path);

/* Finds the owner of a file, and which file or namespace it is ("ns/net"); name "": the process. */
bool proc_stat(pid_t pid, const char *name, struct stat *st);
bool proc_is_same(const struct stat *a, const struct stat *b);

/* Reads the number in a file such as /proc/sys/...; returns otherwise if there is none. */
int proc_number(const char *path, int otherwise);

/* Fields that are not known are 0. */
struct proc_status {
	char state;
	bool signal_pending;
	int nr_filters;		/* of seccomp */
	pid_t leader;		/* thread group */
	pid_t tracer;
	uid_t uid;		/* effective */
	/*
	 * It has a number in each namespace from that of /proc inward: how many, and the last one.
	 */
	unsigned depth, inner;
};

/* Returns false if there is no such thread. */
bool proc_status(pid_t pid, pid_t tid, struct proc_status *s);
bool proc_is_alive(const struct proc_status *s);
/* Returns its number, or 0. */
pid_t proc_parent(pid_t pid);
/* Is there such a process, which has not ended? */
bool proc_runs(pid_t pid);

/* Calls fn for each thread until it returns true; returns that thread, or 0. */
typedef bool proc_thread_fn(void *arg, pid_t pid, pid_t tid);
pid_t proc_find_thread(pid_t pid, proc_thread_fn *fn, void *arg);

/* Returns a thread that has not ended, though the first one may have; or 0. */
pid_t proc_living_thread(pid_t pid);

/*
 * Has the process ended?  While it does, it cannot be read or entered any more: then this waits for
 * the end, so that a failure is not explained by something else.
 */
bool proc_ends(pid_t pid);
/*
 * Has the thread begun to end, or will it when it continues?  Then it is still alive, also without
 * memory.
 */
bool proc_thread_ends(pid_t pid, pid_t tid);

#endif
