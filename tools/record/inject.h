/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends a thread of a running process through the runtime's door (ldb/control.h) and
 * brings it back to where it was.  One thread is stopped, for a millisecond or so.
 *
 * Left as it was: registers, also of the FPU; signal mask; pending signals, which are
 * delivered afterwards; a system call, which is restarted, with its whole timeout if it
 * has one that the kernel does not remember (epoll_wait()).
 */
#ifndef RECORD_INJECT_H
#define RECORD_INJECT_H

#include <sys/types.h>
#include "record/image.h"

/*
 * name: of the socket on which the caller listens.  False: one line was printed.  The
 * thread that calls becomes a tracer for that time: children that stop or end are not
 * to be waited for elsewhere meanwhile.
 */
bool inject_enter(pid_t pid, const struct image *image, const char *name);

/*
 * All its threads are under seccomp filters that we are not under: these were written
 * without ldb in mind, and the first system call of a visit could kill the program.
 */
bool inject_is_filtered(pid_t pid);

#endif
