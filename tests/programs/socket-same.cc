// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls the functions that ldb interposes for --request=socket in all the ways in which a wrapper
 * may be wrong, and prints what it observes: errno of calls that fail and succeed, interrupted
 * calls, cancellation with destructors, handlers that write and that jump out of a read, a child of
 * vfork() that closes everything.  The output must be the same with ldb and without.
 */
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int server, client, listener;	/* the two ends of a connection that was accepted */
static volatile sig_atomic_t nr_signals;
static sigjmp_buf back;
static volatile int nr_destroyed, is_waiting;

#define SHOW(call) do {								\
		errno = 77;							\
		long ret_ = (call);						\
		int err_ = errno;						\
		printf("%s: %ld, errno %d\n", #call, ret_, err_);		\
	} while (0)

static void connect_both()
{
	struct sockaddr_in a = {};
	socklen_t len = sizeof(a);

	a.sin_family = AF_INET;
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&a, len) || listen(listener, 5) ||
	    getsockname(listener, (struct sockaddr *)&a, &len))
		abort();
	client = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(connect(client, (struct sockaddr *)&a, len));
	server = accept(listener, nullptr, nullptr);
}

static void errors()
{
	static char buf[64];
	/* volatile, so that the compiler does not know the address */
	char *volatile nowhere = (char *)16;
	char *const bad = nowhere;
	struct iovec iov[2] = { { buf, 3 }, { buf + 3, 5 } }, bad_iov = { bad, 8 };
	struct msghdr msg = {};

	msg.msg_iov = iov;
	msg.msg_iovlen = 2;
	SHOW(read(-1, buf, 1));
	SHOW(read(1000000, buf, 1));
	SHOW(write(2000000, buf, 1));
	SHOW(recv(server, buf, 1, MSG_DONTWAIT));
	SHOW(write(client, "GET / HTTP/1.1\r\n\r\n", 18));
	SHOW(recv(server, buf, 18, MSG_PEEK));
	SHOW(read(server, bad, 8));
	SHOW(readv(server, &bad_iov, 1));
	SHOW(readv(server, (struct iovec *)bad, 1));
	SHOW(recvmsg(server, (struct msghdr *)bad, 0));
	SHOW(readv(server, iov, 2));
	SHOW(recvmsg(server, &msg, 0));
	SHOW(recvfrom(server, buf, 64, 0, nullptr, nullptr));
	SHOW(write(server, bad, 8));
	SHOW(writev(server, (struct iovec *)bad, 1));
	SHOW(sendmsg(server, (struct msghdr *)bad, 0));
	SHOW(sendfile(server, -1, nullptr, 8));
	SHOW(send(server, "HTTP/1.1 200 OK\r\n", 17, MSG_NOSIGNAL));
	SHOW(sendmsg(server, &msg, 0));
	SHOW(sendto(server, "x", 1, 0, nullptr, 0));
	SHOW(write(server, nullptr, 0));
	SHOW(read(server, nullptr, 0));
	SHOW(poll((struct pollfd *)bad, 2, 0));
	SHOW(epoll_wait(-1, (struct epoll_event *)buf, 1, 0));
	SHOW(accept(-1, nullptr, nullptr));
	SHOW(connect(-1, nullptr, 0));
	SHOW(close(-1));
	SHOW(dup2(-1, 900));
	SHOW(dup2(server, 900));
	SHOW(write(900, "x", 1));
	SHOW(close(900));
	SHOW(close(900));
}

static void on_signal(int)
{
	nr_signals++;
	/* The thread may be in the middle of a hook for this connection. */
	if (write(server, "handler", 7) != 7)
		abort();
}

static void on_jump(int)
{
	siglongjmp(back, 1);
}

static void set(int signal, void (*handler)(int), int flags)
{
	struct sigaction sa = {};

	sa.sa_handler = handler;
	sa.sa_flags = flags;
	sigaction(signal, &sa, nullptr);
}

static void *signals(void *to)
{
	usleep(50000);
	pthread_kill(*(pthread_t *)to, SIGUSR1);
	return nullptr;
}

static void interrupted()
{
	pthread_t self = pthread_self(), t;
	char c;

	set(SIGUSR1, on_signal, 0);
	pthread_create(&t, nullptr, signals, &self);
	SHOW(read(server, &c, 1));
	pthread_join(t, nullptr);
	printf("%d signals\n", (int)nr_signals);
	set(SIGUSR1, on_jump, 0);
	pthread_create(&t, nullptr, signals, &self);
	if (!sigsetjmp(back, 1))
		SHOW(read(server, &c, 1));
	else
		puts("jumped out of a read");
	pthread_join(t, nullptr);
	if (write(client, "GET / HTTP/1.1\r\n\r\n", 18) != 18)
		abort();
	SHOW(read(server, &c, 1));
}

/* Handlers come again and again while requests are made. */
static void storm()
{
	static char in[4096];
	int rounds = 0;
	long nr = 0;

	set(SIGALRM, on_signal, SA_RESTART);
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = {};
	setitimer(ITIMER_REAL, &often, nullptr);
	for (; rounds < 3000; rounds++) {
		if (write(client, "GET / HTTP/1.1\r\n\r\n", 18) != 18 || read(server, in, 64) <= 0 ||
		    write(server, "HTTP/1.1 204 N\r\n\r\n", 18) != 18)
			break;
		nr += recv(client, in, sizeof(in), MSG_DONTWAIT) > 0;
	}
	setitimer(ITIMER_REAL, &never, nullptr);
	printf("%d rounds with signals: %s\n", rounds, nr == rounds ? "all answered" : "NOT all answered");
}

struct destroyed {
	~destroyed() { nr_destroyed++; }
};

enum call { READ, RECV, RECVMSG, POLL, EPOLL, ACCEPT, SELECT, NR_CALLS };

static void *waits(void *arg)
{
	struct destroyed d;
	struct pollfd p[2] = { { server, POLLIN, 0 }, { server, POLLIN, 0 } };
	struct epoll_event e;
	struct msghdr msg = {};
	int epoll = epoll_create1(0);
	fd_set set;
	char c;

	FD_ZERO(&set);
	is_waiting = 1;
	switch ((enum call)(intptr_t)arg) {
	case READ:	read(server, &c, 1); break;
	case RECV:	recv(server, &c, 1, 0); break;
	case RECVMSG:	recvmsg(server, &msg, 0); break;
	case POLL:	poll(p, 2, -1); break;
	case EPOLL:	epoll_wait(epoll, &e, 1, -1); break;
	case ACCEPT:	accept(listener, nullptr, nullptr); break;
	default:	select(1, nullptr, nullptr, nullptr, nullptr); break;
	}
	return nullptr;
}

static void cancelled()
{
	char in[4096];

	while (recv(server, in, sizeof(in), MSG_DONTWAIT) > 0)
		;
	for (int i = 0; i < NR_CALLS; i++) {
		void *ret;
		pthread_t t;

		nr_destroyed = is_waiting = 0;
		pthread_create(&t, nullptr, waits, (void *)(intptr_t)i);
		while (!is_waiting)
			usleep(1000);
		usleep(20000);
		pthread_cancel(t);
		pthread_join(t, &ret);
		printf("call %d: %s, %d destroyed\n", i, ret == PTHREAD_CANCELED ? "cancelled" : "returned",
		       nr_destroyed);
	}
}

static void children()
{
	char in[64] = "";
	pid_t pid = vfork();

	if (!pid) {
		for (int fd = 3; fd < 100; fd++)
			close(fd);
		_exit(0);
	}
	waitpid(pid, nullptr, 0);
	pid = fork();
	if (!pid) {
		SHOW(write(server, "child\n", 6));
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, nullptr, 0);
	while (recv(client, in, sizeof(in) - 1, MSG_DONTWAIT) > 0)
		;
	SHOW(write(client, "GET / HTTP/1.1\r\n\r\n", 18));
	SHOW(read(server, in, 18));
	SHOW(write(server, "HTTP/1.1 204 N\r\n\r\n", 18));
	SHOW(close(server));
}

int main()
{
	setvbuf(stdout, nullptr, _IOLBF, 0);
	connect_both();
	errors();
	interrupted();
	storm();
	cancelled();
	children();
	return 0;
}
