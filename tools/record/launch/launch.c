// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starts the program, with the runtime preloaded.
 *
 * The program must not notice a difference: its standard streams (unless launch_hide_output() was
 * called), process group, signal mask and dispositions are those with which the recorder was
 * started, and the runtime removes ldb's variables from the environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <ldb/control.h>
#include "cli/error.h"
#include "record/launch/launch.h"
#include "record/process/signals.h"

#define RUNTIME		"libldbtrace.so.0"

static bool usable(const char *path, char *buf, size_t size)
{
	char real[PATH_MAX];

	if (!realpath(path, real) || access(real, R_OK))
		return false;
	snprintf(buf, size, "%s", real);
	return true;
}

/*
 * Searches for the runtime relative to this tool: in build/lib for build/bin, in PREFIX/lib for
 * PREFIX/bin, and where a package installs it.
 */
static bool find_beside(char *path, size_t size)
{
	char exe[PATH_MAX], candidate[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n < 0)
		return false;
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	if (!slash)
		return false;
	*slash = '\0';
	snprintf(candidate, sizeof(candidate), "%s/../lib/" RUNTIME, exe);
	if (usable(candidate, path, size))
		return true;
	snprintf(candidate, sizeof(candidate), "%s/../lib/" LDB_MULTIARCH "/" RUNTIME, exe);
	return usable(candidate, path, size);
}

bool launch_find_runtime(const char *given, char *path, size_t size)
{
	const char *set = given ? given : getenv("LDB_LIBLDB");

	if (set && *set) {
		if (!usable(set, path, size)) {
			cli_error("cannot use %s as the runtime: %s", set, strerror(errno));
			return false;
		}
	} else if (!find_beside(path, size) && !usable(LDB_PREFIX "/lib/" RUNTIME, path, size)) {
		cli_error("the runtime " RUNTIME " was not found next to this tool nor in " LDB_PREFIX
			  "/lib: give its path with --libldb");
		return false;
	}
	if (strpbrk(path, ": ")) {
		cli_error("the loader cannot preload %s: its path must contain no blank and no colon",
			  path);
		return false;
	}
	return true;
}

/*
 * Sets the program's environment.  LDB_PRELOADED contains exactly the text that was added to
 * LD_PRELOAD, so that the runtime can remove that text.
 */
static int set_environment(const char *name, const char *secret, const struct target *t, const char *runtime,
			   bool flows)
{
	const char *old = getenv("LD_PRELOAD");
	char *front = NULL, *all = NULL;
	int rc = -1;

	if (asprintf(&front, "%s%s%s%s", t->sanitizer, t->sanitizer[0] ? ":" : "", runtime,
		     old && *old ? ":" : "") < 0 ||
	    asprintf(&all, "%s%s", front, old ? old : "") < 0)
		goto out;
	rc = setenv("LD_PRELOAD", all, 1) || setenv(LDB_ENV_PRELOADED, front, 1) ||
	     setenv(LDB_ENV_RECORD, name, 1) || (flows && setenv(LDB_ENV_FLOWS, "1", 1)) ||
	     (*secret ? setenv(LDB_ENV_CHILDREN, secret, 1) : unsetenv(LDB_ENV_CHILDREN));
out:
	free(front);
	free(all);
	return rc;
}

static bool hides_output;

void launch_hide_output(void)
{
	hides_output = true;
}

static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		if (isatty(fd))
			dup2(null, fd);
}

__attribute__((noreturn))
static void child(const struct target *t, char **argv, const char *name, const char *secret,
		  const char *runtime, bool flows, int go_fd, int error_fd)
{
	int error = ENOMEM;
	char go;

	signals_child();
	/* End of file means that the recorder has ended: then this child exits, too. */
	if (read(go_fd, &go, 1) != 1)
		_exit(127);
	if (hides_output)
		leave_terminal();
	if (!runtime || !set_environment(name, secret, t, runtime, flows)) {
		/*
		 * As the path contains a slash, execvp() does not search for the file.  As a shell
		 * does, it runs a file without a magic number and without #! by the shell.
		 */
		execvp(t->path, argv);
		error = errno;
	}
	if (write(error_fd, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

bool launch_start(struct launch *l, const struct target *t, char **argv, const char *runtime,
		  const char *name, const char *secret, bool flows)
{
	int go[2], error[2];

	if (pipe2(go, O_CLOEXEC) || pipe2(error, O_CLOEXEC)) {
		cli_error("cannot open a pipe to the program: %s", strerror(errno));
		return false;
	}
	l->pid = fork();
	if (!l->pid) {
		close(go[1]);
		child(t, argv, name, secret, runtime, flows, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	l->go_fd = go[1];
	l->error_fd = error[0];
	if (l->pid < 0) {
		cli_error("cannot start a process: %s", strerror(errno));
		l->pid = 0;
		close(l->go_fd);
		close(l->error_fd);
		return false;
	}
	return true;
}

bool launch_go(struct launch *l, const char *program)
{
	int error = 0;
	ssize_t n;

	if (write(l->go_fd, "", 1) != 1)
		cli_error("cannot start the program: %s", strerror(errno));
	close(l->go_fd);
	/* A successful exec() closes the pipe. */
	do
		n = read(l->error_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close(l->error_fd);
	if (n != sizeof(error))
		return true;
	waitpid(l->pid, &l->status, 0);
	l->pid = 0;
	cli_error("cannot run %s: %s", program, strerror(error));
	return false;
}

void launch_reap(struct launch *l)
{
	int status;

	if (l->pid && !l->ended && waitpid(l->pid, &status, WNOHANG) == l->pid) {
		l->ended = true;
		l->status = status;
	}
}

int launch_exit_status(const struct launch *l)
{
	if (WIFSIGNALED(l->status))
		return 128 + WTERMSIG(l->status);
	return WEXITSTATUS(l->status);
}
