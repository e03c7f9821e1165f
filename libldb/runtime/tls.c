// SPDX-License-Identifier: MIT
/*
 * This is the thread block for libraries that are loaded into a program whose own block is not
 * exported: they bind to this one, so that each does not need its own static TLS.  It is weak,
 * like the plugin's, and one cache line.
 */
#include <stddef.h>
#include <ldb/abi.h>

extern __thread struct ldb_thread __ldb_thread[4];

__attribute__((weak, visibility("default"), aligned(64), section(".tdata")))
__thread struct ldb_thread __ldb_thread[4] = { { NULL, LDB_CANARY } };
