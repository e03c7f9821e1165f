/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the descriptors for whose operations in rings of io_uring a thread has waited.  And finds out
 * whether the program has rings of io_uring that the runtime does not follow, for
 * --request=socket: those of a program that is linked statically with liburing, or enters the kernel by
 * instructions of its own.  Then its requests are missing, and the recording says so.
 */
#ifndef RECORD_RINGS_H
#define RECORD_RINGS_H

#include <stdint.h>

struct recording;

/* From now on, descriptors of operations have names. */
void rings_open(struct recording *r);
void rings_close(struct recording *r);

/* Counts the program's rings now and then, less and less often. */
void rings_poll(struct recording *r, int64_t now_ns);

/* The recording ends, and the session's memory is still there.  Warns, and writes what there was. */
void rings_finish(struct recording *r);

#endif
