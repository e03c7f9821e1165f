// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides which tail calls stay jumps.
 *
 * A function that jumps to its last callee has no frame while the callee runs, and so no
 * record.  If the callee has a record of its own, only a caller is missing in the chain.
 * If it has none, its time is attributed to a function that called neither of them:
 *
 *	void do_sync(int fd)		the chain in fdatasync()
 *	{
 *		...			worker			if it is jumped to
 *		fdatasync(fd);		worker, do_sync		if it is called
 *	}
 *	void worker(int fd)
 *	{
 *		do_sync(fd);
 *		...
 *	}
 *
 * Invariant: if functions of a program jump to each other in a circle, the stack does not grow.
 * C does not promise that, but GCC does it at -O2, and interpreters and generated code rely
 * on it.  So calls of functions that may jump back stay jumps: those of this module, those that
 * are reached through a pointer, and, by default, those of other files of the program, which
 * look like functions of a library.  A function that the system declares is in a
 * library that knows nothing of this program, and does not jump back.
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

/* In a header, or by GCC itself: operator delete, or what it makes of printf(). */
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

/* always: a function that must have a record must not lose it before its callees have ended. */
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
