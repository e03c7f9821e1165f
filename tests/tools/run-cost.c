// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures what a command costs: run-cost COMMAND [ARG]...
 *
 * It prints the command's elapsed time and CPU time, in seconds, and its peak memory (maximum
 * resident set), in MB.  What the command prints to stdout is discarded.  The exit status is the
 * command's, or 1 if a signal ended it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return t.tv_sec + t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec begin, end;
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 2) {
		fputs("usage: run-cost COMMAND [ARG]...\n", stderr);
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		if (null >= 0)
			dup2(null, STDOUT_FILENO);
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) {
		perror("run-cost");
		return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.4f %.4f %.1f\n", end.tv_sec - begin.tv_sec + (end.tv_nsec - begin.tv_nsec) / 1e9,
	       seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss / 1024.0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
