/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declares the functions that ldb's own threads use in place of libc, and the lock that they share
 * with the program's threads.  The head of internal.h gives the reason.
 */
#ifndef LDB_RAW_H
#define LDB_RAW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "arch/cpu.h"

#pragma GCC visibility push(hidden)

void *memcpy(void *restrict d, const void *restrict s, size_t n);
void *memset(void *d, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
/* Copies at most n - 1 bytes, and appends a NUL. */
void raw_strcpy(char *d, const char *s, size_t n);
bool raw_str_equal(const char *a, const char *b);
/* Writes v in decimal and a NUL; returns the address of the NUL. */
char *raw_decimal(char *d, uint64_t v);

/* Returns the decimal number in s, or -1 if s contains anything else. */
long raw_number(const char *s);

/*
 * Calls fn with each entry of a directory whose name does not begin with a dot, until fn returns
 * false.  fd is the directory's own descriptor, which appears as an entry of /proc/self/fd.
 * Returns 0, or -errno if entries are missing.
 */
typedef bool raw_entry_fn(void *arg, const char *name, long fd);
long raw_each_entry(const char *path, raw_entry_fn *fn, void *arg);

/*
 * Opens the file /proc/self/task/TID/NAME of a thread, in the file table of the caller.  Returns
 * its descriptor or -errno.
 */
long raw_task_open(uint32_t tid, const char *name);
/*
 * Reads the first size - 1 bytes of such a file and appends a NUL.  Returns the number of bytes, or
 * -errno.
 */
long raw_task_read(uint32_t tid, const char *name, char *buf, size_t size);

/*
 * Maps memory whose pages are not locked, even if the program has called mlockall(MCL_FUTURE).  The
 * memory replaces what is mapped at base, or is mapped anywhere if base is NULL.  Returns the
 * address, or -errno.
 */
long raw_map_unlocked(char *base, uint64_t size, int flags, int fd);
/* Returns memory that costs nothing until it is used and is never freed, or NULL. */
void *raw_map(size_t size);

/*
 * A sleeping lock: 0 is free, 1 is held, 2 is held while others sleep.  A thread that has waited
 * for the lock for more than a millisecond raises the priority of ldb's own threads, because one of
 * them may hold it.
 */
struct raw_lock {
	_Atomic uint32_t word;
};
void raw_lock(struct raw_lock *l);
/*
 * A function that raises the priority of ldb's own threads, for a thread that waits for one of
 * them.  NULL: their priority is never lowered.
 */
extern void (*_Atomic raw_on_wait)(void);
void raw_unlock(struct raw_lock *l);

/* Sleeps while *word == val; at most timeout_ns, 0: no limit. */
void raw_futex_wait(_Atomic uint32_t *word, uint32_t val, uint64_t timeout_ns);
void raw_futex_wake(_Atomic uint32_t *word);
void raw_sleep_ns(uint64_t ns);

/*
 * One of ldb's own threads.  Its thread-local memory is a few zeroed pages, which normally are not
 * used.  All signals are blocked in it.  With own_files it has a separate file table, in which all
 * inherited descriptors are closed, so that its descriptors use no numbers of the program.
 */
struct raw_thread {
	_Atomic uint32_t tid;	/* the kernel clears it when the thread is gone */
	_Atomic uint32_t is_raised;	/* it has normal priority: see runtime/priority.c */
	void *stack;
	void (*fn)(void *);
	void *arg;
	const char *name;
};
int raw_thread_start(struct raw_thread *t, const char *name,
		     void (*fn)(void *), void *arg, bool own_files);
/*
 * Waits until the thread has ended and the kernel has decremented its count of threads.  Returns
 * false if it has not ended after `tries` waits of at most wait_ns each (0: no limit).  Raises the
 * priority of all of ldb's threads, because the one that ends may wait for the others.
 */
bool raw_thread_join(struct raw_thread *t, unsigned tries, uint64_t wait_ns);

#pragma GCC visibility pop
#endif /* LDB_RAW_H */
