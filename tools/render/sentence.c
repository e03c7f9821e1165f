// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>

#include "render/sentence.h"

void say(struct sentence *s, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(s->buf + s->used, s->size - s->used, format, ap);
	va_end(ap);
	if (n > 0)
		s->used = s->used + n < s->size ? s->used + n : s->size - 1;
}
