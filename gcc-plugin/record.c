// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The record, and the statements that link and unlink it.
 *
 * Linking is one asm, because the order of the stores is the contract with the
 * reader: generation, record, top.  A shared object loads the thread's offset in
 * each asm: a GIMPLE variable would live in a callee-saved register across the
 * whole function.
 *
 * Bytes cost as much as instructions: where a CPU shares its front end between two
 * threads, they are what a storm of calls runs out of.  So the addresses of the block
 * and of the record are computed once, and what follows has short ones.
 *
 * Invariant: a record is a volatile local and never clobbered, so its stack
 * slot is not shared with anything from the link on.
 */
#include "instrument.h"

/* GC root: built with the first function, so that no PCH can contain it. */
static GTY(()) tree record_type;

static const struct ggc_root_tab roots[] = {
	{ &record_type, 1, sizeof(record_type), &gt_ggc_mx_tree_node, NULL },
	LAST_GGC_ROOT_TAB
};

/* Both dialects of one instruction. */
#define INSN(att, intel)	"{" att "|" intel "}"
#define NEXT			"\n\t"
#define QWORD			"QWORD PTR "

/*
 * %0 return address, then scratch, %1 thread, %2 the record's address, %3 record
 *
 * The block's address costs a load, and saves more: stores with a segment prefix
 * leave Intel's store buffer one at a time, those to one line without it in pairs.
 */
#define LINK_ASM(address, prev)							\
	address									\
	INSN("addq\t$65536, 8(%1)",	"add\t" QWORD "[%1+8], 65536") NEXT	\
	INSN("leaq\t%3, %2",		"lea\t%2, %3") NEXT			\
	INSN("movq\t%0, 24(%2)",	"mov\t" QWORD "[%2+24], %0") NEXT	\
	INSN("movq\t8(%1), %0",		"mov\t%0, " QWORD "[%1+8]") NEXT	\
	INSN("movq\t%0, 8(%2)",		"mov\t" QWORD "[%2+8], %0") NEXT	\
	INSN("movq\t(%1), " prev,	"mov\t" prev ", " QWORD "[%1]") NEXT	\
	INSN("movq\t" prev ", (%2)",	"mov\t" QWORD "[%2], " prev) NEXT	\
	INSN("leaq\t(%%rip), %0",	"lea\t%0, [rip]") NEXT			\
	INSN("movq\t%0, 16(%2)",	"mov\t" QWORD "[%2+16], %0") NEXT	\
	INSN("movq\t%2, (%1)",		"mov\t" QWORD "[%1], %2")

/*
 * The same in few bytes, by the function that emit.c puts into each object.  It finds the
 * return address in %0, the record's address in r10, and uses r11; what it is called from
 * is the record's pc.  %1 record
 */
#define LINK_FAR_ASM(before, after)						\
	INSN("leaq\t%1, %%r10",		"lea\tr10, %1") NEXT			\
	before INSN("call\t" LINK_FUNCTION, "call\t" LINK_FUNCTION) after

/* %0 what to store, %1 thread: with one store, the prefix costs nothing. */
#define SET_TOP(att_top, intel_top)						\
	INSN("movq\t%0, " att_top,	"mov\t" QWORD intel_top ", %0")

/* %2 prev */
#define UNLINK_ASM(load, att_top, intel_top)					\
	load INSN("movq\t%2, %0",	"mov\t%0, %2") NEXT			\
	SET_TOP(att_top, intel_top)

/* %2 prev: its address is the record's */
#define RELINK_ASM(load, att_top, intel_top)					\
	load INSN("leaq\t%2, %0",	"lea\t%0, %2") NEXT			\
	SET_TOP(att_top, intel_top)

/* Where the block is: in a shared object that is read from the GOT... */
#define GOT_OFFSET	INSN("movq\t__ldb_thread@gottpoff(%%rip), %1",		\
			     "mov\t%1, " QWORD "__ldb_thread@gottpoff[rip]") NEXT
#define GOT_ADDRESS	GOT_OFFSET						\
			INSN("addq\t%%fs:0, %1", "add\t%1, " QWORD "fs:0") NEXT
#define GOT_TOP		"%%fs:(%1)", "fs:[%1]"
/* ...and elsewhere a constant. */
#define EXE_ADDRESS	INSN("movq\t%%fs:0, %1", "mov\t%1, " QWORD "fs:0") NEXT	\
			INSN("leaq\t__ldb_thread@tpoff(%1), %1",		\
			     "lea\t%1, __ldb_thread@tpoff[%1]") NEXT
#define EXE_TOP		"%%fs:__ldb_thread@tpoff", "fs:__ldb_thread@tpoff"

/* The macro's arguments come in pairs: expand them first. */
#define EXPAND(macro, ...)	macro(__VA_ARGS__)

/* The second link leaves prev in a register, %4, for the second unlink. */
struct asm_texts {
	const char *link, *link_kept, *unlink, *unlink_kept, *relink;
};

static const struct asm_texts got_texts = {
	LINK_ASM(GOT_ADDRESS, "%0"),
	LINK_ASM(GOT_ADDRESS, "%4"),
	EXPAND(UNLINK_ASM, GOT_OFFSET, GOT_TOP),
	GOT_OFFSET EXPAND(SET_TOP, GOT_TOP),
	EXPAND(RELINK_ASM, GOT_OFFSET, GOT_TOP),
};

static const struct asm_texts exe_texts = {
	LINK_ASM(EXE_ADDRESS, "%0"),
	LINK_ASM(EXE_ADDRESS, "%4"),
	EXPAND(UNLINK_ASM, "", EXE_TOP),
	EXPAND(SET_TOP, EXE_TOP),
	EXPAND(RELINK_ASM, "", EXE_TOP),
};

static const char link_far[] = LINK_FAR_ASM("", "");
/* Where the stack below the stack pointer is in use. */
static const char link_far_leaf[] = LINK_FAR_ASM(
	INSN("leaq\t-128(%%rsp), %%rsp", "lea\trsp, [rsp-128]") NEXT,
	NEXT INSN("leaq\t128(%%rsp), %%rsp", "lea\trsp, [rsp+128]"));

static const struct asm_texts *asm_texts(void)
{
	return flag_pic && !flag_pie ? &got_texts : &exe_texts;
}

static_assert(sizeof(struct ldb_frame) == 32, "build_record_type()");
static_assert(LDB_GEN_ONE == 65536, "written out in LINK_ASM");
static_assert(offsetof(struct ldb_thread, top) == 0, "written out in *_TOP");
static_assert(offsetof(struct ldb_thread, gen) == 8, "written out in LINK_ASM");
static_assert(offsetof(struct ldb_frame, prev) == 0, "lea in LINK_ASM, RELINK_ASM");
static_assert(offsetof(struct ldb_frame, gen) == 8 && offsetof(struct ldb_frame, pc) == 16 &&
	      offsetof(struct ldb_frame, ret) == 24, "written out in LINK_ASM");

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

void record_build(struct function *fn, enum record_kind kind, struct record *r)
{
	tree decl;

	if (!record_type)
		build_record_type();
	decl = build_decl(DECL_SOURCE_LOCATION(fn->decl), VAR_DECL,
			  get_identifier("__ldb_rec"), record_type);
	DECL_CONTEXT(decl) = fn->decl;
	DECL_ARTIFICIAL(decl) = 1;
	DECL_IGNORED_P(decl) = 1;
	TREE_USED(decl) = 1;
	TREE_THIS_VOLATILE(decl) = 1;
	TREE_SIDE_EFFECTS(decl) = 1;
	TREE_ADDRESSABLE(decl) = 1;
	add_local_decl(fn, decl);
	r->decl = decl;
	r->kind = kind;
	r->prev = kind == RECORD_KEPT ? make_ssa_name(long_unsigned_type_node) : NULL_TREE;
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

typedef vec<tree, va_gc> operands;

static void push_operand(operands **to, const char *constraint, tree value)
{
	tree str = build_string(strlen(constraint), constraint);

	vec_safe_push(*to, build_tree_list(build_tree_list(NULL_TREE, str),
					   value));
}

static tree push_register(operands **to)
{
	tree name = make_ssa_name(long_unsigned_type_node);

	push_operand(to, "=&r", name);
	return name;
}

static void push_clobber(operands **to, const char *name)
{
	vec_safe_push(*to, build_tree_list(NULL_TREE, build_string(strlen(name), name)));
}

/* A new asm; its outputs that are registers are defined by it. */
static gasm *finish_asm(const char *text, operands *inputs, operands *outputs,
			operands *clobbers = NULL)
{
	gasm *stmt;
	unsigned int i;

	push_clobber(&clobbers, "cc");
	stmt = gimple_build_asm_vec(text, inputs, outputs, clobbers, NULL);
	gimple_asm_set_volatile(stmt, true);
	for (i = 0; i < gimple_asm_noutputs(stmt); i++) {
		tree value = TREE_VALUE(gimple_asm_output_op(stmt, i));

		if (TREE_CODE(value) == SSA_NAME)
			SSA_NAME_DEF_STMT(value) = stmt;
	}
	return stmt;
}

/* The scratch registers all of them have: %0 and %1 */
static operands *scratch_operands(void)
{
	operands *outputs = NULL;

	push_register(&outputs);
	push_register(&outputs);
	return outputs;
}

/* The record's fields from FROM on, as outputs. */
static void push_fields(operands **to, const struct record *r, size_t from)
{
	for (; from < sizeof(struct ldb_frame); from += sizeof(uint64_t))
		push_operand(to, "=m", build_field(r->decl, from));
}

static gasm *build_near(const struct record *r, tree ret, bool keep)
{
	operands *outputs = scratch_operands(), *inputs = NULL;

	push_register(&outputs);
	push_operand(&outputs, "=m", build_field(r->decl, 0));
	if (keep)
		push_operand(&outputs, "=&r", r->prev);
	push_fields(&outputs, r, sizeof(uint64_t));
	push_operand(&inputs, "0", ret);
	return finish_asm(keep ? asm_texts()->link_kept : asm_texts()->link, inputs, outputs);
}

static gasm *build_far(const struct record *r, tree ret)
{
	operands *outputs = NULL, *inputs = NULL, *clobbers = NULL;

	push_operand(&outputs, "=&a", make_ssa_name(long_unsigned_type_node));
	push_fields(&outputs, r, 0);
	push_operand(&inputs, "0", ret);
	push_clobber(&clobbers, "r10");
	push_clobber(&clobbers, "r11");
	return finish_asm(link_far, inputs, outputs, clobbers);
}

/* MAIN: the link whose prev the unlinks store; the others are on ways without return. */
gimple_seq record_link(const struct record *r, bool main)
{
	tree fn = builtin_decl_explicit(BUILT_IN_RETURN_ADDRESS);
	tree ret = make_ssa_name(ptr_type_node);
	gcall *call = gimple_build_call(fn, 1, integer_zero_node);
	gimple_seq seq = NULL;

	gimple_call_set_lhs(call, ret);
	gimple_seq_add_stmt(&seq, call);
	gimple_seq_add_stmt(&seq, r->kind == RECORD_FAR ? build_far(r, ret) :
			    build_near(r, ret, main && r->prev));
	return seq;
}

/* A register the user has taken away, or code farther apart than a call reaches. */
bool record_can_be_far(void)
{
	return !fixed_regs[AX_REG] && !fixed_regs[R10_REG] && !fixed_regs[R11_REG] &&
	       ix86_cmodel != CM_LARGE && ix86_cmodel != CM_LARGE_PIC;
}

/*
 * A function without calls has its variables below the stack pointer, where a call stores
 * its return address.  Far links are for functions that call; but GCC may have removed
 * the calls since.  What walks the stack from a signal handler is then wrong about three
 * instructions.
 */
void record_mend_far(void)
{
	rtx_insn *insn;
	rtx body;

	for (insn = get_insns(); insn; insn = NEXT_INSN(insn)) {
		body = NONJUMP_INSN_P(insn) ? extract_asm_operands(PATTERN(insn)) : NULL_RTX;
		if (body && !strcmp(ASM_OPERANDS_TEMPLATE(body), link_far))
			XSTR(body, 0) = link_far_leaf;
	}
}

static gimple_seq build_short(const char *text, const char *constraint, tree prev)
{
	operands *inputs = NULL;
	gimple_seq seq = NULL;

	push_operand(&inputs, constraint, prev);
	gimple_seq_add_stmt(&seq, finish_asm(text, inputs, scratch_operands()));
	return seq;
}

gimple_seq record_unlink(const struct record *r)
{
	if (r->prev)
		return build_short(asm_texts()->unlink_kept, "0", r->prev);
	return build_short(asm_texts()->unlink, "m",
			   build_field(r->decl, offsetof(struct ldb_frame, prev)));
}

gimple_seq record_relink(const struct record *r)
{
	return build_short(asm_texts()->relink, "m",
			   build_field(r->decl, offsetof(struct ldb_frame, prev)));
}

void record_register_roots(const char *plugin_name)
{
	register_callback(plugin_name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
			  const_cast<ggc_root_tab *>(roots));
}
