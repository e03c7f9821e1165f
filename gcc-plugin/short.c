// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides which statements and functions take too little time for a record.
 *
 * A statement is short unless it may take a noticeable time: a call of an unknown function, a
 * copy without a bound.  A function is proved short if it has no cycle, all its statements are
 * short (for exceptions see is_string_read() and is_quiet_end()), and its longest path costs at
 * most short_path_insns:
 *
 *	static int hash(key)	{ return key * 31 >> 7; }	proved
 *	static int slot(key)	{ return hash(key) & mask; }	proved
 *	int get(key)		{ return table[slot(key)]; }	needs no record
 *
 * GCC compiles callees before their callers where it can, so a list of the functions that were
 * proved so far is enough.  A callee that is compiled later, and the function itself, are not in
 * the list.
 *
 * Invariant: a call is short because of the list only if it certainly executes the proved body.  A
 * function that another module may replace (-fPIC, weak), that is noipa, or that is called through
 * a pointer or an ifunc, counts as unknown.  The body of a C++ inline function can be relied on, as
 * GCC's inlining does, because any other copy has the same source.
 */
#include "arch/arch.h"

/* Copying an object of at least this size takes noticeable time. */
static const int big_copy_bytes = 4096;
/* Up to this size GCC copies and clears without a call, with any -mtune. */
static const int inline_copy_bytes = 64;

/* In the unit of GCC's time estimates, about one instruction: this is well below 0.1 us. */
static const int short_path_insns = 200;

/* The assumed cost of a call of libm, in the same unit. */
static const int math_insns = 60;

/* The key is DECL_UID, because a decl's memory may be used again. */
static hash_map<int_hash<int, -1, -2>, int> proved_cost;

/* Returns the cost of the called function, if it was proved short, or -1. */
static int callee_cost(gcall *call)
{
	tree decl = gimple_call_fndecl(call);
	cgraph_node *node = decl ? cgraph_node::get(decl) : NULL;
	enum availability avail;
	int *cost;

	if (!node || node->thunk || node->dispatcher_function)
		return -1;
	node = node->ultimate_alias_target(&avail);
	if (avail <= AVAIL_INTERPOSABLE)
		return -1;
	cost = proved_cost.get(DECL_UID(node->decl));
	return cost ? *cost : -1;
}

static bool is_at_most(tree size, int limit)
{
	return tree_fits_uhwi_p(size) &&
	       tree_to_uhwi(size) <= (unsigned HOST_WIDE_INT)limit;
}

/*
 * Returns true for functions of libm whose time has an upper bound, in double and single precision:
 * not for fmod and remainder, which divide bit by bit, nor jn, nor any function of long double.
 */
static bool is_math(enum built_in_function code)
{
#define MATH(name) case BUILT_IN_##name: case BUILT_IN_##name##F
	switch (code) {
	MATH(SQRT): MATH(CBRT): MATH(HYPOT): MATH(POW):
	MATH(EXP): MATH(EXP2): MATH(EXPM1):
	MATH(LOG): MATH(LOG2): MATH(LOG10): MATH(LOG1P):
	MATH(SIN): MATH(COS): MATH(TAN): MATH(SINCOS):
	MATH(ASIN): MATH(ACOS): MATH(ATAN): MATH(ATAN2):
	MATH(SINH): MATH(COSH): MATH(TANH):
	MATH(FLOOR): MATH(CEIL): MATH(TRUNC): MATH(ROUND): MATH(RINT):
	MATH(NEARBYINT): MATH(LRINT): MATH(LROUND): MATH(LLRINT): MATH(LLROUND):
	MATH(FMIN): MATH(FMAX): MATH(FMA): MATH(LDEXP): MATH(FREXP): MATH(MODF):
		return true;
	default:
		return false;
	}
#undef MATH
}

/*
 * Returns true if the statement calls a function that compares or measures strings or memory.  Such
 * a call does not need a record, but a function that contains it is not proved short, so the caller
 * of that function has a record, whose time includes the call.
 */
static bool is_string_read(gimple *stmt)
{
	if (!gimple_call_builtin_p(stmt, BUILT_IN_NORMAL))
		return false;
	switch (DECL_FUNCTION_CODE(gimple_call_fndecl(stmt))) {
	case BUILT_IN_MEMCMP:
	case BUILT_IN_MEMCMP_EQ:
	case BUILT_IN_BCMP:
	case BUILT_IN_STRCMP:
	case BUILT_IN_STRNCMP:
	case BUILT_IN_STRCASECMP:
	case BUILT_IN_STRNCASECMP:
	case BUILT_IN_STRLEN:
	case BUILT_IN_STRNLEN:
		return true;
	default:
		return false;
	}
}

/* Returns true if GCC expands this builtin inline, or if a call of it takes little time. */
static bool is_inline_builtin(gcall *call, tree decl)
{
	const char *name = IDENTIFIER_POINTER(DECL_NAME(decl));
	enum built_in_function code;
	size_t len;

	if (is_inexpensive_builtin(decl))
		return true;
	if (DECL_BUILT_IN_CLASS(decl) != BUILT_IN_NORMAL)
		return false;
	code = DECL_FUNCTION_CODE(decl);
	/*
	 * Calls that the sanitizer adds are ignored, so that the placement is the same as without
	 * it.
	 */
	if (code > BEGIN_SANITIZER_BUILTINS && code < END_SANITIZER_BUILTINS)
		return true;
	if (startswith(name, "__atomic_") || startswith(name, "__sync_")) {
		len = strlen(name);
		return strcmp(name + len - 3, "_16") != 0;
	}
	if (is_math(code))
		return true;
	if (!optimize || (flag_sanitize & SANITIZE_ADDRESS))
		return false;
	switch (code) {
	case BUILT_IN_MEMCPY:
	case BUILT_IN_MEMMOVE:
	case BUILT_IN_MEMSET:
		return is_at_most(gimple_call_arg(call, 2), inline_copy_bytes);
	default:
		return false;
	}
}

static bool is_short_call(gcall *call)
{
	tree decl = gimple_call_fndecl(call);

	if (gimple_call_internal_p(call))
		return true;
	if (!decl || !fndecl_built_in_p(decl))
		return callee_cost(call) >= 0;
	if (gimple_call_noreturn_p(call) &&
	    DECL_BUILT_IN_CLASS(decl) == BUILT_IN_NORMAL)
		return true;
	return is_inline_builtin(call, decl);
}

static bool is_big_copy(gimple *stmt)
{
	tree size;

	if (!gimple_assign_single_p(stmt) || !gimple_store_p(stmt) ||
	    gimple_clobber_p(stmt))
		return false;
	size = TYPE_SIZE_UNIT(TREE_TYPE(gimple_assign_lhs(stmt)));
	return !size || !is_at_most(size, big_copy_bytes - 1);
}

/* Returns false if the statement is a reason for a record. */
bool short_stmt(gimple *stmt)
{
	switch (gimple_code(stmt)) {
	case GIMPLE_CALL:
		return is_string_read(stmt) ||
		       is_short_call(as_a<gcall *>(stmt));
	case GIMPLE_ASM:
		return arch_is_straight_text(gimple_asm_string(as_a<gasm *>(stmt)));
	case GIMPLE_ASSIGN:
		return !is_big_copy(stmt);
	default:
		return true;
	}
}

static int stmt_cost(gimple *stmt)
{
	gcall *call = dyn_cast<gcall *>(stmt);
	int cost = estimate_num_insns(stmt, &eni_time_weights);

	if (call && gimple_call_builtin_p(call, BUILT_IN_NORMAL)) {
		if (is_math(DECL_FUNCTION_CODE(gimple_call_fndecl(call))))
			cost += math_insns;
	} else if (call) {
		cost += MAX(callee_cost(call), 0);
	}
	return cost;
}

/* Returns the cost of a block's statements, or -1 if one of them is not short or reads strings. */
static int block_cost(basic_block bb)
{
	gimple_stmt_iterator gsi;
	int cost = 0;

	for (gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
		if (!short_stmt(gsi_stmt(gsi)) || is_string_read(gsi_stmt(gsi)))
			return -1;
		cost += stmt_cost(gsi_stmt(gsi));
	}
	return cost;
}

/*
 * Returns true if the block ends with a call that never returns and throws no exception.  Such a
 * block does not return to the caller, and has a link of its own if it needs one (place.c).  An
 * exception, however, must pass through callers whose records repair the chain.
 */
static bool is_quiet_end(basic_block bb)
{
	gimple *last = last_stmt(bb);

	return EDGE_COUNT(bb->succs) == 0 && last && is_gimple_call(last) &&
	       gimple_call_noreturn_p(last) &&
	       (!flag_exceptions || gimple_call_nothrow_p(as_a<gcall *>(last)));
}

/* Adds a function without cycles to the list of proved functions if its longest path is short. */
void short_prove(struct function *fn)
{
	int *order = XNEWVEC(int, n_basic_blocks_for_fn(fn));
	int i, n = post_order_compute(order, false, false), longest = 0;
	auto_vec<int> cost;
	edge_iterator ei;
	edge e;

	cost.safe_grow_cleared(last_basic_block_for_fn(fn));
	for (i = 0; i < n && longest <= short_path_insns; i++) {
		basic_block bb = BASIC_BLOCK_FOR_FN(fn, order[i]);
		int after = 0, own = block_cost(bb);

		FOR_EACH_EDGE(e, ei, bb->succs)
			after = MAX(after, cost[e->dest->index]);
		if (own < 0 && !is_quiet_end(bb))
			after = short_path_insns + 1;
		cost[bb->index] = MAX(own, 0) + after;
		longest = MAX(longest, cost[bb->index]);
	}
	free(order);
	if (longest <= short_path_insns)
		proved_cost.put(DECL_UID(fn->decl), longest);
}
