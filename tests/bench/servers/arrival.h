/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memcached-arrival.patch puts this file into memcached, beside stamps.h.  So requests begin when
 * the kernel received their bytes, and not when memcached reads them.
 *
 *	arrival_watch()		a connection was made: ask the kernel for its stamps
 *	arrival_read()		as read(); stores the stamp of the last packet that was read
 *	request_begin_arrived()	as request_begin(), but with the stored arrival and a class
 *
 * All requests that one read() returns have the same stamp, that of its last packet: a batch
 * that a client writes in one piece arrives in one piece.  The stamps and the present time are
 * of CLOCK_REALTIME.
 */
#ifndef BENCH_ARRIVAL_H
#define BENCH_ARRIVAL_H

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include "stamps.h"

/*
 * The address of this variable identifies the queue in which requests wait: it stands for the
 * receive buffers of all sockets.
 */
static __attribute__((unused)) char socket_buffers;

static inline __attribute__((unused)) void arrival_watch(int fd)
{
	int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;

	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags));
}

static inline __attribute__((unused)) ssize_t arrival_read(int fd, void *buf, size_t count,
							    uint64_t *stamp)
{
	union {
		struct cmsghdr align;
		char room[512];
	} control;
	struct iovec iov = { buf, count };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &msg, 0);

	if (n <= 0)
		return n;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		struct scm_timestamping t;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPING)
			continue;
		memcpy(&t, CMSG_DATA(c), sizeof(t));
		*stamp = (uint64_t)t.ts[0].tv_sec * 1000000000 + (uint64_t)t.ts[0].tv_nsec;
	}
	return n;
}

/* A request for keys "batch:..." has class "batch", all others have the class of their command. */
static inline __attribute__((unused)) void request_classify(uint64_t id, const char *command)
{
	size_t len = strcspn(command, " ");
	char name[LDB_CLASS_MAX + 1];

	if (!strncmp(command + len, " batch:", 7)) {
		ldb_req_class(id, "batch");
		return;
	}
	len = len < LDB_CLASS_MAX ? len : LDB_CLASS_MAX;
	memcpy(name, command, len);
	name[len] = '\0';
	ldb_req_class(id, name);
}

static inline __attribute__((unused)) void request_begin_arrived(struct request *r, uint64_t stamp,
								  const char *command)
{
	struct timespec now;

	if (!request_is_new(r))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	if (stamp)
		ldb_req_arrived(r->id, &socket_buffers, (uint64_t)now.tv_sec * 1000000000 +
				(uint64_t)now.tv_nsec - stamp);
	ldb_req_start(r->id, stamp ? &socket_buffers : NULL);
	request_classify(r->id, command);
}

#endif
