// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures what a read and a write cost: on a pipe, and on a connection that the program has
 * accepted from itself, with HTTP, with messages of 8 bytes, and with HTTP over io_uring, if that
 * is available.  Prints "KIND NS" for each kind: the time of one call, on average.
 *
 *	socket-loop ROUNDS
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "uring.h"

#define GET	"GET /index.html HTTP/1.1\r\nHost: localhost\r\nUser-Agent: loop\r\nAccept: */*\r\n\r\n"
#define OK	"HTTP/1.1 200 OK\r\nServer: loop\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok"

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void move(int to, int from, const char *bytes, size_t n)
{
	char got[256];

	if (write(to, bytes, n) != (ssize_t)n || read(from, got, sizeof(got)) != (ssize_t)n)
		exit(1);
}

static void connect_both(int *client, int *server)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(a);

	*client = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (void *)&a, len) || listen(listener, 1) || getsockname(listener, (void *)&a, &len) ||
	    connect(*client, (void *)&a, len))
		exit(1);
	*server = accept(listener, NULL, NULL);
	close(listener);
}

static void measure(const char *name, int rounds, int client, int server, const char *ask, const char *answer)
{
	uint64_t begin = now_ns();

	for (int i = 0; i < rounds; i++) {
		move(client, server, ask, strlen(ask));
		move(server, client, answer, strlen(answer));
	}
	printf("%s %.2f\n", name, (now_ns() - begin) / 4.0 / rounds);
}

static void ring_do(struct uring *u, int opcode, int fd, const void *bytes, size_t room, size_t n)
{
	struct io_uring_sqe sqe = { .opcode = opcode, .fd = fd, .addr = (uintptr_t)bytes, .len = room };

	if (uring_do(u, &sqe) != (int)n)
		exit(1);
}

static void measure_ring(int rounds, int client, int server)
{
	uint64_t begin;
	struct uring u;
	char got[256];

	if (uring_open(&u))
		return;
	begin = now_ns();
	for (int i = 0; i < rounds; i++) {
		if (write(client, GET, strlen(GET)) != (ssize_t)strlen(GET))
			exit(1);
		ring_do(&u, IORING_OP_RECV, server, got, sizeof(got), strlen(GET));
		ring_do(&u, IORING_OP_SEND, server, OK, strlen(OK), strlen(OK));
		if (read(client, got, sizeof(got)) != (ssize_t)strlen(OK))
			exit(1);
	}
	printf("ring %.2f\n", (now_ns() - begin) / 4.0 / rounds);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10000, client, server, there[2], back[2];
	uint64_t begin;

	if (pipe(there) || pipe(back))
		return 1;
	begin = now_ns();
	for (int i = 0; i < 2 * rounds; i++)
		move(there[1], there[0], "8 bytes\n", 8);
	printf("pipe %.2f\n", (now_ns() - begin) / 4.0 / rounds);
	connect_both(&client, &server);
	measure("http", rounds, client, server, GET, OK);
	close(client);
	close(server);
	connect_both(&client, &server);
	measure("own", rounds, client, server, "\001bytes\n\n", "8 bytes\n");
	close(client);
	close(server);
	connect_both(&client, &server);
	measure_ring(rounds, client, server);
	return 0;
}
