// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests that go from process to process by TCP, and that contain no trace id.
 *
 *	hops serve ADDRESS PORT [NEXT]	answers; with NEXT, asks the server on port NEXT first
 *	hops ask ADDRESS PORT N THREADS	asks N times from each thread, and then makes the servers
 *					end
 *	hops mix ADDRESS PORT		sends questions while the thread works on several requests,
 *					and on one
 *
 * Question i of thread t has the path q/N with N = t * 100000 + i; the asker tags it as request N.
 * It sends every seventh question outside of any request, with the path none/N.  So the path of a
 * server's request shows which request has sent it.  `ask` and `serve` print "N T" for each
 * question q/N with N > 0: T is when the asker began to send it, or when the server had read it, in
 * ns of the time of day.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <ldb/ldb.h>

#define PER_CONNECTION	40	/* after this many questions the asker makes a new connection */
#define THREAD		100000

static const char *address;
static int port, next_port;
static unsigned nr_questions;

static uint64_t now_ns(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static struct sockaddr_in address_of(int to)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(to) };

	inet_pton(AF_INET, address, &a.sin_addr);
	return a;
}

static int connect_to(int to)
{
	struct sockaddr_in a = address_of(to);
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(s, (void *)&a, sizeof(a)))
		exit(1);
	return s;
}

/* Reads up to an empty line; returns 0 if the connection ends before. */
static int read_message(int s, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	while (!strstr(text, "\r\n\r\n")) {
		ssize_t got = read(s, text + n, size - 1 - n);

		if (got <= 0)
			return 0;
		n += got;
		text[n] = '\0';
	}
	return 1;
}

static void put(int s, const char *text)
{
	if (write(s, text, strlen(text)) != (ssize_t)strlen(text))
		exit(1);
}

__attribute__((noinline)) void work_us(unsigned us)
{
	uint64_t end = now_ns() + us * 1000ULL;

	while (now_ns() < end)
		;
}

__attribute__((noinline)) static void answer(int s, int up, const char *question)
{
	char text[512];
	unsigned long n = 0;
	uint64_t came = now_ns();

	sscanf(question, "GET /q/%lu", &n);
	work_us(50 + n % 8 * 20);
	if (up >= 0) {
		put(up, question);
		if (!read_message(up, text, sizeof(text)))
			exit(1);
	}
	put(s, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	if (n)
		printf("%lu %lu\n", n, (unsigned long)came);
}

static void *serve_one(void *arg)
{
	int s = (intptr_t)arg, up = next_port ? connect_to(next_port) : -1;
	char text[512];

	while (read_message(s, text, sizeof(text))) {
		if (!strncmp(text, "GET /end", 8)) {
			if (up >= 0)
				put(up, text);
			fflush(stdout);
			usleep(200000);
			_exit(0);
		}
		answer(s, up, text);
	}
	close(s);
	if (up >= 0)
		close(up);
	return NULL;
}

static void serve(void)
{
	struct sockaddr_in a = address_of(port);
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t t;

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s, (void *)&a, sizeof(a)) || listen(s, 64))
		exit(1);
	for (;;) {
		int c = accept(s, NULL, NULL);

		if (c >= 0 && pthread_create(&t, NULL, serve_one, (void *)(intptr_t)c))
			exit(1);
	}
}

__attribute__((noinline)) static void ask_one(int s, unsigned long n, int is_tagged)
{
	char text[512];
	uint64_t sent;

	snprintf(text, sizeof(text), "GET /%s/%lu HTTP/1.1\r\nHost: h\r\n\r\n", is_tagged ? "q" : "none", n);
	if (is_tagged)
		ldb_req_start(n, NULL);
	sent = now_ns();
	put(s, text);
	if (!read_message(s, text, sizeof(text)))
		exit(1);
	if (is_tagged) {
		ldb_req_end(n);
		printf("%lu %lu\n", n, (unsigned long)sent);
	}
}

static void *ask(void *arg)
{
	unsigned long t = (uintptr_t)arg;
	int s = -1;

	for (unsigned i = 1; i <= nr_questions; i++) {
		if (s < 0 || i % PER_CONNECTION == 0) {
			if (s >= 0)
				close(s);
			s = connect_to(port);
		}
		ask_one(s, t * THREAD + i, i % 7);
		usleep(500);
	}
	close(s);
	return NULL;
}

static void mix_one(int s, unsigned long n)
{
	char text[512];

	snprintf(text, sizeof(text), "GET /q/%lu HTTP/1.1\r\nHost: h\r\n\r\n", n);
	put(s, text);
	if (!read_message(s, text, sizeof(text)))
		exit(1);
}

/*
 * A question q/0 is sent outside of any request, or while the thread works on several; q/N is sent
 * by request N.
 */
static void mix(void)
{
	int s = connect_to(port);

	ldb_req_start(1, NULL);
	/* as if request 2 were another thread's: this thread is still working on request 1 */
	ldb_req_end(2);
	mix_one(s, 1);
	ldb_req_start(3, NULL);
	mix_one(s, 0);
	ldb_req_start(3, NULL);	/* nothing new */
	ldb_req_end(1);
	mix_one(s, 3);
	for (unsigned n = 4; n <= 6; n++)
		ldb_req_start(n, NULL);
	for (unsigned n = 3; n <= 5; n++) {
		mix_one(s, 0);
		ldb_req_end(n);
	}
	mix_one(s, 6);
	ldb_req_start(10, NULL);
	ldb_req_end_all();
	mix_one(s, 0);
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	unsigned nr;

	if (argc < 4)
		return 2;
	address = argv[2];
	port = atoi(argv[3]);
	if (!strcmp(argv[1], "serve")) {
		next_port = argc > 4 ? atoi(argv[4]) : 0;
		serve();
		return 0;
	}
	if (!strcmp(argv[1], "mix")) {
		mix();
		put(connect_to(port), "GET /end HTTP/1.1\r\nHost: h\r\n\r\n");
		usleep(100000);
		return 0;
	}
	nr_questions = argc > 4 ? atoi(argv[4]) : 100;
	nr = argc > 5 ? atoi(argv[5]) : 1;
	if (nr > 16)
		return 2;
	for (uintptr_t i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, ask, (void *)(i + 1));
	for (unsigned i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	put(connect_to(port), "GET /end HTTP/1.1\r\nHost: h\r\n\r\n");
	usleep(100000);
	return 0;
}
