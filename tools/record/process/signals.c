// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Handles signals that ldb-record receives.
 *
 * The signals are blocked and read from a descriptor, so that they do not interrupt system calls.
 * The launched program gets the dispositions and the mask with which ldb-record was started.
 */
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "record/process/signals.h"

static const int caught[] = { SIGINT, SIGTERM, SIGQUIT, SIGCHLD, SIGHUP };
static const int ignored[] = { SIGPIPE, SIGXFSZ };
#define NR(a)	(sizeof(a) / sizeof((a)[0]))

static int added[2];
static unsigned nr_added;
static sigset_t old_mask;
static struct sigaction old_ignored[NR(ignored)], old_child;

void signals_add(int signal)
{
	if (nr_added < NR(added))
		added[nr_added++] = signal;
}

int signals_open(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, normal = { .sa_handler = SIG_DFL };
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NR(caught); i++)
		sigaddset(&set, caught[i]);
	for (size_t i = 0; i < nr_added; i++)
		sigaddset(&set, added[i]);
	/*
	 * Blocked signals are queued even if they are ignored, so SIGHUP under nohup must not be
	 * read.
	 */
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler == SIG_IGN)
		sigdelset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &old_mask);
	for (size_t i = 0; i < NR(ignored); i++)
		sigaction(ignored[i], &ignore, &old_ignored[i]);
	/* If SIGCHLD were ignored, the program's status would be lost. */
	sigaction(SIGCHLD, &normal, &old_child);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void signals_child(void)
{
	for (size_t i = 0; i < NR(ignored); i++)
		sigaction(ignored[i], &old_ignored[i], NULL);
	sigaction(SIGCHLD, &old_child, NULL);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

int signals_next(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}
