// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the asm statements that access a record.  Their texts depend on the CPU: see arch/. */
#include "instrument.h"

tree asm_field(const struct record *r, size_t off_bytes)
{
	tree type = build_qualified_type(long_unsigned_type_node,
					 TYPE_QUAL_VOLATILE);
	tree ref = build2(MEM_REF, type, build_fold_addr_expr(r->decl),
			  build_int_cst(build_pointer_type(type), off_bytes));

	TREE_THIS_VOLATILE(ref) = 1;
	TREE_SIDE_EFFECTS(ref) = 1;
	return ref;
}

void asm_push_operand(asm_operand_list **to, const char *constraint, tree value)
{
	tree str = build_string(strlen(constraint), constraint);

	vec_safe_push(*to, build_tree_list(build_tree_list(NULL_TREE, str),
					   value));
}

tree asm_push_register(asm_operand_list **to)
{
	tree name = make_ssa_name(long_unsigned_type_node);

	asm_push_operand(to, "=&r", name);
	return name;
}

void asm_push_clobber(asm_operand_list **to, const char *name)
{
	vec_safe_push(*to, build_tree_list(NULL_TREE, build_string(strlen(name), name)));
}

/* Makes an asm statement, which becomes the definition of its SSA outputs. */
gasm *asm_finish(const char *text, asm_operand_list *inputs, asm_operand_list *outputs,
		 asm_operand_list *clobbers)
{
	gasm *stmt;
	unsigned int i;

	asm_push_clobber(&clobbers, "cc");
	stmt = gimple_build_asm_vec(text, inputs, outputs, clobbers, NULL);
	gimple_asm_set_volatile(stmt, true);
	for (i = 0; i < gimple_asm_noutputs(stmt); i++) {
		tree value = TREE_VALUE(gimple_asm_output_op(stmt, i));

		if (TREE_CODE(value) == SSA_NAME)
			SSA_NAME_DEF_STMT(value) = stmt;
	}
	return stmt;
}
