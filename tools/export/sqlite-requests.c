// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes requests, their notes, the intervals in which they were on a thread or in a queue (table
 * part), and the causes of the slowest requests, or of those that were selected.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/report/requests.h"
#include "facts/notes.h"
#include "facts/ticks.h"
#include "analysis/timeline/timeline.h"
#include "export/sqlite-private.h"
#include "render/offcpu.h"
#include "render/segment.h"
#include "render/text.h"

#define CAUSES_OF	100	/* slowest requests whose causes are written if none are selected */

static int put_part(struct sqlite_export *e, const struct instance *instance, uint64_t id, size_t nth)
{
	const struct instance_part *p = &instance->parts[nth];
	struct reader *r = e->m->reader;
	int64_t end = p->end < instance->end ? p->end : instance->end;
	int64_t start_ns = ticks_time_ns(r, p->start), end_ns = ticks_time_ns(r, end);
	const struct symbol *queue;

	if (end < p->start)
		return 0;
	queue = p->queue ? symtab_lookup_data(e->m->symtab, p->queue, p->start) : NULL;
	return sqlite_put(e, TABLE_PART, NEW_ID, V(id), V(nth + 1), V(p->is_queue ? "queue" : "thread"),
			  ID(sqlite_thread(e, p->tid, p->start)),
			  ID(p->is_queue ? sqlite_thread(e, p->to_tid, p->end) : 0),
			  value_if(p->queue, value_hex(p->queue)),
			  V(queue && queue->known ? queue->function : NULL),
			  ID(p->site ? sqlite_site(e, symtab_lookup_call(e->m->symtab, p->site, p->start)) : 0),
			  V(start_ns), V(end_ns), V(end_ns - start_ns), V(p->is_open));
}

static int put_notes(struct sqlite_export *e, const struct instance *instance, uint64_t id)
{
	const struct note *found[NOTES_KEYS_MAX];
	size_t nr = notes_of(e->m, instance->id, instance->start, instance->end, found);
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++)
		ret = sqlite_put(e, TABLE_NOTE, NEW_ID, V(id), V(found[i]->key), V(found[i]->text),
				 value_if(!found[i]->text, V(found[i]->number)));
	return ret;
}

static int put_instance(struct sqlite_export *e, const struct instance *instance)
{
	char trace[40], span[24];
	struct link_ids ids;
	uint64_t id = ++e->nr_requests;
	int ret = links_find(e->links, instance, &ids);

	if (ret)
		return ret;
	snprintf(trace, sizeof(trace), "%016" PRIx64 "%016" PRIx64, ids.trace_hi, ids.trace_lo);
	snprintf(span, sizeof(span), "%016" PRIx64, ids.span);
	ret = sqlite_put(e, TABLE_REQUEST, V(id), V(instance->id), V(instance->class),
			 V(ticks_time_ns(e->m->reader, instance->start)),
			 V(ticks_time_ns(e->m->reader, instance->end)), V(instance_latency_ns(e->m, instance)),
			 V(instance->is_complete), V(instance->has_lost_handoff),
			 V(ids.trace_hi || ids.trace_lo ? trace : NULL), V(ids.span ? span : NULL),
			 V(ticks_ns(e->m->reader, instance->resolution)));
	for (size_t i = 0; i < instance->nr_parts && !ret; i++)
		ret = put_part(e, instance, id, i);
	if (!ret)
		ret = put_notes(e, instance, id);
	e->o->result->nr_requests++;
	return ret;
}

static int on_instance(void *arg, struct instance *instance)
{
	struct sqlite_export *e = arg;

	if (instance->start < e->o->from || instance->start > e->o->to)
		return 0;
	return put_instance(e, instance);
}

int sqlite_put_requests(struct sqlite_export *e)
{
	struct instances_result result;
	int ret = 0;

	if (!e->o->has_instances)
		return instances_each(e->m, on_instance, e, &result);
	for (size_t i = 0; i < e->o->nr_instances && !ret; i++)
		ret = put_instance(e, &e->o->instances[i]);
	return ret;
}

/*
 * Returns the task that ran while the thread waited for a CPU, or that woke it up, or that delayed
 * the holder of the lock; NULL: not known.
 */
static const char *cause_by(struct sqlite_export *e, const struct timeline_cause *c, char *buf,
			    int64_t *ns)
{
	const struct context *p = c->off ? &c->blocker : c->hold_off ? offcpu_context(c->hold_off) : NULL;

	*ns = c->off ? c->blocker_ns : c->hold_off ? c->hold_off_ns : 0;
	return p && p->kind != CONTEXT_NONE ? text_context(e->m, p, buf) : NULL;
}

static int put_cause(struct sqlite_export *e, uint64_t id, size_t nth,
		     const struct timeline_cause *c)
{
	const struct segment *at = c->wait ? c->wait : c->off;
	struct place place = at ? segment_place(at) : (struct place){ "", 0 };
	char name[TEXT_ROOM], by[TEXT_ROOM];
	int64_t by_ns;
	const char *who = cause_by(e, c, by, &by_ns);

	return sqlite_put(e, TABLE_CAUSE, V(id), V(nth + 1), V(leaf_kinds[c->kind].name),
			  V(*timeline_cause_name(c, name) ? timeline_cause_name(c, name) : NULL),
			  V(c->ns), V(c->nr), ID(c->resolution_ns), V(*place.file ? place.file : NULL),
			  ID(place.line), ID(c->hold ? sqlite_thread(e, c->hold->tid, c->hold->start) : 0),
			  V(c->hold_func ? c->hold_func->func->function : NULL), V(who), ID(by_ns));
}

static int put_causes(struct sqlite_export *e, const struct instance *instance)
{
	uint64_t id = sqlite_request(e, instance->id, ticks_time_ns(e->m->reader, instance->start),
				     ticks_time_ns(e->m->reader, instance->end));
	struct timeline t;
	int ret = timeline_build_siteless(e->m, instance, &t);

	if (ret)
		return ret;
	for (size_t i = 0; i < t.nr_causes && !ret; i++)
		ret = put_cause(e, id, i, &t.causes[i]);
	timeline_free(&t);
	return ret;
}

int sqlite_put_causes(struct sqlite_export *e)
{
	struct requests_options options = REQUESTS_OPTIONS_ALL;
	const struct instance *instances = e->o->instances;
	size_t nr = e->o->nr_instances;
	struct requests slowest = { 0 };
	int ret = 0;

	if (!e->o->has_instances) {
		options.from = e->o->from;
		options.to = e->o->to;
		options.nr_slowest = CAUSES_OF;
		ret = requests_build(e->m, &options, &slowest);
		instances = slowest.instances;
		nr = slowest.nr_instances;
	}
	for (size_t i = 0; i < nr && !ret; i++)
		ret = put_causes(e, &instances[i]);
	requests_free(&slowest);
	return ret;
}
