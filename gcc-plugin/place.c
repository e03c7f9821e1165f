// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds where a function links and unlinks its record ("shrink placement").
 *
 * A block needs the record if it contains a call or another statement that may take time
 * (short.c), or lies in a cycle.  The record is linked at the nearest common dominator of all
 * those of these blocks that can return, moved up until it is in no cycle.  The blocks that this
 * block dominates are the region; the record is unlinked at the returns in the region, and on the
 * edges that leave it:
 *
 *	int get(int key)		int get(int key)
 *	{				{
 *		if (key == last)		if (key == last)
 *			return value;			return value;
 *						link
 *		lock();				lock();
 *		...				...
 *						unlink
 *		return value;			return value;
 *	}				}
 *
 * Invariants:
 * - A path links at most once: the entry is in no cycle.
 * - A path that has left the region cannot come back into it, for the same
 *   reason.  So every path that links, and returns, unlinks once.  A second unlink would be
 *   harmless, because it stores the same value again.
 * - Tail calls (those that tail.c does not change) do not need the record: it is unlinked
 *   before them.  Nor do builtins that never return (abort, the sanitizers' reports).
 * - A block outside the region whose last call never returns gets a link of its
 *   own: such cold ends (assert, throw) must not move the entry to the top.
 * - In a function with ldb_always, setjmp, nonlocal labels, or a leaving edge that cannot be split,
 *   the record is linked at the top and unlinked at the returns and tail calls.
 */
#include "instrument.h"

placement::placement(struct function *fn)
	: entry(NULL), inside(last_basic_block_for_fn(fn)),
	  has_loops(false), has_receivers(false)
{
	bitmap_clear(inside);
}

bool place_is_tail_call(gimple *stmt)
{
	gcall *call = dyn_cast<gcall *>(stmt);

	return call && (gimple_call_tail_p(call) ||
			gimple_call_must_tail_p(call));
}

/*
 * Returns true if the statement calls one of the known functions that switch to another stack, and
 * return after a switch back to the current one.  Meanwhile other functions have linked their
 * records.  GCC does not know that these functions behave like those that return twice; other
 * functions of this kind must be declared with the attribute returns_twice.
 */
static bool is_switch(gimple *stmt)
{
	static const char * const names[] = { "swapcontext", "jump_fcontext", "ontop_fcontext" };
	tree callee = gimple_call_fndecl(stmt);
	unsigned int i;

	if (!callee || !TREE_PUBLIC(callee) || !DECL_EXTERNAL(callee))
		return false;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(callee)), names[i]))
			return true;
	return false;
}

/* Returns true if control can return to this call from any depth of calls, as after setjmp(). */
bool place_is_second_return(gimple *stmt)
{
	if (!is_gimple_call(stmt))
		return false;
	return is_switch(stmt) ||
	       gimple_call_builtin_p(stmt, BUILT_IN_SETJMP_RECEIVER) ||
	       (gimple_call_flags(stmt) & ECF_RETURNS_TWICE);
}

bool place_needs_record(gimple *stmt)
{
	return !short_stmt(stmt) && !place_is_tail_call(stmt);
}

static bool block_needs_record(basic_block bb)
{
	gimple_stmt_iterator gsi;

	for (gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
		if (place_needs_record(gsi_stmt(gsi)))
			return true;
	return false;
}

static bool ends_in_tail_call(basic_block bb)
{
	gimple_stmt_iterator gsi;

	for (gsi = gsi_last_bb(bb); !gsi_end_p(gsi); gsi_prev(&gsi))
		if (place_is_tail_call(gsi_stmt(gsi)))
			return true;
	return false;
}

/* Sets the bits of all blocks that are in a cycle; returns true if there are any. */
static bool find_cycles(struct function *fn, sbitmap cyclic)
{
	int i, n = last_basic_block_for_fn(fn), nr_components;
	struct graph *g = new_graph(n);
	bool found = false;
	basic_block bb;
	edge_iterator ei;
	edge e;

	auto_vec<int> members;

	bitmap_clear(cyclic);
	FOR_EACH_BB_FN(bb, fn)
		FOR_EACH_EDGE(e, ei, bb->succs) {
			add_edge(g, bb->index, e->dest->index);
			if (e->dest == bb)
				bitmap_set_bit(cyclic, bb->index);
		}
	nr_components = graphds_scc(g, NULL);
	members.safe_grow_cleared(nr_components);
	for (i = 0; i < n; i++)
		members[g->vertices[i].component]++;
	FOR_EACH_BB_FN(bb, fn) {
		if (members[g->vertices[bb->index].component] > 1)
			bitmap_set_bit(cyclic, bb->index);
		found |= bitmap_bit_p(cyclic, bb->index);
	}
	free_graph(g);
	return found;
}

static bool has_nonlocal_label(basic_block bb)
{
	gimple_stmt_iterator gsi = gsi_start_bb(bb);
	glabel *label;

	if (gsi_end_p(gsi))
		return false;
	label = dyn_cast<glabel *>(gsi_stmt(gsi));
	return label && DECL_NONLOCAL(gimple_label_label(label));
}

/*
 * Returns true if control can enter in the middle of the function, by a nonlocal goto or a second
 * return.
 */
static bool has_second_entry(struct function *fn)
{
	gimple_stmt_iterator gsi;
	basic_block bb;

	FOR_EACH_BB_FN(bb, fn) {
		if (has_nonlocal_label(bb))
			return true;
		for (gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
			if (place_is_second_return(gsi_stmt(gsi)))
				return true;
	}
	return false;
}

/* Returns true if no statement can be inserted on the edge. */
static bool is_odd(edge e)
{
	return e->flags & (EDGE_ABNORMAL | EDGE_EH);
}

static bool can_be_entry(basic_block bb, const_sbitmap cyclic)
{
	edge_iterator ei;
	edge e;

	if (bitmap_bit_p(cyclic, bb->index))
		return false;
	FOR_EACH_EDGE(e, ei, bb->preds)
		if (is_odd(e))
			return false;
	return true;
}

static void place_whole(struct function *fn, struct placement *p)
{
	basic_block bb;

	p->entry = NULL;
	p->leave.truncate(0);
	p->dead_ends.truncate(0);
	FOR_EACH_BB_FN(bb, fn)
		bitmap_set_bit(p->inside, bb->index);
}

/*
 * Returns the nearest common dominator, among the blocks where a record can be linked, of all
 * blocks that need a record and can return; NULL if no block needs a record and can return.
 * Collects the blocks that need a record and cannot return in p->dead_ends.
 */
static basic_block find_dominator(struct function *fn, const_sbitmap cyclic,
				  struct placement *p)
{
	basic_block bb, dom = NULL;

	FOR_EACH_BB_FN(bb, fn) {
		/* An unreachable block has no dominator. */
		if (!get_immediate_dominator(CDI_DOMINATORS, bb))
			continue;
		if (!bitmap_bit_p(cyclic, bb->index) && !block_needs_record(bb))
			continue;
		if (EDGE_COUNT(bb->succs) == 0 && can_be_entry(bb, cyclic))
			p->dead_ends.safe_push(bb);
		else if (!dom)
			dom = bb;
		else
			dom = nearest_common_dominator(CDI_DOMINATORS, dom, bb);
	}
	while (dom && dom != ENTRY_BLOCK_PTR_FOR_FN(fn) &&
	       !can_be_entry(dom, cyclic))
		dom = get_immediate_dominator(CDI_DOMINATORS, dom);
	return dom;
}

/* Sets p->inside and p->leave; returns false if an edge that leaves p->inside cannot be split. */
static bool find_leaving_edges(struct function *fn, struct placement *p)
{
	basic_block bb;
	edge_iterator ei;
	edge e;

	FOR_EACH_BB_FN(bb, fn)
		if (get_immediate_dominator(CDI_DOMINATORS, bb) &&
		    dominated_by_p(CDI_DOMINATORS, bb, p->entry))
			bitmap_set_bit(p->inside, bb->index);

	FOR_EACH_BB_FN(bb, fn) {
		if (!bitmap_bit_p(p->inside, bb->index))
			continue;
		FOR_EACH_EDGE(e, ei, bb->succs) {
			if (e->dest == EXIT_BLOCK_PTR_FOR_FN(fn) ||
			    bitmap_bit_p(p->inside, e->dest->index))
				continue;
			if (is_odd(e))
				return false;
			if (!ends_in_tail_call(bb))
				p->leave.safe_push(e);
		}
	}
	return true;
}

static void drop_covered_dead_ends(struct placement *p)
{
	unsigned int i = 0;

	while (i < p->dead_ends.length())
		if (bitmap_bit_p(p->inside, p->dead_ends[i]->index))
			p->dead_ends.unordered_remove(i);
		else
			i++;
}

/* Returns false if the function needs no record. */
bool place_function(struct function *fn, bool always, struct placement *p)
{
	bool second_entry = has_second_entry(fn);

	auto_sbitmap cyclic(last_basic_block_for_fn(fn));

	p->has_loops = find_cycles(fn, cyclic);
	p->has_receivers = second_entry ||
			   (fn->eh && vec_safe_length(fn->eh->lp_array) > 1);
	if (always || second_entry) {
		place_whole(fn, p);
		return true;
	}

	calculate_dominance_info(CDI_DOMINATORS);
	p->entry = find_dominator(fn, cyclic, p);
	if (!p->entry) {
		free_dominance_info(CDI_DOMINATORS);
		return !p->dead_ends.is_empty();
	}
	if (p->entry == ENTRY_BLOCK_PTR_FOR_FN(fn) ||
	    !find_leaving_edges(fn, p))
		place_whole(fn, p);
	drop_covered_dead_ends(p);
	free_dominance_info(CDI_DOMINATORS);
	return true;
}

static bool is_real_call(gimple *stmt)
{
	gcall *call = dyn_cast<gcall *>(stmt);
	tree decl;

	if (!call || gimple_call_internal_p(call) || place_is_tail_call(stmt))
		return false;
	decl = gimple_call_fndecl(call);
	return !decl || !is_inexpensive_builtin(decl);
}

/*
 * Returns true if there may be a call between the link and an unlink, for which a value in a
 * register would have to be saved.
 */
bool place_has_calls(struct function *fn, const struct placement *p)
{
	gimple_stmt_iterator gsi;
	basic_block bb;

	FOR_EACH_BB_FN(bb, fn) {
		if (!bitmap_bit_p(p->inside, bb->index) || EDGE_COUNT(bb->succs) == 0)
			continue;
		for (gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
			if (is_real_call(gsi_stmt(gsi)))
				return true;
	}
	return false;
}
