// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The passes that give a function its record.
 *
 * "ldb" runs after "optimized": after inlining and all IPA passes, so that an
 * inlined function is no frame, after the marking of tail calls, so that the
 * record's address does not prevent them, and still on GIMPLE.  "optimized" has
 * no gate: it runs at -O0 too, and with -flto when linking.
 *
 *	int f(void)		int f(void)
 *	{			{
 *					struct ldb_frame rec;	build_record()
 *					link			build_link()
 *		try {			try {
 *			g();			g();
 *		} catch (...) {		} catch (...) {
 *						relink		build_relink()
 *			h();			h();
 *		}			}
 *					unlink			build_unlink()
 *		return 0;		return 0;
 *	}			}
 *
 * Linking is one asm, because the order of the stores is the contract with the
 * reader: generation, record, top.  A shared object loads the thread's offset in
 * each asm: a GIMPLE variable would live in a callee-saved register across the
 * whole function.
 *
 * "ldb_clean" runs next and makes the record non-addressable.  Else
 * AddressSanitizer puts red zones around it and the stack protector guards
 * every function.  "ldb" itself cannot: its address must survive the update of
 * the virtual operands.
 *
 * Invariant: a record is a volatile local and never clobbered, so its stack
 * slot is not shared with anything from the link on.
 */
#include "instrument.h"

/* GC roots: built with the first function, so that no PCH can contain them. */
static GTY(()) tree record_type;
static GTY(()) tree record_decl;

static const struct ggc_root_tab roots[] = {
	{ &record_type, 1, sizeof(record_type), &gt_ggc_mx_tree_node, NULL },
	{ &record_decl, 1, sizeof(record_decl), &gt_ggc_mx_tree_node, NULL },
	LAST_GGC_ROOT_TAB
};

/* Both dialects of one instruction. */
#define INSN(att, intel)	"{" att "|" intel "}"
#define NEXT			"\n\t"
#define QWORD			"QWORD PTR "

/*
 * %0 scratch, %1 thread, %2 prev, %3 gen, %4 pc, %5 ret, %6 return address
 *
 * The block's address costs a load, and saves more: stores with a segment prefix
 * leave the store buffer one at a time, those to one line without it in pairs.
 */
#define LINK_ASM(load, att_top, intel_top, att_gen, intel_gen)			\
	load									\
	INSN("addq\t$65536, " att_gen,	"add\t" QWORD intel_gen ", 65536") NEXT	\
	INSN("movq\t" att_gen ", %0",	"mov\t%0, " QWORD intel_gen) NEXT	\
	INSN("movq\t%0, %3",		"mov\t%3, %0") NEXT			\
	INSN("movq\t" att_top ", %0",	"mov\t%0, " QWORD intel_top) NEXT	\
	INSN("movq\t%0, %2",		"mov\t%2, %0") NEXT			\
	INSN("leaq\t(%%rip), %0",	"lea\t%0, [rip]") NEXT			\
	INSN("movq\t%0, %4",		"mov\t%4, %0") NEXT			\
	INSN("movq\t%6, %5",		"mov\t%5, %6") NEXT			\
	INSN("leaq\t%2, %0",		"lea\t%0, %2") NEXT			\
	INSN("movq\t%0, " att_top,	"mov\t" QWORD intel_top ", %0")

/* %0 scratch, %1 thread, %2 prev: with one store, the prefix costs nothing. */
#define UNLINK_ASM(load, att_top, intel_top)					\
	load									\
	INSN("movq\t%2, %0",		"mov\t%0, %2") NEXT			\
	INSN("movq\t%0, " att_top,	"mov\t" QWORD intel_top ", %0")

/* %0 scratch, %1 thread, %2 prev: the address of prev is the record's */
#define RELINK_ASM(load, att_top, intel_top)					\
	load									\
	INSN("leaq\t%2, %0",		"lea\t%0, %2") NEXT			\
	INSN("movq\t%0, " att_top,	"mov\t" QWORD intel_top ", %0")

/* Where the block is: in a shared object that is read from the GOT... */
#define GOT_OFFSET	INSN("movq\t__ldb_thread@gottpoff(%%rip), %1",		\
			     "mov\t%1, " QWORD "__ldb_thread@gottpoff[rip]") NEXT
#define GOT_ADDRESS	GOT_OFFSET						\
			INSN("addq\t%%fs:0, %1", "add\t%1, " QWORD "fs:0") NEXT
#define GOT_TOP		"%%fs:(%1)", "fs:[%1]"
/* ...and elsewhere a constant. */
#define EXE_ADDRESS	INSN("movq\t%%fs:0, %1", "mov\t%1, " QWORD "fs:0") NEXT
#define EXE_TOP		"%%fs:__ldb_thread@tpoff", "fs:__ldb_thread@tpoff"

/* The macro's arguments come in pairs: expand them first. */
#define EXPAND(macro, ...)	macro(__VA_ARGS__)

struct asm_texts {
	const char *link, *unlink, *relink;
};

static const struct asm_texts got_texts = {
	LINK_ASM(GOT_ADDRESS, "(%1)", "[%1]", "8(%1)", "[%1+8]"),
	EXPAND(UNLINK_ASM, GOT_OFFSET, GOT_TOP),
	EXPAND(RELINK_ASM, GOT_OFFSET, GOT_TOP),
};

static const struct asm_texts exe_texts = {
	LINK_ASM(EXE_ADDRESS, "__ldb_thread@tpoff(%1)", "__ldb_thread@tpoff[%1]",
		 "__ldb_thread@tpoff+8(%1)", "__ldb_thread@tpoff[%1+8]"),
	EXPAND(UNLINK_ASM, "", EXE_TOP),
	EXPAND(RELINK_ASM, "", EXE_TOP),
};

static const struct asm_texts *asm_texts(void)
{
	return flag_pic && !flag_pie ? &got_texts : &exe_texts;
}

static_assert(sizeof(struct ldb_frame) == 32, "build_record_type()");
static_assert(LDB_GEN_ONE == 65536, "written out in LINK_ASM");
static_assert(offsetof(struct ldb_thread, top) == 0, "written out in *_TOP");
static_assert(offsetof(struct ldb_thread, gen) == 8, "written out in LINK_ASM");
static_assert(offsetof(struct ldb_frame, prev) == 0, "lea in LINK_ASM, RELINK_ASM");

static void build_record_type(void)
{
	static const char * const names[] = { "prev", "gen", "pc", "ret" };
	tree field, fields = NULL_TREE, type = make_node(RECORD_TYPE);
	unsigned int i;

	/* Not an array: the stack protector would guard every function. */
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		field = build_decl(UNKNOWN_LOCATION, FIELD_DECL,
				   get_identifier(names[i]),
				   long_unsigned_type_node);
		DECL_CHAIN(field) = fields;
		fields = field;
	}
	finish_builtin_struct(type, "ldb_frame", fields, NULL_TREE);
	record_type = build_qualified_type(type, TYPE_QUAL_VOLATILE);
}

static tree build_record(struct function *fn)
{
	tree rec;

	if (!record_type)
		build_record_type();
	rec = build_decl(DECL_SOURCE_LOCATION(fn->decl), VAR_DECL,
			 get_identifier("__ldb_rec"), record_type);
	DECL_CONTEXT(rec) = fn->decl;
	DECL_ARTIFICIAL(rec) = 1;
	DECL_IGNORED_P(rec) = 1;
	TREE_USED(rec) = 1;
	TREE_THIS_VOLATILE(rec) = 1;
	TREE_SIDE_EFFECTS(rec) = 1;
	TREE_ADDRESSABLE(rec) = 1;
	add_local_decl(fn, rec);
	return rec;
}

static tree build_field(tree rec, size_t off_bytes)
{
	tree type = build_qualified_type(long_unsigned_type_node,
					 TYPE_QUAL_VOLATILE);
	tree ref = build2(MEM_REF, type, build_fold_addr_expr(rec),
			  build_int_cst(build_pointer_type(type), off_bytes));

	TREE_THIS_VOLATILE(ref) = 1;
	TREE_SIDE_EFFECTS(ref) = 1;
	return ref;
}

static void push_operand(vec<tree, va_gc> **to, const char *constraint,
			 tree value)
{
	tree str = build_string(strlen(constraint), constraint);

	vec_safe_push(*to, build_tree_list(build_tree_list(NULL_TREE, str),
					   value));
}

/* A new asm with the two scratch registers all of them have. */
static gasm *finish_asm(const char *text, vec<tree, va_gc> *inputs,
			vec<tree, va_gc> *more_outputs)
{
	vec<tree, va_gc> *outputs = NULL, *clobbers = NULL;
	tree scratch = make_ssa_name(long_unsigned_type_node);
	tree thread = make_ssa_name(long_unsigned_type_node);
	gasm *stmt;

	push_operand(&outputs, "=&r", scratch);
	push_operand(&outputs, "=&r", thread);
	vec_safe_splice(outputs, more_outputs);
	vec_safe_push(clobbers, build_tree_list(NULL_TREE,
						build_string(2, "cc")));
	stmt = gimple_build_asm_vec(text, inputs, outputs, clobbers, NULL);
	gimple_asm_set_volatile(stmt, true);
	SSA_NAME_DEF_STMT(scratch) = stmt;
	SSA_NAME_DEF_STMT(thread) = stmt;
	return stmt;
}

static gimple_seq build_link(tree rec)
{
	tree fn = builtin_decl_explicit(BUILT_IN_RETURN_ADDRESS);
	tree ret = make_ssa_name(ptr_type_node);
	vec<tree, va_gc> *outputs = NULL, *inputs = NULL;
	gimple_seq seq = NULL;
	gcall *call = gimple_build_call(fn, 1, integer_zero_node);

	gimple_call_set_lhs(call, ret);
	gimple_seq_add_stmt(&seq, call);
	push_operand(&outputs, "=m",
		     build_field(rec, offsetof(struct ldb_frame, prev)));
	push_operand(&outputs, "=m",
		     build_field(rec, offsetof(struct ldb_frame, gen)));
	push_operand(&outputs, "=m",
		     build_field(rec, offsetof(struct ldb_frame, pc)));
	push_operand(&outputs, "=m",
		     build_field(rec, offsetof(struct ldb_frame, ret)));
	push_operand(&inputs, "r", ret);
	gimple_seq_add_stmt(&seq, finish_asm(asm_texts()->link, inputs, outputs));
	return seq;
}

static gimple_seq build_short(const char *text, tree rec)
{
	vec<tree, va_gc> *inputs = NULL;
	gimple_seq seq = NULL;

	push_operand(&inputs, "m",
		     build_field(rec, offsetof(struct ldb_frame, prev)));
	gimple_seq_add_stmt(&seq, finish_asm(text, inputs, NULL));
	return seq;
}

static gimple_seq build_unlink(tree rec)
{
	return build_short(asm_texts()->unlink, rec);
}

static gimple_seq build_relink(tree rec)
{
	return build_short(asm_texts()->relink, rec);
}

static void insert_at_start(basic_block bb, gimple_seq seq)
{
	gimple_stmt_iterator gsi = gsi_after_labels(bb);

	gsi_insert_seq_before(&gsi, seq, GSI_NEW_STMT);
}

/*
 * Before the first statement that needs it: what comes earlier, the loads that a
 * branch waits for among it, need not wait for the link.  Unlinks, which are there
 * already, are asm that place_needs_record() takes for a need.
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

/* Where the statement ends its block: on the way that control takes after it. */
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
			 tree rec)
{
	unsigned int i;

	if (p->entry)
		insert_before_need(p->entry, build_link(rec));
	else if (p->dead_ends.is_empty())
		gsi_insert_seq_on_edge(
			single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(fn)),
			build_link(rec));
	for (i = 0; i < p->dead_ends.length(); i++)
		insert_before_need(p->dead_ends[i], build_link(rec));
}

/* Before each return and tail call of one block. */
static int unlink_block(basic_block bb, tree rec)
{
	gimple_stmt_iterator gsi;
	bool linked = true;
	int nr = 0;

	for (gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
		gimple *stmt = gsi_stmt(gsi);

		if (!linked || (gimple_code(stmt) != GIMPLE_RETURN &&
				!place_is_tail_call(stmt)))
			continue;
		gsi_insert_seq_before(&gsi, build_unlink(rec), GSI_SAME_STMT);
		linked = false;
		nr++;
	}
	return nr;
}

static int unlink_exits(struct function *fn, const struct placement *p,
			tree rec)
{
	basic_block bb;
	unsigned int i;
	int nr = 0;

	FOR_EACH_BB_FN(bb, fn)
		if (bitmap_bit_p(p->inside, bb->index))
			nr += unlink_block(bb, rec);
	for (i = 0; i < p->leave.length(); i++, nr++)
		gsi_insert_seq_on_edge(p->leave[i], build_unlink(rec));
	return nr;
}

static void relink_second_returns(basic_block bb, tree rec)
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
		/* The receiver restores the frame: nothing before it. */
		if (gimple_call_builtin_p(stmt, BUILT_IN_SETJMP_RECEIVER))
			nonlocal = false;
		insert_after(&gsi, build_relink(rec));
		if (gsi_end_p(gsi))
			break;
	}
	if (nonlocal)
		insert_at_start(bb, build_relink(rec));
}

/* Control that comes back from below finds the record on top again. */
static void relink_receivers(struct function *fn, const struct placement *p,
			     tree rec)
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
			insert_at_start(bb, build_relink(rec));
	}
}

static void tell(struct function *fn, const char *what, const char *detail)
{
	if (dump_file)
		fprintf(dump_file, "ldb: %s%s\n", what, detail);
	if (options.verbose)
		fprintf(stderr, "ldb: %s: %s%s\n",
			IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(fn->decl)),
			what, detail);
}

static void instrument_function(struct function *fn, const struct placement *p)
{
	tree rec = build_record(fn);
	const char *where;
	char detail[96];
	int nr_exits;

	/* Before the others, which put statements into the blocks it reads. */
	nr_exits = unlink_exits(fn, p, rec);
	relink_receivers(fn, p, rec);
	link_entries(fn, p, rec);
	gsi_commit_edge_inserts();

	record_decl = rec;
	if (!p->entry)
		where = p->dead_ends.is_empty() ? "top" : "dead ends only";
	else if (single_pred_p(p->entry) &&
		 single_pred(p->entry) == ENTRY_BLOCK_PTR_FOR_FN(fn))
		where = "first block";
	else
		where = "shrunk";
	snprintf(detail, sizeof(detail), "entry=%s exits=%d dead-ends=%u",
		 where, nr_exits, p->dead_ends.length());
	tell(fn, "instrumented: ", detail);
}

/* What the user wants to see always must not end before it ends. */
static void keep_tail_calls_inside(struct function *fn)
{
	gimple_stmt_iterator gsi;
	basic_block bb;

	FOR_EACH_BB_FN(bb, fn)
		for (gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
			gcall *call = dyn_cast<gcall *>(gsi_stmt(gsi));

			if (call && gimple_call_tail_p(call) &&
			    !gimple_call_must_tail_p(call))
				gimple_call_set_tail(call, false);
		}
}

static unsigned int ldb_execute(struct function *fn)
{
	enum select_verdict verdict;
	const char *why;

	verdict = select_function(fn, &why);
	if (verdict == SELECT_NO) {
		tell(fn, "skipped: ", why);
		return 0;
	}

	if (verdict == SELECT_ALWAYS)
		keep_tail_calls_inside(fn);

	struct placement p(fn);
	bool needed = place_function(fn, verdict == SELECT_ALWAYS, &p);

	/* Before the record's own statements come in. */
	if (!p.has_loops && !p.has_receivers && verdict != SELECT_ALWAYS)
		short_prove(fn);
	if (!needed) {
		tell(fn, "skipped: ", "no calls or loops");
		return 0;
	}
	if (verdict != SELECT_ALWAYS && !p.has_loops && !p.has_receivers &&
	    !select_is_big_enough(fn)) {
		tell(fn, "skipped: ", "min-insns=");
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

} /* namespace */

void instrument_register_passes(const char *plugin_name)
{
	struct register_pass_info info;

	register_callback(plugin_name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
			  const_cast<ggc_root_tab *>(roots));

	info.pass = new ldb_pass(g);
	info.reference_pass_name = "optimized";
	info.ref_pass_instance_number = 1;
	info.pos_op = PASS_POS_INSERT_AFTER;
	register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);

	info.pass = new ldb_clean_pass(g);
	info.reference_pass_name = "ldb";
	register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
}
