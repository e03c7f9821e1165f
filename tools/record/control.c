// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages to and from the runtime.  What comes in is checked here, once: type,
 * size, and that every string ends.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include "record/record.h"

static size_t message_size(unsigned type)
{
	switch (type) {
	case LDB_MSG_HELLO:
		return sizeof(struct ldb_msg_hello);
	case LDB_MSG_ATTACH:
		return sizeof(struct ldb_msg_attach);
	case LDB_MSG_ATTACHED:
		return sizeof(struct ldb_msg_attached);
	case LDB_MSG_ERROR:
	case LDB_MSG_TEXT:
		return sizeof(struct ldb_msg_text);
	case LDB_MSG_MODULE:
		return sizeof(struct ldb_msg_module);
	case LDB_MSG_UNLOADED:
		return sizeof(struct ldb_msg_unloaded);
	case LDB_MSG_LEAVING:
		return sizeof(struct ldb_msg_leaving);
	case LDB_MSG_READY:
	case LDB_MSG_RESUME:
	case LDB_MSG_DETACH:
	case LDB_MSG_DETACHED:
		return sizeof(struct ldb_msg);
	default:
		return 0;
	}
}

int control_send(int sock, union control_message *m, unsigned type, int fd)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .h = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { m, message_size(type) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	m->m.type = type;
	m->m.size = iov.iov_len;
	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.h), &fd, sizeof(fd));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int control_receive(int sock, union control_message *m)
{
	ssize_t n;

	/* Descriptors nobody asked for are not taken: there is no room for them. */
	do
		n = recv(sock, m, sizeof(*m), MSG_DONTWAIT | MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -ECONNRESET;
	if (!n)
		return -ECONNRESET;
	if (n > (ssize_t)sizeof(*m) || n < (ssize_t)sizeof(m->m) || m->m.size != n ||
	    message_size(m->m.type) != (size_t)n)
		return -EPROTO;
	switch (m->m.type) {
	case LDB_MSG_HELLO:
		m->hello.release[sizeof(m->hello.release) - 1] = '\0';
		break;
	case LDB_MSG_ERROR:
	case LDB_MSG_TEXT:
		m->text.text[sizeof(m->text.text) - 1] = '\0';
		break;
	case LDB_MSG_LEAVING:
		m->leaving.text[sizeof(m->leaving.text) - 1] = '\0';
		break;
	case LDB_MSG_MODULE:
		m->module.path[sizeof(m->module.path) - 1] = '\0';
		break;
	}
	return 1;
}

bool control_peer(int sock, pid_t *pid, uid_t *uid)
{
	struct ucred c;
	socklen_t size = sizeof(c);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &c, &size))
		return false;
	*pid = c.pid;
	*uid = c.uid;
	return true;
}
