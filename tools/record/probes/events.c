// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the events of probes; see events.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "record/kernel/clock.h"
#include "record/perf/private.h"
#include "record/probes/events.h"
#include "record/probes/uprobes.h"

#define PROBES_MAX	64
/* size of the ring of each CPU, in bytes: holds some 10000 events */
#define RING_BYTES	(1UL << 20)

struct probe_events {
	struct probe_events_options o;
	struct perf_fds fds;
	struct perf_tids tids;
	struct kernel_clock *clock;
	struct backlog rows;
	struct uprobe probes[PROBES_MAX];
	unsigned nr_probes;
	uint64_t nr_lost, nr_bad;
};

struct body {
	uint64_t ip;
	uint32_t tgid, tid;
	uint64_t time, addr;
	uint32_t raw_size;
	char raw[];
};

static void take_event(struct probe_events *p, const struct body *b)
{
	struct probe_event e = {
		.time = b->time, .ip = b->ip, .tid = perf_tids_shown(&p->tids, b->tid), .raw = b->raw, .raw_size = b->raw_size,
	};
	unsigned short id;

	memcpy(&id, b->raw, sizeof(id));
	while (e.probe < p->nr_probes && p->probes[e.probe].id != id)
		e.probe++;
	if (e.probe < p->nr_probes && (pid_t)b->tgid == p->tids.tgid && e.tid)
		p->o.take(p->o.arg, &e);
}

static void take_record(void *events, unsigned cpu, const struct perf_event_header *record)
{
	struct probe_events *p = events;
	const struct body *b = (const void *)(record + 1);
	size_t before = sizeof(*record) + offsetof(struct body, raw);
	uint64_t lost[2];	/* id, count */

	if (record->type == PERF_RECORD_LOST && record->size >= sizeof(*record) + sizeof(lost)) {
		memcpy(lost, record + 1, sizeof(lost));
		p->nr_lost += lost[1];
	}
	if (record->type != PERF_RECORD_SAMPLE)
		return;
	if (record->size < before + sizeof(uint16_t) || b->raw_size < sizeof(uint16_t) ||
	    b->raw_size > record->size - before)
		p->nr_bad++;
	else
		take_event(p, b);
}

static void read_rings(struct probe_events *p)
{
	perf_rings_read(p->fds.rings, p->fds.nr_rings, take_record, p, &p->nr_bad);
}

int probe_events_add(struct probe_events *p, const char *file, uint64_t offset, uint64_t semaphore, const char *args,
		     char *why, size_t why_size)
{
	if (p->nr_probes == PROBES_MAX)
		snprintf(why, why_size, "there are too many places for probes, more than %d", PROBES_MAX);
	else if (uprobe_add(&p->probes[p->nr_probes], file, offset, semaphore, args, why, why_size))
		return p->nr_probes++;
	return -1;
}

bool probe_events_field(const struct probe_events *p, const char *arg, struct perf_field *field)
{
	return uprobe_field(&p->probes[p->nr_probes - 1], arg, &field->offset, &field->size);
}

void probe_events_drop(struct probe_events *p)
{
	uprobe_remove(&p->probes[--p->nr_probes]);
}

bool probe_events_open(struct probe_events *p, char *why, size_t why_size)
{
	struct perf_options perf = { .pid = p->o.pid, .ring_bytes = RING_BYTES * sysconf(_SC_NPROCESSORS_ONLN) };
	int ids[PROBES_MAX];

	for (unsigned i = 0; i < p->nr_probes; i++)
		ids[i] = p->probes[i].id;
	if (!perf_fds_open_probes(&p->fds, &perf, ids, p->nr_probes, kernel_clock_id(p->clock), why, why_size))
		return false;
	probe_events_pause(p, false);
	return true;
}

void *probe_events_row(struct probe_events *p, const struct probe_event *e)
{
	return backlog_add(&p->rows, e->time);
}

int64_t probe_events_tick(struct probe_events *p, uint64_t time)
{
	return kernel_clock_tick(p->clock, time);
}

void probe_events_poll(struct probe_events *p)
{
	uint64_t limit = kernel_clock_sample(p->clock, false);

	read_rings(p);
	backlog_release(&p->rows, limit - PERF_WINDOW_NS);
}

void probe_events_pause(struct probe_events *p, bool pause)
{
	if (pause)
		perf_fds_disable(&p->fds, 0, p->fds.nr_fds);
	else
		perf_fds_enable(&p->fds);
}

void probe_events_finish(struct probe_events *p)
{
	uint64_t end = kernel_clock_now(p->clock), lost;

	probe_events_pause(p, true);
	read_rings(p);
	kernel_clock_sample(p->clock, true);
	backlog_release(&p->rows, end);
	lost = perf_fds_lost(&p->fds);
	p->nr_lost = (lost > p->nr_lost ? lost : p->nr_lost) + p->nr_bad;
}

uint64_t probe_events_err_ns(const struct probe_events *p)
{
	return kernel_clock_err_ns(p->clock);
}

uint64_t probe_events_lost(const struct probe_events *p)
{
	return p->nr_lost;
}

/* A probe cannot be removed while an event is open for it. */
void probe_events_free(struct probe_events *p)
{
	if (!p)
		return;
	perf_fds_close(&p->fds);
	while (p->nr_probes)
		probe_events_drop(p);
	backlog_exit(&p->rows);
	kernel_clock_free(p->clock);
	free(p);
}

struct probe_events *probe_events_alloc(const struct probe_events_options *o)
{
	struct probe_events *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->o = *o;
	perf_tids_init(&p->tids, o->pid, PERF_SWITCHES_OWN);
	p->clock = kernel_clock_alloc(o->clock_id, CLOCK_MONOTONIC_RAW, o->t0, o->offset_ns);
	if (p->clock && !backlog_init(&p->rows, o->row_bytes, BACKLOG_MAX, o->out, o->arg)) {
		uprobes_tidy();
		return p;
	}
	probe_events_free(p);
	return NULL;
}
