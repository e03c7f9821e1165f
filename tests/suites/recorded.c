// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program replaces the server of a test suite: it becomes the server, which is in the
 * folder "real" beside it, with the runtime loaded, while ldb-record attaches to it (attach.sh).
 * The process id that the suite knows stays the same, and so do its signals, exit status, standard
 * streams, parent and argv[0].  It is a program, not a script, because suites examine the binary
 * with ldd.
 *
 * From the environment: BUILD, and ATTACH, the path of attach.sh.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The recorder is a grandchild, so that the server has no unexpected child. */
static void start_recorder(const char *attach)
{
	char pid[16];
	pid_t child;

	snprintf(pid, sizeof(pid), "%d", getpid());
	child = fork();
	if (child) {
		waitpid(child, NULL, 0);
		return;
	}
	if (!fork()) {
		int null = open("/dev/null", O_RDWR);

		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		close_range(3, ~0U, 0);
		setsid();
		execl("/bin/sh", "sh", attach, pid, (char *)NULL);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *attach = getenv("ATTACH"), *build = getenv("BUILD");
	char self[PATH_MAX] = "", real[2 * PATH_MAX], runtime[PATH_MAX];

	(void)argc;
	if (!attach || !build || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 127;
	snprintf(runtime, sizeof(runtime), "%s/lib/libldbtrace.so.0", build);
	snprintf(real, sizeof(real), "%s/real/%s", dirname(strdup(self)), basename(strdup(self)));
	start_recorder(attach);
	setenv("LD_PRELOAD", runtime, 1);
	execv(real, argv);
	fprintf(stderr, "recorded: %s: %s\n", real, strerror(errno));
	return 127;
}
