// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>
#include "record/irqnames.h"

/* In the kernel, softirq_to_name[]: part of what its tracepoints print. */
static const char *const softirqs[] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
};

static struct irqname *find(struct irqnames *n, uint32_t line)
{
	uint32_t at;

	hash_each(&n->by_line, hash_mix(0, line), at)
		if (n->names[at].line == line)
			return &n->names[at];
	return NULL;
}

void irqnames_set(struct irqnames *n, uint32_t line, const char *name)
{
	struct irqname *known = find(n, line);

	if (!*name || (!known && n->nr == IRQNAMES_MAX))
		return;
	if (!known && !hash_add(&n->by_line, hash_mix(0, line), n->nr))
		known = &n->names[n->nr++];
	if (!known)
		return;
	known->line = line;
	snprintf(known->name, sizeof(known->name), "%s", name);
}

const char *irqnames_find(struct irqnames *n, unsigned kind, uint32_t nr)
{
	const struct irqname *line;

	switch (kind) {
	case LDB_IRQ_HARD:
		line = find(n, nr);
		return line ? line->name : "";
	case LDB_IRQ_SOFT:
		return nr < sizeof(softirqs) / sizeof(*softirqs) ? softirqs[nr] : "";
	case LDB_IRQ_LOCAL_TIMER:
		return "local_timer";
	default:
		return "";
	}
}

void irqnames_exit(struct irqnames *n)
{
	hash_free(&n->by_line);
}
