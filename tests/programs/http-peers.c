// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A server and a client, between which a proxy can be placed.
 *
 *	http-peers serve PORT		answers each request; every 20th takes 40 ms
 *	http-peers load PORT PATH N GAP_US	N requests of one connection, one after the other
 *	http-peers visit PORT PATH N GAP_US	N requests, each on a new connection
 *
 * load and visit print how many of the requests took 20 ms or longer.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SLOW_US	20000
#define ANSWER	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static struct sockaddr_in address(const char *port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(atoi(port)),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void *serves(void *arg)
{
	static _Atomic unsigned nr;
	int fd = (intptr_t)arg;
	char in[4096];
	size_t have = 0;
	ssize_t n;

	while ((n = read(fd, in + have, sizeof(in) - have)) > 0) {
		have += n;
		if (!memmem(in, have, "\r\n\r\n", 4))
			continue;
		have = 0;
		if (++nr % 20 == 0)
			usleep(40000);
		if (write(fd, ANSWER, sizeof(ANSWER) - 1) < 0)
			break;
	}
	close(fd);
	return NULL;
}

static int serve(const char *port)
{
	struct sockaddr_in a = address(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	pthread_t t;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (void *)&a, sizeof(a)) || listen(fd, 64))
		return 1;
	for (;;)
		pthread_create(&t, NULL, serves, (void *)(intptr_t)accept(fd, NULL, NULL));
}

/* Reads one answer; returns -1 if there is none. */
static int answered(int fd)
{
	static char in[1 << 16];
	size_t have = 0, head = 0, length = 0;

	while (!head || have < head + length) {
		ssize_t n = read(fd, in + (head ? 0 : have), sizeof(in) - 1 - (head ? 0 : have));
		char *end, *at;

		if (n <= 0)
			return -1;
		have += n;
		in[head ? 0 : have] = '\0';
		end = head ? NULL : strstr(in, "\r\n\r\n");
		if (!end)
			continue;
		head = end + 4 - in;
		at = strcasestr(in, "content-length:");
		length = at && at < end ? strtoul(at + 15, NULL, 10) : 0;
		/*
		 * An answer in chunks is read up to its last chunk, "0\r\n\r\n", which one read()
		 * always returns whole here.
		 */
		if (!at || at > end)
			while (!memmem(in, have < sizeof(in) ? have : sizeof(in), "0\r\n\r\n", 5)) {
				n = read(fd, in, sizeof(in));
				if (n <= 0)
					return -1;
				have = n;
				head = 1;
			}
	}
	return 0;
}

/* Returns -1 if there is no connection. */
static int connected(const char *port)
{
	struct sockaddr_in a = address(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (connect(fd, (void *)&a, sizeof(a)))
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static int load(const char *port, const char *path, int nr, int gap_us, bool visits)
{
	int fd = -1, slow = 0;
	char out[256];

	snprintf(out, sizeof(out), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
	for (int i = 0; i < nr; i++) {
		uint64_t start = now_us();

		if (fd < 0)
			fd = connected(port);
		if (fd < 0 || write(fd, out, strlen(out)) < 0 || answered(fd))
			return 1;
		slow += now_us() - start >= SLOW_US;
		if (visits) {
			close(fd);
			fd = -1;
		}
		usleep(gap_us);
	}
	printf("%d\n", slow);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(argv[2]);
	if (argc == 6 && !strcmp(argv[1], "load"))
		return load(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]), false);
	if (argc == 6 && !strcmp(argv[1], "visit"))
		return load(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]), true);
	return 2;
}
