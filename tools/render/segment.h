/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names segments, and determines their places in the source, for all formats. */
#ifndef RENDER_SEGMENT_H
#define RENDER_SEGMENT_H

#include "render/render.h"

/* file is the name that was passed to the compiler; "" and 0: not known. */
struct place {
	const char *file;
	unsigned line;
};

/* Returns "hard", "soft", "timer" or "stolen". */
const char *irq_kind_name(unsigned kind);	/* enum ldb_irq_kind */

/*
 * Returns the name of a function, interrupt, event or system call; of a lock or a queue, the
 * variable's name or "0x..."; otherwise the name of the kind.  buf has TEXT_ROOM bytes.
 */
const char *segment_name(const struct segment *s, char *buf);

/*
 * Returns a description of a system call, such as "fdatasync(svc.dat)", or, for a SYSCALL, "read(a
 * pipe, 512) = EAGAIN"; buf has TEXT_ROOM bytes.
 */
const char *segment_call(const struct segment_call *c, char *buf);

/* Returns the call site; for a function whose call site is not known, its definition. */
struct place segment_place(const struct segment *s);

/*
 * Returns the name of the function or lock, or else the label of the cause, which may be "".  buf,
 * of TEXT_ROOM bytes, may be used for the name.
 */
const char *timeline_cause_name(const struct timeline_cause *c, char *buf);

/*
 * Returns the name of the queue in which the request waited for this cause; NULL: in none, or not
 * known.
 */
const char *timeline_cause_queue(const struct timeline_cause *c, char *buf);

const struct timeline_cause *timeline_top_function(const struct timeline *t);

#endif
