// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests; see made-requests.h.
 *
 * Rows of invocations come in order of their ends, callees first.  So the last request of a thread
 * is retained until a call comes that begins after it: one that contains it takes its place.
 */
#include <linux/ldb.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/hash.h"
#include "base/slots.h"
#include "record/loops.h"
#include "record/made-requests.h"
#include "trace/request-words.h"

#define THREADS_MAX	65536
#define WAITING_MAX	8192	/* calls of functions whose names are not known yet */
#define PATIENCE_S	10	/* so long they wait */

struct answer {			/* is a call of this function a request? */
	uint64_t pc;
	const char *name;	/* NULL: it is none */
};

struct last {			/* request of a thread */
	struct slot slot;
	struct made_request request;
	bool has_request;
};

struct made_requests {
	struct made_options o;
	char **words;
	size_t nr_words, room_words;
	struct loops *loops;	/* NULL: requests are calls */
	struct answer *answers;
	size_t nr_answers, room_answers;
	struct hash answer_of;
	struct slots threads;	/* struct last, by tid */
	struct ldb_row_func *waiting;
	size_t nr_waiting, room_waiting;
	int64_t next;		/* tick, when requests that no call follows are counted */
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
	m->threads = (struct slots){ .size = sizeof(struct last), .max = THREADS_MAX };
	if (!strcmp(o->words, REQUEST_LOOP))
		m->loops = loops_alloc(on_turn, m);
	if (m->loops)
		loops_on_thread(m->loops, o->is_of_program, o->thread_arg);
	if (m->loops || (strcmp(o->words, REQUEST_LOOP) && set_words(m)))
		return m;
	made_requests_free(m);
	return NULL;
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
	slots_free(&m->threads);
	free(m->waiting);
	free(m);
}

uint64_t made_requests_forgotten(const struct made_requests *m)
{
	return m->nr_forgotten;
}

/* Requests of a thread */

static struct last *last_of(struct made_requests *m, uint32_t tid)
{
	return slots_find(&m->threads, tid) ?: slots_add(&m->threads, tid);
}

static void count(struct made_requests *m, struct last *l)
{
	if (l->has_request)
		m->o.made(m->o.arg, &l->request, true);
	l->has_request = false;
}

static void add(struct made_requests *m, struct last *l, const struct made_request *r)
{
	m->o.made(m->o.arg, r, false);
	if (l->has_request && r->start >= l->request.start && r->end <= l->request.end)
		return;		/* its name came late: it is inside of the last one */
	if (l->has_request && r->start <= l->request.start && r->end >= l->request.end)
		l->has_request = false;
	count(m, l);
	l->request = *r;
	l->has_request = true;
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

/* Start and end are estimated as facts/estimate.h does it, but not beyond what was observed. */
static void add_func(struct made_requests *m, const struct ldb_row_func *row, const char *name)
{
	struct made_request r = {
		.tid = row->tid, .start = row->start_max - half(row->start_unc), .end = row->end_max - half(row->end_unc),
		.name = name,
	};
	struct last *l = last_of(m, row->tid);

	if (!l) {
		m->nr_forgotten++;
		return;
	}
	if (r.end < r.start)
		r.end = r.start;
	add(m, l, &r);
}

void made_requests_func(struct made_requests *m, const struct ldb_row_func *row)
{
	const struct answer *a;

	if (m->loops || row->flags & (LDB_FUNC_F_OPEN | LDB_FUNC_F_FROM_START))
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

/* No call can come any more that contains one that ended so long ago. */
static void count_old(struct made_requests *m, int64_t tick)
{
	for (size_t i = 0; i < m->threads.nr; i++) {
		struct last *l = slots_at(&m->threads, i);

		if (!l->slot.is_used)
			continue;
		if (l->has_request && l->request.end < tick - m->o.second)
			count(m, l);
		if (!l->has_request)	/* threads come and go */
			slots_remove(&m->threads, &l->slot);
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
