// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests that go from one process to another, and prints their true times.
 *
 *	two-sides serve SOCKET		answers until the other side has ended
 *	two-sides ask SOCKET N		asks N times
 *	two-sides away NS COMMAND...	runs a command in a time namespace whose CLOCK_MONOTONIC is
 *					ahead by NS
 *
 * Both sides link question i to the W3C trace whose last 8 bytes are i.  They print "i FROM TO",
 * the times at which their requests began and ended, in ns of the time of day.  The time is read by
 * a system call, so a library that changes the time for a recorder has no effect here.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <ldb/ldb.h>

#define MOST	10000

static uint64_t from[MOST], to[MOST];

static uint64_t now_ns(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

__attribute__((noinline)) void work_us(unsigned us)
{
	uint64_t end = now_ns() + us * 1000ULL;

	while (now_ns() < end)
		;
}

static void begin(uint64_t i)
{
	unsigned char trace[16] = { 0x4b, 0xf9, 0x2f }, span[8] = { 1 };

	for (unsigned k = 0; k < 8; k++)
		trace[15 - k] = i >> 8 * k;
	from[i] = now_ns();
	ldb_req_start(i, NULL);
	ldb_req_link(i, trace, span);
}

static void end(uint64_t i)
{
	ldb_req_end(i);
	to[i] = now_ns();
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return a;
}

__attribute__((noinline)) static void answer(int s, uint64_t i)
{
	begin(i);
	work_us(300 + i % 8 * 50);
	end(i);
	if (write(s, &i, sizeof(i)) != sizeof(i))
		exit(1);
}

static uint64_t serve(const char *path)
{
	struct sockaddr_un a = address_of(path);
	int s = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	uint64_t i, last = 0;

	if (bind(s, (void *)&a, sizeof(a)) || listen(s, 1))
		exit(1);
	s = accept(s, NULL, NULL);
	while (read(s, &i, sizeof(i)) == sizeof(i) && i < MOST) {
		answer(s, i);
		last = i;
	}
	return last;
}

__attribute__((noinline)) static void ask(int s, uint64_t i)
{
	uint64_t reply = 0;

	begin(i);
	if (write(s, &i, sizeof(i)) != sizeof(i) || read(s, &reply, sizeof(reply)) != sizeof(reply) || reply != i)
		exit(1);
	end(i);
}

static uint64_t ask_all(const char *path, uint64_t nr)
{
	struct sockaddr_un a = address_of(path);
	int s = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	if (nr >= MOST || connect(s, (void *)&a, sizeof(a)))
		exit(1);
	for (uint64_t i = 1; i <= nr; i++) {
		ask(s, i);
		usleep(2000);
	}
	return nr;
}

static int run_away(const char *ns, char **argv)
{
	int fd, status;
	pid_t pid;

	if (unshare(CLONE_NEWTIME))
		return 77;
	fd = open("/proc/self/timens_offsets", O_WRONLY);
	if (fd < 0 || dprintf(fd, "monotonic 0 %s\n", ns) < 0)
		return 77;
	close(fd);
	pid = fork();
	if (!pid) {
		execvp(argv[0], argv);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	uint64_t last;

	if (argc > 3 && !strcmp(argv[1], "away"))
		return run_away(argv[2], argv + 3);
	if (argc < 3)
		return 2;
	last = argc > 3 ? ask_all(argv[2], strtoul(argv[3], NULL, 10)) : serve(argv[2]);
	for (uint64_t i = 1; i <= last; i++)
		printf("%lu %lu %lu\n", (unsigned long)i, (unsigned long)from[i], (unsigned long)to[i]);
	return 0;
}
