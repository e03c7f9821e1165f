/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the machine on which the fuzz target runs the runtime: see runtime-machine.c. */
#ifndef TESTS_FUZZ_RUNTIME_MACHINE_H
#define TESTS_FUZZ_RUNTIME_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * An event happens to a system call of its kind when the given number of these calls have been
 * made; with 0 it never happens.
 */
enum machine_event {
	EVENT_FAIL,		/* mmap and the like, socket, open, clone fail */
	EVENT_SESSION,		/* machine_session_event() is called after it: fstat, fcntl, mmap ... */
	NR_EVENTS
};

struct machine {
	uint64_t ns;			/* the clock */
	uint32_t after[NR_EVENTS];
	uint32_t cpu;			/* the program runs on it */
	uintptr_t tp;			/* the program's thread that runs */
	uint32_t tid;
	unsigned identity;		/* another user if another */
	unsigned uid;			/* of the recorder, as the kernel says; 0: the program's */
	bool undumpable;
	unsigned nr_callers;		/* recorders that want to be let in */
	bool deaf;			/* nobody listens where the runtime calls */
	uint64_t device;		/* inode of the file that stands for /dev/ldb; 0: none */
	bool refuses;			/* the device does not want the program */
	int recorder;			/* its end of the connection; -1: there is none */
	uint64_t session_size;		/* of the last file that was mapped */
	uint32_t nr_sent[16];		/* messages of the runtime, by type */
};
extern struct machine machine;

void machine_reset(void);
/* Unmaps all memory that the runtime has mapped, except stacks and these two. */
void machine_give_back(const void *keep, const void *keep_too);

/* Lets the runtime's control thread run until it waits.  False: it has ended. */
bool machine_control(void);
void machine_scanners(void);

/* Counts the open descriptors of the runtime's threads. */
unsigned machine_nr_fds(void);
unsigned machine_nr_loadavg(void);
unsigned machine_nr_counters(void);

/* These are shared by runtime-machine.c and runtime-threads.c. */
bool machine_fails(void);		/* the call that is made now */
void machine_close_all(void);		/* the control thread's file table goes with it */
void machine_yield(void);		/* whoever let it run goes on */
long machine_sleep(const struct timespec *ts);
long machine_futex(uint32_t *word, long op, uint32_t val, const struct timespec *ts);
void machine_threads_gone(void);	/* ends the run if there is one */

/* runtime-sys.h uses these instead of arch/. */
long machine_call(long nr, long a, long b, long c, long d, long e, long f);
long machine_clone(unsigned long flags, void *stack_top, uint32_t *tid, void (*fn)(void *), void *arg,
		   void *tp);
uint64_t machine_tick(void);		/* the clock goes on by a little */
uintptr_t machine_thread_pointer(void);	/* of the program's thread that runs */
uint32_t machine_cpu(void);
bool machine_is_leaving(void);		/* control_is_leaving(), and lets others run */

/* The machine calls these functions of runtime.c. */
void machine_session_event(void);
void machine_waits(void);		/* the program waits for a thread of ours */
void machine_polls(bool serves);	/* the control thread is about to wait */
void machine_sent(const void *m, size_t size);

#endif
