/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds out whether the runtime can be loaded into a program file; see exec-file.c. */
#ifndef LDB_EXEC_H
#define LDB_EXEC_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

#define EXEC_PATH_MAX	1024

/*
 * Returns true if the runtime can be loaded into the program, or into the interpreter of the
 * script.
 */
bool exec_takes_runtime(const char *path);
/*
 * Does the same as exec_takes_runtime() for a name, which, if it has no slash, is searched for in
 * the directories `dirs`; NULL: "/bin:/usr/bin".
 */
bool exec_takes_runtime_in(const char *dirs, const char *name);

#pragma GCC visibility pop
#endif /* LDB_EXEC_H */
