// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the progress line; see progress.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "cli/progress.h"

static bool on, shown;

void progress_init(bool wanted)
{
	on = wanted && isatty(STDERR_FILENO);
}

bool progress_is_on(void)
{
	return on;
}

/* Lines are cut at this width, because a line that wraps could not be erased. */
static size_t terminal_width(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_col < 20)
		return 79;
	return w.ws_col - 1;
}

void progress_line(const char *format, ...)
{
	char line[512];
	size_t width;
	va_list ap;

	if (!on)
		return;
	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	width = terminal_width();
	if (strlen(line) > width)
		line[width] = '\0';
	fprintf(stderr, "\r%s\033[K", line);
	fflush(stderr);
	shown = true;
}

void progress_clear(void)
{
	if (!shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	shown = false;
}
