/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses registers of a stopped thread: the part of this directory that depends on the CPU. */
#ifndef RECORD_INJECT_REGS_H
#define RECORD_INJECT_REGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>
#include "record/process/image.h"

#define FPU_MAX	(16 << 10)	/* bytes; AMX needs 11 KiB */

struct inject_regs {
	struct user_regs_struct user;
	uint64_t mask;			/* signal mask */
	bool is_redone;			/* inject_regs_redo() was called */
	size_t fpu_size;
	char fpu[FPU_MAX] __attribute__((aligned(64)));
};

enum inject_place {
	PLACE_SAFE,		/* in user code, or in a call that the kernel restarts */
	/* in a system call that the stop has interrupted, and that must be repeated */
	PLACE_REDO,
	PLACE_SIGNAL,		/* in a system call that a pending signal will interrupt anyway */
	/* in a restartable sequence (rseq), which the kernel does not abort for injected code */
	PLACE_CRITICAL,
	PLACE_FOREIGN,		/* in code that is not 64-bit code */
};

/* Reads the registers of a stopped thread. */
bool inject_regs_get(pid_t tid, struct inject_regs *r);
/* Restores all registers and the signal mask. */
bool inject_regs_put(pid_t tid, const struct inject_regs *r);
enum inject_place inject_regs_place(pid_t tid, const struct inject_regs *r, bool signal_pending);
/* At PLACE_REDO, makes the thread repeat its system call. */
void inject_regs_redo(struct inject_regs *r);
/* Returns the number of the system call in which the thread is, or -1. */
long inject_regs_number(const struct inject_regs *r);

/* A call that a thread is made to execute. */
struct inject_call {
	const struct image_id *id;	/* the program that contains the code */
	/* the frame that restores the registers is at the upper end */
	uint64_t stack, stack_size;
	uint64_t entry;
	/*
	 * the code returns to this address; 0: the code itself uses the frame that restores the
	 * registers
	 */
	uint64_t back;
	/* the code is a system call instruction, whose number is in `number` */
	bool is_number;
	long number;
	uint64_t arg[6];
};

/* Builds the frame, and sets the registers so that the call is executed next. */
bool inject_regs_enter(pid_t tid, const struct inject_regs *r, const struct inject_call *c);
/* Returns true if the thread is about to make the sigreturn system call that uses the frame. */
bool inject_regs_leaves(pid_t tid, const struct inject_call *c);
/* Prevents the system call that the thread is about to make. */
bool inject_regs_skip(pid_t tid);

/*
 * Rates the system call in which a thread sleeps, by its number from /proc: 0 is best to interrupt,
 * greater is worse.  INJECT_NEVER: the thread would notice the interruption.
 */
#define INJECT_NEVER	100
int inject_call_rank(long number);

/* Loading a library */

struct inject_code {
	const void *bytes;
	size_t size;
};
/*
 * Code to search for in the C library: a system call followed by a return, and the return from a
 * signal handler.
 */
extern const struct inject_code inject_code_call, inject_code_back;
/*
 * Code that is written into the process.  Its first argument points to a struct inject_load.  It
 * calls that struct's function, and dlerror() if the function returns 0.  It preserves errno, and
 * returns through the frame that restores the registers.
 */
struct inject_code inject_code_load(void);

struct inject_load {
	uint64_t errno_location, function;
	uint64_t arg[2], result;
	/* dlerror: address of the function, or 0 not to call it; error: its result */
	uint64_t dlerror, error;
	char path[4096];		/* arg[] may point to it */
};

struct inject_where {
	uint64_t code, stack, tls;
};
/* Returns where a stopped thread is. */
struct inject_where inject_regs_where(const struct inject_regs *r);
/* The bytes below the stack pointer that are in use nevertheless. */
#define INJECT_RED_ZONE	128
/* If the thread is stopped at the exit of a system call in this code, stores the call's result. */
bool inject_regs_returned(pid_t tid, uint64_t code, uint64_t *value);
/*
 * Returns true if a thread that is stopped at a system call is about to enter it, and not to leave
 * it.
 */
bool inject_regs_begins(pid_t tid);
/*
 * Postpones the system call that a thread is about to make: sets the registers to those before the
 * call, so that the thread makes it later, whatever happens next.  The next stop is at the exit of
 * the call, which has done nothing.
 */
bool inject_regs_delay(pid_t tid);
/* Returns true for a system call that allocators do not make while they hold a lock. */
bool inject_call_is_outside(long number);
/*
 * Returns true if the system call may be a wait for a lock of the C library.  `second` is its
 * second argument.
 */
bool inject_waits_for_lock(long number, unsigned long second);
/* Returns true if these bytes of code may end with a call instruction. */
#define INJECT_CALL_BYTES	7
bool inject_ends_with_call(const unsigned char *code);
/* Returns true if the thread uses a shadow stack: the frame would have to be on that stack, too. */
bool inject_has_shadow_stack(pid_t tid);

#endif
