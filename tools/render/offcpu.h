/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes times off the CPU, in the same words in the timelines of all formats. */
#ifndef RENDER_OFFCPU_H
#define RENDER_OFFCPU_H

#include "render/render.h"

/* Writes "preempted by hog (pid 99), CPU 1"; buf has TEXT_ROOM bytes. */
void offcpu_text(const struct model *m, const struct segment *s, char *buf);

/* Writes ", woken by hog (pid 99)", or nothing. */
void offcpu_waker(const struct model *m, const struct segment_sched *k, char *buf);

/* Describes the cause in a part of a sentence, to be written after its duration. */
void offcpu_cause(const struct model *m, const struct timeline_cause *c, char *buf);

/* Prints a line on page faults and interrupts, unless there were none. */
void offcpu_interruptions(const struct render *r, const struct interruptions *h);

/* Returns a label for the bar of a time off the CPU. */
const char *offcpu_label(const struct segment *s, char *buf);

/*
 * Returns the task that preempted the thread, that ran longest while the thread waited for a CPU,
 * or that ended the thread's sleep; NULL: not known.
 */
const struct context *offcpu_context(const struct segment *s);

#endif
