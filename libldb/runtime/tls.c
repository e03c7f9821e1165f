// SPDX-License-Identifier: MIT
/*
 * Defines a thread block for instrumented libraries in a program that does not export its own
 * block.  The libraries bind to this block, so they need no static TLS of their own.  It is weak,
 * like the blocks that the plugin emits, and has a cache line for itself.
 */
#include <stddef.h>
#include <ldb/abi.h>

extern __thread struct ldb_thread __ldb_thread[4];

__attribute__((weak, visibility("default"), aligned(64), section(".tdata")))
__thread struct ldb_thread __ldb_thread[4] = { { NULL, LDB_CANARY } };
