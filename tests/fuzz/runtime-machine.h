/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the machine on which the fuzz target runs the runtime: see runtime-machine.c. */
#ifndef TESTS_FUZZ_RUNTIME_MACHINE_H
#define TESTS_FUZZ_RUNTIME_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * An event happens at the Nth of the system calls that it concerns, where N is its number in
 * machine.after[]; with 0 it never happens.
 */
enum machine_event {
	EVENT_FAIL,		/* the call fails: mmap and the like, socket, open, clone */
	/*
	 * machine_session_event() is called after the call, which concerns the session's memory
	 * (fstat, fcntl, mmap ...)
	 */
	EVENT_SESSION,
	NR_EVENTS
};

struct machine {
	uint64_t ns;			/* time of the clock */
	uint32_t after[NR_EVENTS];
	uint32_t cpu;			/* CPU on which the program runs */
	uintptr_t tp;			/* the running thread of the program */
	uint32_t tid;
	/* selects the contents of files of /proc and /sys, such as the user id */
	unsigned identity;
	/* user id of the recorder, as the kernel reports it; 0: the same as the program's */
	unsigned uid;
	bool undumpable;
	unsigned nr_callers;		/* number of recorders that try to connect */
	/* nobody listens on the socket to which the runtime connects */
	bool deaf;
	uint64_t device;		/* inode of the file that stands for /dev/ldb; 0: none */
	bool refuses;			/* the device refuses the program */
	/* the recorder's end of the connection; -1: there is none */
	int recorder;
	uint64_t session_size;		/* size of the last shared mapping */
	uint32_t nr_sent[16];		/* messages of the runtime, by type */
};
extern struct machine machine;

void machine_reset(void);
/* Unmaps all memory that the runtime has mapped, except stacks and these two mappings. */
void machine_give_back(const void *keep, const void *keep_too);

/* Lets the runtime's control thread run until it waits.  Returns false if the thread has ended. */
bool machine_control(void);
void machine_scanners(void);

/* Counts the open descriptors of the runtime's threads. */
unsigned machine_nr_fds(void);
unsigned machine_nr_loadavg(void);
unsigned machine_nr_counters(void);

/* These are shared by runtime-machine.c and runtime-threads.c. */
bool machine_fails(void);		/* true: the system call that is being made must fail */
/* closes all descriptors of the runtime's threads */
void machine_close_all(void);
void machine_yield(void);		/* lets the coroutine continue that has resumed this one */
long machine_sleep(const struct timespec *ts);
long machine_futex(uint32_t *word, long op, uint32_t val, const struct timespec *ts);
/* ends the program if a thread of the runtime has not ended */
void machine_threads_gone(void);

/* runtime-sys.h uses these instead of arch/. */
long machine_call(long nr, long a, long b, long c, long d, long e, long f);
long machine_clone(unsigned long flags, void *stack_top, uint32_t *tid, void (*fn)(void *), void *arg,
		   void *tp);
uint64_t machine_tick(void);		/* advances the clock a little */
uintptr_t machine_thread_pointer(void);	/* the program's running thread */
uint32_t machine_cpu(void);
/* does what control_is_leaving() does, and lets other threads run */
bool machine_is_leaving(void);

/* The machine calls these functions of runtime.c. */
void machine_session_event(void);
void machine_waits(void);		/* called when the program waits for one of ldb's threads */
void machine_polls(bool serves);	/* called when the control thread is about to wait */
void machine_sent(const void *m, size_t size);

#endif
