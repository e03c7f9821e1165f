// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sends messages to the runtime and receives its messages.  Of the latter, type and size are
 * checked here, and the text (messages[].text_end) gets an end.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include "record/launch/control.h"

/* For an unknown type all members are 0. */
static const struct message {
	size_t size;
	size_t text_end;	/* end of the string in a message that has one */
} messages[] = {
#define TEXT(type, text)	{ sizeof(type), offsetof(type, text) + sizeof(((type *)0)->text) }
	[LDB_MSG_HELLO] = TEXT(struct ldb_msg_hello, release),
	[LDB_MSG_ATTACH] = { sizeof(struct ldb_msg_attach) },
	[LDB_MSG_TUNE] = { sizeof(struct ldb_msg_tune) },
	[LDB_MSG_COMMAND] = TEXT(struct ldb_msg_command, text),
	[LDB_MSG_CHILD] = TEXT(struct ldb_msg_child, name),
	[LDB_MSG_FLOWS] = { sizeof(struct ldb_msg_flows) },
	[LDB_MSG_ATTACHED] = { sizeof(struct ldb_msg_attached) },
	[LDB_MSG_ERROR] = TEXT(struct ldb_msg_text, text),
	[LDB_MSG_TEXT] = TEXT(struct ldb_msg_text, text),
	[LDB_MSG_MODULE] = TEXT(struct ldb_msg_module, path),
	[LDB_MSG_UNLOADED] = { sizeof(struct ldb_msg_unloaded) },
	[LDB_MSG_BLOCKS] = { sizeof(struct ldb_msg_blocks) },
	[LDB_MSG_LEAVING] = TEXT(struct ldb_msg_leaving, text),
	[LDB_MSG_READY] = { sizeof(struct ldb_msg) },
	[LDB_MSG_RESUME] = { sizeof(struct ldb_msg) },
	[LDB_MSG_DETACH] = { sizeof(struct ldb_msg) },
	[LDB_MSG_DETACHED] = { sizeof(struct ldb_msg) },
#undef TEXT
};

static const struct message *message_of(unsigned type)
{
	return &messages[type < sizeof(messages) / sizeof(messages[0]) ? type : 0];
}

int control_send(int sock, union control_message *m, unsigned type, int fd)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .h = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { m, message_of(type)->size };
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
	const struct message *is;
	ssize_t n;

	/* Unexpected descriptors are dropped: there is no room for them. */
	do
		n = recv(sock, m, sizeof(*m), MSG_DONTWAIT | MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -ECONNRESET;
	if (!n)
		return -ECONNRESET;
	if (n > (ssize_t)sizeof(*m) || n < (ssize_t)sizeof(m->m) || m->m.size != n)
		return -EPROTO;
	is = message_of(m->m.type);
	if (is->size != (size_t)n)
		return -EPROTO;
	if (is->text_end)
		((char *)m)[is->text_end - 1] = '\0';
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
