// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Repairs the chain of frame records when control leaves frames without returning from them.
 *
 * A catch block, a landing pad and a return of setjmp() in an instrumented function set the
 * chain themselves.  An uninstrumented function, to which an exception or a longjmp() may lead,
 * does not, so the functions that cut the stack back are interposed.
 *
 * The chain is in the program's memory, and may be in any state.  A record is read only if it is in
 * a part of one of the thread's stacks that is known to be mapped, and above the record before it;
 * and it must have the canary.  Otherwise the chain is left unchanged; the scanner finds that it is
 * invalid, and discards what it has read.
 *
 * The functions are async-signal-safe, as siglongjmp() is.
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE		/* else it would rename longjmp() in the wrappers */
#include <setjmp.h>
#include <signal.h>
#include <unwind.h>
#include <ldb/control.h>
#include "arch/cpu.h"
#include "internal.h"
#include "next.h"

struct region {
	uintptr_t lo, hi;
};

static bool region_has(const struct region *r, uintptr_t addr)
{
	return addr >= r->lo && addr < r->hi;
}

/* Finds the stack of this thread that contains addr, if it is known. */
static bool region_of(const struct thread *t, uintptr_t addr, struct region *r)
{
	stack_t alt;

	r->lo = t->stack_lo;
	r->hi = t->stack_hi;
	if (region_has(r, addr) || stack_foreign(addr, &r->lo, &r->hi))
		return true;
	if (sigaltstack(NULL, &alt) || (alt.ss_flags & SS_DISABLE))
		return false;
	r->lo = (uintptr_t)alt.ss_sp;
	r->hi = r->lo + alt.ss_size;
	return region_has(r, addr);
}

/*
 * Finds the newest record that remains when all frames below sp are left.  Records on another stack
 * are left, too, if the chain leads from them back to sp's stack, as when a signal handler on its
 * own stack jumps out.  Returns false if the chain cannot be followed to the stack of sp.
 */
static bool chain_cut(const struct thread *t, const struct ldb_frame *f, uintptr_t sp,
		      const struct region *to, uintptr_t here,
		      const struct ldb_frame **left)
{
	struct region r = { 0, 0 };
	uintptr_t above = 0;

	for (; f; f = f->prev) {
		uintptr_t at = (uintptr_t)f;

		if (region_has(to, at) && at >= sp) {
			*left = f;
			return true;
		}
		if (!region_has(&r, at)) {
			if (!region_of(t, at, &r))
				return false;
			/* Nothing below the stack pointer is in use. */
			above = region_has(&r, here) ? here : r.lo;
		}
		if (at < above || at % sizeof(void *) || at > r.hi - sizeof(*f) ||
		    (f->gen & (LDB_GEN_ONE - 1)) != LDB_CANARY)
			return false;
		above = at + sizeof(*f);
	}
	*left = NULL;
	return true;
}

/* `here` is the current stack pointer; sp is the one with which the thread continues. */
static void pop_below(uintptr_t sp, uintptr_t here)
{
	struct ldb_thread *block[LDB_BLOCKS_MAX];	/* the thread's blocks */
	struct thread *t = thread_self();
	struct region to;
	unsigned nr;

	if (!t)
		return;
	/* If a signal handler jumps out of a hook of the shim, that hook has ended, too. */
	if (t->list->in_hook && (int32_t)((uint32_t)sp - t->list->in_hook) > 0)
		t->list->in_hook = 0;
	if (!region_of(t, sp, &to))
		return;
	nr = blocks_of_self(block, LDB_BLOCKS_MAX);
	for (unsigned i = 0; i < nr; i++) {
		struct ldb_frame *top = block[i]->top;
		const struct ldb_frame *left;

		if (top && chain_cut(t, top, sp, &to, here, &left) && left != top)
			order_chain_cut(block[i], (struct ldb_frame *)left);
	}
}

void unwind_pop_below(uintptr_t sp)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	flow_leave(sp, here);
	pop_below(sp, here);
}

#define JUMP(name, params, args)					\
	EXPORT void name params						\
	{								\
		unwind_pop_below(cpu_jmpbuf_sp(env));			\
		next(name) args;					\
		__builtin_unreachable();				\
	}
/*
 * A language's personality routine calls this when a frame will handle the exception.  The CFA in
 * its context is that of the callee's frame, which is the handler's stack pointer.  If the callee
 * was called through a stub (flows/), the CFA is up to 7 bytes higher.
 */
#define UNWIND(name, params, args)					\
	EXPORT void name params						\
	{								\
		unwind_pop_below(_Unwind_GetCFA(context) & ~7UL);		\
		next(name) args;					\
	}
#include "list.h"
