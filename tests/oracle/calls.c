// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This automaton checks that invocations nest.
 *
 * A thread's invocations (of one block; another block counts for itself) are numbered in the
 * order in which they began, and come here in the order in which they ended.  That is a
 * traversal of the tree of calls: when A ends, the invocations inside it are those that ended
 * before and have a higher number.  A stack holds the invocations whose caller has not ended.
 *
 *	those that A pops began and ended in A, and A is their caller
 *	those that remain had ended when A began
 *
 * This is checked as far as the bounds of the times permit, because the true times are somewhere
 * within these bounds.
 *
 * Legal exceptions:
 * - Invocations that were still running at the end end with the recording, in the order of the
 *   stack, whatever their rows say: a row has the time at which the invocation was last observed.
 * - Invocations that were running when the recording began have no known start.
 * - A coroutine that is resumed continues invocations that had been left, which have a row for each
 *   time between two switches; meanwhile others were entered.  The later rows (LDB_FUNC_F_RESUMED)
 *   are not part of the tree, and are not the callers of invocations that were entered in them.
 * - Callers that did not end before the recorder was killed have no row.
 * - Callers in another block (a library with a block of its own) are in another stack.
 * - If records were lost, a row may be missing: see oracle_excused().
 * - A signal may come after an invocation is numbered and before its record is linked: what the
 *   handler calls has a higher number, and the same caller, and has ended when it begins.  If more
 *   signals follow, the scanner may poll several times in between: then the record may be linked
 *   late, but what was called must be a handler.
 * - A lock's stamp may be earlier than another CPU can observe what its thread has done: witness.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "map.h"
#include "sorted.h"

#define GEN_ONE		(1ULL << 16)	/* the bits below this are the number of the block */

struct ended {				/* one invocation, or neighbours of one caller */
	uint64_t gen_first, gen_last, parent;
	int64_t start_max;		/* the least value of these invocations */
	int64_t end_min;		/* the greatest value of these invocations */
	uint64_t ret;			/* return address of all the invocations; 0: they differ */
	uint32_t depth;
};

struct stack {				/* stack of a thread's block */
	struct ended *ended;
	size_t nr, room;
	struct instance *instance;
};

struct calls {
	struct oracle *o;
	struct map stacks;		/* thread instance and block -> struct stack */
	struct map resumed;		/* resumed_key() -> whether it has LDB_FUNC_F_RESUMED */
	uint64_t nr_rows, nr_open, nr_old, nr_parents, nr_pairs, nr_witnessed;
};

static void key_of(const void *row, struct sorted_key *key)
{
	const struct ldb_row_func *f = row;

	/* Of the invocations that one poll found ended, the innermost ended first. */
	*key = (struct sorted_key){ f->flags & LDB_FUNC_F_OPEN ? INT64_MAX : f->end_max, ~f->gen };
}

static int64_t lower(int64_t max, uint64_t unc)
{
	int64_t min;

	if (unc == LDB_UNC_UNKNOWN || unc > INT64_MAX || __builtin_sub_overflow(max, (int64_t)unc, &min))
		return TICK_UNKNOWN;
	return min;
}

static void bad(struct calls *c, const char *rule, const struct ldb_row_func *f, const char *with,
		uint64_t other)
{
	oracle_violation(c->o, ORACLE_CALLS, rule, "tid %u gen %" PRIx64 " parent %" PRIx64
			 " depth %u flags %u start %" PRId64 "-%" PRIu64 " end %" PRId64 "-%" PRIu64
			 ": %s %" PRIx64, f->tid, f->gen, f->parent_gen, f->depth, f->flags, f->start_max,
			 f->start_unc, f->end_max, f->end_unc, with, other);
}

/* Checks the conditions that concern a single row. */
static void check_row(struct calls *c, const struct ldb_row_func *f)
{
	int64_t start_min = lower(f->start_max, f->start_unc), end_min = lower(f->end_max, f->end_unc);
	bool open = f->flags & LDB_FUNC_F_OPEN, old = f->flags & LDB_FUNC_F_FROM_START;
	bool resumed = f->flags & LDB_FUNC_F_RESUMED;
	uint32_t known = LDB_FUNC_F_OPEN | LDB_FUNC_F_FROM_START | LDB_FUNC_F_RESUMED;

	if (f->flags & ~known || (resumed && !old) || !f->pc || !f->tid || f->gen < GEN_ONE)
		bad(c, "row", f, "flags", f->flags);
	if (f->start_max > f->end_max || (start_min != TICK_UNKNOWN && end_min != TICK_UNKNOWN &&
					  start_min > end_min && !open))
		bad(c, "ends before it starts", f, "", 0);
	if (old && f->start_unc != LDB_UNC_UNKNOWN)
		bad(c, "start of what ran before", f, "", 0);
	if (f->start_max < 0 || (!old && start_min != TICK_UNKNOWN && start_min < 0))
		bad(c, "before the recording", f, "", 0);
	if (f->end_max > c->o->end)
		bad(c, "after the recording", f, "", 0);
	if (!f->depth != !f->parent_gen)
		bad(c, "depth without parent", f, "", 0);
	if (f->parent_gen % GEN_ONE == f->gen % GEN_ONE && f->parent_gen >= f->gen)
		bad(c, "younger than its callee", f, "", 0);
}

static void check_instance(struct calls *c, const struct ldb_row_func *f, struct instance *l)
{
	int64_t start_min = lower(f->start_max, f->start_unc);
	bool old = (f->flags & LDB_FUNC_F_FROM_START) && !(f->flags & LDB_FUNC_F_RESUMED);

	if (f->flags & LDB_FUNC_F_OPEN)
		l->open_rows++;
	else if (f->flags & LDB_FUNC_F_FROM_START)
		l->old_rows++;
	else
		l->rows++;
	if (l->start != TICK_UNKNOWN &&
	    (old || f->start_max < l->start || (start_min != TICK_UNKNOWN && start_min < l->start)))
		bad(c, "before its thread", f, "tid's start", l->start);
	if (l->exited && f->end_max > l->end)
		bad(c, "after its thread", f, "tid's end", l->end);
	if (l->exited && f->flags & LDB_FUNC_F_OPEN)
		bad(c, "open in a dead thread", f, "", 0);
}

/*
 * Compares the scanner's observations with the generations that the thread itself recorded at
 * locks.
 */
static void check_witness(struct calls *c, const struct ldb_row_func *f, const struct instance *l)
{
	int64_t start_min = lower(f->start_max, f->start_unc), before, after;

	if (f->gen % GEN_ONE || f->flags & LDB_FUNC_F_RESUMED || !witness_find(c->o, l, f->gen, &before, &after))
		return;
	c->nr_witnessed++;
	if (f->start_max < before)
		bad(c, "observed before it began", f, "a lock's generation says not before", before);
	if (start_min != TICK_UNKNOWN && start_min > after)
		bad(c, "observed to begin too late", f, "a lock's generation says before", after);
}

static void push(struct stack *s, const struct ldb_row_func *f, int64_t end_min)
{
	struct ended *top = s->nr ? &s->ended[s->nr - 1] : NULL;

	/* Merges neighbours: no later row can contain only one of the two invocations. */
	if (top && top->parent == f->parent_gen && top->depth == f->depth) {
		top->gen_last = f->gen;
		if (top->ret != f->ret)
			top->ret = 0;
		if (f->start_max < top->start_max)
			top->start_max = f->start_max;
		if (end_min > top->end_min)
			top->end_min = end_min;
		return;
	}
	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 16;
		s->ended = realloc(s->ended, s->room * sizeof(*s->ended));
		if (!s->ended)
			oracle_out_of_memory();
	}
	s->ended[s->nr++] = (struct ended){
		.gen_first = f->gen, .gen_last = f->gen, .parent = f->parent_gen, .depth = f->depth,
		.start_max = f->start_max, .end_min = end_min, .ret = f->ret,
	};
}

/* The key of a thread's invocation.  Two that share a key excuse each other. */
static uint64_t resumed_key(uint64_t thread, uint64_t gen)
{
	return gen ^ thread << 48 ^ thread << 8;
}

static bool is_resumed(const struct calls *c, const struct stack *s, uint64_t gen)
{
	uint64_t thread = s->instance ? (size_t)(s->instance - c->o->instances) : 0;
	const bool *is = map_find(&c->resumed, resumed_key(thread, gen));

	return is && *is;
}

/* Returns true if the caller must be in this stack, because it needed a row. */
static bool wants_parent(const struct calls *c, const struct stack *s, const struct ended *e)
{
	return e->parent && e->parent % GEN_ONE == e->gen_first % GEN_ONE && !c->o->is_cut &&
	       !is_resumed(c, s, e->parent);
}

/*
 * Returns true if e was called by a signal handler that came between f's number and its link: see
 * the head of this file.
 */
static bool came_between(struct oracle *o, const struct ended *e, const struct ldb_row_func *f,
			 int64_t start_min)
{
	return e->parent && e->parent == f->parent_gen && e->depth == f->depth &&
	       e->end_min <= f->start_max &&
	       (start_min == TICK_UNKNOWN || e->start_max >= start_min || oracle_is_handler(o, e->ret));
}

static void contain(struct calls *c, struct stack *s, const struct ldb_row_func *f)
{
	int64_t start_min = lower(f->start_max, f->start_unc);

	while (s->nr && s->ended[s->nr - 1].gen_last > f->gen) {
		const struct ended *e = &s->ended[--s->nr];

		c->nr_pairs++;
		if (came_between(c->o, e, f, start_min))
			continue;
		if (start_min != TICK_UNKNOWN && e->start_max < start_min)
			bad(c, "starts before its caller", f, "callee", e->gen_last);
		if (!(f->flags & LDB_FUNC_F_OPEN) && e->end_min > f->end_max)
			bad(c, "ends after its caller", f, "callee", e->gen_last);
		if (!wants_parent(c, s, e))
			continue;
		c->nr_parents++;
		if (e->parent != f->gen) {
			if (!oracle_excused(c->o))
				bad(c, "parent missing", f, "it has a callee that says it is of", e->parent);
		} else if (e->depth != f->depth + 1) {
			bad(c, "depth", f, "callee", e->gen_last);
		}
	}
}

static void follow(struct calls *c, struct stack *s, const struct ldb_row_func *f)
{
	int64_t end_min = f->flags & LDB_FUNC_F_OPEN ? f->end_max : lower(f->end_max, f->end_unc);
	const struct ended *top;

	top = s->nr ? &s->ended[s->nr - 1] : NULL;
	if (top && top->gen_last == f->gen) {
		bad(c, "twice", f, "", 0);
		return;
	}
	if (top) {
		c->nr_pairs++;
		if (top->end_min > f->start_max)
			bad(c, "overlaps one before", f, "that", top->gen_last);
	}
	push(s, f, end_min);
}

static struct stack *stack_of(struct calls *c, const struct ldb_row_func *f, struct instance *l)
{
	uint64_t thread = l ? (size_t)(l - c->o->instances) : c->o->nr_instances + f->tid, block = f->gen % GEN_ONE;
	struct stack *s;

	s = map_get(&c->stacks, thread << 16 | block);
	s->instance = l;
	return s;
}

static void check_call(struct calls *c, const struct ldb_row_func *f)
{
	int64_t when = f->flags & LDB_FUNC_F_OPEN ? INT64_MAX : f->start_max;
	struct instance *l = oracle_instance(c->o, f->tid, when);
	struct stack *s;

	c->nr_rows++;
	c->nr_open += !!(f->flags & LDB_FUNC_F_OPEN);
	c->nr_old += !!(f->flags & LDB_FUNC_F_FROM_START);
	check_row(c, f);
	if (l) {
		check_instance(c, f, l);
		check_witness(c, f, l);
	} else {
		oracle_alive(c->o, ORACLE_CALLS, "invocation", f->tid, f->start_max);
	}
	s = stack_of(c, f, l);
	if (f->flags & LDB_FUNC_F_RESUMED) {
		*(bool *)map_get(&c->resumed, resumed_key(l ? (size_t)(l - c->o->instances) : 0, f->gen)) = true;
		return;
	}
	contain(c, s, f);
	follow(c, s, f);
}

/* All callers have been read; an invocation that still waits for its caller has none. */
static void check_ends(struct calls *c)
{
	struct stack *s;
	uint64_t key;
	size_t i = 0;

	while ((s = map_next(&c->stacks, &i, &key))) {
		for (size_t n = 0; n < s->nr; n++) {
			const struct ended *e = &s->ended[n];

			if (!wants_parent(c, s, e))
				continue;
			if (!oracle_excused(c->o))
				oracle_violation(c->o, ORACLE_CALLS, "parent missing", "tid %u gen %" PRIx64
						 " .. %" PRIx64 " are of %" PRIx64 ", which has no row",
						 s->instance ? s->instance->tid : 0, e->gen_first, e->gen_last,
						 e->parent);
		}
		free(s->ended);
	}
}

/*
 * Compares with the threads' own counts.  Rows of invocations from before the recording count
 * only if they ran until its end.  A thread whose page was used again before anybody read it has
 * no counters (made is 0, too).
 */
static void check_counts(struct calls *c)
{
	uint64_t nr = 0, left_out = c->o->nr_left_out;

	if (c->o->is_cut)
		return;
	for (size_t i = 0; i < c->o->nr_instances; i++) {
		const struct instance *l = &c->o->instances[i];
		uint64_t rows = l->rows + l->open_rows;

		nr++;
		if (l->seen > l->made + l->open_rows)
			oracle_violation(c->o, ORACLE_CALLS, "observed and not made", "tid %u made %" PRIu64
					 " seen %" PRIu64, l->tid, l->made, l->seen);
		if (rows == l->seen)
			continue;
		if (rows < l->seen && l->seen - rows <= c->o->nr_lost + left_out) {
			/* Each invocation that was left out is counted once. */
			left_out -= l->seen - rows < left_out ? l->seen - rows : left_out;
			continue;
		}
		oracle_violation(c->o, ORACLE_CALLS, "rows and counter differ", "tid %u has %" PRIu64 " rows, %"
				 PRIu64 " of them open, and %" PRIu64 " that ran before, but seen %" PRIu64,
				 l->tid, rows, l->open_rows, l->old_rows, l->seen);
	}
	oracle_counts(c->o, ORACLE_CALLS, "%" PRIu64 " counters", nr);
}

/*
 * In an observation gap nothing is known; so it must be an interval within the recording, of a known
 * thread or of all threads.
 */
static void check_gaps(struct calls *c)
{
	struct cursor *cursor = reader_cursor(c->o->r, LDB_BLK_GAP, NULL);
	struct reader_rows in;
	uint64_t nr = 0;

	while (cursor && cursor_next(cursor, &in) > 0) {
		for (size_t i = 0; i < in.nr; i++) {
			const struct ldb_row_gap *g = &in.gap[i];

			nr++;
			if (g->begin >= g->end || g->begin < 0 || g->end > c->o->end)
				oracle_violation(c->o, ORACLE_CALLS, "gap", "tid %u %" PRId64 " .. %" PRId64,
						 g->tid, g->begin, g->end);
			if (g->tid)
				oracle_alive(c->o, ORACLE_CALLS, "gap", g->tid, g->end);
		}
	}
	cursor_close(cursor);
	oracle_counts(c->o, ORACLE_CALLS, "%" PRIu64 " gaps", nr);
}

void check_calls(struct oracle *o)
{
	struct calls c = { .o = o, .stacks = MAP_OF(struct stack), .resumed = MAP_OF(bool) };
	const struct ldb_row_func *f;
	struct sorted rows;

	sorted_open(&rows, o, LDB_BLK_FUNC, sizeof(*f), key_of);
	while ((f = sorted_next(&rows)))
		check_call(&c, f);
	if (rows.nr_late)
		oracle_violation(o, ORACLE_CALLS, "not in order", "%" PRIu64 " rows come more than %u too late",
				 rows.nr_late, SORTED_WINDOW);
	sorted_close(&rows);
	check_ends(&c);
	oracle_counts(o, ORACLE_CALLS, "%" PRIu64 " invocations, %" PRIu64 " open, %" PRIu64
		      " from before; %" PRIu64 " pairs and %" PRIu64 " callers checked, %zu stacks, %"
		      PRIu64 " beginnings have a second witness",
		      c.nr_rows, c.nr_open, c.nr_old, c.nr_pairs, c.nr_parents, c.stacks.nr,
		      c.nr_witnessed);
	check_counts(&c);
	check_gaps(&c);
	map_exit(&c.stacks);
	map_exit(&c.resumed);
}
