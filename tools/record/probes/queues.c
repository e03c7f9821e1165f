// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows the items of queues; see queues.h.
 *
 * The items of a --queue word are recorded only if a probe can be set at every place in the code
 * that has one of the word's probes: items that are put into the queue at a place without a probe
 * would seem not to have waited.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/hash.h"
#include "base/slots.h"
#include "record/perf/private.h"
#include "record/probes/events.h"
#include "record/probes/queue-places.h"
#include "record/probes/queue-words.h"
#include "record/probes/queues.h"
#include "record/probes/usdt-args.h"

/* different names of queues; items of further queues are in queue 0, which has no name */
#define NAMES_MAX	128
#define NAME_BYTES	64
#define FETCH_MAX	256
/* most waiting items in the table; that the id of a further one is used again is not noticed */
#define ITEMS_MAX	(1U << 20)

struct site {			/* a place of a probe */
	size_t word;
	unsigned probe;
	char *file;
	uint64_t offset, semaphore;
	char fetch[FETCH_MAX];
	bool is_signed;
};

struct item {			/* an item that was put into a queue and not taken out yet */
	struct slot slot;	/* key: the item's id */
	uint64_t queue;
};

struct probe {
	size_t word;
	enum queue_event event;
	bool is_signed;
	struct perf_field item, name;
};

struct queues {
	struct queues_options o;
	struct probe_events *events;
	struct queue_words words[QUEUE_WORDS_MAX];
	bool is_refused[QUEUE_WORDS_MAX];
	bool has_end[QUEUE_WORDS_MAX];
	struct site *sites;
	size_t nr_sites, room_sites;
	struct probe *probes;
	size_t nr_probes, room_probes;
	uint64_t names[NAMES_MAX];	/* numbers of the queues whose names were reported */
	size_t nr_names;
	struct slots items;
	struct queues_total total;
};

struct taken {
	uint64_t time, ip, id, queue;
	uint32_t tid;
	enum queue_event event;
	bool ends;
	char name[NAME_BYTES];
};

static void refuse(struct queues *q, size_t word, const char *probe, const char *why)
{
	char text[512];

	if (q->is_refused[word])
		return;
	q->is_refused[word] = true;
	snprintf(text, sizeof(text), "--queue=%s: its items are not recorded: %s%s%s", q->o.words[word], probe,
		 *probe ? ": " : "", why);
	q->o.warn(q->o.arg, text);
}

/* Places */

/* Writes the expressions of the values that the kernel must read. */
static bool write_fetch(struct site *s, const struct queue_words *words, const char *args, char *why, size_t why_size)
{
	struct usdt_arg item, name;
	int n;

	if (!usdt_arg_parse(args, words->probes[s->probe].item, &item, why, why_size))
		return false;
	s->is_signed = item.is_signed;
	n = snprintf(s->fetch, sizeof(s->fetch), "item=%s:%c%u", item.fetch, item.is_signed ? 's' : 'u', 8 * item.size);
	if (!words->name || queue_event_of(s->probe) == QUEUE_END)
		return true;
	if (!usdt_arg_parse(args, words->name, &name, why, why_size))
		return false;
	snprintf(s->fetch + n, sizeof(s->fetch) - n, " name=+0(%s):string", name.fetch);
	return true;
}

static void add_site(void *queues, const struct queue_place *place)
{
	struct queues *q = queues;
	const struct queue_words *words = &q->words[place->word];
	const char *name = words->probes[place->probe].name;
	struct site s = { .word = place->word, .probe = place->probe, .offset = place->offset, .semaphore = place->semaphore };
	char why[256] = "out of memory";

	/*
	 * A probe without a place is no error yet: when all places are known, check_sites() finds
	 * out whether PUT, TAKE and END have one.
	 */
	if (place->why) {
		if (*place->why)
			refuse(q, place->word, name, place->why);
		return;
	}
	if (write_fetch(&s, words, place->args, why, sizeof(why))) {
		s.file = strdup(place->file);
		if (s.file && !array_push(q->sites, q->nr_sites, q->room_sites, s))
			return;
		free(s.file);
	}
	refuse(q, place->word, name, why);
}

/*
 * Refuses the word unless there are places for PUT and TAKE, and for at least one of its END
 * probes, if it has any.
 */
static void check_sites(struct queues *q, size_t word)
{
	const struct queue_words *words = &q->words[word];
	bool has[QUEUE_END + 1] = { false };

	for (size_t i = 0; i < q->nr_sites; i++)
		if (q->sites[i].word == word)
			has[queue_event_of(q->sites[i].probe)] = true;
	q->has_end[word] = has[QUEUE_END];
	if (!has[QUEUE_END] && words->nr_probes > QUEUE_END)
		refuse(q, word, words->probes[QUEUE_END].name, "the program has no such probe");
	for (unsigned i = 0; i < QUEUE_END; i++)
		if (!has[i])
			refuse(q, word, words->probes[i].name, "the program has no such probe");
}

static void add_probe(struct queues *q, const struct site *s)
{
	const struct queue_words *words = &q->words[s->word];
	struct probe p = { .word = s->word, .event = queue_event_of(s->probe), .is_signed = s->is_signed };
	char why[256] = "the kernel does not say how it reports it";

	if (!array_room(&q->probes, &q->room_probes, q->nr_probes, sizeof(p))) {
		refuse(q, s->word, "", "out of memory");
		return;
	}
	if (probe_events_add(q->events, s->file, s->offset, s->semaphore, s->fetch, why, sizeof(why)) >= 0) {
		if (probe_events_field(q->events, "item", &p.item)) {
			probe_events_field(q->events, "name", &p.name);
			q->probes[q->nr_probes++] = p;
			return;
		}
		probe_events_drop(q->events);
	}
	refuse(q, s->word, words->probes[s->probe].name, why);
}

/* Adds the probes of a word: all of them, or none. */
static void add_word(struct queues *q, size_t word)
{
	size_t before = q->nr_probes;

	check_sites(q, word);
	for (size_t i = 0; i < q->nr_sites && !q->is_refused[word]; i++)
		if (q->sites[i].word == word)
			add_probe(q, &q->sites[i]);
	while (q->is_refused[word] && q->nr_probes > before) {
		probe_events_drop(q->events);
		q->nr_probes--;
	}
}

/* Events */

/*
 * Reads the queue's name; if there is none, the name of the PUT probe is used.  The field has the
 * position of the text in its lower half, and the text's length in its upper half.
 */
static void read_name(const struct queues *q, const struct probe *p, const struct probe_event *e, char name[NAME_BYTES])
{
	const struct queue_words *words = &q->words[p->word];
	uint32_t at = perf_field_read(&p->name, e->raw, e->raw_size), length = at >> 16;
	const char *text = (const char *)e->raw + (at & 0xffff);

	if (!p->name.size || !length || (at & 0xffff) + length > e->raw_size || !strnlen(text, length) ||
	    !strncmp(text, "(fault)", length)) {
		snprintf(name, NAME_BYTES, "%s:%s", words->provider, words->probes[QUEUE_PUT].name);
		return;
	}
	snprintf(name, NAME_BYTES, "%.*s", (int)strnlen(text, length), text);
	for (char *c = name; *c; c++)
		if (iscntrl(*c))
			*c = '?';
}

static void take_event(void *queues, const struct probe_event *e)
{
	struct queues *q = queues;
	const struct probe *p = &q->probes[e->probe];
	struct taken *t = probe_events_row(q->events, e);

	*t = (struct taken){
		.time = e->time, .ip = e->ip, .tid = e->tid, .event = p->event,
		.id = perf_field_number(&p->item, p->is_signed, e->raw, e->raw_size),
		.ends = p->event == QUEUE_TAKE && !q->has_end[p->word],
	};
	if (p->event != QUEUE_END)
		read_name(q, p, e, t->name);
}

/* Returns the number of the queue with that name; 0: there are too many. */
static uint64_t queue_of(struct queues *q, const char *name)
{
	uint64_t queue = LDB_REQ_QUEUE_NAMED | (hash_text(name) & (LDB_REQ_QUEUE_NAMED - 1));

	for (size_t i = 0; i < q->nr_names; i++)
		if (q->names[i] == queue)
			return queue;
	if (q->nr_names == NAMES_MAX)
		return 0;
	q->names[q->nr_names++] = queue;
	q->o.name(q->o.arg, queue, name);
	return queue;
}

static struct item *find_item(struct queues *q, uint64_t id, uint64_t queue)
{
	struct item *i;

	slots_each(&q->items, id, i)
		if (i->queue == queue)
			return i;
	return NULL;
}

/*
 * Updates the table of waiting items.  Returns true at a PUT if an item with this id seems to wait
 * already: the program has removed that item without TAKE and uses its address again, or the kernel
 * has lost the event of TAKE.
 */
static bool is_used_again(struct queues *q, const struct taken *t, uint64_t queue)
{
	struct item *i = find_item(q, t->id, queue);

	/*
	 * The probes of PUT and TAKE may report different names of the queue; then any item with
	 * this id counts.
	 */
	if (t->event != QUEUE_PUT && !i)
		i = slots_find(&q->items, t->id);
	if (t->event == QUEUE_PUT && !i) {
		i = slots_add(&q->items, t->id);
		if (i)
			i->queue = queue;
		return false;
	}
	if (t->event != QUEUE_PUT && i)
		slots_remove(&q->items, &i->slot);
	return t->event == QUEUE_PUT;
}

static void deliver_one(struct queues *q, const struct taken *t)
{
	static const unsigned ops[] = {
		[QUEUE_PUT] = LDB_REQ_OP_BLOCK, [QUEUE_TAKE] = LDB_REQ_OP_START, [QUEUE_END] = LDB_REQ_OP_END,
	};
	struct ldb_row_req row = {
		.op = ops[t->event], .tid = t->tid, .tick = probe_events_tick(q->events, t->time), .id = t->id,
		/* Readers show the place before this address, as if it were a return address. */
		.site = t->ip + 1,
	};

	if (t->event != QUEUE_END)
		row.queue = queue_of(q, t->name);
	/* A CUT row of a single request has its id twice; a row with 0 would cut all requests. */
	if ((row.queue || t->event != QUEUE_PUT) && is_used_again(q, t, row.queue) && t->id)
		q->o.row(q->o.arg, LDB_BLK_REQ, &(struct ldb_row_req){
			.op = LDB_REQ_OP_CUT, .tick = row.tick, .id = t->id, .queue = t->id,
		});
	q->o.row(q->o.arg, LDB_BLK_REQ, &row);
	q->total.put += t->event == QUEUE_PUT;
	q->total.taken += t->event == QUEUE_TAKE;
	if (t->event == QUEUE_PUT)
		q->o.row(q->o.arg, LDB_BLK_REQNAME, &(struct ldb_row_reqname){ .tick = row.tick, .id = t->id, .name = t->name });
	if (!t->ends)
		return;
	row.op = LDB_REQ_OP_END;
	row.queue = 0;
	q->o.row(q->o.arg, LDB_BLK_REQ, &row);
}

static void deliver(void *queues, void *rows, size_t nr)
{
	const struct taken *taken = rows;

	for (size_t i = 0; i < nr; i++)
		deliver_one(queues, &taken[i]);
}

void queues_poll(struct queues *q)
{
	probe_events_poll(q->events);
}

void queues_pause(struct queues *q, bool pause)
{
	probe_events_pause(q->events, pause);
}

void queues_finish(struct queues *q)
{
	probe_events_finish(q->events);
}

uint64_t queues_err_ns(const struct queues *q)
{
	return probe_events_err_ns(q->events);
}

uint64_t queues_lost(const struct queues *q)
{
	return probe_events_lost(q->events);
}

const struct queues_total *queues_total(const struct queues *q)
{
	return &q->total;
}

void queues_close(struct queues *q)
{
	if (!q)
		return;
	probe_events_free(q->events);
	for (size_t i = 0; i < q->nr_sites; i++)
		free(q->sites[i].file);
	for (size_t i = 0; i < q->o.nr_words; i++)
		free(q->words[i].text);
	slots_free(&q->items);
	free(q->sites);
	free(q->probes);
	free(q);
}

static bool open_probes(struct queues *q)
{
	char why[256];

	if (probe_events_open(q->events, why, sizeof(why)))
		return true;
	for (size_t i = 0; i < q->o.nr_words; i++)
		refuse(q, i, "", why);
	return false;
}

struct queues *queues_open(const struct queues_options *o)
{
	struct queues *q = calloc(1, sizeof(*q));
	struct probe_events_options events = {
		.pid = o->pid, .clock_id = o->clock_id, .t0 = o->t0, .offset_ns = o->offset_ns,
		.row_bytes = sizeof(struct taken), .take = take_event, .out = deliver, .arg = q,
	};

	if (!q)
		return NULL;
	q->o = *o;
	q->items = (struct slots){ .size = sizeof(struct item), .max = ITEMS_MAX };
	for (size_t i = 0; i < o->nr_words; i++)
		queue_words_parse(o->words[i], &q->words[i]);
	q->events = probe_events_alloc(&events);
	if (q->events) {
		queue_places_find(o->pid, q->words, o->nr_words, o->find, add_site, q);
		for (size_t i = 0; i < o->nr_words; i++)
			add_word(q, i);
		if (q->nr_probes && open_probes(q))
			return q;
	}
	queues_close(q);
	return NULL;
}
