// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses and prints numbers as users write and read them. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/units.h"

struct unit {
	const char *name;
	double factor;
};

int units_parse_number(const char *s, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	/* The base must not be 0, because then a leading 0 would mean octal. */
	*v = strtoull(s, &end, s[0] == '0' && tolower((unsigned char)s[1]) == 'x' ? 16 : 10);
	if (*end)
		return -EINVAL;
	return errno ? -ERANGE : 0;
}

/* Parses a decimal fraction that is followed by one of the units. */
static int parse(const char *s, const struct unit *units, double *v)
{
	char *end;

	if (!isdigit((unsigned char)*s) && *s != '.')
		return -EINVAL;
	if (s[0] == '0' && tolower((unsigned char)s[1]) == 'x')
		return -EINVAL;
	*v = strtod(s, &end);
	while (*end == ' ')
		end++;
	for (; units->name; units++) {
		if (strcasecmp(end, units->name))
			continue;
		*v *= units->factor;
		return *v < 0x1p63 ? 0 : -ERANGE;
	}
	return -EINVAL;
}

static int parse_whole(const char *s, const struct unit *units, uint64_t *v)
{
	double d = 0;
	int rc = parse(s, units, &d);

	if (!rc)
		*v = d + 0.5;
	return rc;
}

int units_parse_duration(const char *s, uint64_t unit_ns, uint64_t *ns)
{
	const struct unit units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "\xc2\xb5s", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
		{ "min", 60e9 }, { "m", 60e9 }, { "h", 3600e9 },
		{ unit_ns ? "" : NULL, unit_ns }, { NULL, 0 },
	};

	if (!strcmp(s, "0")) {
		*ns = 0;
		return 0;
	}
	return parse_whole(s, units, ns);
}

int units_parse_size(const char *s, uint64_t *bytes)
{
	static const struct unit units[] = {
		{ "", 1 }, { "b", 1 }, { "k", 1 << 10 }, { "m", 1 << 20 }, { "g", 1 << 30 },
		{ "t", 0x1p40 }, { "kib", 1 << 10 }, { "mib", 1 << 20 }, { "gib", 1 << 30 },
		{ "tib", 0x1p40 }, { NULL, 0 },
	};

	return parse_whole(s, units, bytes);
}

int units_parse_percent(const char *s, uint32_t *ppm)
{
	static const struct unit units[] = { { "%", 10000 }, { "", 10000 }, { NULL, 0 } };
	uint64_t v;
	int rc = parse_whole(s, units, &v);

	if (rc)
		return rc;
	if (v > 1000000)
		return -ERANGE;
	*ppm = v;
	return 0;
}

static const char *format(double v, const struct unit *units, char *buf)
{
	const struct unit *u = units;
	double size = v < 0 ? -v : v;
	int digits;

	/* Chooses the next unit already if the number would be rounded up to 1 of that unit. */
	while (u[1].name && size >= u[1].factor * 0.9995)
		u++;
	size /= u->factor;
	digits = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
	if (u->factor == 1 && v == (double)(int64_t)v)
		digits = 0;
	snprintf(buf, UNITS_ROOM, "%.*f%s%s", digits, v / u->factor, *u->name ? " " : "", u->name);
	return buf;
}

const char *units_duration(double ns, char *buf)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 },
	};

	return format(ns, units, buf);
}

const char *units_bytes(uint64_t bytes, char *buf)
{
	static const struct unit units[] = {
		{ "B", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 },
		{ "TiB", 0x1p40 }, { NULL, 0 },
	};

	return format(bytes, units, buf);
}

const char *units_count(uint64_t n, char *buf)
{
	static const struct unit units[] = {
		{ "", 1 }, { "k", 1e3 }, { "M", 1e6 }, { "G", 1e9 }, { "T", 1e12 }, { NULL, 0 },
	};

	return format(n, units, buf);
}
