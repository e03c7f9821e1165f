/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints messages to the user: one line each on stderr, "tool: what is wrong: what to do".  The
 * exit codes are those of all tools, but ldb-record returns the status of a command that it has
 * started.
 */
#ifndef CLI_ERROR_H
#define CLI_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

enum cli_exit {
	CLI_OK		= 0,
	CLI_FAILURE	= 1,
	CLI_USAGE	= 2,
	CLI_DAMAGED	= 3,	/* the trace is damaged; what could be read was shown */
	CLI_SLOWER	= 4,	/* the condition of ldb-why --fail-if is true */
};

void cli_set_tool(const char *name);
const char *cli_tool_name(void);

/* '?' is shown for control characters in the text, and for bytes that are not UTF-8. */
__attribute__((format(printf, 1, 2))) void cli_error(const char *format, ...);
__attribute__((format(printf, 1, 2))) void cli_warn(const char *format, ...);

/* Prints one more line, without the tool's name. */
__attribute__((format(printf, 1, 2))) void cli_note(const char *format, ...);

/*
 * Flushes stdout; returns true if everything was written.  Otherwise prints an error, unless a pipe
 * was closed, and returns false; then the tool must fail.  Must be called before exit.
 */
bool cli_flush(void);

#endif
