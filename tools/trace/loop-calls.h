/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the system calls in which event loops wait for events. */
#ifndef TRACE_LOOP_CALLS_H
#define TRACE_LOOP_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool is_loop_call(const char *name)
{
	static const char *const names[] = {
		"epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6",
		"io_uring_enter",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

#endif
