// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program plants causes: requests wait for PLANT_US in calls that are not only for waiting.
 * The kernel's timer ends the wait, and no thread.  See why-load.h.
 *
 *	timerfd		read() from a timerfd
 *	epoll		epoll_wait() for a timerfd
 *	poll		poll() of a pipe, which times out
 *	signal		read() from a signalfd, for the signal of a timer
 *	uring		io_uring_enter(), for IORING_OP_TIMEOUT
 *
 * With "clean" the thread waits after the request.
 */
#include "why-load.h"
#include "uring.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id	_sigev_un._tid
#endif

static int timer_fd, epoll, ends[2], signal_fd;
static timer_t timer;
static struct uring ring;

static struct itimerspec after_plant(void)
{
	return (struct itimerspec){ .it_value.tv_sec = (long)PLANT_US / 1000000,
				    .it_value.tv_nsec = (long)PLANT_US % 1000000 * 1000 };
}

NAMED void wait_timerfd(void)
{
	struct itimerspec in = after_plant();
	uint64_t n;

	if (timerfd_settime(timer_fd, 0, &in, NULL) || read(timer_fd, &n, sizeof(n)) != sizeof(n))
		die("timerfd");
}

NAMED void wait_epoll(void)
{
	struct itimerspec in = after_plant();
	struct epoll_event e;
	uint64_t n;

	if (timerfd_settime(timer_fd, 0, &in, NULL) || epoll_wait(epoll, &e, 1, -1) != 1 ||
	    read(timer_fd, &n, sizeof(n)) != sizeof(n))
		die("epoll");
}

NAMED void wait_poll(void)
{
	struct pollfd fd = { ends[0], POLLIN, 0 };

	if (poll(&fd, 1, (int)(PLANT_US / 1000)))
		die("poll");
}

NAMED void wait_signal(void)
{
	struct itimerspec in = after_plant();
	struct signalfd_siginfo info;

	if (timer_settime(timer, 0, &in, NULL) || read(signal_fd, &info, sizeof(info)) != sizeof(info))
		die("signalfd");
}

NAMED void wait_uring(void)
{
	struct itimerspec in = after_plant();
	struct __kernel_timespec ts = { .tv_sec = in.it_value.tv_sec, .tv_nsec = in.it_value.tv_nsec };
	struct io_uring_sqe sqe = { .opcode = IORING_OP_TIMEOUT, .addr = (uintptr_t)&ts, .len = 1 };

	if (uring_do(&ring, &sqe) != -ETIME)
		die("io_uring");
}

static void (*wait_time)(void);

NAMED void serve(bool has_plant)
{
	parse();
	if (has_plant)
		wait_time();
	reply();
}

static void requests(void)
{
	for (long id = 1; id <= nr_requests; id++) {
		bool has_plant = is_due(id);

		if (has_plant && planted)
			hit(id);
		ldb_req_start(id, NULL);
		ldb_req_class(id, "get");
		serve(has_plant && planted);
		ldb_req_end(id);
		if (has_plant && !planted)
			wait_time();
		pause_us(20);
	}
}

static void run_timerfd(void)
{
	wait_time = wait_timerfd;
	requests();
}

static void run_epoll(void)
{
	struct epoll_event e = { .events = EPOLLIN };

	wait_time = wait_epoll;
	epoll = epoll_create1(0);
	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, timer_fd, &e))
		die("epoll");
	requests();
}

static void run_poll(void)
{
	wait_time = wait_poll;
	if (pipe(ends))
		die("pipe");
	requests();
}

static void run_signal(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN };
	sigset_t set;

	wait_time = wait_signal;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	event.sigev_notify_thread_id = gettid();
	if (pthread_sigmask(SIG_BLOCK, &set, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer))
		die("timer_create");
	signal_fd = signalfd(-1, &set, 0);
	if (signal_fd < 0)
		die("signalfd");
	requests();
}

static void run_uring(void)
{
	wait_time = wait_uring;
	if (uring_open(&ring))
		die("io_uring");
	requests();
}

static const struct cause causes[] = {
	{ "timerfd", run_timerfd }, { "epoll", run_epoll }, { "poll", run_poll },
	{ "signal", run_signal }, { "uring", run_uring }, { NULL, NULL },
};

int main(int argc, char **argv)
{
	timer_fd = timerfd_create(CLOCK_MONOTONIC, 0);
	if (timer_fd < 0)
		return 1;
	return why_main(argc, argv, causes);
}
