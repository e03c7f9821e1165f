// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "record/process/proc.h"

#define PATH_ROOM	96
#define PF_EXITING	4	/* from the kernel's include/linux/sched.h */
/* Numbers of fields of /proc/PID/stat, see proc_pid_stat(5). */
#define STAT_FLAGS	9
/* signals pending for this thread, such as SIGKILL when the process is killed */
#define STAT_SIGNALS	31

static const char *path_of(pid_t pid, pid_t tid, const char *name, char *path)
{
	if (!pid)
		snprintf(path, PATH_ROOM, "/proc/self/%s", name);
	else if (!tid)
		snprintf(path, PATH_ROOM, "/proc/%d/%s", pid, name);
	else
		snprintf(path, PATH_ROOM, "/proc/%d/task/%d/%s", pid, tid, name);
	return path;
}

FILE *proc_open(pid_t pid, pid_t tid, const char *name)
{
	char path[PATH_ROOM];

	return fopen(path_of(pid, tid, name, path), "re");
}

bool proc_line(pid_t pid, pid_t tid, const char *name, char *line, size_t size)
{
	FILE *f = proc_open(pid, tid, name);

	*line = '\0';
	if (!f)
		return false;
	if (fgets(line, size, f))
		line[strcspn(line, "\n")] = '\0';
	fclose(f);
	return true;
}

size_t proc_list(pid_t **pids)
{
	DIR *dir = opendir("/proc");
	size_t nr = 0, room = 0;
	struct dirent *d;

	*pids = NULL;
	while (dir && (d = readdir(dir))) {
		pid_t pid = atoi(d->d_name);

		if (pid > 0 && array_push(*pids, nr, room, pid))
			break;
	}
	if (dir)
		closedir(dir);
	return nr;
}

bool proc_link(pid_t pid, const char *name, char *path, size_t size)
{
	char link[PATH_ROOM];
	ssize_t n = readlink(path_of(pid, 0, name, link), path, size - 1);

	if (n <= 0)
		return false;
	path[n] = '\0';
	return true;
}

const char *proc_file_name(char *path)
{
	char *end = strstr(path, " (deleted)");

	if (end && !end[10])
		*end = '\0';
	return basename(path);
}

bool proc_stat(pid_t pid, const char *name, struct stat *st)
{
	char path[PATH_ROOM];

	return !stat(path_of(pid, 0, name, path), st);
}

bool proc_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int proc_number(const char *path, int otherwise)
{
	FILE *f = fopen(path, "re");
	int number;

	if (!f)
		return otherwise;
	if (fscanf(f, "%d", &number) != 1)
		number = otherwise;
	fclose(f);
	return number;
}

static void read_numbers(const char *text, struct proc_status *s)
{
	char *end;

	for (unsigned long n = strtoul(text, &end, 10); end != text; n = strtoul(text, &end, 10)) {
		s->inner = n;
		s->depth++;
		text = end;
	}
}

bool proc_status(pid_t pid, pid_t tid, struct proc_status *s)
{
	unsigned long long own = 0, shared = 0, blocked = 0;
	unsigned seccomp = 0;
	FILE *f = proc_open(pid, tid, "status");
	char line[512];

	memset(s, 0, sizeof(*s));
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &s->state);
		sscanf(line, "Tgid: %d", &s->leader);
		sscanf(line, "TracerPid: %d", &s->tracer);
		sscanf(line, "Uid: %*u %u", &s->uid);
		if (!strncmp(line, "NSpid:", 6))
			read_numbers(line + 6, s);
		sscanf(line, "SigPnd: %llx", &own);
		sscanf(line, "ShdPnd: %llx", &shared);
		sscanf(line, "SigBlk: %llx", &blocked);
		sscanf(line, "Seccomp: %u", &seccomp);
		sscanf(line, "Seccomp_filters: %d", &s->nr_filters);
	}
	/* Strict mode has no filter.  Kernels before 5.9 do not show the number of filters. */
	if (seccomp == SECCOMP_MODE_STRICT)
		s->nr_filters = INT_MAX;
	else if (seccomp && !s->nr_filters)
		s->nr_filters = 1;
	fclose(f);
	s->signal_pending = (own | shared) & ~blocked;
	return true;
}

bool proc_is_alive(const struct proc_status *s)
{
	return s->state && s->state != 'Z' && s->state != 'X';
}

pid_t proc_find_thread(pid_t pid, proc_thread_fn *fn, void *arg)
{
	char path[PATH_ROOM];
	DIR *dir = opendir(path_of(pid, 0, "task", path));
	pid_t found = 0;
	struct dirent *d;

	while (dir && !found && (d = readdir(dir)))
		if (atoi(d->d_name) > 0 && fn(arg, pid, atoi(d->d_name)))
			found = atoi(d->d_name);
	if (dir)
		closedir(dir);
	return found;
}

static bool is_living(void *arg, pid_t pid, pid_t tid)
{
	struct proc_status status;

	return proc_status(pid, tid, &status) && proc_is_alive(&status);
}

pid_t proc_living_thread(pid_t pid)
{
	return proc_find_thread(pid, is_living, NULL);
}

bool proc_runs(pid_t pid)
{
	struct proc_status s;

	return proc_status(pid, 0, &s) && proc_is_alive(&s);
}

bool proc_thread_ends(pid_t pid, pid_t tid)
{
	char line[1024], *at;
	unsigned long value = 0;

	if (!proc_line(pid, tid, "stat", line, sizeof(line)))
		return true;
	at = strrchr(line, ')');
	for (int field = 2; at && field < STAT_SIGNALS; field++) {
		at = strchr(at + 1, ' ');
		if (at && field + 1 == STAT_FLAGS && sscanf(at, "%lu", &value) == 1 && value & PF_EXITING)
			return true;
	}
	return at && sscanf(at, "%lu", &value) == 1 && value & 1UL << (SIGKILL - 1);
}

bool proc_ends(pid_t pid)
{
	for (int ms = 0; ms < 1000; ms++) {
		pid_t tid = proc_living_thread(pid);

		if (!tid)
			return true;
		if (!proc_thread_ends(pid, tid))
			return false;
		usleep(1000);
	}
	return false;
}

pid_t proc_parent(pid_t pid)
{
	char line[512], *end;
	pid_t parent;

	/* The name may contain blanks and parentheses. */
	if (!proc_line(pid, 0, "stat", line, sizeof(line)))
		return 0;
	end = strrchr(line, ')');
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

const char *proc_root(pid_t pid, char *path, size_t size)
{
	struct stat ours, its;

	snprintf(path, size, "/proc/%d/root", pid);
	return !stat("/", &ours) && !stat(path, &its) && !proc_is_same(&ours, &its) ? path : NULL;
}
