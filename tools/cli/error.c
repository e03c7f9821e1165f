// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints messages to the user.  Each message is one line and one write, so that lines of the
 * recorded program, which shares the terminal, do not get between its characters.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cli/error.h"
#include "cli/progress.h"
#include "cli/utf8.h"

static const char *tool = "ldb";

void cli_set_tool(const char *name)
{
	tool = name;
}

const char *cli_tool_name(void)
{
	return tool;
}

static void print(const char *prefix, const char *format, va_list ap)
{
	char line[4096];
	int n;

	n = *prefix ? snprintf(line, sizeof(line), "%s: %s", tool, prefix + 1) : 0;
	vsnprintf(line + n, sizeof(line) - n, format, ap);
	utf8_clean(line, line, sizeof(line));
	progress_clear();
	fprintf(stderr, "%s\n", line);
	fflush(stderr);
}

void cli_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print(" ", format, ap);
	va_end(ap);
}

void cli_warn(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print(" warning: ", format, ap);
	va_end(ap);
}

void cli_note(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print("", format, ap);
	va_end(ap);
}

bool cli_flush(void)
{
	bool failed = ferror(stdout);

	if (fflush(stdout) || failed) {
		if (errno != EPIPE)
			cli_error("cannot write the output: %s", strerror(errno));
		return false;
	}
	return true;
}
