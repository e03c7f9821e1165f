/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names interrupts: those of devices as the kernel names them in events, the others by their kind
 * and number.
 */
#ifndef RECORD_NAMES_IRQ_H
#define RECORD_NAMES_IRQ_H

#include <ldb/trace-format.h>
#include "base/hash.h"

#define IRQ_LINES_MAX	1024	/* names of further lines are not stored */
#define IRQ_NAME_SIZE	25

/* A struct of zeros knows no line. */
struct irq_names {
	struct irq_line {
		uint32_t line;
		char name[IRQ_NAME_SIZE];
	} lines[IRQ_LINES_MAX];
	unsigned nr;
	struct hash by_line;
};

void irq_names_free(struct irq_names *t);

/* Sets the name of a line; an empty name is ignored. */
void irq_names_set(struct irq_names *t, uint32_t line, const char *name);

/* Returns the name of a row's interrupt; "": not known. */
const char *irq_names_get(const struct irq_names *t, const struct ldb_row_irq *row);

#endif
