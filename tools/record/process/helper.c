// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a child process and reads what it writes; see helper.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/array.h"
#include "record/process/helper.h"
#include "record/process/signals.h"

#define TEXT_MAX	(64 << 20)	/* a child that writes more is faulty */
#define AT_ONCE		65536

static void run(int fd, void (*work)(void *arg, FILE *out), void *arg)
{
	FILE *out = fdopen(fd, "w");

	signals_child();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (out) {
		work(arg, out);
		fclose(out);
	}
	_exit(0);
}

bool helper_begin(struct helper *h, void (*work)(void *arg, FILE *out), void *arg)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return false;
	h->child = fork();
	if (!h->child)
		run(fds[1], work, arg);
	close(fds[1]);
	if (h->child < 0) {
		h->child = 0;
		close(fds[0]);
		return false;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	h->fd = fds[0];
	h->nr = 0;
	return true;
}

bool helper_has_ended(struct helper *h)
{
	ssize_t got;

	do {
		if (h->nr > TEXT_MAX || !array_reserve(&h->text, &h->room, h->nr + AT_ONCE, 1))
			return true;
		got = read(h->fd, h->text + h->nr, h->room - h->nr);
		h->nr += got > 0 ? got : 0;
	} while (got > 0);
	return !(got < 0 && (errno == EAGAIN || errno == EINTR));
}

bool helper_wait(struct helper *h, unsigned ms)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (unsigned i = 0; i < ms; i++) {
		if (helper_has_ended(h))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

const char *helper_text(const struct helper *h, const char *text)
{
	const char *end = h->text + h->nr, *next = h->text;

	if (!h->nr)
		return NULL;
	if (text) {
		next = memchr(text, 0, end - text);
		next = next ? next + 1 : end;
	}
	/* A text without a NUL was cut off, and is ignored. */
	return next < end && memchr(next, 0, end - next) ? next : NULL;
}

void helper_end(struct helper *h)
{
	if (h->child) {
		kill(h->child, SIGKILL);
		close(h->fd);
		waitpid(h->child, NULL, 0);
	}
	h->child = 0;
	free(h->text);
	h->text = NULL;
	h->nr = h->room = 0;
}
