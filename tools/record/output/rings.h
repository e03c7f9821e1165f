/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the descriptors for whose io_uring operations a thread has waited.  Also finds out whether
 * the program has io_uring rings that the runtime does not follow, because the program is
 * statically linked with liburing or makes the system calls itself.  --request=socket then misses
 * requests, and the recording says so.
 */
#ifndef RECORD_OUTPUT_RINGS_H
#define RECORD_OUTPUT_RINGS_H

#include <stdint.h>

struct output;

/* Begins to name the descriptors of operations. */
void rings_open(struct output *out);
void rings_close(struct output *out);

/* Counts the program's rings from time to time, at growing intervals. */
void rings_poll(struct output *out, int64_t now_ns);

/*
 * Called at the end of the recording, while the session's memory exists: writes what was found, and
 * warns.
 */
void rings_finish(struct output *out);

#endif
