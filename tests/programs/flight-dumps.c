// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes one slow request after the other, and measures how long it takes until the dump that the
 * request has triggered is complete.
 *
 *	flight-dumps NAME COUNT		NAME as in ldb-record --flight -o NAME, in the current
 *					folder
 *
 * Meanwhile another thread serves short requests.  For each slow request one line is printed: the
 * milliseconds from its end until NAME.1 (then NAME.2, ...) existed, and until it was replaced by
 * the file with names.
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>
#include <ldb/ldb.h>

#define SLOW_US		50000
#define PAUSE_US	300000
#define PATIENCE_MS	30000

static volatile unsigned long sum;
static volatile bool is_over;

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__attribute__((noinline)) static void lookup(void)
{
	for (int i = 0; i < 5000; i++)
		sum++;
}

__attribute__((noinline)) static void slow_work(void)
{
	usleep(SLOW_US);
}

static void *serve(void *arg)
{
	for (unsigned long id = 1000000; !is_over; id++) {
		ldb_req_start(id, NULL);
		lookup();
		ldb_req_end(id);
		usleep(200);
	}
	return NULL;
}

/* Waits until a file gets the name NAME.n; returns the time, or 0. */
static long long wait_for(int fd, const char *name, int n)
{
	char buffer[4096] __attribute__((aligned(8))), want[300];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	long long until = now_ns() + PATIENCE_MS * 1000000LL;

	snprintf(want, sizeof(want), "%s.%d", name, n);
	while (now_ns() < until && poll(&p, 1, PATIENCE_MS) > 0) {
		long long now = now_ns();
		ssize_t size = read(fd, buffer, sizeof(buffer));

		for (char *at = buffer; at < buffer + size;) {
			const struct inotify_event *e = (const void *)at;

			if (e->len && !strcmp(e->name, want))
				return now;
			at += sizeof(*e) + e->len;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "ldb.data";
	int nr = argc > 2 ? atoi(argv[2]) : 20, fd = inotify_init1(IN_CLOEXEC);
	pthread_t thread;

	setvbuf(stdout, NULL, _IOLBF, 0);
	inotify_add_watch(fd, ".", IN_MOVED_TO);
	pthread_create(&thread, NULL, serve, NULL);
	sleep(2);
	for (int n = 1; n <= nr; n++) {
		long long end, there, named;

		ldb_req_start(n, NULL);
		slow_work();
		ldb_req_end(n);
		end = now_ns();
		there = wait_for(fd, name, n);
		named = there ? wait_for(fd, name, n) : 0;
		printf("%.1f %.1f\n", there ? (there - end) / 1e6 : -1, named ? (named - end) / 1e6 : -1);
		usleep(PAUSE_US);
	}
	is_over = true;
	pthread_join(thread, NULL);
	return 0;
}
