/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /proc says of a process and its threads.  All of it may be gone by the time it is
 * read: then nothing is known.
 */
#ifndef RECORD_PROC_H
#define RECORD_PROC_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* /proc/PID/NAME, or /proc/PID/task/TID/NAME where there is a tid; pid 0: this process. */
FILE *proc_open(pid_t pid, pid_t tid, const char *name);

/* Reads the first line of a file, without the newline.  False: "", there is no such file. */
bool proc_line(pid_t pid, pid_t tid, const char *name, char *line, size_t size);

/* What a link leads to.  False: not known. */
bool proc_link(pid_t pid, const char *name, char *path, size_t size);

/* The owner of a file, and which file or namespace it is ("ns/net"); name "": the process. */
bool proc_stat(pid_t pid, const char *name, struct stat *st);
bool proc_is_same(const struct stat *a, const struct stat *b);

/* The number in a file such as /proc/sys/...; otherwise, if there is none. */
int proc_number(const char *path, int otherwise);

/* Fields that are not known are 0. */
struct proc_status {
	char state;
	bool signal_pending;
	int nr_filters;		/* of seccomp */
	pid_t leader;		/* thread group */
	pid_t tracer;
	uid_t uid;		/* effective */
	/* Its numbers in the namespaces from that of /proc inwards: how many, and the last. */
	unsigned depth, inner;
};

/* False: there is no such thread. */
bool proc_status(pid_t pid, pid_t tid, struct proc_status *s);
bool proc_is_alive(const struct proc_status *s);

/* Calls fn for each thread until it returns true; returns for which, or 0. */
typedef bool proc_thread_fn(void *arg, pid_t pid, pid_t tid);
pid_t proc_find_thread(pid_t pid, proc_thread_fn *fn, void *arg);

/* A thread that has not ended, though the first one may have; or 0. */
pid_t proc_living_thread(pid_t pid);

#endif
