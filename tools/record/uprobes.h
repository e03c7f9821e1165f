/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defines probes of functions of a program in tracefs, which perf events count then.  Their names say
 * whose they are: who was killed leaves them behind, and the next recorder removes them.
 */
#ifndef RECORD_UPROBES_H
#define RECORD_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uprobe {
	char name[64];		/* GROUP/EVENT; "": there is none */
	int id;			/* of the tracepoint */
};

/* args as the kernel wants them: "id=+8(%di):u64".  If it returns false, why is one line. */
bool uprobe_add(struct uprobe *p, const char *file, uint64_t offset, const char *args, char *why, size_t why_size);
void uprobe_remove(struct uprobe *p);

/* Finds an argument in the event's data. */
bool uprobe_field(const struct uprobe *p, const char *arg, unsigned *offset, unsigned *size);

/* Removes the probes of recorders that have ended. */
void uprobes_tidy(void);

#endif
