// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pid namespaces.  One thread has up to three numbers: the one tracepoints write
 * (first namespace), the one the recorder sees, and the one the program sees.
 * perf-watch.c learns the second from the events themselves; the third is asked
 * for here.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "record/perf-private.h"

#define FIRST_NAMESPACE	0xeffffffcU	/* PROC_PID_INIT_INO of the kernel: fixed */

/* 0: not known. */
static uint64_t namespace_of(const char *who)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/pid", who);
	return stat(path, &st) ? 0 : st.st_ino;
}

/*
 * NSpid of /proc/TID/status: the thread's numbers, from the namespace /proc was
 * mounted in inwards.  Returns how many, 0: none; the last is its own.
 */
static unsigned read_nspid(const char *who, unsigned *last)
{
	char path[64], *line = NULL;
	size_t room = 0;
	unsigned nr = 0;
	FILE *f;

	*last = 0;
	snprintf(path, sizeof(path), "/proc/%s/status", who);
	f = fopen(path, "re");
	while (f && getline(&line, &room, f) > 0) {
		char *save, *word;

		if (strncmp(line, "NSpid:", 6))
			continue;
		for (word = strtok_r(line + 6, " \t\n", &save); word;
		     word = strtok_r(NULL, " \t\n", &save), nr++)
			*last = strtoul(word, NULL, 10);
		break;
	}
	free(line);
	if (f)
		fclose(f);
	return nr;
}

bool perf_tids_are_keys(enum perf_mode mode)
{
	return mode != PERF_TRACEPOINTS || namespace_of("self") == FIRST_NAMESPACE;
}

void perf_tids_init(struct perf_tids *t, pid_t tgid, enum perf_mode mode)
{
	uint64_t own = namespace_of("self");
	unsigned own_depth, last;
	char who[16];

	snprintf(who, sizeof(who), "%d", tgid);
	memset(t, 0, sizeof(*t));
	t->tgid = tgid;
	t->keys_are_tids = perf_tids_are_keys(mode);
	own_depth = read_nspid("self", &last);
	t->depth = read_nspid(who, &last);
	t->ns_inode = namespace_of(who);
	/* Without the right to look, or on a kernel without NSpid: the depth, or hope. */
	t->same_namespace = t->ns_inode ? t->ns_inode == own : t->depth == own_depth;
	t->shown_tgid = t->same_namespace ? (unsigned)tgid : last;
}

uint32_t perf_tids_shown(const struct perf_tids *t, pid_t tid)
{
	unsigned depth, last;
	char who[16];

	if (tid <= 0)
		return 0;
	if (t->same_namespace)
		return tid;
	snprintf(who, sizeof(who), "%d", tid);
	depth = read_nspid(who, &last);
	/* Another container's number at the same depth is not this program's. */
	if (depth != t->depth || namespace_of(who) != t->ns_inode)
		return 0;
	return last;
}

static void read_name(pid_t tgid, pid_t tid, char *name, size_t size)
{
	char path[64];
	FILE *f;

	*name = '\0';
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", tgid, tid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(name, size, f))
		name[strcspn(name, "\n")] = '\0';
	fclose(f);
}

void perf_tids_list(pid_t tgid, perf_tids_fn *fn, void *arg)
{
	struct dirent *d;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", tgid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		char name[32] = "";
		pid_t tid = strtol(d->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		read_name(tgid, tid, name, sizeof(name));
		fn(arg, tid, name);
	}
	if (dir)
		closedir(dir);
}
