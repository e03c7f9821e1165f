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

#include <stdbool.h>
#include <sys/types.h>
#include "record/image.h"
#include "record/libc.h"

enum inject_end {
	INJECT_OK,
	INJECT_FAILED,		/* one line was printed */
	/*
	 * The process has executed another program since it was read, and was left alone: nothing
	 * was printed.
	 */
	INJECT_ANOTHER,
};

/*
 * name is that of the socket on which the caller listens.  The calling thread becomes a tracer for
 * that time: meanwhile children that stop or end must not be waited for elsewhere.
 */
enum inject_end inject_enter(pid_t pid, const struct image *image, const char *name);

/*
 * Makes a thread of a process without the runtime load it.  The path is that of the file as the
 * process sees it.  Apart from this, the thread is not disturbed, as described above.
 */
enum inject_end inject_load(pid_t pid, const struct libc *libc, const struct libc_code *code,
			    const char *library);
/*
 * Makes each thread of the process register itself with the loaded runtime, if it can be stopped
 * for that.
 */
void inject_adopt(pid_t pid, const struct libc *libc, const struct libc_code *code);

/*
 * While the recording runs: has one of its threads begin to follow calls between modules.
 * meanwhile is called again and again until that is done.
 */
enum inject_end inject_flows(pid_t pid, const struct libc *libc, const struct libc_code *code,
			     void (*meanwhile)(void *arg), void *arg);

/*
 * Are all its threads under seccomp filters that do not apply to the recorder?  These do not
 * know ldb, and the first system call of a visit could kill the program.
 */
bool inject_is_filtered(pid_t pid);

/* Says that the process has ended, if it has: then what could not be done there is of no interest. */
bool inject_say_ended(pid_t pid);

#endif
