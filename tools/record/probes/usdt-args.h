/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads from the note of a USDT probe where its arguments are: "8@%rdi -4@-20(%rbp) 8@$5". */
#ifndef RECORD_PROBES_USDT_ARGS_H
#define RECORD_PROBES_USDT_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#define USDT_FETCH_MAX	64

struct usdt_arg {
	/* in the syntax of the kernel's probes, without a type: "-20(%bp)" */
	char fetch[USDT_FETCH_MAX];
	unsigned size;			/* size of the argument: 1, 2, 4 or 8 bytes */
	bool is_signed;
};

/*
 * Finds argument nr, counted from 1.  If it returns false, `why` contains the reason in one line.
 */
bool usdt_arg_parse(const char *args, unsigned nr, struct usdt_arg *arg, char *why, size_t why_size);

#endif
