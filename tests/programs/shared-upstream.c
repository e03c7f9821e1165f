// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread works on the requests of two connections, and asks another server for both on one
 * connection: what the thread does after an answer has come may be for either request.
 *
 *	shared-upstream PORT NEXT	the server on port NEXT is hops.c; this program ends it
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER	"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define ASK(n)	"GET /q/" n " HTTP/1.1\r\nHost: h\r\n\r\n"
#define ONE	ASK("1")
#define TWO	ASK("2")
#define END	"GET /end HTTP/1.1\r\nHost: h\r\n\r\n"

static int port;

static struct sockaddr_in address_of(int to)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(to), .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

static int connect_to(int to)
{
	struct sockaddr_in a = address_of(to);
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(s, (void *)&a, sizeof(a)))
		_exit(1);
	return s;
}

static void put(int s, const char *text)
{
	if (write(s, text, strlen(text)) != (ssize_t)strlen(text))
		_exit(1);
}

static void get(int s, size_t n)
{
	char text[64];

	if (read(s, text, n) != (ssize_t)n)
		_exit(1);
}

static void *ask(void *arg)
{
	int one = connect_to(port), two = connect_to(port);

	put(one, ONE);
	usleep(100000);		/* the other server answers in this time */
	put(two, TWO);
	get(one, strlen(ANSWER));
	get(two, strlen(ANSWER));
	return arg;
}

int main(int argc, char **argv)
{
	struct sockaddr_in a;
	int on = 1, s = socket(AF_INET, SOCK_STREAM, 0), one, two, up, other;
	pthread_t asker;

	if (argc < 3)
		return 2;
	port = atoi(argv[1]);
	a = address_of(port);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(s, (void *)&a, sizeof(a)) || listen(s, 2) || pthread_create(&asker, NULL, ask, NULL))
		return 1;
	one = accept(s, NULL, NULL);
	two = accept(s, NULL, NULL);
	up = connect_to(atoi(argv[2]));
	other = connect_to(atoi(argv[2]));
	get(one, strlen(ONE));
	put(up, ONE);
	get(two, strlen(TWO));
	put(up, TWO);
	get(up, strlen(ANSWER));
	put(other, ONE);	/* works for the first request, which has its answer */
	get(other, strlen(ANSWER));
	put(one, ANSWER);
	get(up, strlen(ANSWER));
	put(two, ANSWER);
	pthread_join(asker, NULL);
	put(connect_to(atoi(argv[2])), END);
	usleep(100000);
	return 0;
}
