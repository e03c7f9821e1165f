/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints a line on stderr that is repeatedly overwritten, if stderr is a terminal.  Messages of
 * cli_error() and similar functions appear above it.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>

void progress_init(bool wanted);
bool progress_is_on(void);
__attribute__((format(printf, 1, 2))) void progress_line(const char *format, ...);
void progress_clear(void);

#endif
