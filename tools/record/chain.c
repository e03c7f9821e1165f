// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes invocations of the chains that the kernel reads; see chain.h. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "record/chain-private.h"

/* Threads */

struct chain *chain_of(struct chains *c, uint32_t tid)
{
	uint32_t n;

	hash_each(&c->by_tid, hash_mix(0, tid), n)
		if (c->chains[n].tid == tid)
			return &c->chains[n];
	return NULL;
}

static struct chain *get_chain(struct chains *c, uint32_t tid)
{
	struct chain *found = chain_of(c, tid);

	if (found || !tid)
		return found;
	if (c->nr_chains == THREADS_MAX ||
	    !array_room(&c->chains, &c->room_chains, c->nr_chains, sizeof(*found)) ||
	    hash_add(&c->by_tid, hash_mix(0, tid), c->nr_chains))
		return NULL;
	found = &c->chains[c->nr_chains++];
	*found = (struct chain){ .tid = tid, .born = c->first };
	return found;
}

struct seen *chain_find(const struct chain *t, uint64_t gen)
{
	/* Of one block the inner ones are newer. */
	for (size_t i = t->nr; i; i--) {
		struct seen *s = &t->stack[i - 1];

		if (BLOCK(s->gen) == BLOCK(gen) && s->gen <= gen)
			return s->gen == gen ? s : NULL;
	}
	return NULL;
}

int64_t chain_running_since(const struct chain *t)
{
	if (!t->nr_readings)
		return t->born;
	return max(t->readings[t->nr_readings - 1].came - CLOCK_ERROR, t->born);
}

static void place(struct chain *t, size_t i)
{
	struct seen *s = &t->stack[i];

	if (s->is_placed)
		return;
	s->depth = i;
	s->parent = i ? t->stack[i - 1].gen : 0;
	s->is_placed = true;
}

/* Now that all frames of the reading are there, it is known who called whom. */
static void place_all(struct chain *t)
{
	for (size_t i = 0; i < t->nr; i++)
		place(t, i);
}

/* error: of the tick */
static void end(struct chains *c, struct chain *t, size_t i, int64_t tick, int64_t error)
{
	struct seen s;

	place(t, i);
	s = t->stack[i];
	s.gone = tick;
	s.end_min = max(chain_running_since(t), s.start_max);
	s.end_max = max(min(tick + error, s.ends_by), s.end_min);
	chain_rows_end(c, &s);
	t->nr_gone++;
	memmove(&t->stack[i], &t->stack[i + 1], (--t->nr - i) * sizeof(s));
}

/* Readings */

static bool is_fresh(const struct chain *t, uint64_t gen)
{
	for (size_t i = 0; i < t->nr_fresh; i++)
		if (t->fresh[i].gen == gen)
			return true;
	return false;
}

/* The outer ones are at higher addresses. */
static void insert(struct chain *t, const struct step *f)
{
	size_t at = t->nr;

	if (t->nr == LDB_STACK_MAX || chain_find(t, f->gen) || !f->gen || !f->pc ||
	    !array_room(&t->stack, &t->room, t->nr, sizeof(*t->stack)))
		return;
	while (at && t->stack[at - 1].addr < f->addr)
		at--;
	memmove(&t->stack[at + 1], &t->stack[at], (t->nr++ - at) * sizeof(*t->stack));
	t->stack[at] = (struct seen){
		.tid = t->tid, .gen = f->gen, .pc = f->pc, .ret = f->ret, .addr = f->addr,
		.start_min = chain_running_since(t), .start_max = f->tick + CLOCK_ERROR,
		.ends_by = INT64_MAX,
	};
}

/* Of one block: what is newer than its innermost known frame, and not fresh, has ended. */
static void take_block(struct chains *c, struct chain *t, const struct step *known)
{
	for (size_t i = t->nr; i; i--) {
		const struct seen *s = &t->stack[i - 1];

		if (BLOCK(s->gen) == BLOCK(known->gen) && s->gen > known->gen && !is_fresh(t, s->gen))
			end(c, t, i - 1, known->tick, CLOCK_ERROR);
	}
	for (size_t i = t->nr_fresh; i; i--)
		insert(t, &t->fresh[i - 1]);
	t->nr_fresh = 0;
}

static void end_all(struct chains *c, struct chain *t, int64_t tick)
{
	while (t->nr)
		end(c, t, t->nr - 1, tick, 0);
	t->nr_fresh = 0;
	t->is_away = false;
}

/* Forgets the older half when there are too many. */
static void add_reading(struct chain *t, int64_t tick)
{
	size_t half = READINGS_MAX / 2;

	if (t->nr_readings == READINGS_MAX) {
		t->nr_readings -= half;
		memmove(t->readings, t->readings + half, t->nr_readings * sizeof(*t->readings));
	}
	if (array_room(&t->readings, &t->room_readings, t->nr_readings, sizeof(*t->readings)))
		t->readings[t->nr_readings++] = (struct reading){ tick, tick, t->nr_gone };
	t->nr_gone = 0;
}

static void take_step(struct chains *c, const struct step *s)
{
	struct chain *t = get_chain(c, s->tid);

	if (!t || (t->has_ended && s->kind != CHAIN_BORN && s->kind != CHAIN_BEGIN))
		return;
	/* Of a reading that was not finished. */
	if (t->nr_fresh && t->fresh[0].tick != s->tick)
		t->nr_fresh = 0;
	switch (s->kind) {
	case CHAIN_FRAME:
		if (t->nr_fresh < LDB_STACK_MAX &&
		    array_room(&t->fresh, &t->room_fresh, t->nr_fresh, sizeof(*s)))
			t->fresh[t->nr_fresh++] = *s;
		break;
	case CHAIN_KNOWN:
		take_block(c, t, s);
		break;
	case CHAIN_OUT:
	case CHAIN_DONE:
		place_all(t);
		t->nr_fresh = 0;
		add_reading(t, s->tick);
		t->is_away = s->kind == CHAIN_OUT;
		break;
	case CHAIN_IN:
		if (t->is_away && t->nr_readings)
			t->readings[t->nr_readings - 1].came = s->tick;
		t->is_away = false;
		break;
	case CHAIN_UNREAD:
		t->is_away = false;
		break;
	case CHAIN_BORN:
		end_all(c, t, s->tick);
		t->born = s->tick;
		t->nr_readings = 0;
		t->has_ended = false;
		break;
	case CHAIN_BEGIN:
		t->born = s->tick;
		t->has_ended = false;
		break;
	case CHAIN_EXIT:
		end_all(c, t, s->tick);
		t->has_ended = true;
		break;
	}
}

static void take_steps(void *arg, void *steps, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		take_step(arg, (struct step *)steps + i);
}

static void add_step(struct chains *c, const struct step *s)
{
	*(struct step *)backlog_add(&c->steps, s->tick) = *s;
}

/* Events */

void chains_frame(struct chains *c, int64_t tick, const struct ldb_rec *recs)
{
	struct ldb_frame_rec f;

	memcpy(&f, recs, sizeof(f));
	add_step(c, &(struct step){
		tick, f.tid,
		f.flags & LDB_FRAME_F_DONE ? CHAIN_DONE : f.flags & LDB_FRAME_F_KNOWN ? CHAIN_KNOWN : CHAIN_FRAME,
		f.gen, f.pc, f.ret, f.addr,
	});
}

void chains_thread(struct chains *c, int64_t tick, uint32_t tid, enum chain_step kind)
{
	if (c->is_on)
		add_step(c, &(struct step){ .tick = tick, .tid = tid, .kind = kind });
}

void chains_release(struct chains *c, int64_t tick)
{
	backlog_release(&c->steps, tick);
	chain_rows_release(c, tick);
}

static void write_open(struct chains *c, struct chain *t)
{
	int64_t last = t->nr_readings ? t->readings[t->nr_readings - 1].tick : 0;

	place_all(t);
	for (size_t i = 0; i < t->nr; i++) {
		struct seen *s = &t->stack[i];

		s->start_max = min(s->start_max, last);
		s->end_min = s->end_max = last;
		chain_rows_open(c, s);
	}
	t->nr = 0;
}

void chains_finish(struct chains *c)
{
	chains_release(c, INT64_MAX);
	for (size_t i = 0; i < c->nr_chains; i++)
		write_open(c, &c->chains[i]);
}

void chains_set_first(struct chains *c, int64_t tick)
{
	c->first = tick;
}

void chains_expect(struct chains *c)
{
	c->is_on = true;
}

bool chains_are_read(const struct chains *c)
{
	return c->is_on;
}

int64_t chains_take_alone(struct chains *c, uint32_t tid)
{
	struct chain *t = chain_of(c, tid);
	int64_t nr = t ? t->nr_alone : 0;

	if (t)
		t->nr_alone = 0;
	return nr;
}

struct chains *chains_alloc(int64_t wait, int64_t least,
			    void (*out)(void *arg, const struct ldb_row_func *row), void *arg)
{
	struct chains *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->wait = wait;
	c->least = least;
	c->first = NOT_KNOWN;
	c->out = out;
	c->arg = arg;
	if (!backlog_init(&c->steps, sizeof(struct step), BACKLOG_MAX, take_steps, c))
		return c;
	free(c);
	return NULL;
}

void chains_free(struct chains *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nr_chains; i++) {
		free(c->chains[i].stack);
		free(c->chains[i].fresh);
		free(c->chains[i].readings);
	}
	backlog_exit(&c->steps);
	hash_free(&c->by_tid);
	hash_free(&c->by_gen);
	free(c->chains);
	free(c->ended);
	free(c->rows);
	free(c);
}
