// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds out what the slowest requests of the last minute spent their time on.  A child process
 * analyses the blocks of that minute as if they were a trace.  For each state of a request it
 * writes four texts: the index of the request, the state, a name, and the ns in this state.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include "record/metrics/explain.h"
#include "record/metrics/private.h"

#define FINISH_TURNS	200
#define TURN_MS		10
#define REST		"rest"	/* sum of the states that are not shown */

static const char *known(void *arg, uint64_t addr)
{
	return filter_name_of(arg, addr);
}

static void put(void *arg, size_t i, const char *state, const char *name, int64_t ns)
{
	FILE *out = arg;

	fprintf(out, "%zu%c%s%c%s%c%" PRId64 "%c", i, 0, state, 0, name, 0, ns, 0);
}

/* Runs in the child. */
static void work(void *metrics, FILE *out)
{
	struct metrics *m = metrics;
	uint64_t ids[METRICS_SLOWEST];
	uint32_t tids[METRICS_SLOWEST];
	int64_t starts[METRICS_SLOWEST], ends[METRICS_SLOWEST];
	struct record_explain e = {
		.ids = ids, .tids = tids, .starts = starts, .ends = ends, .known = known, .known_arg = m->filter,
		.part = put, .arg = out,
	};

	for (unsigned i = 0; i < METRICS_SLOWEST; i++) {
		if (!m->before[i].ns)
			break;
		ids[i] = m->before[i].id;
		tids[i] = m->before[i].tid;
		starts[i] = m->before[i].start;
		ends[i] = m->before[i].end;
		e.nr++;
	}
	m->explain(&e);
}

void metrics_explain_begin(struct metrics *m)
{
	if (m->explain && m->before[0].ns)
		helper_begin(&m->helper, work, m);
}

/*
 * Adds a state.  The longest ones come first.  If there are more than METRICS_PARTS, the last entry
 * is the sum of the rest.
 */
static void add_part(struct slow_parts *s, const char *state, const char *name, uint64_t ns)
{
	struct slow_part *p;

	if (s->nr == METRICS_PARTS) {
		p = &s->all[METRICS_PARTS - 1];
		snprintf(p->state, sizeof(p->state), "%s", REST);
		*p->name = '\0';
		p->ns += ns;
		return;
	}
	p = &s->all[s->nr++];
	p->ns = ns;
	metrics_copy_name(p->state, sizeof(p->state), state);
	metrics_copy_name(p->name, sizeof(p->name), name);
}

static void take(struct metrics *m)
{
	const struct helper *h = &m->helper;

	for (unsigned i = 0; i < METRICS_SLOWEST; i++)
		m->parts[i].nr = 0;
	for (const char *at = helper_text(h, NULL); at;) {
		const char *state = helper_text(h, at), *name = state ? helper_text(h, state) : NULL;
		const char *ns = name ? helper_text(h, name) : NULL;
		unsigned long i = strtoul(at, NULL, 10);

		if (!ns)
			return;
		if (i < METRICS_SLOWEST)
			add_part(&m->parts[i], state, name, strtoull(ns, NULL, 10));
		at = helper_text(h, ns);
	}
}

void metrics_explain_poll(struct metrics *m)
{
	if (!m->helper.child || !helper_has_ended(&m->helper))
		return;
	take(m);
	helper_end(&m->helper);
}

void metrics_explain_finish(struct metrics *m)
{
	for (unsigned i = 0; i < FINISH_TURNS && m->helper.child; i++) {
		metrics_explain_poll(m);
		poll(NULL, 0, m->helper.child ? TURN_MS : 0);
	}
	helper_end(&m->helper);
}
