// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Handles pid namespaces.  A thread has up to three numbers: in the first namespace, as in
 * tracepoints; in the recorder's namespace; and in the program's namespace.  watch.c learns
 * the second from the events; this file finds the third.
 */
#include "record/perf/private.h"
#include "record/process/proc.h"

#define FIRST_NAMESPACE	0xeffffffcU	/* PROC_PID_INIT_INO of the kernel, which does not change */

/* Returns the inode of a process's pid namespace; 0: not known. */
static uint64_t namespace_of(pid_t pid)
{
	struct stat st;

	return proc_stat(pid, "ns/pid", &st) ? st.st_ino : 0;
}

bool perf_tids_are_keys(enum perf_mode mode)
{
	return mode != PERF_TRACEPOINTS || namespace_of(0) == FIRST_NAMESPACE;
}

void perf_tids_init(struct perf_tids *t, pid_t tgid, enum perf_mode mode)
{
	uint64_t own_inode = namespace_of(0);
	struct proc_status own, its;

	proc_status(0, 0, &own);
	proc_status(tgid, 0, &its);
	*t = (struct perf_tids){
		.tgid = tgid, .keys_are_tids = perf_tids_are_keys(mode), .depth = its.depth,
		.ns_inode = namespace_of(tgid),
	};
	/*
	 * If the namespace may not be read, or on kernels without NSpid, the same depth must
	 * suffice.
	 */
	t->same_namespace = t->ns_inode ? t->ns_inode == own_inode : its.depth == own.depth;
	t->shown_tgid = t->same_namespace ? (unsigned)tgid : its.inner;
}

uint32_t perf_tids_shown(const struct perf_tids *t, pid_t tid)
{
	struct proc_status its;

	if (tid <= 0)
		return 0;
	if (t->same_namespace)
		return tid;
	proc_status(tid, 0, &its);
	/*
	 * A thread in another container may be at the same depth, so the namespace is compared,
	 * too.
	 */
	return its.depth == t->depth && namespace_of(tid) == t->ns_inode ? its.inner : 0;
}
