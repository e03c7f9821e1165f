/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes CSV as in RFC 4180, with lines ended by a plain newline. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct csv {
	FILE *f;
	bool any;	/* the row has a cell already */
};

void csv_init(struct csv *c, FILE *f);
void csv_string(struct csv *c, const char *value);	/* NULL: empty */
void csv_u64(struct csv *c, uint64_t value);
void csv_i64(struct csv *c, int64_t value);
/* a value that is not finite becomes empty */
void csv_double(struct csv *c, double value);
void csv_hex(struct csv *c, uint64_t value);
void csv_row_end(struct csv *c);

#endif
