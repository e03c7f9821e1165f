/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the system call that a thread is in among the return addresses on its kernel stack: each
 * call is a function of the kernel, with a symbol.
 */
#ifndef RECORD_KERNEL_CALLS_H
#define RECORD_KERNEL_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define KERNEL_CALL_NONE	(-1)

struct kernel_calls {
	struct kernel_call {
		uint64_t from, to;
		uint32_t nr;	/* LDB_SYSCALL_NR_FAULT: where page faults come in */
	} *calls;		/* by address */
	size_t nr, room;
};

/* Reads /proc/kallsyms, or what looks like it.  Returns false if it shows no addresses of calls. */
bool kernel_calls_read(struct kernel_calls *k, FILE *symbols);
void kernel_calls_free(struct kernel_calls *k);

/* Returns the call's number, that of a fault, or KERNEL_CALL_NONE; chain: innermost first. */
int64_t kernel_calls_find(const struct kernel_calls *k, const uint64_t *chain, size_t nr);

#endif
