// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the limits of one user: who may open the device, memory under RLIMIT_MEMLOCK, sessions at a
 * time and per second, also in user namespaces; and which processes a user may observe.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "dev.h"
#include "tap.h"

#define SOMEBODY	1001
#define OTHER		1002

static unsigned long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Calls fn in a forked child that is another user.  Returns its result; 254, 255: there is none. */
static int as(unsigned uid, int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(setgid(uid) || setuid(uid) ? 255 : fn());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

static void set_param(const char *name, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/module/ldb/parameters/%s", name);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		bail_out(name);
	close(fd);
}

static void lock_limit(unsigned long bytes)
{
	struct rlimit r = { bytes, 1UL << 30 };

	if (setrlimit(RLIMIT_MEMLOCK, &r))
		bail_out("RLIMIT_MEMLOCK");
}

static long pinned_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmPin: %ld", &kb);
	fclose(f);
	return kb;
}

/* Describes a small session: 2 rings of 12 KiB and a thread. */
static struct ldb_create small(void)
{
	struct ldb_create c = dev_default();

	c.ring_order = 8;
	c.max_threads = 1;
	return c;
}

static struct ldb_create large(void)
{
	struct ldb_create c = dev_default();

	c.ring_order = 18;
	return c;
}

static int try(struct ldb_create c)
{
	struct dev d;
	int rc = dev_open(&d, &c);

	if (!rc)
		dev_close(&d);
	return -rc;
}

static int try_open(void)
{
	int fd = open(LDB_DEVICE, O_RDWR);

	return fd < 0 ? errno : 0;
}

static void test_open(void)
{
	struct stat st;

	if (stat(LDB_DEVICE, &st))
		bail_out("no device");
	is_int(st.st_mode & 0777, 0660, "the device's mode");
	is_int(as(SOMEBODY, try_open), EACCES,
	       "a user outside of the group cannot open the device");
	if (chown(LDB_DEVICE, 0, SOMEBODY))
		bail_out("chown");
	is_int(as(SOMEBODY, try_open), 0, "a user of the group can open the device");
	if (chmod(LDB_DEVICE, 0666))
		bail_out("chmod");
}

static int small_without_lock(void)
{
	lock_limit(0);
	return try(small());
}

static int large_without_lock(void)
{
	lock_limit(0);
	return try(large());
}

static int says_size(void)
{
	struct ldb_create c = large();
	int fd = open(LDB_DEVICE, O_RDWR);

	lock_limit(1 << 20);
	if (dev_ioctl(fd, LDB_IOC_CREATE, &c) != -ENOMEM || c.total_size < 16 << 20)
		return 1;
	lock_limit(c.total_size + (1 << 20));
	return 0;
}

static int large_with_lock(void)
{
	struct ldb_create c = large();
	struct dev d;
	long before = pinned_kb(), kb;

	lock_limit(64 << 20);
	if (dev_open(&d, &c))
		return 1;
	kb = pinned_kb() - before;
	/* This is the whole memory except for the part that each user has per CPU. */
	if (kb < (long)(d.c.total_size >> 10) - 516L * nr_cpus() || kb > (long)(d.c.total_size >> 10) * 11 / 10)
		return 2;
	dev_close(&d);
	for (int i = 0; i < 2000 && pinned_kb() != before; i++)
		msleep(1);
	return pinned_kb() == before ? 0 : 3;
}

/* Ten sessions belong to one process: the limit applies to all of them together. */
static int many_with_lock(void)
{
	struct ldb_create c = large();
	struct dev d[10];
	int nr = 0;

	lock_limit(64 << 20);
	while (nr < 10 && !dev_open(&d[nr], &c))
		nr++;
	return nr;
}

static void test_memory(void)
{
	is_int(as(SOMEBODY, small_without_lock), 0, "a small session needs no RLIMIT_MEMLOCK");
	is_int(as(SOMEBODY, large_without_lock), ENOMEM, "a large session needs RLIMIT_MEMLOCK");
	is_int(as(SOMEBODY, says_size), 0, "a large session that is refused returns its size");
	is_int(as(SOMEBODY, large_with_lock), 0,
	       "its memory is charged to its creator until it ends");
	is_int(as(SOMEBODY, many_with_lock), 3, "64 MiB are three sessions of 20");
	is_int(as(0, large_without_lock), 0, "CAP_IPC_LOCK has no limit");
}

static int how_many(void)
{
	struct ldb_create c = small();
	struct dev d[40];
	int nr = 0;

	while (nr < 40 && !dev_open(&d[nr], &c))
		nr++;
	return nr;
}

/* A child becomes three users of a user namespace in turn: the limit applies to them together. */
static int how_many_in_namespace(void)
{
	char map[64];
	int fd, ready[2], mapped[2], sum = 0;
	pid_t pid;
	char c;

	if (pipe(ready) || pipe(mapped))
		return 250;
	pid = fork();
	if (!pid) {
		struct dev d[60];
		struct ldb_create s = small();

		if (setgid(SOMEBODY) || setuid(SOMEBODY))
			_exit(251);
		/* Waits until the parent, root, has written the user map. */
		prctl(PR_SET_DUMPABLE, 1);
		if (unshare(CLONE_NEWUSER))
			_exit(252);
		if (write(ready[1], "", 1) != 1 || read(mapped[0], &c, 1) != 1)
			_exit(253);
		for (int user = 0; user < 3; user++) {
			if (setresuid(user, user, 0))
				_exit(249);
			while (sum < 60 && !dev_open(&d[sum], &s))
				sum++;
			if (setresuid(0, 0, 0))
				_exit(248);
		}
		_exit(sum);
	}
	if (read(ready[0], &c, 1) != 1)
		return 253;
	snprintf(map, sizeof(map), "/proc/%d/uid_map", pid);
	fd = open(map, O_WRONLY);
	if (write(fd, "0 100000 10", 11) != 11 || write(mapped[1], "", 1) != 1)
		return 247;
	close(fd);
	waitpid(pid, &fd, 0);
	return WEXITSTATUS(fd);
}

static int forty_in_a_row(void)
{
	unsigned long start = now_ms();

	for (int i = 0; i < 40; i++)
		if (try(small()))
			return 255;
	return (now_ms() - start) / 100;
}

static void test_sessions(void)
{
	int took;

	set_param("max_user_rate", "0");
	is_int(as(SOMEBODY, how_many), 16, "sessions of one user at a time");
	is_int(how_many_in_namespace(), 16,
	       "sessions of all users of one user's namespace at a time");
	set_param("max_user_rate", "10");
	msleep(3000);
	took = as(OTHER, forty_in_a_row);
	ok(took >= 20 && took < 250, "forty sessions take more than two seconds (%d00 ms)", took);
	set_param("max_user_rate", "0");
}

static struct dev d;

static int join(void)
{
	return -dev_ioctl(d.fd, LDB_IOC_JOIN, NULL);
}

static int join_undumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	return join();
}

static int join_dumpable(void)
{
	prctl(PR_SET_DUMPABLE, 1);
	return join();
}

/* SOMEBODY creates a session, and a child, which is user uid, joins it by fn. */
static int joined_by(unsigned uid, int (*fn)(void))
{
	struct ldb_create c = small();
	int status;
	pid_t pid = fork();

	if (!pid) {
		/* The child exists before the session: it may be another user, even root. */
		int made[2], sock;
		pid_t child;
		char x;

		if (pipe(made))
			_exit(250);
		d.fd = open(LDB_DEVICE, O_RDWR);
		sock = d.fd;
		child = fork();
		if (!child) {
			if (read(made[0], &x, 1) != 1 || setgid(uid) || setuid(uid))
				_exit(251);
			_exit(fn());
		}
		if (setgid(SOMEBODY) || setuid(SOMEBODY) || dev_ioctl(sock, LDB_IOC_CREATE, &c))
			_exit(252);
		if (write(made[1], "", 1) != 1)
			_exit(253);
		waitpid(child, &status, 0);
		_exit(WEXITSTATUS(status));
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static int pid_of_child(void)
{
	struct ldb_create c = small();
	int rc;

	c.pid = fork();
	if (!c.pid) {
		pause();
		_exit(0);
	}
	rc = try(c);
	kill(c.pid, SIGKILL);
	return rc;
}

static void test_whom(void)
{
	is_int(joined_by(SOMEBODY, join_dumpable), 0, "a program of the same user joins");
	is_int(joined_by(OTHER, join_dumpable), EPERM, "a program of another user must not join");
	is_int(joined_by(0, join_dumpable), EPERM, "a program of root's must not join");
	is_int(joined_by(SOMEBODY, join_undumpable), EPERM,
	       "a program that cannot be traced must not join");
	is_int(as(SOMEBODY, pid_of_child), EPERM, "a pid needs CAP_PERFMON, even of one's own");
	is_int(as(0, pid_of_child), 0, "root has CAP_PERFMON");
}

int main(void)
{
	lock_limit(8 << 20);
	dev_load_strict("disarm_delay_ms=60000");
	test_open();
	test_memory();
	test_sessions();
	test_whom();
	return done();
}
