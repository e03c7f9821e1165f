/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the log that crowded.c writes: for each thread a head, its calls and its waits. */
#ifndef CROWDED_H
#define CROWDED_H

#include <stdint.h>

#define CROWDED_MAGIC		0x64776f7243424cULL
#define CROWDED_CALLS_MAX	(1U << 19)
#define CROWDED_WAITS_MAX	(1U << 17)
#define CROWDED_NONE		UINT32_MAX

struct crowded_head {
	uint64_t magic;
	uint32_t tid, nr_calls, nr_waits, pad;
};

struct crowded_call {
	uint64_t gen;
	uint64_t function;
	uint64_t begin, end;	/* TSC: after the function was entered, before it returned */
	uint32_t parent;	/* number of the calling call, or CROWDED_NONE */
	uint32_t nr_switches;	/* switches of the thread during the call */
};

struct crowded_wait {
	uint64_t begin, end;
	uint32_t call, pad;
};

#endif
