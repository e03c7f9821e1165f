/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses the registers of a stopped thread: the part of inject.c that depends on the CPU. */
#ifndef RECORD_INJECT_REGS_H
#define RECORD_INJECT_REGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>
#include "record/image.h"

#define FPU_MAX	(16 << 10)	/* with AMX: 11 KB */

struct inject_regs {
	struct user_regs_struct user;
	uint64_t mask;			/* signals */
	size_t fpu_size;
	char fpu[FPU_MAX] __attribute__((aligned(64)));
};

enum inject_place {
	PLACE_SAFE,		/* in user code, or in a call that the kernel restarts */
	PLACE_REDO,		/* a call that the stop has ended, to be repeated */
	PLACE_SIGNAL,		/* a call that a signal is about to end as well */
	PLACE_CRITICAL,		/* in a restartable sequence, which must not be left */
	PLACE_FOREIGN,		/* not 64-bit code */
};

/* Reads the registers of a stopped thread. */
bool inject_regs_get(pid_t tid, struct inject_regs *r);
/* Restores all of them, and the signal mask. */
bool inject_regs_put(pid_t tid, const struct inject_regs *r);
enum inject_place inject_regs_place(pid_t tid, const struct inject_regs *r, bool signal_pending);
/* At PLACE_REDO, makes the thread repeat the call. */
void inject_regs_redo(struct inject_regs *r);
/* Builds the frame on the door's stack, and sets the registers for the door's code. */
bool inject_regs_enter(pid_t tid, const struct inject_regs *r, const struct ldb_door *door);
/* Is the thread about to make the call that ends its visit? */
bool inject_regs_leaves(pid_t tid, const struct ldb_door *door);
/* Prevents that call. */
bool inject_regs_skip(pid_t tid);

/*
 * Rates the system call of a sleeping thread, from /proc: 0 is the best one to interrupt, greater
 * is worse.  INJECT_NEVER: the thread would notice it.
 */
#define INJECT_NEVER	100
int inject_call_rank(long number);

#endif
