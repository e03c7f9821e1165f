/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contains the only loads from memory that a program thread may be writing: its thread blocks and
 * its frame records.
 *
 * An address is safe to load from for these reasons: a record's address was once the stack
 * pointer of its thread, so its page has been touched; stacks are never unmapped while the
 * scanner polls the thread (scan_thread_gone); addresses are followed only inside a registered
 * stack and only upwards from one that is mapped.
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
 * same time: a record is only overwritten after a store to top (its function has returned) and one
 * to gen (another has begun).  Another CPU architecture needs a release for each store except the
 * stores to the fields, and an acquire for each load here, in cpu_order_loads().
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
