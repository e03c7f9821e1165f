/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What interrupts are called: devices' lines as they become known, the rest by number. */
#ifndef RECORD_IRQNAMES_H
#define RECORD_IRQNAMES_H

#include <linux/ldb.h>
#include <stdint.h>
#include "base/hash.h"

#define IRQNAMES_MAX	1024	/* lines; the names of more are not kept */
#define IRQNAMES_SIZE	25

/* All zeros is an empty one. */
struct irqnames {
	struct irqname {
		uint32_t line;
		char name[IRQNAMES_SIZE];
	} names[IRQNAMES_MAX];
	unsigned nr;
	struct hash by_line;
};

void irqnames_exit(struct irqnames *n);

/* The last that is said of a line counts. */
void irqnames_set(struct irqnames *n, uint32_t line, const char *name);

/* kind: enum ldb_irq_kind.  "": not known.  Lives as long as n. */
const char *irqnames_find(struct irqnames *n, unsigned kind, uint32_t nr);

#endif
