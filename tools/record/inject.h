/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a thread of a running process execute the runtime's door (ldb/control.h) and return to
 * where it was.  One thread is stopped, for a millisecond or so.
 *
 * These are unchanged afterwards: registers, also of the FPU; signal mask; pending signals,
 * which are delivered afterwards; a system call, which is restarted, with its whole timeout if
 * it has one that the kernel does not remember (epoll_wait()).
 */
#ifndef RECORD_INJECT_H
#define RECORD_INJECT_H

#include <sys/types.h>
#include "record/image.h"

/*
 * name is that of the socket on which the caller listens.  If it returns false, one line was
 * printed.  The calling thread becomes a tracer for that time: meanwhile children that stop or
 * end must not be waited for elsewhere.
 */
bool inject_enter(pid_t pid, const struct image *image, const char *name);

/*
 * Are all its threads under seccomp filters that do not apply to the recorder?  These filters may
 * not permit ldb's system calls, and could kill the program.
 */
bool inject_is_filtered(pid_t pid);

#endif
