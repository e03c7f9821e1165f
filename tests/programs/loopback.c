// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program sends messages to itself: each is handled in a soft interrupt of the thread that
 * sends.
 *
 *	loopback MS
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static __attribute__((noinline)) int message(int fd)
{
	char c = 'x';

	return send(fd, &c, 1, 0) == 1 && recv(fd, &c, 1, 0) == 1;
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(addr);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	double end = now_ms() + (argc > 1 ? atof(argv[1]) : 0);

	if (fd < 0 || bind(fd, (void *)&addr, size) || getsockname(fd, (void *)&addr, &size) ||
	    connect(fd, (void *)&addr, size))
		return 1;
	while (now_ms() < end)
		if (!message(fd))
			return 1;
	return 0;
}
