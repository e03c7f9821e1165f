// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Interposes the functions that read from descriptors and write to them, wait for them, open and
 * close them.  Unless a recording derives requests from connections, or records turns of event
 * loops, each is a load, a branch and a jump to the real function.
 *
 * What the program can observe is unchanged: return value, errno, cancellation.  The real function
 * is called once, with the caller's arguments, and no lock is held meanwhile, so a thread that is
 * cancelled in it, or leaves it by siglongjmp() from a handler, has nothing to undo.  The memory to
 * which the arguments point is read only if the call has succeeded.  This file must be compiled
 * with -fexceptions, because cancellation unwinds through its functions.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "hook.h"
#include "track.h"

#ifndef __EXCEPTIONS
#error "compile this with -fexceptions, or cancellation does not get through"
#endif

static void read_begins(const struct transfer *x)
{
	HOOKED(track_read_begins(t, x));
}

static void read_ends(const struct transfer *x, ssize_t n)
{
	HOOKED(track_read(t, x, n, saved_));
}

static void write_begins(struct transfer *x)
{
	HOOKED(track_write_begins(t, x));
}

static void write_ends(const struct transfer *x, ssize_t n)
{
	if (n > 0)
		HOOKED(track_write(t, x, n));
}

/*
 * Makes a wrapper for a call that reads or writes.  The bytes are parsed when the call has
 * succeeded, from the nr structs iovec at (iov_).  With MSG_PEEK they are not parsed, because the
 * program will read them again, nor with MSG_ERRQUEUE, because it has sent them itself.  With
 * MSG_TRUNC, TCP discards the bytes that it counts, so they are in no memory.
 */
#define TRANSFER_FLAGS(kind, name, params, args, iov_, nr, flags)		\
	static NOINLINE ssize_t slow_##name params;				\
	EXPORT ssize_t name params						\
	{									\
		if (likely(!session_wants_sockets()) || ((flags) & (MSG_PEEK | MSG_ERRQUEUE)))	\
			return NEXT(name) args;					\
		return slow_##name args;					\
	}									\
	static NOINLINE ssize_t slow_##name params				\
	{									\
		struct transfer x = { .fd = fd, .site = flow_site(SITE) };	\
		ssize_t ret;							\
										\
		kind##_begins(&x);						\
		ret = NEXT(name) args;						\
		x.iov = ret > 0 && !((flags) & MSG_TRUNC) ? iov_ : NULL;	\
		x.nr_iov = x.iov ? nr : 0;					\
		kind##_ends(&x, ret);						\
		return ret;							\
	}

#define TRANSFER(kind, name, params, args, iov_, nr)				\
	TRANSFER_FLAGS(kind, name, params, args, iov_, nr, 0)
#define RECEIVE(name, params, args, iov_, nr)					\
	TRANSFER_FLAGS(read, name, params, args, iov_, nr, flags)

#define ONE(buf, n)	(&(struct iovec){ (void *)(buf), n })

/* glibc's headers declare these only where calls of them are made. */
extern ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
extern ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags);
extern ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t room, int flags,
			      __SOCKADDR_ARG addr, socklen_t *len);
extern int __poll_chk(struct pollfd *fds, nfds_t nr, int timeout, size_t room);
extern int __ppoll_chk(struct pollfd *fds, nfds_t nr, const struct timespec *timeout,
		       const sigset_t *mask, size_t room);

TRANSFER(read, read, (int fd, void *buf, size_t n), (fd, buf, n), ONE(buf, n), 1)
TRANSFER(read, __read_chk, (int fd, void *buf, size_t n, size_t room), (fd, buf, n, room),
	 ONE(buf, n), 1)
TRANSFER(read, readv, (int fd, const struct iovec *iov, int nr), (fd, iov, nr), iov, nr)
RECEIVE(recv, (int fd, void *buf, size_t n, int flags), (fd, buf, n, flags), ONE(buf, n), 1)
RECEIVE(__recv_chk, (int fd, void *buf, size_t n, size_t room, int flags),
	(fd, buf, n, room, flags), ONE(buf, n), 1)
RECEIVE(recvfrom, (int fd, void *buf, size_t n, int flags, __SOCKADDR_ARG addr, socklen_t *len),
	(fd, buf, n, flags, addr, len), ONE(buf, n), 1)
RECEIVE(__recvfrom_chk, (int fd, void *buf, size_t n, size_t room, int flags, __SOCKADDR_ARG addr,
	socklen_t *len), (fd, buf, n, room, flags, addr, len), ONE(buf, n), 1)
RECEIVE(recvmsg, (int fd, struct msghdr *msg, int flags), (fd, msg, flags), msg->msg_iov,
	msg->msg_iovlen)

TRANSFER(write, write, (int fd, const void *buf, size_t n), (fd, buf, n), ONE(buf, n), 1)
TRANSFER(write, writev, (int fd, const struct iovec *iov, int nr), (fd, iov, nr), iov, nr)
TRANSFER(write, send, (int fd, const void *buf, size_t n, int flags), (fd, buf, n, flags),
	 ONE(buf, n), 1)
TRANSFER(write, sendto, (int fd, const void *buf, size_t n, int flags, __CONST_SOCKADDR_ARG addr,
	 socklen_t len), (fd, buf, n, flags, addr, len), ONE(buf, n), 1)
TRANSFER(write, sendmsg, (int fd, const struct msghdr *msg, int flags), (fd, msg, flags),
	 msg->msg_iov, msg->msg_iovlen)
TRANSFER(write, sendfile, (int fd, int from, off_t *at, size_t n), (fd, from, at, n), NULL, 0)
TRANSFER(write, sendfile64, (int fd, int from, off64_t *at, size_t n), (fd, from, at, n), NULL, 0)

/* Waiting */

/*
 * Returns the time at which the wait begins, if a turn of an event loop is to be recorded; else 0.
 */
static uint64_t wait_begins(bool is_loop, uintptr_t site)
{
	if (is_loop)
		HOOKED(track_wait_begins(t, site));
	return session_wants_loops() ? session_clock() : 0;
}

static void wait_ends(bool is_loop, uint64_t began)
{
	if (is_loop)
		HOOKED(track_wait());
	if (began && session_wants_loops() && thread_self())
		track_turn(began);
}

/*
 * A thread that waits for a single descriptor continues to work on its request: it uses the call as
 * a timeout for what it reads or writes next.  But a turn of the loop begins after its wait, too.
 */
#define WAIT(name, params, args, is_loop)					\
	static NOINLINE int slow_##name params;					\
	EXPORT int name params							\
	{									\
		if (likely(!session_wants_waits(is_loop)))			\
			return NEXT(name) args;					\
		return slow_##name args;					\
	}									\
	static NOINLINE int slow_##name params					\
	{									\
		uint64_t began = wait_begins(is_loop, flow_site(SITE));		\
		int ret = NEXT(name) args;					\
										\
		wait_ends(is_loop, began);					\
		return ret;							\
	}

WAIT(epoll_wait, (int epfd, struct epoll_event *events, int max, int timeout),
     (epfd, events, max, timeout), true)
WAIT(epoll_pwait, (int epfd, struct epoll_event *events, int max, int timeout, const sigset_t *mask),
     (epfd, events, max, timeout, mask), true)
WAIT(poll, (struct pollfd *fds, nfds_t nr, int timeout), (fds, nr, timeout), nr > 1)
WAIT(__poll_chk, (struct pollfd *fds, nfds_t nr, int timeout, size_t room), (fds, nr, timeout, room),
     nr > 1)
WAIT(ppoll, (struct pollfd *fds, nfds_t nr, const struct timespec *timeout, const sigset_t *mask),
     (fds, nr, timeout, mask), nr > 1)
WAIT(__ppoll_chk, (struct pollfd *fds, nfds_t nr, const struct timespec *timeout, const sigset_t *mask,
     size_t room), (fds, nr, timeout, mask, room), nr > 1)
WAIT(select, (int nr, fd_set *r, fd_set *w, fd_set *e, struct timeval *timeout),
     (nr, r, w, e, timeout), true)
WAIT(pselect, (int nr, fd_set *r, fd_set *w, fd_set *e, const struct timespec *timeout,
     const sigset_t *mask), (nr, r, w, e, timeout, mask), true)

/* Opening and closing */

#define ACCEPT(name, params, args)						\
	static NOINLINE int slow_##name params;					\
	EXPORT int name params							\
	{									\
		if (likely(!session_wants_sockets()))				\
			return NEXT(name) args;					\
		return slow_##name args;					\
	}									\
	static NOINLINE int slow_##name params					\
	{									\
		int ret;							\
										\
		HOOKED(track_leave(t, flow_site(SITE)));			\
		ret = NEXT(name) args;						\
		if (ret >= 0)							\
			HOOKED(track_new(t, ret, true));			\
		return ret;							\
	}

ACCEPT(accept, (int fd, __SOCKADDR_ARG addr, socklen_t *len), (fd, addr, len))
ACCEPT(accept4, (int fd, __SOCKADDR_ARG addr, socklen_t *len, int flags), (fd, addr, len, flags))

static NOINLINE void connects(int fd)
{
	HOOKED(track_new(t, fd, false));
}

EXPORT int connect(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
	if (session_wants_sockets())
		connects(fd);
	return NEXT(connect)(fd, addr, len);
}

/*
 * Reports descriptors that are about to be closed.  The child of a vfork() must be ignored: it
 * shares this memory, but closes its own descriptors.
 */
static NOINLINE void closes(unsigned from, unsigned to, uintptr_t site)
{
	if (from > to || !conn_any(&from, to) || !control_is_ours())
		return;
	for (; conn_any(&from, to); from++)
		HOOKED(track_close(t, from, site));
}

EXPORT int close(int fd)
{
	if (session_wants_sockets() && fd >= 0)
		closes(fd, fd, flow_site(SITE));
	return NEXT(close)(fd);
}

EXPORT int dup2(int old, int new)
{
	if (session_wants_sockets() && old != new && new >= 0)
		closes(new, new, flow_site(SITE));
	return NEXT(dup2)(old, new);
}

EXPORT int dup3(int old, int new, int flags)
{
	if (session_wants_sockets() && old != new && new >= 0)
		closes(new, new, flow_site(SITE));
	return NEXT(dup3)(old, new, flags);
}

EXPORT void closefrom(int from)
{
	void (*real)(int) = NEXT(closefrom);

	if (session_wants_sockets())
		closes(from < 0 ? 0 : from, INT_MAX, flow_site(SITE));
	real(from);
}

EXPORT int close_range(unsigned from, unsigned to, int flags)
{
	int (*real)(unsigned, unsigned, int) = NEXT(close_range);

	if (session_wants_sockets() && !(flags & CLOSE_RANGE_CLOEXEC))
		closes(from, to, flow_site(SITE));
	if (real)
		return real(from, to, flags);
	errno = ENOSYS;
	return -1;
}
