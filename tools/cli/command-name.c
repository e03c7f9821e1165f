// SPDX-License-Identifier: GPL-2.0-or-later
/* Names the socket for commands: two containers may share a network, so the name has the namespace. */
#include "cli/command-name.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

/* inode of the namespace of process numbers; number of the process in it */
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
