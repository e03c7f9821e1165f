// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This is a client of ldb-record --metrics-listen.
 *
 *	scrape PORT get [LINE...]	sends the lines, and prints the answer; the exit status is 1
 *					if there was none
 *	scrape PORT hostile		connects up to 600 times in three seconds, sends nothing or
 *					too much, or does not read; leaves most of these
 *					connections open, and then sends a request
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WAIT_S	20

static int dial(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval wait = { .tv_sec = WAIT_S };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void say(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;		/* the connection is gone */
}

static int get(int port, int nr, char **lines)
{
	char text[65536];
	size_t all = 0;
	ssize_t n;
	int fd = dial(port);

	if (fd < 0)
		return 1;
	for (int i = 0; i < nr; i++) {
		say(fd, lines[i]);
		say(fd, "\r\n");
	}
	say(fd, "\r\n");
	while ((n = recv(fd, text, sizeof(text), 0)) > 0) {
		fwrite(text, 1, n, stdout);
		all += n;
	}
	close(fd);
	return !all;
}

static void annoy(int port, unsigned how)
{
	static char much[1 << 20];
	int fd = dial(port), small = 1;

	if (fd < 0)
		return;
	switch (how % 6) {
	case 0:
		break;		/* sends nothing, and stays connected */
	case 1:
		memset(much, 'x', sizeof(much));
		if (send(fd, much, sizeof(much), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
		break;
	case 2:
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
		say(fd, "GET /metrics HTTP/1.0\r\n\r\n");	/* does not read the answer */
		break;
	case 3:
		say(fd, "GET /metr");
		close(fd);
		break;
	case 4:
		if (send(fd, "GET \0/ HTTP/1.0\n\n\n", 19, MSG_NOSIGNAL) < 0)
			break;
		break;
	case 5:
		say(fd, "POST /metrics HTTP/1.0\r\nHost:\r\nHost\r\n:\r\n\r\n");
		shutdown(fd, SHUT_RDWR);
		close(fd);
		break;
	}
}

int main(int argc, char **argv)
{
	char *line = "GET /metrics HTTP/1.0";
	time_t until = time(NULL) + 3;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[2], "get"))
		return get(atoi(argv[1]), argc - 3, argv + 3);
	for (unsigned i = 0; i < 600 && time(NULL) < until; i++)
		annoy(atoi(argv[1]), i);
	for (int i = 0; i < 3; i++)
		if (!get(atoi(argv[1]), 1, &line))
			return 0;
	return 1;
}
