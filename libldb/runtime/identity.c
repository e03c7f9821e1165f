// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sets the credentials of ldb's own threads.  (raw thread)
 *
 * These threads have the credentials of the thread that started them, without any capability, until
 * they end.  Later changes of the program's credentials do not affect them, because glibc's
 * set*id() changes only threads that glibc knows, and most other calls change only the calling
 * thread.  So runtime/privilege.c ends ldb's threads before such a change.  A change by a raw
 * system call is found because the control thread reads the credentials after every 20 polls: every
 * 0.4 s, or every second or two while the recording is paused or LDB_TUNE_SLOW is set.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <sched.h>
#include <sys/prctl.h>
#include "runtime.h"

#define STATUS_MAX	4096
#define CPUS_MAX	8192
#define THREADS_ASKED	256	/* number of threads whose CPUs are read */

void identity_drop(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	sys(SYS_capset, &header, none);
	sys(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/*
 * Removes the CPUs of the list in a file of the kernel: "1-3,8".  Returns false if it is empty or
 * cannot be read.
 */
static bool leave_out(uint64_t *cpus, const char *path)
{
	char list[STATUS_MAX];
	long fd = sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : sys(SYS_read, fd, list, sizeof(list));
	uint64_t from = 0, number = 0;

	if (fd >= 0)
		sys(SYS_close, fd);
	for (long i = 0; i < n; i++) {
		if (list[i] >= '0' && list[i] <= '9') {
			number = number * 10 + list[i] - '0';
			continue;
		}
		if (list[i] == '-') {
			from = number + 1;	/* 0: no range */
		} else if (i && list[i - 1] >= '0' && list[i - 1] <= '9') {
			for (uint64_t cpu = from ? from - 1 : number; cpu <= number && cpu < CPUS_MAX; cpu++)
				cpus[cpu / 64] &= ~(1ULL << cpu % 64);
			from = 0;
		}
		number = 0;
	}
	return n > 0;
}

/* Leaves out isolated CPUs, on which the user wants no interruptions, if there are others. */
static void leave_out_isolated(uint64_t *cpus)
{
	uint64_t rest[CPUS_MAX / 64], any = 0;

	memcpy(rest, cpus, sizeof(rest));
	leave_out(rest, "/sys/devices/system/cpu/isolated");
	leave_out(rest, "/sys/devices/system/cpu/nohz_full");
	for (unsigned i = 0; i < CPUS_MAX / 64; i++)
		any |= rest[i];
	if (any)
		memcpy(cpus, rest, sizeof(rest));
}

/*
 * Allows the calling thread all CPUs that any thread of the program may use.  The thread that was
 * stopped to start ldb's threads may be pinned to one CPU, on which ldb's threads must not run.
 */
void identity_cpus(void)
{
	uint64_t all[CPUS_MAX / 64] = { 0 }, one[CPUS_MAX / 64];
	uint32_t n = order_live_count(&nr_live);
	long size = 0;

	for (uint32_t i = 0; i < n && i < THREADS_ASKED; i++) {
		struct thread *t = order_live_get(&live[i]);
		long got = t ? sys(SYS_sched_getaffinity, t->tid, sizeof(one), one) : 0;

		for (long k = 0; k < got / 8; k++)
			all[k] |= one[k];
		if (got > size)
			size = got;
	}
	leave_out_isolated(all);
	if (size > 0)
		sys(SYS_sched_setaffinity, 0, size, all);
}

bool identity_has_every_cpu(void)
{
	uint64_t own[CPUS_MAX / 64] = { 0 }, lacks[CPUS_MAX / 64], offline[CPUS_MAX / 64];

	if (sys(SYS_sched_getaffinity, 0, sizeof(own), own) < 0)
		return false;
	for (unsigned i = 0; i < CPUS_MAX / 64; i++)
		lacks[i] = offline[i] = ~own[i];
	return leave_out(offline, "/sys/devices/system/cpu/online") && !memcmp(lacks, offline, sizeof(lacks));
}

static bool is_about_rights(const char *line)
{
	return !memcmp(line, "Uid:", 4) || !memcmp(line, "Gid:", 4) ||
	       !memcmp(line, "Groups:", 7) || !memcmp(line, "Seccomp", 7);
}

/*
 * Returns a hash (FNV-1a) of the lines about credentials in the program's status; 0 if it cannot be
 * read.
 */
uint64_t identity_now(void)
{
	char status[STATUS_MAX];
	uint64_t hash = 0xcbf29ce484222325ULL;
	bool wanted = false, any = false, begins = true;
	long fd = sys(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	long n;

	if (fd < 0)
		return 0;
	memset(status, 0, sizeof(status));
	n = sys(SYS_read, fd, status, sizeof(status) - 8);
	sys(SYS_close, fd);
	for (long i = 0; i < n; i++) {
		if (begins)
			wanted = is_about_rights(status + i);
		begins = status[i] == '\n';
		any |= wanted;
		if (wanted)
			hash = (hash ^ (unsigned char)status[i]) * 0x100000001b3ULL;
	}
	return any ? hash : 0;
}

bool identity_may_be_observed(uint32_t peer_uid)
{
	/* The kernel's conditions for ptrace() are similar. */
	return peer_uid == 0 ||
	       (peer_uid == sys(SYS_geteuid) && sys(SYS_prctl, PR_GET_DUMPABLE) == 1);
}
