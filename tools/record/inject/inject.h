/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a thread of a running process call the runtime's entry function (ldb/control.h) and return
 * to where it was.  The thread is stopped for about a millisecond.
 *
 * All of the following are restored: registers, including those of the FPU; the signal mask;
 * pending signals, which are delivered afterwards; the system call in progress, which is restarted.
 * Calls whose remaining timeout the kernel does not store (epoll_wait()) are restarted with the
 * whole timeout.
 */
#ifndef RECORD_INJECT_INJECT_H
#define RECORD_INJECT_INJECT_H

#include <stdbool.h>
#include <sys/types.h>
#include "record/inject/libc.h"
#include "record/process/image.h"

enum inject_end {
	INJECT_OK,
	INJECT_FAILED,		/* one line was printed */
	/*
	 * The process has executed another program since it was read, and was not changed.  Nothing
	 * was printed.
	 */
	INJECT_ANOTHER,
};

/*
 * `name` is the name of the socket on which the caller listens.  A child process traces the
 * thread, so nothing else in this process may wait for children during this call.
 */
enum inject_end inject_enter(pid_t pid, const struct image *image, const char *name);

/*
 * Makes a thread of a process load the runtime.  `library` is the path of the file as the process
 * sees it.  The thread is restored as described above.
 */
enum inject_end inject_load(pid_t pid, const struct libc *libc, const struct libc_code *code,
			    const char *library);
/*
 * Makes each thread of the process register itself with the loaded runtime, if it can be stopped
 * for that.
 */
void inject_adopt(pid_t pid, const struct libc *libc, const struct libc_code *code);

/*
 * Makes a thread of a recorded process begin to follow calls between modules.  meanwhile() is
 * called repeatedly until that is done.
 */
enum inject_end inject_flows(pid_t pid, const struct libc *libc, const struct libc_code *code,
			     void (*meanwhile)(void *arg), void *arg);

/*
 * Returns true if each thread of the process has more seccomp filters than the recorder.  The
 * additional ones do not expect ldb's system calls, the first of which could kill the program.
 */
bool inject_is_filtered(pid_t pid);

/*
 * Called when an operation on the process has failed: if the process has ended, prints that and
 * returns true.
 */
bool inject_say_ended(pid_t pid);

#endif
