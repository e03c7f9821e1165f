/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints and reads times of day, which are nanoseconds since 1970 (UTC). */
#ifndef CLI_WALL_H
#define CLI_WALL_H

#include <stdbool.h>
#include <stdint.h>

#define WALL_ROOM	48

/* Writes the local time, "2026-11-22 03:12:07.512345"; returns buf. */
const char *wall_text(int64_t ns, char buf[WALL_ROOM]);

/* Writes "2026-11-22T02:12:07.512345678Z". */
const char *wall_iso(int64_t ns, char buf[WALL_ROOM]);

/*
 * Reads "2026-11-22T03:12:07.5" as a local time; T may be a blank, and Z or an offset (+01:00) may
 * follow.  Or reads "03:12:07.5", on the day of `about`.  The seconds may be omitted.  Returns
 * false if the text is not a time.
 */
bool wall_parse(const char *text, int64_t about, int64_t *ns);

/*
 * As wall_parse(), with `from` as `about`.  A time without a date is taken to be on the day after
 * `from` if it would be before `from` otherwise, and is not after `to` then.  The caller checks
 * whether the result is between `from` and `to`.
 */
bool wall_parse_within(const char *text, int64_t from, int64_t to, int64_t *ns);

#endif
