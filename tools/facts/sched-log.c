// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "sched-log.h"

#ifndef LOG_BYTES		/* tests/fuzz sets a smaller number */
#define LOG_BYTES	(4U << 20)
#endif
/*
 * A log may take 1/16 of the memory that the caller gives for retained rows (reader_retain_begin()),
 * but not more than LOG_BYTES.  If that does not suffice, each pass reads the rows.
 */
#define LOG_SHARE	16

/* What the sink was called with: a time off the CPU, and its spans after it, or a migration. */
struct entry {
	bool is_off;
	union {
		struct sched_off off;
		struct sched_migration migration;
	};
	struct sched_span spans[];
};

struct sched_log {
	int64_t from, to;		/* ticks */
	char *entries;			/* of different sizes, one after another */
	size_t nr, room;		/* bytes */
	size_t max;			/* bytes */
	bool is_complete;
	struct sched_result result;
	const struct sched_sink *sink;	/* of the pass that is recorded */
};

static size_t entry_size(const struct entry *e)
{
	return sizeof(*e) + (e->is_off ? e->off.nr_spans * sizeof(*e->spans) : 0);
}

/* Appends an entry; if the log is full, it is not complete. */
static int add(struct sched_log *log, const struct entry *e, const struct sched_span *spans)
{
	size_t size = entry_size(e);
	struct entry *new;

	if (!log->is_complete || log->nr + size > log->max) {
		log->is_complete = false;
		return 0;
	}
	if (!array_reserve(&log->entries, &log->room, log->nr + size, 1))
		return -ENOMEM;
	new = (struct entry *)(log->entries + log->nr);
	*new = *e;
	memcpy(new->spans, spans, size - sizeof(*new));
	log->nr += size;
	return 0;
}

static int on_off(void *arg, const struct sched_off *off)
{
	struct sched_log *log = arg;
	struct entry e = { .is_off = true, .off = *off };
	int ret = add(log, &e, off->spans);

	return ret ? ret : log->sink->off(log->sink->arg, off);
}

static int on_migration(void *arg, const struct sched_migration *migration)
{
	struct sched_log *log = arg;
	struct entry e = { .migration = *migration };
	int ret = add(log, &e, NULL);

	return ret || !log->sink->migration ? ret : log->sink->migration(log->sink->arg, migration);
}

static int record(struct model *m, struct sched_log *log, int64_t from, int64_t to, const struct sched_sink *sink)
{
	struct sched_sink recorder = { .off = on_off, .migration = on_migration, .arg = log };
	int ret;

	log->from = from;
	log->to = to;
	log->nr = 0;
	log->max = min(reader_retain_bytes(m->reader) / LOG_SHARE, (size_t)LOG_BYTES);
	log->sink = sink;
	log->is_complete = true;
	ret = sched_each(m, from, to, &recorder, &log->result);
	log->is_complete &= !ret;
	return ret;
}

static int replay(struct sched_log *log, const struct sched_sink *sink)
{
	int ret = 0;

	for (size_t at = 0; at < log->nr && !ret;) {
		struct entry *e = (struct entry *)(log->entries + at);

		at += entry_size(e);
		if (e->is_off) {
			e->off.spans = e->spans;
			ret = sink->off(sink->arg, &e->off);
		} else if (sink->migration) {
			ret = sink->migration(sink->arg, &e->migration);
		}
	}
	return ret;
}

int sched_log_each(struct model *m, int64_t from, int64_t to, const struct sched_sink *sink,
		   struct sched_result *result)
{
	struct sched_log *log = m->sched_log;
	int ret;

	if (!log)
		log = m->sched_log = calloc(1, sizeof(*log));
	if (!log)
		return -ENOMEM;
	if (log->is_complete && log->from == from && log->to == to)
		ret = replay(log, sink);
	else
		ret = record(m, log, from, to, sink);
	*result = log->result;
	return ret;
}

void sched_log_end(struct model *m)
{
	if (m->sched_log)
		free(m->sched_log->entries);
	free(m->sched_log);
	m->sched_log = NULL;
}
