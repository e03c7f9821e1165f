// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This is a server without tags, and its client, a separate process, which makes a known number of
 * requests.  Prints "OK" if every answer was right.
 *
 *	socket-server epoll|poll|threads|pool [N]
 *
 * epoll and poll serve HTTP with one thread: GET, HEAD, POST in two pieces, two GETs at once, an
 * answer in chunks.  GET /ask asks another server (in the client's process), and answers when that
 * has answered.  threads has a thread for each connection, and a protocol of its own: 8 bytes in
 * each direction.  pool reads like epoll, with the same protocol, and another thread answers.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FDS_MAX		256
#define SHORT		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define EMPTY		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
#define CHUNKS		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"
#define LAST_CHUNK	"0\r\n\r\n"

static struct {
	char in[4096];
	size_t nr;
	bool is_open;
	int asks_for;		/* the client for which this connection asks the other server */
} conns[FDS_MAX];
static int asked_port, nr_open;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int jobs[1024];
static unsigned nr_put, nr_taken;
static bool is_over;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in address(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* What is sent in two pieces would wait 40 ms for the acknowledgement of the first. */
static void no_delay(int fd)
{
	int on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		die("setsockopt");
}

static int listen_any(int *port)
{
	struct sockaddr_in a = address(0);
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (void *)&a, len) || listen(fd, 64) || getsockname(fd, (void *)&a, &len))
		die("listen");
	no_delay(fd);	/* those that are accepted inherit it */
	*port = ntohs(a.sin_port);
	return fd;
}

static int connect_to(int port)
{
	struct sockaddr_in a = address(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (void *)&a, sizeof(a)))
		die("connect");
	no_delay(fd);
	return fd;
}

static void put(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("write");
}

static void get(int fd, char *to, size_t n)
{
	for (ssize_t got; n; to += got, n -= got)
		if ((got = read(fd, to, n)) <= 0)
			die("read");
}

/* The server */

__attribute__((noinline)) static void handle(int fd, const char *request)
{
	if (!strncmp(request, "GET /ask", 8)) {
		int to = connect_to(asked_port);

		conns[to].is_open = true;
		conns[to].asks_for = fd;
		conns[to].nr = 0;
		nr_open++;
		put(to, "question");
	} else if (!strncmp(request, "GET /chunks", 11)) {
		put(fd, CHUNKS);
		put(fd, LAST_CHUNK);
	} else {
		put(fd, strncmp(request, "HEAD", 4) ? SHORT : EMPTY);
	}
}

/* Returns the length of the first complete request; 0 if there is none. */
static size_t whole(const char *in, size_t nr)
{
	const char *end = memmem(in, nr, "\r\n\r\n", 4), *length;
	size_t n = end ? end - in + 4 : 0;

	length = n ? memmem(in, n, "Content-Length: ", 16) : NULL;
	if (length)
		n += atoi(length + 16);
	return n <= nr ? n : 0;
}

static void on_http(int fd)
{
	ssize_t n = recv(fd, conns[fd].in + conns[fd].nr, sizeof(conns[fd].in) - conns[fd].nr, 0);
	size_t len;

	if (n > 0 && conns[fd].asks_for) {
		put(conns[fd].asks_for, SHORT);
		n = 0;
	}
	if (n <= 0) {
		conns[fd].asks_for = conns[fd].nr = 0;
		conns[fd].is_open = false;
		close(fd);
		nr_open--;
		return;
	}
	conns[fd].nr += n;
	while ((len = whole(conns[fd].in, conns[fd].nr))) {
		handle(fd, conns[fd].in);
		conns[fd].nr -= len;
		memmove(conns[fd].in, conns[fd].in + len, conns[fd].nr);
	}
}

static void on_pool(int fd)
{
	char in[8];

	if (read(fd, in, sizeof(in)) != sizeof(in)) {
		conns[fd].is_open = false;
		close(fd);
		nr_open--;
		return;
	}
	pthread_mutex_lock(&lock);
	jobs[nr_put++ % 1024] = fd;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
}

static void *answers(void *none)
{
	int fd;

	for (;;) {
		pthread_mutex_lock(&lock);
		while (nr_put == nr_taken && !is_over)
			pthread_cond_wait(&filled, &lock);
		fd = nr_put == nr_taken ? -1 : jobs[nr_taken++ % 1024];
		pthread_mutex_unlock(&lock);
		if (fd < 0)
			return none;
		put(fd, "answered");
	}
}

static void *serves_one(void *arg)
{
	int fd = (intptr_t)arg;
	char in[8];

	while (read(fd, in, sizeof(in)) == sizeof(in))
		put(fd, "answered");
	close(fd);
	return NULL;
}

static int ready_poll(int listener, int *ready)
{
	struct pollfd p[FDS_MAX];
	int nr = 0, nr_ready = 0;

	p[nr++] = (struct pollfd){ .fd = listener, .events = POLLIN };
	for (int fd = 3; fd < FDS_MAX; fd++)
		if (conns[fd].is_open)
			p[nr++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	if (poll(p, nr, -1) < 0)
		die("poll");
	for (int i = 0; i < nr; i++)
		if (p[i].revents)
			ready[nr_ready++] = p[i].fd;
	return nr_ready;
}

static int ready_epoll(int listener, int epoll, int *ready)
{
	struct epoll_event e[FDS_MAX], add = { .events = EPOLLIN };
	int nr;

	/* For descriptors that were added before, epoll_ctl() fails. */
	for (int fd = 3; fd < FDS_MAX; fd++)
		if (fd == listener || conns[fd].is_open) {
			add.data.fd = fd;
			epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &add);
		}
	nr = epoll_wait(epoll, e, FDS_MAX, -1);
	for (int i = 0; i < nr; i++)
		ready[i] = e[i].data.fd;
	return nr;
}

static void loop(int listener, bool polls, void (*on)(int fd))
{
	int epoll = polls ? -1 : epoll_create1(0), ready[FDS_MAX], nr, fd;
	bool any = false;

	while (!any || nr_open) {
		nr = polls ? ready_poll(listener, ready) : ready_epoll(listener, epoll, ready);
		for (int i = 0; i < nr; i++) {
			if (ready[i] != listener) {
				on(ready[i]);
				continue;
			}
			fd = accept(listener, NULL, NULL);
			if (fd < 0 || fd >= FDS_MAX)
				die("accept");
			conns[fd].is_open = any = true;
			nr_open++;
		}
	}
}

static void threads(int listener)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, serves_one, (void *)(intptr_t)accept(listener, NULL, NULL));
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

/* The client */

static void ask(int fd, const char *request, const char *answer)
{
	char got[256];

	put(fd, request);
	get(fd, got, strlen(answer));
	if (memcmp(got, answer, strlen(answer))) {
		fprintf(stderr, "a wrong answer to %s\n", request);
		exit(1);
	}
}

static void *answers_slowly(void *arg)
{
	for (int fd; (fd = accept((intptr_t)arg, NULL, NULL)) >= 0; close(fd)) {
		char in[8];

		get(fd, in, sizeof(in));
		usleep(5000);
		put(fd, "reply");
	}
	return NULL;
}

static void client_http(int port, int asked, int nr)
{
	int fd = connect_to(port);
	pthread_t t;

	pthread_create(&t, NULL, answers_slowly, (void *)(intptr_t)asked);
	for (int i = 0; i < nr; i++) {
		ask(fd, "GET /short HTTP/1.1\r\n\r\n", SHORT);
		ask(fd, "HEAD / HTTP/1.1\r\n\r\n", EMPTY);
		put(fd, "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nab");
		usleep(100);
		ask(fd, "cd", SHORT);
		ask(fd, "GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n", SHORT SHORT);
		ask(fd, "GET /chunks HTTP/1.1\r\n\r\n", CHUNKS LAST_CHUNK);
		if (i % 10 == 0)
			ask(fd, "GET /ask HTTP/1.1\r\n\r\n", SHORT);
	}
}

static void client_own(int port, int nr, int nr_conns)
{
	int fds[4];

	for (int k = 0; k < nr_conns; k++)
		fds[k] = connect_to(port);
	for (int i = 0; i < nr; i++)
		ask(fds[i % nr_conns], "\001binary\n", "answered");
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[2]) : 100, port, asked, listener = listen_any(&port), status;
	const char *mode = argc > 1 ? argv[1] : "";
	bool is_http = !strcmp(mode, "epoll") || !strcmp(mode, "poll");
	int other = listen_any(&asked);
	pthread_t t;
	pid_t client = fork();

	if (!client) {
		close(listener);
		if (is_http)
			client_http(port, other, nr);
		else
			client_own(port, nr, 4);
		_exit(0);
	}
	close(other);
	asked_port = asked;
	if (!strcmp(mode, "threads")) {
		threads(listener);
	} else if (!strcmp(mode, "pool")) {
		pthread_create(&t, NULL, answers, NULL);
		loop(listener, false, on_pool);
		pthread_mutex_lock(&lock);
		is_over = true;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&lock);
		pthread_join(t, NULL);
	} else {
		loop(listener, !strcmp(mode, "poll"), on_http);
	}
	if (waitpid(client, &status, 0) != client || status)
		return 1;
	puts("OK");
	return 0;
}
