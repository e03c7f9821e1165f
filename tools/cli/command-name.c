// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names the socket for commands.  Containers may share a network namespace, so the name contains
 * the pid namespace.
 */
#include "cli/command-name.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

/* inode of the pid namespace, and pid in this namespace */
#define COMMAND_NAME	"ldb-command-%llu-%d"

socklen_t command_name(pid_t pid, struct sockaddr_un *sa)
{
	struct stat st = { .st_ino = 0 };
	int n;

	stat("/proc/self/ns/pid", &st);
	*sa = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(sa->sun_path + 1, sizeof(sa->sun_path) - 1, COMMAND_NAME,
		     (unsigned long long)st.st_ino, pid);
	return offsetof(struct sockaddr_un, sun_path) + 1 + n;
}
