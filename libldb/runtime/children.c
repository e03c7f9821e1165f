// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Announces this process to the recorder of the first process: see LDB_MSG_CHILD in ldb/control.h.
 *
 * A child of fork() starts its control thread, which sends the announcement, and continues at once.
 * A program that is executed finds the recorder's name in its environment, to which runtime/exec.c
 * has added it.  An uninstrumented program only sends its name, from its first thread, and does not
 * wait.
 *
 * A fork child has the parent's values of the variables of this file.  They are empty in a program
 * that is recorded without its children, and in one that is not recorded.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "runtime.h"

DORMANT_PAGE struct children children;

void children_set(const char *name, const char *secret)
{
	raw_strcpy(children.secret, secret, sizeof(children.secret));
	raw_strcpy(children.recorder, *secret ? name : "", sizeof(children.recorder));
}

void children_forget(void)
{
	children.recorder[0] = 0;
	children.how = 0;
}

void children_message(struct ldb_msg_child *m, uint32_t how)
{
	memset(m, 0, sizeof(*m));
	m->m.type = LDB_MSG_CHILD;
	m->m.size = sizeof(*m);
	m->how = how;
	m->parent = sys(SYS_getppid);
	raw_strcpy(m->secret, children.secret, sizeof(m->secret));
	if (raw_task_read(sys(SYS_getpid), "comm", m->name, sizeof(m->name)) > 0)
		for (char *c = m->name; *c; c++)
			if (*c == '\n')
				*c = 0;
}

/*
 * Announces an uninstrumented program.  If the recorder is stopped, or too busy to accept one more
 * connection, the recorder does not learn of the program.
 */
void children_say_plain(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct ldb_msg_child m;
	int fd, len;

	if (!children_wanted())
		return;
	fd = sys(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	raw_strcpy(sa.sun_path + 1, children.recorder, sizeof(sa.sun_path) - 1);
	len = __builtin_offsetof(struct sockaddr_un, sun_path) + 1 + strlen(sa.sun_path + 1);
	if (!sys(SYS_connect, fd, &sa, len)) {
		children_message(&m, LDB_CHILD_PLAIN);
		sys(SYS_sendto, fd, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
	}
	sys(SYS_close, fd);
}
