// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects attributes of slow and usual requests for traits-test.c; see traits.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "facts/instances.h"
#include "facts/notes.h"
#include "facts/sched.h"
#include "facts/ticks.h"
#include "traits.h"
#include "why-private.h"

#define ATTRIBUTES_MAX	64	/* further keys of notes are ignored */
#define NAME_ROOM	64

/* A request that is compared. */
struct row {
	const struct request *request;
	size_t number;			/* in the table */
	uint32_t tid;			/* the thread on which the request began; 0: not known */
	int64_t start;			/* start on that thread: ticks */
};

struct collector {
	struct model *m;
	const struct why *w;
	struct traits *t;
	/* sorted by (id, start) of the request; in take_cpus() by start on the thread */
	struct row *rows;
	size_t nr;
	/* indices of attributes in the table */
	size_t class, thread, cpu, queue, idle, open;
};

/* The table */

struct trait_attribute *traits_add(struct traits_table *t, enum trait_source source, const char *name,
				   bool is_number)
{
	struct trait_attribute *a;

	if (!array_room(&t->attributes, &t->room_attributes, t->nr_attributes, sizeof(*t->attributes)))
		return NULL;
	a = &t->attributes[t->nr_attributes];
	*a = (struct trait_attribute){ .source = source, .name = name, .is_number = is_number };
	a->values = malloc((t->nr_rows + 1) * sizeof(*a->values));
	if (!a->values)
		return NULL;
	memset(a->values, 0xff, (t->nr_rows + 1) * sizeof(*a->values));
	t->nr_attributes++;
	return a;
}

int traits_set_text(struct trait_attribute *a, size_t row, const char *text)
{
	int64_t place = intern_string(&a->texts, text);

	if (place < 0)
		return -ENOMEM;
	a->values[row] = (uint64_t)place;
	return 0;
}

static int set_text(struct collector *c, size_t attribute, size_t row, const char *text)
{
	return traits_set_text(&c->t->table.attributes[attribute], row, text);
}

static void set_number(struct collector *c, size_t attribute, size_t row, uint64_t number)
{
	c->t->table.attributes[attribute].values[row] = min(number, TRAITS_NONE - 1);
}

void traits_free(struct traits *t)
{
	for (size_t i = 0; i < t->table.nr_attributes; i++) {
		free(t->table.attributes[i].values);
		intern_free(&t->table.attributes[i].texts);
	}
	free(t->table.attributes);
	free(t->at);
	*t = (struct traits){ 0 };
}

/* Which requests */

COMPARE(by_id, struct row, UP(request->id) UP(request->start))
COMPARE(by_start, struct row, UP(start))

static void add_row(struct collector *c, const struct request *request)
{
	c->rows[c->nr] = (struct row){ .request = request, .number = c->nr };
	c->nr++;
}

/* Returns the size of the reference of all classes that have targets. */
static size_t nr_references(const struct why *w)
{
	size_t nr = 0;

	for (size_t i = 0; i < w->p->nr_classes; i++)
		if (w->classes[i].nr_targets)
			nr += w->private->references[i].nr;
	return nr;
}

/*
 * Chooses the requests to compare.  A target that is also in the reference is not used as a usual
 * request.
 */
static int choose_rows(struct collector *c)
{
	const struct why *w = c->w;
	bool *is_target = calloc(w->p->nr_requests + 1, sizeof(*is_target));
	size_t nr_usual = nr_references(w), step_slow = w->nr_targets / TRAITS_SLOW_MAX + 1;
	size_t step = nr_usual / TRAITS_USUAL_MAX + 1, at = 0;

	c->rows = calloc(w->nr_targets + nr_usual + 1, sizeof(*c->rows));
	if (!c->rows || !is_target) {
		free(is_target);
		return -ENOMEM;
	}
	for (size_t i = 0; i < w->nr_targets; i++)
		is_target[w->targets[i].request - w->p->requests] = true;
	for (size_t i = 0; i < w->nr_targets; i += step_slow)
		add_row(c, w->targets[i].request);
	c->t->table.nr_slow = c->nr;
	for (size_t k = 0; k < w->p->nr_classes; k++) {
		const struct reference *ref = &w->private->references[k];

		for (size_t i = 0; w->classes[k].nr_targets && i < ref->nr; i++)
			if (!is_target[ref->requests[i]] && at++ % step == 0)
				add_row(c, &w->p->requests[ref->requests[i]]);
	}
	c->t->table.nr_rows = c->nr;
	free(is_target);
	return 0;
}

static int add_attribute(struct collector *c, enum trait_source source, const char *name, bool is_number,
			 size_t *number)
{
	*number = c->t->table.nr_attributes;
	return traits_add(&c->t->table, source, name, is_number) ? 0 : -ENOMEM;
}

static int add_attributes(struct collector *c)
{
	return add_attribute(c, TRAIT_CLASS, "class", false, &c->class) ||
	       add_attribute(c, TRAIT_THREAD, "thread", false, &c->thread) ||
	       add_attribute(c, TRAIT_CPU, "cpu", false, &c->cpu) ||
	       add_attribute(c, TRAIT_QUEUE, "queue", false, &c->queue) ||
	       add_attribute(c, TRAIT_IDLE, "idle", true, &c->idle) ||
	       add_attribute(c, TRAIT_OPEN, "open", true, &c->open) ? -ENOMEM : 0;
}

/* Notes */

static struct trait_attribute *attribute_of(struct collector *c, const struct note *note)
{
	struct traits_table *t = &c->t->table;

	for (size_t i = 0; i < t->nr_attributes; i++) {
		struct trait_attribute *a = &t->attributes[i];

		if (a->source == TRAIT_NOTE && a->name == note->key && a->is_number == !note->text)
			return a;
	}
	return t->nr_attributes < ATTRIBUTES_MAX ? traits_add(t, TRAIT_NOTE, note->key, !note->text) : NULL;
}

static int take_notes(struct collector *c, const struct row *row)
{
	const struct request *r = row->request;
	const struct note *found[NOTES_KEYS_MAX];
	size_t nr = notes_of(c->m, r->id, r->start, r->end, found);
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		struct trait_attribute *a = attribute_of(c, found[i]);

		if (!a)
			ret = c->t->table.nr_attributes < ATTRIBUTES_MAX ? -ENOMEM : 0;
		else if (found[i]->text)
			ret = traits_set_text(a, row->number, found[i]->text);
		else
			a->values[row->number] = min(found[i]->number, TRAITS_NONE - 1);
	}
	return ret;
}

static void count_noted(struct traits *t)
{
	for (size_t i = 0; i < t->table.nr_attributes; i++)
		t->nr_noted += t->table.attributes[i].source == TRAIT_NOTE;
}

/* Attributes of the request instance: the thread, the queue it came from */

static int take_thread(struct collector *c, struct row *row, const struct instance_part *p)
{
	const char *name = model_thread_name(model_thread(c->m, p->tid, p->start));
	char text[NAME_ROOM];

	row->tid = p->tid;
	row->start = p->start;
	snprintf(text, sizeof(text), "%.16s%s%" PRIu32, name, *name ? " " : "", p->tid);
	return set_text(c, c->thread, row->number, text);
}

static int take_queue(struct collector *c, const struct row *row, const struct instance_part *p)
{
	const struct symbol *symbol = symtab_lookup_data(c->m->symtab, p->queue, p->start);
	char text[NAME_ROOM];

	if (symbol && symbol->known)
		return set_text(c, c->queue, row->number, symbol->function);
	snprintf(text, sizeof(text), "0x%" PRIx64, p->queue);
	return set_text(c, c->queue, row->number, text);
}

/* Uses the first span on a thread, and the first queue that has an address. */
static int take_instance(struct collector *c, struct row *row, const struct instance *instance)
{
	bool has_queue = false;
	int ret = 0;

	for (size_t i = 0; i < instance->nr_parts && !ret; i++) {
		const struct instance_part *p = &instance->parts[i];

		if (!p->is_queue && !row->tid)
			ret = take_thread(c, row, p);
		if (p->is_queue && p->queue && !has_queue) {
			ret = take_queue(c, row, p);
			has_queue = true;
		}
	}
	return ret;
}

static int on_instance(void *arg, struct instance *instance)
{
	struct collector *c = arg;
	size_t at = search(c->nr, i, c->rows[i].request->id < instance->id ||
			   (c->rows[i].request->id == instance->id && c->rows[i].request->start < instance->start));

	if (at == c->nr || c->rows[at].request->id != instance->id || c->rows[at].request->start != instance->start)
		return 0;
	return take_instance(c, &c->rows[at], instance);
}

static int take_instances(struct collector *c)
{
	uint64_t *ids = calloc(c->nr + 1, sizeof(*ids));
	struct instances_result result;
	int ret;

	if (!ids)
		return -ENOMEM;
	sort_by(c->rows, c->nr, by_id);
	for (size_t i = 0; i < c->nr; i++)
		ids[i] = c->rows[i].request->id;
	ret = instances_some(c->m, ids, c->nr, on_instance, c, &result);
	free(ids);
	return ret;
}

/*
 * Attributes that follow from all requests: how long the thread was idle, how many requests were
 * open
 */

struct end {
	uint32_t tid;
	int64_t tick;
};

COMPARE(compare_end, struct end, UP(tid) UP(tick))
COMPARE_NUMBERS(compare_tick, int64_t)

static void take_idle(struct collector *c, const struct end *ends, size_t nr, const struct row *row)
{
	size_t at = search(nr, i, ends[i].tid < row->tid || (ends[i].tid == row->tid && ends[i].tick <= row->start));

	if (row->tid && at && ends[at - 1].tid == row->tid)
		set_number(c, c->idle, row->number,
			   (uint64_t)ticks_ns(c->m->reader, row->start - ends[at - 1].tick));
}

static int take_all(struct collector *c)
{
	const struct partition *p = c->w->p;
	struct end *ends = calloc(p->nr_requests + 1, sizeof(*ends));
	int64_t *ticks = calloc(p->nr_requests + 1, sizeof(*ticks));

	for (size_t i = 0; ends && ticks && i < p->nr_requests; i++) {
		ends[i] = (struct end){ p->requests[i].tid, p->requests[i].end };
		ticks[i] = p->requests[i].end;
	}
	if (ends && ticks) {
		sort_by(ends, p->nr_requests, compare_end);
		sort_by(ticks, p->nr_requests, compare_tick);
	}
	/* Requests are sorted by start. */
	for (size_t i = 0; ends && ticks && i < c->nr; i++) {
		int64_t start = c->rows[i].request->start;
		size_t begun = search(p->nr_requests, k, p->requests[k].start < start);
		size_t ended = search(p->nr_requests, k, ticks[k] <= start);

		take_idle(c, ends, p->nr_requests, &c->rows[i]);
		set_number(c, c->open, c->rows[i].number, begun > ended ? begun - ended : 0);
	}
	free(ticks);
	free(ends);
	return ends && ticks ? 0 : -ENOMEM;
}

/* Attributes from kernel events: the CPU */

static int on_run(void *arg, const struct sched_cpu_run *run)
{
	struct collector *c = arg;
	size_t at = search(c->nr, i, c->rows[i].start < run->start);
	char text[16];
	int ret = 0;

	if (run->who.kind != CONTEXT_TASK)
		return 0;
	for (; at < c->nr && c->rows[at].start <= run->end && !ret; at++) {
		if (c->rows[at].tid != run->who.tid)
			continue;
		snprintf(text, sizeof(text), "%" PRIu32, run->cpu);
		ret = set_text(c, c->cpu, c->rows[at].number, text);
	}
	return ret;
}

static int take_cpus(struct collector *c)
{
	struct sched_sink sink = { .cpu = on_run, .arg = c };
	struct sched_result result;

	if (!c->m->has_sched || c->m->counters)
		return 0;
	sort_by(c->rows, c->nr, by_start);
	return sched_each(c->m, INT64_MIN, INT64_MAX, &sink, &result);
}

static int collect(struct collector *c)
{
	int ret = add_attributes(c);

	for (size_t i = 0; i < c->nr && !ret; i++) {
		const struct row *row = &c->rows[i];

		ret = set_text(c, c->class, row->number, c->w->p->classes[row->request->class]);
		if (!ret)
			ret = take_notes(c, row);
	}
	if (!ret)
		ret = take_instances(c);
	if (!ret)
		ret = take_all(c);
	return ret ? ret : take_cpus(c);
}

int traits_build(struct model *m, const struct why *w, struct traits *t)
{
	struct collector c = { .m = m, .w = w, .t = t };
	int ret;

	*t = (struct traits){ 0 };
	if (w->nr_targets < TRAITS_SLOW_MIN || nr_references(w) < TRAITS_USUAL_MIN)
		return 0;
	ret = choose_rows(&c);
	if (!ret)
		ret = collect(&c);
	free(c.rows);
	count_noted(t);
	t->nr_dropped_notes = notes_nr_dropped(m->notes);
	if (!ret)
		ret = traits_test(t);
	if (ret)
		traits_free(t);
	return ret;
}
