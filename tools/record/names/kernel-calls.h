/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds which system call a thread executes from the return addresses on its kernel stack: each
 * system call is a function of the kernel that has a symbol.
 */
#ifndef RECORD_NAMES_KERNEL_CALLS_H
#define RECORD_NAMES_KERNEL_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define KERNEL_CALL_NONE	(-1)

struct kernel_calls {
	struct kernel_call {
		uint64_t from, to;
		uint32_t nr;	/* LDB_SYSCALL_NR_FAULT: the entry of page faults */
	} *calls;		/* sorted by address */
	size_t nr, room;
};

/* Reads a file like /proc/kallsyms.  Returns false if it shows no addresses of system calls. */
bool kernel_calls_read(struct kernel_calls *k, FILE *symbols);
void kernel_calls_free(struct kernel_calls *k);

/*
 * Returns the number of the system call, LDB_SYSCALL_NR_FAULT, or KERNEL_CALL_NONE.  chain is the
 * stack, innermost address first.
 */
int64_t kernel_calls_find(const struct kernel_calls *k, const uint64_t *chain, size_t nr);

#endif
