/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what is needed to load a library into a running process: functions of its C library, and
 * the loader's locks.  As in image.h, the process's memory is read, and no file that it names is
 * opened; all values are what the process claims.
 */
#ifndef RECORD_INJECT_LIBC_H
#define RECORD_INJECT_LIBC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "record/process/image.h"

struct libc {
	struct image_id id;		/* the program in which these addresses are valid */
	uint64_t dlopen, dlerror, errno_location;
	bool is_internal;		/* dlopen is an internal function of the C library */
	/* code: a system call and a return; the return from a signal handler */
	uint64_t call, back;
	uint64_t loader_from, loader_to; /* the loader's memory */
	uint64_t locks;			/* the loader's locks, which are adjacent; 0: not found */
	unsigned nr_locks;
};

/* Says whether a library can be loaded, or why not. */
enum libc_found {
	LIBC_FOUND,
	LIBC_UNREADABLE,
	LIBC_OTHER_CPU,		/* a 32-bit program, or one for another CPU */
	LIBC_STATIC,
	LIBC_MUSL,
	LIBC_STRANGE,		/* not a C library that ldb supports */
};

/* tid is a thread of the process that has not ended. */
enum libc_found libc_find(pid_t tid, struct libc *l);

/*
 * Describes the code of the process.  A part is closed if a thread that executes code there, or
 * that was called from there, may hold a lock of an allocator.  All other parts are open.  The
 * loader is open, because its locks can be read, and because the stack of the process's first
 * thread contains old return addresses into it.
 */
#define LIBC_CODE_MAX	256

struct libc_code {
	unsigned nr;
	struct {
		uint64_t from, to;
		bool is_closed;
	} part[LIBC_CODE_MAX];
	uint64_t start;		/* the function that calls main(), or 0 */
};

/* Returns false if there are too many parts. */
bool libc_code_read(pid_t tid, struct libc_code *c);
/*
 * Returns true if a thread with this instruction pointer and stack executes only open parts.  The
 * stack may contain addresses that are left from earlier calls; if these are in closed parts, the
 * result is false, too.
 */
bool libc_is_outside(pid_t tid, const struct libc_code *c, uint64_t at, const uint64_t *stack, size_t nr);

/*
 * Returns the thread that holds a lock of the loader; -1: a thread that is not known holds one; 0:
 * none does, or that is not known.
 */
pid_t libc_loading(pid_t tid, const struct libc *l);

#endif
