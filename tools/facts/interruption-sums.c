// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts page faults and interrupts; see interruption-sums.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "interruption-sums.h"
#include "interruptions.h"
#include "ticks.h"

#define RECENT	8	/* the last interrupts that a longer one may turn out to contain */

/*
 * A range of time of a thread, and the last interrupts in it: the row of an interrupt may come
 * after the rows of those that are nested in it, whose time must not count twice.
 */
struct counting {
	struct interruptions_part part;
	struct { int64_t start, end; } recent[RECENT];
	unsigned nr_recent, next;
	int64_t irq_ticks;
};

struct counter {
	struct counting *at;		/* sorted by tid and start */
	size_t nr;
};

COMPARE(part_compare, struct counting, UP(part.tid) UP(part.start))

/* Returns the first range of this tid that ends at the tick or later; NULL: none. */
static struct counting *find_part(const struct counter *c, uint32_t tid, int64_t tick)
{
	size_t from = search(c->nr, i,
			     c->at[i].part.tid < tid ||
			     (c->at[i].part.tid == tid && c->at[i].part.end < tick));

	return from < c->nr && c->at[from].part.tid == tid ? &c->at[from] : NULL;
}

static int on_fault(void *arg, const struct fault *f)
{
	struct counting *p = find_part(arg, f->tid, f->tick);

	if (!p || p->part.start > f->tick)
		return 0;
	p->part.to->nr_faults++;
	p->part.to->nr_major += f->is_major;
	return 0;
}

static void add_irq(struct counting *p, int64_t start, int64_t end)
{
	ticks_add(&p->irq_ticks, end - start);
	for (unsigned i = 0; i < p->nr_recent; i++) {
		if (p->recent[i].start < start || p->recent[i].end > end)
			continue;
		p->irq_ticks -= p->recent[i].end - p->recent[i].start;
		p->recent[i].end = p->recent[i].start;
	}
	p->recent[p->next].start = start;
	p->recent[p->next].end = end;
	p->next = (p->next + 1) % RECENT;
	if (p->nr_recent < RECENT)
		p->nr_recent++;
}

static int on_irq(void *arg, const struct irq *q)
{
	struct counting *p = find_part(arg, q->tid, q->start);

	if (!p || p->part.start > q->end || q->kind == LDB_IRQ_STOLEN)
		return 0;
	p->part.to->nr_irqs += 1 + (uint64_t)q->nr_short;
	add_irq(p, q->start > p->part.start ? q->start : p->part.start,
		q->end < p->part.end ? q->end : p->part.end);
	return 0;
}

static int read_rows(struct model *m, struct counter *c)
{
	struct reader_filter filter = READER_FILTER_ALL;
	int ret;

	filter.t_min = INT64_MAX;
	filter.t_max = INT64_MIN;
	for (size_t i = 0; i < c->nr; i++) {
		const struct interruptions_part *p = &c->at[i].part;

		filter.t_min = p->start < filter.t_min ? p->start : filter.t_min;
		filter.t_max = p->end > filter.t_max ? p->end : filter.t_max;
	}
	filter.id_min = c->at[0].part.tid;
	filter.id_max = c->at[c->nr - 1].part.tid;
	ret = faults_each(m, &filter, on_fault, c);
	return ret ? ret : irqs_each(m, &filter, on_irq, c);
}

int interruptions_count(struct model *m, const struct interruptions_part *parts, size_t nr)
{
	struct counter c = { .nr = nr };
	int ret;

	if (!nr || (!m->has_faults && !m->has_irqs))
		return 0;
	c.at = calloc(nr, sizeof(*c.at));
	if (!c.at)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		c.at[i].part = parts[i];
		c.at[i].part.start = ticks_sane(parts[i].start);
		c.at[i].part.end = ticks_sane(parts[i].end);
	}
	sort_by(c.at, nr, part_compare);
	ret = read_rows(m, &c);
	for (size_t i = 0; i < nr && !ret; i++)
		ticks_add(&c.at[i].part.to->irq_ns, ticks_ns(m->reader, c.at[i].irq_ticks));
	free(c.at);
	return ret;
}
