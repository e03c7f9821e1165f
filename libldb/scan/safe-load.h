/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The only loads from memory another thread is writing.
 *
 * Why an address is safe to load from: a record's address was once the stack
 * pointer of its thread, so its page has been touched; stacks are never
 * unmapped while the scanner polls it (scan_thread_gone); addresses are followed
 * only inside a registered stack and only upwards from one that is mapped.
 */
#ifndef LDB_SAFE_LOAD_H
#define LDB_SAFE_LOAD_H

#include <stdint.h>

static inline uint64_t safe_load(uintptr_t addr)
{
	return *(const volatile uint64_t *)addr;
}

#endif /* LDB_SAFE_LOAD_H */
