/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line on stderr that is written over again and again; only if stderr is a
 * terminal.  Everything that cli_error() and its like print appears above it.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>

void progress_init(bool wanted);
bool progress_is_on(void);
__attribute__((format(printf, 1, 2))) void progress_line(const char *format, ...);
void progress_clear(void);

#endif
