// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Half of each message is read by a system call that ldb does not observe, so ldb's count of bytes
 * is wrong.
 *
 *	uncounted serve PORT N	answers N messages on one connection
 *	uncounted ask PORT N	sends them: message n belongs to request n
 *
 * Both end without closing the connection.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ldb/ldb.h>

#define HALF	33	/* bytes */
#define ANSWER	10

static void serve(int s, unsigned nr)
{
	char text[HALF];

	for (unsigned i = 0; i < nr; i++)
		if (read(s, text, HALF) != HALF || syscall(SYS_read, s, text, HALF) != HALF ||
		    write(s, text, ANSWER) != ANSWER)
			_exit(1);
}

static void ask(int s, unsigned nr)
{
	char text[2 * HALF];

	memset(text, 'q', sizeof(text));
	for (unsigned i = 1; i <= nr; i++) {
		ldb_req_start(i, NULL);
		if (write(s, text, sizeof(text)) != sizeof(text) || read(s, text, ANSWER) != ANSWER)
			_exit(1);
		ldb_req_end(i);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);

	if (argc < 4)
		return 2;
	a.sin_port = htons(atoi(argv[2]));
	if (!strcmp(argv[1], "serve")) {
		setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(s, (void *)&a, sizeof(a)) || listen(s, 1))
			return 1;
		serve(accept(s, NULL, NULL), atoi(argv[3]));
	} else {
		if (connect(s, (void *)&a, sizeof(a)))
			return 1;
		ask(s, atoi(argv[3]));
	}
	usleep(100000);
	_exit(0);
}
