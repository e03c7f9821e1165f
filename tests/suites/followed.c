// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replaces a program of a test suite.  The program has the same name in the folder "real" beside
 * this one, and is executed under ldb-record --flows, with all arguments.  It is a program, not a
 * script, because suites examine the binary.
 *
 * From the environment: BUILD, and RECORDED, the folder for the traces.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const options[] = { "-q", "--flows", "--kernel=none", "--samples=off", "-o" };
#define NR_OPTIONS	(sizeof(options) / sizeof(options[0]))

int main(int argc, char **argv)
{
	char self[PATH_MAX] = "", real[2 * PATH_MAX], recorder[PATH_MAX], trace[PATH_MAX];
	const char *build = getenv("BUILD"), *recorded = getenv("RECORDED");
	char **args = calloc(NR_OPTIONS + argc + 4, sizeof(char *));
	int n = 0;

	if (!build || !recorded || !args || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 127;
	snprintf(recorder, sizeof(recorder), "%s/bin/ldb-record", build);
	snprintf(trace, sizeof(trace), "%s/%d.data", recorded, getpid());
	snprintf(real, sizeof(real), "%s/real/%s", dirname(self), basename(strdup(argv[0])));
	args[n++] = recorder;
	for (unsigned i = 0; i < NR_OPTIONS; i++)
		args[n++] = (char *)options[i];
	args[n++] = trace;
	args[n++] = "--";
	args[n++] = real;
	memcpy(args + n, argv + 1, argc * sizeof(char *));
	execv(recorder, args);
	fprintf(stderr, "followed: %s: %s\n", recorder, strerror(errno));
	return 127;
}
