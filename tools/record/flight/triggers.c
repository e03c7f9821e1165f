// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements conditions for a dump; see triggers.h. */
#include <ctype.h>
#include <linux/ldb.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "cli/units.h"
#include "record/flight/triggers.h"
#include "record/requests/loops.h"

/* seconds over which a percentile is computed; each has an element in parts[] */
#define WINDOW_S	10
#define TEXT_MAX	256
#define TRIGGERS_MAX	64	/* with so many, none can be added to a running recording */

enum what { WHAT_REQUEST, WHAT_LOCK, WHAT_PERCENTILE, WHAT_STALL, WHAT_SIGNAL, WHAT_CRASH, WHAT_END };

struct trigger {
	char text[TEXT_MAX];
	enum what what;
	char class[TEXT_MAX];	/* REQUEST, PERCENTILE: "": any class */
	/* PERCENTILE: fraction of requests that may be longer, such as 0.01 */
	double share;
	uint64_t limit_ns;
	double limit;		/* ticks */
	int signal;
	/* PERCENTILE: requests of each second; the first element is the current second */
	struct { uint64_t nr, nr_over; } parts[WINDOW_S];
	/* the limit was exceeded at the last check; the condition is met when this becomes true */
	bool is_over;
};

struct flight_triggers {
	struct trigger *all;
	size_t nr, room;
	uint64_t signals;	/* bit mask of the signals in the conditions at the start */
	double ns_per_tick;
	flight_triggers_fn *fn;
	void *arg;
	struct loops *stalls;	/* NULL: no condition needs it */
	loops_thread_fn *is_of_program;
	void *thread_arg;
};

/* Parsing */

static const char *const words[] = {
	[WHAT_REQUEST] = "request", [WHAT_LOCK] = "lock", [WHAT_STALL] = "stall", [WHAT_CRASH] = "crash",
	[WHAT_END] = "end",
};

static const struct { const char *name; int number; } signals[] = { { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 } };

static const char *parse_signal(struct trigger *t, const char *name)
{
	t->what = WHAT_SIGNAL;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!strcmp(name, signals[i].name))
			t->signal = signals[i].number;
	return t->signal ? NULL : "the signal is USR1 or USR2";
}

/* Parses "99.9", perhaps with ":CLASS"; the limit was cut off before. */
static const char *parse_percentile(struct trigger *t, const char *text)
{
	char *end;
	double p = strtod(text, &end);

	t->what = WHAT_PERCENTILE;
	if (p < 1 || p > 99.999)
		return "a percentile is from p1 to p99.999";
	t->share = (100 - p) / 100;
	if (*end == ':')
		snprintf(t->class, sizeof(t->class), "%s", end + 1);
	else if (*end)
		return "what follows the percentile is >DURATION, or :CLASS>DURATION";
	return NULL;
}

static bool parse_word(struct trigger *t, const char *word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (words[i] && !strcmp(word, words[i])) {
			t->what = i;
			return true;
		}
	}
	return false;
}

static const char *parse_what(struct trigger *t, const char *what)
{
	if (!strncmp(what, "class:", 6) && what[6]) {
		t->what = WHAT_REQUEST;
		snprintf(t->class, sizeof(t->class), "%s", what + 6);
		return NULL;
	}
	if (*what == 'p' && isdigit((unsigned char)what[1]))
		return parse_percentile(t, what + 1);
	return parse_word(t, what) ? NULL :
	       "give request>50ms, class:NAME>5ms, p99:NAME>2ms, lock>10ms, stall>100ms, signal:USR1, crash or end";
}

static bool has_limit(const struct trigger *t)
{
	return t->what != WHAT_SIGNAL && t->what != WHAT_CRASH && t->what != WHAT_END;
}

/* Parses a condition.  The name of a class may contain '>'. */
static const char *parse(struct trigger *t, const char *text)
{
	const char *limit = strrchr(text, '>'), *wrong;
	char what[TEXT_MAX];

	*t = (struct trigger){ 0 };
	if (strlen(text) >= sizeof(what))
		return "it is too long";
	snprintf(t->text, sizeof(t->text), "%s", text);
	if (!strncmp(text, "signal:", 7))
		return parse_signal(t, text + 7);
	snprintf(what, sizeof(what), "%.*s", limit ? (int)(limit - text) : TEXT_MAX - 1, text);
	wrong = parse_what(t, what);
	if (wrong)
		return wrong;
	if (has_limit(t) != !!limit)
		return limit ? "it has no limit" : "it needs a limit: >5ms";
	if (limit && units_parse_duration(limit + 1, 0, &t->limit_ns))
		return "its limit is no duration: give 5ms, 200us, 1s";
	return NULL;
}

const char *flight_triggers_check(const char *text)
{
	struct trigger t;

	return parse(&t, text);
}

bool flight_triggers_has_signal(const char *const *texts, size_t nr, int signal)
{
	struct trigger t;

	for (size_t i = 0; i < nr; i++)
		if (!parse(&t, texts[i]) && t.what == WHAT_SIGNAL && t.signal == signal)
			return true;
	return false;
}

static void on_stall(void *arg, uint32_t tid, int64_t from, int64_t to);

static void set_limit(const struct flight_triggers *t, struct trigger *x)
{
	x->limit = t->ns_per_tick > 0 ? x->limit_ns / t->ns_per_tick : 0;
}

/* Adds a condition.  Returns NULL, or what is wrong with it. */
static const char *add(struct flight_triggers *t, const char *text)
{
	struct trigger new;
	const char *wrong = parse(&new, text);

	if (wrong)
		return wrong;
	if (new.what == WHAT_STALL && !t->stalls) {
		t->stalls = loops_alloc(on_stall, t);
		if (t->stalls)
			loops_on_thread(t->stalls, t->is_of_program, t->thread_arg);
	}
	if ((new.what == WHAT_STALL && !t->stalls) || array_push(t->all, t->nr, t->room, new))
		return "out of memory";
	set_limit(t, &t->all[t->nr - 1]);
	return NULL;
}

static size_t find(const struct flight_triggers *t, const char *text)
{
	size_t i = 0;

	while (i < t->nr && strcmp(t->all[i].text, text))
		i++;
	return i;
}

struct flight_triggers *flight_triggers_alloc(const char *const *texts, size_t nr, flight_triggers_fn *fn, void *arg)
{
	struct flight_triggers *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->fn = fn;
	t->arg = arg;
	for (size_t i = 0; i < nr; i++) {
		if (add(t, texts[i])) {
			flight_triggers_free(t);
			return NULL;
		}
		if (t->all[i].what == WHAT_SIGNAL)
			t->signals |= 1ULL << t->all[i].signal;
	}
	return t;
}

const char *flight_triggers_add(struct flight_triggers *t, const char *text)
{
	struct trigger new;
	const char *wrong = parse(&new, text);

	if (wrong)
		return wrong;
	if (new.what == WHAT_SIGNAL && !(t->signals & 1ULL << new.signal))
		return "a signal can only be a trigger from the beginning: ldb-record --trigger signal:USR1";
	if (find(t, text) < t->nr)
		return "it is one already";
	return t->nr < TRIGGERS_MAX ? add(t, text) : "there are too many";
}

const char *flight_triggers_remove(struct flight_triggers *t, const char *text)
{
	size_t i = find(t, text);

	if (!strcmp(text, "all"))
		t->nr = 0;
	else if (i == t->nr)
		return "there is no such trigger";
	else
		memmove(&t->all[i], &t->all[i + 1], (--t->nr - i) * sizeof(*t->all));
	return NULL;
}

const char *flight_triggers_print(const struct flight_triggers *t, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	for (size_t i = 0; i < t->nr && n < size; i++)
		n += snprintf(text + n, size - n, "%s%s", n ? "  " : "", t->all[i].text);
	return text;
}

void flight_triggers_free(struct flight_triggers *t)
{
	if (!t)
		return;
	loops_free(t->stalls);
	free(t->all);
	free(t);
}

void flight_triggers_clock(struct flight_triggers *t, double ns_per_tick)
{
	t->ns_per_tick = ns_per_tick;
	for (size_t i = 0; i < t->nr; i++)
		set_limit(t, &t->all[i]);
}

/* Events */

static const char *duration(const struct flight_triggers *t, double ticks, char *text)
{
	return units_duration(ticks * t->ns_per_tick, text);
}

static void request_met(struct flight_triggers *t, const struct trigger *x, const struct flight_request *r)
{
	char why[TEXT_MAX * 2], text[UNITS_ROOM];

	if (r->tid) {
		snprintf(why, sizeof(why), "%s of thread %u took %s (%s)", r->name, r->tid,
			 duration(t, (double)r->end - r->start, text), x->text);
		t->fn(t->arg, why);
		return;
	}
	snprintf(why, sizeof(why), "request %llu%s%s%s took %s (%s)", (unsigned long long)r->id,
		 *r->name ? " (" : "", r->name, *r->name ? ")" : "",
		 duration(t, (double)r->end - r->start, text), x->text);
	t->fn(t->arg, why);
}

static bool is_of_class(const struct trigger *x, const struct flight_request *r)
{
	return !*x->class || !strcmp(x->class, r->name);
}

void flight_triggers_ended(struct flight_triggers *t, const struct flight_request *r)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->all[i].what == WHAT_REQUEST && is_of_class(&t->all[i], r) &&
		    (double)r->end - r->start > t->all[i].limit)
			request_met(t, &t->all[i], r);
}

void flight_triggers_count(struct flight_triggers *t, const struct flight_request *r)
{
	for (size_t i = 0; i < t->nr; i++) {
		struct trigger *x = &t->all[i];

		if (x->what != WHAT_PERCENTILE || !is_of_class(x, r))
			continue;
		x->parts[0].nr++;
		x->parts[0].nr_over += (double)r->end - r->start > x->limit;
	}
}

void flight_triggers_request(struct flight_triggers *t, const struct flight_request *r)
{
	flight_triggers_ended(t, r);
	flight_triggers_count(t, r);
}

static void lock_met(struct flight_triggers *t, const struct trigger *x, const struct ldb_row_lock *row)
{
	char why[TEXT_MAX * 2], text[UNITS_ROOM];

	snprintf(why, sizeof(why), "thread %u waited %s for the lock at %#llx (%s)", row->tid,
		 duration(t, (double)row->end - row->begin, text), (unsigned long long)row->lock, x->text);
	t->fn(t->arg, why);
}

/*
 * Returns true if the wait counts: only locks do, because waits for conditions, semaphores,
 * barriers and joins are normal.
 */
static bool is_lock(uint32_t flags)
{
	return LDB_LOCK_KIND(flags) <= LDB_LOCK_SPIN || LDB_LOCK_KIND(flags) == LDB_LOCK_OWN;
}

void flight_triggers_locks(struct flight_triggers *t, const struct ldb_row_lock *rows, size_t nr)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct trigger *x = &t->all[i];

		for (size_t k = 0; x->what == WHAT_LOCK && k < nr; k++)
			if (rows[k].op == LDB_LOCK_OP_WAIT && is_lock(rows[k].flags) && (double)rows[k].end - rows[k].begin > x->limit)
				lock_met(t, x, &rows[k]);
	}
}

static void on_stall(void *arg, uint32_t tid, int64_t from, int64_t to)
{
	struct flight_triggers *t = arg;
	char why[TEXT_MAX * 2], text[UNITS_ROOM];

	for (size_t i = 0; i < t->nr; i++) {
		if (t->all[i].what != WHAT_STALL || (double)to - from <= t->all[i].limit)
			continue;
		snprintf(why, sizeof(why), "the event loop of thread %u worked for %s without waiting (%s)", tid,
			 duration(t, (double)to - from, text), t->all[i].text);
		t->fn(t->arg, why);
	}
}

void flight_triggers_starts(struct flight_triggers *t, const struct ldb_row_req *rows, size_t nr)
{
	if (t->stalls)
		loops_starts(t->stalls, rows, nr);
}

void flight_triggers_calls(struct flight_triggers *t, const struct ldb_row_syscall *rows, size_t nr)
{
	if (t->stalls)
		loops_calls(t->stalls, rows, nr);
}

void flight_triggers_sched(struct flight_triggers *t, const struct ldb_row_sched *rows, size_t nr)
{
	if (t->stalls)
		loops_sched(t->stalls, rows, nr);
}

void flight_triggers_on_thread(struct flight_triggers *t, loops_thread_fn *fn, void *arg)
{
	t->is_of_program = fn;
	t->thread_arg = arg;
	if (t->stalls)
		loops_on_thread(t->stalls, fn, arg);
}

void flight_triggers_pass(struct flight_triggers *t)
{
	if (t->stalls)
		loops_pass(t->stalls);
}

void flight_triggers_signal(struct flight_triggers *t, int signal)
{
	char why[TEXT_MAX * 2];

	for (size_t i = 0; i < t->nr; i++) {
		if (t->all[i].what != WHAT_SIGNAL || t->all[i].signal != signal)
			continue;
		snprintf(why, sizeof(why), "the recorder got a signal (%s)", t->all[i].text);
		t->fn(t->arg, why);
	}
}

void flight_triggers_end(struct flight_triggers *t, const char *end)
{
	bool has_crashed = !strncmp(end, "signal:", 7);
	char why[TEXT_MAX * 2];

	for (size_t i = 0; i < t->nr; i++) {
		if (t->all[i].what != WHAT_END && (t->all[i].what != WHAT_CRASH || !has_crashed))
			continue;
		snprintf(why, sizeof(why), "the recording has ended: %s (%s)", end, t->all[i].text);
		t->fn(t->arg, why);
	}
}

/* The p-th percentile exceeds the limit if more than (100 - p) percent of the requests do. */
static void percentile_second(struct flight_triggers *t, struct trigger *x)
{
	char why[TEXT_MAX * 3], text[UNITS_ROOM];
	uint64_t nr = 0, nr_over = 0;
	bool is_over;

	for (int i = 0; i < WINDOW_S; i++) {
		nr += x->parts[i].nr;
		nr_over += x->parts[i].nr_over;
	}
	/* The percentile is meaningless if too few requests have ended. */
	is_over = nr * x->share >= 1 && nr_over > nr * x->share;
	if (is_over && !x->is_over) {
		snprintf(why, sizeof(why), "%llu of the last %llu requests%s%s took more than %s (%s)",
			 (unsigned long long)nr_over, (unsigned long long)nr, *x->class ? " of " : "", x->class,
			 duration(t, x->limit, text), x->text);
		t->fn(t->arg, why);
	}
	x->is_over = is_over;
	memmove(&x->parts[1], &x->parts[0], sizeof(x->parts) - sizeof(x->parts[0]));
	x->parts[0].nr = x->parts[0].nr_over = 0;
}

void flight_triggers_second(struct flight_triggers *t)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->all[i].what == WHAT_PERCENTILE)
			percentile_second(t, &t->all[i]);
}
