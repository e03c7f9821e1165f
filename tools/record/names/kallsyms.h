/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads lines of /proc/kallsyms such as "ffffffff81000000 T startup_64", which are not always in
 * order of address.
 */
#ifndef RECORD_NAMES_KALLSYMS_H
#define RECORD_NAMES_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct kallsyms_line {
	uint64_t addr;		/* 0: hidden from this user */
	char type;
	char name[128];
};

/* Returns false at the end.  Skips lines that do not have this form. */
bool kallsyms_next(FILE *f, struct kallsyms_line *symbol);

#endif
