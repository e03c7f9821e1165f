/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's files share these declarations, grouped by the file that defines them. */
#ifndef LDB_INSTRUMENT_H
#define LDB_INSTRUMENT_H

#include "gcc-compat.h"
#include "../libldb/include/ldb/abi.h"

/*
 * place.c: where a function's record is linked and unlinked.
 *
 * The record is linked from block `entry` on.  A path that leaves the blocks dominated by this
 * block, and does not end there in a return or a tail call, has exactly one edge in `leave`.
 * `entry` is in no cycle, so a path passes it at most once.
 */
struct placement {
	/*
	 * the block where the record is linked; NULL: it is linked in the dead ends only, or, if
	 * there are none, on the function's first edge, for all blocks
	 */
	basic_block		entry;
	/* edges on which the record is unlinked */
	auto_vec<edge>		leave;
	/* blocks that are not in `inside`, need a record, and end in a call that never returns */
	auto_vec<basic_block>	dead_ends;
	/* blocks in which the record is linked, other than the dead ends */
	auto_sbitmap		inside;
	bool			has_loops;
	/* control can return abnormally from a callee into the function: catch, setjmp */
	bool			has_receivers;

	placement(struct function *fn);
};

bool place_function(struct function *fn, bool always, struct placement *p);
bool place_has_calls(struct function *fn, const struct placement *p);
bool place_needs_record(gimple *stmt);
bool place_is_tail_call(gimple *stmt);
bool place_is_second_return(gimple *stmt);

/* tail.c decides which tail calls stay jumps. */
enum tail_calls {
	TAIL_ALL,	/* all tail calls that GCC makes */
	/* calls through pointers, of functions in this module, or that no system header declares */
	TAIL_PROGRAM,
	TAIL_MODULE,	/* calls of functions in this module, and through pointers */
};

bool tail_choose(const char *name);
void tail_make_calls(struct function *fn, bool always);

/* short.c: which statements take too little time to need a record */
bool short_stmt(gimple *stmt);
void short_prove(struct function *fn);

/* select.c: which functions get a record */
enum select_verdict { SELECT_NO, SELECT_YES, SELECT_ALWAYS };

void select_add_globs(const char *list, bool allow);
void select_set_min_insns(int nr_insns);
void select_register_attributes(void);
void select_mark_resolvers(void);
enum select_verdict select_function(struct function *fn, const char **why);
bool select_is_big_enough(struct function *fn);

/* record.c: a function's record, and the statements that link and unlink it */
enum record_kind {
	RECORD_NEAR,	/* the record is linked by instructions of the function */
	RECORD_KEPT,	/* like NEAR, but prev stays in a register from the link to the unlinks */
	RECORD_FAR,	/* the record is linked by a call of LINK_FUNCTION */
};

struct record {
	enum record_kind	kind;
	tree			decl;
	tree			prev;	/* RECORD_KEPT: the register */
};

#define LINK_FUNCTION "__ldb_link"

void record_build(struct function *fn, enum record_kind kind, struct record *r);
gimple_seq record_link(const struct record *r, bool main);
gimple_seq record_unlink(const struct record *r);
gimple_seq record_relink(const struct record *r);
void record_register_roots(const char *plugin_name);

/* asm.c: builds asm statements for arch/ */
typedef vec<tree, va_gc> asm_operand_list;

tree asm_field(const struct record *r, size_t off_bytes);
void asm_push_operand(asm_operand_list **to, const char *constraint, tree value);
/* Adds an output in a register of its own; returns its SSA name. */
tree asm_push_register(asm_operand_list **to);
void asm_push_clobber(asm_operand_list **to, const char *name);
gasm *asm_finish(const char *text, asm_operand_list *inputs, asm_operand_list *outputs,
		 asm_operand_list *clobbers = NULL);

/*
 * instrument.c: the passes.  With `verbose` they report on stderr what they did with each function.
 */
void instrument_register_passes(const char *plugin_name, bool verbose);

/* emit.c: the parts of each object other than the code of records */
void emit_compiled_note(void);
void emit_thread_block(void);

#endif /* LDB_INSTRUMENT_H */
