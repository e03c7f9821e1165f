// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This is a server with io_uring, and its client, a separate process, which makes a known number of
 * HTTP requests.  Prints "OK" if every answer was right.
 *
 *	uring-server MODE [N [CONNECTIONS [SPIN_US]]]
 *
 *	plain		one operation for each accept, read and write
 *	multishot	a single operation for all accepts; the kernel selects the buffers
 *	fixed		connections are indices of the ring's table of files
 *	silent		a write that succeeds has no completion
 *	deferred	completions come when the program waits, and not in between
 *	polled		a thread of the kernel takes the submitted operations (liburing only)
 *	ask		every 10th request asks another server (of the client's process) first
 *
 * With LDB_TAGS in the environment each request has a tag, too: from the end of the wait that
 * returned its read to the end of the wait that returned the completion of its write.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ldb/ldb.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include "uring-queue.h"

#define CONNS_MAX	64
#define FDS_MAX		1024
#define BUFFERS		256
#define ROOM		256
#define QUESTION	"GET /short HTTP/1.1\r\n\r\n"
#define ASKS		"GET /ask HTTP/1.1\r\n\r\n"
#define ANSWER		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define TAGS		1000000000000UL
#define PING		"question"

enum { ACCEPT, READ, WRITE, CLOSE, SUPPLY, CONNECTS, ASK, HEAR };

static struct queue queue;
static char in[FDS_MAX][ROOM], selected[BUFFERS][ROOM];
static unsigned long open_tag[FDS_MAX], nr_tags[FDS_MAX];
static int asks_for[FDS_MAX];
static int nr_open, asked_port;
static bool is_multishot, is_fixed, is_silent, has_tags;
static long spin_us = 10;

static struct sockaddr_in address(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int listen_any(int *port)
{
	struct sockaddr_in a = address(0);
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (void *)&a, len) || listen(fd, 64) || getsockname(fd, (void *)&a, &len))
		queue_die("listen");
	*port = ntohs(a.sin_port);
	return fd;
}

static int connect_to(int port)
{
	struct sockaddr_in a = address(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (void *)&a, sizeof(a)))
		queue_die("connect");
	return fd;
}

static long now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* The server */

static struct io_uring_sqe *prepare(int kind, int op, int fd, const void *addr, unsigned len)
{
	struct io_uring_sqe *sqe = queue_sqe(&queue);

	sqe->opcode = op;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)addr;
	sqe->len = len;
	sqe->user_data = (uint64_t)kind << 32 | fd;
	if (is_fixed && kind != ACCEPT)
		sqe->flags |= IOSQE_FIXED_FILE;
	return sqe;
}

static void accept_next(int listener)
{
	struct io_uring_sqe *sqe = prepare(ACCEPT, IORING_OP_ACCEPT, listener, NULL, 0);

	if (is_multishot)
		sqe->ioprio = IORING_ACCEPT_MULTISHOT;
	if (is_fixed)
		sqe->file_index = IORING_FILE_INDEX_ALLOC;
}

static void read_next(int fd)
{
	struct io_uring_sqe *sqe = prepare(READ, IORING_OP_RECV, fd, is_multishot ? NULL : in[fd], ROOM);

	if (is_multishot)
		sqe->flags |= IOSQE_BUFFER_SELECT;
}

static void supply(int first, int nr)
{
	struct io_uring_sqe *sqe = queue_sqe(&queue);

	sqe->opcode = IORING_OP_PROVIDE_BUFFERS;
	sqe->fd = nr;
	sqe->addr = (uintptr_t)selected[first];
	sqe->len = ROOM;
	sqe->off = first;
	sqe->user_data = (uint64_t)SUPPLY << 32;
}

static void close_now(int fd)
{
	struct io_uring_sqe *sqe = queue_sqe(&queue);

	sqe->opcode = IORING_OP_CLOSE;
	if (is_fixed)
		sqe->file_index = fd + 1;
	else
		sqe->fd = fd;
	sqe->user_data = (uint64_t)CLOSE << 32;
	nr_open--;
}

static void tag_begins(int fd)
{
	if (!has_tags || open_tag[fd])
		return;
	open_tag[fd] = TAGS + fd * 1000000UL + ++nr_tags[fd];
	ldb_req_start(open_tag[fd], NULL);
	ldb_req_class(open_tag[fd], "tagged");
}

static void tag_ends(int fd)
{
	if (open_tag[fd])
		ldb_req_end(open_tag[fd]);
	open_tag[fd] = 0;
}

static void answer(int fd)
{
	struct io_uring_sqe *sqe = prepare(WRITE, IORING_OP_SEND, fd, ANSWER, strlen(ANSWER));

	if (is_silent) {
		sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
		tag_ends(fd);
	}
}

/* Asks the other server, on a new connection. */
static void ask(int fd)
{
	static struct sockaddr_in a;
	int to = socket(AF_INET, SOCK_STREAM, 0);
	struct io_uring_sqe *sqe;

	a = address(asked_port);
	asks_for[to] = fd;
	sqe = prepare(CONNECTS, IORING_OP_CONNECT, to, &a, 0);
	sqe->off = sizeof(a);
}

__attribute__((noinline)) static void handle(int fd, const char *request)
{
	long end = now_us() + spin_us;

	while (now_us() < end)
		;
	if (!strncmp(request, ASKS, strlen(ASKS)))
		ask(fd);
	else
		answer(fd);
}

static void on_read(int fd, int n, const char *request)
{
	if (n <= 0) {
		close_now(fd);
		return;
	}
	handle(fd, request);
	read_next(fd);
}

static void on_other(int kind, int fd, int res)
{
	switch (kind) {
	case CONNECTS:
		prepare(ASK, IORING_OP_SEND, fd, PING, strlen(PING));
		break;
	case ASK:
		prepare(HEAR, IORING_OP_RECV, fd, in[fd], ROOM);
		break;
	case HEAR:
		if (res > 0)
			answer(asks_for[fd]);
		nr_open++;
		close_now(fd);
		break;
	}
}

static void on_completion(int listener, const struct io_uring_cqe *cqe)
{
	int kind = cqe->user_data >> 32, fd = (uint32_t)cqe->user_data, res = cqe->res;
	int buffer = cqe->flags & IORING_CQE_F_BUFFER ? (int)(cqe->flags >> 16) : -1;

	if (kind == ACCEPT && res >= 0) {
		nr_open++;
		if (!(cqe->flags & IORING_CQE_F_MORE))
			accept_next(listener);
		read_next(res);
	} else if (kind == READ) {
		on_read(fd, res, buffer < 0 ? in[fd] : selected[buffer]);
		if (buffer >= 0)
			supply(buffer, 1);
	} else {
		on_other(kind, fd, res);
	}
}

/*
 * Begins and ends the tags for completions, except for the first *nr_tagged, counted from the one
 * that is handled next.
 */
static void tag(unsigned *nr_tagged)
{
	const struct io_uring_cqe *cqe;

	for (; has_tags && (cqe = queue_at(&queue, *nr_tagged)); ++*nr_tagged) {
		if (cqe->user_data >> 32 == READ && cqe->res > 0)
			tag_begins((uint32_t)cqe->user_data);
		else if (cqe->user_data >> 32 == WRITE)
			tag_ends((uint32_t)cqe->user_data);
	}
}

static void serve(int listener)
{
	struct io_uring_cqe *cqe, copy;
	unsigned nr_tagged = 0;
	bool any = false;

	if (is_multishot)
		supply(0, BUFFERS);
	accept_next(listener);
	while (!any || nr_open) {
		queue_wait(&queue);
		tag(&nr_tagged);
		while ((cqe = queue_peek(&queue))) {
			tag(&nr_tagged);
			copy = *cqe;
			queue_seen(&queue);
			nr_tagged -= has_tags;
			on_completion(listener, &copy);
			any = any || nr_open;
		}
	}
}

static unsigned flags_of(const char *mode)
{
	if (!strcmp(mode, "deferred"))
		return IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
	return strcmp(mode, "polled") ? 0 : IORING_SETUP_SQPOLL;
}

static void register_files(struct queue *q)
{
	struct io_uring_rsrc_register r = { .nr = FDS_MAX, .flags = IORING_RSRC_REGISTER_SPARSE };
#ifdef LIBURING
	int fd = q->ring.ring_fd;
#else
	int fd = q->u.fd;
#endif

	if (syscall(__NR_io_uring_register, fd, IORING_REGISTER_FILES2, &r, sizeof(r)))
		queue_die("io_uring_register");
}

/* The client */

struct client {
	pthread_t thread;
	int port, nr, asks_every;
};

static void *client(void *arg)
{
	struct client *c = arg;
	int fd = connect_to(c->port);
	char got[sizeof(ANSWER)] = "";

	for (int i = 0; i < c->nr; i++) {
		const char *question = c->asks_every && i % c->asks_every == 0 ? ASKS : QUESTION;

		if (send(fd, question, strlen(question), 0) != (ssize_t)strlen(question) ||
		    recv(fd, got, strlen(ANSWER), MSG_WAITALL) != (ssize_t)strlen(ANSWER) || strcmp(got, ANSWER))
			_exit(1);
		usleep(i % 7 * 50);
	}
	return NULL;
}

static void *answers_slowly(void *arg)
{
	for (int fd; (fd = accept((intptr_t)arg, NULL, NULL)) >= 0; close(fd)) {
		char asked[8];

		if (recv(fd, asked, sizeof(asked), MSG_WAITALL) != sizeof(asked))
			_exit(1);
		usleep(5000);
		if (send(fd, "reply", 5, 0) != 5)
			_exit(1);
	}
	return NULL;
}

static void clients(int port, int other, int nr, int nr_conns, bool asks)
{
	struct client c[CONNS_MAX];
	pthread_t t;

	pthread_create(&t, NULL, answers_slowly, (void *)(intptr_t)other);
	for (int i = 0; i < nr_conns; i++) {
		c[i] = (struct client){ .port = port, .nr = nr, .asks_every = asks ? 10 : 0 };
		pthread_create(&c[i].thread, NULL, client, &c[i]);
	}
	for (int i = 0; i < nr_conns; i++)
		pthread_join(c[i].thread, NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	int nr = argc > 2 ? atoi(argv[2]) : 100, nr_conns = argc > 3 ? atoi(argv[3]) : 4;
	int port, status, listener = listen_any(&port), other = listen_any(&asked_port);
	pid_t pid;

	spin_us = argc > 4 ? atol(argv[4]) : spin_us;
	is_multishot = !strcmp(mode, "multishot");
	is_fixed = !strcmp(mode, "fixed");
	is_silent = !strcmp(mode, "silent");
	has_tags = getenv("LDB_TAGS");
	if (nr_conns > CONNS_MAX)
		return 2;
	pid = fork();
	if (!pid) {
		close(listener);
		clients(port, other, nr, nr_conns, !strcmp(mode, "ask"));
		_exit(0);
	}
	close(other);
	queue_open(&queue, 64, flags_of(mode));
	if (is_fixed)
		register_files(&queue);
	serve(listener);
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	puts("OK");
	return 0;
}
