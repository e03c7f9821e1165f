// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes and reads times of day; see wall.h. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "cli/wall.h"

#define SECOND_NS	1000000000LL
#define DAY_NS		(86400 * SECOND_NS)

static int64_t whole_seconds(int64_t ns)
{
	return ns / SECOND_NS - (ns % SECOND_NS < 0);
}

/* Returns the nanoseconds since the last whole second; they are not negative, even before 1970. */
static int rest_ns(int64_t ns)
{
	int64_t rest = ns % SECOND_NS;

	return rest < 0 ? rest + SECOND_NS : rest;
}

const char *wall_text(int64_t ns, char buf[WALL_ROOM])
{
	time_t s = whole_seconds(ns);
	struct tm tm;
	size_t n = localtime_r(&s, &tm) ? strftime(buf, WALL_ROOM, "%Y-%m-%d %H:%M:%S", &tm) : 0;

	snprintf(buf + n, WALL_ROOM - n, ".%06d", rest_ns(ns) / 1000);
	return buf;
}

const char *wall_iso(int64_t ns, char buf[WALL_ROOM])
{
	time_t s = whole_seconds(ns);
	struct tm tm;
	size_t n = gmtime_r(&s, &tm) ? strftime(buf, WALL_ROOM, "%Y-%m-%dT%H:%M:%S", &tm) : 0;

	snprintf(buf + n, WALL_ROOM - n, ".%09dZ", rest_ns(ns));
	return buf;
}

/* Reads exactly nr digits. */
static bool read_digits(const char **at, unsigned nr, int *value)
{
	*value = 0;
	for (; nr; nr--, (*at)++) {
		if (**at < '0' || **at > '9')
			return false;
		*value = *value * 10 + (**at - '0');
	}
	return true;
}

static bool read_char(const char **at, const char *any)
{
	if (!**at || !strchr(any, **at))
		return false;
	(*at)++;
	return true;
}

static bool read_fraction(const char **at, int64_t *ns)
{
	int64_t unit = SECOND_NS / 10;

	for (*ns = 0; **at >= '0' && **at <= '9'; (*at)++, unit /= 10)
		*ns += unit * (**at - '0');
	return true;
}

static bool read_clock(const char **at, struct tm *tm, int64_t *fraction)
{
	if (!read_digits(at, 2, &tm->tm_hour) || !read_char(at, ":") ||
	    !read_digits(at, 2, &tm->tm_min) || tm->tm_hour > 23 || tm->tm_min > 59)
		return false;
	tm->tm_sec = 0;
	*fraction = 0;
	if (!read_char(at, ":"))
		return true;
	if (!read_digits(at, 2, &tm->tm_sec) || tm->tm_sec > 60)
		return false;
	return !read_char(at, ".,") || read_fraction(at, fraction);
}

/* Reads "2026-11-22T"; the T may be a blank. */
static bool read_day(const char **at, struct tm *tm)
{
	int year, month;

	if (!read_digits(at, 4, &year) || !read_char(at, "-") || !read_digits(at, 2, &month) ||
	    !read_char(at, "-") || !read_digits(at, 2, &tm->tm_mday) || !read_char(at, "T ") ||
	    month < 1 || month > 12 || tm->tm_mday < 1 || tm->tm_mday > 31)
		return false;
	tm->tm_year = year - 1900;
	tm->tm_mon = month - 1;
	return true;
}

/* Reads "Z", "+01:00" or "+0100".  If there is none of these, the time is local. */
static bool read_zone(const char *at, struct tm *tm, int64_t *seconds)
{
	int sign = *at == '-' ? -1 : 1, hours, minutes;

	if (!*at) {
		*seconds = mktime(tm);
		return true;
	}
	*seconds = timegm(tm);
	if (read_char(&at, "Zz"))
		return !*at;
	if (!read_char(&at, "+-") || !read_digits(&at, 2, &hours))
		return false;
	read_char(&at, ":");
	if (!read_digits(&at, 2, &minutes))
		return false;
	*seconds -= sign * (hours * 3600 + minutes * 60);
	return !*at;
}

bool wall_parse(const char *text, int64_t about, int64_t *ns)
{
	time_t day = whole_seconds(about);
	int64_t fraction, seconds;
	struct tm tm = { 0 };

	if (strlen(text) > 4 && text[4] == '-') {
		if (!read_day(&text, &tm))
			return false;
	} else {
		struct tm of_day;

		if (!localtime_r(&day, &of_day))
			return false;
		tm.tm_year = of_day.tm_year;
		tm.tm_mon = of_day.tm_mon;
		tm.tm_mday = of_day.tm_mday;
	}
	tm.tm_isdst = -1;
	if (!read_clock(&text, &tm, &fraction) || !read_zone(text, &tm, &seconds))
		return false;
	return !__builtin_mul_overflow(seconds, SECOND_NS, ns) && !__builtin_add_overflow(*ns, fraction, ns);
}

bool wall_parse_within(const char *text, int64_t from, int64_t to, int64_t *ns)
{
	int64_t later, next_day;

	if (!wall_parse(text, from, ns))
		return false;
	if (*ns < from && !__builtin_add_overflow(from, DAY_NS, &next_day) && wall_parse(text, next_day, &later) &&
	    later >= from && later <= to)
		*ns = later;
	return true;
}
