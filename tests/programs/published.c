// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This server publishes the trace context of each thread's request in the variable that profilers
 * and similar tools read.  It does nothing else for them.  Two threads serve one connection each: a
 * byte that arrives is a request; every other one has a context, whose trace id has the bytes of
 * its number.  The clients are threads, too.
 *
 *	published TIMES [tags | bad | slow]
 *
 * tags: the requests are tagged, and there are no connections; bad: invalid data are published;
 * slow: clients pause between requests.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <ldb/ldb.h>

struct record {
	unsigned char trace[16], span[8], valid, flags;
	uint16_t size;
};

__attribute__((visibility("default"))) __thread struct record *volatile otel_thread_ctx_v1;

static int times, listener;
static const char *mode = "";

static void attach(struct record *r, unsigned char first, unsigned n)
{
	memset(r, 0, sizeof(*r));
	memset(r->trace, first, 12);
	r->trace[12] = n >> 24;
	r->trace[13] = n >> 16;
	r->trace[14] = n >> 8;
	r->trace[15] = n;
	memset(r->span, first + 1, sizeof(r->span));
	r->valid = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	otel_thread_ctx_v1 = r;
}

static void detach(void)
{
	otel_thread_ctx_v1 = NULL;
}

/* Publishes data that must not be used: an incomplete record, and an address without a record. */
static void attach_bad(struct record *r, unsigned n)
{
	attach(r, 0xbb, n);
	r->valid = n & 1 ? 0 : 2;
	if (n % 4 == 2)
		otel_thread_ctx_v1 = (struct record *)(n % 8 == 2 ? 0x10UL : ~0UL - n % 32);
}

static void work(struct record *r, unsigned char thread, unsigned n)
{
	if (!strcmp(mode, "bad"))
		attach_bad(r, n);
	else if (n & 1)
		attach(r, 0xa0 + thread, n);
	for (volatile int i = 0; i < 20000; i++)
		;
}

static void *serve(void *arg)
{
	int fd = accept(listener, NULL, NULL);
	struct record r;
	char byte;

	for (unsigned n = 0; read(fd, &byte, 1) == 1; n++) {
		work(&r, byte, n);
		if (write(fd, &byte, 1) != 1)
			exit(1);
		detach();
	}
	close(fd);
	return arg;
}

static void *ask(void *arg)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX, .sun_path = "published.sock" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte = (uintptr_t)arg;

	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		exit(1);
	for (int i = 0; i < times; i++) {
		if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
			exit(1);
		if (!strcmp(mode, "slow"))
			usleep(5000);
	}
	close(fd);
	return NULL;
}

static void *tag(void *arg)
{
	unsigned char thread = (uintptr_t)arg;
	struct record r;

	for (int n = 0; n < times; n++) {
		ldb_req_start(thread * 1000 + n, NULL);
		work(&r, thread, n);
		if (n % 5 == 3) {	/* the program's own tags take precedence */
			ldb_req_link(thread * 1000 + n, "saidsaidsaidsaid", "saidsaid");
			/* also when another request came in between, and when it waited in a queue */
			ldb_req_start(thread * 1000 + 500 + n, NULL);
			ldb_req_end(thread * 1000 + 500 + n);
			ldb_req_block(thread * 1000 + n, &times);
			ldb_req_start(thread * 1000 + n, &times);
		}
		ldb_req_end(thread * 1000 + n);
		detach();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX, .sun_path = "published.sock" };
	pthread_t thread[4];
	uintptr_t nr = 0;

	times = argc > 1 ? atoi(argv[1]) : 100;
	mode = argc > 2 ? argv[2] : "";
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	unlink(sa.sun_path);
	if (bind(listener, (struct sockaddr *)&sa, sizeof(sa)) || listen(listener, 5))
		return 1;
	for (; nr < 2; nr++)
		pthread_create(&thread[nr], NULL, !strcmp(mode, "tags") ? tag : serve, (void *)(nr + 1));
	for (; nr < 4 && strcmp(mode, "tags"); nr++)
		pthread_create(&thread[nr], NULL, ask, (void *)(nr - 1));
	while (nr)
		pthread_join(thread[--nr], NULL);
	unlink(sa.sun_path);
	puts("served");
	return 0;
}
