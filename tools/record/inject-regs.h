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
	bool is_redone;			/* by inject_regs_redo() */
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
/* The number of the call in which the thread is, or -1. */
long inject_regs_number(const struct inject_regs *r);

/* What a thread is made to do. */
struct inject_call {
	const struct image_id *id;	/* of the program that has the code */
	uint64_t stack, stack_size;	/* the frame that restores the thread is at its upper end */
	uint64_t entry;
	uint64_t back;			/* to where the code returns; 0: it uses the frame itself */
	bool is_number;			/* the code is one system call: this one */
	long number;
	uint64_t arg[6];
};

/* Builds the frame, and sets what runs next. */
bool inject_regs_enter(pid_t tid, const struct inject_regs *r, const struct inject_call *c);
/* Is the thread about to make the system call that returns from the frame? */
bool inject_regs_leaves(pid_t tid, const struct inject_call *c);
/* Prevents that call. */
bool inject_regs_skip(pid_t tid);

/*
 * Rates the system call of a sleeping thread, from /proc: 0 is the best one to interrupt, greater
 * is worse.  INJECT_NEVER: the thread would notice it.
 */
#define INJECT_NEVER	100
int inject_call_rank(long number);

/* Loading a library */

struct inject_code {
	const void *bytes;
	size_t size;
};
/* In the C library's code: a system call that returns, and the return from a signal handler. */
extern const struct inject_code inject_code_call, inject_code_back;
/*
 * This is put into the process: calls the function of the struct inject_load at its first
 * argument, and dlerror() if that returns 0; leaves errno as it was, and returns from the frame.
 */
struct inject_code inject_code_load(void);

struct inject_load {
	uint64_t errno_location, function;
	uint64_t arg[2], result;
	uint64_t dlerror, error;	/* 0: do not call it; what it returned */
	char path[4096];		/* for an argument */
};

struct inject_where {
	uint64_t code, stack, tls;
};
/* Where a stopped thread is. */
struct inject_where inject_regs_where(const struct inject_regs *r);
/* The bytes below its stack pointer that are in use nevertheless. */
#define INJECT_RED_ZONE	128
/*
 * If the thread is stopped at the exit of a system call in this code: stores what the call
 * returned.
 */
bool inject_regs_returned(pid_t tid, uint64_t code, uint64_t *value);
/* Is a thread that is stopped at a system call about to enter it? */
bool inject_regs_begins(pid_t tid);
/*
 * Postpones the system call that a thread is about to make: its registers are as they were before
 * the call, whatever happens next.  The next stop is at the exit of the call.
 */
bool inject_regs_delay(pid_t tid);
/* Is this a call that no allocator and no loader makes with a lock held? */
bool inject_call_is_outside(long number);
/* Is it a wait for a lock of the C library?  second: the argument of that number. */
bool inject_waits_for_lock(long number, unsigned long second);
/* May these bytes of code end with a call instruction? */
#define INJECT_CALL_BYTES	7
bool inject_ends_with_call(const unsigned char *code);
/* Does the thread use a shadow stack?  The frame would have to be on that, too. */
bool inject_has_shadow_stack(pid_t tid);

#endif
