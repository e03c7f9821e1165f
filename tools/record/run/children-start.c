// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starts the recorders of children, and collects those that have ended.
 *
 * The recorder of a child is this tool, executed again with the same options.  It inherits the
 * connection, and is in a session of its own, so that signals from the terminal reach it only
 * through the first recorder.  If the first recorder has ended, the recorder of a child ends its
 * recording.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/array.h"
#include "cli/error.h"
#include "record/process/proc.h"
#include "record/run/recording.h"

#define CHILD_FD	3	/* number of the connection's descriptor in the child's recorder */

extern char **environ;

bool child_options_read(const char *text, struct child_options *o)
{
	int crowded, without, n = 0;

	if (sscanf(text, "%d %d %d %d %d %63s %39s %n", &o->parent, &o->sock, &o->pid, &crowded, &without, o->first,
		   o->secret, &n) != 7 ||
	    !n || strlen(text + n) >= sizeof(o->output))
		return false;
	o->is_crowded = crowded;
	o->without_kernel = without;
	snprintf(o->output, sizeof(o->output), "%s", text + n);
	unsetenv(CHILD_ENV);
	return true;
}

static bool is_used(const struct children *c, const char *file)
{
	for (size_t i = 0; i < c->nr; i++)
		if ((c->list[i].recorder || c->list[i].is_recorded) && !strcmp(c->list[i].file, file))
			return true;
	return false;
}

/*
 * Renames a child's trace that an earlier recording has left, so that it is not taken for one of
 * this recording.
 */
static void keep_old(const char *file)
{
	char *old;

	if (access(file, F_OK) || asprintf(&old, "%s.old", file) < 0)
		return;
	rename(file, old);
	free(old);
}

/* Chooses the name of a trace.  A process that executes several programs has several traces. */
static char *choose_file(const struct recording *r, pid_t pid)
{
	char *file;

	if (asprintf(&file, "%s.%d", r->o->output, pid) < 0)
		return NULL;
	for (unsigned i = 2; is_used(&r->children, file); i++) {
		free(file);
		if (asprintf(&file, "%s.%d.%u", r->o->output, pid, i) < 0)
			return NULL;
	}
	keep_old(file);
	return file;
}

/*
 * Returns true if the scanners, with that of a further recorder, would need more than half of the
 * CPUs: the program's threads need the others.
 */
static bool is_crowded(const struct children *c)
{
	return 2 * (c->nr_alive + 2) > (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
}

/*
 * Returns true if enough other recorders record kernel events.  A recorder whose process has ended
 * records none any more, but may take long to end.  There can be many such recorders, if a server
 * creates a process for each connection.
 */
static bool is_kernel_taken(const struct children *c)
{
	unsigned nr = 0;

	if (c->nr_alive < CHILDREN_KERNEL_MAX)
		return false;
	for (size_t i = 0; i < c->nr; i++) {
		const struct child *child = &c->list[i];

		nr += child->recorder && !child->without_kernel && proc_runs(child->pid);
	}
	return nr >= CHILDREN_KERNEL_MAX;
}

static char **make_environment(char *own)
{
	size_t nr = 0, n = 0;
	char **env;

	while (environ[nr])
		nr++;
	env = malloc((nr + 2) * sizeof(*env));
	for (size_t i = 0; env && i < nr; i++)
		env[n++] = environ[i];
	if (env) {
		env[n++] = own;
		env[n] = NULL;
	}
	return env;
}

static pid_t spawn(const struct recording *r, int sock, char *own)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char **env = make_environment(own);
	sigset_t none;
	pid_t pid = 0;
	int rc = ENOMEM;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	if (env && (sock < 0 || !posix_spawn_file_actions_adddup2(&actions, sock, CHILD_FD)))
		rc = posix_spawn(&pid, "/proc/self/exe", &actions, &attr, r->o->self, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	free(env);
	return rc ? 0 : pid;
}

bool children_start(struct recording *r, pid_t pid, int sock)
{
	struct children *c = &r->children;
	struct child child = { .pid = pid, .file = choose_file(r, pid), .without_kernel = is_kernel_taken(c) };
	char *own = NULL;

	if (!child.file || !array_room(&c->list, &c->room, c->nr, sizeof(*c->list)) ||
	    asprintf(&own, CHILD_ENV "=%d %d %d %d %d %s %s %s", getpid(), sock < 0 ? -1 : CHILD_FD, pid, is_crowded(c),
		     child.without_kernel, r->name, c->secret, child.file) < 0)
		goto err_free;
	child.recorder = spawn(r, sock, own);
	free(own);
	if (!child.recorder)
		goto err_free;
	c->list[c->nr++] = child;
	c->nr_alive++;
	return true;

err_free:
	free(child.file);
	return false;
}

void children_reap(struct recording *r)
{
	struct children *c = &r->children;
	struct stat st;
	int status;

	for (size_t i = 0; i < c->nr && c->nr_alive; i++) {
		struct child *child = &c->list[i];

		if (!child->recorder || waitpid(child->recorder, &status, WNOHANG) != child->recorder)
			continue;
		child->recorder = 0;
		c->nr_alive--;
		child->is_recorded = !stat(child->file, &st) && st.st_size;
		if (child->is_recorded && WIFSIGNALED(status))
			cli_warn("the recorder of process %d was ended by signal %d: %s has what it had written",
				 child->pid, WTERMSIG(status), child->file);
		else if (!child->is_recorded && !proc_runs(child->pid))
			c->nr_short++;
		/*
		 * If its recorder ended without an error, the child has changed its user, for
		 * example, and connects again.
		 */
		else if (!child->is_recorded && !(WIFEXITED(status) && WEXITSTATUS(status) == CLI_OK))
			c->nr_failed++;
	}
}
