/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classifies causes by globs on their names, and has advice for each glob.
 *
 * A file of categories is CSV: `pattern,kind,category,side,advice`.  A line that begins with '#' is
 * a comment.  The first pattern that matches is used.  The user's file is read before the shipped
 * one (categories.csv), which is included in the program.
 *
 * kind is lock or context (another running task), which comprise two states each; another state
 * (states.def); syscall, the system call in which a thread slept; cond, sem, barrier, join, which
 * are waits that another thread ends; or * for all of them.  side says what a cause belongs to:
 * app, library, kernel, neighbour (another program), or nothing.
 */
#ifndef WHY_CATEGORIES_H
#define WHY_CATEGORIES_H

#include "analysis/attribution/states.h"

struct category {
	const char *name, *advice, *side;	/* no string is NULL */
};

struct categories;

/*
 * user_file may be NULL.  After an error, returns NULL, and err has one line; for a wrong line of
 * the file it is "FILE:LINE: what is wrong".  Categories that categories_find() returns are valid
 * until categories_close().
 */
struct categories *categories_open(const char *user_file, char *err, size_t err_size);
void categories_close(struct categories *c);

/*
 * Returns the category of the first rule that matches, or NULL.  kind may be one of
 * leaf_kinds[].name, too: lock_wait and futex_wait are locks, runnable and preempted contexts; a
 * rule for a function also applies to a library call of it ("deflate() of libz.so.1").  A name with
 * a number after it ("worker 4711", "hog (pid 99)") is matched without it as well.
 */
const struct category *categories_find(struct categories *c, const char *kind, const char *name);

/* Returns the kind of a leaf: its name, or for waits without a holder "cond", "sem", ... */
const char *categories_kind(enum leaf_kind kind, unsigned lock_kind);

/* The shipped file. */
const char *categories_shipped(size_t *size);

#endif
