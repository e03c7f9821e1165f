// SPDX-License-Identifier: MIT
/*
 * The thread block for libraries that are loaded into a program whose own
 * block is not exported: they bind to this one instead of each needing static
 * TLS of its own.  Weak, like the plugin's, and a line of the cache.
 */
#include <stddef.h>
#include <ldb/abi.h>

extern __thread struct ldb_thread __ldb_thread[4];

__attribute__((weak, visibility("default"), aligned(64), section(".tdata")))
__thread struct ldb_thread __ldb_thread[4] = { { NULL, LDB_CANARY } };
