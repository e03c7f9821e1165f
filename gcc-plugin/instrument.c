// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This file contains the passes that give a function its record.
 *
 * "ldb" runs after "optimized": after inlining and all IPA passes, so that inlined functions have
 * no records; after the marking of tail calls, so that the record's address does not prevent them
 * (tail.c chooses which calls stay tail calls); and still on GIMPLE.  "optimized" has no gate: it
 * runs at -O0 too, and with -flto when linking.
 *
 *	int f(void)		int f(void)
 *	{			{
 *					struct ldb_frame rec;	record_build()
 *					link			record_link()
 *		try {			try {
 *			g();			g();
 *		} catch (...) {		} catch (...) {
 *						relink		record_relink()
 *			h();			h();
 *		}			}
 *					unlink			record_unlink()
 *		return 0;		return 0;
 *	}			}
 *
 * "ldb_clean" runs next and makes the record non-addressable.  Otherwise
 * AddressSanitizer would put red zones around it, and the stack protector would
 * guard every function.  "ldb" itself cannot do this, because the record must be
 * addressable while GCC updates the virtual operands after that pass.
 *
 * "ldb_mend" runs after register allocation, when it is final whether the function
 * has calls: see arch_mend_far().
 */
#include "arch/arch.h"

/* The current function's record, between "ldb" and "ldb_clean"; a GC root. */
static GTY(()) tree record_decl;

static const struct ggc_root_tab roots[] = {
	{ &record_decl, 1, sizeof(record_decl), &gt_ggc_mx_tree_node, NULL },
	LAST_GGC_ROOT_TAB
};

static bool is_verbose;

static void insert_at_start(basic_block bb, gimple_seq seq)
{
	gimple_stmt_iterator gsi = gsi_after_labels(bb);

	gsi_insert_seq_before(&gsi, seq, GSI_NEW_STMT);
}

/*
 * Inserts the link before the first statement that needs it, or else at the block's end, so that
 * earlier statements, such as loads that a branch waits for, need not wait for the link.  Unlinks
 * have been inserted before; they are asm statements, for which place_needs_record() is true.
 */
static void insert_before_need(basic_block bb, gimple_seq seq)
{
	gimple_stmt_iterator gsi = gsi_after_labels(bb);

	while (!gsi_end_p(gsi) && !stmt_ends_bb_p(gsi_stmt(gsi)) &&
	       !place_needs_record(gsi_stmt(gsi)))
		gsi_next(&gsi);
	if (gsi_end_p(gsi)) {
		gsi = gsi_last_bb(bb);
		gsi_insert_seq_after(&gsi, seq, GSI_NEW_STMT);
	} else {
		gsi_insert_seq_before(&gsi, seq, GSI_SAME_STMT);
	}
}

/*
 * Inserts the sequence after a statement; on the edge to the next block, if the statement ends its
 * block.
 */
static void insert_after(gimple_stmt_iterator *gsi, gimple_seq seq)
{
	basic_block bb = gsi_bb(*gsi);
	edge_iterator ei;
	edge e;

	if (!stmt_ends_bb_p(gsi_stmt(*gsi))) {
		gsi_insert_seq_after(gsi, seq, GSI_NEW_STMT);
		return;
	}
	FOR_EACH_EDGE(e, ei, bb->succs)
		if (!(e->flags & (EDGE_ABNORMAL | EDGE_EH))) {
			gsi_insert_seq_on_edge(e, seq);
			return;
		}
}

static void link_entries(struct function *fn, const struct placement *p,
			 const struct record *rec)
{
	unsigned int i;

	if (p->entry)
		insert_before_need(p->entry, record_link(rec, true));
	else if (p->dead_ends.is_empty())
		gsi_insert_seq_on_edge(
			single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(fn)),
			record_link(rec, true));
	for (i = 0; i < p->dead_ends.length(); i++)
		insert_before_need(p->dead_ends[i], record_link(rec, false));
}

/*
 * Inserts an unlink before the return or the tail call of a block, if the block has one.  Returns
 * the number of unlinks inserted: 0 or 1.
 */
static int unlink_block(basic_block bb, const struct record *rec)
{
	gimple_stmt_iterator gsi;
	bool linked = true;
	int nr = 0;

	for (gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
		gimple *stmt = gsi_stmt(gsi);

		if (!linked || (gimple_code(stmt) != GIMPLE_RETURN &&
				!place_is_tail_call(stmt)))
			continue;
		gsi_insert_seq_before(&gsi, record_unlink(rec), GSI_SAME_STMT);
		linked = false;
		nr++;
	}
	return nr;
}

static int unlink_exits(struct function *fn, const struct placement *p,
			const struct record *rec)
{
	basic_block bb;
	unsigned int i;
	int nr = 0;

	FOR_EACH_BB_FN(bb, fn)
		if (bitmap_bit_p(p->inside, bb->index))
			nr += unlink_block(bb, rec);
	for (i = 0; i < p->leave.length(); i++, nr++)
		gsi_insert_seq_on_edge(p->leave[i], record_unlink(rec));
	return nr;
}

static void relink_second_returns(basic_block bb, const struct record *rec)
{
	gimple_stmt_iterator gsi;
	glabel *label;
	bool nonlocal = false;

	for (gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
		gimple *stmt = gsi_stmt(gsi);

		label = dyn_cast<glabel *>(stmt);
		if (label && DECL_NONLOCAL(gimple_label_label(label)))
			nonlocal = true;
		if (!place_is_second_return(stmt))
			continue;
		/* The setjmp receiver restores the frame: no statement may be before it. */
		if (gimple_call_builtin_p(stmt, BUILT_IN_SETJMP_RECEIVER))
			nonlocal = false;
		insert_after(&gsi, record_relink(rec));
		if (gsi_end_p(gsi))
			break;
	}
	if (nonlocal)
		insert_at_start(bb, record_relink(rec));
}

/* Stores the record in top again where control returns abnormally from a callee (catch, setjmp). */
static void relink_receivers(struct function *fn, const struct placement *p,
			     const struct record *rec)
{
	eh_landing_pad lp;
	basic_block bb;
	unsigned int i;

	FOR_EACH_BB_FN(bb, fn)
		if (bitmap_bit_p(p->inside, bb->index))
			relink_second_returns(bb, rec);

	if (!fn->eh || !fn->eh->lp_array)
		return;
	for (i = 1; vec_safe_iterate(fn->eh->lp_array, i, &lp); i++) {
		if (!lp || !lp->post_landing_pad)
			continue;
		bb = label_to_block(fn, lp->post_landing_pad);
		if (bb && bitmap_bit_p(p->inside, bb->index))
			insert_at_start(bb, record_relink(rec));
	}
}

static void report_done(struct function *fn, const char *what, const char *detail)
{
	if (dump_file)
		fprintf(dump_file, "ldb: %s%s\n", what, detail);
	if (is_verbose)
		fprintf(stderr, "ldb: %s: %s%s\n",
			IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(fn->decl)),
			what, detail);
}

/* Functions of at least this size are assumed to be called rarely, so that two jumps are cheap. */
static const int far_insns = 25;

/*
 * Chooses between the fastest kind of link, for small functions that are called often, and the one
 * with the smallest code.  In a function without calls, a register is free for prev; in a function
 * with calls, saving a register would cost as much as reading prev from memory.
 */
static enum record_kind choose_kind(struct function *fn, const struct placement *p)
{
	if (!optimize)
		return RECORD_NEAR;
	if (!place_has_calls(fn, p))
		return p->has_receivers ? RECORD_NEAR : RECORD_KEPT;
	if (arch_can_link_far() && (optimize_function_for_size_p(fn) ||
	    estimate_num_insns_fn(fn->decl, &eni_size_weights) >= far_insns))
		return RECORD_FAR;
	return RECORD_NEAR;
}

static void instrument_function(struct function *fn, const struct placement *p)
{
	struct record rec;
	const char *where;
	char detail[96];
	int nr_exits;

	record_build(fn, choose_kind(fn, p), &rec);
	/*
	 * This must be first, because the following calls insert statements into the blocks that
	 * unlink_exits() examines.
	 */
	nr_exits = unlink_exits(fn, p, &rec);
	relink_receivers(fn, p, &rec);
	link_entries(fn, p, &rec);
	gsi_commit_edge_inserts();

	record_decl = rec.decl;
	if (!p->entry)
		where = p->dead_ends.is_empty() ? "top" : "dead ends only";
	else if (single_pred_p(p->entry) &&
		 single_pred(p->entry) == ENTRY_BLOCK_PTR_FOR_FN(fn))
		where = "first block";
	else
		where = "shrunk";
	snprintf(detail, sizeof(detail), "entry=%s exits=%d dead-ends=%u",
		 where, nr_exits, p->dead_ends.length());
	report_done(fn, "instrumented: ", detail);
}

static unsigned int ldb_execute(struct function *fn)
{
	enum select_verdict verdict;
	const char *why;

	verdict = select_function(fn, &why);
	if (verdict == SELECT_NO) {
		report_done(fn, "skipped: ", why);
		return 0;
	}

	tail_make_calls(fn, verdict == SELECT_ALWAYS);

	struct placement p(fn);
	bool needed = place_function(fn, verdict == SELECT_ALWAYS, &p);

	/* Functions are proved short before the statements of the record are inserted. */
	if (!p.has_loops && !p.has_receivers && verdict != SELECT_ALWAYS)
		short_prove(fn);
	if (!needed) {
		report_done(fn, "skipped: ", "no calls or loops");
		return 0;
	}
	if (verdict != SELECT_ALWAYS && !p.has_loops && !p.has_receivers &&
	    !select_is_big_enough(fn)) {
		report_done(fn, "skipped: ", "min-insns=");
		return 0;
	}
	instrument_function(fn, &p);
	return TODO_update_ssa_only_virtuals;
}

namespace {

const pass_data ldb_data = {
	GIMPLE_PASS, "ldb", OPTGROUP_NONE, TV_NONE,
	PROP_cfg | PROP_ssa, 0, 0, 0, 0
};

class ldb_pass : public gimple_opt_pass {
public:
	ldb_pass(gcc::context *ctxt) : gimple_opt_pass(ldb_data, ctxt) {}

	unsigned int execute(function *fn) final override
	{
		record_decl = NULL_TREE;
		return ldb_execute(fn);
	}
};

const pass_data ldb_clean_data = {
	GIMPLE_PASS, "ldb_clean", OPTGROUP_NONE, TV_NONE,
	PROP_cfg | PROP_ssa, 0, 0, 0, 0
};

class ldb_clean_pass : public gimple_opt_pass {
public:
	ldb_clean_pass(gcc::context *ctxt)
		: gimple_opt_pass(ldb_clean_data, ctxt) {}

	bool gate(function *) final override
	{
		return record_decl != NULL_TREE;
	}

	unsigned int execute(function *) final override
	{
		TREE_ADDRESSABLE(record_decl) = 0;
		record_decl = NULL_TREE;
		return 0;
	}
};

const pass_data ldb_mend_data = {
	RTL_PASS, "ldb_mend", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0
};

class ldb_mend_pass : public rtl_opt_pass {
public:
	ldb_mend_pass(gcc::context *ctxt) : rtl_opt_pass(ldb_mend_data, ctxt) {}

	bool gate(function *) final override
	{
		return crtl->is_leaf;
	}

	unsigned int execute(function *) final override
	{
		arch_mend_far();
		return 0;
	}
};

} /* namespace */

static void insert_pass_after(const char *plugin_name, opt_pass *pass, const char *name)
{
	struct register_pass_info info;

	info.pass = pass;
	info.reference_pass_name = name;
	info.ref_pass_instance_number = 1;
	info.pos_op = PASS_POS_INSERT_AFTER;
	register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
}

void instrument_register_passes(const char *plugin_name, bool verbose)
{
	is_verbose = verbose;
	record_register_roots(plugin_name);
	register_callback(plugin_name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
			  const_cast<ggc_root_tab *>(roots));

	insert_pass_after(plugin_name, new ldb_pass(g), "optimized");
	insert_pass_after(plugin_name, new ldb_clean_pass(g), "ldb");
	insert_pass_after(plugin_name, new ldb_mend_pass(g), "reload");
}
