// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements a small HTTP server for one document; see scrape.h. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "record/metrics/scrape.h"

#define REQUEST_MAX	4096
#define HEAD_MAX	256
/* timeout for a client, from its connection to the end of the answer */
#define CLIENT_NS	5000000000LL
#define ACCEPT_NS	20000000LL	/* least time between two connections */
#define FRESH_NS	1000000000LL	/* an answer is used again for this long */

struct text {			/* an answer, shared by the clients that receive it */
	unsigned nr_users;
	char *bytes;
	size_t size;
	int64_t made_ns;
};

struct client {
	int fd;			/* -1: no client */
	int64_t until_ns;
	char request[REQUEST_MAX];
	size_t nr;
	char head[HEAD_MAX];	/* HTTP head of the answer */
	size_t head_size, done;	/* done: how many bytes of head and text together were sent */
	struct text *text;	/* text of the answer; NULL: the answer consists of a head only */
};

struct scrape {
	int fd;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];	/* "": listening on a port */
	scrape_fn *fn;
	void *arg;
	int64_t accept_ns;	/* earliest time for the next connection */
	struct text *last[2];	/* the last answer in each format */
	struct client clients[SCRAPE_CLIENTS];
};

/* Returns the port in ":PORT", or 0. */
static unsigned port_of(const char *where)
{
	char *end;
	unsigned long port;

	if (*where != ':' || where[1] < '0' || where[1] > '9')
		return 0;
	port = strtoul(where + 1, &end, 10);
	return *end || port > 65535 ? 0 : port;
}

const char *scrape_check(const char *where)
{
	if (*where == ':')
		return port_of(where) ? NULL : "a port is from :1 to :65535";
	if (!strchr(where, '/'))
		return "give a port of this machine, :9464, or the path of a socket, ./metrics.sock";
	return strlen(where) < sizeof(((struct scrape *)0)->path) ? NULL : "the path of a socket has 107 characters at most";
}

/* Opening */

static int listen_port(unsigned port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!bind(fd, (struct sockaddr *)&a, sizeof(a)) && !listen(fd, SCRAPE_CLIENTS))
		return fd;
	one = -errno;
	close(fd);
	return one;
}

/* Removes a socket on which no process listens: a recorder that was killed has left it. */
static void remove_left(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)a, sizeof(*a)) && errno == ECONNREFUSED &&
	    !lstat(a->sun_path, &st) && S_ISSOCK(st.st_mode) && st.st_uid == geteuid())
		unlink(a->sun_path);
	close(fd);
}

/* The mode of the socket's file prevents other users from connecting. */
static int listen_path(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

	if (fd < 0)
		return -errno;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	remove_left(&a);
	if (!fchmod(fd, 0600) && !bind(fd, (struct sockaddr *)&a, sizeof(a)) && !listen(fd, SCRAPE_CLIENTS))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

struct scrape *scrape_open(const char *where, scrape_fn *fn, void *arg, char *err, size_t err_size)
{
	struct scrape *s = calloc(1, sizeof(*s));

	snprintf(err, err_size, "out of memory");
	if (!s)
		return NULL;
	for (unsigned i = 0; i < SCRAPE_CLIENTS; i++)
		s->clients[i].fd = -1;
	s->fn = fn;
	s->arg = arg;
	s->fd = *where == ':' ? listen_port(port_of(where)) : listen_path(where);
	if (s->fd < 0) {
		snprintf(err, err_size, "cannot listen on %s: %s: give another place with --metrics-listen", where,
			 strerror(-s->fd));
		free(s);
		return NULL;
	}
	if (*where != ':')
		snprintf(s->path, sizeof(s->path), "%s", where);
	return s;
}

static void text_put(struct text *t)
{
	if (!t || --t->nr_users)
		return;
	free(t->bytes);
	free(t);
}

static void drop(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	text_put(c->text);
	c->text = NULL;
	c->fd = -1;
}

void scrape_close(struct scrape *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < SCRAPE_CLIENTS; i++)
		drop(&s->clients[i]);
	text_put(s->last[0]);
	text_put(s->last[1]);
	close(s->fd);
	if (*s->path)
		unlink(s->path);
	free(s);
}

int scrape_fd(const struct scrape *s)
{
	return s ? s->fd : -1;
}

/* Making the answer */

static struct text *fresh_text(struct scrape *s, bool is_openmetrics, int64_t now_ns)
{
	struct text **last = &s->last[is_openmetrics], *new;

	if (*last && now_ns - (*last)->made_ns < FRESH_NS)
		return *last;
	new = calloc(1, sizeof(*new));
	if (!new || s->fn(s->arg, is_openmetrics, &new->bytes, &new->size)) {
		free(new);
		return NULL;
	}
	new->nr_users = 1;
	new->made_ns = now_ns;
	text_put(*last);
	*last = new;
	return new;
}

/* Returns the text after "NAME:" in the lines of the request, or "". */
static const char *header(const char *request, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = strchr(request, '\n'); line; line = strchr(line, '\n')) {
		line++;
		if (!strncasecmp(line, name, len) && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
	}
	return "";
}

/*
 * Returns true if the Host header names this machine, with or without a port, or is missing.  If
 * other names were accepted, a web page of another site in a local browser could read the answer.
 */
static bool is_local_host(const char *host)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t len = strlen(names[i]);

		if (!strncasecmp(host, names[i], len) && strchr(":\r\n", host[len]))
			return true;
	}
	return !*host;
}

static bool accepts_openmetrics(const char *request)
{
	const char *accept = header(request, "Accept");

	return memmem(accept, strcspn(accept, "\r\n"), "application/openmetrics-text", 28);
}

static const char *status_of(const struct scrape *s, const char *request, bool *is_head)
{
	const char *path = strchr(request, ' ');

	*is_head = !strncmp(request, "HEAD ", 5);
	if (!path || (strncmp(request, "GET ", 4) && !*is_head))
		return "405 Method Not Allowed";
	if (!*s->path && !is_local_host(header(request, "Host")))
		return "403 Forbidden";
	path++;
	if (!strncmp(path, "/metrics", 8))
		path += 8;
	else if (*path == '/')
		path++;
	return strchr(" ?\r\n", *path) ? "200 OK" : "404 Not Found";
}

static void answer(struct scrape *s, struct client *c, int64_t now_ns)
{
	bool is_openmetrics = accepts_openmetrics(c->request), is_head;
	const char *status = status_of(s, c->request, &is_head);
	struct text *t = NULL;

	if (*status == '2') {
		t = fresh_text(s, is_openmetrics, now_ns);
		status = t ? status : "503 Service Unavailable";
	}
	c->head_size = snprintf(c->head, sizeof(c->head),
				"HTTP/1.0 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", status,
				!t ? "text/plain" : is_openmetrics ?
				"application/openmetrics-text; version=1.0.0; charset=utf-8" :
				"text/plain; version=0.0.4; charset=utf-8", t ? t->size : 0);
	if (t && !is_head) {
		t->nr_users++;
		c->text = t;
	}
}

/* Clients */

static bool is_whole(const struct client *c)
{
	return strstr(c->request, "\r\n\r\n") || strstr(c->request, "\n\n");
}

static void receive(struct scrape *s, struct client *c, int64_t now_ns)
{
	ssize_t n = recv(c->fd, c->request + c->nr, sizeof(c->request) - 1 - c->nr, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	/* Bytes after a NUL are ignored. */
	c->nr += n;
	c->request[c->nr] = '\0';
	if (is_whole(c))
		answer(s, c, now_ns);
	else if (c->nr == sizeof(c->request) - 1)
		drop(c);
}

static void transmit(struct client *c)
{
	size_t size = c->text ? c->text->size : 0;

	while (c->done < c->head_size + size) {
		const char *from = c->done < c->head_size ? c->head + c->done : c->text->bytes + (c->done - c->head_size);
		size_t nr = c->done < c->head_size ? c->head_size - c->done : c->head_size + size - c->done;
		ssize_t n = send(c->fd, from, nr, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		c->done += n;
	}
	shutdown(c->fd, SHUT_RDWR);
	drop(c);
}

static void accept_one(struct scrape *s, int64_t now_ns)
{
	for (unsigned i = 0; i < SCRAPE_CLIENTS; i++) {
		struct client *c = &s->clients[i];

		if (c->fd >= 0)
			continue;
		c->fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		c->until_ns = now_ns + CLIENT_NS;
		c->nr = c->head_size = c->done = 0;
		c->request[0] = '\0';
		s->accept_ns = now_ns + ACCEPT_NS;
		return;
	}
}

static bool has_room(const struct scrape *s)
{
	for (unsigned i = 0; i < SCRAPE_CLIENTS; i++)
		if (s->clients[i].fd < 0)
			return true;
	return false;
}

static void until(int64_t when_ns, int64_t now_ns, int *timeout)
{
	int64_t ms = when_ns > now_ns ? (when_ns - now_ns + 999999) / 1000000 : 0;

	if (*timeout < 0 || ms < *timeout)
		*timeout = ms;
}

void scrape_poll(struct scrape *s, struct pollfd p[SCRAPE_FDS], int64_t now_ns, int *timeout)
{
	for (unsigned i = 0; i < SCRAPE_FDS; i++)
		p[i] = (struct pollfd){ .fd = -1 };
	if (!s)
		return;
	for (unsigned i = 0; i < SCRAPE_CLIENTS; i++) {
		const struct client *c = &s->clients[i];

		if (c->fd < 0)
			continue;
		p[i] = (struct pollfd){ .fd = c->fd, .events = c->head_size ? POLLOUT : POLLIN };
		until(c->until_ns, now_ns, timeout);
	}
	/*
	 * If all places are taken, or if the last client came just before, further clients have to
	 * wait.
	 */
	if (has_room(s) && now_ns >= s->accept_ns)
		p[SCRAPE_CLIENTS] = (struct pollfd){ .fd = s->fd, .events = POLLIN };
	else if (has_room(s))
		until(s->accept_ns, now_ns, timeout);
}

void scrape_serve(struct scrape *s, const struct pollfd p[SCRAPE_FDS], int64_t now_ns)
{
	if (!s)
		return;
	for (unsigned i = 0; i < SCRAPE_CLIENTS; i++) {
		struct client *c = &s->clients[i];

		if (c->fd < 0)
			continue;
		if (p[i].revents && !c->head_size)
			receive(s, c, now_ns);
		if (c->fd >= 0 && c->head_size)
			transmit(c);
		if (c->fd >= 0 && now_ns >= c->until_ns)
			drop(c);
	}
	if (p[SCRAPE_CLIENTS].revents)
		accept_one(s, now_ns);
}
