// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles UTF-8; see utf8.h. */
#include <stddef.h>
#include <string.h>

#include "cli/utf8.h"

/*
 * Returns the length of the UTF-8 sequence at s; 0: not valid.  Sequences are rejected as in RFC
 * 3629: overlong forms, surrogates, numbers beyond U+10FFFF.
 */
unsigned utf8_length(const char *string)
{
	const unsigned char *s = (const unsigned char *)string;
	static const struct {
		unsigned char lead_min, lead_max, second_min, second_max, length;
	} forms[] = {
		{ 0x01, 0x7f, 0, 0, 1 },
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (s[0] < forms[i].lead_min || s[0] > forms[i].lead_max)
			continue;
		if (forms[i].length > 1 &&
		    (s[1] < forms[i].second_min || s[1] > forms[i].second_max))
			return 0;
		for (unsigned k = 2; k < forms[i].length; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

bool utf8_is_control(const char *s, unsigned n)
{
	unsigned char first = s[0];

	return (n == 1 && (first < 0x20 || first == 0x7f)) ||
	       (n == 2 && first == 0xc2 && (unsigned char)s[1] < 0xa0);
}

void utf8_clean(const char *s, char *buf, size_t size)
{
	size_t used = 0;

	while (*s) {
		unsigned n = utf8_length(s);
		bool is_good = n && !utf8_is_control(s, n);
		unsigned bytes = is_good ? n : 1;

		if (used + bytes >= size)
			break;
		if (is_good)
			memmove(buf + used, s, n);
		else
			buf[used] = '?';
		used += bytes;
		s += n ? n : 1;
	}
	buf[used] = '\0';
}

bool utf8_is_valid(const char *s)
{
	while (*s) {
		unsigned n = utf8_length(s);

		if (!n)
			return false;
		s += n;
	}
	return true;
}

char *utf8_copy(const char *s)
{
	char *copy = strdup(s);

	for (char *at = copy; at && *at;) {
		unsigned n = utf8_length(at);

		if (!n)
			*at = '?';
		at += n ? n : 1;
	}
	return copy;
}
