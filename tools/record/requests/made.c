// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests; see made.h.
 *
 * Rows of invocations come in order of their ends, callees first.  So the requests of a thread are
 * retained for a second: if a request that contains them follows, they are dropped.
 */
#include <linux/ldb.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/hash.h"
#include "base/slots.h"
#include "record/requests/loops.h"
#include "record/requests/made.h"
#include "record/requests/pauses.h"
#include "trace/request-words.h"

#define THREADS_MAX	65536
#define WAITING_MAX	8192	/* calls of functions whose names are not known yet */
#define PATIENCE_S	10	/* calls are retained this long for their names */
/* retained requests of a thread; beyond this, the older half is counted early */
#define UNCOUNTED_MAX	4096

struct answer {			/* says whether calls of a function are requests */
	uint64_t pc;
	const char *name;	/* class of the requests; NULL: the calls are not requests */
};

struct uncounted {		/* retained requests of a thread, by their ends */
	struct slot slot;
	struct made_request *at;
	size_t nr, room;
};

struct made_requests {
	struct made_options o;
	char **words;
	size_t nr_words, room_words;
	struct loops *loops;	/* NULL: requests are made from calls */
	const struct pauses *pauses;	/* NULL: there are no pauses */
	struct answer *answers;
	size_t nr_answers, room_answers;
	struct hash answer_of;
	struct slots threads;	/* struct uncounted, by tid */
	struct ldb_row_func *waiting;
	size_t nr_waiting, room_waiting;
	int64_t next;		/* tick at which old requests are counted next */
	uint64_t nr_forgotten;
};

bool made_requests_are(const char *words)
{
	return words && strcmp(words, REQUEST_TAGS) && strcmp(words, REQUEST_SOCKET);
}

static bool set_words(struct made_requests *m)
{
	char *copy = strdup(m->o.words), *rest = copy, *word, *bare;
	bool ok = copy;

	while (ok && (word = strsep(&rest, "\n"))) {
		bare = request_bare_name(word);
		ok = bare && !array_push(m->words, m->nr_words, m->room_words, bare);
		if (!ok)
			free(bare);
	}
	free(copy);
	return ok;
}

static void on_turn(void *made, uint32_t tid, int64_t from, int64_t to);

struct made_requests *made_requests_alloc(const struct made_options *o)
{
	struct made_requests *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->o = *o;
	m->next = INT64_MIN;
	m->threads = (struct slots){ .size = sizeof(struct uncounted), .max = THREADS_MAX };
	if (!strcmp(o->words, REQUEST_LOOP))
		m->loops = loops_alloc(on_turn, m);
	if (m->loops)
		loops_on_thread(m->loops, o->is_of_program, o->thread_arg);
	if (m->loops || (strcmp(o->words, REQUEST_LOOP) && set_words(m)))
		return m;
	made_requests_free(m);
	return NULL;
}

static void free_uncounted(struct uncounted *u)
{
	if (u->slot.is_used)
		free(u->at);
}

void made_requests_free(struct made_requests *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr_words; i++)
		free(m->words[i]);
	free(m->words);
	free(m->answers);
	loops_free(m->loops);
	hash_free(&m->answer_of);
	for (size_t i = 0; i < m->threads.nr; i++)
		free_uncounted(slots_at(&m->threads, i));
	slots_free(&m->threads);
	free(m->waiting);
	free(m);
}

void made_requests_on_pauses(struct made_requests *m, const struct pauses *pauses)
{
	m->pauses = pauses;
}

uint64_t made_requests_forgotten(const struct made_requests *m)
{
	return m->nr_forgotten;
}

/* Requests of a thread */

static struct uncounted *uncounted_of(struct made_requests *m, uint32_t tid)
{
	return slots_find(&m->threads, tid) ?: slots_add(&m->threads, tid);
}

static bool contains(const struct made_request *outer, const struct made_request *inner)
{
	return outer->start <= inner->start && outer->end >= inner->end;
}

/* Counts the first nr requests. */
static void count(struct made_requests *m, struct uncounted *u, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		m->o.made(m->o.arg, &u->at[i], true);
	u->nr -= nr;
	memmove(u->at, u->at + nr, u->nr * sizeof(*u->at));
}

/*
 * Returns true if r is nested in a retained request: the function's name may have become known
 * late.
 */
static bool is_inner(const struct uncounted *u, const struct made_request *r)
{
	for (size_t i = u->nr; i-- && u->at[i].end >= r->end;)
		if (contains(&u->at[i], r))
			return true;
	return false;
}

/* Drops requests that are nested in r, and returns the index for r. */
static size_t forget_inner(struct uncounted *u, const struct made_request *r)
{
	size_t first = u->nr, left, place;

	while (first && u->at[first - 1].end >= r->start)
		first--;
	left = place = first;
	for (size_t i = first; i < u->nr; i++) {
		if (contains(r, &u->at[i]))
			continue;
		u->at[left++] = u->at[i];
		place = u->at[i].end <= r->end ? left : place;
	}
	u->nr = left;
	return place;
}

static void add(struct made_requests *m, struct uncounted *u, const struct made_request *r)
{
	size_t place;

	m->o.made(m->o.arg, r, false);
	if (is_inner(u, r))
		return;
	if (u->nr == UNCOUNTED_MAX)
		count(m, u, u->nr / 2);
	place = forget_inner(u, r);
	if (!array_room(&u->at, &u->room, u->nr, sizeof(*u->at))) {
		m->nr_forgotten++;
		return;
	}
	memmove(&u->at[place + 1], &u->at[place], (u->nr++ - place) * sizeof(*u->at));
	u->at[place] = *r;
}

/* Functions */

static const struct answer *find_answer(const struct made_requests *m, uint64_t pc)
{
	uint32_t n;

	hash_each(&m->answer_of, hash_mix(0, pc), n)
		if (m->answers[n].pc == pc)
			return &m->answers[n];
	return NULL;
}

/* Returns NULL if the name is not known yet. */
static const struct answer *answer_of(struct made_requests *m, uint64_t pc)
{
	const struct answer *known = find_answer(m, pc);
	const char *name = known ? NULL : filter_name_of(m->o.filter, pc);
	struct answer new = { .pc = pc };

	if (known || !name)
		return known;
	for (size_t i = 0; i < m->nr_words; i++)
		if (*name && request_word_matches(m->words[i], name))
			new.name = name;
	if (!array_room(&m->answers, &m->room_answers, m->nr_answers, sizeof(new)) ||
	    hash_add(&m->answer_of, hash_mix(0, pc), m->nr_answers))
		return NULL;
	m->answers[m->nr_answers++] = new;
	return &m->answers[m->nr_answers - 1];
}

static int64_t half(uint64_t unc)
{
	return unc == LDB_UNC_UNKNOWN ? 0 : unc / 2;
}

/* Start and end are estimated as in facts/estimate.h, but not beyond what was observed. */
static void add_func(struct made_requests *m, const struct ldb_row_func *row, const char *name)
{
	struct made_request r = {
		.tid = row->tid, .start = row->start_max - half(row->start_unc), .end = row->end_max - half(row->end_unc),
		.name = name,
	};
	struct uncounted *u = uncounted_of(m, row->tid);

	if (!u) {
		m->nr_forgotten++;
		return;
	}
	if (r.end < r.start)
		r.end = r.start;
	add(m, u, &r);
}

void made_requests_func(struct made_requests *m, const struct ldb_row_func *row)
{
	const struct answer *a;

	int64_t start = row->start_max - (row->start_unc == LDB_UNC_UNKNOWN ? 0 : (int64_t)row->start_unc);

	if (m->loops || row->flags & (LDB_FUNC_F_OPEN | LDB_FUNC_F_FROM_START))
		return;
	if (m->pauses && pauses_are_in(m->pauses, start, row->end_max))
		return;
	a = answer_of(m, row->pc);
	if (a && a->name)
		add_func(m, row, a->name);
	else if (!a && (m->nr_waiting == WAITING_MAX || array_push(m->waiting, m->nr_waiting, m->room_waiting, *row)))
		m->nr_forgotten++;
}

static void take_waiting(struct made_requests *m, int64_t tick)
{
	size_t nr = m->nr_waiting, left = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct ldb_row_func *row = &m->waiting[i];
		const struct answer *a = answer_of(m, row->pc);

		if (a && a->name)
			add_func(m, row, a->name);
		else if (!a && tick - row->end_max < PATIENCE_S * m->o.second)
			m->waiting[left++] = *row;
		else if (!a)
			m->nr_forgotten++;
	}
	m->nr_waiting = left;
}

/* Event loops */

static void on_turn(void *made, uint32_t tid, int64_t from, int64_t to)
{
	struct made_requests *m = made;
	struct made_request turn = { .tid = tid, .start = from, .end = to, .name = REQUEST_LOOP };

	m->o.made(m->o.arg, &turn, false);
	m->o.made(m->o.arg, &turn, true);
}

void made_requests_calls(struct made_requests *m, const struct ldb_row_syscall *rows, size_t nr)
{
	if (m->loops)
		loops_calls(m->loops, rows, nr);
}

void made_requests_sched(struct made_requests *m, const struct ldb_row_sched *rows, size_t nr)
{
	if (m->loops)
		loops_sched(m->loops, rows, nr);
}

void made_requests_cut(struct made_requests *m, int64_t tick)
{
	if (m->loops)
		loops_cut(m->loops, tick);
}

/*
 * Counts requests that ended more than a second ago, even if a longer call that contains them has
 * not ended.
 */
static void count_old(struct made_requests *m, int64_t tick)
{
	for (size_t i = 0; i < m->threads.nr; i++) {
		struct uncounted *u = slots_at(&m->threads, i);
		size_t nr = 0;

		if (!u->slot.is_used)
			continue;
		while (nr < u->nr && u->at[nr].end < tick - m->o.second)
			nr++;
		count(m, u, nr);
		if (u->nr)
			continue;
		free(u->at);	/* threads come and go */
		slots_remove(&m->threads, &u->slot);
	}
}

void made_requests_poll(struct made_requests *m, int64_t tick)
{
	if (m->loops)
		loops_pass(m->loops);
	if (m->nr_waiting)
		take_waiting(m, tick);
	if (tick < m->next)
		return;
	m->next = tick + m->o.second;
	count_old(m, tick);
}

void made_requests_finish(struct made_requests *m)
{
	if (m->loops)
		loops_pass(m->loops);
	take_waiting(m, INT64_MAX / 2);
	count_old(m, INT64_MAX / 2);
}
