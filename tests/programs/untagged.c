// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Has a server in which each request is a call of a function, and one in which each request is a
 * turn of an event loop.
 *
 *	untagged [REQUESTS]		two threads call handle() REQUESTS (400) times in all;
 *					each tenth call sleeps for 2 ms
 *	untagged loop [TURNS]		an event loop that is woken each 2 ms (100); one turn takes
 *					30 ms
 *	untagged busy [TURNS]		the same, but the loop always has something to do
 *
 * It prints the number of requests or turns.  With -DTAGS calls of handle() are tagged, too.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#ifdef TAGS
#include <ldb/ldb.h>
#else
#define ldb_req_start(id, queue)	((void)(id))
#define ldb_req_end(id)			((void)(id))
#endif
#include "spin.h"

static unsigned nr_requests = 400, taken;

__attribute__((noinline)) void wait_a_bit(void)
{
	usleep(2000);
	sum++;
}

__attribute__((noinline)) void handle(unsigned id)
{
	spin_us(300);
	if (id % 10 == 0)
		wait_a_bit();
	sum++;
}

static void *serve(void *none)
{
	unsigned id;

	while ((id = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED)) < nr_requests) {
		ldb_req_start(id, NULL);
		handle(id);
		ldb_req_end(id);
		usleep(200);
	}
	return none;
}

__attribute__((noinline)) void on_event(bool is_slow)
{
	spin_us(is_slow ? 30000 : 200);
	sum++;
}

/* The loop never sleeps, because the event for which it waits has already come. */
static int run_busy(unsigned turns)
{
	struct epoll_event e = { .events = EPOLLIN };
	int fds[2], epfd = epoll_create1(0);

	if (pipe(fds) || epoll_ctl(epfd, EPOLL_CTL_ADD, fds[0], &e) || write(fds[1], "x", 1) != 1)
		return 1;
	for (unsigned i = 0; i < turns && epoll_wait(epfd, &e, 1, -1) == 1; i++)
		on_event(i == turns / 2);
	printf("untagged: %u turns\n", turns);
	return 0;
}

static int run_loop(unsigned turns)
{
	int fds[2];
	char c;

	if (pipe(fds))
		return 1;
	if (!fork()) {
		for (unsigned i = 0; i < turns && write(fds[1], "x", 1) == 1; i++)
			usleep(2000);
		_exit(0);
	}
	close(fds[1]);
	for (unsigned i = 0;; i++) {
		struct pollfd p = { .fd = fds[0], .events = POLLIN };

		if (poll(&p, 1, -1) < 1 || read(fds[0], &c, 1) != 1)
			break;
		on_event(i == turns / 2);
	}
	printf("untagged: %u turns\n", turns);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc > 1 && !strcmp(argv[1], "loop"))
		return run_loop(argc > 2 ? atoi(argv[2]) : 100);
	if (argc > 1 && !strcmp(argv[1], "busy"))
		return run_busy(argc > 2 ? atoi(argv[2]) : 100);
	if (argc > 1)
		nr_requests = atoi(argv[1]);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, serve, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("untagged: %u requests\n", nr_requests);
	return 0;
}
