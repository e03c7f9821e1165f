// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>
#include "record/irqnames.h"

/* In the kernel, softirq_to_name[]: part of what its tracepoints print. */
static const char *const softirqs[] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
};

static unsigned slot_of(const struct irqnames *n, uint32_t line)
{
	unsigned mask = 2 * IRQNAMES_MAX - 1, i = line * 0x9e3779b1U & mask;

	while (*n->slots[i].name && n->slots[i].line != line)
		i = (i + 1) & mask;
	return i;
}

void irqnames_set(struct irqnames *n, uint32_t line, const char *name)
{
	struct irqname *slot = &n->slots[slot_of(n, line)];

	if (!*name || (!*slot->name && n->nr == IRQNAMES_MAX))
		return;
	n->nr += !*slot->name;
	slot->line = line;
	snprintf(slot->name, sizeof(slot->name), "%s", name);
}

const char *irqnames_find(const struct irqnames *n, unsigned kind, uint32_t nr)
{
	switch (kind) {
	case LDB_IRQ_HARD:
		return n->slots[slot_of(n, nr)].name;
	case LDB_IRQ_SOFT:
		return nr < sizeof(softirqs) / sizeof(*softirqs) ? softirqs[nr] : "";
	case LDB_IRQ_LOCAL_TIMER:
		return "local_timer";
	default:
		return "";
	}
}
