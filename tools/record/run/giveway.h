/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the recorder yield to the program: at SCHED_IDLE the recorder runs only while no other task
 * needs its CPU, and a task that wakes up preempts it at once.
 *
 * The recorder does not yield while the program waits for an answer, or while rings are nearly
 * full.  A small thread of normal priority, the watcher, also polls the descriptors.  The watcher
 * raises the recorder's priority when an event arrives, or when the recorder has not run for a long
 * time.
 *
 * All functions must be called by the thread that records.  They have no effect where the priority
 * could not be raised again (which requires CAP_SYS_NICE or RLIMIT_NICE), where the recorder was
 * not started at SCHED_OTHER, and where the user has pinned the scanner.
 */
#ifndef RECORD_RUN_GIVEWAY_H
#define RECORD_RUN_GIVEWAY_H

#include <stdbool.h>
#include <sys/types.h>

struct giveway;

/*
 * fds are descriptors that the watcher polls; -1: none.  Until giveway_end() the calling thread
 * does not use isolated and nohz_full CPUs.  Returns NULL if priorities stay as they are.
 */
struct giveway *giveway_begin(const int *fds, unsigned nr);
/* Gives the calling thread normal priority again. */
void giveway_end(struct giveway *g);

/*
 * Lowers the priority of the calling thread if is_low, else raises it.  Must be called before each
 * wait for events.  sock is the connection to the program, or -1.
 */
void giveway_turn(struct giveway *g, int sock, bool is_low);
/* Must be called when an event has arrived: raises the priority. */
void giveway_hurry(struct giveway *g);

/*
 * Must be called now and then during work: a task that waits for this CPU runs first.  g may be
 * NULL.
 */
void giveway_rest(const struct giveway *g);

/*
 * Raises the priority of the runtime's threads in the program, which also yield, so that they can
 * answer.
 */
void giveway_raise_runtime(const struct giveway *g, pid_t pid);

#endif
