// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The only thread of this program repeats an operation whose result it knows, so it detects if
 * something stops it in the middle.
 *
 *	stopped KIND
 *
 * KIND: compute epoll poll nanosleep futex pipe rcvtimeo sigwait signals
 *
 * It ends at SIGTERM and prints "KIND: many rounds, N wrong", or "few rounds" if there were at most
 * ten; and the first wrong result on stderr.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS	3

static volatile sig_atomic_t is_over, ticks;
static unsigned long nr_wrong;
static int fds[2];

static void on_term(int sig)
{
	(void)sig;
	is_over = 1;
}

static void on_alarm(int sig)
{
	(void)sig;
	ticks++;
}

static void wrong(const char *what, long got)
{
	if (!nr_wrong++)
		fprintf(stderr, "%s: %ld, %s\n", what, got, strerror(errno));
}

static long now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000L + ts.tv_nsec / 1000;
}

/* During the whole loop the values of this function are in registers of the FPU, and in flags. */
__attribute__((noinline)) static void compute(void)
{
	double a = 1, b = 2, c = 3, d = 4, want_a = 1, want_b = 2;
	long sum = 0;

	for (int i = 0; i < 20000; i++) {
		a = a * 1.0000001 + 0.5;
		b = b * 1.0000002 + 0.25;
		c += a - b;
		d += c * 1e-9;
		sum += i ^ (sum << 1);
	}
	for (int i = 0; i < 20000; i++) {
		want_a = want_a * 1.0000001 + 0.5;
		want_b = want_b * 1.0000002 + 0.25;
	}
	if (a != want_a || b != want_b || d != d || !sum)
		wrong("compute", (long)a);
}

/* Checks that rc is as expected, and that no less than WAIT_MS has passed. */
static void waited(const char *what, long rc, long want, long from)
{
	if (is_over)
		return;
	if (rc != want)
		wrong(what, rc);
	else if (now_us() - from < WAIT_MS * 1000)
		wrong("woken early", now_us() - from);
}

__attribute__((noinline)) static void round_of(const char *kind)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec ts = { 0, WAIT_MS * 1000000 };
	struct pollfd p = { .fd = fds[0], .events = POLLIN };
	struct epoll_event ev;
	long from = now_us();
	sigset_t set;
	char c;

	/* "sigwait" and "signals" differ in later letters */
	switch (kind[0] == 's' ? kind[2] : kind[0]) {
	case 'c':
		compute();
		break;
	case 'e':
		waited(kind, epoll_wait(fds[1], &ev, 1, WAIT_MS), 0, from);
		break;
	case 'n':
		waited(kind, nanosleep(&ts, NULL), 0, from);
		break;
	case 'f':
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_nsec += WAIT_MS * 1000000;
		if (ts.tv_nsec >= 1000000000) {
			ts.tv_nsec -= 1000000000;
			ts.tv_sec++;
		}
		pthread_mutex_lock(&mutex);
		waited(kind, pthread_cond_timedwait(&cond, &mutex, &ts), ETIMEDOUT, from);
		pthread_mutex_unlock(&mutex);
		break;
	case 'r':
		waited(kind, recv(fds[0], &c, 1, 0), -1, from);
		if (errno != EAGAIN && !is_over)
			wrong(kind, errno);
		break;
	case 'g':	/* sigwait; signals has a timer of its own */
		if (!strcmp(kind, "signals")) {
			compute();
			break;
		}
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		waited(kind, sigtimedwait(&set, NULL, &ts), -1, from);
		if (errno != EAGAIN && !is_over)
			wrong(kind, errno);
		break;
	case 'p':
		if (!strcmp(kind, "poll"))
			waited(kind, poll(&p, 1, WAIT_MS), 0, from);
		else if (write(fds[1], "x", 1) != 1 || read(fds[0], &c, 1) != 1 || c != 'x')
			wrong(kind, c);
		break;
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "compute";
	struct sigaction term = { .sa_handler = on_term }, tick = { .sa_handler = on_alarm };
	struct itimerval every = { { 0, 500 }, { 0, 500 } };
	struct timeval timeout = { 0, WAIT_MS * 1000 };
	unsigned long n = 0;
	sigset_t usr1;

	sigaction(SIGTERM, &term, NULL);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	if (!strcmp(kind, "sigwait"))
		sigprocmask(SIG_BLOCK, &usr1, NULL);
	if (!strcmp(kind, "rcvtimeo")) {
		socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
		setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	} else if (pipe(fds)) {
		return 9;
	}
	if (!strcmp(kind, "epoll"))
		fds[1] = epoll_create1(0);
	if (!strcmp(kind, "signals")) {
		sigaction(SIGALRM, &tick, NULL);
		setitimer(ITIMER_REAL, &every, NULL);
	}
	for (; !is_over; n++)
		round_of(kind);
	if (!strcmp(kind, "signals") && !ticks)
		wrong("no signal came", 0);
	sigprocmask(SIG_BLOCK, NULL, &usr1);
	if (sigismember(&usr1, SIGTERM) || sigismember(&usr1, SIGINT))
		wrong("signals are blocked", 0);
	printf("%s: %s, %lu wrong\n", kind, n > 10 ? "many rounds" : "few rounds", nr_wrong);
	return nr_wrong ? 1 : 0;
}
