// SPDX-License-Identifier: MIT
/*
 * Defines the thread block for libraries in a program that does not export a block of its own.
 * They bind to this one, so that they need no static TLS of their own.  It is weak, like the blocks
 * that the plugin emits, and takes one cache line.
 */
#include <stddef.h>
#include <ldb/abi.h>

extern __thread struct ldb_thread __ldb_thread[4];

__attribute__((weak, visibility("default"), aligned(64), section(".tdata")))
__thread struct ldb_thread __ldb_thread[4] = { { NULL, LDB_CANARY } };
