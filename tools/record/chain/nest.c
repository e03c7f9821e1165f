// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the bounds of a thread's invocations consistent.  The scanner and the kernel have observed
 * the invocations at different times.  What one of them knows of an invocation also bounds its
 * callers, its callees, and the invocations before and after it.  Generations number the
 * invocations of a block in the order in which they begin, so in each block:
 *
 *	no invocation begins after a newer one
 *	an invocation begins and ends within its caller
 *	an invocation that is not the caller of a newer one has ended when that one begins
 *
 * There is one exception: a signal may arrive after an invocation was numbered and before its
 * record is linked.  What the handler calls then has a higher number, but ends before the
 * invocation begins.  In this case the older invocation has a callee that is newer than both.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "record/chain/private.h"

static int by_thread_block_gen(const void *pa, const void *pb)
{
	const struct seen *a = ((const struct nested *)pa)->s, *b = ((const struct nested *)pb)->s;

	UP(tid)
	if (BLOCK(a->gen) != BLOCK(b->gen))
		return BLOCK(a->gen) < BLOCK(b->gen) ? -1 : 1;
	UP(gen)
	return 0;
}

static bool is_open(const struct seen *s)
{
	return s->flags & LDB_FUNC_F_OPEN;
}

/* Callers */

static struct seen *find(const struct chain_nest *n, uint32_t tid, uint64_t gen)
{
	struct seen key = { .tid = tid, .gen = gen };
	struct nested want = { .s = &key };
	size_t at = search(n->nr, i, by_thread_block_gen(&n->all[i], &want) < 0);

	return at < n->nr && !by_thread_block_gen(&n->all[at], &want) ? n->all[at].s : NULL;
}

/* Finds the nearest caller in the same block.  Returns false if the caller is not known. */
static bool find_caller(const struct chain_nest *n, const struct seen *s, uint64_t *caller)
{
	uint64_t at = s->parent;

	for (unsigned i = 0; at && BLOCK(at) != BLOCK(s->gen); i++) {
		const struct seen *other = find(n, s->tid, at);

		if (!other || i == LDB_STACK_MAX)
			return false;
		at = other->parent;
	}
	*caller = at;
	return true;
}

/*
 * Returns the index of the caller of i.  The caller is older, so its index is lower; usually it is
 * i - 1 or a caller of that.
 */
static size_t find_above(const struct nested *v, size_t i)
{
	size_t at = i, nr;

	if (!v[i].caller)
		return NO_NESTED;
	for (nr = 0; at && nr < LDB_STACK_MAX; nr++) {
		at = nr && v[at].above != NO_NESTED ? v[at].above : at - 1;
		if (v[at].s->gen <= v[i].caller)
			break;
	}
	if (v[at].s->gen != v[i].caller)
		at = search(i, m, v[m].s->gen < v[i].caller);
	return at < i && v[at].s->gen == v[i].caller ? at : NO_NESTED;
}

static void find_callers(const struct chain_nest *n, struct nested *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		v[i].is_known = find_caller(n, v[i].s, &v[i].caller);
		v[i].above = find_above(v, i);
		if (v[i].above != NO_NESTED)
			v[v[i].above].last_callee = v[i].s->gen;
	}
}

/* Returns true if, as far as is known, the older invocation is a caller of the newer one. */
static bool contains(const struct nested *old, const struct nested *new)
{
	if (new->is_known)
		return old->s->gen <= new->caller &&
		       (old->s->gen == new->caller || old->s->depth + 1 < new->s->depth);
	return old->s->depth < new->s->depth;
}

/* Returns true if a signal handler called the newer invocation before the older one began. */
static bool came_between(const struct nested *old, const struct nested *new)
{
	return old->last_callee > new->s->gen && !contains(old, new);
}

/* Bounds */

static void end_by(struct seen *s, int64_t tick)
{
	if (is_open(s)) {
		if (tick == INT64_MAX)
			return;
		/*
		 * The scanner did not run when the invocation ended; end_max is when the scanner
		 * last observed it.
		 */
		s->flags &= ~LDB_FUNC_F_OPEN;
		s->end_min = s->end_max;
		s->end_max = INT64_MAX;
	}
	s->end_max = min(s->end_max, tick);
	s->ends_by = min(s->ends_by, tick);
}

/* Bounds invocations by their callers: a callee ends before its caller. */
static void bound_by_callers(struct nested *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct seen *s = v[i].s;

		if (v[i].above != NO_NESTED && !is_open(v[v[i].above].s))
			end_by(s, v[v[i].above].s->end_max);
		s->start_max = min(s->start_max, s->end_max - !is_open(s));
	}
}

static void bound_by_newer(struct nested *v, size_t nr)
{
	for (size_t i = nr; i > 1; i--)
		if (!came_between(&v[i - 2], &v[i - 1]))
			v[i - 2].s->start_max = min(v[i - 2].s->start_max, v[i - 1].s->start_max);
}

/*
 * Removes invocation i, which had returned when another invocation began at tick, from the stack.
 * Its callees have been removed before.
 */
static void take_off(struct nested *v, size_t i, int64_t tick, int64_t *all_ended)
{
	struct seen *s = v[i].s;

	end_by(s, tick);
	s->start_max = min(s->start_max, s->end_max);
	s->end_min = min(s->end_min, s->end_max);
	if (v[i].above != NO_NESTED)
		v[v[i].above].s->end_min = max(v[v[i].above].s->end_min, s->end_min);
	*all_ended = max(*all_ended, s->end_min);
}

static void bound_by_older(struct seen *s, int64_t all_ended)
{
	if (s->start_min != NOT_KNOWN)
		s->start_min = min(max(s->start_min, all_ended), s->start_max);
	s->end_min = s->end_min == NOT_KNOWN ? NOT_KNOWN : max(s->end_min, s->start_min);
}

/*
 * Returns the latest possible beginning of an invocation.  If two invocations end at the same time,
 * the newer one is assumed to end first, because it may be a callee of the older one.
 */
static int64_t began_by(const struct seen *s)
{
	return is_open(s) ? s->start_max : min(s->start_max, s->end_max - 1);
}

static void bound_by_others(struct chain_nest *n, struct nested *v, size_t nr)
{
	int64_t all_ended = NOT_KNOWN;
	size_t depth = 0;

	for (size_t i = 0; i < nr; i++) {
		while (depth && !contains(&v[n->stack[depth - 1]], &v[i])) {
			if (came_between(&v[n->stack[depth - 1]], &v[i]))
				goto next;
			take_off(v, n->stack[--depth], began_by(v[i].s), &all_ended);
		}
		bound_by_older(v[i].s, all_ended);
		n->stack[depth++] = i;
next:		;
	}
	while (depth)
		take_off(v, n->stack[--depth], INT64_MAX, &all_ended);
}

static void settle(struct seen *s)
{
	if (s->start_min != NOT_KNOWN)
		s->start_min = min(s->start_min, s->start_max);
	if (s->end_min != NOT_KNOWN)
		s->end_min = min(max(s->end_min, s->start_min), s->end_max);
}

/* Callers in other blocks */

static int by_depth(const void *pa, const void *pb)
{
	const struct seen *a = ((const struct nested *)pa)->s, *b = ((const struct nested *)pb)->s;

	UP(depth)
	return 0;
}

/*
 * Returns true if the two invocations can have run at the same time.  On stacks that the program
 * made, the scanner may report a wrong parent.
 */
static bool overlap(const struct seen *s, const struct seen *parent)
{
	return parent->start_min <= s->start_max && (is_open(parent) || s->end_min <= parent->end_max);
}

static struct seen *find_parent(const struct chain_nest *n, const struct seen *s)
{
	struct seen *parent = s->parent ? find(n, s->tid, s->parent) : NULL;

	return parent && overlap(s, parent) ? parent : NULL;
}

/*
 * Bounds each invocation by the one that called it, and that caller by its callees, even if they
 * are in different blocks.
 */
static void bound_by_parents(struct chain_nest *n)
{
	for (size_t i = 0; i < n->nr; i++)
		n->all[i].parent = find_parent(n, n->all[i].s);
	sort_by(n->all, n->nr, by_depth);
	for (size_t i = 0; i < n->nr; i++) {
		struct seen *s = n->all[i].s, *parent = n->all[i].parent;

		if (!parent)
			continue;
		if (!is_open(parent))
			end_by(s, parent->end_max);
		if (s->start_min != NOT_KNOWN)
			s->start_min = max(s->start_min, parent->start_min);
		s->start_max = min(s->start_max, s->end_max - !is_open(s));
	}
	for (size_t i = n->nr; i; i--) {
		struct seen *s = n->all[i - 1].s, *parent = n->all[i - 1].parent;

		settle(s);
		if (!parent)
			continue;
		parent->start_max = min(parent->start_max, s->start_max);
		if (!is_open(parent))
			parent->end_min = max(parent->end_min, s->end_min);
	}
}

/* All invocations of a thread */

void chain_nest_begin(struct chain_nest *n)
{
	n->nr = 0;
}

/* Adds an invocation.  If there is no memory, its bounds are not changed. */
void chain_nest_add(struct chain_nest *n, struct seen *s)
{
	array_push(n->all, n->nr, n->room, { .s = s });
}

void chain_nest_finish(struct chain_nest *n)
{
	size_t end;

	if (!array_reserve(&n->stack, &n->room_stack, n->nr, sizeof(*n->stack)))
		return;
	sort_by(n->all, n->nr, by_thread_block_gen);
	for (size_t from = 0; from < n->nr; from = end) {
		struct nested *v = n->all + from;
		const struct seen *s = v->s;

		end = from;
		while (end < n->nr && n->all[end].s->tid == s->tid && BLOCK(n->all[end].s->gen) == BLOCK(s->gen))
			end++;
		find_callers(n, v, end - from);
		bound_by_callers(v, end - from);
		bound_by_newer(v, end - from);
		bound_by_others(n, v, end - from);
		for (size_t i = from; i < end; i++)
			settle(n->all[i].s);
	}
	bound_by_parents(n);
}

void chain_nest_free(struct chain_nest *n)
{
	free(n->all);
	free(n->stack);
}
