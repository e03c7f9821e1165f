/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the lines of /proc/kallsyms: "ffffffff81000000 T startup_64", not quite by address. */
#ifndef RECORD_KALLSYMS_H
#define RECORD_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct kallsyms_line {
	uint64_t addr;		/* 0: hidden from this user */
	char type;
	char name[128];
};

/* Returns false at the end.  Lines that are not of this form are left out. */
bool kallsyms_next(FILE *f, struct kallsyms_line *symbol);

#endif
