/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defines kernel probes of a program's code in tracefs; perf events record when a thread executes
 * the code there.  The names of the probes identify the recorder.  A recorder that was killed
 * leaves its probes behind; the next one removes them.
 */
#ifndef RECORD_PROBES_UPROBES_H
#define RECORD_PROBES_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uprobe {
	char name[64];		/* GROUP/EVENT; "": not defined */
	int id;			/* id of the tracepoint */
};

/*
 * `args` is in the kernel's syntax, such as "id=+8(%di):u64".  `semaphore` is the position in the
 * file of a counter that the kernel increments while the probe is there, or 0.  Returns false on
 * failure, and writes the reason into `why` as one line.
 */
bool uprobe_add(struct uprobe *p, const char *file, uint64_t offset, uint64_t semaphore, const char *args,
		char *why, size_t why_size);
void uprobe_remove(struct uprobe *p);

/* Finds the position of an argument in the event's data.  Returns false if it is not known. */
bool uprobe_field(const struct uprobe *p, const char *arg, unsigned *offset, unsigned *size);

/* Removes probes of recorders that have ended, at most 64 in one call. */
void uprobes_tidy(void);

#endif
