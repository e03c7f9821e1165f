/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes texts for times off the CPU, the same in timelines of all formats. */
#ifndef RENDER_OFFCPU_H
#define RENDER_OFFCPU_H

#include "render/render.h"

/* Writes "preempted by hog (pid 99), CPU 1"; buf has TEXT_ROOM bytes. */
void offcpu_text(const struct model *m, const struct segment *s, char *buf);

/* Writes ", woken by hog (pid 99)", or nothing. */
void offcpu_waker(const struct model *m, const struct segment_sched *k, char *buf);

/* Writes the cause as a part of a sentence, after its duration. */
void offcpu_cause(const struct model *m, const struct timeline_cause *c, char *buf);

/* Prints a line on page faults and interrupts; nothing if there were none. */
void offcpu_hits(const struct render *r, const struct hits *h);

/* Returns a label for the bar of this time. */
const char *offcpu_label(const struct segment *s, char *buf);

/* Returns the task that ran meanwhile, or that woke the thread; NULL: none is known. */
const struct party *offcpu_party(const struct segment *s);

#endif
