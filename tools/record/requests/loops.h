/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows event loops: threads that wait in epoll_wait(), poll(), select() or another call of
 * trace/loop-calls.h.  A turn ends when the thread waits; it begins at the end of the wait before
 * that, or at the last request that the thread has begun since then.
 *
 * A wait in which a thread has slept is reported when the thread goes to sleep, and ends when the
 * thread is switched in.  Waits without sleep are known only if all system calls are recorded.
 */
#ifndef RECORD_REQUESTS_LOOPS_H
#define RECORD_REQUESTS_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ldb/trace-format.h>

struct loops;

/* Reports that the thread has neither waited nor begun a request between these two ticks. */
typedef void loops_fn(void *arg, uint32_t tid, int64_t from, int64_t to);
/* Returns true if tid is a thread of the program, and not one of ldb's own. */
typedef bool loops_thread_fn(void *arg, uint32_t tid);

/* Returns NULL if there is no memory. */
struct loops *loops_alloc(loops_fn *fn, void *arg);
void loops_free(struct loops *l);

/* Without this function, all threads count as the program's. */
void loops_on_thread(struct loops *l, loops_thread_fn *fn, void *arg);

void loops_starts(struct loops *l, const struct ldb_row_req *rows, size_t nr);
void loops_calls(struct loops *l, const struct ldb_row_syscall *rows, size_t nr);
void loops_sched(struct loops *l, const struct ldb_row_sched *rows, size_t nr);
/* The recording was paused, or resumed, at this tick: turns do not extend across it. */
void loops_cut(struct loops *l, int64_t tick);

/* Called when all rows up to some time have been delivered; their order does not matter. */
void loops_pass(struct loops *l);

#endif
