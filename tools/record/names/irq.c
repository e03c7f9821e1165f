// SPDX-License-Identifier: GPL-2.0-or-later
/* Names interrupts; see irq.h. */
#include <linux/ldb.h>
#include <stdio.h>
#include "record/names/irq.h"

static uint32_t find_line(const struct irq_names *t, uint32_t line)
{
	uint32_t n;

	hash_each(&t->by_line, hash_mix(0, line), n)
		if (t->lines[n].line == line)
			return n;
	return t->nr;
}

void irq_names_free(struct irq_names *t)
{
	hash_free(&t->by_line);
}

void irq_names_set(struct irq_names *t, uint32_t line, const char *name)
{
	uint32_t n = find_line(t, line);

	if (!*name || n == IRQ_LINES_MAX)
		return;
	if (n == t->nr) {
		if (hash_add(&t->by_line, hash_mix(0, line), n))
			return;
		t->nr++;
	}
	t->lines[n].line = line;
	snprintf(t->lines[n].name, sizeof(t->lines[n].name), "%s", name);
}

const char *irq_names_get(const struct irq_names *t, const struct ldb_row_irq *row)
{
	/* The kernel's softirq_to_name[], which its tracepoints print. */
	static const char *const softirqs[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED",
		"HRTIMER", "RCU",
	};
	uint32_t n;

	if (row->flags & LDB_IRQ_F_HIDDEN)
		return "";
	switch (row->kind) {
	case LDB_IRQ_HARD:
		n = find_line(t, row->nr);
		return n < t->nr ? t->lines[n].name : "";
	case LDB_IRQ_SOFT:
		return row->nr < sizeof(softirqs) / sizeof(*softirqs) ? softirqs[row->nr] : "";
	case LDB_IRQ_LOCAL_TIMER:
		return "local_timer";
	default:
		return "";
	}
}
