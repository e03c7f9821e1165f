// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the ids of calls; see call-ids.h.
 *
 * If a pointer on the way to an id is invalid, the kernel records the value that an earlier call
 * has left in its buffer.  So each of these pointers is recorded, too.  If one is outside of any
 * program's memory, the call has no id, and its row says so.
 *
 * A call that begins with more data on the stack than an earlier call from the same place may be
 * nested in that call; its row says so.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arch/program.h"
#include "base/slots.h"
#include "record/perf/private.h"
#include "record/probes/call-ids.h"
#include "record/probes/call-places.h"
#include "record/probes/events.h"

#define PROBES_MAX	64
#define FIRST_PAGE	4096
#define ARGS_MAX	512
#define THREADS_MAX	65536
#define OPEN_MAX	32

struct probe {
	char *function;		/* name of the function as the user wrote it */
	bool is_signed;
	unsigned nr_bases;
	struct perf_field id, ret, sp, bases[REQUEST_PATH_MAX + 2];
};

struct stack {			/* a thread's calls that may not have returned, outermost first */
	struct slot slot;
	unsigned nr;
	struct open_call {
		uint64_t sp, ret;
		uint32_t probe;
	} at[OPEN_MAX];
};

struct call_ids {
	struct call_ids_options o;
	struct probe_events *events;
	struct probe probes[PROBES_MAX];
	size_t nr_probes;
	struct slots stacks;	/* by tid */
	uint64_t nr, nr_nowhere;
};

struct taken {
	uint64_t time, ret, sp;
	int64_t id;
	uint32_t tid, probe;
	bool is_nowhere;	/* a pointer to the id was invalid */
};

bool call_ids_are_wanted(const char *words)
{
	char *copy = words ? strdup(words) : NULL, *rest = copy, *word;
	bool are = false;

	while (!are && (word = strsep(&rest, "\n")))
		are = request_has_id(word);
	free(copy);
	return are;
}

/* Probes */

struct text {
	char at[ARGS_MAX];
	size_t nr;		/* if this is ARGS_MAX or more, the text was truncated */
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *t, const char *format, ...)
{
	va_list ap;

	if (t->nr >= sizeof(t->at))
		return;
	va_start(ap, format);
	t->nr += vsnprintf(t->at + t->nr, sizeof(t->at) - t->nr, format, ap);
	va_end(ap);
}

/* Writes the expression by which the kernel reads the value after `steps` steps: "+8(+0(%di))". */
static void fetch(struct text *t, const struct request_place *at, unsigned steps)
{
	static const char *const names[] = PROGRAM_PARAMETER_NAMES;

	for (unsigned i = steps; i-- > 0;)
		add(t, "%+" PRId64 "(", at->steps[i]);
	add(t, "%s", at->place < PROGRAM_PARAMETERS ? names[at->place] : PROGRAM_STACK);
	while (steps--)
		add(t, ")");
}

/* Writes all arguments of a probe.  Returns false if there is no room. */
static bool write_args(struct text *t, const struct request_place *at)
{
	t->nr = 0;
	add(t, "id=");
	fetch(t, at, at->nr_steps);
	add(t, ":%c%u ret=%s:u64 sp=%s:u64", at->is_signed ? 's' : 'u', 8 * at->size, PROGRAM_RETURN, PROGRAM_STACK);
	for (unsigned i = 0; i < at->nr_steps; i++) {
		add(t, " b%u=", i);
		fetch(t, at, i);
		add(t, ":u64");
	}
	return t->nr < sizeof(t->at);
}

static bool find_fields(const struct probe_events *events, struct probe *p)
{
	bool ok = probe_events_field(events, "id", &p->id) && probe_events_field(events, "ret", &p->ret) &&
		  probe_events_field(events, "sp", &p->sp);
	char name[16];

	for (unsigned i = 0; i < p->nr_bases && ok; i++) {
		snprintf(name, sizeof(name), "b%u", i);
		ok = probe_events_field(events, name, &p->bases[i]);
	}
	return ok;
}

static void warn(struct call_ids *c, const char *word, const char *why)
{
	char text[512];

	snprintf(text, sizeof(text), "--request='%s': its requests have no ids: %s", word, why);
	c->o.warn(c->o.arg, text);
}

/* Returns false if no further probe can be added. */
static bool add_probe(void *call_ids, const struct call_place *place)
{
	struct call_ids *c = call_ids;
	struct probe *p = &c->probes[c->nr_probes];
	char why[256] = "there are too many steps to it";
	struct text args;

	if (place->why) {
		warn(c, place->word, place->why);
		return true;
	}
	if (c->nr_probes == PROBES_MAX) {
		warn(c, place->word, "there are too many functions");
		return false;
	}
	*p = (struct probe){ .function = request_bare_name(place->word), .is_signed = place->at.is_signed,
			     .nr_bases = place->at.nr_steps };
	if (p->function && write_args(&args, &place->at) &&
	    probe_events_add(c->events, place->file, place->at.offset, 0, args.at, why, sizeof(why)) >= 0) {
		if (find_fields(c->events, p)) {
			c->nr_probes++;
			return true;
		}
		probe_events_drop(c->events);
		snprintf(why, sizeof(why), "the kernel does not say how it reports calls");
	}
	warn(c, place->word, p->function ? why : "out of memory");
	free(p->function);
	return true;
}

/* Delivering calls */

static bool is_valid(uint64_t base)
{
	return base >= FIRST_PAGE && base < PROGRAM_USER_END;
}

static void take_call(void *call_ids, const struct probe_event *e)
{
	struct call_ids *c = call_ids;
	const struct probe *p = &c->probes[e->probe];
	struct taken *taken = probe_events_row(c->events, e);
	bool is_nowhere = false;

	for (unsigned k = 0; k < p->nr_bases; k++)
		is_nowhere |= !is_valid(perf_field_read(&p->bases[k], e->raw, e->raw_size));
	c->nr_nowhere += is_nowhere;
	*taken = (struct taken){
		.time = e->time, .sp = perf_field_read(&p->sp, e->raw, e->raw_size),
		.ret = perf_field_read(&p->ret, e->raw, e->raw_size), .tid = e->tid, .probe = e->probe,
		.id = is_nowhere ? 0 : perf_field_number(&p->id, p->is_signed, e->raw, e->raw_size), .is_nowhere = is_nowhere,
	};
}

/*
 * Returns true if an earlier call from the same place may still be running, or if that is not known
 * because there is no memory.  Earlier calls that began with as much data on the stack as this one,
 * or more, have returned.
 */
static bool may_be_inner(struct call_ids *c, const struct taken *t)
{
	struct stack *s = slots_find(&c->stacks, t->tid) ?: slots_add(&c->stacks, t->tid);
	bool may_be = !s;

	if (!s)
		return true;
	while (s->nr && s->at[s->nr - 1].sp <= t->sp)
		s->nr--;
	for (unsigned i = 0; i < s->nr; i++)
		may_be |= s->at[i].ret == t->ret && s->at[i].probe == t->probe;
	if (s->nr == OPEN_MAX)
		memmove(s->at, s->at + 1, --s->nr * sizeof(s->at[0]));
	s->at[s->nr++] = (struct open_call){ t->sp, t->ret, t->probe };
	return may_be;
}

static void deliver(void *call_ids, void *rows, size_t nr)
{
	struct call_ids *c = call_ids;
	struct taken *taken = rows;
	char name[256];

	for (size_t i = 0; i < nr; i++) {
		const struct taken *t = &taken[i];
		struct ldb_row_event row = {
			.tid = t->tid, .tick = probe_events_tick(c->events, t->time), .value = t->id, .name = name,
		};

		snprintf(name, sizeof(name), REQUEST_ID_EVENT "%" PRIx64 "%s%s %s", t->ret,
			 may_be_inner(c, t) ? "?" : "", t->is_nowhere ? "-" : "", c->probes[t->probe].function);
		c->o.row(c->o.arg, LDB_BLK_EVENT, &row);
		c->nr += !t->is_nowhere;
	}
}

void call_ids_poll(struct call_ids *c)
{
	probe_events_poll(c->events);
}

void call_ids_pause(struct call_ids *c, bool pause)
{
	probe_events_pause(c->events, pause);
}

void call_ids_finish(struct call_ids *c)
{
	probe_events_finish(c->events);
}

uint64_t call_ids_err_ns(const struct call_ids *c)
{
	return probe_events_err_ns(c->events);
}

uint64_t call_ids_nr(const struct call_ids *c)
{
	return c->nr;
}

uint64_t call_ids_lost(const struct call_ids *c)
{
	return probe_events_lost(c->events);
}

uint64_t call_ids_nowhere(const struct call_ids *c)
{
	return c->nr_nowhere;
}

void call_ids_close(struct call_ids *c)
{
	if (!c)
		return;
	probe_events_free(c->events);
	for (size_t i = 0; i < c->nr_probes; i++)
		free(c->probes[i].function);
	slots_free(&c->stacks);
	free(c);
}

static bool open_probes(struct call_ids *c)
{
	char why[256], text[320];

	if (probe_events_open(c->events, why, sizeof(why)))
		return true;
	snprintf(text, sizeof(text), "--request: requests have no ids: %s", why);
	c->o.warn(c->o.arg, text);
	return false;
}

struct call_ids *call_ids_open(const struct call_ids_options *o)
{
	struct call_ids *c = calloc(1, sizeof(*c));
	struct probe_events_options events = {
		.pid = o->pid, .clock_id = o->clock_id, .t0 = o->t0, .offset_ns = o->offset_ns,
		.row_bytes = sizeof(struct taken), .take = take_call, .out = deliver, .arg = c,
	};

	if (!c)
		return NULL;
	c->o = *o;
	c->stacks = (struct slots){ .size = sizeof(struct stack), .max = THREADS_MAX };
	c->events = probe_events_alloc(&events);
	if (c->events) {
		call_places_find(o->pid, o->words, o->find, add_probe, c);
		if (c->nr_probes && open_probes(c))
			return c;
	}
	call_ids_close(c);
	return NULL;
}
