/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the recorder yield to the program: at SCHED_IDLE it runs while no other task needs its
 * CPU, and a task that wakes preempts it at once.
 *
 * It does not yield while the program waits for it: for an answer, or because rings are nearly
 * full.  A small thread of normal priority, the watcher, also polls the descriptors.  It raises the
 * recorder when an event comes, or when the recorder has not run for a long time.
 *
 * The thread that records calls all of this.  It has no effect where the recorder could not be
 * raised again (that takes CAP_SYS_NICE or RLIMIT_NICE), where it was not started at
 * SCHED_OTHER, and where the user has pinned the scanner.
 */
#ifndef RECORD_GIVEWAY_H
#define RECORD_GIVEWAY_H

#include <stdbool.h>
#include <sys/types.h>

struct giveway;

/*
 * fds are further descriptors to poll, -1: none.  The calling thread leaves isolated and nohz_full
 * CPUs until it ends.  NULL: its priority is not changed.
 */
struct giveway *giveway_begin(const int *fds, unsigned nr);
/* Ends it: the thread has normal priority again. */
void giveway_end(struct giveway *g);

/*
 * Lowers the calling thread if is_low, else raises it.  It must be called before each wait for
 * something to do.  sock is the connection to the program, or -1.
 */
void giveway_turn(struct giveway *g, int sock, bool is_low);
/* Call it when an event has come. */
void giveway_hurry(struct giveway *g);

/* Call it in the middle of work: a task that waits for this CPU runs first.  g may be NULL. */
void giveway_rest(const struct giveway *g);

/* Raises the runtime's threads in the program, which have yielded, so that they can answer. */
void giveway_raise_runtime(const struct giveway *g, pid_t pid);

#endif
