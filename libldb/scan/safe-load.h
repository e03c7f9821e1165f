/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contains the scanner's only loads of another thread's thread blocks and frame records, which that
 * thread may be writing.
 *
 * An address is safe to load from for these reasons: a record is in the stack frame of a function
 * that its thread has entered, so its page has been touched; a stack is not unmapped while a
 * scanner polls its thread (scan_thread_gone()) or reads stacks (scan_quiesce()); addresses are
 * followed only inside the thread's own stack or a registered one, and in the thread's own stack
 * only upwards from one that is mapped.
 *
 * The order is as follows.  The thread writes, with plain stores (gcc-plugin/arch/,
 * order_chain_cut()):
 *
 *	entry	gen; the record's fields; top
 *	exit	top
 *
 * and these functions read, with plain loads:
 *
 *	what has changed	top, gen	safe_load_top(), safe_load_gen_after()
 *	the start of a walk	gen, top	safe_load_gen(), safe_load_top_after()
 *	its records		each after the address that leads to it
 *	its end			top, gen	safe_load_is_still()
 *
 * x86 makes both the stores and the loads visible in this order without further instructions.  If
 * top and gen are the same before and after, all records that were read in between existed at the
 * same time: a record is overwritten only after a store to top, when its function returns, and top
 * gets the same value again only after a store to gen, when another function begins.  Another CPU
 * architecture needs the barriers between the stores that ldb/abi.h describes, and an acquire for
 * each load here, in cpu_order_loads().
 */
#ifndef LDB_SAFE_LOAD_H
#define LDB_SAFE_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <ldb/abi.h>
#include "arch/cpu.h"

static inline uint64_t safe_load(uintptr_t addr)
{
	return *(const volatile uint64_t *)addr;
}

static inline uint64_t safe_load_gen(const struct ldb_thread *block)
{
	return safe_load((uintptr_t)&block->gen);
}

static inline uintptr_t safe_load_top(const struct ldb_thread *block)
{
	return safe_load((uintptr_t)&block->top);
}

/*
 * Called after safe_load_gen(), so that the generation is not newer than top.  The next load may be
 * of a record.
 */
static inline uintptr_t safe_load_top_after(const struct ldb_thread *block)
{
	uintptr_t top;

	cpu_order_loads();
	top = safe_load_top(block);
	cpu_order_loads();
	return top;
}

/*
 * Called after safe_load_top(), to find out that nothing has changed: in the other order, a return
 * and a call with its record at the same address could happen between the two loads and be missed.
 */
static inline uint64_t safe_load_gen_after(const struct ldb_thread *block)
{
	cpu_order_loads();
	return safe_load_gen(block);
}

/*
 * Called after all reads of the chain.  Returns true if it still has this top and this generation.
 */
static inline bool safe_load_is_still(const struct ldb_thread *block, uint64_t gen, uintptr_t top)
{
	cpu_order_loads();
	return safe_load_top(block) == top && safe_load_gen_after(block) == gen;
}

#endif /* LDB_SAFE_LOAD_H */
