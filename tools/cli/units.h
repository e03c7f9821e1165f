/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses and prints numbers as users write them: "10ms", "64M", "5%". */
#ifndef CLI_UNITS_H
#define CLI_UNITS_H

#include <stdint.h>

/* Return 0; -EINVAL if the whole string is not such a number, with its unit; or -ERANGE. */
int units_parse_number(const char *s, uint64_t *v);
int units_parse_duration(const char *s, uint64_t unit_ns, uint64_t *ns);
int units_parse_size(const char *s, uint64_t *bytes);
int units_parse_percent(const char *s, uint32_t *ppm);

#define UNITS_ROOM	32

/*
 * Print three significant digits: "1.24 ms", "64.0 MiB", "12.3 M"; whole numbers of the smallest
 * unit without a fraction: "5 ns".  buf has UNITS_ROOM bytes.
 */
const char *units_duration(double ns, char *buf);
const char *units_bytes(uint64_t bytes, char *buf);
const char *units_count(uint64_t n, char *buf);

#endif
