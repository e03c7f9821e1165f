// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes invocations from the chains of frames that the kernel reads; see chain.h. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "record/chain/private.h"

/* Threads */

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
	*found = (struct chain){
		.tid = tid, .born = c->first, .written = NOT_KNOWN, .polled = NOT_KNOWN,
	};
	return found;
}

/*
 * Sets the depth and parent of each frame when a reading is complete.  Frames of an incomplete
 * reading, and those whose callers may be missing, are set after the next complete reading.
 */
static void place_all(struct chain *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		struct seen *s = &t->stack[i];

		if (s->is_placed)
			continue;
		s->depth = i;
		s->parent = i ? t->stack[i - 1].gen : 0;
		s->is_placed = true;
	}
}

/* Ends invocation i of the thread.  `error` is the possible error of `tick`. */
static void end(struct chains *c, struct chain *t, size_t i, int64_t tick, int64_t error)
{
	struct seen s = t->stack[i];

	s.end_min = chain_ends_after(c, t, &s);
	s.end_max = max(min(tick + error, s.ends_by), s.end_min);
	memmove(&t->stack[i], &t->stack[i + 1], (--t->nr - i) * sizeof(s));
	chain_rows_end(c, &s);
}

/* Functions that handle what the kernel has read */

static bool is_fresh(const struct chain *t, uint64_t gen)
{
	for (size_t i = 0; i < t->nr_fresh; i++)
		if (t->fresh[i].gen == gen)
			return true;
	return false;
}

/* Inserts a frame into the stack, where outer frames have higher addresses. */
static void insert(const struct chains *c, struct chain *t, const struct step *f)
{
	size_t at = t->nr;

	if (t->nr == LDB_STACK_MAX || chain_find(t, f->gen) || !f->gen || !f->pc ||
	    !array_room(&t->stack, &t->room, t->nr, sizeof(*t->stack)))
		return;
	while (at && t->stack[at - 1].addr < f->addr)
		at--;
	t->was_read = true;
	memmove(&t->stack[at + 1], &t->stack[at], (t->nr++ - at) * sizeof(*t->stack));
	t->stack[at] = (struct seen){
		.tid = t->tid, .gen = f->gen, .pc = f->pc, .ret = f->ret, .addr = f->addr,
		.start_min = chain_running_since(c, t), .start_max = f->tick + c->error,
		.end_min = NOT_KNOWN, .end_max = INT64_MAX, .ends_by = INT64_MAX, .by_kernel = true,
	};
	if (t->stack[at].start_min == NOT_KNOWN)
		t->stack[at].flags = LDB_FUNC_F_FROM_START;
}

/* Called when frames may be missing from the chain, for example because records were lost. */
static void break_chain(struct chain *t)
{
	t->is_broken = true;
	t->nr_readings = 0;
}

/*
 * Adds the frames of one block to the stack.  `known` is the innermost frame that an earlier
 * reading contained, too.  Frames of earlier readings that are newer than this frame have ended,
 * unless they are among the new frames.
 */
static void take_block(struct chains *c, struct chain *t, const struct step *known)
{
	for (size_t i = t->nr; i; i--) {
		const struct seen *s = &t->stack[i - 1];

		if (BLOCK(s->gen) == BLOCK(known->gen) && s->gen > known->gen && !is_fresh(t, s->gen))
			end(c, t, i - 1, known->tick, c->error);
	}
	if (known->gen > BLOCK(known->gen) && !chain_find(t, known->gen))
		break_chain(t);
	for (size_t i = t->nr_fresh; i && (!t->is_broken || t->is_all); i--)
		insert(c, t, &t->fresh[i - 1]);
	t->nr_fresh = 0;
}

static void end_all(struct chains *c, struct chain *t, int64_t tick)
{
	while (t->nr)
		end(c, t, t->nr - 1, tick, 0);
	t->nr_fresh = 0;
	t->is_away = false;
}

static void find_page(struct chains *c, struct chain *t)
{
	t->page = c->ops->page(c->arg, t->tid);
	if (t->page) {
		t->stack_lo = t->page->stack_lo;
		t->stack_hi = t->page->stack_hi;
	}
}

/* Returns false if the reading must be ignored. */
static bool is_followed(struct chains *c, struct chain *t, const struct step *s)
{
	if (t->is_left_alone || s->tick == c->cut)
		return false;
	if (!t->page)
		find_page(c, t);
	if (!t->page) {
		/*
		 * The thread's page exists before its first frame, but a reading may be processed
		 * before the page was found.  The frames of such a reading will not be reported
		 * again soon.
		 */
		if (s->kind == CHAIN_FRAME || (s->kind == CHAIN_KNOWN && s->gen > BLOCK(s->gen)))
			break_chain(t);
		return false;
	}
	if (s->addr && (s->addr < t->stack_lo || s->addr >= t->stack_hi)) {
		chain_leave_alone(c, t);
		return false;
	}
	return true;
}

/* Adds a reading; drops the older half if there are too many. */
static void add_reading(struct chain *t, int64_t tick)
{
	size_t half = READINGS_MAX / 2;

	if (t->nr_readings == READINGS_MAX) {
		t->nr_readings -= half;
		memmove(t->readings, t->readings + half, t->nr_readings * sizeof(*t->readings));
	}
	if (array_room(&t->readings, &t->room_readings, t->nr_readings, sizeof(*t->readings)))
		t->readings[t->nr_readings++] = (struct reading){ tick, tick };
}

/* Finishes a reading, when all blocks were read. */
static void finish_reading(struct chain *t, const struct step *s)
{
	t->nr_fresh = 0;
	t->is_broken &= !t->is_all;
	t->is_all = false;
	if (t->is_broken)
		return;
	place_all(t);
	add_reading(t, s->tick);
	t->was_read = true;
	t->is_away = s->kind == CHAIN_OUT;
}

/*
 * After events were lost, or after a pause, each thread may have returned to a CPU unnoticed.  If
 * events were lost, frames or ends of readings may be missing, too.
 */
static void take_gap(struct chains *c, const struct step *s)
{
	if (s->kind == CHAIN_LOST)
		c->cut = s->tick;
	for (size_t i = 0; i < c->nr_chains; i++) {
		struct chain *t = &c->chains[i];

		t->is_away = false;
		if (s->kind != CHAIN_LOST)
			continue;
		break_chain(t);
		t->nr_fresh = 0;
		t->is_all = false;
	}
}

static void take_step(struct chains *c, const struct step *s)
{
	struct chain *t = get_chain(c, s->tid);

	if (!t || (t->has_ended && s->kind != CHAIN_BORN && s->kind != CHAIN_BEGIN))
		return;
	if (s->kind <= CHAIN_OUT && !is_followed(c, t, s))
		return;
	/* All steps of a reading have the same tick: a reading that was not finished is dropped. */
	if (t->last != s->tick) {
		t->nr_fresh = 0;
		t->is_all = false;
	}
	t->last = s->tick;
	switch (s->kind) {
	case CHAIN_ALL:
		t->is_all = true;
		break;
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
		finish_reading(t, s);
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
		t->written = NOT_KNOWN;
		t->nr_readings = 0;
		t->page = NULL;
		t->is_left_alone = t->is_broken = t->has_ended = t->was_read = false;
		break;
	case CHAIN_BEGIN:
		t->born = s->tick;
		t->has_ended = false;
		break;
	case CHAIN_EXIT:
		end_all(c, t, s->tick);
		/*
		 * The thread takes the time of its exit before it writes the record.  If it left
		 * its CPU in between, that reading is later.
		 */
		if (t->nr_readings && t->readings[t->nr_readings - 1].tick > s->tick)
			chain_rows_cut(c, t->tid, s->tick);
		t->has_ended = true;
		break;
	case CHAIN_GONE:
		t->has_ended = true;
		break;
	case CHAIN_LOST: case CHAIN_RESUMED:
		break;	/* handled in take_gap() */
	}
}

static void take_steps(void *arg, void *steps, size_t nr)
{
	for (const struct step *s = steps; nr--; s++)
		if (s->kind >= CHAIN_LOST)
			take_gap(arg, s);
		else
			take_step(arg, s);
}

static void add_step(struct chains *c, const struct step *s)
{
	*(struct step *)backlog_add(&c->steps, s->tick) = *s;
}

/* Events */

static enum chain_step kind_of(uint16_t flags)
{
	if (flags & LDB_FRAME_F_ALL)
		return CHAIN_ALL;
	if (flags & LDB_FRAME_F_DONE)
		return CHAIN_DONE;
	return flags & LDB_FRAME_F_KNOWN ? CHAIN_KNOWN : CHAIN_FRAME;
}

void chains_frame(struct chains *c, int64_t tick, const struct ldb_rec *recs)
{
	struct ldb_frame_rec f;

	memcpy(&f, recs, sizeof(f));
	add_step(c, &(struct step){ tick, f.tid, kind_of(f.flags), f.gen, f.pc, f.ret, f.addr });
}

void chains_thread(struct chains *c, int64_t tick, uint32_t tid, enum chain_step kind)
{
	if (c->is_on)
		add_step(c, &(struct step){ .tick = tick, .tid = tid, .kind = kind });
}

void chains_exited(struct chains *c, int64_t tick, uint32_t tid)
{
	const struct chain *t = chain_of(c, tid);

	if (t && !t->has_ended && t->born <= tick)
		chains_thread(c, tick, tid, CHAIN_EXIT);
}

void chains_lost(struct chains *c, int64_t tick)
{
	chains_thread(c, tick, 0, CHAIN_LOST);
}

void chains_pause(struct chains *c, int64_t tick)
{
	chains_thread(c, tick, 0, CHAIN_RESUMED);
}

void chains_release(struct chains *c, int64_t tick)
{
	backlog_release(&c->steps, tick);
	chain_rows_release(c, tick);
}

static void write_open(struct chains *c, struct chain *t)
{
	int64_t last = t->nr_readings ? t->readings[t->nr_readings - 1].tick : 0;
	size_t nr = t->nr;

	/* Prevents chain_find() from finding these frames. */
	t->nr = 0;
	for (size_t i = 0; i < nr; i++) {
		struct seen *s = &t->stack[i];

		if (s->ends_by == INT64_MAX) {
			s->flags |= LDB_FUNC_F_OPEN;
			s->end_min = s->end_max = max(max(last, s->start_max), s->end_min);
		} else {
			chain_end_known(c, t, s);
		}
		chain_rows_open(c, s);
	}
}

void chains_finish(struct chains *c)
{
	chains_release(c, INT64_MAX);
	chain_rows_bound_running(c);
	for (size_t i = 0; i < c->nr_chains; i++)
		write_open(c, &c->chains[i]);
	chain_rows_finish(c);
}

void chains_set_first(struct chains *c, int64_t tick)
{
	c->first = tick;
}

void chains_set_error(struct chains *c, int64_t ticks)
{
	c->error = max(c->error, ticks);
}

void chains_expect(struct chains *c)
{
	c->is_on = true;
}

void chains_only_scanned(struct chains *c, bool only)
{
	c->only_scanned = only;
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

uint64_t chains_take_late(struct chains *c)
{
	uint64_t nr = c->nr_late;

	c->nr_late = 0;
	return nr;
}

struct chains *chains_alloc(uint64_t t0, int64_t wait, int64_t least, const struct chains_ops *ops,
			    void *arg)
{
	struct chains *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->t0 = t0;
	c->wait = wait;
	c->least = least;
	c->error = LDB_KERNEL_SLACK;
	c->first = c->cut = NOT_KNOWN;
	c->ops = ops;
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
	hash_free(&c->by_alone);
	chain_nest_free(&c->nest);
	free(c->chains);
	free(c->ended);
	free(c->bounded);
	free(c->alone);
	free(c->rows);
	free(c->open);
	free(c);
}
