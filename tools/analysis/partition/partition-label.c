// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a wait or a time off the CPU is called in a partition, such that the same thing
 * has the same name in all requests, and in another recording.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "partition-private.h"

static const char *const kinds[NR_LEAF_KINDS] = {
	[LEAF_FUNCTION] = "function", [LEAF_LOCK] = "lock_wait", [LEAF_FUTEX] = "futex_wait",
	[LEAF_RUNNABLE] = "runnable", [LEAF_PREEMPTED] = "preempted",
	[LEAF_THROTTLED] = "throttled", [LEAF_IO] = "io", [LEAF_SLEEP] = "sleep",
	[LEAF_IRQ] = "irq", [LEAF_QUEUE] = "queue", [LEAF_BEHIND] = "head_of_line",
	[LEAF_UNKNOWN] = "unknown",
};

const char *leaf_kind_name(enum leaf_kind kind)
{
	return kinds[kind];
}

/* "item_locks+0x80" is one of item_locks. */
static void set_variable(char *label, const struct symbol *symbol)
{
	const char *plus = strstr(symbol->function, "+0x");
	int len = plus ? (int)(plus - symbol->function) : (int)strlen(symbol->function);

	snprintf(label, PARTITION_LABEL_MAX, "%.*s", len, symbol->function);
}

static void set_lock(char *label, const struct segment *s)
{
	const struct symbol *site = s->site;
	const char *file = site ? strrchr(site->file, '/') : NULL;

	if (s->lock_symbol && s->lock_symbol->known)
		set_variable(label, s->lock_symbol);
	else if (site && *site->file)
		snprintf(label, PARTITION_LABEL_MAX, "lock at %s:%u", file ? file + 1 : site->file, site->line);
	else if (site)
		snprintf(label, PARTITION_LABEL_MAX, "lock in %s", site->function);
	else if (s->lock)
		snprintf(label, PARTITION_LABEL_MAX, "a lock");
}

/* kworker/3:1-events and kworker/u8:2 are kworker; worker-17 is worker. */
static void set_task(char *label, const char *name)
{
	size_t len = strcspn(name, "/");

	if (name[len] != '/' || !len)
		len = strlen(name);
	while (len > 1 && (isdigit((unsigned char)name[len - 1]) || name[len - 1] == '-' ||
			   name[len - 1] == '_'))
		len--;
	snprintf(label, PARTITION_LABEL_MAX, "%.*s", (int)len, name);
}

static void set_party(char *label, const struct party *party)
{
	switch (party->kind) {
	case PARTY_TASK:
		if (party->name && *party->name)
			set_task(label, party->name);
		else
			snprintf(label, PARTITION_LABEL_MAX, "another task");
		break;
	case PARTY_IDLE:
		snprintf(label, PARTITION_LABEL_MAX, "idle CPU");
		break;
	case PARTY_HIDDEN:
		snprintf(label, PARTITION_LABEL_MAX, "another process");
		break;
	case PARTY_HARDIRQ:
		snprintf(label, PARTITION_LABEL_MAX, "interrupt");
		break;
	case PARTY_SOFTIRQ:
		snprintf(label, PARTITION_LABEL_MAX, "softirq");
		break;
	case PARTY_NONE:
		break;
	}
}

static enum leaf_kind set_waiting(char *label, const struct segment *s)
{
	const struct segment_sched *k = s->sched;

	if (k && k->nr_occupants && k->occupants[0].who.kind != PARTY_NONE)
		set_party(label, &k->occupants[0].who);
	else if (k && k->preempted_by.kind != PARTY_NONE)
		set_party(label, &k->preempted_by);
	if (s->kind == SEGMENT_RUNNABLE)
		return LEAF_RUNNABLE;
	return k && k->is_throttled ? LEAF_THROTTLED : LEAF_PREEMPTED;
}

enum leaf_kind partition_label(const struct segment *s, char *label)
{
	enum leaf_kind kind;

	*label = '\0';
	switch (s->kind) {
	case SEGMENT_LOCK_WAIT:
		kind = LEAF_LOCK;
		set_lock(label, s);
		break;
	case SEGMENT_FUTEX_WAIT:
		kind = LEAF_FUTEX;
		set_lock(label, s);
		break;
	case SEGMENT_RUNNABLE:
	case SEGMENT_PREEMPTED:
		kind = set_waiting(label, s);
		if (kind == LEAF_THROTTLED)
			*label = '\0';
		break;
	case SEGMENT_BLOCKED:
		kind = s->sched && s->sched->state == LDB_STATE_DISK ? LEAF_IO : LEAF_SLEEP;
		break;
	default:
		kind = LEAF_UNKNOWN;
		break;
	}
	return kind;
}

uint32_t partition_segment_leaf(struct partition *p, const struct segment *s, uint32_t path)
{
	char label[PARTITION_LABEL_MAX];
	enum leaf_kind kind = partition_label(s, label);

	return partition_leaf(p, kind, path, label, s->lock, s->site);
}
