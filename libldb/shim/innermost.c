// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the innermost function of the calling thread, for the records that the thread writes.  From
 * its generation and the last generation that was entered, the reader of the trace knows exactly
 * which functions had returned at that time and which began later.
 */
#include "internal.h"

/*
 * Returns true if the record is in the used part of the thread's stack.  Other records are not
 * read: those below the stack pointer were left by longjmp(), and a registered stack may be
 * unmapped.
 */
static bool is_in_use(const struct thread *t, const struct ldb_frame *f)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0), at = (uintptr_t)f;

	return sp >= t->stack_lo && at > sp && at < t->stack_hi &&
	       t->stack_hi - at >= sizeof(*f) && at % sizeof(uintptr_t) == 0;
}

uint64_t thread_innermost(const struct thread *t, uint32_t *nr_later)
{
	uint64_t gen = thread_gen(), innermost = 0, nr;
	const struct ldb_frame *f;
	struct ldb_thread *block;

	*nr_later = 0;
	if (!gen || !t || !blocks_of_self(&block, 1))
		return gen;
	f = block->top;
	if (f && (!is_in_use(t, f) || (f->gen & (LDB_GEN_ONE - 1)) != LDB_CANARY))
		return gen;
	if (f)
		innermost = f->gen & ~(LDB_GEN_ONE - 1);
	nr = (gen - innermost) >> LDB_GEN_SHIFT;
	if (innermost <= gen && nr < UINT32_MAX)
		*nr_later = nr + 1;
	return gen;
}
