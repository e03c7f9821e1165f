// SPDX-License-Identifier: GPL-2.0-or-later
/* Serves the socket for commands; see command.h.  command-words.c executes the commands. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cli/command-name.h"
#include "cli/error.h"
#include "record/run/recording.h"

#define BACKLOG		16
#define ANSWER_ROOM	8192

void command_open(struct recording *r)
{
	struct sockaddr_un sa;
	socklen_t len = command_name(r->pid, &sa);
	int fd;

	for (unsigned i = 0; i < COMMAND_CLIENTS; i++)
		r->command.clients[i].fd = -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&sa, len) || listen(fd, BACKLOG))) {
		if (r->o->verbose)
			cli_note("%s: ldb-ctl cannot reach this recording: %s", cli_tool_name(), strerror(errno));
		close(fd);
		fd = -1;
	}
	r->command.listen_fd = fd;
}

static void drop(struct command_client *c)
{
	close(c->fd);
	c->fd = -1;
}

void command_close(struct recording *r)
{
	if (r->command.listen_fd < 0)
		return;
	for (unsigned i = 0; i < COMMAND_CLIENTS; i++)
		if (r->command.clients[i].fd >= 0)
			drop(&r->command.clients[i]);
	close(r->command.listen_fd);
	r->command.listen_fd = -1;
}

static bool is_allowed(int fd)
{
	pid_t pid;
	uid_t uid;

	return control_peer(fd, &pid, &uid) && (!uid || uid == geteuid());
}

/*
 * All places are taken: closes waiting connections, because they would wake the recorder again and
 * again.
 */
static void refuse_all(const struct command *c)
{
	int fd;

	while ((fd = accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		close(fd);
}

static void accept_all(struct command *c)
{
	for (unsigned i = 0; i < COMMAND_CLIENTS; i++) {
		struct command_client *free = &c->clients[i];

		if (free->fd >= 0)
			continue;
		free->fd = accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		free->nr = 0;
		if (free->fd < 0)
			return;
		if (!is_allowed(free->fd))
			drop(free);
	}
	refuse_all(c);
}

static void answer(struct recording *r, struct command_client *c, char *line)
{
	char text[ANSWER_ROOM];
	size_t len;

	command_execute(r, line, text, sizeof(text) - 1);
	len = strlen(text);
	text[len++] = '\n';
	if (c->fd >= 0 && send(c->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len)
		drop(c);
}

/* Executes all complete lines: a client may send several at once. */
static void execute_lines(struct recording *r, struct command_client *c)
{
	char line[sizeof(c->line)], *end;

	while (c->fd >= 0 && (end = memchr(c->line, '\n', c->nr))) {
		size_t len = end - c->line;

		memcpy(line, c->line, len);
		line[len] = '\0';
		memmove(c->line, end + 1, c->nr - len - 1);
		c->nr -= len + 1;
		answer(r, c, line);
	}
	if (c->fd >= 0 && c->nr == sizeof(c->line))
		drop(c);
}

static void serve(struct recording *r, struct command_client *c)
{
	ssize_t n = recv(c->fd, c->line + c->nr, sizeof(c->line) - c->nr, MSG_DONTWAIT);

	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		drop(c);
		return;
	}
	if (n < 0)
		return;
	c->nr += n;
	execute_lines(r, c);
}

void command_poll(const struct recording *r, struct pollfd p[COMMAND_FDS])
{
	const struct command *c = &r->command;
	bool is_open = c->listen_fd >= 0;

	for (unsigned i = 0; i < COMMAND_CLIENTS; i++)
		p[i] = (struct pollfd){ .fd = is_open ? c->clients[i].fd : -1, .events = POLLIN };
	p[COMMAND_CLIENTS] = (struct pollfd){ .fd = c->listen_fd, .events = POLLIN };
}

bool command_serve(struct recording *r, const struct pollfd p[COMMAND_FDS])
{
	bool wants_stop;

	for (unsigned i = 0; i < COMMAND_CLIENTS && r->command.listen_fd >= 0; i++)
		if (p[i].revents && r->command.clients[i].fd == p[i].fd)
			serve(r, &r->command.clients[i]);
	if (r->command.listen_fd >= 0 && p[COMMAND_CLIENTS].revents)
		accept_all(&r->command);
	wants_stop = r->command.wants_stop;
	r->command.wants_stop = false;
	return wants_stop;
}
