/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the recorder yield to the program: at SCHED_IDLE the recorder gets hardly any CPU time
 * while other tasks need its CPU, and a task that wakes up preempts it at once.
 *
 * The recorder does not yield while the program waits for an answer, or while the rings fill
 * quickly.  A second thread, the watcher, has normal priority and polls the descriptors for which
 * the recorder waits.  The watcher raises the recorder's priority when an event arrives, or when
 * the recorder has not run for 100 ms.
 *
 * All functions must be called by the thread that records.  They have no effect if the priority
 * could not be raised again (which requires CAP_SYS_NICE or RLIMIT_NICE), if the recorder was not
 * started at SCHED_OTHER, or if the user has pinned the scanner.
 */
#ifndef RECORD_RUN_GIVEWAY_H
#define RECORD_RUN_GIVEWAY_H

#include <stdbool.h>
#include <sys/types.h>

struct giveway;

/*
 * fds are descriptors that the watcher polls; -1: none.  From then on the calling thread does not
 * use isolated and nohz_full CPUs, unless it may use no others.  Returns NULL if priorities stay as
 * they are.
 */
struct giveway *giveway_begin(const int *fds, unsigned nr);
/* Gives the calling thread normal priority again, and ends the watcher. */
void giveway_end(struct giveway *g);

/*
 * Lowers the priority of the calling thread if is_low, else raises it.  Must be called before each
 * wait for events.  sock is the connection to the program, or -1.
 */
void giveway_turn(struct giveway *g, int sock, bool is_low);
/* Must be called when an event has arrived: raises the priority. */
void giveway_hurry(struct giveway *g);

/*
 * Must be called regularly during long work: yields the CPU to tasks that wait for it.  g may be
 * NULL.
 */
void giveway_rest(const struct giveway *g);

/*
 * Gives the runtime's threads in the program normal priority: they run at SCHED_IDLE, too, and have
 * to answer.
 */
void giveway_raise_runtime(const struct giveway *g, pid_t pid);

#endif
