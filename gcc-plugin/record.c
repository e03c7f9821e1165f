// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds the record, and the statements that link and unlink it.
 *
 * The instructions are in arch/.
 *
 * Invariant: a record is a volatile local variable and is never clobbered, so that its stack slot
 * is not shared with other variables.
 */
#include "arch/arch.h"

/* A GC root.  The type is built for the first function, so that no PCH can contain it. */
static GTY(()) tree record_type;

static const struct ggc_root_tab roots[] = {
	{ &record_type, 1, sizeof(record_type), &gt_ggc_mx_tree_node, NULL },
	LAST_GGC_ROOT_TAB
};

static_assert(sizeof(struct ldb_frame) == 32, "build_record_type()");

static void build_record_type(void)
{
	static const char * const names[] = { "prev", "gen", "pc", "ret" };
	tree field, fields = NULL_TREE, type = make_node(RECORD_TYPE);
	unsigned int i;

	/* An array in the type would make the stack protector guard every function. */
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

/* `main`: the unlinks store the prev of this link; other links are on paths that never return. */
gimple_seq record_link(const struct record *r, bool main)
{
	tree fn = builtin_decl_explicit(BUILT_IN_RETURN_ADDRESS);
	tree ret = make_ssa_name(ptr_type_node);
	gcall *call = gimple_build_call(fn, 1, integer_zero_node);
	gimple_seq seq = NULL;

	gimple_call_set_lhs(call, ret);
	gimple_seq_add_stmt(&seq, call);
	gimple_seq_add_stmt(&seq, r->kind == RECORD_FAR ? arch_link_far(r, ret) :
			    arch_link(r, ret, main && r->prev));
	return seq;
}

static gimple_seq seq_of(gasm *stmt)
{
	gimple_seq seq = NULL;

	gimple_seq_add_stmt(&seq, stmt);
	return seq;
}

gimple_seq record_unlink(const struct record *r)
{
	return seq_of(arch_unlink(r));
}

gimple_seq record_relink(const struct record *r)
{
	return seq_of(arch_relink(r));
}

void record_register_roots(const char *plugin_name)
{
	register_callback(plugin_name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
			  const_cast<ggc_root_tab *>(roots));
}
