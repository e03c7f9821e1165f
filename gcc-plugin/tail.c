// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides which tail calls stay jumps.
 *
 * A function that jumps to its last callee has no frame while the callee runs, and so no record.
 * If the callee has a record, only its caller is missing in the chain.  If the callee has none, its
 * time is attributed to a function that did not call it:
 *
 *	void do_sync(int fd)		the chain in fdatasync()
 *	{
 *		...			worker			after a jump
 *		fdatasync(fd);		worker, do_sync		after a call
 *	}
 *	void worker(int fd)
 *	{
 *		do_sync(fd);
 *		...
 *	}
 *
 * Invariant: if functions of a program jump to each other in a circle, the stack does not grow,
 * unless one of them has ldb_always.  C
 * does not guarantee this, but GCC does so at -O2, and interpreters and generated code rely on it.
 * So calls of functions that may jump back stay jumps: those of this module, those through a
 * pointer, and, by default, those of other files of the program, which cannot be distinguished from
 * functions of a library.  A function that a system header declares is in a library that does not
 * know the program, and does not jump back.
 */
#include "instrument.h"

static enum tail_calls jumps = TAIL_PROGRAM;

static const struct {
	const char *name;
	enum tail_calls jumps;
} choices[] = {
	{ "all", TAIL_ALL },
	{ "program", TAIL_PROGRAM },
	{ "module", TAIL_MODULE },
};

bool tail_choose(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(choices); i++)
		if (!strcmp(name, choices[i].name)) {
			jumps = choices[i].jumps;
			return true;
		}
	return false;
}

/*
 * Returns true if the function is declared in a system header, or by GCC itself, such as operator
 * delete, or a puts() by which GCC replaces printf().
 */
static bool is_declared_by_system(tree decl)
{
	return fndecl_built_in_p(decl) || DECL_SOURCE_LOCATION(decl) == BUILTINS_LOCATION ||
	       DECL_IN_SYSTEM_HEADER(decl);
}

static bool may_be_elsewhere(tree decl)
{
	cgraph_node *node = cgraph_node::get(decl);

	return DECL_EXTERNAL(decl) && !targetm.binds_local_p(decl) &&
	       !(node && node->in_other_partition);
}

static bool must_return(gcall *call)
{
	tree callee = gimple_call_fndecl(call);

	if (!callee || jumps == TAIL_ALL || short_stmt(call))
		return false;
	return may_be_elsewhere(callee) && (jumps == TAIL_MODULE || is_declared_by_system(callee));
}

/*
 * `always`: no call stays a jump, except those that must (musttail), because the record must be
 * linked until the callees have ended.
 */
void tail_make_calls(struct function *fn, bool always)
{
	gimple_stmt_iterator gsi;
	basic_block bb;

	FOR_EACH_BB_FN(bb, fn)
		for (gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
			gcall *call = dyn_cast<gcall *>(gsi_stmt(gsi));

			if (call && gimple_call_tail_p(call) && !gimple_call_must_tail_p(call) &&
			    (always || must_return(call)))
				gimple_call_set_tail(call, false);
		}
}
