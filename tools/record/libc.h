/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what is needed to load a library into a running process: functions of its C library, and
 * the loader's locks.  As in image.h, its memory is read and no file that it names is opened;
 * all of it is the process's own claim.
 */
#ifndef RECORD_LIBC_H
#define RECORD_LIBC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "record/image.h"

struct libc {
	struct image_id id;		/* of the program that has it */
	uint64_t dlopen, dlerror, errno_location;
	bool is_internal;		/* dlopen is that of the C library's own use */
	uint64_t call, back;		/* code: a system call that returns; the return from a signal */
	uint64_t loader_from, loader_to; /* the loader's memory */
	uint64_t locks;			/* of the loader, next to each other; 0: not found */
	unsigned nr_locks;
};

/* Whether a library can be loaded, or why not. */
enum libc_found {
	LIBC_FOUND,
	LIBC_UNREADABLE,
	LIBC_OTHER_CPU,		/* the program is of 32 bits, or of another CPU */
	LIBC_STATIC,
	LIBC_MUSL,
	LIBC_STRANGE,		/* no C library that ldb knows */
};

/* tid is a thread of the process that has not ended. */
enum libc_found libc_find(pid_t tid, struct libc *l);

/*
 * Describes the code of the process.  Parts are closed or open.  A thread that executes code of a
 * closed part, or was called from there, may hold a lock of an allocator.  The loader is open,
 * because its locks can be read, and because old return addresses into it are on the stack of each
 * first thread.
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

/* Returns false if there is too much. */
bool libc_code_read(pid_t tid, struct libc_code *c);
/*
 * Is a thread with this instruction pointer and stack only in open parts?  Addresses on the stack
 * may be left from earlier calls; then the answer is false, because it is not known.
 */
bool libc_is_outside(pid_t tid, const struct libc_code *c, uint64_t at, const uint64_t *stack, size_t nr);

/* Returns the thread that is loading a library; 0 if there is none, or it is not known. */
pid_t libc_loading(pid_t tid, const struct libc *l);

#endif
